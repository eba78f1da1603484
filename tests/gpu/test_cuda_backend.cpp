// SPDX-License-Identifier: BSD-3-Clause
// The GPU's vector operations and block CSR product give the host's bits. Skipped, with the reason, where there is no GPU.
#include "echelon/base/cuda/cuda_backend.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "echelon/base/device.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/krylov/vectors/vector_ops.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/gpu/needs_gpu.hpp"

namespace echelon {
namespace {

using CudaBackendTest = GpuTest;

Vector<double> wave(std::int64_t n, double phase) {
  Vector<double> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  return x;
}

constexpr std::int64_t lengths[] = {0, 1, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 12289, 1000003};

TEST_F(CudaBackendTest, DotHasTheBitsOfTheHost) {
  for (const std::int64_t n : lengths) {
    const auto x = wave(n, 0.1), y = wave(n, 0.9);
    VectorOps ops(n, 1);
    const auto dx = x.to(Device::cuda()), dy = y.to(Device::cuda());
    EXPECT_EQ(cuda_backend()->dot(0, dx.data(), dy.data(), n), ops.dot(x, y)) << n;
  }
}

TEST_F(CudaBackendTest, AxpyAndFillHaveTheBitsOfTheHost) {
  for (const std::int64_t n : lengths) {
    const auto x = wave(n, 0.1);
    auto y = wave(n, 0.9);
    VectorOps ops(n, 1);
    const auto dx = x.to(Device::cuda());
    auto dy = y.to(Device::cuda());
    cuda_backend()->axpy(0, 0.3, dx.data(), dy.data(), n);
    ops.axpy(0.3, x, y);
    const auto back = dy.to(Device::host());
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(back[i], y[i]) << n << ", element " << i;
    cuda_backend()->fill(0, dy.data(), n, 2.5);
    const auto filled = dy.to(Device::host());
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(filled[i], 2.5) << n << ", element " << i;
  }
}

TEST_F(CudaBackendTest, LargeArraysArriveWholeAndBehindWhatWasQueued) {
  constexpr std::int64_t megabyte = (1 << 20) / 8;
  const int before = threads();
  for (const int count : {1, 3, before}) {
    set_threads(count);
    for (const std::int64_t n : {64 * megabyte - 1, 64 * megabyte, 68 * megabyte, 71 * megabyte + 13}) {
      const auto x = wave(n, 0.3);
      Vector<double> there(n + 1, Device::cuda());
      cuda_backend()->fill(0, there.data(), n + 1, -7);
      copy_bytes(there.data(), Device::cuda(), x.data(), Device::host(), x.bytes());
      const auto back = there.to(Device::host());
      EXPECT_EQ(std::memcmp(back.data(), x.data(), static_cast<std::size_t>(x.bytes())), 0) << n << ", threads " << count;
      EXPECT_EQ(back[n], -7);
    }
  }
  set_threads(before);
}

TEST_F(CudaBackendTest, SpmvHasTheBitsOfTheHost) {
  for (const int block : {1, 2, 3, 5, 8, 11}) {
    const auto A = to_block_csr(problems::random({7, 6, 5}, stencils::star7(), block, 3));
    const auto x = wave(A.rows(), 0.2);
    Vector<double> y(A.rows());
    A.apply(x, y);
    const auto dA = A.to(Device::cuda());
    const auto dx = x.to(Device::cuda());
    Vector<double> dy(A.rows(), Device::cuda());
    dA.apply(dx, dy);
    const auto back = dy.to(Device::host());
    for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(back[i], y[i]) << "block " << block << ", row " << i;
  }
}

TEST_F(CudaBackendTest, CopyBandwidthIsMeasured) { EXPECT_GT(cuda_backend()->copy_bandwidth(0), 1e9); }

}  // namespace
}  // namespace echelon
