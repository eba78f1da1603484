// SPDX-License-Identifier: BSD-3-Clause
// `echelon hpcg` under mpirun: one report of all ranks, sizes and smoothers it refuses, and signals. Runs are far too short
// to be official.
#include <fmt/format.h>

#include "tests/cli/launched_program.hpp"

namespace echelon::test {
namespace {

class HpcgUnderMpi : public LaunchedProgram {
 protected:
  static constexpr const char* long_run = "hpcg --grid 16 --seconds 60 --threads 1 --report r.txt --json r.json";
  void expect_ended_early() const {
    EXPECT_FALSE(std::filesystem::exists(file("r.txt")));
    // On a busy machine the signal may come before there is anything to report.
    if (!std::filesystem::exists(file("r.json"))) return;
    const auto hpcg = json("r.json")["hpcg"];
    EXPECT_EQ(hpcg["completed"], false);
    EXPECT_EQ(hpcg["valid"], false);
  }
};

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

/// As at a terminal: the launcher gets the signal, ends its ranks, and says 1 whatever they say.
TEST_F(HpcgUnderMpi, CtrlCEndsTheRanksWith130) {
  // The shell stays, and keeps the rank's status.
  const auto rank = fmt::format("-n 2 sh -c 'trap \"\" TERM; {} {}; echo $? > status.$OMPI_COMM_WORLD_RANK'",
                                ECHELON_PROGRAM, long_run);
  const auto result = launch(rank, "env OMPI_MCA_odls_base_sigkill_timeout=3 timeout --foreground --preserve-status -k 30 -s INT 6");
  EXPECT_EQ(result.status, 1) << result.err;
  // When the first has ended, the launcher kills what is left, that shell too.
  const std::string statuses = text("status.0") + text("status.1");
  EXPECT_TRUE(statuses == "130\n" || statuses == "130\n130\n") << statuses << result.err;
  expect_ended_early();
}

TEST_F(HpcgUnderMpi, ASignalToOneRankEndsAllAndTheLauncherSays130) {
  const auto plain = fmt::format("{} {}", ECHELON_PROGRAM, long_run);
  const auto result = launch(fmt::format("-n 1 {} : -n 1 sh -c '(sleep 4; kill -INT $$) & exec {}'", plain, plain));
  EXPECT_EQ(result.status, 130) << result.err;
  expect_ended_early();
}

}  // namespace
}  // namespace echelon::test
