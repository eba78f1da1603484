// SPDX-License-Identifier: BSD-3-Clause
// Threads as the environment has them: they cannot be created, fewer are allowed than asked for, other processes want the
// processors. The answer is the same bits, the report says how many there were, and the run time never ends the program.
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class Threads : public Program {
 protected:
  static constexpr const char* line = "solve --problem convdiff --grid 40 --solver gmres --pc ilu --threads 4 --json r.json";

  /// The solve of `line`, its report read, after `before`.
  nlohmann::json report_of(const std::string& before) const {
    std::filesystem::remove(file("r.json"));
    const auto result = run(line, before);
    EXPECT_EQ(result.status, 0) << before << '\n' << result.out << result.err;
    return result.status == 0 ? json("r.json") : nlohmann::json();
  }
  static bool says_fewer(const nlohmann::json& report) {
    for (const auto& remark : report["remarks"]) {
      if (contains(remark.get<std::string>(), "threads asked for could be created")) return true;
    }
    return false;
  }
};

/// Stacks of a gigabyte: three of them do not fit, and what the solve needs does.
TEST_F(Threads, AnAddressSpaceWithoutRoomForTheirStacksMeansFewer) {
  if (sanitized()) GTEST_SKIP() << "the sanitizer's shadow needs more address space than any limit leaves";
  const auto usual = report_of("");
  EXPECT_EQ(usual["backend"]["threads"], 4);
  EXPECT_FALSE(says_fewer(usual));
  const auto limited = report_of("ulimit -v 3000000; export OMP_STACKSIZE=1G;");
  ASSERT_TRUE(limited.contains("backend"));
  EXPECT_LT(limited["backend"]["threads"].get<int>(), 4);
  EXPECT_TRUE(says_fewer(limited)) << limited["remarks"];
  EXPECT_EQ(limited["solution_hash"], usual["solution_hash"]);
}

/// Every limit from too little for anything to enough for all: 0, 3 or what a matrix too large is, never the run time's 1.
TEST_F(Threads, NoLimitOfTheAddressSpaceEndsInTheRunTime) {
  if (sanitized()) GTEST_SKIP() << "the sanitizer's shadow needs more address space than any limit leaves";
  int solved = 0, refused = 0;
  // The system ends what it cannot even load, kernels for GPUs among it, by a signal of its own.
  const int program = static_cast<int>(std::filesystem::file_size(ECHELON_PROGRAM) >> 20);
  for (int megabytes = program + 30; megabytes <= program + 400; megabytes += 20) {
    const auto result = run(line, "ulimit -v " + std::to_string(megabytes * 1000) + ";");
    if (result.status == 127) continue;  // the loader had not enough
    EXPECT_TRUE(result.status == 0 || result.status == 3) << megabytes << " MB: " << result.status << '\n' << result.err;
    EXPECT_FALSE(contains(result.err, "libgomp")) << megabytes << " MB: " << result.err;
    solved += result.status == 0;
    refused += result.status == 3;
  }
  EXPECT_GT(solved, 0);
  RecordProperty("solved", solved);
  RecordProperty("refused", refused);
}

/// Each method on two threads, memory ending in one of them: an exception that leaves a parallel region ends the process.
TEST_F(Threads, NoMethodEndsInTheRunTimeWhereMemoryEnds) {
  if (sanitized()) GTEST_SKIP() << "the sanitizer's shadow needs more address space than any limit leaves";
  const int program = static_cast<int>(std::filesystem::file_size(ECHELON_PROGRAM) >> 20);
  for (int megabytes = program + 30; megabytes <= program + 54; megabytes += 3) {
    const auto result = run("selftest --threads 2", "ulimit -v " + std::to_string(megabytes * 1000) + ";");
    if (result.status == 127) continue;  // the loader had not enough
    EXPECT_TRUE(result.status == 0 || result.status == 3) << megabytes << " MB: " << result.status << '\n' << result.err;
  }
}

TEST_F(Threads, AsManyAsAUserMayHaveProcesses) {
  if (sanitized()) GTEST_SKIP() << "sanitizers have threads of their own";
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become a user without processes of its own";
  // No limit binds root, and the folder is root's: the report goes to standard output.
  const auto as_nobody = [&](int processes) {
    const std::string out = file("out");
    const std::string command = "prlimit --nproc=" + std::to_string(processes) +
                                " setpriv --reuid=65534 --regid=65534 --clear-groups " ECHELON_PROGRAM
                                " solve --problem convdiff --grid 40 --solver gmres --pc ilu --threads 4 --json - > " +
                                out + " 2>" + file("err") + " </dev/null";
    const int raw = std::system(command.c_str());
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : -WTERMSIG(raw);
  };
  if (as_nobody(1000) != 0) GTEST_SKIP() << "user 65534 cannot run the program here: " << text("err");
  EXPECT_EQ(json("out")["backend"]["threads"], 4);
  const auto hash = json("out")["solution_hash"];
  for (const int processes : {1, 2, 3}) {
    ASSERT_EQ(as_nobody(processes), 0) << processes << " processes: " << text("err");
    const auto report = json("out");
    EXPECT_EQ(report["backend"]["threads"], processes);
    EXPECT_TRUE(says_fewer(report)) << report["remarks"];
    EXPECT_EQ(report["solution_hash"], hash);
  }
}

/// Schedules for four threads must not wait for threads that do not come.
TEST_F(Threads, TheRunTimesOwnLimitsHold) {
  for (const char* schedule : {"", " --ordering rcm --schedule levels", " --ordering rcm --schedule point-to-point"}) {
    const std::string solve = std::string(line) + schedule;
    ASSERT_EQ(run(solve).status, 0) << schedule;
    const auto usual = json("r.json")["solution_hash"];
    for (const char* before :
         {"export OMP_THREAD_LIMIT=1;", "export OMP_THREAD_LIMIT=2;", "export OMP_THREAD_LIMIT=3;",
          "export OMP_DYNAMIC=true;", "export OMP_MAX_ACTIVE_LEVELS=0;", "export OMP_WAIT_POLICY=passive;",
          "export OMP_WAIT_POLICY=active;", "export GOMP_SPINCOUNT=0;"}) {
      const auto result = run(solve, before);
      EXPECT_EQ(result.status, 0) << before << schedule << '\n' << result.err;
      if (result.status == 0) {
        EXPECT_EQ(json("r.json")["solution_hash"], usual) << before << schedule;
      }
    }
  }
}

/// The run time says itself what it read; what the caller says about waiting holds.
TEST_F(Threads, WaitingThreadsSpinShortlyUnlessTheCallerSaysOtherwise) {
  if (sanitized()) GTEST_SKIP() << "of GNU's run time; the sanitizers' builds have another";
  struct Case {
    const char *before, *spins;
  };
  for (const Case& one :
       {Case{"unset OMP_WAIT_POLICY GOMP_SPINCOUNT;", "1000"}, Case{"export OMP_WAIT_POLICY=active;", "30000000000"},
        Case{"export OMP_WAIT_POLICY=passive;", "0"}, Case{"unset OMP_WAIT_POLICY; export GOMP_SPINCOUNT=77;", "77"}}) {
    const auto result = run("--version", std::string(one.before) + " export OMP_DISPLAY_ENV=verbose;");
    EXPECT_EQ(result.status, 0) << one.before;
    EXPECT_TRUE(contains(result.err, std::string("GOMP_SPINCOUNT = '") + one.spins + "'")) << one.before << result.err;
  }
}

/// Processes that want the processors and never stop.
class BusyLoops {
 public:
  explicit BusyLoops(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        std::atomic<unsigned long> turns{0};
        while (true) turns.fetch_add(1, std::memory_order_relaxed);
      }
      children_.push_back(child);
    }
  }
  ~BusyLoops() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_;
};

/// 5,005 rows beside two busy loops a processor took two threads 40 to 200 times as long as one, since they spun. Bounds are
/// generous: other tests run on this machine.
TEST_F(Threads, ASmallSystemOnABusyMachineTakesTwoThreadsNoLongerThanAFewTimesOne) {
  if (sanitized()) GTEST_SKIP() << "compares times";
  const auto seconds = [&](int threads) {
    double least = 1e9;
    for (int turn = 0; turn < 3; ++turn) {
      const auto start = std::chrono::steady_clock::now();
      EXPECT_EQ(run("solve --problem convdiff --grid 35x11x13 --solver gmres --pc ilu --threads " + std::to_string(threads))
                    .status,
                0);
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return least;
  };
  // On two processors, whatever there are, so that the loops are in the way.
  cpu_set_t before, two;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  if (CPU_COUNT(&before) < 2 || !CPU_ISSET(0, &before) || !CPU_ISSET(1, &before)) GTEST_SKIP() << "needs processors 0 and 1";
  CPU_ZERO(&two);
  CPU_SET(0, &two);
  CPU_SET(1, &two);
  ASSERT_EQ(sched_setaffinity(0, sizeof two, &two), 0);
  double one = 0, both = 0;
  {
    const BusyLoops others(4);
    one = seconds(1);
    both = seconds(2);
  }
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_LT(both, 5 * one + 1) << "one thread took " << one << " s";
}

}  // namespace
}  // namespace echelon::test
