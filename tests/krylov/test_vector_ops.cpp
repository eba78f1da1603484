// SPDX-License-Identifier: BSD-3-Clause
// vector_ops against plain loops in the shape of reduction_tree.hpp: the same bits, for every length around the SIMD
// widths, rows of lanes and chunks, every instruction set of this machine and every thread count.
#include "echelon/krylov/vectors/vector_ops.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "echelon/base/fma.hpp"
#include "echelon/base/reduction_tree.hpp"
#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

constexpr std::int64_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 65, 100, 4095, 4096, 4097, 8192, 12289, 100003};

Vector<double> random_vector(std::int64_t n, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Vector<double> x(n);
  for (double& value : x) value = uniform(generator);
  return x;
}

/// The specification of a sum, written out.
double plain_dot(const double* x, const double* y, std::int64_t n) {
  std::vector<double> partial;
  for (std::int64_t begin = 0; begin < n; begin += reduction::chunk) {
    double lane[reduction::lanes] = {};
    for (std::int64_t i = begin; i < std::min(begin + reduction::chunk, n); ++i) {
      double& sum = lane[(i - begin) % reduction::lanes];
      sum = std::fma(x[i], y[i], sum);
    }
    for (int half = reduction::lanes / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
    }
    partial.push_back(lane[0]);
  }
  return reduction::tree_sum(partial.data(), static_cast<std::int64_t>(partial.size()));
}

double plain_dot(const Vector<double>& x, const Vector<double>& y) { return plain_dot(x.data(), y.data(), x.size()); }

void expect_same(const Vector<double>& got, const std::vector<double>& want) {
  for (std::int64_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], want[static_cast<std::size_t>(i)]) << "element " << i;
}

class ThreadCounts : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_threads(GetParam()); }
  void TearDown() override { set_threads(0); }
};
INSTANTIATE_TEST_SUITE_P(VectorOps, ThreadCounts, testing::Values(1, 2, 3, 7));

TEST(VectorOps, DotOfThreeNumbersByHand) {
  VectorOps ops(3, 1);
  EXPECT_EQ(ops.dot({1, 2, 3}, {4, 5, 6}), 32);
  EXPECT_EQ(ops.norm({3, 4, 12}), 13);
}

TEST_P(ThreadCounts, EverySumAndUpdateHasTheSpecifiedBits) {
  for (const std::int64_t n : lengths) {
    SCOPED_TRACE(n);
    VectorOps ops(n, 1);
    const auto p = random_vector(n, 1), q = random_vector(n, 2), x0 = random_vector(n, 3), r0 = random_vector(n, 4);
    EXPECT_EQ(ops.dot(p, q), plain_dot(p, q));
    const SumPair both = ops.dot_and_square(p, q);
    EXPECT_EQ(both.first, plain_dot(p, q));
    EXPECT_EQ(both.second, plain_dot(p, p));

    auto x = x0.clone(), r = r0.clone();
    const double square = ops.cg_update(0.3, p, q, x, r);
    std::vector<double> want_x, want_r, want_axpy, want_xpay, want_direction;
    for (std::int64_t i = 0; i < n; ++i) {
      want_x.push_back(std::fma(0.3, p[i], x0[i]));
      want_r.push_back(std::fma(-0.3, q[i], r0[i]));
      want_axpy.push_back(std::fma(1.7, p[i], x0[i]));
      want_xpay.push_back(std::fma(1.7, x0[i], p[i]));
      want_direction.push_back(std::fma(0.9, std::fma(-0.4, q[i], x0[i]), p[i]));
    }
    expect_same(x, want_x);
    expect_same(r, want_r);
    EXPECT_EQ(square, plain_dot(r, r));

    x = x0.clone(), ops.axpy(1.7, p, x), expect_same(x, want_axpy);
    x = x0.clone(), ops.xpay(p, 1.7, x), expect_same(x, want_xpay);
    x = x0.clone(), ops.bicgstab_direction(0.9, 0.4, p, q, x), expect_same(x, want_direction);
    r = r0.clone();
    EXPECT_EQ(ops.subtract(0.3, q, r), square);
    expect_same(r, want_r);

    x = x0.clone(), r = r0.clone();
    const SumPair sums = ops.bicgstab_update({0.5, 0.3, p.data(), x0.data(), q.data(), p.data(), x.data(), r.data()});
    expect_same(r, want_r);
    EXPECT_EQ(sums.first, plain_dot(p, r));
    EXPECT_EQ(sums.second, square);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(x[i], std::fma(0.3, x0[i], std::fma(0.5, p[i], x0[i])));
  }
}

TEST_P(ThreadCounts, BasisWorkHasTheSpecifiedBits) {
  for (const bool single : {false, true}) {
    for (const std::int64_t n : lengths) {
      for (const int count : {1, 2, 3, 6, 7, 8, 9, 17}) {
        SCOPED_TRACE(testing::Message() << n << " rows, " << count << " columns, single " << single);
        VectorOps ops(n, count + 1);
        Basis basis(n, count + 1, single);
        std::vector<Vector<double>> columns;
        for (int j = 0; j < count; ++j) {
          auto w = random_vector(n, 10 + static_cast<unsigned>(j));
          const auto before = w.clone();
          ops.store(0.7, w, basis, j);
          for (std::int64_t i = 0; i < n; ++i) {
            const double scaled = 0.7 * before[i];
            ASSERT_EQ(w[i], single ? static_cast<double>(static_cast<float>(scaled)) : scaled);
          }
          columns.push_back(std::move(w));
        }
        auto w = random_vector(n, 99);
        std::vector<double> h(static_cast<std::size_t>(count) + 1), want;
        ops.multi_dot(basis, count, w, h);
        for (const auto& column : columns) want.push_back(plain_dot(column, w));
        want.push_back(plain_dot(w, w));
        EXPECT_EQ(h, want);

        h.pop_back();
        std::vector<double> less(w.begin(), w.end()), sum(static_cast<std::size_t>(n));
        for (std::size_t j = 0; j < columns.size(); ++j) {
          for (std::size_t i = 0; i < less.size(); ++i) {
            less[i] = std::fma(-h[j], columns[j][static_cast<std::int64_t>(i)], less[i]);
            sum[i] = std::fma(h[j], columns[j][static_cast<std::int64_t>(i)], sum[i]);
          }
        }
        auto scaled = w.clone(), copy = w.clone();
        EXPECT_EQ(ops.subtract(basis, h, w), plain_dot(less.data(), less.data(), n));
        expect_same(w, less);
        EXPECT_EQ(ops.subtract_and_store(basis, h, 1.3, count, scaled), plain_dot(less.data(), less.data(), n));
        ops.store(1.3, w, basis, count);
        for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(scaled[i], w[i]) << "element " << i;
        // The column itself, through a product with it.
        std::vector<double> stored(static_cast<std::size_t>(count) + 2), fused = stored;
        ops.multi_dot(basis, count + 1, w, stored);
        ops.subtract_and_store(basis, h, 1.3, count, copy);
        ops.multi_dot(basis, count + 1, w, fused);
        EXPECT_EQ(stored, fused);
        ops.combine(basis, h, w);
        expect_same(w, sum);
      }
    }
  }
}

TEST_P(ThreadCounts, TwoStepsAtOnceHaveTheBitsOfOneAfterTheOther) {
  for (const std::int64_t n : lengths) {
    for (const int count : {1, 2, 3, 4, 5, 7, 8, 9}) {
      SCOPED_TRACE(testing::Message() << n << " rows, " << count << " columns");
      VectorOps ops(n, count + 2);
      Basis basis(n, count + 2, false);
      for (int j = 0; j < count; ++j) {
        auto column = random_vector(n, 20 + static_cast<unsigned>(j));
        ops.store(1.0, column, basis, j);
      }
      auto w1 = random_vector(n, 7), w2 = random_vector(n, 8);
      const auto size = static_cast<std::size_t>(count);
      std::vector<double> both(2 * size + 3), one(size + 1), other(size + 1);
      ops.pair_dot(basis, count, w1, w2, both);
      ops.multi_dot(basis, count, w1, one);
      ops.multi_dot(basis, count, w2, other);
      for (std::size_t j = 0; j < size; ++j) {
        EXPECT_EQ(both[2 * j], one[j]);
        EXPECT_EQ(both[2 * j + 1], other[j]);
      }
      EXPECT_EQ(both[2 * size], one[size]);
      EXPECT_EQ(both[2 * size + 1], plain_dot(w1, w2));
      EXPECT_EQ(both[2 * size + 2], other[size]);

      auto plain1 = w1.clone(), plain2 = w2.clone();
      const SumPair squares = ops.pair_subtract(basis, count, both, {1.3, 0.6, 0.8}, w1, w2);
      std::vector<double> stored(2 * (size + 2) + 3);
      ops.pair_dot(basis, count + 2, w1, w2, stored);
      one.pop_back(), other.pop_back();
      EXPECT_EQ(squares.first, ops.subtract_and_store(basis, one, 1.3, count, plain1));
      other.push_back(0.6);
      EXPECT_EQ(squares.second, ops.subtract_and_store(basis, other, 0.8, count + 1, plain2));
      for (std::int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(w1[i], plain1[i]) << "element " << i;
        ASSERT_EQ(w2[i], plain2[i]) << "element " << i;
      }
      // The columns themselves, through products with them.
      std::vector<double> want(stored.size());
      ops.pair_dot(basis, count + 2, w1, w2, want);
      EXPECT_EQ(stored, want);
    }
  }
}

TEST(VectorOps, EveryInstructionSetOfThisMachineGivesTheSameBits) {
  const std::int64_t n = 1000;
  const auto x = random_vector(n, 5), y = random_vector(n, 6);
  const std::int64_t best = hwy::SupportedTargets();
  int seen = 0;
  for (std::int64_t target = best & -best, left = best; left != 0; left &= left - 1, target = left & -left) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const VectorKernels kernels = choose_vector_kernels();
    ++seen;
    EXPECT_EQ(kernels.dot(x.data(), y.data(), n), plain_dot(x, y)) << hwy::TargetName(target);
    auto r = y.clone(), s = x.clone();
    const double square = kernels.cg_update(0.1, x.data(), x.data(), s.data(), r.data(), n);
    EXPECT_EQ(square, plain_dot(r, r)) << hwy::TargetName(target);
    double sums[3];
    const ColumnsView<double> columns{x.data(), n / 2, 2, x.data()};
    kernels.basis.fp64.multi_dot(columns, y.data(), sums, n / 2);
    EXPECT_EQ(sums[0], plain_dot(x.data(), y.data(), n / 2)) << hwy::TargetName(target);
    EXPECT_EQ(sums[1], plain_dot(x.data() + n / 2, y.data(), n / 2)) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(seen, 1);
}

TEST(VectorOps, NormNeitherOverflowsNorUnderflows) {
  for (const double scale : {1e-320, 1e-300, 1e-160, 1e-150, 1.0, 1e150, 1e160, 1e300}) {
    Vector<double> x(10000, scale);
    VectorOps ops(x.size(), 1);
    EXPECT_NEAR(ops.norm(x) / scale, 100, scale < 1e-310 ? 1.0 : 1e-12) << scale;
  }
  VectorOps ops(3, 1);
  EXPECT_EQ(ops.norm({0, 0, 0}), 0);
  EXPECT_EQ(ops.norm({1, std::numeric_limits<double>::infinity(), 1}), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(ops.norm({1, std::nan(""), 1e300})));
}

/// Two ranks that hold the same numbers.
class Doubling final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void sum(std::span<double> values) const override {
    for (double& value : values) value *= 2;
  }
  double largest(double value) const override { return value; }
};

TEST(VectorOps, EveryReductionGoesThroughTheCommunicator) {
  const Doubling two;
  VectorOps ops(3, 2, two);
  const Vector<double> x{1, 2, 3};
  EXPECT_EQ(ops.dot(x, x), 28);
  EXPECT_EQ(ops.norm({3, 4, 5}), 10);
  EXPECT_EQ(ops.norm({3e200, 4e200, 5e200}), 10e200);
  Vector<double> r{1, 1, 1}, y{0, 0, 0};
  EXPECT_EQ(ops.cg_update(0, x, x, y, r), 6);
  Basis basis(3, 1, false);
  Vector<double> w{1, 2, 3};
  ops.store(1, w, basis, 0);
  double h[2];
  ops.multi_dot(basis, 1, w, h);
  EXPECT_EQ(h[0], 28);
  EXPECT_EQ(h[1], 28);
}

TEST(VectorOps, NoCallAllocates) {
  const std::int64_t n = 20000;
  VectorOps ops(n, 4);
  Basis basis(n, 4, true);
  Vector<double> x = random_vector(n, 1), y = random_vector(n, 2);
  double h[5];
  const auto before = allocation_count();
  for (int j = 0; j < 4; ++j) ops.store(1.0, x, basis, j);
  ops.multi_dot(basis, 4, y, h);
  ops.subtract(basis, {h, 4}, y);
  ops.combine(basis, {h, 4}, y);
  ops.norm(y);
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace echelon
