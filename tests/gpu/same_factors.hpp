// SPDX-License-Identifier: BSD-3-Clause
// Factors of block CSR on a GPU held against the host's, bit for bit, with what is reported and what they do to a vector.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "echelon/base/small_block.hpp"
#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"

namespace echelon {

inline Vector<double> wave(std::int64_t n) {
  Vector<double> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::sin(1.7 * static_cast<double>(i) + 0.3);
  return x;
}

/// The first place where the bits differ, −1 without one.
inline std::int64_t difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    if (std::bit_cast<std::uint64_t>(a[n]) != std::bit_cast<std::uint64_t>(b[n])) return static_cast<std::int64_t>(n);
  }
  return -1;
}

/// U with its diagonal, as Ilu::upper has it, from the device's factors.
inline std::vector<double> upper_values(const BlockCsr<double>& U, const DeviceBlockIlu::Factors& found) {
  const std::int64_t n = U.block_rows(), bb = std::int64_t{U.block()} * U.block();
  std::vector<double> values(U.values().size());
  std::vector<int> swaps(static_cast<std::size_t>(U.block()));
  std::int64_t from = 0;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    const std::int64_t begin = U.row_start()[i] * bb, end = U.row_start()[i + 1] * bb;
    std::copy_n(found.inverse_diagonal.data() + i * bb, bb, values.begin() + begin);
    static_cast<void>(invert<0>(U.block(), values.data() + begin, swaps.data()));
    std::copy_n(found.upper.data() + from, end - begin - bb, values.begin() + begin + bb);
    from += end - begin - bb;
  }
  return values;
}

/// To the bit, but for the sign of NaN.
inline void expect_same_number(double found, double host) {
  if (host == host || found == found) {
    EXPECT_EQ(found, host);
  }
}

inline void expect_near(double found, double host, double relative) {
  if (relative == 0 || !std::isfinite(host)) {
    EXPECT_EQ(found, host);
  } else {
    EXPECT_NEAR(found, host, relative * std::abs(host));
  }
}

inline void expect_same_report(const FactorReport& found, const FactorReport& host) {
  EXPECT_EQ(found.ok, host.ok);
  EXPECT_EQ(found.message, host.message);
  EXPECT_EQ(found.remarks, host.remarks);
  EXPECT_EQ(found.missing_diagonals, host.missing_diagonals);
  EXPECT_EQ(found.perturbed_pivots, host.perturbed_pivots);
  EXPECT_EQ(found.shift, host.shift);
  EXPECT_EQ(found.shift_attempts, host.shift_attempts);
  // Both have ‖A‖∞, whose sums a GPU takes in another order where rows of blocks measure themselves.
  const bool may_measure = host.block >= 3 && host.block <= 8 && host.factor_sweeps == 0;
  expect_near(found.perturbation, host.perturbation, may_measure ? 1e-13 : 0);
  expect_near(found.growth, host.growth, may_measure ? 1e-13 : 0);
  EXPECT_EQ(found.name, host.name);
  EXPECT_EQ(found.ordering, host.ordering);
  EXPECT_EQ(found.colours, host.colours);
  EXPECT_EQ(found.factor_sweeps, host.factor_sweeps);
  expect_same_number(found.start_residual, host.start_residual);
  expect_same_number(found.pattern_residual, host.pattern_residual);
  EXPECT_EQ(found.fill_ratio, host.fill_ratio);
  ASSERT_EQ(found.bad_pivots.size(), host.bad_pivots.size());
  for (std::size_t n = 0; n < host.bad_pivots.size(); ++n) {
    EXPECT_EQ(found.bad_pivots[n].row, host.bad_pivots[n].row) << n;
    EXPECT_EQ(found.bad_pivots[n].kind, host.bad_pivots[n].kind) << n;
    if (host.bad_pivots[n].value == host.bad_pivots[n].value) {
      EXPECT_EQ(found.bad_pivots[n].value, host.bad_pivots[n].value) << n;
    }
  }
}

inline void expect_same_factors(const DeviceBlockIlu& found, const Ilu<double>& host, std::int64_t size) {
  expect_same_report(found.report(), host.report());
  if (testing::Test::HasFailure() || !host.report().ok) return;
  const DeviceBlockIlu::Factors factors = found.factors();
  EXPECT_EQ(difference(factors.lower.span(), host.lower().values()), -1) << "L";
  const BlockCsr<double> U = host.upper();
  EXPECT_EQ(difference(upper_values(U, factors), U.values()), -1) << "U";
  const Vector<double> r = wave(size);
  Vector<double> z(size);
  host.apply(r, z);
  const Vector<double> there = r.to(Device::cuda());
  Vector<double> result(size, Device::cuda());
  found.apply(there, result);
  found.settle();
  EXPECT_EQ(difference(result.to(Device::host()).span(), z.span()), -1) << "z";
  Vector<double> in_place = r.to(Device::cuda());
  found.apply(in_place, in_place);
  EXPECT_EQ(difference(in_place.to(Device::host()).span(), z.span()), -1) << "z in place of r";
}

inline void expect_host_bits(const BlockCsr<double>& A, const IluOptions& options, bool positive = false) {
  const Ilu<double> host = positive ? ic(A, options) : ilu(A, options);
  const DeviceBlockIlu found(A.to(Device::cuda()), options, positive);
  expect_same_factors(found, host, A.rows());
}

inline IluOptions with_fill(int fill, Ordering ordering = Ordering::natural) {
  IluOptions options;
  options.fill = fill;
  options.ordering = ordering;
  return options;
}

}  // namespace echelon
