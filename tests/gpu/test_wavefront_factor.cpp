// SPDX-License-Identifier: BSD-3-Clause
// The factorization on a GPU against the host's point-by-point reference, bit for bit: every stencil, block size and
// precision, sizes around the borders of tiles, thin grids, fill; what is reported about bad pivots; repeats; a wait in
// vain. Skipped, with the reason, where there is no GPU.
#include "echelon/factor/grid_gpu/wavefront_factor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <random>

#include "echelon/base/error.hpp"
#include "echelon/factor/grid/struct_factor.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "tests/expect_error.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/random_stencil.hpp"

namespace echelon {
namespace {

using WavefrontFactorTest = GpuTest;
using WavefrontFactorFull = GpuTest;

template <class T>
StructMatrix<T> random_matrix(const Grid& grid, const Stencil& stencil, int dof, std::uint64_t seed) {
  const auto A = problems::random(grid, stencil, dof, seed);
  StructMatrix<T> B(grid, stencil, dof);
  std::ranges::transform(A.values(), B.values().begin(), [](double a) { return static_cast<T>(a); });
  return B;
}

/// [entry][point][column][row] of the grown stencil: L, D⁻¹, U by the reference.
template <class T>
std::vector<T> reference_factors(const StructMatrix<T>& A, const Stencil& stencil) {
  const EliminationPlan plan(stencil);
  const Grid& g = A.grid();
  const int b = A.dof(), entries = stencil.size();
  const std::int64_t bb = std::int64_t{b} * b, plane = g.points() * bb;
  std::vector<T> F(static_cast<std::size_t>(plane * entries)), rows(static_cast<std::size_t>(bb)), small(2 * rows.size());
  std::vector<int> swaps(static_cast<std::size_t>(b));
  std::vector<const T*> from;
  std::vector<T*> to;
  for (int e = 0; e < entries; ++e) {
    const int source = A.stencil().find(stencil.offsets()[e]);
    from.push_back(source < 0 ? nullptr : A.values().data() + source * plane);
    to.push_back(F.data() + e * plane);
  }
  PivotLog log;
  log.reset();
  StructFactorWorkspace<T> own;
  own.rows = rows.data(), own.small = small.data(), own.swaps = swaps.data();
  own.clear();
  const StructFactorView<T> view{&plan, g, b, from.data(), to.data(), to[plan.center], {1e-13, 0, false, false, 1, &log}, 0};
  const auto kernel = point_struct_factor<T>(b);
  for (std::int64_t k = 0; k < g.nz; ++k) {
    for (std::int64_t j = 0; j < g.ny; ++j) {
      LineWork work{};
      work.plane = k, work.line = j, work.lines = 1, work.begin = 0;
      work.end = (g.nx + kernel.shape.width - 1) / kernel.shape.width;
      kernel.lines(view, work, own);
    }
  }
  EXPECT_EQ(log.count(), 0);
  for (int e = 0; plan.diagonal_only && e < entries; ++e) {
    const Offset o = stencil.offsets()[e];
    for (std::int64_t p = 0; e != plan.center && p < g.points(); ++p) {
      const std::int64_t i = p % g.nx + o.x, j = p / g.nx % g.ny + o.y, k = p / g.nx / g.ny + o.z;
      if (!g.contains(i, j, k)) continue;
      const T* block = from[static_cast<std::size_t>(e)] + p * bb;
      T* factor = to[static_cast<std::size_t>(e)] + p * bb;
      if (e < plan.center) {
        block_product<0>(b, block, to[static_cast<std::size_t>(plan.center)] + g.index(i, j, k) * bb, factor);
      } else {
        std::copy(block, block + bb, factor);
      }
    }
  }
  return F;
}

/// A matrix in tile order on the GPU.
template <class T>
class Laid {
 public:
  Laid(const StructMatrix<T>& A, const Stencil& stencil, TileShape shape)
      : order(A.grid(), stencil, A.dof(), shape, Device::cuda()),
        host_(order.matrix_scalars()),
        values(host_.size(), Device::cuda()) {
    host_.fill(0);
    each([&](std::int64_t point, int e, const Place& place) {
      const int source = A.stencil().find(stencil.offsets()[e]);
      for (int s = 0; source >= 0 && s < A.dof() * A.dof(); ++s) {
        host_[place.at(e, s % A.dof(), s / A.dof())] = A.block(point, source)[static_cast<std::size_t>(s)];
      }
    });
    refill();
  }
  void refill() { values.copy_from(host_); }
  /// As many values that nothing has written.
  Array<T> unwritten() const {
    Array<T> garbage(values.size());
    garbage.fill(std::numeric_limits<T>::quiet_NaN());
    return garbage.to(Device::cuda());
  }
  std::vector<T> user() const {
    const auto back = values.to(Device::host());
    const int b = order.dof();
    std::vector<T> all(static_cast<std::size_t>(order.grid().points() * order.stencil().size() * b * b));
    each([&](std::int64_t point, int e, const Place& place) {
      for (int s = 0; s < b * b; ++s) {
        all[static_cast<std::size_t>((e * order.grid().points() + point) * b * b + s)] = back[place.at(e, s % b, s / b)];
      }
    });
    return all;
  }
  WavefrontFactorCalls<T> calls() {
    return {nullptr, [this](T*) { refill(); }, [] { return 1.0; }};
  }

  TileOrder order;

 private:
  template <class Do>
  void each(const Do& what) const {
    const Grid& g = order.grid();
    const LayoutView& view = order.host_matrix().view();
    for (std::int64_t p = 0; p < g.points(); ++p) {
      const Ijk at{static_cast<int>(p % g.nx), static_cast<int>(p / g.nx % g.ny), static_cast<int>(p / g.nx / g.ny)};
      const Place place = view.place(at);
      for (int e = 0; e < order.stencil().size(); ++e) what(p, e, place);
    }
  }
  Array<T> host_;

 public:
  Array<T> values;
};

/// "" or the first difference and how many there are.
template <class T>
std::string difference(const std::vector<T>& found, const std::vector<T>& expected) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  if (found.size() != expected.size()) return "sizes differ";
  std::size_t first = 0, count = 0;
  for (std::size_t n = found.size(); n-- > 0;) {
    if (std::bit_cast<Bits>(found[n]) != std::bit_cast<Bits>(expected[n])) first = n, ++count;
  }
  return count == 0 ? ""
                    : std::to_string(count) + " of " + std::to_string(found.size()) + " values differ, the first is " +
                          std::to_string(first) + ": " + std::to_string(found[first]) + ", expected " +
                          std::to_string(expected[first]);
}

template <class T>
std::vector<T> all_of(const Array<T>& values) {
  const auto host = values.to(Device::host());
  return {host.data(), host.data() + host.size()};
}

template <class T>
void expect_reference(const StructMatrix<T>& A, int fill, TileShape shape, const std::string& about,
                      FactorKernel kernel = FactorKernel::best) {
  const Stencil stencil = fill == 0 ? A.stencil() : grown(A.stencil(), fill);
  Laid<T> laid(A, stencil, shape);
  IluOptions options;
  options.fill = fill;
  WavefrontFactor<T> factorization(laid.order, options, false, kernel);
  FactorReport report;
  factorization.factor(laid.values.data(), laid.calls(), report);
  ASSERT_TRUE(report.ok) << about << report.message;
  ASSERT_TRUE(report.bad_pivots.empty()) << about << report.remarks.front();
  ASSERT_EQ(difference(laid.user(), reference_factors(A, stencil)), "") << about << " by " << report.factor_kernel;
  ASSERT_NEAR(factorization.norm(), A.norm_inf(), 1e-6 * A.norm_inf()) << about;
  if (!factorization.reads_elsewhere()) return;
  // From where A is kept: the same memory, padding included, and A stays.
  const auto in_place = all_of(laid.values);
  laid.refill();
  const auto before = all_of(laid.values);
  Array<T> apart = laid.unwritten();
  factorization.factor(apart.data(), {laid.values.data(), nullptr, [] { return 1.0; }}, report);
  ASSERT_EQ(difference(all_of(apart), in_place), "") << about << " apart, by " << report.factor_kernel;
  ASSERT_EQ(difference(all_of(laid.values), before), "") << about << " A itself";
}

std::string describe(const Grid& g, const Stencil& s, int dof, TileShape shape) {
  return s.name() + " b=" + std::to_string(dof) + " " + std::to_string(g.nx) + "x" + std::to_string(g.ny) + "x" +
         std::to_string(g.nz) + " tiles " + std::to_string(shape.y) + "x" + std::to_string(shape.z) + " ";
}

TEST_F(WavefrontFactorTest, HasTheBitsOfTheHostForNamedStencilsAndAllBlocks) {
  for (const std::string& name : stencils::names()) {
    for (int dof = 1; dof <= 9; ++dof) {
      const Stencil stencil = stencils::named(name);
      const bool flat = std::ranges::all_of(stencil.offsets(), [](const Offset& o) { return o.z == 0; });
      const Grid grid{11, 9, flat ? 1 : 7};
      const TileShape shape = dof < 3 ? TileShape{8, 4} : TileShape{4, 2};
      expect_reference(random_matrix<double>(grid, stencil, dof, 3), 0, shape, describe(grid, stencil, dof, shape));
      expect_reference(random_matrix<float>(grid, stencil, dof, 4), 0, shape,
                       "float " + describe(grid, stencil, dof, shape));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(WavefrontFactorTest, TheOtherKernelsHaveTheSameBits) {
  for (const auto& stencil : {stencils::star5(), stencils::star7(), stencils::diamond13(), stencils::box27()}) {
    for (const int dof : {1, 2, 3, 4, 5, 6, 7, 8}) {
      const Grid grid{10, 9, stencil.name() == "star5" ? 1 : 6};
      const auto A = random_matrix<double>(grid, stencil, dof, 5);
      for (const FactorKernel kernel : {FactorKernel::rows, FactorKernel::generic}) {
        expect_reference(A, 0, {4, 4}, describe(grid, stencil, dof, {4, 4}), kernel);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Diagonal blocks whose largest value is nowhere near the diagonal: rows change places in almost every inversion.
TEST_F(WavefrontFactorTest, PivotsInsideBlocksHaveTheBitsOfTheHost) {
  for (const auto& stencil : {stencils::star7(), stencils::box27()}) {
    for (const int dof : {2, 3, 4, 5, 6, 7, 8}) {
      const Grid grid{9, 8, 7};
      auto A = random_matrix<double>(grid, stencil, dof, 9);
      std::mt19937_64 random(3);
      std::vector<int> row(static_cast<std::size_t>(dof));
      for (std::int64_t point = 0; point < grid.points(); ++point) {
        std::iota(row.begin(), row.end(), 0);
        std::ranges::shuffle(row, random);
        const auto block = A.block(point, stencil.center());
        const std::vector<double> kept(block.begin(), block.end());
        for (std::size_t c = 0, b = row.size(); c < b; ++c) {
          for (std::size_t r = 0; r < b; ++r) block[c * b + static_cast<std::size_t>(row[r])] = kept[c * b + r];
        }
      }
      expect_reference(A, 0, {4, 4}, describe(grid, stencil, dof, {4, 4}));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(WavefrontFactorTest, LongLinesAndMoreTeamsThanTheDeviceHolds) {
  expect_reference(random_matrix<double>({12, 130, 110}, stencils::star7(), 5, 5), 0, {4, 4}, "star7 b=5 ");
  expect_reference(random_matrix<double>({10, 120, 130}, stencils::star13(), 2, 5), 0, {8, 8}, "star13 b=2 ");
  expect_reference(random_matrix<double>({200, 40, 8}, stencils::box27(), 3, 5), 0, {4, 4}, "box27 b=3 ");
  expect_reference(random_matrix<double>({24, 22, 20}, stencils::diamond25(), 8, 5), 0, {4, 2}, "diamond25 b=8 ");
}

TEST_F(WavefrontFactorTest, AWaitInVainIsAnErrorThatNamesTheTile) {
  for (const int dof : {1, 4, 9}) {
    for (const FactorKernel kernel : {FactorKernel::best, FactorKernel::rows}) {
      const auto A = random_matrix<double>({9, 16, 12}, stencils::star7(), dof, 5);
      Laid<double> laid(A, A.stencil(), {4, 4});
      WavefrontFactor<double> factorization(laid.order, {}, false, kernel);
      factorization.leave_out(1, 0.05);
      FactorReport report;
      EXPECT_ERROR(factorization.factor(laid.values.data(), laid.calls(), report), device, "waited more than 0.05 s");
      laid.refill();
      factorization.factor(laid.values.data(), laid.calls(), report);
      EXPECT_EQ(difference(laid.user(), reference_factors(A, A.stencil())), "") << dof;
    }
  }
}

TEST_F(WavefrontFactorTest, HasTheBitsOfTheHostAroundTileBorders) {
  for (const auto& stencil : {stencils::star7(), stencils::star13(), stencils::box27()}) {
    for (const Grid& grid :
         {Grid{5, 8, 4}, Grid{33, 7, 5}, Grid{16, 9, 8}, Grid{1, 17, 3}, Grid{40, 1, 1}, Grid{1, 1, 9}, Grid{3, 31, 33}}) {
      for (const TileShape shape : {TileShape{8, 4}, TileShape{32, 16}, TileShape{1, 1}, TileShape{3, 5}}) {
        for (const int dof : {1, 2, 3, 5}) {
          expect_reference(random_matrix<double>(grid, stencil, dof, 7), 0, shape, describe(grid, stencil, dof, shape));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(WavefrontFactorTest, FillIsTheGrownStencil) {
  for (const int fill : {1, 2, 3}) {
    for (const auto& stencil : {stencils::star7(), stencils::box9(), stencils::diamond13()}) {
      for (const int dof : {1, 3, 8}) {
        expect_reference(random_matrix<double>({9, 8, stencil.name() == "box9" ? 1 : 6}, stencil, dof, 7), fill, {8, 4},
                         describe({9, 8, 6}, stencil, dof, {8, 4}) + "fill " + std::to_string(fill));
        if (HasFatalFailure()) return;
      }
    }
  }
}

void expect_reference_at_random(int cases, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int n = 0; n < cases; ++n) {
    const bool flat = n % 4 == 0;
    const auto names = stencils::names();
    const Stencil stencil = n % 3 == 1 && !flat ? stencils::named(names[random() % names.size()])
                                                : reference::random_stencil(random, n % 7 == 0 ? 40 : 14, 3, flat);
    const Grid grid = reference::random_grid(random, n % 5 == 0 ? 17 : 8, flat);
    const int dof = n % 3 == 0 ? 1 : 1 + static_cast<int>(random() % 10);
    const TileShape shape{1 + static_cast<int>(random() % 9), 1 + static_cast<int>(random() % 6)};
    const std::string about = describe(grid, stencil, dof, shape) + "case " + std::to_string(n) + " ";
    if (n % 2 == 0) {
      expect_reference(random_matrix<double>(grid, stencil, dof, random()), 0, shape, about);
    } else {
      expect_reference(random_matrix<float>(grid, stencil, dof, random()), 0, shape, about);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_F(WavefrontFactorTest, HasTheBitsOfTheHostForRandomStencils) { expect_reference_at_random(300, 1); }
TEST_F(WavefrontFactorFull, HasTheBitsOfTheHostForManyRandomStencils) { expect_reference_at_random(10000, 2); }

/// What compute-sanitizer is run on.
TEST_F(WavefrontFactorTest, OneSmallCaseOfEachKernel) {
  const Grid grid{5, 6, 4};
  for (const int dof : {1, 2, 4, 6, 8}) {
    expect_reference(random_matrix<double>(grid, stencils::star7(), dof, 3), 0, {4, 2}, "best ");
    expect_reference(random_matrix<double>(grid, stencils::star7(), dof, 3), 0, {4, 2}, "rows ", FactorKernel::rows);
  }
  for (const int dof : {2, 3, 4}) {
    expect_reference(random_matrix<double>(grid, stencils::box27(), dof, 3), 0, {2, 2}, "box27 ");
  }
  expect_reference(random_matrix<double>(grid, stencils::star7(), 9, 3), 0, {4, 2}, "generic ");
}

TEST_F(WavefrontFactorTest, RepeatsHaveTheSameBitsAndAllocateNothing) {
  const auto A = random_matrix<double>({70, 60, 50}, stencils::box27(), 1, 5);
  Laid<double> laid(A, A.stencil(), {4, 4});
  WavefrontFactor<double> factorization(laid.order, {});
  FactorReport report;
  factorization.factor(laid.values.data(), laid.calls(), report);
  const auto first = laid.user();
  ASSERT_EQ(difference(first, reference_factors(A, A.stencil())), "");
  for (int repeat = 0; repeat < 5; ++repeat) {
    laid.refill();
    const std::int64_t allocations = allocation_count();
    factorization.factor(laid.values.data(), laid.calls(), report);
    EXPECT_EQ(allocation_count(), allocations);
    ASSERT_EQ(difference(laid.user(), first), "") << repeat;
  }
}

void expect_report(const FactorReport& report, const FactorReport& expected, const std::string& about) {
  EXPECT_EQ(report.ok, expected.ok) << about;
  EXPECT_EQ(report.message, expected.message) << about;
  EXPECT_EQ(report.shift, expected.shift) << about;
  EXPECT_EQ(report.shift_attempts, expected.shift_attempts) << about;
  EXPECT_EQ(report.perturbed_pivots, expected.perturbed_pivots) << about;
  EXPECT_NEAR(report.perturbation, expected.perturbation, 1e-12 * expected.perturbation) << about;
  EXPECT_EQ(report.remarks, expected.remarks) << about;
  ASSERT_EQ(report.bad_pivots.size(), expected.bad_pivots.size()) << about;
  for (std::size_t n = 0; n < report.bad_pivots.size(); ++n) {
    EXPECT_EQ(report.bad_pivots[n].row, expected.bad_pivots[n].row) << about << n;
    EXPECT_EQ(report.bad_pivots[n].kind, expected.bad_pivots[n].kind) << about << n;
    using Bits = std::uint64_t;
    EXPECT_EQ(std::bit_cast<Bits>(report.bad_pivots[n].value), std::bit_cast<Bits>(expected.bad_pivots[n].value))
        << about << n;
  }
}

/// What the host says about the same matrix, in place and, where the kernel can, from where A is kept.
template <class T>
void expect_report(const StructMatrix<T>& A, const IluOptions& options, bool positive, const std::string& about) {
  const Ilu<T> host = positive ? ic(A, options) : ilu(A, options);
  const FactorReport& expected = host.report();
  Laid<T> laid(A, A.stencil(), {4, 4});
  WavefrontFactor<T> factorization(laid.order, options, positive);
  const auto inverse_norm = [&] { return factorization.norm() > 0 ? expected.growth / factorization.norm() : 1.0; };
  Array<T> apart = laid.unwritten();
  if (factorization.reads_elsewhere()) {
    FactorReport report;
    factorization.factor(apart.data(), {laid.values.data(), nullptr, inverse_norm}, report);
    expect_report(report, expected, about + "apart ");
  }
  FactorReport report;
  factorization.factor(laid.values.data(), {nullptr, laid.calls().refill, inverse_norm}, report);
  expect_report(report, expected, about);
}

/// The sum of a row, by which pivots are judged first where A is kept, is twice its largest value here.
TEST_F(WavefrontFactorTest, PivotsAreJudgedByTheLargestValueOfTheirRow) {
  for (const auto& stencil : {stencils::star7(), stencils::box27()}) {
    for (const int dof : {2, 3, 4, 6, 8}) {
      for (const double tolerance : {0.3, 0.6, 0.9}) {
        IluOptions options;
        options.pivot_tolerance = tolerance;
        options.shift = ShiftPolicy::none;
        const auto A = random_matrix<double>({9, 7, 6}, stencil, dof, 11);
        expect_report(A, options, false, describe(A.grid(), stencil, dof, {4, 4}) + std::to_string(tolerance) + " ");
      }
    }
  }
}

TEST_F(WavefrontFactorTest, WhatNeedsAInPlaceRefusesAnotherPlace) {
  const auto A = random_matrix<double>({6, 5, 4}, stencils::star7(), 1, 3);
  Laid<double> laid(A, A.stencil(), {4, 4});
  Array<double> apart = laid.unwritten();
  WavefrontFactor<double> factorization(laid.order, {});
  ASSERT_FALSE(factorization.reads_elsewhere());
  FactorReport report;
  EXPECT_THROW(factorization.factor(apart.data(), {laid.values.data(), nullptr, nullptr}, report), Error);
}

TEST_F(WavefrontFactorTest, BadPivotsAreReportedAsOnTheHost) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& stencil : {stencils::star7(), stencils::box27()}) {
    for (const int dof : {1, 2, 3, 8, 9}) {
      for (const ShiftPolicy shift : {ShiftPolicy::none, ShiftPolicy::automatic, ShiftPolicy::value}) {
        IluOptions options;
        options.shift = shift;
        options.shift_value = 0.1;
        const std::string about =
            stencil.name() + " b=" + std::to_string(dof) + " policy " + std::to_string(static_cast<int>(shift));
        auto A = random_matrix<double>({9, 8, 7}, stencil, dof, 11);
        const auto spoil = [&](std::int64_t point, double value) {
          for (double& a : A.block(point, stencil.center())) a = value;
        };
        for (const std::int64_t point : {0, 17, 100, 101, 250, 503}) spoil(point, 0);
        expect_report(A, options, false, about + " zero blocks");
        for (std::int64_t point = 200; point < 260; ++point) spoil(point, 0);
        expect_report(A, options, false, about + " many zero blocks");
        spoil(77, nan);
        expect_report(A, options, false, about + " NaN");
        std::ranges::fill(A.values(), 0.0);
        expect_report(A, options, false, about + " all zero");
      }
    }
  }
}

TEST_F(WavefrontFactorTest, IcWantsPositiveDefinitePivots) {
  for (const int dof : {1, 2, 4}) {
    StructMatrix<double> A({8, 7, 6}, stencils::star7(), dof);
    A.fill([&](std::int64_t i, std::int64_t, std::int64_t, int e, std::span<double> block) {
      for (int s = 0; s < dof; ++s) block[static_cast<std::size_t>(s * dof + s)] = e != 3 ? -1.0 : i == 5 ? 2.0 : 6.5;
    });
    for (const ShiftPolicy shift : {ShiftPolicy::none, ShiftPolicy::automatic}) {
      IluOptions options;
      options.shift = shift;
      expect_report(A, options, true, "b=" + std::to_string(dof));
    }
  }
}

TEST_F(WavefrontFactorTest, RefusesAnOrderOnTheHost) {
  const TileOrder order({4, 4, 4}, stencils::star7(), 1, {2, 2}, Device::host());
  EXPECT_THROW(WavefrontFactor<double>(order, {}), Error);
}

}  // namespace
}  // namespace echelon
