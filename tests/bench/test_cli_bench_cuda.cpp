// SPDX-License-Identifier: BSD-3-Clause
// echelon bench --backend cuda: what is refused, what is said without a GPU, how its report reads, its figures drawn from a
// report; with a GPU every listed shape has its rows on tiny grids.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "bench/measure/contender_line.hpp"
#include "bench/measure/device_shapes.hpp"
#include "bench/program/bench_cuda_figures.hpp"
#include "bench/program/bench_cuda_trisolve.hpp"
#include "bench/program/bench_text.hpp"
#include "echelon/base/device.hpp"
#include "echelon/report/json.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class BenchCuda : public Program {};

TEST_F(BenchCuda, WithoutAGpuItSaysSoInASentence) {
  if (Device::cuda_count() > 0) GTEST_SKIP() << "there is a GPU";
  for (const char* kind : {"trsv", "factor", "solver", "convergence", "trisolve"}) {
    const auto result = run(fmt::format("bench {} --backend cuda --small", kind));
    EXPECT_EQ(result.status, 3) << kind;
    EXPECT_TRUE(contains(result.err, "no CUDA")) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(BenchCuda, SolvesThatLeaveTheGridSaySoToo) {
  if (Device::cuda_count() > 0) GTEST_SKIP() << "there is a GPU";
  for (const char* pc : {"parilu", "parilut", "mcilu"}) {
    const auto result = run(fmt::format("solve --problem poisson --grid 4 --pc {} --backend cuda", pc));
    EXPECT_EQ(result.status, 3) << pc;
    EXPECT_TRUE(contains(result.err, "no CUDA")) << result.err;
  }
}

TEST_F(BenchCuda, WhatIsWrongIsSaid) {
  struct Refused {
    const char* line;
    const char* says;
  };
  for (const auto& [line, says] : {Refused{"bench convergence --backend cuda --column a100", "is for trsv and factor"},
                                   Refused{"bench solver --backend cuda --column a100", "have the sizes of table 4"},
                                   Refused{"bench trisolve --backend cuda --column a100", "is for trsv and factor"},
                                   Refused{"bench trsv --backend gpu", "cuda"},
                                   Refused{"bench trsv --backend cuda --threads 2", "--threads is for the host"},
                                   Refused{"bench trsv --column a100", "needs --backend cuda"},
                                   Refused{"bench trsv --backend cuda --column a10", "did you mean a100?"}}) {
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
    const auto report = json("r.json");
    for (const auto& row : report["cases"]) {
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

/// L and U of one method are one solve; an answer that is not ours has no time.
TEST(BenchCudaTrisolve, SpsvsTwoSolvesAreOne) {
  const auto line = [](const char* operation, const char* method, double seconds, double norm) {
    bench::ContenderLine one;
    one.contender = "cuSPARSE 12";
    one.operation = operation;
    one.method = method;
    one.seconds = seconds;
    one.setup_seconds = 2 * seconds;
    one.answer = {norm, 1};
    return one;
  };
  const std::vector<bench::ContenderLine> lines = {line("analysis", "a", 9, 1), line("lower", "a", 1, 1),
                                                   line("upper", "a", 2, 1),    line("lower", "b", 4, 5),
                                                   line("upper", "b", 8, 5),    line("lower", "alone", 1, 1)};
  std::string objection;
  const auto peers = cli::both_solves(lines, {1, 1}, objection);
  ASSERT_EQ(peers.size(), 1u);
  EXPECT_EQ(peers[0].method, "a");
  EXPECT_DOUBLE_EQ(peers[0].seconds, 3);
  EXPECT_DOUBLE_EQ(peers[0].analysis_seconds, 6);
  EXPECT_NE(objection.find("b: another answer"), std::string::npos) << objection;
}

TEST_F(BenchCuda, OnAGpuEveryTriangularSolveHasItsRow) {
  if (Device::cuda_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto result = run("bench trisolve --backend cuda --small --json r.json --plot r.svg --spy s.svg");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  const auto report = json("r.json");
  const bool compared = report["contenders"]["missing"].empty();
  ASSERT_EQ(report["cases"].size(), 2u * (2 + 2 * 6));
  for (const auto& row : report["cases"]) {
    EXPECT_GT(row["seconds"].get<double>(), 0);
    EXPECT_GT(row["iterations"].get<int>(), 0);
    if (row["operation"] == "exact") {
      EXPECT_EQ(row["measures"]["error"], 0.0);
    } else {
      EXPECT_LT(row["measures"]["error"].get<double>(), 1);
    }
    if (compared) {
      EXPECT_EQ(row["peers"].size(), 2u) << row.dump();
    }
  }
  EXPECT_TRUE(contains(text("s.svg"), "L + U of ILU(0)"));
}

/// What was measured on a GPU is shown and drawn without one; the bar of `auto` has the ratio of the two times.
TEST_F(BenchCuda, TriangularSolvesMeasuredElsewhereAreDrawnBesideSpsv) {
  const std::string measured = ECHELON_SOURCE_DIR "/bench/results/h200-trisolve.json";
  const auto result = run(fmt::format("bench trisolve --backend cuda --from {} --plot r.svg", measured));
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "SpSV us"));
  const auto cases = nlohmann::json::parse(text(measured))["cases"];
  const auto is_auto = [](const auto& row) { return row["operation"] == "auto"; };
  const auto row = std::find_if(cases.begin(), cases.end(), is_auto);
  ASSERT_NE(row, cases.end());
  const double ratio = (*row)["peer_seconds"].template get<double>() / (*row)["seconds"].template get<double>();
  EXPECT_TRUE(contains(text("r.svg"), fmt::format(">{:.3g}<", ratio))) << ratio;
  EXPECT_TRUE(contains(text("r.svg"), "40 sweeps"));
}

TEST_F(BenchCuda, OnAGpuTheOtherColumnsHaveTheirs) {
  if (Device::cuda_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  for (const std::string kind : {"trsv", "factor"}) {
    const bool sweeps = kind == "trsv";
    const auto result =
        run(fmt::format("bench {} --backend cuda --column breakdown --small --json r.json --plot r.svg", kind));
    EXPECT_EQ(result.status, 0) << result.err << result.out;
    EXPECT_EQ(json("r.json")["cases"].size(), bench::device_shapes(kind, "breakdown", true).size() * (sweeps ? 2 * 4 : 3));
    EXPECT_TRUE(contains(text("r.svg"), sweeps ? "+ modulus layout" : "+ teams of lines"));
    EXPECT_EQ(run(fmt::format("bench {} --backend cuda --column growing --small --json r.json", kind)).status, 0);
    EXPECT_EQ(json("r.json")["cases"].size(), bench::device_shapes(kind, "growing", true).size() * (sweeps ? 2 : 1));
  }
  EXPECT_EQ(run("bench trsv --backend cuda --column many --small --json r.json").status, 0);
  EXPECT_EQ(json("r.json")["cases"].size(), bench::device_shapes("trsv", "many", true).size() * 2 * 4);
}

TEST_F(BenchCuda, OnAGpuEverySolveHasItsRows) {
  if (Device::cuda_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto result = run("bench solver --backend cuda --small --json r.json --plot r.svg");
  EXPECT_EQ(result.status, 0) << result.err << result.out;
  std::map<std::string, std::set<std::string>> rows;
  const auto report = json("r.json");
  for (const auto& row : report["cases"]) {
    rows[row["case"].get<std::string>()].insert(row["precision"].get<std::string>());
    double sum = 0;
    for (const auto& part : row["parts"].items()) sum += part.value().get<double>();
    EXPECT_NEAR(sum, row["seconds"].get<double>(), 1e-6);
    EXPECT_GT(row["setup_seconds"].get<double>(), 0);
    EXPECT_GT(row["setup_span_seconds"].get<double>(), 0);
    for (const auto& peer : row["peers"]) {
      EXPECT_NEAR(peer["iterations"].get<double>(), row["iterations"].get<double>(), 1);
    }
  }
  const auto cases = bench::device_solves(true);
  EXPECT_EQ(rows.size(), cases.size());
  for (const auto& one : cases) EXPECT_EQ(rows[one.name()], (std::set<std::string>{"fp32", "fp64"})) << one.name();
}

TEST_F(BenchCuda, OnAGpuEveryMethodOfAComparisonHasItsRow) {
  if (Device::cuda_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const auto result = run("bench convergence --backend cuda --small --json r.json --plot r.svg");
  EXPECT_EQ(result.status, 0) << result.err << result.out;
  const auto rows = json("r.json")["cases"];
  const std::vector<std::string> methods = {"ic0", "ic1", "parilu", "parilut", "mcilu"};
  ASSERT_EQ(rows.size(), methods.size() * bench::device_convergence(true).size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t method = r % methods.size();
    EXPECT_EQ(rows[r]["operation"], "cg + " + methods[method]);
    EXPECT_GT(rows[r]["parts"]["factorization"].get<double>(), 0);
    const double ratio = rows[r]["iteration_ratio"].get<double>();
    EXPECT_GE(ratio, method == 4 ? 1.0 : 0.5) << rows[r]["case"];
    EXPECT_LE(ratio, method == 1 || method == 3 ? 1.0 : 2.0) << rows[r]["case"];
    // The same elimination in another order of colours.
    if (method == 4) {
      for (const auto& peer : rows[r]["peers"]) {
        EXPECT_NEAR(peer["iterations"].get<double>(), rows[r]["iterations"].get<double>(), 6);
      }
    }
  }
}

TEST(DeviceShapes, AComparisonOfMethodsGrowsToTheTable) {
  std::set<std::string> names, small_names;
  for (const auto& one : bench::device_convergence(false)) names.insert(one.name());
  for (const auto& one : bench::device_convergence(true)) small_names.insert(one.name());
  EXPECT_TRUE(names.contains("cg poisson star7 304x304x304 b=1"));
  EXPECT_EQ(names.size(), small_names.size());
}

TEST(DeviceShapes, SolvesAreThoseOfTheTable) {
  std::set<std::string> names;
  for (const auto& one : bench::device_solves(false)) {
    names.insert(one.name());
    EXPECT_TRUE(one.is_solve());
  }
  EXPECT_EQ(names, (std::set<std::string>{
                       "cg poisson star7 304x304x304 b=1", "cg poisson star7 304x304x304 b=1 fill 1",
                       "gmres(30) convdiff star7 304x304x304 b=1", "gmres(30) navierstokes box27 104x104x104 b=4",
                       "gmres(30) euler star13 112x112x112 b=5", "gmres(30) cahnhilliard diamond25 160x160x160 b=2"}));
  for (const auto& one : bench::device_solves(true)) {
    // What a contender's program is told is the case it is asked about, and the matrix is of its shape.
    auto words = one.arguments();
    words.insert(words.begin(), "program");
    std::vector<char*> list;
    for (auto& word : words) list.push_back(word.data());
    EXPECT_EQ(bench::BenchCase::from_arguments("solver", static_cast<int>(list.size()), list.data()).name(), one.name());
    const auto A = one.make();
    EXPECT_EQ(A.dof(), one.dof);
    EXPECT_EQ(static_cast<std::int64_t>(A.values().size()) * 8, one.matrix_bytes()) << one.name();
  }
}

TEST(DeviceShapes, GrowAndBreakDownWhatThePaperDoes) {
  for (const std::string kind : {"trsv", "factor"}) {
    std::map<std::string, std::set<std::int64_t>> sides;
    for (const auto& one : bench::device_shapes(kind, "growing", false)) {
      EXPECT_EQ(one.kind, kind);
      sides[fmt::format("{} {}", one.stencil, one.dof)].insert(one.grid.nx);
    }
    EXPECT_EQ(sides.size(), 3u);
    EXPECT_EQ(sides["star13 2"], sides["diamond13 2"]);
    EXPECT_TRUE(sides["star7 1"].contains(256)) << "a goal is said for it";
    int blocks = 0;
    for (const auto& one : bench::device_shapes(kind, "breakdown", false)) blocks += one.dof > 1;
    EXPECT_EQ(blocks, 4);
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

TEST(BenchCudaFigures, OursBesideTheContenderWithTheSpeedup) {
  auto report = two_cases();
  report.rows[1].stencil = "box27";
  const auto plot = cli::comparison_figure(report);
  ASSERT_EQ(plot.rows.size(), 1u) << "no upper sweeps here";
  ASSERT_EQ(plot.rows[0].panels.size(), 2u);
  EXPECT_EQ(plot.rows[0].panels[1].title, "box27");
  const auto& group = plot.rows[0].panels[1].groups.at(0);
  EXPECT_EQ(group.label, "2");
  ASSERT_EQ(group.bars.size(), 2u);
  EXPECT_NEAR(group.bars[0].value, 80, 1e-9);
  EXPECT_EQ(group.bars[0].mark, "6.4×");
  EXPECT_NEAR(group.bars[1].value, 12.5, 1e-9);
}

/// Both cases in three stages, each twice as fast as the one before; the second case lacks the middle one.
BenchReport stages() {
  auto report = two_cases();
  std::vector<BenchRow> rows;
  for (auto& row : report.rows) {
    row.peers.clear();
    for (const char* stage : {"mapping", "+ layout", "+ pipeline"}) {
      row.operation = fmt::format("lower sweep ({})", stage);
      row.seconds /= 2;
      if (row.dof == 1 || row.operation.find("layout") == std::string::npos) rows.push_back(row);
    }
  }
  report.rows = rows;
  return report;
}

TEST(BenchCudaFigures, StagesStandBesideEachOther) {
  const auto report = stages();
  ASSERT_TRUE(cli::is_breakdown(report));
  ASSERT_FALSE(cli::is_breakdown(two_cases()));
  const auto plot = cli::breakdown_figure(report);
  EXPECT_EQ(plot.series, (std::vector<std::string>{"mapping", "+ layout", "+ pipeline"}));
  const auto& groups = plot.rows.at(0).panels.at(0).groups;
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].label, "star7 8³ b=1");
  EXPECT_EQ(groups[0].bars[0].mark, "");
  EXPECT_EQ(groups[0].bars[2].mark, "×2.00");
  EXPECT_TRUE(std::isnan(groups[1].bars[1].value));
  EXPECT_EQ(groups[1].bars[2].mark, "×4.00");
}

/// One shape of two_cases in two sizes.
BenchReport two_sizes() {
  auto report = two_cases();
  report.rows.push_back(report.rows[0]);
  report.rows[2].grid = {16, 16, 16};
  report.rows[2].name = "random star7 16x16x16 b=1";
  return report;
}

TEST(BenchCudaFigures, OneShapeInSeveralSizesIsDrawnAsCurves) {
  EXPECT_EQ(cli::bench_svg(two_cases()).find("<polyline"), std::string::npos);
  const auto svg = cli::bench_svg(two_sizes());
  EXPECT_NE(svg.find("star7 b=1, echelon"), std::string::npos) << svg;
  EXPECT_NE(svg.find("star7 b=2, the faster routine of cuSPARSE 12"), std::string::npos);
}

/// A solve, a contender four times as slow, and ours again with short factors.
BenchReport one_solve() {
  BenchReport report;
  report.kind = "solver";
  report.backend = two_cases().backend;
  report.rounds = 3;
  BenchRow row;
  row.operation = "cg + ic0";
  row.name = "cg poisson star7 8x8x8 b=1";
  row.problem = "poisson";
  row.stencil = "star7";
  row.grid = {8, 8, 8};
  row.n = 512;
  row.seconds = 0.5;
  row.setup_seconds = 0.125;
  row.solve_seconds = 0.375;
  row.analysis_seconds = 0.0;
  row.setup_parts = {{"assembly", 0.0625}, {"tables", 0.0625}};
  row.setup_span_seconds = 0.09375;
  row.copy_seconds = 0.0625;
  row.upload_seconds = 0.25;
  row.iterations = 46;
  row.parts = {{"factorization", 0.125}, {"sweeps", 0.25}, {"products", 0.0625}, {"vector work", 0.0625}};
  PeerTime peer;
  peer.name = "cuSPARSE 12";
  peer.method = "csrilu02 without levels, SpSV, SpMV";
  peer.seconds = 2;
  peer.analysis_seconds = 1;
  peer.iterations = 47;
  peer.parts = {{"factorization", 0.5}, {"sweeps", 1}, {"products", 0.25}, {"vector work", 0.25}};
  row.peers = {peer};
  report.rows = {row, row};
  report.rows[1].precision = "fp32";
  report.rows[1].peers.clear();
  return report;
}

TEST(BenchCudaText, ASolveSaysItsPartsAndBothSpeedups) {
  const auto said = cli::bench_table(one_solve());
  for (const char* part :
       {"125.000", "62.500", "4.00", "6.00", "47", "SpSV, SpMV", "geometric means of 1", "93.750", "2.00", "1.50"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  }
}

TEST(BenchCudaFigures, SolvesAreStackedFromTheirParts) {
  const auto plot = cli::solver_figure(one_solve());
  EXPECT_TRUE(plot.stacked);
  EXPECT_EQ(plot.series, (std::vector<std::string>{"factorization", "sweeps", "products", "vector work"}));
  ASSERT_EQ(plot.rows.at(0).panels.size(), 1u) << "only FP64 has contenders";
  const auto& groups = plot.rows[0].panels[0].groups;
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].bars[0].mark, "500 ms");
  EXPECT_NEAR(groups[0].bars[1].value, 50, 1e-9);
  EXPECT_EQ(groups[1].label, "CSR");
  EXPECT_EQ(groups[1].bars[0].mark, "4.0×");
  EXPECT_NEAR(groups[1].bars[1].value, 200, 1e-9);
}

TEST_F(BenchCuda, ASolversReportIsDrawnAgain) {
  write("r.json", to_json(one_solve()));
  const auto result = run("bench solver --from r.json --plot r.svg");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(text("r.svg"), cli::bench_svg(one_solve()));
  EXPECT_EQ(result.out, cli::bench_table(one_solve()));
}

TEST_F(BenchCuda, AComparisonOfMethodsIsDrawnAgain) {
  auto report = one_solve();
  report.kind = "convergence";
  for (auto& row : report.rows) row.peers.clear();
  report.rows[1].precision = "fp64";
  report.rows[1].operation = "cg + ic1";
  report.rows[1].iterations = 29;
  write("r.json", to_json(report));
  const auto result = run("bench convergence --from r.json --plot r.svg");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "cg + ic1")) << result.out;
  EXPECT_TRUE(contains(text("r.svg"), "8×8×8"));
  EXPECT_FALSE(contains(text("r.svg"), "thread")) << "a GPU's time is of no number of threads";
}

TEST_F(BenchCuda, FiguresAreDrawnAgainFromAReport) {
  for (const auto& report : {two_cases(), stages(), two_sizes()}) {
    write("r.json", to_json(report));
    const auto result = run("bench trsv --from r.json --plot r.svg");
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(text("r.svg"), cli::bench_svg(report));
    EXPECT_TRUE(contains(result.out, "lower sweep")) << result.out;
  }
}

}  // namespace
}  // namespace echelon::test
