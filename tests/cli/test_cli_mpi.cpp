// SPDX-License-Identifier: BSD-3-Clause
// Under mpirun: the library's messages over MPI (mpi_worker.cpp) with 2, 3 and 4 ranks, and the program's sentences and exit
// statuses.
#include <algorithm>

#include "tests/cli/launched_program.hpp"

namespace echelon::test {
namespace {

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

class Mpi : public LaunchedProgram {
 protected:
  static std::string worker(int ranks, const std::string& name) {
    return "-n " + std::to_string(ranks) + " " ECHELON_BINARY_DIR "/tests/mpi_worker " + name;
  }
  void expect_good(int ranks, const std::string& name) const {
    const auto result = launch(worker(ranks, name));
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, name + " on " + std::to_string(ranks) + ": good\n") << result.err;
  }
};

TEST_F(Mpi, CallsOfAllRanks) {
  for (int ranks : {2, 3, 4}) expect_good(ranks, "calls");
}

TEST_F(Mpi, Halos) {
  for (int ranks : {2, 3, 4}) expect_good(ranks, "halos");
}

TEST_F(Mpi, RanksGoOnAfterFailures) { expect_good(3, "failures"); }

TEST_F(Mpi, AProgramWithItsOwnMpi) { expect_good(2, "own"); }

TEST_F(Mpi, ARankThatThrowsEndsAllWithItsSentence) {
  const auto result = launch(worker(3, "throws"));
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_EQ(count_of(result.err, "worker: "), 1) << result.err;
  EXPECT_TRUE(contains(result.err, "worker: too much for me (rank 2 of 3)\n")) << result.err;
}

TEST_F(Mpi, DifferentLinesAreRefused) {
  const auto result = launch(worker(1, "calls") + " : " + worker(1, "halos"));
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_EQ(count_of(result.err, "worker: "), 1) << result.err;
  EXPECT_TRUE(contains(result.err, "rank 1 was given another command line than rank 0")) << result.err;
}

TEST_F(Mpi, ASignalToOneRankEndsAll) {
  const auto result = launch(worker(3, "ended"));
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_LE(count_of(result.err, "echelon: interrupted"), 1) << result.err;
}

TEST_F(Mpi, CtrlCEndsAll) {
  const auto result = launch(worker(2, "waits"), "timeout --foreground --preserve-status -s INT -k 20 3");
  EXPECT_EQ(result.status, 1) << "the launcher's own word: " << result.err;
  // mpirun ends its ranks and what it forwards of their words at the same time: the sentence may be lost.
  EXPECT_LE(count_of(result.err, "echelon: interrupted"), 1) << result.err;
}

TEST_F(Mpi, CommandsThatKnowNoRanksRefuseSeveral) {
  const auto result = launch(program(2, "solve --grid 4 --json report.json"));
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(count_of(result.err, "echelon: "), 1) << result.err;
  EXPECT_TRUE(contains(result.err, "echelon: solve runs as one process, and the launcher started 2")) << result.err;
  EXPECT_TRUE(contains(json("report.json").at("error").at("message"), "runs as one process"));
  const auto mistyped = launch(program(2, "slove"));
  EXPECT_EQ(mistyped.status, 2);
  EXPECT_EQ(count_of(mistyped.err, "did you mean solve?"), 1) << mistyped.err;
}

TEST_F(Mpi, RankZeroAlonePrints) {
  const auto result = launch(program(2, "--version"));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count_of(result.out, "echelon "), 1) << result.out;
}

TEST_F(Mpi, OneProcessRunsAsAlways) {
  const auto result = launch(program(1, "solve --grid 4"));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "converged")) << result.out;
}

TEST_F(Mpi, InfoSaysThatItIsThere) {
  const auto result = run("info --json info.json");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.out, "libechelon_mpi.so is there"));
  EXPECT_EQ(json("info.json").at("mpi_built"), true);
}

/// Without mpirun: what the launcher would have said in the environment.
class WithoutMpi : public Program {
 protected:
  /// The program alone in a folder.
  Outcome run_lonely(const std::string& variables, const std::string& line) const {
    std::filesystem::copy_file(ECHELON_PROGRAM, file("echelon"), std::filesystem::copy_options::overwrite_existing);
    const int raw = std::system(("cd " + folder_.string() + " && env " + variables + " ./echelon " + line + " >" +
                                 file(".out") + " 2>" + file(".err") + " </dev/null")
                                    .c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -WTERMSIG(raw), text(".out"), text(".err")};
  }
};

TEST_F(WithoutMpi, SeveralProcessesAreRefusedByRankZero) {
  for (const char* variables : {"OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0", "PMI_RANK=0 PMI_SIZE=4"}) {
    const auto result = run_lonely(variables, "solve --grid 4");
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(contains(result.err, "as one of 4 processes")) << result.err;
    EXPECT_TRUE(contains(result.err, "it has no MPI")) << result.err;
  }
  const auto unsaid = run_lonely("PMIX_RANK=0", "solve --grid 4");
  EXPECT_EQ(unsaid.status, 2);
  EXPECT_TRUE(contains(unsaid.err, "one of several processes (PMIX_RANK is set)")) << unsaid.err;
  const auto other = run_lonely("PMI_RANK=1 PMI_SIZE=4", "solve --grid 4");
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(other.out + other.err, "");
}

TEST_F(WithoutMpi, OneProcessRuns) {
  for (const char* variables :
       {"A=1", "OMPI_COMM_WORLD_SIZE=1", "PMI_RANK=0 PMI_SIZE=1", "PMIX_RANK=0 SLURM_STEP_NUM_TASKS=1"}) {
    EXPECT_EQ(run_lonely(variables, "solve --grid 4").status, 0) << variables;
  }
}

TEST_F(WithoutMpi, InfoSaysSo) {
  const auto result = run_lonely("A=1", "info --json info.json");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.out, "MPI      not in this build")) << result.out;
  EXPECT_EQ(json("info.json").at("mpi_built"), false);
}

TEST_F(WithoutMpi, AModuleThatCannotBeLoadedIsASentence) {
  write("libechelon_mpi.so", "no library");
  const auto result = run_lonely("PMI_RANK=0 PMI_SIZE=2", "solve --grid 4");
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(contains(result.err, "echelon: MPI cannot be loaded: ")) << result.err;
}

}  // namespace
}  // namespace echelon::test
