// SPDX-License-Identifier: BSD-3-Clause
// The lfil-th largest of a row's candidates against a full sort: orders that are bad for it, ties, infinities, any guess.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "echelon/factor/ilut/ilut_cut.inl"

namespace echelon {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<double> sizes_of(const std::string& kind, int count, std::mt19937_64& random) {
  std::vector<double> sizes(static_cast<std::size_t>(count));
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int e = 0; e < count; ++e) {
    auto& size = sizes[static_cast<std::size_t>(e)];
    if (kind == "random") size = std::exp(-20 * uniform(random));
    if (kind == "rising") size = 1 + e;
    if (kind == "falling") size = std::pow(0.9, e);
    if (kind == "equal") size = 0.5;
    if (kind == "ties") size = static_cast<double>(random() % 4);
    if (kind == "infinities") size = random() % 3 == 0 ? infinite : uniform(random);
  }
  return sizes;
}

/// What the definition says.
Quantile by_sorting(const std::vector<double>& sizes, std::int64_t lfil) {
  auto sorted = sizes;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double size = sorted[static_cast<std::size_t>(lfil - 1)];
  return {size, std::count_if(sizes.begin(), sizes.end(), [&](double other) { return other > size; }),
          std::count(sizes.begin(), sizes.end(), size)};
}

TEST(IlutCut, TheQuantileIsThatOfASort) {
  std::mt19937_64 random(2);
  for (const std::string kind : {"random", "rising", "falling", "equal", "ties", "infinities"}) {
    double last = 0;
    for (int trial = 0; trial < 400; ++trial) {
      const int count = 2 + static_cast<int>(random() % (trial % 10 == 0 ? 2000 : 80));
      const auto lfil = static_cast<std::int64_t>(1 + random() % static_cast<std::uint64_t>(count - 1));
      const auto sizes = sizes_of(kind, count, random);
      const auto expected = by_sorting(sizes, lfil);
      for (const double from : {last, 0.0, expected.size, 1e300, infinite}) {
        auto padded = sizes;
        padded.resize(sizes.size() + 8);
        std::vector<double> copy(sizes.size());
        double guess = from;
        const auto got = quantile(padded.data(), count, lfil, guess, copy.data());
        ASSERT_EQ(got.size, expected.size) << kind << ' ' << count << ' ' << lfil << ' ' << from;
        ASSERT_EQ(got.larger, expected.larger) << kind;
        ASSERT_EQ(got.equal, expected.equal) << kind;
        ASSERT_EQ(guess, expected.size) << "the next row begins there";
      }
      last = expected.size;
    }
  }
}

TEST(IlutCut, OfEqualOnesTheFirstColumnsStay) {
  IlutWorkspace<double> work(8, 0);
  work.values = Array<double>(8);
  const double values[] = {1, -2, 2, 3, -2, 2};
  for (int c = 0; c < 6; ++c) work.columns[c] = 10 + c, work.values[c] = values[c];
  ASSERT_EQ(keep_largest(3, 6, of_upper, work), 3);
  EXPECT_EQ(work.columns[0], 11);
  EXPECT_EQ(work.columns[1], 12);
  EXPECT_EQ(work.columns[2], 13);
  EXPECT_EQ(work.values[0], -2);
  EXPECT_EQ(work.values[2], 3);
  EXPECT_EQ(keep_largest(3, 3, of_upper, work), 3);
  EXPECT_EQ(keep_largest(0, 3, of_upper, work), 0);
}

}  // namespace
}  // namespace echelon
