// SPDX-License-Identifier: BSD-3-Clause
// `echelon hpcg` under mpirun: one report of all ranks, sizes and smoothers it refuses, and signals. Runs are far too short
// to be official.
#include <fmt/format.h>

#include "tests/cli/launched_program.hpp"

namespace echelon::test {
namespace {

class HpcgUnderMpi : public LaunchedProgram {};

TEST_F(HpcgUnderMpi, IsValidOnTwoAndFourRanks) {
  for (const int ranks : {2, 4}) {
    const auto result = launch(program(ranks, "hpcg --grid 16 --seconds 0.01 --threads 1 --report r.txt --json r.json"));
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_TRUE(contains(result.out, fmt::format("{} processes with 1 thread", ranks))) << result.out;
    EXPECT_EQ(result.out.find("HPCG result is VALID"), result.out.rfind("HPCG result is VALID")) << "one rank speaks";
    const std::string report = text("r.txt");
    EXPECT_TRUE(contains(report, fmt::format("Machine Summary::Distributed Processes={}\n", ranks))) << report;
    EXPECT_TRUE(contains(report, "Processor Dimensions::npx=2\n")) << report;
    EXPECT_TRUE(contains(report, "DDOT Timing Variations::Max DDOT MPI_Allreduce time=")) << report;
    const auto hpcg = json("r.json")["hpcg"];
    EXPECT_EQ(hpcg["processes"], ranks);
    EXPECT_EQ(hpcg["process_grid"], (ranks == 2 ? std::vector<int>{2, 1, 1} : std::vector<int>{2, 2, 1}));
    EXPECT_EQ(hpcg["equations"], 4096 * ranks);
    EXPECT_EQ(hpcg["testcg_unpreconditioned"], 11);
    EXPECT_LE(hpcg["testcg_preconditioned"].get<int>(), 2);
    EXPECT_EQ(hpcg["valid"], true);
  }
}

TEST_F(HpcgUnderMpi, RefusesWithOneSentence) {
  const std::pair<const char*, const char*> cases[] = {
      {"hpcg --grid 20", "echelon: --grid: got 20x20x20; HPCG needs sides that are multiples of 8 and at least 16\n"},
      {"hpcg --grid 16 --smoother dbsr", "echelon: --smoother dbsr is for one process; got 2\n"},
      {"hpcg --grid 16 --backend cuda", "echelon: --backend cuda is for one process; got 2\n"},
      {"hpcg --grid 16 --seconds 0.01 --report nowhere/r.txt", "nowhere/r.txt: could not create"},
  };
  for (const auto& [line, sentence] : cases) {
    const auto result = launch(program(2, line));
    EXPECT_EQ(result.status, 2) << line << result.err;
    EXPECT_TRUE(contains(result.err, sentence)) << line << ": " << result.err;
    EXPECT_EQ(result.err.find("echelon: "), result.err.rfind("echelon: ")) << result.err;
  }
}

TEST_F(HpcgUnderMpi, RefusesAFlatGridOfProcesses) {
  // 11 processes are 11x1x1.
  const auto result = launch(program(11, "hpcg --grid 16"));
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_TRUE(contains(result.err, "the grid of 11 processes is 11x1x1, flatter than 1:8")) << result.err;
}

TEST_F(HpcgUnderMpi, ASignalEndsAllRanks) {
  const auto result =
      launch(program(2, "hpcg --grid 16 --seconds 60 --threads 1 --report r.txt --json r.json"), "timeout -k 20 -s INT 6");
  EXPECT_NE(result.status, 137) << "had to be killed";
  EXPECT_FALSE(std::filesystem::exists(file("r.txt")));
  // On a busy machine the signal may come before there is anything to report.
  if (!std::filesystem::exists(file("r.json"))) return;
  const auto hpcg = json("r.json")["hpcg"];
  EXPECT_EQ(hpcg["completed"], false);
  EXPECT_EQ(hpcg["valid"], false);
}

}  // namespace
}  // namespace echelon::test
