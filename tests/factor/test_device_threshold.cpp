// SPDX-License-Identifier: BSD-3-Clause
// The GPU's rounds of ParILUT, thread by thread on the host, against the host's own, bit for bit: patterns, values,
// thresholds, residuals, notes; symmetric and not, missing diagonals, empty rows, one row, ties, nothing kept, NaN.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "echelon/factor/fixed_point/device_fixed_point_steps.inl"
#include "echelon/factor/fixed_point/device_threshold.hpp"
#include "echelon/factor/fixed_point/device_threshold_steps.inl"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/emulated_place.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

ThresholdSteps emulated() {
  static const DeviceThresholdKernels rounds = threshold_steps::table<reference::EmulatedPlace>();
  static const DeviceFixedPointKernels sweeps = fixed_point_steps::table<reference::EmulatedPlace>();
  return {&rounds, &sweeps};
}

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

struct Case {
  std::int64_t lower = 0, upper = 0;
  int rounds = 3;
  bool symmetric = false;
  PivotRules rules = {1e-13, 0, true, false, 1, nullptr};
};

/// Entry p of row i as both have it: the host's rows, the device's triangles.
void expect_same_rows(const SweptRows<double>& host, DeviceSweptRows& device) {
  const SweptPattern S = device.pattern.view();
  ASSERT_EQ(S.rows, host.rows());
  ASSERT_EQ(S.lower_entries + S.upper_entries + S.rows, host.column.size());
  Array<std::int64_t> start(S.rows + 1);
  Array<std::int32_t> column(host.column.size());
  emulated().rounds->join(0, S, start.data(), column.data());
  for (std::int64_t i = 0; i < S.rows; ++i) {
    ASSERT_EQ(start[i + 1], host.start[i + 1]) << "row " << i;
    const std::int64_t below = S.lower_start[i + 1] - S.lower_start[i];
    for (auto p = host.start[i]; p < host.start[i + 1]; ++p) {
      ASSERT_EQ(column[p], host.column[p]) << "row " << i;
      const std::int64_t at = p - host.start[i];
      const double found = at < below    ? device.values.lower[S.lower_start[i] + at]
                           : at == below ? device.values.pivots[i]
                                         : device.values.upper[S.upper_start[S.rows - 1 - i] + at - below - 1];
      ASSERT_TRUE(same_bits(found, host.value[p])) << i << ", " << host.column[p] << ": " << found << " " << host.value[p];
    }
    ASSERT_TRUE(same_bits(device.values.inverse[i], host.inverse_diagonal[i])) << "row " << i;
  }
}

void expect_host_bits(const BlockCsr<double>& A, Case one) {
  const std::int64_t n = A.rows();
  const double first = first_magnitude(A.values());
  one.rules.zero_row_scale = first > 0 ? first : 1;
  one.rules.positive = one.symmetric;
  const ThresholdLimits limits{one.lower, one.upper, one.rounds, one.symmetric};
  Array<std::int32_t> names(n);
  for (std::int64_t i = 0; i < n; ++i) names[i] = static_cast<std::int32_t>(n - 1 - i);

  PivotLog log;
  SweptRows<double> host;
  PivotRules logged = one.rules;
  logged.log = &log;
  const ThresholdOutcome expected = threshold_rounds(A.view(), logged, names.data(), limits, host);

  Array<double> scale(n, 0.0);
  Array<std::uint8_t> nonfinite(n, std::uint8_t{0});
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p) {
      const double size = std::abs(A.values()[p]);
      if (size > scale[i]) scale[i] = size;
      if (!std::isfinite(size)) nonfinite[i] = 1;
    }
    largest = std::max(largest, scale[i]);
  }
  RowMeasures known;
  known.scale = scale.data();
  known.nonfinite = nonfinite.data();
  FactorStatus status{};
  status.zero_row_scale = one.rules.zero_row_scale;
  DeviceSweptRows device;
  DeviceThresholdRounds rounds(A.view(), names.data(), known, largest, Device::host(), emulated());
  const ThresholdOutcome found = rounds.run(one.rules, limits, &status, device);

  EXPECT_TRUE(same_bits(found.upper_threshold, expected.upper_threshold));
  EXPECT_TRUE(same_bits(found.lower_threshold, expected.lower_threshold));
  EXPECT_TRUE(same_bits(found.start_residual, expected.start_residual)) << found.start_residual;
  EXPECT_TRUE(same_bits(found.residual, expected.residual)) << found.residual << " " << expected.residual;
  EXPECT_TRUE(same_bits(std::bit_cast<double>(status.change), expected.change));
  EXPECT_EQ(status.notes.count, log.count());
  ASSERT_EQ(status.notes.used, static_cast<int>(log.first().size()));
  for (int k = 0; k < status.notes.used; ++k) {
    EXPECT_EQ(status.notes.notes[k].row, log.first()[static_cast<std::size_t>(k)].row);
    EXPECT_EQ(status.notes.notes[k].kind, log.first()[static_cast<std::size_t>(k)].kind);
  }
  expect_same_rows(host, device);
}

/// Limits as a multiple of what A's triangles have.
Case with_fill(const BlockCsr<double>& A, double limit, int rounds, bool symmetric = false) {
  Case one;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p) {
      one.lower += A.column()[p] < i;
      one.upper += A.column()[p] > i;
    }
  }
  one.lower = static_cast<std::int64_t>(limit * static_cast<double>(one.lower));
  one.upper = static_cast<std::int64_t>(limit * static_cast<double>(one.upper));
  one.rounds = rounds;
  one.symmetric = symmetric;
  return one;
}

TEST(DeviceThreshold, HasTheBitsOfTheHost) {
  std::uint64_t seed = 1;
  for (const std::int32_t n : {1, 2, 33, 80}) {
    for (const double limit : {0.0, 0.5, 1.0, 2.0, 30.0}) {
      for (const int rounds : {1, 2, 4}) {
        SCOPED_TRACE(testing::Message() << "n " << n << ", limit " << limit << ", rounds " << rounds);
        ++seed;
        const auto A =
            reference::with_random_values<double>(reference::random_rows(n, std::min(0.5, 4.0 / n), seed), 1, seed);
        expect_host_bits(A, with_fill(A, limit, rounds));
        if (HasFailure()) return;
      }
    }
  }
}

/// Constant coefficients: thousands of equal weights, and more rows than one part of the sums.
TEST(DeviceThreshold, SymmetricMatricesAndTies) {
  const auto poisson = to_block_csr(problems::poisson({13, 12, 11}, stencils::star7())),
             varied = to_block_csr(problems::variable_poisson({9, 8, 7}, stencils::star7()));
  for (const int rounds : {1, 3}) {
    expect_host_bits(poisson, with_fill(poisson, 2, rounds, true));
    expect_host_bits(poisson, with_fill(poisson, 2, rounds));
    expect_host_bits(varied, with_fill(varied, 2.3, rounds, true));
  }
}

TEST(DeviceThreshold, EmptyTrianglesMissingDiagonalsAndDisconnectedRows) {
  auto odd = reference::odd_rows();
  odd.push_back(reference::rows_with_holes);
  for (const auto& rows : odd) {
    SCOPED_TRACE(rows.size());
    const auto A = reference::with_random_values<double>(rows, 1, 5);
    expect_host_bits(A, with_fill(A, 2, 2));
  }
}

TEST(DeviceThreshold, BadPivotsShiftsAndNan) {
  std::mt19937_64 random(4);
  for (int n = 0; n < 60 && !HasFailure(); ++n) {
    SCOPED_TRACE(testing::Message() << "case " << n);
    const auto A = reference::spoiled_matrix(n, 50, 1, random);
    for (const bool boost : {true, false}) {
      Case one = with_fill(A, 1.5, 2);
      one.rules = {1e-13, boost ? 0 : 0.5, boost, false, 1, nullptr};
      expect_host_bits(A, one);
    }
  }
}

}  // namespace
}  // namespace echelon
