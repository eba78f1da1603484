// SPDX-License-Identifier: BSD-3-Clause
// Time limits and signals in every phase of a solve: while a file is waited for, while a system is assembled, in set-ups and
// in iterations. Times are bounds that only a lost promise passes: the whole set-ups here take minutes.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "echelon/io/matrix_market.hpp"
#include "tests/cli/program.hpp"
#include "tests/reference/arrow_matrix.hpp"

namespace echelon::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Limits : public Program {
 protected:
  static constexpr std::int32_t rows = 6000;
  /// With one level of fill complete, n³/3 operations.
  void write_arrow() const { write_matrix_market(file("A.mtx"), arrow_matrix(rows, 0.05, 3)); }

  /// Starts the program by a shell in the folder.
  pid_t start(const std::string& line, const std::string& before = "") const {
    std::filesystem::remove(file("live"));
    const std::string command =
        "cd " + folder_.string() + " && " + before + " exec " ECHELON_PROGRAM " " + line + " >live 2>&1 </dev/null";
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
      _exit(98);
    }
    return child;
  }
  void wait_for_text(const std::string& part) const {
    for (int look = 0; look < 1200 && !contains(text("live"), part); ++look) std::this_thread::sleep_for(50ms);
  }
  /// What is printed waits in a buffer; that the fill has begun shows in what the program holds.
  static void wait_for_memory(pid_t child) {
    constexpr std::int64_t pages = (std::int64_t{100} << 20) / 4096;
    for (int look = 0; look < 1200; ++look) {
      std::int64_t all = 0, resident = 0;
      std::ifstream("/proc/" + std::to_string(child) + "/statm") >> all >> resident;
      if (resident > pages) return;
      std::this_thread::sleep_for(20ms);
    }
  }
  static int status_of(pid_t child) {
    int raw = 0;
    waitpid(child, &raw, 0);
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : -WTERMSIG(raw);
  }
};

constexpr const char* long_setup = "solve --matrix A.mtx --pc ilu --fill 1 -v --json r.json --solution x.mtx";

TEST_F(Limits, ATimeLimitEndsASetUpAndEverythingIsWritten) {
  write_arrow();
  const auto begin = Clock::now();
  const auto result = run(std::string(long_setup) + " --time-limit 2");
  EXPECT_LT(since(begin), 30) << "of some two hundred seconds";
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  const auto report = json("r.json");
  EXPECT_EQ(report["reason"], "time_limit");
  EXPECT_EQ(report["converged"], false);
  EXPECT_EQ(report["iterations"], 0);
  EXPECT_EQ(report["relative_residual"], 1.0);
  EXPECT_EQ(report["choice"]["attempts"][0]["outcome"], "time_limit");
  EXPECT_TRUE(contains(report["message"].get<std::string>(), "was set up, before the first iteration"));
  const auto x = read_vector(file("x.mtx"));
  ASSERT_EQ(x.size(), rows);
  for (const double value : x) ASSERT_EQ(value, 0);
}

TEST_F(Limits, ASetUpObeysTheFirstSignalAndSaves) {
  write_arrow();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) {
    std::filesystem::remove(file("x.mtx"));
    std::filesystem::remove(file("r.json"));
    const pid_t child = start(long_setup);
    wait_for_memory(child);
    const auto begin = Clock::now();
    kill(child, signal);
    // SIGXCPU comes again and again.
    if (signal == SIGXCPU) std::this_thread::sleep_for(10ms), kill(child, signal);
    EXPECT_EQ(status_of(child), 130) << signal << text("live");
    EXPECT_LT(since(begin), 10) << signal;
    EXPECT_EQ(json("r.json")["reason"], "interrupted") << signal;
    EXPECT_EQ(read_vector(file("x.mtx")).size(), rows) << signal;
  }
}

TEST_F(Limits, AutoSkipsFillThatWouldTakeMinutes) {
  write_arrow();
  const auto begin = Clock::now();
  const auto result = run("solve --matrix A.mtx --pc auto --fill 1 --max-it 400 --json r.json");
  EXPECT_LT(since(begin), 120) << "it took minutes a rung";
  EXPECT_TRUE(result.status == 0 || result.status == 1) << result.err;
  int skipped = 0;
  const auto report = json("r.json");
  for (const auto& attempt : report["choice"]["attempts"]) skipped += attempt["outcome"] == "skipped";
  EXPECT_GE(skipped, 1) << result.out;
  EXPECT_TRUE(contains(result.out, "skipped: ILU(1) would take more than")) << result.out;
}

TEST_F(Limits, ALimitBeforeThereIsASystemWritesTheReport) {
  ASSERT_EQ(mkfifo(file("A.mtx").c_str(), 0600), 0);
  const auto begin = Clock::now();
  const auto result = run("solve --matrix A.mtx --solution x.mtx --json r.json --time-limit 0.5");
  EXPECT_LT(since(begin), 20);
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_TRUE(contains(result.err, "before the first iteration")) << result.err;
  const auto report = json("r.json");
  EXPECT_EQ(report["reason"], "time_limit");
  EXPECT_EQ(report["converged"], false);
  EXPECT_EQ(report["problem"]["name"], "A.mtx");
  EXPECT_TRUE(report["solver"].is_null());
  EXPECT_FALSE(std::filesystem::exists(file("x.mtx")));
}

TEST_F(Limits, ALimitShorterThanTheAssemblyWritesTheReportToo) {
  for (const char* line :
       {"solve --grid 64 --time-limit 1e-6 --json r.json", "solve --grid 64 --time-limit 1e-300 --json r.json"}) {
    std::filesystem::remove(file("r.json"));
    EXPECT_EQ(run(line).status, 1) << line;
    EXPECT_EQ(json("r.json")["reason"], "time_limit") << line;
  }
}

TEST_F(Limits, ALimitBeyondAllTimeIsNone) {
  for (const char* limit : {"1e300", "1e19", "1e9"}) {
    const auto result = run(std::string("solve --grid 8 --json r.json --time-limit ") + limit);
    EXPECT_EQ(result.status, 0) << limit << result.err;
    EXPECT_EQ(json("r.json")["converged"], true);
  }
}

TEST_F(Limits, ASignalBeforeThereIsASystemLeavesAtOnce) {
  ASSERT_EQ(mkfifo(file("A.mtx").c_str(), 0600), 0);
  for (const int signal : {SIGTERM, SIGHUP, SIGXCPU}) {
    const pid_t child = start("solve --matrix A.mtx --json r.json");
    std::this_thread::sleep_for(1s);
    kill(child, signal);
    EXPECT_EQ(status_of(child), 130) << signal;
    EXPECT_FALSE(std::filesystem::exists(file("r.json")));
  }
}

TEST_F(Limits, NohupIsRespected) {
  const pid_t child = start(
      "solve --grid 64 --solver gmres --pc none --rtol 1e-15 --max-it 100000000 --restart 5 -v --json r.json --time-limit 4",
      "trap '' HUP;");
  wait_for_text("trying");
  kill(child, SIGHUP);
  EXPECT_EQ(status_of(child), 1);
  EXPECT_EQ(json("r.json")["reason"], "time_limit");
}

}  // namespace
}  // namespace echelon::test
