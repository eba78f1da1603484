// SPDX-License-Identifier: BSD-3-Clause
// Iterated triangular solves on a GPU, run by an emulation of its threads: the bits of the host's iteration in each form,
// for every kind, block size and number of CTAs, in either order of the threads and with real ones; which form is chosen,
// what is reported, refactorization, and when `auto` iterates.
#include "echelon/sweep/iterated/device_iterations.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "echelon/factor/rows/triangle_measures.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/projection.hpp"
#include "tests/reference/drawn_triangles.hpp"
#include "tests/reference/iteration_emulator.hpp"
#include "tests/reference/plain_trisolve.hpp"

namespace echelon {
namespace {

using reference::emulated_device;
using reference::EmulatedDevice;

using reference::all_kinds;
using reference::difference;
using reference::drawn_factors;
using reference::drawn_order;
using reference::iterated_on_host;
using reference::stored;
using reference::wave;
using Shape = reference::TriangleShape;

class DeviceIterationsEmulated : public testing::Test {
 protected:
  void SetUp() override { emulated_device() = {}; }
  void TearDown() override { emulated_device() = {}; }

  /// Applied and applied in place; the report is the host's.
  static void expect_host_bits(const Triangles<double>& factors, const TrisolveOptions& options,
                               const reference::DrawnOrders& orders = {}) {
    SCOPED_TRACE(testing::Message() << "n " << factors.rows << " b " << factors.block << " " << word(options.method) << " "
                                    << word(options.form) << " sweeps " << options.sweeps << " damping " << options.damping
                                    << " blocks of " << options.rows_a_block << " scaling " << word(options.scaling)
                                    << (orders.rows ? " ordered" : ""));
    DeviceIterations iterations(reference::emulated_launches());
    FactorReport report;
    ASSERT_TRUE(iterations.prepare(stored(factors, orders), options, report));
    SCOPED_TRACE(iterations.kernel());
    const Vector<double> r = wave(factors.rows * factors.block), expected = iterated_on_host(factors, options, r, orders);
    Vector<double> x(r.size());
    iterations.apply(r.data(), x.data());
    EXPECT_EQ(difference(x, expected), -1);
    Vector<double> both = r.clone();
    iterations.apply(both.data(), both.data());
    EXPECT_EQ(difference(both, expected), -1) << "in place";
  }
};

TEST_F(DeviceIterationsEmulated, EachKindHasTheHostsBitsInEachForm) {
  struct Form {
    const char* name;
    EmulatedDevice device;
  };
  const Form forms[] = {{"held", {}},
                        {"resident", {.holds_rows = false}},
                        {"streamed", {.holds_rows = false, .holds_pieces = false}},
                        {"launched", {.shared_bytes = 0}}};
  for (const auto& [name, device] : forms) {
    SCOPED_TRACE(name);
    for (const bool downwards : {false, true}) {
      for (const int least_ctas : {1, 4}) {
        emulated_device() = device;
        emulated_device().downwards = downwards;
        emulated_device().least_ctas = least_ctas;
        for (const int block : {1, 2, 3, 8, 9}) {
          const auto factors = drawn_factors({block == 1 ? 150 : 61, block}, 3);
          const auto rows = drawn_order(factors.rows), columns = drawn_order(factors.rows, 10);
          for (const auto& options : all_kinds(5)) {
            expect_host_bits(factors, options);
            expect_host_bits(factors, options, {&rows, &columns});
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

/// Sides that do not divide, fewer rows than CTAs, rows without entries, one sweep, as many as levels.
TEST_F(DeviceIterationsEmulated, OddSizes) {
  for (const bool holds : {true, false}) {
    for (const int least_ctas : {1, 2, 8, 16}) {
      emulated_device() = {.least_ctas = least_ctas, .holds_rows = holds};
      for (const std::int64_t rows : {1, 2, 15, 16, 17, 31, 33, 64, 65, 200}) {
        for (const int sweeps : {1, 2, 300}) {
          for (const auto& options : all_kinds(sweeps)) {
            expect_host_bits(drawn_factors({rows, 1, 8}, static_cast<std::uint64_t>(rows)), options);
            if (HasFailure()) return;
          }
        }
      }
      expect_host_bits(drawn_factors({40, 1, 0}, 1), all_kinds(3)[0]);
      expect_host_bits(drawn_factors({40, 2, 0}, 1), all_kinds(3)[0]);
    }
  }
}

/// Rows as long as registers hold them, and longer.
TEST_F(DeviceIterationsEmulated, LongRows) {
  for (const int entries : {4, 5, 8, 9, 10, 11, 13, 14, 16, 17}) {
    emulated_device() = {.least_ctas = 4};
    for (const auto& options : all_kinds(5)) expect_host_bits(drawn_factors({100, 1, entries, 30}, 8), options);
  }
}

/// Rows that other rows hardly ever reach beyond their own piece, and rows that mostly do.
TEST_F(DeviceIterationsEmulated, NearAndFarColumns) {
  for (const std::int64_t reach : {1, 3, 40, 1'000'000}) {
    for (const int block : {1, 4}) {
      emulated_device() = {.least_ctas = 16};
      expect_host_bits(drawn_factors({500, block, 12, reach}, 8), all_kinds(7)[0]);
      expect_host_bits(drawn_factors({500, block, 12, reach}, 8), all_kinds(7)[4]);
    }
  }
}

/// A barrier that is missing is a race, which the thread sanitizer also sees where the result happens to be right.
TEST_F(DeviceIterationsEmulated, RealThreadsAndBarriers) {
  for (const bool holds : {true, false}) {
    emulated_device() = {.least_ctas = 4, .most_ctas = 4, .holds_rows = holds, .real_threads = true};
    for (const int block : {1, 3}) {
      const auto factors = drawn_factors({14, block, 8}, 5);
      for (const auto& options : all_kinds(4)) expect_host_bits(factors, options);
    }
  }
  emulated_device() = {.shared_bytes = 0, .real_threads = true};
  for (const std::size_t kind : {0, 4}) expect_host_bits(drawn_factors({14, 3, 8}, 5), all_kinds(2)[kind]);
}

TEST_F(DeviceIterationsEmulated, ByHand) {
  // L = [1; 2 1], U = [2 1; . 4]: two levels each, so two sweeps are exact.
  Triangles<double> factors;
  factors.rows = 2;
  for (auto* side : {&factors.lower, &factors.upper}) {
    side->rows = 2;
    side->start = {0, 0, 1};
    side->distance = {1};
  }
  factors.lower_values = {2.0};
  factors.upper_values = {1.0};
  factors.inverse_diagonal = {0.5, 0.25};
  for (const int sweeps : {1, 2}) {
    DeviceIterations iterations(reference::emulated_launches());
    FactorReport report;
    const TrisolveOptions options{.method = Trisolve::jacobi, .sweeps = sweeps, .guard = false};
    ASSERT_TRUE(iterations.prepare(stored(factors), options, report));
    const Vector<double> r = {1.0, 10.0};
    Vector<double> x(2);
    iterations.apply(r.data(), x.data());
    // y = (1, 10 − 2·1) after two sweeps, r after one; z = D⁻¹ y after one, (y₀ − z₁)/2 after two.
    EXPECT_EQ(x[1], sweeps == 1 ? 2.5 : 2.0);
    EXPECT_EQ(x[0], sweeps == 1 ? 0.5 : (1 - 2.0) / 2);
  }
}

/// Against the textbook on dense matrices, which knows of no threads.
TEST_F(DeviceIterationsEmulated, AsTheTextbook) {
  const auto factors = drawn_factors({23, 2, 5}, 4);
  const auto dense = [&](bool lower) {
    const auto view = lower ? lower_view(factors) : upper_view(factors);
    const auto diagonal = diagonal_blocks(view);
    reference::Dense T(46, std::vector<double>(46, 0.0));
    for (std::int64_t s = 0; s < 23; ++s) {
      const auto i = static_cast<std::size_t>(view.row_at(s));
      for (std::size_t c = 0; c < 2; ++c) {
        for (std::size_t r = 0; r < 2; ++r) {
          T[2 * i + r][2 * i + c] = lower ? (r == c ? 1.0 : 0.0) : diagonal[static_cast<std::int64_t>(4 * i + 2 * c + r)];
        }
      }
      for_entries(view, s, [&](std::int64_t j, const double* block) {
        for (std::size_t n = 0; n < 4; ++n) T[2 * i + n % 2][2 * static_cast<std::size_t>(j) + n / 2] = block[n];
      });
    }
    return T;
  };
  const Vector<double> r = wave(46);
  for (auto options : all_kinds(3)) {
    emulated_device() = {.least_ctas = 2};
    DeviceIterations iterations(reference::emulated_launches());
    FactorReport report;
    ASSERT_TRUE(iterations.prepare(stored(factors), options, report));
    Vector<double> x(46);
    iterations.apply(r.data(), x.data());
    const auto& note = *report.trisolve;
    const auto y = reference::iterate(dense(true), true, 2, options, note.lower.sweeps, {r.begin(), r.end()});
    const auto z = reference::iterate(dense(false), false, 2, options, note.upper.sweeps, y);
    for (std::int64_t n = 0; n < 46; ++n) EXPECT_NEAR(x[n], z[static_cast<std::size_t>(n)], 1e-12) << n;
  }
}

TEST_F(DeviceIterationsEmulated, TheFormIsTheOneThatMovesLeast) {
  const auto form = [&](const Shape& shape, const TrisolveOptions& options = {Trisolve::jacobi, 5}) {
    const auto factors = drawn_factors(shape, 2);
    DeviceIterations iterations(reference::emulated_launches());
    FactorReport report;
    auto careless = options;
    careless.guard = false;
    EXPECT_TRUE(iterations.prepare(stored(factors), careless, report));
    return iterations.kernel();
  };
  EXPECT_EQ(form({340}), "iteration in one cluster of 1, rows in registers, b=1");
  EXPECT_EQ(form({2144}), "iteration in one cluster of 4, rows in registers, b=1");
  EXPECT_EQ(form({14280, 1, 4, 130}), "iteration in one cluster of 16, rows in registers, b=1");
  EXPECT_EQ(form({14280, 1, 10, 650}), "iteration in one cluster of 16, rows in registers, b=1");
  EXPECT_EQ(form({14280, 1, 13, 650}), "iteration in one cluster of 16, factors in shared memory, b=1");
  EXPECT_EQ(form({3000, 1, 13, 650}), "iteration in one cluster of 4, rows in registers, b=1");
  EXPECT_EQ(form({340, 1, 4, 50}, {Trisolve::jacobi, 5, JacobiForm::compact, 1, 8}),
            "iteration in one cluster of 1, factors in shared memory, b=1");
  EXPECT_EQ(form({200, 5}), "iteration in one cluster of 2, factors in shared memory, b=5");
  EXPECT_EQ(form({200'000, 1, 3, 100}), "iteration, a launch a sweep, b=1");
  emulated_device().most_ctas = 8;
  EXPECT_EQ(form({14280, 1, 4, 130}), "iteration in one cluster of 8, factors in shared memory, b=1");
}

TEST_F(DeviceIterationsEmulated, ALaunchASweepAndNoMore) {
  emulated_device().shared_bytes = 0;
  const auto factors = drawn_factors({100}, 2);
  const auto order = drawn_order(100);
  const auto count = [&](const TrisolveOptions& options, const reference::DrawnOrders& ordered) {
    DeviceIterations iterations(reference::emulated_launches());
    FactorReport report;
    EXPECT_TRUE(iterations.prepare(stored(factors, ordered), options, report));
    emulated_device().sweeps = emulated_device().copies = 0;
    Vector<double> x = wave(100);
    iterations.apply(x.data(), x.data());
    EXPECT_EQ(emulated_device().sweeps, 2 * 3);
    return emulated_device().copies;
  };
  for (const auto& options : all_kinds(3)) {
    const int scaled = options.scaling == FactorScaling::both ? 4 : options.scaling == FactorScaling::none ? 0 : 2;
    EXPECT_EQ(count(options, {}), scaled);
  }
  EXPECT_EQ(count(all_kinds(3)[0], {&order, &order}), 2);
}

TEST_F(DeviceIterationsEmulated, NewValuesOnTheSamePattern) {
  auto factors = drawn_factors({120}, 2);
  for (const auto& options : {all_kinds(6)[0], all_kinds(6)[7]}) {
    for (const bool clusters : {true, false}) {
      emulated_device() = {};
      if (!clusters) emulated_device().shared_bytes = 0;
      DeviceIterations of(reference::emulated_launches());
      FactorReport report;
      ASSERT_TRUE(of.prepare(stored(factors), options, report));
      const std::int64_t bytes = of.bytes();
      for (auto& value : factors.lower_values) value *= 0.9;
      for (auto& value : factors.inverse_diagonal) value *= 1.1;
      const std::int64_t allocations = allocation_count();
      ASSERT_TRUE(of.prepare(stored(factors), options, report));
      EXPECT_EQ(of.bytes(), bytes);
      EXPECT_LT(allocation_count() - allocations, 40) << "the measures' own";
      const Vector<double> r = wave(120);
      Vector<double> x(120);
      of.apply(r.data(), x.data());
      EXPECT_EQ(difference(x, iterated_on_host(factors, options, r)), -1);
    }
  }
}

/// Each sweep multiplies an error by c.
Triangles<double> chain_factors(std::int64_t n, double c) {
  Triangles<double> factors = drawn_factors({n, 1, 1, 1}, 1);
  for (const bool lower : {true, false}) {
    auto& pattern = lower ? factors.lower : factors.upper;
    for (std::int64_t s = 0; s <= n; ++s) pattern.start[s] = std::max<std::int64_t>(s - 1, 0);
    pattern.distance = Array<std::int32_t>(n - 1, 1);
    (lower ? factors.lower_values : factors.upper_values) = Array<double>(n - 1, -c);
  }
  factors.inverse_diagonal.fill(1);
  return factors;
}

TEST_F(DeviceIterationsEmulated, TheGuardRefusesAsOnTheHost) {
  const auto factors = chain_factors(200, 3);
  for (const auto method : {Trisolve::jacobi, Trisolve::neumann}) {
    DeviceIterations iterations(reference::emulated_launches());
    IteratedTriangles<double> host;
    FactorReport report, of_host;
    const TrisolveOptions options{.method = method, .sweeps = 20};
    EXPECT_FALSE(iterations.prepare(stored(factors), options, report));
    EXPECT_FALSE(host.prepare(factors, options, of_host));
    EXPECT_EQ(report.trisolve->used, "exact");
    EXPECT_EQ(report.trisolve->why, of_host.trisolve->why);
    EXPECT_EQ(report.trisolve->lower.left_over, of_host.trisolve->lower.left_over);
    EXPECT_EQ(report.remarks, of_host.remarks);
    EXPECT_GT(report.trisolve->seconds, 0);
  }
}

TEST_F(DeviceIterationsEmulated, AutoIteratesOnlyWhereThatIsSafeAndFaster) {
  int sweeps = 0;
  const auto decide = [&](const Triangles<double>& factors, int at_most = 40) {
    DeviceIterations iterations(reference::emulated_launches());
    FactorReport report;
    const bool iterates = iterations.prepare(stored(factors), {.method = Trisolve::automatic, .sweeps = at_most}, report);
    EXPECT_EQ(report.trisolve->asked, "auto");
    EXPECT_EQ(report.trisolve->used, iterates ? "jacobi" : "exact");
    EXPECT_EQ(report.trisolve->why.empty(), iterates);
    EXPECT_TRUE(report.remarks.empty()) << "nothing was refused that was asked for";
    sweeps = report.trisolve->sweeps;
    return report.trisolve->why;
  };
  EXPECT_EQ(decide(chain_factors(2000, 0.5)), "");
  EXPECT_EQ(sweeps, 7) << "half of an error is left by each, a hundredth by all";
  EXPECT_EQ(decide(chain_factors(2000, 0.5), 7), "");
  EXPECT_NE(decide(chain_factors(2000, 0.5), 6).find("after 6 sweeps 1.6e-02 times"), std::string::npos);
  EXPECT_NE(decide(chain_factors(7, 0.5)).find("exact sweeps are expected to take"), std::string::npos) << "few levels";
  EXPECT_NE(decide(chain_factors(2000, 3)).find("after 40 sweeps 1.2e+19 times"), std::string::npos);
  EXPECT_NE(decide(chain_factors(300'000, 0.5)).find("too large"), std::string::npos);
}

/// Distances in 32 bits, as a device has them.
Triangles<double> widened(const Triangles<double>& factors) {
  Triangles<double> wide;
  wide.rows = factors.rows;
  wide.block = factors.block;
  for (const bool lower : {true, false}) {
    const TrianglePattern& from = lower ? factors.lower : factors.upper;
    TrianglePattern& to = lower ? wide.lower : wide.upper;
    to.rows = from.rows;
    to.start = from.start.clone();
    to.distance = Array<std::int32_t>(from.entries());
    with_distances(from, [&](const auto* distance) { std::copy_n(distance, from.entries(), to.distance.data()); });
  }
  wide.lower_values = factors.lower_values.clone();
  wide.upper_values = factors.upper_values.clone();
  wide.inverse_diagonal = factors.inverse_diagonal.clone();
  return wide;
}

/// Bound by latency: `auto` iterates, with the sweeps it needs, and the result is that of the host's ILU.
TEST_F(DeviceIterationsEmulated, TheProjectionsOfThePaper) {
  for (const Grid grid : {Grid{49, 48, 1}, Grid{126, 127, 1}, Grid{13, 13, 13}, Grid{25, 24, 24}}) {
    SCOPED_TRACE(testing::Message() << grid.nx << "x" << grid.ny << "x" << grid.nz);
    const auto A = std::move(problems::projection(grid).A);
    const auto factors = widened(*ilu(A).triangles());
    DeviceIterations iterations(reference::emulated_launches());
    FactorReport report;
    ASSERT_TRUE(iterations.prepare(stored(factors), {.method = Trisolve::automatic}, report)) << report.trisolve->why;
    EXPECT_LE(report.trisolve->sweeps, 30);
    EXPECT_NE(iterations.kernel().find("rows in registers"), std::string::npos) << iterations.kernel();
    IluOptions same;
    same.trisolve = {.method = Trisolve::jacobi, .sweeps = report.trisolve->sweeps};
    const Vector<double> r = wave(A.rows());
    Vector<double> expected(r.size()), x(r.size());
    ilu(A, same).apply(r, expected);
    iterations.apply(r.data(), x.data());
    EXPECT_EQ(difference(x, expected), -1);
  }
}

TEST_F(DeviceIterationsEmulated, NothingToIterate) {
  DeviceIterations iterations(reference::emulated_launches());
  const auto factors = drawn_factors({10}, 1);
  FactorReport report;
  report.trisolve.emplace();
  EXPECT_FALSE(iterations.prepare(stored(factors), {}, report));
  EXPECT_FALSE(report.trisolve);
  report.ok = false;
  EXPECT_FALSE(iterations.prepare(stored(factors), {.method = Trisolve::jacobi}, report));
}

}  // namespace
}  // namespace echelon
