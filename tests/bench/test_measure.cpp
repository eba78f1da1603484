// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks rest on: bytes and operations by hand, slabs that are the matrix' own rows, shapes that name nothing
// twice, lines that read back.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bench/measure/bandwidth.hpp"
#include "bench/measure/contender_line.hpp"
#include "bench/measure/device_shapes.hpp"
#include "bench/measure/device_values.hpp"
#include "bench/measure/row_slab.hpp"
#include "bench/measure/sampling.hpp"
#include "bench/measure/shapes.hpp"
#include "bench/measure/work_model.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/expect_error.hpp"

namespace echelon::bench {
namespace {

TEST(WorkModel, BytesByHand) {
  // star7, interior only for simplicity of the numbers: 10 points with 7 blocks of 2×2 each.
  const WorkShape shape{10 * 7 * 4, 10, 2};
  EXPECT_EQ(sweep_bytes(shape), 8 * 280 + 32 * 20);
  EXPECT_EQ(sweep_bytes(shape, 4), 4 * 280 + 32 * 20);
  EXPECT_EQ(sweep_flops(shape), 560);
  EXPECT_EQ(factor_bytes(shape, stencils::star7()), 8 * (280 + 40));
  EXPECT_EQ(factor_bytes(shape, stencils::star13()), 8 * (2 * 280 + 40));
  // Three lower blocks times the pivot's inverse, three products on the diagonal, one inverse, 2·b³ each.
  EXPECT_EQ(factor_flops(shape, stencils::star7()), 10 * 16 * (3 + 3 + 1));
}

TEST(WorkModel, OnlyStarsWithReachOneChangeTheDiagonalAlone) {
  EXPECT_TRUE(only_diagonal_changes(stencils::star5()));
  EXPECT_TRUE(only_diagonal_changes(stencils::star7()));
  for (const char* name : {"star9", "box9", "star13", "diamond13", "diamond25", "box27"}) {
    EXPECT_FALSE(only_diagonal_changes(stencils::named(name))) << name;
  }
}

TEST(Shapes, LargeOnesPassTwiceALargeCacheAndAllFitOurMachine) {
  for (const auto& kind : kinds()) {
    std::set<std::string> names;
    for (const auto& one : shapes(kind, false)) {
      names.insert(one.name());
      if (one.is_solve()) continue;
      EXPECT_GE(one.matrix_bytes() + 32 * one.rows(), std::int64_t{2} * 260 << 20) << one.name();
      EXPECT_LE(one.matrix_bytes(), std::int64_t{1} << 30) << one.name();
    }
    EXPECT_EQ(names.size(), shapes(kind, false).size());
  }
  EXPECT_THROW(shapes("trvs", true), Error);
}

TEST(Shapes, OnAGpuTableThreeAndWhatLiesBetween) {
  for (const bool small : {false, true}) {
    for (const auto& column : device_columns()) {
      std::set<std::string> names;
      for (const auto& one : device_shapes("trsv", column, small)) names.insert(one.name());
      EXPECT_EQ(names.size(), device_shapes("trsv", column, small).size()) << column;
      EXPECT_EQ(names.size(), column == "growing" ? 18u : column == "breakdown" || column == "many" ? 6u : 35u);
    }
  }
  for (const auto& one : device_shapes("factor", "rtx3090", false)) {
    // Contenders count with 32 bits; no cache holds a case.
    EXPECT_LT(one.matrix_bytes() / 8, std::int64_t{1} << 31) << one.name();
    EXPECT_GT(one.matrix_bytes(), std::int64_t{5} << 30) << one.name();
  }
  EXPECT_THROW(device_shapes("trsv", "v100", false), Error);
}

TEST(WorkModel, OneSweepByHand) {
  // star7, two points of 2×2 blocks: three lower blocks a point, or the diagonal and three upper ones; two vectors.
  EXPECT_EQ(entries_bytes(2, 3, 2, 8), 2 * 3 * 32 + 64);
  EXPECT_EQ(entries_bytes(2, 4, 2, 4), 2 * 4 * 16 + 64);
}

TEST(BenchCase, ArgumentsReadBack) {
  for (const auto& kind : kinds()) {
    for (const auto& one : shapes(kind, true)) {
      auto words = one.arguments();
      words.insert(words.begin(), "program");
      std::vector<char*> argv;
      for (auto& word : words) argv.push_back(word.data());
      const auto back = BenchCase::from_arguments(kind, static_cast<int>(argv.size()), argv.data());
      EXPECT_EQ(back.name(), one.name());
      EXPECT_EQ(back.rtol, one.rtol);
    }
  }
  char program[] = "p", option[] = "--gird", value[] = "8";
  char* wrong[] = {program, option, value};
  EXPECT_THROW(BenchCase::from_arguments("trsv", 3, wrong), Error);
}

BenchCase read_back(const BenchCase& one) {
  auto words = one.arguments();
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return BenchCase::from_arguments(one.kind, static_cast<int>(argv.size()), argv.data());
}

TEST(BenchCase, TheWordsOfAProblemReadBackAsTheSameMatrix) {
  BenchCase one;
  one.kind = "mg", one.solver = "cg", one.grid = {5, 4, 3};
  std::vector<BenchCase> cases;
  for (const char* coefficient : {"smooth", "jumps", "random", "regions"}) {
    one.problem = "varpoisson";
    one.words.coefficient = coefficient;
    one.words.contrast = 1e6;
    cases.push_back(one);
  }
  one.words.anisotropy[2] = 0.01;
  one.words.closed = true;
  one.setting = "PFMG relax 2, rap 0, skip 1";
  cases.push_back(one);
  one.problem = "convdiff";
  one.words = {};
  one.words.peclet = 1234.5;
  one.words.velocity[1] = -1.0 / 3;
  cases.push_back(one);
  one.words.recirculating = true;
  cases.push_back(one);
  one.problem = "poisson";
  one.words = {};
  one.words.closed = true;
  cases.push_back(one);
  std::set<std::string> names;
  for (const auto& wanted : cases) {
    const BenchCase back = read_back(wanted);
    names.insert(back.name());
    EXPECT_EQ(back.name(), wanted.name());
    EXPECT_EQ(back.setting, wanted.setting);
    EXPECT_TRUE(std::ranges::equal(back.make().values(), wanted.make().values())) << wanted.name();
    const auto b = back.right_hand_side();
    double sum = 0;
    for (std::int64_t i = 0; i < b.size(); ++i) sum += b[i];
    EXPECT_EQ(sum, wanted.words.closed ? 0 : 60) << wanted.name();
  }
  EXPECT_EQ(names.size(), cases.size());
  EXPECT_EQ(BenchCase{}.words.name(), "");
  for (const auto& [option, value] : {std::pair{"--coefficient", "rough"},
                                      {"--contrast", "1e"},
                                      {"--velocity", "1,2"},
                                      {"--anisotropy", "1,2,x"},
                                      {"--boundary", "robin"},
                                      {"--peclet", "nan"}}) {
    EXPECT_THROW((void)ProblemWords{}.read(option, value), Error) << option;
  }
}

TEST(BenchCase, OfASingularProblemXIsTakenWithoutItsMean) {
  BenchCase one;
  one.grid = {2, 2, 1};
  Vector<double> x(4, 3.0);
  x[0] = 7;
  one.fix_constant(x);
  EXPECT_EQ(x[0], 7);
  one.words.closed = true;
  one.fix_constant(x);
  EXPECT_EQ(x[0], 3);
  EXPECT_EQ(x[3], -1);
}

TEST(RowSlab, RowsAreTheMatrixOwnForEveryNumberOfRanks) {
  for (const auto& [grid, stencil] : {std::pair{Grid{5, 4, 7}, stencils::box27()}, {Grid{6, 5, 1}, stencils::star5()}}) {
    const auto A = problems::random(grid, stencil, 2, 3);
    const auto csr = to_block_csr(A);
    for (const int ranks : {1, 2, 3}) {
      std::int64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto range = owned_points(grid, rank, ranks);
        EXPECT_EQ(range.begin, next);
        next = range.end;
        const auto scalars = as_scalars(row_slab(A, range));
        for (std::int64_t row = 0; row < scalars.rows; ++row) {
          for (auto e = scalars.row_start[row]; e < scalars.row_start[row + 1]; ++e) {
            ASSERT_EQ(scalars.values[e], csr.at(range.begin * 2 + row, scalars.column[e]));
          }
        }
        const auto block = to_block_csr(diagonal_block(A, range));
        ASSERT_EQ(block.rows(), range.points() * 2);
        for (std::int64_t row = 0; row < block.rows(); ++row) {
          for (std::int64_t column = 0; column < block.rows(); ++column) {
            ASSERT_EQ(block.at(row, column), csr.at(range.begin * 2 + row, range.begin * 2 + column));
          }
        }
      }
      EXPECT_EQ(next, grid.points());
    }
  }
}

TEST(ContenderLine, ReadsBackAndNaNAgreesWithNothing) {
  ContenderLine line;
  line.contender = "PETSc 3.18.5";
  line.method = "seqaij ILU(0)";
  line.seconds = 0.125;
  line.iterations = 7;
  line.answer = {2, -0.5};
  const auto back = from_line("banner\n" + to_line(line) + "\n\n");
  EXPECT_EQ(back.contender, line.contender);
  EXPECT_EQ(back.seconds, line.seconds);
  EXPECT_EQ(back.iterations, line.iterations);
  EXPECT_TRUE(agree(back.answer, line.answer, 0));
  line.answer.norm = std::nan("");
  EXPECT_FALSE(agree({2, -0.5}, from_line(to_line(line)).answer, 1));
  EXPECT_FALSE(agree({1, 0}, {1.001, 0}, 1e-4));
  EXPECT_FALSE(agree({1, 0}, {1, 0.01}, 1e-4));
  EXPECT_EQ(from_line(to_line(ContenderLine::nothing("x", "no blocks"))).not_applicable, "no blocks");
}

TEST(Sampling, MedianAndSpread) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(spread({4, 2, 3}), 2.0 / 3);
  EXPECT_EQ(spread({4}), 0);
}

TEST(Triad, ComputesWhatItCounts) {
  for (const std::int64_t n : {0, 1, 7, 8, 16, 33}) {
    Vector<double> a(n + 1, -1.0), b(n + 1), c(n + 1);
    for (std::int64_t i = 0; i <= n; ++i) {
      b[i] = static_cast<double>(i);
      c[i] = static_cast<double>(2 * i + 4);
    }
    triad_range(a.data(), b.data(), c.data(), 0.5, n);
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(a[i], static_cast<double>(2 * i + 2));
    EXPECT_EQ(a[n], -1.0);
  }
  const auto bandwidth = BandwidthProbe(1 << 20).measure();
  EXPECT_GT(bandwidth.triad, 1e6);
  EXPECT_GT(bandwidth.copy, 1e6);
}

TEST(DeviceValues, TheMatrixIsTheRandomProblem) {
  for (const int dof : {1, 3}) {
    BenchCase one;
    one.problem = "random";
    one.stencil = "diamond13";
    one.grid = {5, 4, 3};
    one.dof = dof;
    const auto A = one.make();
    const auto shape = ValueShape::of(one, ValueKind::matrix);
    for (std::int64_t point = 0; point < shape.points(); ++point) {
      const Ijk p = shape.at(point);
      ASSERT_EQ(shape.index(p), point);
      for (int e = 0; e < shape.entries; ++e) {
        for (int s = 0; s < dof * dof; ++s) {
          const double value = shape.inside(p, e) ? shape.value(p, e, s % dof, s / dof) : 0.0;
          ASSERT_EQ(value, A.block(point, e)[static_cast<std::size_t>(s)]) << point << " " << e << " " << s;
        }
      }
    }
  }
}

TEST(DeviceValues, FactorsAreTrianglesThatDoNotGrow) {
  BenchCase one;
  one.stencil = "box27";
  one.grid = {4, 4, 4};
  one.dof = 2;
  const auto factors = ValueShape::of(one, ValueKind::factors), inverted = ValueShape::of(one, ValueKind::factors_inverted);
  const Ijk p{1, 2, 1};
  double lower = 0, upper = 0;
  for (int e = 0; e < factors.entries; ++e) {
    for (int c = 0; c < 2; ++c) {
      const double value = factors.value(p, e, 1, c);
      if (e == factors.center) continue;
      EXPECT_EQ(value, inverted.value(p, e, 1, c));
      (e < factors.center ? lower : upper) += std::abs(value);
    }
  }
  EXPECT_GT(lower, 0.1);
  EXPECT_LT(lower, 0.9);
  EXPECT_GT(upper, 0.1);
  EXPECT_LT(upper, 0.9);
  const double d = factors.value(p, factors.center, 1, 1);
  EXPECT_GT(d, 1);
  EXPECT_LT(d, 2);
  EXPECT_EQ(inverted.value(p, factors.center, 1, 1), 1 / d);
  EXPECT_EQ(factors.value(p, factors.center, 1, 0), 0);
}

TEST(ContenderLine, WhatWasSaidBeforeTheEndCounts) {
  ContenderLine line;
  line.contender = "cuSPARSE 12";
  line.method = "SpSV";
  line.operation = "lower";
  line.seconds = 2;
  const auto lines = from_lines("a library's own words\n" + to_line(line) + "\n" + to_line(line).substr(0, 30));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].operation, "lower");
  EXPECT_EQ(lines[0].seconds, 2);
  EXPECT_TRUE(from_lines("").empty());
}

}  // namespace
}  // namespace echelon::bench
