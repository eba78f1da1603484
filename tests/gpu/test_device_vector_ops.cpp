// SPDX-License-Identifier: BSD-3-Clause
// The vector work on a GPU has the bits of the host's: every call, lengths around lanes, chunks, blocks of threads and the
// groups of the last tree, bases in FP64 and FP32 with more columns than one launch carries. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "echelon/base/transfers.hpp"
#include "echelon/krylov/vectors/vector_ops.hpp"
#include "tests/gpu/needs_gpu.hpp"

namespace echelon {
namespace {

using V = Vector<double>;
using DeviceVectorOps = GpuTest;

constexpr std::int64_t chunk = 4096, block = 8 * chunk;
const std::vector<std::int64_t> lengths = {0,
                                           1,
                                           31,
                                           32,
                                           33,
                                           255,
                                           257,
                                           chunk - 1,
                                           chunk,
                                           chunk + 1,
                                           3 * chunk,
                                           5 * chunk + 7,
                                           block,
                                           block + 1,
                                           7 * block + 5 * chunk + 3,
                                           33 * block + 100};

V drawn(std::int64_t n, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  V x(n);
  for (double& value : x) value = uniform(generator);
  return x;
}

void expect_equal(const V& on_gpu, const V& want, const char* what) {
  const V got = on_gpu.to(Device::host());
  ASSERT_EQ(got.size(), want.size());
  for (std::int64_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], want[i]) << what << " element " << i << " of " << got.size();
}

TEST_F(DeviceVectorOps, SumsAndUpdatesHaveTheBitsOfTheHost) {
  const Device gpu = Device::cuda();
  for (const std::int64_t n : lengths) {
    VectorOps host(n, 2), device(n, 2, serial(), gpu);
    V x = drawn(n, 1), y = drawn(n, 2), p = drawn(n, 3), q = drawn(n, 4), t = drawn(n, 5);
    V gx = x.to(gpu), gy = y.to(gpu), gp = p.to(gpu), gq = q.to(gpu), gt = t.to(gpu);
    EXPECT_EQ(device.dot(gx, gy), host.dot(x, y)) << n;
    const auto [xy, xx] = host.dot_and_square(x, y);
    const auto [gxy, gxx] = device.dot_and_square(gx, gy);
    EXPECT_EQ(gxy, xy) << n;
    EXPECT_EQ(gxx, xx) << n;
    EXPECT_EQ(device.norm(gx), host.norm(x)) << n;
    EXPECT_EQ(device.largest(gx), host.largest(x)) << n;
    host.axpy(0.3, x, y), device.axpy(0.3, gx, gy);
    expect_equal(gy, y, "axpy");
    host.xpay(x, -0.7, y), device.xpay(gx, -0.7, gy);
    expect_equal(gy, y, "xpay");
    EXPECT_EQ(device.cg_update(0.11, gp, gq, gx, gy), host.cg_update(0.11, p, q, x, y)) << n;
    expect_equal(gx, x, "cg_update x");
    expect_equal(gy, y, "cg_update r");
    host.bicgstab_direction(0.4, 0.6, x, y, p), device.bicgstab_direction(0.4, 0.6, gx, gy, gp);
    expect_equal(gp, p, "bicgstab_direction");
    V s = drawn(n, 6), gs = s.to(gpu);
    const auto [shadow_r, rr] = host.bicgstab_update({0.2, 0.5, p.data(), s.data(), t.data(), q.data(), x.data(), y.data()});
    const auto [g_shadow_r, g_rr] =
        device.bicgstab_update({0.2, 0.5, gp.data(), gs.data(), gt.data(), gq.data(), gx.data(), gy.data()});
    EXPECT_EQ(g_shadow_r, shadow_r) << n;
    EXPECT_EQ(g_rr, rr) << n;
    expect_equal(gx, x, "bicgstab_update x");
    expect_equal(gy, y, "bicgstab_update r");
    EXPECT_EQ(device.subtract(0.9, gp, gy), host.subtract(0.9, p, y)) << n;
    expect_equal(gy, y, "subtract");
    if (HasFatalFailure()) return;
  }
}

TEST_F(DeviceVectorOps, WorkOnABasisHasTheBitsOfTheHost) {
  const Device gpu = Device::cuda();
  for (const bool single : {false, true}) {
    for (const std::int64_t n : {std::int64_t{33}, chunk, 3 * chunk + 17, block + chunk + 5}) {
      for (const int count : {1, 2, 3, 4, 7, 12, 15, 16, 17, 33, 48}) {
        VectorOps host(n, count + 2), device(n, count + 2, serial(), gpu);
        Basis basis(n, count + 2, single), on_gpu(n, count + 2, single, gpu);
        for (int j = 0; j < count; ++j) {
          V column = drawn(n, static_cast<unsigned>(10 + j)), copy = column.to(gpu);
          host.store(0.5, column, basis, j), device.store(0.5, copy, on_gpu, j);
          expect_equal(copy, column, "store");
        }
        V w = drawn(n, 7), gw = w.to(gpu);
        std::vector<double> h(static_cast<std::size_t>(count) + 1), gh(h.size());
        host.multi_dot(basis, count, w, h), device.multi_dot(on_gpu, count, gw, gh);
        EXPECT_EQ(gh, h) << n << " " << count;
        const auto used = std::span(h).first(static_cast<std::size_t>(count));
        EXPECT_EQ(device.subtract(on_gpu, used, gw), host.subtract(basis, used, w)) << n << " " << count;
        expect_equal(gw, w, "subtract");
        EXPECT_EQ(device.subtract_and_store(on_gpu, used, 1.7, count, gw),
                  host.subtract_and_store(basis, used, 1.7, count, w));
        expect_equal(gw, w, "subtract_and_store");
        V u(n), gu(n, gpu);
        const std::vector<double> y(static_cast<std::size_t>(count) + 1, 0.25);
        host.combine(basis, y, u), device.combine(on_gpu, y, gu);
        expect_equal(gu, u, "combine");
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(DeviceVectorOps, PairsOfStepsHaveTheBitsOfTheHost) {
  const Device gpu = Device::cuda();
  for (const std::int64_t n : {std::int64_t{33}, chunk, block + chunk + 5}) {
    for (const int count : {1, 2, 5, 7, 9, 10, 11, 23, 40, 200}) {
      VectorOps host(n, count + 2), device(n, count + 2, serial(), gpu);
      Basis basis(n, count + 2, false), on_gpu(n, count + 2, false, gpu);
      for (int j = 0; j < count; ++j) {
        V column = drawn(n, static_cast<unsigned>(10 + j)), copy = column.to(gpu);
        host.store(1, column, basis, j), device.store(1, copy, on_gpu, j);
      }
      V w1 = drawn(n, 7), w2 = drawn(n, 8), g1 = w1.to(gpu), g2 = w2.to(gpu);
      std::vector<double> h(2 * static_cast<std::size_t>(count) + 3), gh(h.size());
      host.pair_dot(basis, count, w1, w2, h), device.pair_dot(on_gpu, count, g1, g2, gh);
      ASSERT_EQ(gh, h) << n << " " << count;
      const VectorOps::PairScales scales{0.3, 0.2, 0.1};
      const auto [a, b] = host.pair_subtract(basis, count, h, scales, w1, w2);
      const auto [ga, gb] = device.pair_subtract(on_gpu, count, h, scales, g1, g2);
      EXPECT_EQ(ga, a) << n << " " << count;
      EXPECT_EQ(gb, b) << n << " " << count;
      expect_equal(g2, w2, "second of a pair");
      for (int j = count; j < count + 2; ++j) {
        std::vector<double> y(static_cast<std::size_t>(count) + 2, 0.0);
        y[static_cast<std::size_t>(j)] = 1;
        V u(n), gu(n, gpu);
        host.combine(basis, y, u), device.combine(on_gpu, y, gu);
        expect_equal(gu, u, "column of a pair");
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(DeviceVectorOps, MoreColumnsThanALaunchCarries) {
  const Device gpu = Device::cuda();
  const std::int64_t n = 1000;
  const int count = 900;
  VectorOps host(n, count), device(n, count, serial(), gpu);
  Basis basis(n, count, false), on_gpu(n, count, false, gpu);
  for (int j = 0; j < count; ++j) {
    V column = drawn(n, static_cast<unsigned>(10 + j)), copy = column.to(gpu);
    host.store(1, column, basis, j), device.store(1, copy, on_gpu, j);
  }
  V w = drawn(n, 7), gw = w.to(gpu);
  const V h = drawn(count, 9);
  EXPECT_EQ(device.subtract(on_gpu, h.span(), gw), host.subtract(basis, h.span(), w));
  expect_equal(gw, w, "subtract");
}

TEST_F(DeviceVectorOps, NormsOfHugeTinyAndNonfiniteVectors) {
  const Device gpu = Device::cuda();
  for (const double size : {1e200, 1e-200, 0.0, 3.0}) {
    V x = drawn(5000, 1);
    for (double& value : x) value *= size;
    VectorOps host(x.size(), 1), device(x.size(), 1, serial(), gpu);
    EXPECT_EQ(device.norm(x.to(gpu)), host.norm(x)) << size;
  }
  for (const double bad : {std::nan(""), -std::nan(""), std::numeric_limits<double>::infinity()}) {
    V x = drawn(5000, 1);
    x[4097] = bad;
    VectorOps device(x.size(), 1, serial(), gpu);
    const double found = device.largest(x.to(gpu));
    EXPECT_EQ(std::isnan(found), std::isnan(bad));
    EXPECT_FALSE(std::isfinite(found));
  }
}

TEST_F(DeviceVectorOps, ASumThatIsNotANumberComes) {
  // Sums that have not come look like the first of these.
  const Device gpu = Device::cuda();
  for (const double bad : {std::bit_cast<double>(~std::uint64_t{0}), std::nan(""), -std::nan("")}) {
    for (const std::int64_t n : {1, 5000}) {
      V x = drawn(n, 1);
      x[n - 1] = bad;
      VectorOps device(n, 1, serial(), gpu);
      const V on_gpu = x.to(gpu);
      EXPECT_TRUE(std::isnan(device.dot(on_gpu, on_gpu))) << n;
      EXPECT_TRUE(std::isnan(device.dot_and_square(on_gpu, on_gpu).second)) << n;
    }
  }
}

TEST_F(DeviceVectorOps, SumsBehindACombinationAreTheirOwn) {
  // A combination is a subtraction whose sum nobody asks for.
  const Device gpu = Device::cuda();
  constexpr std::int64_t n = 3 * 4096 + 17;
  constexpr int columns = 5;
  for (const bool single : {false, true}) {
    VectorOps host(n, columns), device(n, columns, serial(), gpu);
    Basis basis(n, columns, single), on_gpu(n, columns, single, gpu);
    for (int j = 0; j < columns; ++j) {
      V w = drawn(n, j + 1), gw = w.to(gpu);
      host.store(1, w, basis, j);
      device.store(1, gw, on_gpu, j);
    }
    const V y = drawn(columns, 9), x = drawn(n, 10), gx = x.to(gpu);
    for (int round = 0; round < 50; ++round) {
      V u(n), gu(n, gpu);
      host.combine(basis, y.span(), u);
      device.combine(on_gpu, y.span(), gu);
      ASSERT_EQ(device.dot(gx, gu), host.dot(x, u)) << round;
      device.combine(on_gpu, y.span(), gu);
      device.combine(on_gpu, y.span(), gu);
      ASSERT_EQ(device.dot(gx, gx), host.dot(x, x)) << round;
    }
  }
}

TEST_F(DeviceVectorOps, CountsWhatItWaitsFor) {
  const Device gpu = Device::cuda();
  VectorOps device(100, 2, serial(), gpu);
  const V x = drawn(100, 1).to(gpu);
  V y = x.clone();
  const TransferCounts before = transfer_counts();
  device.axpy(2, x, y);
  (void)device.dot(x, y);
  (void)device.dot_and_square(x, y);
  const TransferCounts counts = transfer_counts() - before;
  EXPECT_EQ(counts.copies, 0);
  EXPECT_EQ(counts.waits, 2);
  EXPECT_EQ(counts.scalars, 3);
}

}  // namespace
}  // namespace echelon
