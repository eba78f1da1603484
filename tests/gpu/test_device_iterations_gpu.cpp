// SPDX-License-Identifier: BSD-3-Clause
// Triangular solves by iteration on a GPU against the host's, bit for bit: every kind, form and block size, clusters of
// every size, orders, repeats; through DeviceBlockIlu with its report, guard, refactorization and several vectors; the
// projections. Skipped, with the reason, where there is no GPU.
#include <gtest/gtest.h>

#include <cmath>

#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_factored_ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/projection.hpp"
#include "echelon/solve/auto_solve.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/drawn_triangles.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

using reference::all_kinds;
using reference::difference;
using reference::drawn_factors;
using reference::drawn_order;
using reference::iterated_on_host;
using reference::wave;

/// The device's launches with some of its clusters refused, so that each form is reached by small factors.
struct Allowed {
  int least_ctas = 1, most_ctas = 16;
  bool held = true, resident = true, streamed = true;
};
Allowed& allowed() {
  static Allowed now;
  return now;
}
const IterationLaunches* restricted_launches() {
  static IterationLaunches table = *iteration_launches();
  table.can_cluster = [](int device, const ClusterView& v) {
    const Allowed& now = allowed();
    const bool form = v.form == ClusterForm::held ? now.held : v.form == ClusterForm::resident ? now.resident : now.streamed;
    return form && v.ctas >= now.least_ctas && v.ctas <= now.most_ctas && iteration_launches()->can_cluster(device, v);
  };
  return &table;
}

class DeviceIteration : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    allowed() = {};
  }
};

Triangles<double> moved(const Triangles<double>& factors, Device gpu) {
  Triangles<double> there;
  there.rows = factors.rows;
  there.block = factors.block;
  for (const bool lower : {true, false}) {
    const TrianglePattern& from = lower ? factors.lower : factors.upper;
    TrianglePattern& to = lower ? there.lower : there.upper;
    to.rows = from.rows;
    to.start = from.start.to(gpu);
    to.distance = from.distance.to(gpu);
  }
  there.lower_values = factors.lower_values.to(gpu);
  there.upper_values = factors.upper_values.to(gpu);
  there.inverse_diagonal = factors.inverse_diagonal.to(gpu);
  return there;
}

void expect_host_bits(const Triangles<double>& factors, const TrisolveOptions& options, bool ordered = false) {
  SCOPED_TRACE(testing::Message() << "n " << factors.rows << " b " << factors.block << " " << word(options.method) << " "
                                  << word(options.form) << " sweeps " << options.sweeps << " damping " << options.damping
                                  << " blocks of " << options.rows_a_block << " scaling " << word(options.scaling)
                                  << (ordered ? " ordered" : ""));
  const Device gpu = Device::cuda();
  const Triangles<double> there = moved(factors, gpu);
  const Array<std::int32_t> rows = drawn_order(factors.rows), columns = drawn_order(factors.rows, 10);
  const Array<std::int32_t> rows_there = rows.to(gpu), columns_there = columns.to(gpu);
  reference::DrawnOrders here, on_gpu;
  if (ordered) here = {&rows, &columns}, on_gpu = {&rows_there, &columns_there};
  DeviceIterations iterations(restricted_launches());
  FactorReport report;
  ASSERT_TRUE(iterations.prepare(reference::stored(there, on_gpu), options, report));
  SCOPED_TRACE(iterations.kernel());
  const Vector<double> r = wave(factors.rows * factors.block);
  const Vector<double> expected = iterated_on_host(factors, options, r, here);
  Vector<double> of_r = r.to(gpu), x(r.size(), gpu);
  for (int repeat = 0; repeat < 3; ++repeat) {
    iterations.apply(of_r.data(), x.data());
    ASSERT_EQ(difference(x.to(Device::host()), expected), -1) << "repeat " << repeat;
  }
  iterations.apply(of_r.data(), of_r.data());
  EXPECT_EQ(difference(of_r.to(Device::host()), expected), -1) << "in place";
}

std::vector<Allowed> all_forms() {
  return {{}, {.held = false}, {.held = false, .resident = false}, {.held = false, .resident = false, .streamed = false}};
}

/// The non-compact form, blocks of rows, the polynomial and scaled factors: all that kernels tell apart.
std::vector<TrisolveOptions> telling_kinds(int sweeps) {
  const auto all = all_kinds(sweeps);
  return {all[0], all[4], all[6], all[7]};
}

/// What compute-sanitizer is run on.
TEST_F(DeviceIteration, OneSmallCaseOfEachKernel) {
  for (const Allowed& form : all_forms()) {
    allowed() = form;
    allowed().least_ctas = 2;
    for (int b = 1; b <= 9; ++b) {
      const auto factors = drawn_factors({b == 1 ? 70 : 20, b}, 3);
      for (const auto& options : b == 1 || b == 3 ? telling_kinds(3) : std::vector{all_kinds(3)[0]}) {
        expect_host_bits(factors, options, b == 3);
        if (HasFailure()) return;
      }
    }
  }
  allowed() = {.least_ctas = 2};
  for (const int entries : {4, 8, 10, 16}) expect_host_bits(drawn_factors({70, 1, entries}, 3), all_kinds(3)[0]);
}

TEST_F(DeviceIteration, EachKindInEachFormAndCluster) {
  for (const Allowed& form : all_forms()) {
    for (const int ctas : {1, 2, 4, 8, 16}) {
      allowed() = form;
      allowed().least_ctas = allowed().most_ctas = ctas;
      for (int b = 1; b <= 9; ++b) {
        const auto factors = drawn_factors({b == 1 ? 997 : 211, b, b == 1 ? 8 : 5, 300}, 17);
        for (const auto& options : all_kinds(12)) {
          expect_host_bits(factors, options, b % 2 == 0);
          if (HasFailure()) return;
        }
      }
      if (!form.streamed) break;  // launches know no clusters
    }
  }
}

TEST_F(DeviceIteration, OddSizes) {
  for (const int ctas : {1, 16}) {
    for (const bool held : {true, false}) {
      allowed() = {.least_ctas = ctas, .held = held};
      for (const std::int64_t rows : {1, 2, 15, 16, 17, 31, 33, 255, 256, 257, 1025}) {
        for (const int sweeps : {1, 2, 400}) {
          for (const auto& options : all_kinds(sweeps)) {
            expect_host_bits(drawn_factors({rows, 1, 6}, static_cast<std::uint64_t>(rows)), options);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST_F(DeviceIteration, LargeFactors) {
  for (const reference::TriangleShape& shape :
       {reference::TriangleShape{60'000, 1, 4, 500}, {300'000, 1, 3, 40}, {70'000, 3, 3, 40}}) {
    const auto factors = drawn_factors(shape, 2);
    for (const auto& options : telling_kinds(6)) {
      expect_host_bits(factors, options, shape.rows > 100'000);
      if (HasFailure()) return;
    }
  }
}

IluOptions with(const TrisolveOptions& trisolve, Ordering ordering = Ordering::natural) {
  IluOptions options;
  options.trisolve = trisolve;
  options.ordering = ordering;
  return options;
}

void expect_same_note(const TrisolveNote& found, const TrisolveNote& host) {
  EXPECT_EQ(found.asked, host.asked);
  EXPECT_EQ(found.used, host.used);
  EXPECT_EQ(found.why, host.why);
  EXPECT_EQ(found.sweeps, host.sweeps);
  EXPECT_EQ(found.form, host.form);
  EXPECT_EQ(found.scaling, host.scaling);
  for (const bool lower : {true, false}) {
    const TriangleNote &a = lower ? found.lower : found.upper, &b = lower ? host.lower : host.upper;
    EXPECT_EQ(a.levels, b.levels);
    EXPECT_EQ(a.sweeps, b.sweeps);
    EXPECT_EQ(a.departure, b.departure);
    EXPECT_EQ(a.condition, b.condition);
    EXPECT_EQ(a.growth, b.growth);
    EXPECT_EQ(a.left_over, b.left_over);
    EXPECT_EQ(a.scaling_rounds, b.scaling_rounds);
    EXPECT_EQ(a.probed, b.probed);
  }
}

void expect_hosts_ilu(const BlockCsr<double>& A, const IluOptions& options) {
  const Ilu<double> host = ilu(A, options);
  DeviceBlockIlu found(A.to(Device::cuda()), options);
  SCOPED_TRACE(found.report().kernel);
  ASSERT_TRUE(found.report().trisolve);
  expect_same_note(*found.report().trisolve, *host.report().trisolve);
  EXPECT_EQ(found.report().remarks, host.report().remarks);
  EXPECT_GT(found.report().trisolve->seconds, 0);
  const Vector<double> r = wave(A.rows());
  Vector<double> expected(r.size());
  host.apply(r, expected);
  std::vector<Vector<double>> of_r, z;
  for (int k = 0; k < 5; ++k) {
    of_r.push_back(r.to(Device::cuda()));
    z.emplace_back(r.size(), Device::cuda());
  }
  found.apply_many(of_r, z);
  for (const auto& one : z) EXPECT_EQ(difference(one.to(Device::host()), expected), -1);
  const std::int64_t bytes = found.report().bytes;
  ASSERT_TRUE(found.refactor(A.to(Device::cuda())).ok);
  EXPECT_EQ(found.report().bytes, bytes);
  found.apply(of_r[0], of_r[0]);
  found.settle();
  EXPECT_EQ(difference(of_r[0].to(Device::host()), expected), -1) << "refactored, in place";
}

TEST_F(DeviceIteration, AsAnIluAppliesIt) {
  for (const int b : {1, 2, 5, 9}) {
    const auto A = reference::with_random_values<double>(reference::random_rows(150, 0.05, 5), b, 7);
    for (const Ordering ordering : {Ordering::natural, Ordering::rcm}) {
      for (auto options : all_kinds(9)) {
        SCOPED_TRACE(testing::Message() << "b " << b << " rcm " << (ordering == Ordering::rcm));
        expect_hosts_ilu(A, with(options, ordering));
        options.guard = true;
        expect_hosts_ilu(A, with(options, ordering));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(DeviceIteration, TheProjectionsOfThePaper) {
  for (const Grid grid :
       {Grid{19, 19, 1}, Grid{49, 48, 1}, Grid{126, 127, 1}, Grid{7, 7, 7}, Grid{13, 13, 13}, Grid{25, 24, 24}}) {
    SCOPED_TRACE(testing::Message() << grid.nx << "x" << grid.ny << "x" << grid.nz);
    const auto A = std::move(problems::projection(grid).A);
    for (const auto& options : telling_kinds(40)) {
      expect_hosts_ilu(A, with(options));
      if (HasFailure()) return;
    }
    const DeviceBlockIlu small(A.to(Device::cuda()), with(all_kinds(40)[0]));
    EXPECT_NE(small.report().kernel.find("one cluster"), std::string::npos) << small.report().kernel;
  }
}

/// Factors that the host made, exchanged columns among them.
TEST_F(DeviceIteration, FactorsThatTravelled) {
  const auto A = reference::with_random_values<double>(reference::random_rows(150, 0.05, 5), 1, 7, 0.1);
  for (const double pivoting : {0.0, 0.5}) {
    for (const auto& kind : all_kinds(9)) {
      IluOptions options = with(kind);
      options.column_pivoting = pivoting;
      const Ilu<double> host = ilut(A, options);
      options.trisolve = {};
      const DeviceFactoredIlu found(ilut(A, options), SweepSchedule::automatic, Device::cuda(), kind);
      expect_same_note(*found.report().trisolve, *host.report().trisolve);
      const Vector<double> r = wave(A.rows());
      Vector<double> expected(r.size()), x = r.to(Device::cuda());
      host.apply(r, expected);
      found.apply(x, x);
      found.settle();
      ASSERT_EQ(difference(x.to(Device::host()), expected), -1) << found.report().kernel << " pivoting " << pivoting;
    }
  }
}

/// Errors grow threefold a sweep.
TEST_F(DeviceIteration, WhatTheGuardRefusesIsSweptExactly) {
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < 200; ++i) {
    if (i > 0) entries.push_back({i, i - 1, -3.0});
    entries.push_back({i, i, 1});
    if (i + 1 < 200) entries.push_back({i, i + 1, 0});
  }
  const auto A = from_triplets<double>(200, 200, entries);
  IluOptions options = with({Trisolve::jacobi, 20});
  options.shift = ShiftPolicy::none;
  IluOptions exact = options;
  exact.trisolve = {};
  const DeviceBlockIlu found(A.to(Device::cuda()), options), plain(A.to(Device::cuda()), exact);
  EXPECT_EQ(found.report().trisolve->used, "exact");
  EXPECT_EQ(found.report().remarks, ilu(A, options).report().remarks);
  EXPECT_EQ(found.report().kernel, plain.report().kernel);
  const Vector<double> r = wave(200).to(Device::cuda());
  Vector<double> x(200, Device::cuda()), y(200, Device::cuda());
  found.apply(r, x);
  plain.apply(r, y);
  EXPECT_EQ(difference(x.to(Device::host()), y.to(Device::host())), -1);
}

TEST_F(DeviceIteration, AutoSweepsALargeGridExactly) {
  const auto A = to_block_csr(problems::poisson({64, 64, 64}, stencils::star7()));
  const DeviceBlockIlu found(A.to(Device::cuda()), with({.method = Trisolve::automatic}));
  EXPECT_EQ(found.report().trisolve->asked, "auto");
  EXPECT_EQ(found.report().trisolve->used, "exact");
  EXPECT_NE(found.report().trisolve->why.find("too large"), std::string::npos) << found.report().trisolve->why;
}

TEST_F(DeviceIteration, AWholeSolve) {
  const auto system = problems::projection({13, 13, 13});
  const Vector<double> ones(system.A.rows(), 1.0);
  for (const Trisolve method : {Trisolve::jacobi, Trisolve::neumann, Trisolve::automatic}) {
    SolveRequest request;
    request.wishes.pc = "ilu";
    request.wishes.solver = "gmres";
    request.wishes.options.ilu.trisolve.method = method;
    request.krylov.null_space = &ones;
    Vector<double> x(system.A.rows(), 0.0), on_host(system.A.rows(), 0.0);
    const auto host = solve_automatically(&system.A, system.b, on_host, request);
    request.device = Device::cuda();
    const auto outcome = solve_automatically(&system.A, system.b, x, request);
    EXPECT_TRUE(outcome.report.converged) << outcome.report.message;
    EXPECT_NEAR(static_cast<double>(outcome.report.iterations), static_cast<double>(host.report.iterations), 1);
    EXPECT_EQ(outcome.report.preconditioner.trisolve->asked, word(method));
  }
}

}  // namespace
}  // namespace echelon
