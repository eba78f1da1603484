// SPDX-License-Identifier: BSD-3-Clause
// The vector work of conjugate gradients: by hand, the same bits for every thread count, mixed sizes refused.
#include "echelon/krylov/vectors/cg_vectors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "echelon/base/threads.hpp"
#include "tests/expect_error.hpp"

namespace echelon {
namespace {

using V = Vector<double>;

TEST(CgVectors, ByHand) {
  CgVectors work(3, Device::host());
  V x = {1, 2, 3}, p = {1, 0, -1}, r = {4, 5, 6};
  EXPECT_EQ(work.dot(x, r), 4 + 10 + 18);
  EXPECT_EQ(work.step(2, p, {1, 1, 1}, x, r), 4 + 9 + 16) << "r becomes (2, 3, 4)";
  EXPECT_TRUE(std::ranges::equal(x, V{3, 2, 1}));
  EXPECT_TRUE(std::ranges::equal(r, V{2, 3, 4}));
  work.turn(r, 10, p);
  EXPECT_TRUE(std::ranges::equal(p, V{12, 3, -6}));
  work.clear(x);
  EXPECT_TRUE(std::ranges::equal(x, V{0, 0, 0}));
}

TEST(CgVectors, HaveTheSameBitsForEveryThreadCount) {
  const std::int64_t n = 200001;
  std::vector<double> first;
  for (const int threads : {1, 2, 3, 4}) {
    set_threads(threads);
    CgVectors work(n, Device::host());
    V x(n), y(n), p(n);
    for (std::int64_t i = 0; i < n; ++i) {
      x[i] = std::sin(0.3 * static_cast<double>(i));
      y[i] = std::cos(0.7 * static_cast<double>(i));
      p[i] = x[i] + y[i];
    }
    std::vector<double> now = {work.dot(x, y), work.step(0.3, p, x, y, p)};
    work.turn(x, 0.25, y);
    now.push_back(work.dot(y, y));
    if (first.empty()) first = now;
    EXPECT_EQ(now, first) << threads;
  }
  set_threads(0);
}

TEST(CgVectors, RefuseOtherSizes) {
  CgVectors work(3, Device::host());
  V good(3, 1.0), bad(4, 1.0);
  EXPECT_ERROR((void)work.dot(good, bad), size_mismatch, "vector work");
  EXPECT_ERROR(work.turn(bad, 1, good), size_mismatch, "vector work");
  EXPECT_ERROR((void)work.step(1, good, good, bad, good), size_mismatch, "vector work");
  EXPECT_ERROR(work.clear(bad), size_mismatch, "vector work");
}

}  // namespace
}  // namespace echelon
