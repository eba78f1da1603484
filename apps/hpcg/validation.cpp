// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "echelon/base/threads.hpp"

#include "echelon/base/error.hpp"

namespace echelon::hpcg {
namespace {

constexpr double matrix_norm = 2 * 26.0;  // |row|₁, at most

/// make(i, j, k) for every point of the box.
template <class Make>
Vector<double> made(const Geometry& geometry, const Make& make) {
  const Grid& box = geometry.local;
  Vector<double> v(box.points());
  std::int64_t row = 0;
  for (std::int64_t k = 0; k < box.nz; ++k) {
    for (std::int64_t j = 0; j < box.ny; ++j) {
      for (std::int64_t i = 0; i < box.nx; ++i) v[row++] = make(i, j, k);
    }
  }
  return v;
}

/// Puts the diagonal back; where the test ends by an error, as well as that goes.
class ReplacedDiagonal {
 public:
  ReplacedDiagonal(OptimisedRun& run, const Vector<double>& scale) : run_(run), before_(run.diagonal()) {
    Vector<double> scaled(before_.size());
    for (std::int64_t i = 0; i < scaled.size(); ++i) scaled[i] = before_[i] * scale[i];
    run_.replace_diagonal(scaled);
  }
  void put_back() {
    before_in_place_ = true;
    run_.replace_diagonal(before_);
  }
  ~ReplacedDiagonal() {
    if (before_in_place_) return;
    try {
      put_back();
    } catch (const Error&) {  // the first error is on its way
    }
  }
  ReplacedDiagonal(const ReplacedDiagonal&) = delete;
  ReplacedDiagonal& operator=(const ReplacedDiagonal&) = delete;

 private:
  OptimisedRun& run_;
  Vector<double> before_;
  bool before_in_place_ = false;
};

}  // namespace

Vector<double> right_hand_side(const Geometry& geometry) {
  const Grid& box = geometry.local;
  std::vector<double> along_x;
  for (std::int64_t i = 0; i < box.nx; ++i) along_x.push_back(geometry.neighbours_along(0, i));
  Vector<double> b(box.points());
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads_for(box.points()))
  for (std::int64_t k = 0; k < box.nz; ++k) {
    for (std::int64_t j = 0; j < box.ny; ++j) {
      const double entries = geometry.neighbours_along(1, j) * geometry.neighbours_along(2, k);
      double* const line = b.data() + box.index(0, j, k);
      for (std::int64_t i = 0; i < box.nx; ++i) line[i] = 27.0 - entries * along_x[static_cast<std::size_t>(i)];
    }
  }
  return b;
}

Vector<double> drawn_vector(const Geometry& geometry, std::uint64_t seed) {
  return made(geometry, [&](auto i, auto j, auto k) {
    // splitmix64 of the row
    std::uint64_t z =
        seed * 0x632be59bd9b4e019u + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(geometry.global_row(i, j, k) + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return 1.0 + static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  });
}

SpectralTest test_spectrum(OptimisedRun& run, const Geometry& geometry, const Vector<double>& b,
                           const std::function<Verdict()>& ask) {
  constexpr double large = 1e6;
  constexpr std::int64_t special_rows = 9;
  const auto scale = made(geometry, [&](auto i, auto j, auto k) {
    const std::int64_t row = geometry.global_row(i, j, k);
    return row < special_rows ? static_cast<double>(row + 2) * large : large;
  });
  ReplacedDiagonal replaced(run, scale);
  Vector<double> scaled_b(b.size()), x = run.zeros();
  for (std::int64_t i = 0; i < b.size(); ++i) scaled_b[i] = b[i] * scale[i];
  const auto own_b = run.in_own_order(scaled_b);
  SpectralTest test;
  for (const bool preconditioned : {false, true}) {
    int& most = preconditioned ? test.preconditioned : test.unpreconditioned;
    for (int call = 0; call < 2; ++call) {
      CgRequest request;
      request.tolerance = 1e-12;
      request.preconditioned = preconditioned;
      request.ask = ask;
      CgSeconds unused;
      const CgResult result = run.solve(own_b, x, request, unused);
      // What is not a number ends the iteration, and passes nothing.
      const bool ended_well = std::isfinite(result.residual);
      most = std::max(most, ended_well ? result.iterations : request.iterations + 1);
    }
  }
  replaced.put_back();
  return test;
}

SymmetryTest test_symmetry(OptimisedRun& run, const Geometry& geometry) {
  Vector<double> x = run.in_own_order(drawn_vector(geometry, 1)), y = run.in_own_order(drawn_vector(geometry, 2));
  Vector<double> image = run.zeros();
  const double scale =
      2 * std::sqrt(run.dot(x, x)) * matrix_norm * std::sqrt(run.dot(y, y)) * std::numeric_limits<double>::epsilon();
  const auto departure = [&](const auto& apply) {
    apply(y, image);
    const double forward = run.dot(x, image);
    apply(x, image);
    const double backward = run.dot(y, image);
    const double value = std::fabs(forward - backward) / scale;
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
  };
  SymmetryTest test;
  test.spmv = departure([&](Vector<double>& v, Vector<double>& to) { run.multiply(v, to); });
  test.mg = departure([&](Vector<double>& v, Vector<double>& to) { run.precondition(v, to); });
  return test;
}

}  // namespace echelon::hpcg
