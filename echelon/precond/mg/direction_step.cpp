// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/direction_step.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdlib>

#include "echelon/base/threads.hpp"
#include "echelon/precond/mg/line_kernels.hpp"

namespace echelon {
namespace {

/// visit(coarse step, column step, towards the left) for the products of a column that lies `t` from the coarse row's point.
template <class Visit>
void coarse_columns(int t, const Visit& visit) {
  if (t % 2 == 0) {
    visit(t / 2, false);
  } else {
    const int above = (t + 1) / 2;  // t = 2 above − 1, exact for negative odd t, too
    visit(above - 1, true);
    visit(above, false);
  }
}

/// Row step s of the collapse: i = 2I + 1 + s.
constexpr int row_steps[] = {-1, 0, 1};

/// Of the last direction's product, before the directions before it go on.
constexpr std::int64_t planes_at_a_time = 4;

struct LineOf {
  std::int64_t j, k;
};
LineOf line_of(const Grid& grid, std::int64_t line) { return {line % grid.ny, line / grid.ny}; }
std::int64_t lines(const Grid& grid) { return grid.ny * grid.nz; }

/// Arrays of numbers as long as a line, for one thread.
class Lines {
 public:
  Lines(std::vector<double>& room, std::int64_t length, std::size_t count) : length_(length) {
    room.resize(std::max(room.size(), count * static_cast<std::size_t>(length)));
    data_ = room.data();
  }
  double* operator[](std::size_t n) const { return data_ + static_cast<std::int64_t>(n) * length_; }

 private:
  std::int64_t length_;
  double* data_;
};

void take_even(const double* from, std::int64_t n, double* to) {
  for (std::int64_t i = 0; i < n; i += 2) to[i / 2] = from[i];
}

}  // namespace

Stencil coarsened(const Stencil& stencil, const Grid& grid, Axis axis) {
  const Grid coarse = coarsened(grid, axis);
  std::vector<Offset> all;
  const auto add = [&](const Offset& o) {
    const bool reaches = std::abs(o.x) < coarse.nx && std::abs(o.y) < coarse.ny && std::abs(o.z) < coarse.nz;
    if (reaches && std::find(all.begin(), all.end(), o) == all.end()) all.push_back(o);
  };
  for (const Offset& o : stencil.offsets()) {
    for (const int s : row_steps) {
      coarse_columns(s + step(o, axis), [&](int to, bool) { add(with_step(o, axis, to)); });
    }
  }
  return Stencil(std::move(all), "galerkin");
}

DirectionStep::DirectionStep(const Grid& grid, const Stencil& stencil, Axis axis, std::int64_t kept)
    : axis_(axis),
      fine_(grid),
      between_(between(grid, axis)),
      coarse_(coarsened(grid, axis)),
      offsets_(stencil.offsets().begin(), stencil.offsets().end()),
      stencil_(coarsened(stencil, grid, axis)),
      kept_(kept > 0 ? std::min(kept, coarse_.nz) : coarse_.nz),
      left_(between_.points()),
      right_(between_.points()),
      rooms_(std::make_shared<std::vector<Room>>(static_cast<std::size_t>(most_threads()))) {
  if (kept == 0) product_.emplace(coarse_, stencil_);
  for (const Offset& o : offsets_) reach_in_z_ = std::max(reach_in_z_, std::abs(o.z));
  terms_.resize(static_cast<std::size_t>(stencil_.size()));
  for (const int s : row_steps) {
    for (std::size_t e = 0; e < offsets_.size(); ++e) {
      const int t = s + step(offsets_[e], axis);
      coarse_columns(t, [&](int coarse, bool left) {
        const int to = stencil_.find(with_step(offsets_[e], axis, coarse));
        if (to >= 0) terms_[static_cast<std::size_t>(to)].push_back({static_cast<int>(e), s, t, left});
      });
    }
  }
}

/// A step reads from as far behind its own last plane as entries reach, and up to as far ahead as they and those of one more
/// step do.
std::int64_t DirectionStep::planes_to_keep(const Stencil& stencil) {
  int reach = 0;
  for (const Offset& o : stencil.offsets()) reach = std::max(reach, std::abs(o.z));
  return planes_at_a_time + 4 * std::max(reach, 1) + 2;
}

MatrixPlanes DirectionStep::planes() const {
  return {product_ ? product_->values().data() : values_between_.data(), coarse_, &stencil_, half_, kept_};
}

std::int64_t DirectionStep::bytes() const {
  return (product_ ? product_->layout().bytes() : values_between_.bytes()) + left_.bytes() + right_.bytes();
}

void DirectionStep::begin(bool symmetric) {
  symmetric_ = symmetric;
  half_ = symmetric && !product_;
  first_stored_ = half_ ? stencil_.center() : 0;
  weights_done_ = done_ = 0;
  if (product_) {
    values_ = product_->values().data();  // its own, before there are threads
  } else {
    // A line more: a mirrored entry's last places, which nobody looks at, may lie behind the last line.
    const std::int64_t needed = (stencil_.size() - first_stored_) * coarse_.nx * coarse_.ny * kept_ + coarse_.nx;
    if (values_between_.size() < needed) values_between_ = Array<double>(needed);
    values_ = values_between_.data();
  }
}

/// A plane of B along x or y needs that plane of A, and weights as far as entries reach; weights need the planes of A up to
/// their own. Along z, which comes first, all of A is there.
void DirectionStep::reach(std::int64_t end, std::vector<DirectionStep>& steps, std::size_t own, const MatrixPlanes& A) {
  end = std::min(end, coarse_.nz);
  if (end <= done_) return;
  const std::int64_t weights_end = std::min(between_.nz, axis_ == Axis::z ? end + 1 + reach_in_z_ : end + reach_in_z_);
  if (own > 0) steps[own - 1].reach(weights_end, steps, own - 1, A);
  const MatrixPlanes from = own > 0 ? steps[own - 1].planes() : A;
  make_weights(from, weights_done_, weights_end);
  weights_done_ = std::max(weights_done_, weights_end);
  make_product(from, done_, end);
  done_ = end;
}

void DirectionStep::finish() {
  if (!symmetric_ || half_) return;
#pragma omp parallel num_threads(threads_for(product_->nonzeros()))
  {
    const auto [begin, end] = share(lines(coarse_), omp_get_thread_num(), omp_get_num_threads());
    for (std::int64_t line = begin; line < end; ++line) mirror_line(line);
  }
}

void DirectionStep::compute(const StructMatrix<double>& A, bool symmetric) {
  std::vector<DirectionStep> none;
  begin(symmetric);
  reach(coarse_.nz, none, 0, {A.values().data(), A.grid(), &A.stencil(), false, A.grid().nz});
  finish();
}

void DirectionStep::compute_all(std::vector<DirectionStep>& steps, const StructMatrix<double>& A, bool symmetric) {
  for (DirectionStep& step : steps) step.begin(symmetric);
  const MatrixPlanes all{A.values().data(), A.grid(), &A.stencil(), false, A.grid().nz};
  const std::size_t last = steps.size() - 1;
  for (std::int64_t end = planes_at_a_time; end < steps[last].coarse_.nz + planes_at_a_time; end += planes_at_a_time) {
    steps[last].reach(end, steps, last, all);
  }
  steps[last].finish();
}

void DirectionStep::make_weights(const MatrixPlanes& A, std::int64_t first, std::int64_t last) {
  if (first >= last) return;
  const MgSetupKernels& kernel = mg_setup_kernels();
  const int center = A.stencil->center();
  const std::int64_t nx = fine_.nx;
#pragma omp parallel num_threads(threads_for((last - first) * nx * fine_.ny * static_cast <std::int64_t>(offsets_.size())))
  {
    const Lines sum(room_of(omp_get_thread_num()).values, nx, 4);
    const auto [begin, end] = share((last - first) * between_.ny, omp_get_thread_num(), omp_get_num_threads());
    for (std::int64_t line = first * between_.ny + begin; line < first * between_.ny + end; ++line) {
      const LineOf at = line_of(between_, line);
      const std::int64_t j = axis_ == Axis::y ? 2 * at.j : at.j, k = axis_ == Axis::z ? 2 * at.k : at.k;
      std::fill_n(sum[0], 3 * nx, 0.0);
      for (std::size_t e = 0; e < offsets_.size(); ++e) {
        const Offset o = offsets_[e];
        if (!fine_.contains(0, j + o.y, k + o.z) || o.x <= -nx || o.x >= nx) continue;
        const std::int64_t x0 = std::max(0, -o.x), length = nx - std::abs(o.x);
        const int d = step(o, axis_);
        kernel.add(sum[d < 0 ? 0 : d > 0 ? 1 : 2] + x0, A.line(static_cast<int>(e), j, k) + x0, length);
      }
      const double* diagonal = A.line(center, j, k);
      double* const left = left_.data() + line * between_.nx;
      double* const right = right_.data() + line * between_.nx;
      if (axis_ == Axis::x) {
        for (const std::size_t n : {0, 1, 2}) take_even(sum[n], nx, sum[n]);
        take_even(diagonal, nx, sum[3]);
        diagonal = sum[3];
      }
      kernel.weights(sum[0], sum[1], sum[2], diagonal, left, right, between_.nx);
    }
  }
}

void DirectionStep::make_product(const MatrixPlanes& A, std::int64_t first, std::int64_t last) {
  const int first_entry = symmetric_ ? stencil_.center() : 0;
#pragma omp parallel num_threads( \
    threads_for((last - first) * 2 * fine_.nx * fine_.ny * static_cast <std::int64_t>(offsets_.size())))
  {
    Room& room = room_of(omp_get_thread_num());
    const auto [begin, end] = share((last - first) * coarse_.ny, omp_get_thread_num(), omp_get_num_threads());
    for (std::int64_t line = first * coarse_.ny + begin; line < first * coarse_.ny + end; ++line) {
      if (axis_ == Axis::x) {
        product_line_x(A, line, first_entry, room);
      } else {
        product_line(A, line, first_entry);
      }
    }
  }
}

/// Along y or z: a line of B gathers lines of A.
void DirectionStep::product_line(const MatrixPlanes& A, std::int64_t line, int first_entry) const {
  const MgSetupKernels& kernel = mg_setup_kernels();
  const std::int64_t n = side(fine_, axis_), nx = fine_.nx;
  const LineOf at = line_of(coarse_, line);
  const std::int64_t I = axis_ == Axis::y ? at.j : at.k;
  const auto weight_line = [&](std::int64_t m, const Offset& to) {
    return axis_ == Axis::y ? between_.index(0, m, at.k + to.z) : between_.index(0, at.j + to.y, m);
  };
  for (int e = first_entry; e < stencil_.size(); ++e) {
    const Offset to = stencil_.offsets()[static_cast<std::size_t>(e)];
    double* const sum = own_line(e, line);
    std::fill_n(sum, nx, 0.0);
    if (!coarse_.contains(0, at.j + to.y, at.k + to.z) || to.x <= -nx || to.x >= nx) continue;
    const std::int64_t x0 = std::max(0, -to.x), length = nx - std::abs(to.x);
    for (const Term& term : terms_[static_cast<std::size_t>(e)]) {
      const std::int64_t row = 2 * I + 1 + term.row_step, column = 2 * I + 1 + term.column_step;
      if (row >= n || column < 0 || column >= n) continue;
      const double *p = nullptr, *q = nullptr;
      if (term.row_step < 0) p = right_.data() + weight_line(I, {}) + x0;
      if (term.row_step > 0) p = left_.data() + weight_line(I + 1, {}) + x0;
      if (term.column_step % 2 != 0) {
        q = (term.column_is_left ? left_ : right_).data() + weight_line(column / 2, to) + x0 + to.x;
      }
      const double* a = axis_ == Axis::y ? A.line(term.entry, row, at.k) : A.line(term.entry, at.j, row);
      kernel.add_product(sum + x0, p, q, a + x0, length);
    }
  }
}

/// Along x: a line of A comes apart into its even and odd points, and lanes run over B's.
void DirectionStep::product_line_x(const MatrixPlanes& A, std::int64_t line, int first_entry, Room& room) const {
  const MgSetupKernels& kernel = mg_setup_kernels();
  const std::int64_t nx = fine_.nx, half = between_.nx;
  const LineOf at = line_of(coarse_, line);
  const Lines part(room.values, half, 2 * offsets_.size());
  for (std::size_t e = 0; e < offsets_.size(); ++e) {
    const Offset o = offsets_[e];
    if (!fine_.contains(0, at.j + o.y, at.k + o.z)) continue;
    const double* from = A.line(static_cast<int>(e), at.j, at.k);
    double *even = part[2 * e], *odd = part[2 * e + 1];
    // Places without a neighbour are copied, too, and never looked at.
    for (std::int64_t i = 0; i + 1 < nx; i += 2) {
      even[i / 2] = from[i];
      odd[i / 2] = from[i + 1];
    }
    if (nx % 2) even[half - 1] = from[nx - 1];
  }
  for (int e = first_entry; e < stencil_.size(); ++e) {
    const Offset to = stencil_.offsets()[static_cast<std::size_t>(e)];
    double* const sum = own_line(e, line);
    std::fill_n(sum, coarse_.nx, 0.0);
    if (!coarse_.contains(0, at.j + to.y, at.k + to.z)) continue;
    const std::int64_t there = between_.index(0, at.j + to.y, at.k + to.z);
    const std::int64_t first = std::max(0, -to.x), last = std::min(coarse_.nx, coarse_.nx - to.x);
    for (const Term& term : terms_[static_cast<std::size_t>(e)]) {
      // Columns 2I + 1 + t on the line, and the row i = 2I + 2 where it is that one.
      const int t = term.column_step, above = (t + 1) / 2;
      const std::int64_t from = std::max<std::int64_t>(first, t % 2 ? -above : -(t / 2));
      std::int64_t end = std::min<std::int64_t>(last, t % 2 ? half - above : coarse_.nx - t / 2);
      if (term.row_step > 0) end = std::min(end, half - 1);
      if (from >= end) continue;
      const double *p = nullptr, *q = nullptr;
      if (term.row_step < 0) p = right_.data() + line * half + from;
      if (term.row_step > 0) p = left_.data() + line * half + from + 1;
      if (t % 2 != 0) q = (term.column_is_left ? left_ : right_).data() + there + from + above;
      const double* a = part[2 * static_cast<std::size_t>(term.entry) + (term.row_step == 0 ? 1 : 0)];
      kernel.add_product(sum + from, p, q, a + from + (term.row_step > 0 ? 1 : 0), end - from);
    }
  }
}

/// The entries before the centre are those behind it, seen from the other end.
void DirectionStep::mirror_line(std::int64_t line) const {
  const LineOf at = line_of(coarse_, line);
  const int entries = stencil_.size(), center = stencil_.center();
  for (int e = 0; e < center; ++e) {
    const Offset o = stencil_.offsets()[static_cast<std::size_t>(e)];
    double* const to = own_line(e, line);
    std::fill_n(to, coarse_.nx, 0.0);
    if (!coarse_.contains(0, at.j + o.y, at.k + o.z) || o.x <= -coarse_.nx || o.x >= coarse_.nx) continue;
    const double* from = own_line(entries - 1 - e, line + o.y + o.z * coarse_.ny);
    for (std::int64_t i = std::max(0, -o.x); i < std::min(coarse_.nx, coarse_.nx - o.x); ++i) to[i] = from[i + o.x];
  }
}

}  // namespace echelon
