// SPDX-License-Identifier: BSD-3-Clause
// The GPU's fixed-point sweeps, thread by thread on the host, against the host's own, bit for bit: factors, residuals,
// notes, bounds; every block size, orders, fill, patterns on which only the diagonal changes; missing diagonals, empty
// triangles, one row, zero pivots, NaN. What threads share is tested on a GPU (tests/gpu/test_fixed_point_gpu.cpp).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "echelon/factor/fixed_point/device_fixed_point.hpp"
#include "echelon/factor/fixed_point/device_fixed_point_steps.inl"
#include "echelon/factor/rows/symbolic.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/schedule/orders/colouring.hpp"
#include "tests/reference/emulated_place.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using Rows = std::vector<std::vector<std::int32_t>>;

const DeviceFixedPointKernels* emulated() {
  static const DeviceFixedPointKernels table = fixed_point_steps::table<reference::EmulatedPlace>();
  return &table;
}

/// What is factored, and how.
struct Case {
  int fill = 0;
  Ordering ordering = Ordering::natural;
  int sweeps = 3;
  PivotRules rules = {1e-13, 0, true, false, 1, nullptr};
};

/// Pattern, order and room of both factorizations.
class Problem {
 public:
  Problem(const BlockCsr<double>& A, const Case& one) : A_(A), case_(one) {
    const PatternView user{A.block_rows(), A.row_start().data(), A.column().data()};
    grown_ = missing_diagonals(user) > 0 || one.fill > 0;
    if (one.ordering != Ordering::natural) {
      order_ = elimination_order(user, one.ordering).order;
      position_ = Array<std::int32_t>(order_.size());
      for (std::int64_t i = 0; i < order_.size(); ++i) position_[order_[i]] = static_cast<std::int32_t>(i);
    }
    Pattern pattern = elimination_pattern(user, order_.span(), position_.span());
    if (one.fill > 0) pattern = filled_pattern(pattern.view(), one.fill);
    factors_.rows = A.block_rows();
    factors_.block = A.block();
    EXPECT_TRUE(split(pattern.view(), false, factors_.lower, factors_.upper));
    const std::int64_t bb = std::int64_t{A.block()} * A.block();
    factors_.lower_values = Array<double>(factors_.lower.entries() * bb, -7.0);
    factors_.upper_values = Array<double>(factors_.upper.entries() * bb, -7.0);
    factors_.inverse_diagonal = Array<double>(factors_.rows * bb, -7.0);
  }

  const Triangles<double>& factors() const { return factors_; }
  std::int64_t notes() const { return log_.count(); }
  std::span<const PivotNote> first_notes() const { return log_.first(); }

  FixedPointOutcome by_host() {
    const std::int64_t n = A_.block_rows(), b = A_.block();
    Array<double> dense(n), small(3 * b * b);
    Array<double*> target(n, nullptr);
    Array<int> swaps(b);
    std::vector<RowWorkspace<double>> work(1);
    work[0].dense = dense.data();
    work[0].target = target.data();
    work[0].small = small.data();
    work[0].swaps = swaps.data();
    FactorView<double> v = view();
    const double first = first_magnitude(A_.values());
    v.rules.zero_row_scale = first > 0 ? first : 1;
    v.rules.log = &log_;
    return FixedPoint<double>(factors_).run(v, case_.sweeps, work);
  }

  FixedPointOutcome by_emulation(bool& only_diagonal) {
    const std::int64_t n = A_.block_rows();
    FactorStatus status{};
    const double first = first_magnitude(A_.values());
    status.zero_row_scale = first > 0 ? first : 1;
    Array<double> scale(n, 0.0);
    Array<std::uint8_t> nonfinite(n, std::uint8_t{0});
    double norm = 0, largest = 0;
    measure(scale, nonfinite, norm);
    for (const double one : scale) largest = std::max(largest, one);
    RowMeasures known;
    known.scale = scale.data();
    known.nonfinite = nonfinite.data();
    SweptPattern pattern;
    pattern.rows = n;
    pattern.lower_entries = factors_.lower.entries();
    pattern.upper_entries = factors_.upper.entries();
    pattern.lower_start = factors_.lower.start.data();
    pattern.upper_start = factors_.upper.start.data();
    pattern.lower_distance = factors_.lower.distance.data();
    pattern.upper_distance = factors_.upper.distance.data();
    DeviceFixedPoint sweeps(view(), pattern, Device::host(), emulated());
    only_diagonal = sweeps.only_diagonal();
    FixedPointOutcome outcome = sweeps.run(view(), known, &status, largest, case_.sweeps);
    log_.take(status.notes);
    outcome.norm = norm;
    outcome.change = std::bit_cast<double>(status.change);
    if (A_.block() == 1) outcome.inverse_bound = bounds_in(status).of_inverse();
    return outcome;
  }

 private:
  /// As the rows of an elimination find it, in plain loops.
  void measure(Array<double>& scale, Array<std::uint8_t>& nonfinite, double& norm) const {
    const std::int64_t b = A_.block(), bb = b * b;
    for (std::int64_t i = 0; i < A_.block_rows(); ++i) {
      double row = 0;
      for (std::int64_t r = 0; r < b; ++r) {
        double sum = 0;
        for (auto e = A_.row_start()[i] * bb + r; e < A_.row_start()[i + 1] * bb; e += b) {
          const double size = std::abs(A_.values()[e]);
          sum += size;
          if (size > scale[i]) scale[i] = size;
          if (!std::isfinite(size)) nonfinite[i] = 1;
        }
        row = sum > row || std::isnan(sum) ? sum : row;
      }
      if (std::isfinite(row)) norm = std::max(norm, row);
    }
  }

  FactorView<double> view() {
    return {A_.view(),
            order_.empty() ? nullptr : order_.data(),
            position_.empty() ? nullptr : position_.data(),
            grown_,
            factors_.lower.start.data(),
            factors_.upper.start.data(),
            factors_.lower.distance.data(),
            factors_.upper.distance.data(),
            factors_.lower_values.data(),
            factors_.upper_values.data(),
            factors_.inverse_diagonal.data(),
            case_.rules};
  }

  const BlockCsr<double>& A_;
  Case case_;
  bool grown_ = false;
  Array<std::int32_t> order_, position_;
  Triangles<double> factors_;
  PivotLog log_;
};

void expect_same(double a, double b, const char* what) {
  if (std::isnan(a) && std::isnan(b)) return;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b)) << what << " " << a << " " << b;
}

void expect_same(const Array<double>& a, const Array<double>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::int64_t e = 0; e < a.size() && !testing::Test::HasFailure(); ++e) expect_same(a[e], b[e], what);
}

/// Whether only the diagonal was swept.
bool expect_host_bits(const BlockCsr<double>& A, const Case& one) {
  Problem host(A, one), device(A, one);
  bool only_diagonal = false;
  const FixedPointOutcome expected = host.by_host(), found = device.by_emulation(only_diagonal);
  expect_same(found.start_residual, expected.start_residual, "start residual");
  expect_same(found.residual, expected.residual, "residual");
  expect_same(found.norm, expected.norm, "norm");
  expect_same(found.change, expected.change, "change");
  expect_same(found.inverse_bound, expected.inverse_bound, "bound");
  expect_same(device.factors().lower_values, host.factors().lower_values, "L");
  expect_same(device.factors().upper_values, host.factors().upper_values, "U");
  expect_same(device.factors().inverse_diagonal, host.factors().inverse_diagonal, "D");
  EXPECT_EQ(device.notes(), host.notes());
  EXPECT_EQ(device.first_notes().size(), host.first_notes().size());
  for (std::size_t k = 0; k < host.first_notes().size() && k < device.first_notes().size(); ++k) {
    EXPECT_EQ(device.first_notes()[k].row, host.first_notes()[k].row) << k;
    EXPECT_EQ(device.first_notes()[k].kind, host.first_notes()[k].kind) << k;
    expect_same(device.first_notes()[k].value, host.first_notes()[k].value, "a noted pivot");
  }
  return only_diagonal;
}

TEST(DeviceFixedPoint, HasTheBitsOfTheHost) {
  std::uint64_t seed = 1;
  for (int b = 1; b <= 10; ++b) {
    for (const Ordering ordering : {Ordering::natural, Ordering::rcm, Ordering::colours}) {
      for (int fill = 0; fill <= 2; ++fill) {
        for (const std::int32_t n : {1, 2, 33, 80}) {
          SCOPED_TRACE(testing::Message() << "b " << b << " " << word(ordering) << " fill " << fill << " n " << n);
          ++seed;
          const Rows rows = reference::random_rows(n, std::min(0.5, 5.0 / n), seed);
          expect_host_bits(reference::with_random_values<double>(rows, b, seed),
                           {.fill = fill, .ordering = ordering, .sweeps = 1 + static_cast<int>(seed % 4)});
          if (HasFailure()) return;
        }
      }
    }
  }
}

/// More rows than one part of the sums.
TEST(DeviceFixedPoint, OnlyTheDiagonalIsSweptWhereNothingElseChanges) {
  for (const int sweeps : {1, 2, 5, 6}) {
    SCOPED_TRACE(sweeps);
    EXPECT_TRUE(expect_host_bits(to_block_csr(problems::random({17, 16, 9}, stencils::star7(), 1, 3)), {.sweeps = sweeps}));
    EXPECT_TRUE(expect_host_bits(to_block_csr(problems::random({50, 40, 1}, stencils::star5(), 1, 3)), {.sweeps = sweeps}));
    EXPECT_FALSE(expect_host_bits(to_block_csr(problems::random({9, 16, 8}, stencils::box27(), 1, 3)), {.sweeps = sweeps}));
  }
  const auto star = to_block_csr(problems::random({8, 7, 6}, stencils::star7(), 1, 3));
  EXPECT_TRUE(expect_host_bits(star, {.ordering = Ordering::colours}));
  EXPECT_FALSE(expect_host_bits(star, {.fill = 1}));
  EXPECT_FALSE(expect_host_bits(to_block_csr(problems::random({8, 7, 6}, stencils::star7(), 3, 3)), {}));
}

/// An entry without its mirror adds nothing to the diagonal.
TEST(DeviceFixedPoint, UnsymmetricPatterns) {
  const Rows one_sided = {{0}, {0, 1}, {1, 2}, {0, 3}};
  EXPECT_FALSE(expect_host_bits(reference::with_random_values<double>(one_sided, 1, 5), {}));
  const Rows upper = {{0, 1, 3}, {1, 2}, {2, 3}, {3}};
  auto A = reference::with_random_values<double>(upper, 1, 5);
  EXPECT_FALSE(expect_host_bits(A, {}));
  A.values()[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(expect_host_bits(A, {}));
}

TEST(DeviceFixedPoint, EmptyTrianglesAndDisconnectedRows) {
  for (const Rows& rows : reference::odd_rows()) {
    for (const int b : {1, 2, 9}) expect_host_bits(reference::with_random_values<double>(rows, b, 5), {});
  }
}

TEST(DeviceFixedPoint, MissingDiagonalsBadPivotsAndNan) {
  std::mt19937_64 random(4);
  for (int n = 0; n < 120 && !HasFailure(); ++n) {
    const int b = n % 2 == 0 ? 1 : 1 + n % 10;
    SCOPED_TRACE(testing::Message() << "case " << n << " b " << b);
    const bool grid = n % 4 == 0;
    auto A = grid ? to_block_csr(problems::random({5, 4, 4}, stencils::star7(), 1, static_cast<unsigned>(n)))
                  : reference::with_random_values<double>(reference::random_rows(60, 0.08, random(), n % 3 == 0), b,
                                                          random(), n % 3 == 0 ? 0.0 : 1.2);
    reference::spoil(n, A.values(), random);
    Case one;
    one.fill = n % 2;
    if (n % 8 == 0) one.fill = 0;
    for (const bool boost : {true, false}) {
      for (const bool positive : {true, false}) {
        one.rules = {1e-13, boost ? 0 : 0.5, boost, positive, 1, nullptr};
        expect_host_bits(A, one);
      }
    }
  }
}

}  // namespace
}  // namespace echelon
