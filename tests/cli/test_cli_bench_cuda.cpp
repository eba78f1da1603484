// SPDX-License-Identifier: BSD-3-Clause
// echelon bench --backend cuda: what is refused, what is said without a GPU, how its report reads; with a GPU every listed
// shape has its rows on tiny grids.
#include <fmt/format.h>

#include <map>
#include <set>

#include "bench/measure/contender_line.hpp"
#include "bench/measure/device_shapes.hpp"
#include "cli/bench_text.hpp"
#include "echelon/base/device.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class BenchCuda : public Program {};

TEST_F(BenchCuda, WithoutAGpuItSaysSoInASentence) {
  if (Device::cuda_count() > 0) GTEST_SKIP() << "there is a GPU";
  for (const char* kind : {"trsv", "factor"}) {
    const auto result = run(fmt::format("bench {} --backend cuda --small", kind));
    EXPECT_EQ(result.status, 3) << kind;
    EXPECT_TRUE(contains(result.err, "no CUDA")) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(BenchCuda, WhatIsWrongIsSaid) {
  struct Refused {
    const char* line;
    const char* says;
  };
  for (const auto& [line, says] :
       {Refused{"bench solver --backend cuda", "measures trsv and factor"}, Refused{"bench trsv --backend gpu", "cuda"},
        Refused{"bench trsv --backend cuda --threads 2", "--threads is for the host"},
        Refused{"bench trsv --column a100", "needs --backend cuda"},
        Refused{"bench trsv --backend cuda --column a10", "did you mean a100?"},
        Refused{"bench factor --backend cuda --column breakdown", "is for trsv"}}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 2) << line;
    EXPECT_TRUE(contains(result.err, says)) << line << ": " << result.err;
  }
}

TEST_F(BenchCuda, OnAGpuEveryListedShapeHasItsRows) {
  if (Device::cuda_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  for (const std::string kind : {"trsv", "factor"}) {
    const auto result = run(fmt::format("bench {} --backend cuda --small --json r.json --plot r.svg", kind));
    EXPECT_EQ(result.status, 0) << result.err << result.out;
    std::map<std::string, std::set<std::string>> rows;
    for (const auto& row : json("r.json")["cases"]) {
      rows[row["case"].get<std::string>()].insert(row["operation"].get<std::string>() + " " +
                                                  row["precision"].get<std::string>());
      EXPECT_GT(row["percent_of_copy"].get<double>(), 0);
    }
    const auto shapes = bench::device_shapes(kind, "rtx3090", true);
    EXPECT_EQ(rows.size(), shapes.size());
    for (const auto& one : shapes) EXPECT_EQ(rows[one.name()].size(), kind == "trsv" ? 11u : 3u) << one.name();
    EXPECT_TRUE(contains(text("r.svg"), "</svg>"));
  }
}

BenchReport two_cases() {
  BenchReport report;
  report.kind = "trsv";
  report.backend.kind = "cuda";
  report.backend.name = "a GPU";
  report.backend.copy_bandwidth = 4e12;
  report.rounds = 3;
  for (const int dof : {1, 2}) {
    BenchRow row;
    row.operation = "lower sweep";
    row.name = fmt::format("random star7 8x8x8 b={}", dof);
    row.stencil = "star7";
    row.grid = {8, 8, 8};
    row.dof = dof;
    row.copy = 4e12;
    row.bytes = 2e9;
    row.seconds = dof == 1 ? 1e-3 : 0.625e-3;  // 50 and 80 % of the copy bandwidth
    PeerTime peer;
    peer.name = "cuSPARSE 12";
    peer.method = "SpSV";
    peer.seconds = 4e-3;
    peer.analysis_seconds = 0.5;
    row.peers = {peer};
    report.rows.push_back(row);
  }
  return report;
}

TEST(BenchCudaText, TheMeansAreGeometric) {
  const auto said = cli::bench_table(two_cases());
  // √(50 · 80) = 63.25, √(4 · 6.4) = 5.06; the analysis has its own column.
  for (const char* part : {"63.25", "50.00", "80.00", "5.06", "4.00", "500.000", "cuSPARSE 12, SpSV", "lower sweep, fp64"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  }
}

TEST(BenchCudaText, ThePlotHasOursBesideTheContender) {
  const auto plot = cli::bench_plot(two_cases());
  ASSERT_EQ(plot.groups.size(), 2u);
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_NEAR(plot.groups[0].values[0], 50, 1e-9);
  EXPECT_NEAR(plot.groups[0].values[1], 12.5, 1e-9);
}

TEST(BenchCudaText, OneShapeInSeveralSizesIsDrawnAsCurves) {
  auto report = two_cases();
  EXPECT_EQ(cli::bench_svg(report).find("<polyline"), std::string::npos);
  report.rows.push_back(report.rows[0]);
  report.rows[2].grid = {16, 16, 16};
  report.rows[2].name = "random star7 16x16x16 b=1";
  const auto svg = cli::bench_svg(report);
  EXPECT_NE(svg.find("star7 b=1, echelon"), std::string::npos) << svg;
  EXPECT_NE(svg.find("star7 b=2, best of cuSPARSE 12"), std::string::npos);
}

}  // namespace
}  // namespace echelon::test
