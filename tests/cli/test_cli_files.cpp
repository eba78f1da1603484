// SPDX-License-Identifier: BSD-3-Clause
// Files are sacred: no line, however it is spelled, ordered or broken, writes over a file that it names as something else.
#include <fmt/format.h>

#include <set>
#include <vector>

#include "cli/line/line_files.hpp"
#include "echelon/io/matrix_market.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

namespace fs = std::filesystem;

class Sacred : public Program {
 protected:
  void SetUp() override {
    write("k.mtx", small_matrix);
    fs::create_directories(folder_ / "sub");
    fs::create_symlink("k.mtx", folder_ / "soft");
    fs::create_hard_link(folder_ / "k.mtx", folder_ / "hard");
    before_ = names();
  }
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const auto name = entry.path().filename().string();
      if (name != ".out" && name != ".err") all.insert(name);
    }
    return all;
  }
  /// The line is refused with 2 and the folder is as it was.
  void expect_refused(const std::string& line, const std::string& says = "") {
    const auto result = run(line);
    EXPECT_EQ(result.status, 2) << line << "\n" << result.err;
    EXPECT_TRUE(contains(result.err, says)) << line << "\n" << result.err;
    EXPECT_EQ(text("k.mtx"), small_matrix) << line;
    EXPECT_EQ(text("hard"), small_matrix) << line;
    EXPECT_TRUE(fs::is_symlink(folder_ / "soft")) << line;
    EXPECT_EQ(names(), before_) << line;
    if (HasFailure()) SetUpAgain();
  }
  /// Every way of naming k.mtx.
  std::vector<std::string> ways() const { return {"k.mtx", "./k.mtx", "sub/../k.mtx", file("k.mtx"), "soft", "hard"}; }

 private:
  void SetUpAgain() {
    for (const auto& entry : fs::directory_iterator(folder_)) fs::remove_all(entry.path());
    SetUp();
  }
  std::set<std::string> before_;
};

TEST_F(Sacred, InEverySpellingAndOrderOfSolve) {
  for (const auto& way : ways()) {
    for (const char* input : {"--matrix k.mtx", "--matrix=k.mtx", "--rhs k.mtx", "--rhs=k.mtx"}) {
      for (const char* between : {" ", "="}) {
        const auto output = "--json" + (between + way);
        expect_refused(fmt::format("solve {} {}", input, output), "are the same file");
        expect_refused(fmt::format("solve {} {}", output, input), "are the same file");
      }
    }
    for (const char* output : {"--solution", "--history", "--plot"}) {
      expect_refused(fmt::format("solve --matrix k.mtx {}={}", output, way), "are the same file");
      expect_refused(fmt::format("solve {} {} --rhs=k.mtx --json r.json --json=k.mtx", output, way), "are the same file");
    }
  }
}

TEST_F(Sacred, WhenTheLineIsWhatIsWrong) {
  for (const auto& way : ways()) {
    for (const char* wrong : {"--bogus", "--pc nonsense", "extra", "--grid 0", "--max-it=x"}) {
      expect_refused(fmt::format("solve {} --matrix k.mtx --json={}", wrong, way));
      expect_refused(fmt::format("solve --json {} --rhs=k.mtx {}", way, wrong));
    }
    expect_refused(fmt::format("solve --matrx=k.mtx --json={}", way), "did you mean --matrix?");
    expect_refused(fmt::format("solve k.mtx --json {}", way), "a file is given as --matrix");
    expect_refused(fmt::format("solve --json {} -- k.mtx", way));
    expect_refused(fmt::format("solv --matrix=k.mtx --json {}", way), "did you mean solve?");
    expect_refused(fmt::format("check --bogus k.mtx --json {}", way));
  }
}

TEST_F(Sacred, WhenTheRunIsWhatGoesWrong) {
  // The error is met long after the line was found right.
  write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 x 5\n");
  const auto bad = text("bad.mtx");
  EXPECT_EQ(run("solve --matrix bad.mtx --json=./bad.mtx").status, 2);
  EXPECT_EQ(text("bad.mtx"), bad);
  EXPECT_EQ(run("solve --matrix bad.mtx --json r.json").status, 2);
  EXPECT_EQ(json("r.json")["error"]["code"], "file_format");
  write("notes.txt", "precious");
  EXPECT_EQ(run("solve --matrix bad.mtx --json notes.txt").status, 2);
  EXPECT_EQ(text("notes.txt"), "precious") << "an error's report replaces reports only";
  EXPECT_EQ(run("solve --pc nonsense --json r.json").status, 2);
  EXPECT_EQ(json("r.json")["error"]["code"], "bad_option");
}

TEST_F(Sacred, CheckKeepsItsMatrix) {
  for (const auto& way : ways()) {
    expect_refused(fmt::format("check k.mtx --json {}", way), "are the same file");
    expect_refused(fmt::format("check --json={} k.mtx", way), "are the same file");
    expect_refused(fmt::format("check -q --json={} -- k.mtx", way), "are the same file");
  }
}

TEST_F(Sacred, BenchKeepsTheReportItShows) {
  ASSERT_EQ(run("bench trisolve --small --json report.json").status, 0);
  fs::create_symlink("report.json", folder_ / "to_report");
  const auto report = text("report.json");
  for (const char* output : {"--plot", "--json", "--spy"}) {
    for (const char* way : {" report.json", "=./report.json", "=to_report"}) {
      const auto line = fmt::format("bench trisolve --from report.json {}{}", output, way);
      EXPECT_EQ(run(line).status, 2) << line;
      EXPECT_EQ(text("report.json"), report) << line;
      EXPECT_EQ(run("bench trisolve " + std::string(output) + way + " --from=report.json --only").status, 2);
      EXPECT_EQ(text("report.json"), report) << line;
    }
  }
  EXPECT_EQ(run("bench trisolve --from report.json --plot p.svg").status, 0);
  EXPECT_TRUE(contains(text("p.svg"), "</svg>"));
}

TEST_F(Sacred, BenchKeepsTheMatricesOfItsFolder) {
  expect_refused("bench matrices --backend cuda --matrices . --json k.mtx", "read from the folder");
  expect_refused("bench matrices --backend cuda --matrices=sub/.. --json ./k.mtx", "read from the folder");
}

TEST_F(Sacred, BenchKeepsTheProgramsOfItsContenders) {
  const std::string contender = "#!/bin/sh\nexit 1\n";
  write("sub/bench_trsv_eigen", contender);
  fs::permissions(folder_ / "sub/bench_trsv_eigen", fs::perms::owner_all);
  fs::create_symlink("sub", folder_ / "same");
  for (const char* line : {"bench trsv --small --only star7 --contenders sub --json sub/bench_trsv_eigen",
                           "bench trsv --plot=sub/bench_trsv_eigen --small --only star7 --contenders=same",
                           "bench trsv --contenders ./sub --bogus --json=same/bench_trsv_eigen"}) {
    EXPECT_EQ(run(line).status, 2) << line;
    EXPECT_EQ(text("sub/bench_trsv_eigen"), contender) << line;
  }
  EXPECT_EQ(run("bench trisolve --small --contenders sub --json sub/r.json").status, 0) << "a new file is no program";
}

TEST_F(Sacred, AnInputThatALaterOneReplacesStaysToo) {
  write("other.mtx", small_matrix);
  EXPECT_EQ(run("solve --matrix k.mtx --matrix other.mtx --json k.mtx").status, 2);
  EXPECT_EQ(text("k.mtx"), small_matrix);
  EXPECT_EQ(run("solve --matrix k.mtx --json r.json --json s.json").status, 0) << "the last report counts";
  EXPECT_FALSE(fs::exists(folder_ / "r.json"));
}

TEST_F(Sacred, TwoOutputsAreNeverOne) {
  fs::create_symlink("not_there", folder_ / "dangling");
  for (const char* pair : {"--solution x --json x", "--solution x --json=./x", "--plot sub/x --history sub/../sub/x",
                           "--solution dangling --json not_there", "--solution - --json -", "--json - --plot /dev/stdout",
                           "--solution hard --json k.mtx"}) {
    const auto result = run(std::string("solve --grid 4 ") + pair);
    EXPECT_EQ(result.status, 2) << pair;
    EXPECT_TRUE(contains(result.err, "are the same file")) << pair << result.err;
    EXPECT_FALSE(fs::exists(folder_ / "x") || fs::exists(folder_ / "sub/x") || fs::exists(folder_ / "not_there")) << pair;
  }
  EXPECT_EQ(run("solve --grid 4 --solution /dev/null --json /dev/null").status, 0);
  EXPECT_EQ(text("k.mtx"), small_matrix);
}

TEST_F(Sacred, StandardOutputIsAFileAsWell) {
  // The shell has opened k.mtx to append: "-" is that file.
  const auto raw = std::system(
      ("cd " + folder_.string() + " && " ECHELON_PROGRAM " solve --matrix k.mtx --json - >>k.mtx 2>.err").c_str());
  EXPECT_EQ(WEXITSTATUS(raw), 2);
  EXPECT_TRUE(contains(text(".err"), "are the same file")) << text(".err");
  EXPECT_EQ(text("k.mtx"), small_matrix) << "nor does the report of that error go there";
}

TEST_F(Sacred, AnEmptyNameIsAnError) {
  for (const char* line :
       {"solve --matrix ''", "solve --grid 4 --rhs ''", "solve --grid 4 --solution ''", "solve --grid 4 --json ''",
        "solve --grid 4 --history ''", "solve --grid 4 --plot ''", "check ''", "check k.mtx --json ''", "selftest --json ''",
        "info --json ''", "bench trisolve --small --json ''", "bench trisolve --small --plot ''",
        "bench trisolve --small --spy ''", "bench trisolve --from ''", "bench trsv --small --contenders ''",
        "bench block --backend cuda --matrices ''"}) {
    expect_refused(line, "the name of the file is empty");
  }
  for (const char* line : {"solve --grid 4 --json= k.mtx", "solve --json= --matrix k.mtx", "check --json= k.mtx",
                           "solve --grid 4 --solution= k.mtx", "info --json="}) {
    expect_refused(line, "has no value behind its '='");
  }
}

TEST_F(Sacred, AnOptionIsNoName) {
  for (const char* line : {"solve --json --matrix k.mtx", "solve --matrix --json k.mtx --grid 4", "solve --grid 4 --plot -v",
                           "check k.mtx --json --quiet", "info --json --threads", "solve --solution --json=k.mtx",
                           "check k.mtx --json -- k.mtx"}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 2) << line << result.err;
    EXPECT_EQ(names().count("--matrix") + names().count("--json") + names().count("-v") + names().count("--quiet") +
                  names().count("--threads") + names().count("--"),
              0u)
        << line;
    EXPECT_EQ(text("k.mtx"), small_matrix) << line;
  }
  expect_refused("solve --json --matrix k.mtx", "looks like an option");
  EXPECT_EQ(run("solve --grid 4 --json ./--odd").status, 0);
  EXPECT_EQ(json("--odd")["converged"], true);
}

TEST(LineFiles, AnErrorsReportGoesWhereNothingElseIs) {
  using cli::error_report_path;
  EXPECT_EQ(error_report_path({"solve", "--bogus", "--json", "r"}), "r");
  EXPECT_EQ(error_report_path({"solve", "--json=a", "--json=r", "--bogus"}), "r");
  EXPECT_EQ(error_report_path({"solve", "--json", "-"}), "-");
  EXPECT_EQ(error_report_path({"solve", "--json", "/dev/stdout"}), "-");
  for (const std::vector<std::string>& none : {std::vector<std::string>{"solve", "--json"},
                                               {"solve", "--json="},
                                               {"solve", "--json", ""},
                                               {"solve", "--json", "--grid"},
                                               {"solve", "--", "--json", "r"},
                                               {"solve", "--json", "r", "--rhs=r"},
                                               {"solve", "--json", "r", "./r"}}) {
    EXPECT_EQ(error_report_path(none), "") << fmt::format("{}", fmt::join(none, " "));
  }
}

}  // namespace
}  // namespace echelon::test
