// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong around a solve: files, disks and signals.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "echelon/io/matrix_market.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class Trouble : public Program {
 protected:
  /// Starts a solve that takes many seconds, sends `signals` once it iterates, and returns its status.
  int interrupt(int signal, int times, double* seconds = nullptr) const {
    const std::string out = file("live");
    std::filesystem::remove(out);
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder_.c_str()) != 0) _exit(99);
      const int descriptor = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(descriptor, 1);
      dup2(descriptor, 2);
      execl(ECHELON_PROGRAM, "echelon", "solve", "--grid", "80", "-v", "--solver", "gmres", "--pc", "none", "--rtol",
            "1e-15", "--max-it", "100000000", "--restart", "5", "--solution", "x.mtx", "--json", "r.json",
            static_cast<char*>(nullptr));
      _exit(98);
    }
    using namespace std::chrono_literals;
    // It prints every iteration: a fixed sleep would be too long for a fast machine and too short for a slow one.
    constexpr std::uintmax_t some_iterations = 1000;
    for (int look = 0; look < 1200; ++look) {
      std::error_code none;
      const auto printed = std::filesystem::file_size(out, none);
      if (!none && printed > some_iterations) break;
      std::this_thread::sleep_for(50ms);
    }
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) kill(child, signal);
    int raw = 0;
    waitpid(child, &raw, 0);
    if (seconds) *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : -WTERMSIG(raw);
  }
};

TEST_F(Trouble, CtrlCWritesTheBestIterateAndTheReport) {
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EQ(interrupt(signal, 1), 130);
    const auto report = json("r.json");
    EXPECT_EQ(report["reason"], "interrupted");
    EXPECT_EQ(report["converged"], false);
    EXPECT_LE(report["relative_residual"].get<double>(), 1.0);
    const auto x = read_vector(file("x.mtx"));
    ASSERT_EQ(x.size(), 80 * 80 * 80);
    for (const double value : x) ASSERT_TRUE(std::isfinite(value));
    std::filesystem::remove(file("x.mtx"));
  }
}

TEST_F(Trouble, TheSecondCtrlCLeavesAtOnce) {
  double seconds = 0;
  EXPECT_EQ(interrupt(SIGINT, 50, &seconds), 130);
  EXPECT_LT(seconds, 5);
}

TEST_F(Trouble, CtrlCBeforeTheFirstIterationLeavesAtOnce) {
  // Nothing to save yet: reading from a pipe that nobody fills must not outlive a signal.
  ASSERT_EQ(mkfifo(file("A.mtx").c_str(), 0600), 0);
  const auto result = run("solve --matrix A.mtx & child=$!; sleep 1; kill -TERM $child; wait $child");
  EXPECT_EQ(result.status, 130);
}

TEST_F(Trouble, AnOutputNeverReplacesAnInput) {
  write("A.mtx", small_matrix);
  for (const char* line : {"--solution A.mtx", "--json A.mtx", "--solution ./A.mtx", "--json ./A.mtx", "--plot A.mtx",
                           "--json=A.mtx", "--solution=A.mtx", "--json=./A.mtx --bogus"}) {
    const auto result = run(std::string("solve --matrix A.mtx ") + line);
    EXPECT_EQ(result.status, 2) << line;
    EXPECT_TRUE(contains(result.err, "same file") || contains(result.err, "--bogus")) << result.err;
    EXPECT_EQ(text("A.mtx"), small_matrix) << line;
  }
  EXPECT_EQ(run("solve --grid 4 --solution x --json x").status, 2);
  EXPECT_EQ(run("solve --grid 4 --solution /dev/null --json /dev/null").status, 0);
}

TEST_F(Trouble, AFullDiskIsTwoAndTheOldFileStays) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto result = run("solve --grid 8 --solution /dev/full --json r.json");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "/dev/full")) << result.err;
  EXPECT_EQ(json("r.json")["output_errors"][0]["file"], "/dev/full");
  EXPECT_EQ(json("r.json")["converged"], true) << "the solve is what it was";
}

TEST_F(Trouble, AnUnwritableFolderIsTwo) {
  for (const char* option : {"--solution", "--json", "--history", "--plot"}) {
    const auto result = run(std::string("solve --grid 4 ") + option + " nowhere/file");
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_TRUE(contains(result.err, "nowhere/file")) << result.err;
    EXPECT_EQ(result.out, "") << "before anything is computed";
  }
}

TEST_F(Trouble, AFileSizeLimitLeavesTheOldFile) {
  write("x.mtx", "precious");
  const auto result = run("solve --grid 32 --solution x.mtx", "ulimit -f 8;");
  EXPECT_EQ(result.status, 2) << result.out << result.err;
  EXPECT_EQ(text("x.mtx"), "precious");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) files += entry.path().filename().string()[0] != '.';
  EXPECT_EQ(files, 1) << "no temporary file stays behind";
}

TEST_F(Trouble, AMissingFileIsNamed) {
  for (const char* line : {"solve --matrix nothere.mtx", "check nothere.mtx", "solve --grid 4 --rhs nothere.mtx"}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 2) << line;
    EXPECT_TRUE(contains(result.err, "nothere.mtx")) << result.err;
  }
}

TEST_F(Trouble, ABrokenFileIsNamedByLine) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 x 5\n");
  const auto result = run("solve --matrix A.mtx --json r.json");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "A.mtx:4:")) << result.err;
  EXPECT_TRUE(contains(json("r.json")["error"]["where"].get<std::string>(), "A.mtx:4:"));
}

TEST_F(Trouble, NanIsRefusedByItsEntryAndAllowedForStudy) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n2 2 5\n1 2 nan\n");
  const auto refused = run("solve --matrix A.mtx --json r.json");
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(json("r.json")["error"]["code"], "nonfinite_value");
  const auto studied = run("solve --matrix A.mtx --allow-nonfinite --solution x.mtx --json s.json");
  EXPECT_EQ(studied.status, 1) << studied.out << studied.err;
  EXPECT_EQ(json("s.json")["converged"], false);
  for (const double value : read_vector(file("x.mtx"))) EXPECT_TRUE(std::isfinite(value));
}

TEST_F(Trouble, StructurallySingularFilesAreRefusedByRow) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 4\n2 2 5\n3 2 1\n");
  const auto result = run("solve --matrix A.mtx --json r.json");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "row 3 cannot be matched")) << result.err;
  EXPECT_EQ(json("r.json")["error"]["code"], "structure");
}

TEST_F(Trouble, ShapesThatDoNotFitAreBothNamed) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 4\n");
  const auto rectangular = run("solve --matrix A.mtx");
  EXPECT_EQ(rectangular.status, 2);
  EXPECT_TRUE(contains(rectangular.err, "2 x 3")) << rectangular.err;
  write("B.mtx", small_matrix);
  write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n");
  const auto long_rhs = run("solve --matrix B.mtx --rhs b.mtx");
  EXPECT_EQ(long_rhs.status, 2);
  EXPECT_TRUE(contains(long_rhs.err, "3 entries") && contains(long_rhs.err, "2 rows")) << long_rhs.err;
  EXPECT_EQ(run("solve --matrix B.mtx --block 3").status, 2);
}

TEST_F(Trouble, IcOfAnUnsymmetricMatrixIsRefused) {
  const auto result = run("solve --problem convdiff --grid 6 --pc ic");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "symmetric")) << result.err;
}

}  // namespace
}  // namespace echelon::test
