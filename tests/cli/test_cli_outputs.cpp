// SPDX-License-Identifier: BSD-3-Clause
// What a run writes: opened before the work, each file whole or not there, none taken along by another that fails, nothing
// left behind by whoever leaves at once; and what names of files do to sentences and pictures: nothing.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "echelon/io/matrix_market.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

namespace fs = std::filesystem;

class Outputs : public Program {
 protected:
  /// A script of bash in the folder of the test; its exit status.
  int shell(const std::string& script) const {
    write(".script", script);
    const int raw = std::system(fmt::format("cd {} && bash .script </dev/null", folder_.string()).c_str());
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : -WTERMSIG(raw);
  }
  /// Killed when it takes longer than anything here should.
  Outcome run_within_20_seconds(const std::string& line, const std::string& meanwhile = "wait $!") const {
    Outcome outcome;
    outcome.status = shell("timeout -s KILL 20 " ECHELON_PROGRAM " " + line + " >.out 2>.err & " + meanwhile);
    outcome.out = text(".out");
    outcome.err = text(".err");
    return outcome;
  }
  /// Sends it SIGTERM, at the earliest after a second.
  Outcome run_and_signal(const std::string& line) const {
    // Once it waits: asleep at three looks, and no time of a processor taken between them. A busy machine starts it late.
    // The program gets it itself: `timeout` would send it twice, and the second one leaves at once.
    return run_within_20_seconds(line, R"(child=$!; sleep 1; looks=0; before=
      while [ $looks -lt 3 ] && program=$(cat /proc/$child/task/$child/children); do
        now=$(cut -d' ' -f3,14,15 /proc/${program% }/stat)
        if [[ $now == S* && $now == "$before" ]]; then looks=$((looks + 1)); else looks=0; fi
        before=$now; sleep 0.1
      done; kill -TERM ${program:-$child}; wait $child)");
  }
  void make_pipe(const std::string& name) const { ASSERT_EQ(mkfifo(file(name).c_str(), 0600), 0); }
  bool litter() const {
    return std::any_of(fs::directory_iterator(folder_), fs::directory_iterator(),
                       [](const auto& entry) { return contains(entry.path().string(), ".part"); });
  }
};

TEST_F(Outputs, AreOpenedBeforeTheWork) {
  // Nobody fills the pipe: whoever read the matrix first would never come to the outputs.
  make_pipe("A.mtx");
  for (const char* option : {"--solution", "--json", "--history", "--plot"}) {
    const auto result = run_within_20_seconds(fmt::format("solve --matrix A.mtx {} nowhere/file", option));
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_TRUE(contains(result.err, "nowhere/file: could not create")) << result.err;
  }
  EXPECT_EQ(run_within_20_seconds("check A.mtx --json nowhere/file").status, 2);
  for (const char* line : {"selftest --json nowhere/file", "hpcg --grid 16 --report nowhere/file", "info --json nowhere/file",
                           "bench trisolve --small --plot nowhere/file", "bench trsv --small --json nowhere/file"}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 2) << line;
    EXPECT_EQ(result.out, "") << "nothing was computed: " << line;
  }
  const auto solve = run("solve --grid 8 -v --solution nowhere/file");
  EXPECT_EQ(solve.out, "") << "not even a problem was made";
}

TEST_F(Outputs, OneThatFailsTakesNoOtherAlong) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto result = run("solve --grid 8 --solution /dev/full --history h.csv --plot p.svg --json r.json");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "echelon: --solution: /dev/full: could not write: No space left")) << result.err;
  EXPECT_TRUE(contains(result.out, "converged in")) << result.out;
  EXPECT_TRUE(contains(text("h.csv"), "iteration,relative_residual\n0,1\n"));
  EXPECT_TRUE(contains(text("p.svg"), "</svg>"));
  const auto report = json("r.json");
  EXPECT_EQ(report["converged"], true);
  EXPECT_EQ(report["reason"], "rtol");
  EXPECT_FALSE(report.contains("error"));
  ASSERT_EQ(report["output_errors"].size(), 1u);
  EXPECT_EQ(report["output_errors"][0]["option"], "--solution");
  EXPECT_EQ(report["output_errors"][0]["file"], "/dev/full");
  EXPECT_TRUE(contains(report["output_errors"][0]["message"].get<std::string>(), "No space left"));

  const auto without_report = run("solve --grid 8 --solution x.mtx --json /dev/full --plot /dev/full");
  EXPECT_EQ(without_report.status, 2);
  EXPECT_TRUE(contains(without_report.err, "--json: /dev/full")) << without_report.err;
  EXPECT_TRUE(contains(without_report.err, "--plot: /dev/full")) << without_report.err;
  EXPECT_TRUE(contains(without_report.out, "converged in")) << without_report.out;
  EXPECT_EQ(read_vector(file("x.mtx")).size(), 512);

  const auto quiet = run("solve --grid 8 -q --solution /dev/full");
  EXPECT_EQ(quiet.status, 2);
  EXPECT_EQ(quiet.out, "");
  EXPECT_TRUE(contains(quiet.err, "/dev/full")) << quiet.err;
  EXPECT_EQ(run("solve --grid 8 --max-it 1 --solution /dev/full").status, 2);
  EXPECT_EQ(run("solve --grid 8 --json r.json").status, 0);
  EXPECT_TRUE(json("r.json")["output_errors"].empty());
}

TEST_F(Outputs, ABenchWithoutItsPictureKeepsItsReport) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const auto result = run("bench trisolve --small --plot /dev/full --json r.json");
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "/dev/full: could not write")) << result.err;
  EXPECT_TRUE(contains(result.out, "triangular solves")) << result.out;
  EXPECT_FALSE(json("r.json")["cases"].empty());
}

TEST_F(Outputs, AFileSizeLimitIsAFullDisk) {
  write("x.mtx", "precious");
  // ulimit counts in pieces of 512 or 1024 bytes. The signal that comes with the limit is left as a shell leaves it.
  const auto result = run("solve --grid 16 --solution x.mtx --history h.csv", "ulimit -f 8;");
  EXPECT_EQ(result.status, 2) << result.out << result.err;
  EXPECT_TRUE(contains(result.err, "x.mtx: could not write: File too large")) << result.err;
  EXPECT_TRUE(contains(result.out, "converged in")) << result.out;
  EXPECT_EQ(text("x.mtx"), "precious");
  EXPECT_TRUE(contains(text("h.csv"), "iteration")) << "that one fits";
  EXPECT_FALSE(litter());
  EXPECT_EQ(run("solve --grid 4 -v --max-it 3 --rtol 1e-15 --pc none", "ulimit -f 0;").status, 2) << "words, too";
}

TEST_F(Outputs, APipeWithoutAReaderObeysTheFirstSignal) {
  make_pipe("x.mtx");
  const auto result = run_and_signal("solve --grid 4 --solution x.mtx --json r.json");
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_TRUE(contains(result.err, "nobody opened it to read")) << result.err;
  EXPECT_TRUE(contains(result.out, "converged in")) << result.out;
  const auto report = json("r.json");
  EXPECT_EQ(report["converged"], true);
  EXPECT_EQ(report["output_errors"][0]["file"], "x.mtx");
  for (const char* line : {"solve --bogus --json x.mtx", "info --json x.mtx", "check nowhere --json x.mtx"}) {
    EXPECT_EQ(run_and_signal(line).status, 130) << line;
  }
  // A reader that takes nothing of more than a pipe holds.
  const auto stuck = run_and_signal("solve --grid 24 --solution x.mtx 3<>x.mtx");
  EXPECT_EQ(stuck.status, 130) << stuck.err;
}

TEST_F(Outputs, PipesAreReadOneAfterTheOther) {
  make_pipe("first");
  make_pipe("second");
  EXPECT_EQ(shell(ECHELON_PROGRAM " solve -q --grid 12 --solution first --json second & cat first >x.mtx; "
                                  "cat second >r.json; wait $!"),
            0);
  EXPECT_EQ(read_vector(file("x.mtx")).size(), 12 * 12 * 12);
  EXPECT_EQ(json("r.json")["converged"], true);
}

TEST_F(Outputs, StandardOutputTakesAnyOfThem) {
  ASSERT_EQ(run("solve --grid 6 --solution x.mtx --history h.csv").status, 0);
  for (const char* name : {"-", "/dev/stdout"}) {
    const auto solution = run(fmt::format("solve --grid 6 --solution {}", name));
    EXPECT_EQ(solution.status, 0);
    EXPECT_EQ(solution.out, text("x.mtx"));
    EXPECT_TRUE(contains(solution.err, "converged in")) << "words go elsewhere: " << solution.err;
    EXPECT_EQ(run(fmt::format("solve --grid 6 -q --history={}", name)).out, text("h.csv"));
    const auto report = run(fmt::format("solve --grid 6 -q --json {}", name));
    EXPECT_EQ(nlohmann::json::parse(report.out)["converged"], true);
    EXPECT_TRUE(contains(run(fmt::format("solve --grid 6 --plot {}", name)).out, "</svg>\n"));
  }
  EXPECT_FALSE(fs::exists(folder_ / "-"));
}

TEST_F(Outputs, AReaderThatLeavesEndsNothing) {
  for (const char* output : {"--solution -", "--solution /dev/stdout", "--solution=/proc/self/fd/1", "--json -",
                             "--json /dev/stdout", "--history /dev/fd/1"}) {
    // More than a pipe holds, so that the program is still writing when head has gone.
    const auto line = fmt::format(
        "set -o pipefail; {} solve --grid 32 --pc none --restart 2 --rtol 1e-15 --solver gmres "
        "--max-it 3000 {} 2>err | head -1 >first",
        ECHELON_PROGRAM, output);
    EXPECT_EQ(shell(line), 1) << output << text("err");  // not converged; that alone is the status
    EXPECT_FALSE(text("first").empty()) << output;
    EXPECT_FALSE(contains(text("err"), "could not")) << text("err");
  }
  EXPECT_EQ(shell("set -o pipefail; " ECHELON_PROGRAM " solve --grid 40 --solution - 2>err | head -1 >first"), 0);
  EXPECT_EQ(text("first"), "%%MatrixMarket matrix array real general\n");
}

TEST_F(Outputs, WhoLeavesAtOnceLeavesNoLitter) {
  make_pipe("A.mtx");  // nobody fills it: the run never comes to its first iteration
  write("x.mtx", "precious");
  EXPECT_EQ(run_and_signal("solve --matrix A.mtx --solution x.mtx --json r.json --plot p.svg").status, 130);
  EXPECT_FALSE(litter());
  EXPECT_EQ(run_and_signal("check A.mtx --json r.json").status, 130);
  EXPECT_FALSE(litter());
  EXPECT_EQ(run_within_20_seconds("solve --matrix A.mtx --solution x.mtx --history h.csv --time-limit 0.5").status, 1);
  EXPECT_FALSE(litter());
  EXPECT_EQ(text("x.mtx"), "precious");
  EXPECT_EQ(run("solve --matrix nowhere.mtx --solution x.mtx --json r.json").status, 2);
  EXPECT_FALSE(litter());
  EXPECT_EQ(text("x.mtx"), "precious");
}

TEST_F(Outputs, NoNameOfAFileActsOnATerminal) {
  const std::string evil = "\x1b]0;owned\x07\n\x9b[31m.mtx";
  write(evil, small_matrix);
  const std::string name = "\"$(printf '\\033]0;owned\\007\\n\\233[31m.mtx')\"";
  const auto harmless = [](const std::string& words) {
    return std::none_of(words.begin(), words.end(), [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return (byte < 0x20 && c != '\n') || byte == 0x7f || byte == 0x9b;
    });
  };
  const std::string shown = "\\x1b]0;owned\\x07\\n\\x9b[31m.mtx";
  for (const std::string& line : {"solve -v --matrix " + name, "check " + name}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(harmless(result.out)) << line;
    EXPECT_TRUE(contains(result.out, shown)) << result.out;
  }
  for (const std::string& line :
       {"solve --matrix x" + name, "check x" + name, "solve " + name, name, "solve --grid " + name, "solve --" + name,
        "solve --grid 4 --solution nowhere/" + name, "solve --grid 4 --json nowhere/" + name,
        "bench trisolve --only " + name, "bench trisolve --from x" + name, "solve --matrix " + name + " --json " + name}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 2) << line;
    EXPECT_TRUE(harmless(result.err)) << line << result.err;
    EXPECT_TRUE(contains(result.err, "]0;owned\\x07\\n\\x9b[31m.mtx")) << line << result.err;
  }
  EXPECT_EQ(read_text(folder_ / evil), small_matrix);
}

TEST_F(Outputs, APictureIsWellFormedWhateverTheName) {
  if (std::system("/usr/bin/python3 -c 'import xml.dom.minidom' 2>/dev/null") != 0) GTEST_SKIP() << "no python3 here";
  write("\xff<&>\"\x1b\xc3.mtx", small_matrix);
  ASSERT_EQ(run("solve --matrix \"$(printf '\\377<&>\\042\\033\\303.mtx')\" --plot p.svg --json r.json").status, 0);
  EXPECT_EQ(shell("/usr/bin/python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse(\"p.svg\")' 2>err"), 0) << text("err");
  EXPECT_TRUE(contains(json("r.json")["problem"]["name"].get<std::string>(), "\xef\xbf\xbd<&>"));
}

TEST_F(Outputs, ABandwidthIsMeasuredWhereItIsAskedFor) {
  ASSERT_EQ(run("solve --grid 6 --json r.json").status, 0);
  ASSERT_TRUE(json("r.json")["backend"].contains("copy_bandwidth_gbs"));
  EXPECT_TRUE(json("r.json")["backend"]["copy_bandwidth_gbs"].is_null()) << "a solve does not wait for it";
  ASSERT_EQ(run("bench trisolve --small --json b.json").status, 0);
  EXPECT_GT(json("b.json")["backend"]["copy_bandwidth_gbs"].get<double>(), 0.1);
}

}  // namespace
}  // namespace echelon::test
