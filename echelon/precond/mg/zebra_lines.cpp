// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/zebra_lines.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/mg/level_matrix.hpp"

namespace echelon {
namespace {

constexpr int line_colours = 4;

/// Lines along a direction: the first point of line (a, b), the stride along it and its length; a and b are its places in
/// the other two directions.
struct LinesAlong {
  Grid grid;
  Axis axis;
  std::int64_t count_a() const { return axis == Axis::x ? grid.ny : grid.nx; }
  std::int64_t count_b() const { return axis == Axis::z ? grid.ny : grid.nz; }
  std::int64_t length() const { return side(grid, axis); }
  std::int64_t stride() const { return axis == Axis::x ? 1 : axis == Axis::y ? grid.nx : grid.nx * grid.ny; }
  std::int64_t start(std::int64_t a, std::int64_t b) const {
    return axis == Axis::x ? grid.index(0, a, b) : axis == Axis::y ? grid.index(a, 0, b) : grid.index(a, b, 0);
  }
};

template <class T>
class ZebraLines final : public GridSmoother<T> {
 public:
  using V = Vector<T>;
  ZebraLines(const StructMatrix<double>& A, const std::vector<Axis>& axes, int sweeps) : A_(A), sweeps_(sweeps) {
    for (const Axis axis : axes) {
      factors_.push_back({{A.grid(), axis}, Array<T>(A.rows()), Array<T>(A.rows()), Array<T>(A.rows())});
    }
    for (Factor& factor : factors_) set(factor);
  }
  void refresh(const StructMatrix<double>& A) override {
    A_.set(A);
    for (Factor& factor : factors_) set(factor);
  }
  void before(const V& r, V& x, V& rest, V& spare) const override {
    x.fill(0);
    before_again(r, x, rest, spare);
  }
  void before_again(const V& r, V& x, V& rest, V&) const override {
    for (int s = 0; s < sweeps_; ++s) {
      for (const Factor& factor : factors_) {
        for (int colour = 0; colour < line_colours; ++colour) pass(factor, colour, r, x, rest);
      }
    }
    A_->residual(r, x, rest);
  }
  void after(const V& r, V& x, V& rest, V&) const override {
    for (int s = 0; s < sweeps_; ++s) {
      for (auto factor = factors_.rbegin(); factor != factors_.rend(); ++factor) {
        for (int colour = line_colours - 1; colour >= 0; --colour) pass(*factor, colour, r, x, rest);
      }
    }
  }
  std::int64_t bytes() const override {
    std::int64_t total = A_.bytes();
    for (const Factor& f : factors_) total += f.multiplier.bytes() + f.inverse.bytes() + f.upper.bytes();
    return total;
  }
  std::string name() const override { return word(MgSmoother::lines); }

 private:
  /// Of T = L U a line: L's entry, the pivot's inverse, U's entry, at every point.
  struct Factor {
    LinesAlong lines;
    Array<T> multiplier, inverse, upper;
  };
  void set(Factor& factor);
  void pass(const Factor& factor, int colour, const V& r, V& x, V& rest) const;
  T residual_at(std::int64_t p, const V& r, const V& x) const;

  LevelMatrix<T> A_;
  int sweeps_;
  std::vector<Factor> factors_;
};

template <class T>
void ZebraLines<T>::set(Factor& factor) {
  const LinesAlong& lines = factor.lines;
  const Stencil& stencil = A_->stencil();
  const std::int64_t n = A_->rows();
  const auto plane = [&](int step) -> const T* {
    const int e = stencil.find(with_step({}, lines.axis, step));
    return e < 0 ? nullptr : A_->values().data() + e * n;
  };
  const T *before = plane(-1), *own = plane(0), *behind = plane(1);
  std::int64_t bad = n;
  const std::int64_t all = lines.count_a() * lines.count_b();
#pragma omp parallel for num_threads(threads_for(4 * n)) schedule(static) reduction(min : bad)
  for (std::int64_t line = 0; line < all; ++line) {
    std::int64_t p = lines.start(line % lines.count_a(), line / lines.count_a());
    T above = 0;
    for (std::int64_t i = 0; i < lines.length(); ++i, p += lines.stride()) {
      const T lower = i > 0 && before ? before[p] : T(0);
      const T multiplier = i > 0 ? lower * factor.inverse[p - lines.stride()] : T(0);
      const T pivot = own[p] - multiplier * above;
      if (pivot == 0 || !std::isfinite(pivot)) bad = std::min(bad, p);
      above = i + 1 < lines.length() && behind ? behind[p] : T(0);
      factor.multiplier[p] = multiplier;
      factor.inverse[p] = T(1) / pivot;
      factor.upper[p] = above;
    }
  }
  if (bad == n) return;
  const Grid& g = lines.grid;
  throw Error(ErrorCode::structure, "lines: a pivot is zero or not finite",
              fmt::format("grid point ({},{},{}), row {}", bad % g.nx, bad / g.nx % g.ny, bad / g.nx / g.ny, bad));
}

template <class T>
T ZebraLines<T>::residual_at(std::int64_t p, const V& r, const V& x) const {
  const Grid& g = A_->grid();
  const std::int64_t i = p % g.nx, j = p / g.nx % g.ny, k = p / g.nx / g.ny;
  T sum = r[p];
  for (int e = 0; e < A_->stencil().size(); ++e) {
    const Offset o = A_->stencil().offsets()[static_cast<std::size_t>(e)];
    if (!g.contains(i + o.x, j + o.y, k + o.z)) continue;
    sum -= A_->values()[static_cast<std::size_t>(e * g.points() + p)] * x[p + g.index(o.x, o.y, o.z)];
  }
  return sum;
}

template <class T>
void ZebraLines<T>::pass(const Factor& factor, int colour, const V& r, V& x, V& rest) const {
  const LinesAlong& lines = factor.lines;
  const std::int64_t first_a = colour % 2, first_b = colour / 2, stride = lines.stride(), length = lines.length();
  const std::int64_t along_a = (lines.count_a() - first_a + 1) / 2, along_b = (lines.count_b() - first_b + 1) / 2;
  const auto start = [&](std::int64_t line) {
    return lines.start(first_a + line % along_a * 2, first_b + line / along_a * 2);
  };
#pragma omp parallel num_threads(threads_for(A_->nonzeros() / 4))
  {
    const auto [begin, end] = share(along_a * along_b, omp_get_thread_num(), omp_get_num_threads());
    for (std::int64_t line = begin; line < end; ++line) {
      for (std::int64_t i = 0, p = start(line); i < length; ++i, p += stride) {
        const T below = i > 0 ? factor.multiplier[p] * rest[p - stride] : T(0);
        rest[p] = residual_at(p, r, x) - below;
      }
    }
#pragma omp barrier
    for (std::int64_t line = begin; line < end; ++line) {
      T above = 0;
      for (std::int64_t i = 0, p = start(line) + (length - 1) * stride; i < length; ++i, p -= stride) {
        above = (rest[p] - factor.upper[p] * above) * factor.inverse[p];
        x[p] += above;
      }
    }
  }
}

}  // namespace

template <class T>
std::unique_ptr<GridSmoother<T>> make_zebra_lines(const StructMatrix<double>& A, const std::vector<Axis>& axes, int sweeps) {
  return std::make_unique<ZebraLines<T>>(A, axes, sweeps);
}

template std::unique_ptr<GridSmoother<double>> make_zebra_lines(const StructMatrix<double>&, const std::vector<Axis>&, int);
template std::unique_ptr<GridSmoother<float>> make_zebra_lines(const StructMatrix<double>&, const std::vector<Axis>&, int);

}  // namespace echelon
