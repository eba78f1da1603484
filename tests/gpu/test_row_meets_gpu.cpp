// SPDX-License-Identifier: BSD-3-Clause
// How rows of factors meet, as the GPU finds it, against a plain comparison of columns, for every number of places a row may
// have; and factors of such rows against the host's, bit for bit. Skipped, with the reason, where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "echelon/factor/rows_gpu/device_triangles.hpp"
#include "echelon/factor/rows_gpu/row_factor_view.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/gpu/same_factors.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using RowMeetsGpu = GpuTest;
using Rows = std::vector<std::vector<std::int32_t>>;

/// Rows of up to `longest` entries, the longest among them.
Rows rows_up_to(int longest, std::int32_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Rows rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    const std::size_t wanted =
        i == n / 2 ? static_cast<std::size_t>(longest) : 1 + random() % static_cast<std::size_t>(longest);
    row.push_back(i);
    while (row.size() < wanted) {
      // Near the diagonal, so that many meet.
      const auto width = static_cast<std::uint64_t>(std::min<std::int32_t>(n, 2 * longest + 1));
      const auto j =
          static_cast<std::int32_t>((static_cast<std::uint64_t>(i) + random() % width) % static_cast<std::uint64_t>(n));
      if (std::ranges::find(row, j) == row.end()) row.push_back(j);
    }
    std::ranges::sort(row);
  }
  return rows;
}

class Met {
 public:
  Met(const BlockCsr<double>& A, const Array<std::int32_t>& order)
      : A_(A.to(Device::cuda())), n_(A.block_rows()), order_(order.to(Device::cuda())) {
    Array<std::int32_t> position(order.size());
    for (std::int64_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<std::int32_t>(i);
    position_ = position.to(Device::cuda());
    const PatternView pattern{n_, A_.row_start().data(), A_.column().data()};
    Pattern permuted;
    if (!order.empty()) permuted = permuted_on_device(pattern, A.blocks(), order_, position_);
    made_ = cut_on_device(order.empty() ? pattern : permuted.view(), A.blocks(), SweepSchedule::levels, Device::cuda());
    meets_ =
        RowMeets({n_, made_.lower.distance.size(), made_.upper.distance.size(), A.blocks(), 1, made_.longest, order.empty()},
                 Device::cuda());
    RowFactorView v;
    v.rows.A = A_.view();
    v.rows.order = order.empty() ? nullptr : order_.data();
    v.rows.position = order.empty() ? nullptr : position_.data();
    v.rows.lower_start = made_.lower.start.data();
    v.rows.upper_start = made_.upper.start.data();
    v.rows.lower_distance = made_.lower.distance.data();
    v.rows.upper_distance = made_.upper.distance.data();
    v.tickets = made_.lower.tickets.data();
    v.meets = meets_.view();
    row_factor_kernels()->meet(0, v);
    view_ = v.meets;
  }

  template <class S>
  Array<S> host(const S* from, std::int64_t count) const {
    Array<S> copy(count);
    copy_bytes(copy.data(), Device::host(), from, Device::cuda(), copy.bytes());
    return copy;
  }
  const RowMeetsView& view() const { return view_; }
  const DeviceTriangles& triangles() const { return made_; }

 private:
  BlockCsr<double> A_;
  std::int64_t n_;
  Array<std::int32_t> order_, position_;
  DeviceTriangles made_;
  RowMeets meets_;
  RowMeetsView view_;
};

/// What byte the definition of row_meets.hpp asks for.
unsigned expected_place(const Rows& rows, std::int32_t i, std::int32_t k, int e) {
  const auto& row = rows[static_cast<std::size_t>(i)];
  if (e == static_cast<int>(row.size())) return RowMeetsView::place_of_estimate;
  const std::int32_t j = row[static_cast<std::size_t>(e)];
  if (j == k) return RowMeetsView::place_of_inverse;
  unsigned place = RowMeetsView::place_of_upper;
  for (const std::int32_t other : rows[static_cast<std::size_t>(k)]) {
    if (other <= k) continue;
    if (other == j) return place;
    ++place;
  }
  return RowMeetsView::no_place;
}

void expect_meets(const Rows& of_A, const Array<std::int32_t>& order) {
  const auto n = static_cast<std::int32_t>(of_A.size());
  const BlockCsr<double> A = reference::with_random_values<double>(of_A, 1, 3);
  Array<std::int32_t> position(n), user(n);
  std::iota(user.begin(), user.end(), 0);
  if (!order.empty()) user = order.clone();
  for (std::int32_t i = 0; i < n; ++i) position[user[i]] = i;
  Rows rows(of_A.size());
  for (std::int32_t i = 0; i < n; ++i) {
    for (const std::int32_t j : of_A[static_cast<std::size_t>(user[i])])
      rows[static_cast<std::size_t>(i)].push_back(position[j]);
    std::ranges::sort(rows[static_cast<std::size_t>(i)]);
  }
  const Met met(A, order);
  const auto& [missing, longest, lower, upper] = met.triangles();
  const int stride = met.view().stride;  // which one it is: tests/factor/test_row_meets
  ASSERT_GT(stride, longest);
  const auto heads = met.host(met.view().heads, RowHead::words * n),
             records = met.host(met.view().records, lower.distance.size());
  const auto start = lower.start.to(Device::host()), upper_start = upper.start.to(Device::host());
  const auto places = met.host(met.view().places, (RowMeetsView::first_word(n, start[n]) + 1) * stride);
  const auto tickets = lower.tickets.to(Device::host());
  Array<std::uint8_t> sources;
  if (met.view().sources) sources = met.host(met.view().sources, std::int64_t{n} * stride);
  ASSERT_EQ(sources.empty(), order.empty());
  for (std::int32_t ticket = 0; ticket < n; ++ticket) {
    const std::int32_t i = tickets[ticket];
    const auto& row = rows[static_cast<std::size_t>(i)];
    const unsigned* head = heads.data() + std::int64_t{ticket} * RowHead::words;
    const auto below = static_cast<int>(start[i + 1] - start[i]);
    ASSERT_EQ(head[RowHead::row], static_cast<unsigned>(i));
    ASSERT_EQ(head[RowHead::user], static_cast<unsigned>(user[i]));
    ASSERT_EQ(head[RowHead::lower], start[i]);
    ASSERT_EQ(head[RowHead::upper], upper_start[n - 1 - i]);
    ASSERT_EQ(head[RowHead::of_A], A.row_start()[user[i]]);
    const RowHead counts = RowHead::unpacked(head[RowHead::counts]);
    ASSERT_EQ(counts.below, below);
    ASSERT_EQ(counts.count, static_cast<int>(row.size()));
    ASSERT_EQ(counts.entries, static_cast<int>(row.size()));
    for (int t = 0; t < below; ++t) {
      const std::int32_t k = row[static_cast<std::size_t>(t)];
      ASSERT_EQ(records[start[i] + t], RowMeetsView::record(n - 1, k, upper_start[n - 1 - k]));
      for (int e = 0; e <= static_cast<int>(row.size()); ++e) {
        const unsigned word = places[(RowMeetsView::first_word(i, start[i]) + t / 4) * stride + e];
        const unsigned wanted = e < t ? RowMeetsView::no_place : expected_place(rows, i, k, e);
        ASSERT_EQ(word >> 8 * (t % 4) & 255, wanted) << "row " << i << " step " << t << " entry " << e;
      }
    }
    for (std::size_t e = 0; e < row.size() && !sources.empty(); ++e) {
      const auto source = sources[std::int64_t{i} * stride + static_cast<std::int64_t>(e)];
      ASSERT_EQ(position[of_A[static_cast<std::size_t>(user[i])][source]], row[e]) << "row " << i << " entry " << e;
    }
  }
}

TEST_F(RowMeetsGpu, AreThoseOfAPlainComparison) {
  for (const int longest : {1, 7, 8, 15, 16, 31, 63, 95, 127, 128, 253}) {
    SCOPED_TRACE(longest);
    const std::int32_t n = 260;
    const Rows rows = rows_up_to(longest, n, static_cast<std::uint64_t>(longest));
    expect_meets(rows, {});
    Array<std::int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(5));
    expect_meets(rows, order);
    if (HasFailure()) return;
  }
}

void expect_factors(int longest, std::int32_t n) {
  const Rows rows = rows_up_to(longest, n, static_cast<std::uint64_t>(longest));
  const auto first = reference::with_random_values<double>(rows, 1, 1),
             second = reference::with_random_values<double>(rows, 1, 2);
  for (const Ordering ordering : {Ordering::natural, Ordering::rcm}) {
    for (const SweepSchedule schedule : {SweepSchedule::sequential, SweepSchedule::levels}) {
      SCOPED_TRACE(testing::Message() << longest << " " << word(ordering)
                                      << (schedule == SweepSchedule::levels ? " by depth" : " in order"));
      IluOptions options = with_fill(0, ordering);
      options.schedule = schedule;
      DeviceBlockIlu found(first.to(Device::cuda()), options);
      expect_same_factors(found, ilu(first, options), first.rows());
      EXPECT_TRUE(found.refactor(second.to(Device::cuda())).ok);
      expect_same_factors(found, ilu(second, options), second.rows());
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST_F(RowMeetsGpu, FactorsOfFewRowsHaveTheBitsOfTheHostAlsoFromOtherValues) {
  for (const int longest : {1, 7, 15, 31, 32, 63, 64, 95, 96, 127, 128, 191, 192, 253, 254}) {
    expect_factors(longest, 700);
    if (HasFailure()) return;
  }
}

TEST_F(RowMeetsGpu, FactorsOfManyShortRowsHaveTheBitsOfTheHostAlsoFromOtherValues) {
  for (const int longest : {1, 7, 15, 31}) {
    expect_factors(longest, static_cast<std::int32_t>(RowMeetsSize::many_rows));
    if (HasFailure()) return;
  }
}

/// Rows that wait for none that is near are dealt out beforehand; long ones are two to a warp.
TEST_F(RowMeetsGpu, ManyRowsNumberedAtRandomHaveTheBitsOfTheHost) {
  const auto n = static_cast<std::int32_t>(RowMeetsSize::many_rows);
  for (const int longest : {7, 15, 31}) {
    SCOPED_TRACE(longest);
    std::mt19937_64 random(static_cast<std::uint64_t>(longest));
    Rows rows(static_cast<std::size_t>(n));
    for (std::int32_t i = 0; i < n; ++i) {
      auto& row = rows[static_cast<std::size_t>(i)];
      for (int e = 1; e < longest; ++e) row.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n)));
      row.push_back(i);
      std::ranges::sort(row);
      row.erase(std::unique(row.begin(), row.end()), row.end());
    }
    const auto A = reference::with_random_values<double>(rows, 1, 1);
    expect_host_bits(A, with_fill(0));
    if (HasFailure()) return;
  }
}

/// A NaN that says "not there yet" must not be waited for when the matrix has it.
TEST_F(RowMeetsGpu, AMatrixMayHoldEveryNan) {
  const Rows rows = rows_up_to(40, 300, 4);
  auto A = reference::with_random_values<double>(rows, 1, 1);
  for (double& value : A.values().subspan(100, 40)) value = std::bit_cast<double>(~std::uint64_t{0});
  expect_host_bits(A, with_fill(0));
}

}  // namespace
}  // namespace echelon
