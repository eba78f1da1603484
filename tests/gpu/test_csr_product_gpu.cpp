// SPDX-License-Identifier: BSD-3-Clause
// Products with a block CSR matrix on a GPU have the host's bits: y = A x, the careful residual, the norm; rows of any
// length. Skipped, with the reason, where there is no GPU.
#include <gtest/gtest.h>

#include <cmath>

#include "echelon/matrix/rows/block_csr.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using CsrProductGpu = GpuTest;

Vector<double> wave(std::int64_t n, double phase) {
  Vector<double> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  return x;
}

void expect_host_bits(const BlockCsr<double>& A) {
  const auto x = wave(A.rows(), 0.2), b = wave(A.rows(), 0.9);
  Vector<double> y(A.rows()), r(A.rows());
  A.apply(x, y);
  A.careful_residual(b, x, r);
  const Device gpu = Device::cuda();
  const auto there = A.to(gpu);
  const auto x_there = x.to(gpu), b_there = b.to(gpu);
  Vector<double> y_there(A.rows(), gpu), r_there(A.rows(), gpu);
  there.apply(x_there, y_there);
  there.careful_residual(b_there, x_there, r_there);
  const auto y_found = y_there.to(Device::host()), r_found = r_there.to(Device::host());
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    ASSERT_EQ(y_found[i], y[i]) << "product, row " << i;
    ASSERT_EQ(r_found[i], r[i]) << "residual, row " << i;
  }
  EXPECT_EQ(there.norm_inf(), A.norm_inf());
}

TEST_F(CsrProductGpu, HasTheBitsOfTheHost) {
  for (int b = 1; b <= 10; ++b) {
    for (const std::int32_t n : {1, 2, 31, 100, 257}) {
      for (const double density : {0.0, 0.01, 0.1, 0.6}) {
        SCOPED_TRACE(testing::Message() << "b " << b << " n " << n << " density " << density);
        expect_host_bits(reference::with_random_values<double>(reference::random_rows(n, density, 3, n % 2 == 0), b, 5));
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace echelon
