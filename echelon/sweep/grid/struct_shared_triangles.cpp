// SPDX-License-Identifier: BSD-3-Clause
// Bytes a point and CG iteration, star7: direction 24 + 40 (sweep), image 40 + 32, update 56: 192 of the 280 that two
// sweeps, a product and the vector work apart would move. A sum has one partial a group of lines, added by the tree: groups
// are those of the kernel, whatever the threads.
#include "echelon/sweep/grid/struct_shared_triangles.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdlib>

#include "echelon/base/reduction_tree.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/schedule/grid/trailing_groups.hpp"

namespace echelon {
namespace {

class StructSharedTriangles final : public SharedTriangles<double> {
 public:
  explicit StructSharedTriangles(const StructSweeps<double>& sweeps)
      : s_(sweeps),
        own_(choose_shared_triangle_kernels()),
        group_lines_(sweeps.kernels.shape.lines),
        partial_(
            std::max(sweeps.size.lower->groups() * sweeps.arrays.grid.nz, reduction::chunks(sweeps.arrays.grid.points()))) {
    for (const TriangleEntry& entry : sweeps.arrays.lower) {
      const std::int64_t lines = std::abs(entry.offset.y);
      reach_.planes = std::max<std::int64_t>(reach_.planes, std::abs(entry.offset.z));
      reach_.groups = std::max(reach_.groups, (lines + group_lines_ - 1) / group_lines_);
    }
  }

  double start(const V& r, V& g) override {
    lower_sweep(r.data(), g.data(), nothing, nothing);
    return sum_chunks(
        [&](std::int64_t begin, std::int64_t n) { return own_.weighted_square(s_.arrays, g.data(), begin, n); });
  }

  void direction(const V& g, double beta, bool first, V& p_hat, V& t) override {
    upper_sweep(p_hat.data(), t.data(), [&](const Lines& lines) {
      if (first) {
        std::copy_n(g.data() + lines.begin(), lines.count(), p_hat.data() + lines.begin());
      } else {
        own_.direction(g.data(), beta, p_hat.data(), lines.begin(), lines.count());
      }
    });
  }

  double image(const V& p_hat, const V& t, V& y) override {
    const EisenstatDirection d{p_hat.data(), t.data()};
    lower_sweep(
        y.data(), y.data(),
        [&](const Lines& lines) { own_.right_side(s_.arrays, d, y.data(), lines.begin(), lines.count()); },
        [&](const Lines& lines) {
          partial_[lines.first / grid().ny * s_.size.lower->groups() + lines.first % grid().ny / group_lines_] =
              own_.curvature(s_.arrays, d, y.data(), lines.begin(), lines.count());
        });
    return reduction::tree_sum(partial_.data(), grid().nz * s_.size.lower->groups());
  }

  double update(double alpha, const V& t, const V& y, V& x, V& g) override {
    const EisenstatStep step{alpha, t.data(), y.data(), x.data(), g.data()};
    return sum_chunks([&](std::int64_t begin, std::int64_t n) { return own_.update(s_.arrays, step, begin, n); });
  }

  double residual(const V& g, V& r) override {
    for_groups([&](const Lines& lines, std::int64_t group) {
      partial_[group] = own_.residual(s_.arrays, g.data(), r.data(), lines.first, lines.lines);
    });
    return reduction::tree_sum(partial_.data(), grid().nz * s_.size.lower->groups());
  }

  void precondition_and_multiply(const V& v, V& z, V& w) override {
    lower_sweep(v.data(), w.data(), nothing, nothing);
    const LineGroups& groups = *s_.size.upper;
    const StructTriangle U{grid(), s_.upper, s_.arrays.inverse, false, 1, groups.lag(), 1, s_.upper_packs};
    auto scratch = borrow(*s_.scratch, s_.size);
    const auto sweep = [&](const LineWork& work, int thread) {
      s_.kernels.upper(U, work, {w.data(), z.data()}, memory_of(*scratch, thread));
    };
    const auto product = [&](const Lines& lines) {
      own_.half_product(s_.arrays, z.data(), w.data(), lines.first, lines.lines);
    };
    if (groups.stripes()) {
      run_groups_with_trail(groups, scratch->upper, reach_, sweep, [&](const LineWork& work) { product(mirrored(work)); });
    } else {
      run_groups(groups, scratch->upper, sweep);
      for_groups([&](const Lines& lines, std::int64_t) { product(lines); });
    }
  }

 private:
  /// Lines [first, first + lines) of all the grid's, neighbours in memory.
  struct Lines {
    std::int64_t first, lines, nx;
    std::int64_t begin() const { return first * nx; }
    std::int64_t count() const { return lines * nx; }
  };
  static constexpr auto nothing = [](const Lines&) {};

  const Grid& grid() const { return s_.arrays.grid; }

  std::byte* memory_of(StructSweepScratch& scratch, int thread) const {
    return scratch.memory.data() + thread * s_.size.bytes_a_thread;
  }

  /// The lines of an upper sweep's work, which counts from the last one.
  Lines mirrored(const LineWork& work) const {
    const std::int64_t end = (grid().nz - work.plane) * grid().ny - work.line;
    return {end - work.lines, work.lines, grid().nx};
  }

  template <class Before, class After>
  void lower_sweep(const double* r, double* x, const Before& before, const After& after) {
    const LineGroups& groups = *s_.size.lower;
    const StructTriangle L{grid(), s_.arrays.lower, s_.arrays.inverse, true, 1, groups.lag(), 1, s_.lower_packs};
    auto scratch = borrow(*s_.scratch, s_.size);
    run_groups(groups, scratch->lower, [&](const LineWork& work, int thread) {
      const Lines lines{work.plane * grid().ny + work.line, work.lines, grid().nx};
      if (work.begin == 0) before(lines);
      s_.kernels.lower(L, work, {r, x}, memory_of(*scratch, thread));
      if (work.end == groups.steps()) after(lines);
    });
  }

  template <class Before>
  void upper_sweep(const double* r, double* x, const Before& before) {
    const LineGroups& groups = *s_.size.upper;
    const StructTriangle U{grid(), s_.upper, s_.arrays.inverse, false, 1, groups.lag(), 1, s_.upper_packs};
    auto scratch = borrow(*s_.scratch, s_.size);
    run_groups(groups, scratch->upper, [&](const LineWork& work, int thread) {
      if (work.begin == 0) before(mirrored(work));
      s_.kernels.upper(U, work, {r, x}, memory_of(*scratch, thread));
    });
  }

  /// body(lines, number) for every group of lines, in no order.
  template <class Body>
  void for_groups(const Body& body) const {
    const std::int64_t in_plane = s_.size.lower->groups(), groups = in_plane * grid().nz;
#pragma omp parallel num_threads(threads_for(grid().points()))
    {
      const auto [from, to] = share(groups, omp_get_thread_num(), omp_get_num_threads());
      for (std::int64_t g = from; g < to; ++g) {
        const std::int64_t line = g % in_plane * group_lines_;
        body(Lines{g / in_plane * grid().ny + line, std::min<std::int64_t>(group_lines_, grid().ny - line), grid().nx}, g);
      }
    }
  }

  template <class Work>
  double sum_chunks(const Work& work) {
    const std::int64_t n = grid().points(), chunks = reduction::chunks(n);
#pragma omp parallel num_threads(threads_for(n))
    {
      const auto [from, to] = share(chunks, omp_get_thread_num(), omp_get_num_threads());
      for (std::int64_t c = from; c < to; ++c) {
        const std::int64_t begin = c * reduction::chunk;
        partial_[c] = work(begin, std::min(reduction::chunk, n - begin));
      }
    }
    return reduction::tree_sum(partial_.data(), chunks);
  }

  StructSweeps<double> s_;
  SharedTriangleKernels own_;
  std::int64_t group_lines_;
  TrailReach reach_{0, 0};  // of A's lower triangle
  Array<double> partial_;
};

}  // namespace

template <>
std::unique_ptr<SharedTriangles<double>> struct_shared_triangles(const StructSweeps<double>& sweeps) {
  return std::make_unique<StructSharedTriangles>(sweeps);
}

template <>
std::unique_ptr<SharedTriangles<float>> struct_shared_triangles(const StructSweeps<float>&) {
  return nullptr;
}

}  // namespace echelon
