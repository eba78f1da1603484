// SPDX-License-Identifier: BSD-3-Clause
// Sweep kernels by hand, in place and out of place, for both widths of distances and in pieces.
#include "echelon/sweep/rows/triangular_sweep.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace echelon {
namespace {

template <class Distance>
void expect_by_hand(bool narrow) {
  // L = [1; 2 1; 3 4 1], U = [2 1 3; 0 4 5; 0 0 8], each stored in the order of its sweep.
  const std::vector<std::int64_t> lower_start{0, 0, 1, 3}, upper_start{0, 0, 1, 3};
  const std::vector<Distance> lower_distance{1, 2, 1}, upper_distance{1, 1, 2};
  const std::vector<double> lower{2, 3, 4}, upper{5, 1, 3}, inverse{0.5, 0.25, 0.125};
  const auto kernels = sweep_kernels<double>(1, narrow);
  // x = (1, 2, 3): U x = (13, 23, 24), L U x = (13, 49, 155).
  const std::vector<double> r{13, 49, 155};
  std::vector<double> x(3);
  kernels.lower({3, 1, lower_start.data(), lower_distance.data(), lower.data(), inverse.data(), r.data(), x.data()}, 0, 3,
                nullptr);
  EXPECT_EQ(x, (std::vector<double>{13, 23, 24}));
  const SweepView<double> up{3,        1,       upper_start.data(), upper_distance.data(), upper.data(), inverse.data(),
                             x.data(), x.data()};
  kernels.upper(up, 0, 1, nullptr);
  EXPECT_EQ(x, (std::vector<double>{13, 23, 3})) << "position 0 of the upper sweep is the last row";
  kernels.upper(up, 1, 3, nullptr);
  EXPECT_EQ(x, (std::vector<double>{1, 2, 3}));
}

TEST(TriangularSweep, ScalarsByHand) {
  expect_by_hand<std::uint16_t>(true);
  expect_by_hand<std::int32_t>(false);
}

TEST(TriangularSweep, BlocksMultiplyFromTheLeftColumnMajor) {
  // One block below the diagonal, [1 3; 2 4] column-major 1 2 3 4; D⁻¹ = [0 1; 1 0] swaps.
  const std::vector<std::int64_t> start{0, 0, 1};
  const std::vector<std::int32_t> distance{1};
  const std::vector<double> block{1, 2, 3, 4}, inverse{0, 1, 1, 0, 0, 1, 1, 0};
  std::vector<double> x{1, 10, 100, 1000};
  const auto kernels = sweep_kernels<double>(2, false);
  kernels.lower({2, 2, start.data(), distance.data(), block.data(), inverse.data(), x.data(), x.data()}, 0, 2, nullptr);
  EXPECT_EQ(x, (std::vector<double>{1, 10, 100 - 31, 1000 - 42}));
  // Up: the last row is swapped first, (958, 69); then (1, 10) − (958 + 3·69, 2·958 + 4·69), swapped.
  kernels.upper({2, 2, start.data(), distance.data(), block.data(), inverse.data(), x.data(), x.data()}, 0, 2, nullptr);
  EXPECT_EQ(x, (std::vector<double>{10 - 2192, 1 - 1165, 958, 69}));
}

TEST(TriangularSweep, GenericBlocksEqualTheSpecialisedOnes) {
  constexpr int b = 4, n = 5;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> distance;
  for (int s = 0; s < n; ++s) {
    for (int d = s; d > 0; d -= 2) distance.push_back(d);
    start.push_back(static_cast<std::int64_t>(distance.size()));
  }
  std::vector<double> values(distance.size() * b * b), inverse(n * b * b), r(n * b);
  double seed = 0.1;
  for (auto* list : {&values, &inverse, &r}) {
    for (auto& value : *list) value = seed = 3.7 * seed * (1 - seed);
  }
  std::vector<double> x(n * b), plain(n * b);
  const SweepView<double> view{n, b, start.data(), distance.data(), values.data(), inverse.data(), r.data(), x.data()};
  sweep_kernels<double>(b, false).lower(view, 0, n, nullptr);
  std::vector<double> scratch(b);
  SweepView<double> generic = view;
  generic.x = plain.data();
  // The generic kernel takes its size from the view.
  sweep_kernels<double>(9, false).lower(generic, 0, n, scratch.data());
  EXPECT_EQ(x, plain);
}

}  // namespace
}  // namespace echelon
