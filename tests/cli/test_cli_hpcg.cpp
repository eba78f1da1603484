// SPDX-License-Identifier: BSD-3-Clause
// `echelon hpcg` as a user runs it: what it prints and writes, sizes it refuses, and signals. Runs are far too short to be
// official.
#include <fmt/format.h>

#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class HpcgProgram : public Program {};

TEST_F(HpcgProgram, IsValidAndWritesWhatWasAskedFor) {
  const auto result = run("hpcg --grid 24 --seconds 0.05 --threads 2 --report r.txt --json r.json");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_TRUE(contains(result.out, "HPCG result is VALID with a GFLOP/s rating of")) << result.out;
  EXPECT_TRUE(contains(result.out, "not an official run: official runs last 1800 s")) << result.out;
  EXPECT_TRUE(contains(result.out, "not for submission")) << result.out;
  EXPECT_EQ(result.err, "");
  const std::string report = text("r.txt");
  EXPECT_TRUE(contains(report, "Final Summary::HPCG result is VALID with a GFLOP/s rating of=")) << report;
  EXPECT_TRUE(contains(report, "Global Problem Dimensions::Global nx=24\n"));
  const auto hpcg = json("r.json")["hpcg"];
  EXPECT_EQ(hpcg["valid"], true);
  EXPECT_EQ(hpcg["processes"], 1);
  EXPECT_EQ(hpcg["threads"], 2);
  EXPECT_EQ(hpcg["grid"], (std::vector<int>{24, 24, 24}));
  EXPECT_EQ(hpcg["reference_iterations"], 50);
  EXPECT_GE(hpcg["optimized_iterations"].get<int>(), 50);
  EXPECT_EQ(hpcg["testcg_unpreconditioned"], 11);
  EXPECT_EQ(hpcg["testcg_preconditioned"], 1);
  EXPECT_LE(hpcg["departure_mg"].get<double>(), 1);
  EXPECT_GT(hpcg["rating_gflops"].get<double>(), 0);
  EXPECT_GT(hpcg["bound_gflops"].get<double>(), hpcg["rating_gflops"].get<double>() * 0.1);
  EXPECT_GE(hpcg["seconds"]["total"].get<double>(), 0.04) << "sets fill the time asked for";
  bool uses_geometry = false;
  for (const auto& one : hpcg["optimizations"]) uses_geometry |= one["uses_geometry"].get<bool>();
  EXPECT_TRUE(uses_geometry);
}

TEST_F(HpcgProgram, TakesBoxesAndTheSeparateResidual) {
  const auto result = run("hpcg --grid 16x32x24 --seconds 0.01 --separate --report - --json r.json");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_TRUE(contains(result.out, "Local Domain Dimensions::ny=32\n")) << result.out;
  EXPECT_TRUE(contains(result.err, "residual by a whole product")) << "words go to standard error: " << result.err;
  const auto hpcg = json("r.json")["hpcg"];
  EXPECT_EQ(hpcg["separate"], true);
  EXPECT_EQ(hpcg["local_grid"], (std::vector<int>{16, 32, 24}));
  for (const auto& one : hpcg["optimizations"]) EXPECT_FALSE(contains(one["name"].get<std::string>(), "injected"));
}

TEST_F(HpcgProgram, RefusesSizesThatHpcgDoesNotTake) {
  const std::pair<const char*, const char*> cases[] = {
      {"20", "--grid: got 20x20x20; HPCG needs sides that are multiples of 8 and at least 16"},
      {"8", "--grid: got 8x8x8; HPCG needs sides that are multiples of 8 and at least 16"},
      {"16x16x8", "--grid: got 16x16x8; HPCG needs"},
      {"32x16", "--grid: got 32x16x1; HPCG needs"},
      {"16x16x136", "--grid: the grid of points of a process is 16x16x136, flatter than 1:8"},
      {"0", "--grid"},
      {"16x", "--grid"},
      {"-16", "--grid"},
      {"large", "--grid"},
  };
  for (const auto& [grid, sentence] : cases) {
    const auto result = run(fmt::format("hpcg --grid={} --seconds 0.01 --report r.txt", grid));
    EXPECT_EQ(result.status, 2) << grid;
    EXPECT_TRUE(contains(result.err, sentence)) << grid << ": " << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(std::filesystem::exists(file("r.txt"))) << grid;
  }
}

TEST_F(HpcgProgram, RefusesWhatWillNotFit) {
  if (sanitized()) GTEST_SKIP() << "sanitizers reserve all addresses";
  const auto result = run("hpcg --grid 8000");
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_TRUE(contains(result.err, "HPCG on 8000x8000x8000 needs")) << result.err;
}

TEST_F(HpcgProgram, OnAGpuOthersThanTheExactSmootherAreRefused) {
  const auto result = run("hpcg --grid 16 --seconds 0.01 --backend cuda --smoother multicolour");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "--smoother multicolour runs on the host only; got --backend cuda")) << result.err;
}

TEST_F(HpcgProgram, CudaWithoutADeviceIsThreeWithTheReason) {
  const auto result = run("hpcg --grid 16 --seconds 0.01 --backend cuda --json r.json");
  if (result.status == 0) {
    EXPECT_EQ(json("r.json")["backend"]["kind"], "cuda");
    EXPECT_TRUE(contains(result.out, "smoother exact on ")) << result.out;
    return;
  }
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(contains(result.err, "CUDA")) << result.err;
  EXPECT_EQ(run("hpcg --grid 20 --backend cuda").status, 2) << "a bad grid is said first";
  EXPECT_EQ(run("hpcg --grid 16 --backend gpu").status, 2);
}

TEST_F(HpcgProgram, RefusesOptionsThatMeanNothing) {
  for (const char* line : {"hpcg --seconds 0", "hpcg --seconds -1", "hpcg --seconds nan", "hpcg --threads -1",
                           "hpcg --smoother chebyshev", "hpcg --report nowhere/r.txt --grid 16", "hpcg extra"}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 2) << line << result.err;
    EXPECT_TRUE(contains(result.err, "echelon: ")) << line;
  }
}

TEST_F(HpcgProgram, ASignalEndsItInOrder) {
  const std::string line =
      ECHELON_PROGRAM " hpcg --grid 32 --seconds 60 --threads 2 --report r.txt --json r.json >.out 2>.err";
  const int raw = std::system(
      fmt::format("cd {} && ( {} & child=$!; sleep 2; kill -TERM $child; wait $child )", folder_.string(), line).c_str());
  EXPECT_EQ(WEXITSTATUS(raw), 130) << text(".err");
  EXPECT_TRUE(contains(text(".out"), "there is no rating")) << text(".out") << text(".err");
  EXPECT_FALSE(std::filesystem::exists(file("r.txt"))) << "no report of half a run";
  const auto hpcg = json("r.json")["hpcg"];
  EXPECT_EQ(hpcg["valid"], false);
  EXPECT_EQ(hpcg["completed"], false);
  EXPECT_TRUE(hpcg["rating_gflops"].is_null());
}

TEST_F(HpcgProgram, MoreThreadsThanCoresAreNeverStuck) {
  const auto result = run("hpcg --grid 16 --seconds 0.01 --threads 7 -q");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace echelon::test
