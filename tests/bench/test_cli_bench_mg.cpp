// SPDX-License-Identifier: BSD-3-Clause
// echelon bench mg on tiny grids: rows, histories and pictures of ours; a contender's settings by scripts that are right,
// wrong and silent; hypre itself where it was built.
#include <fmt/format.h>

#include <map>
#include <set>

#include "bench/measure/contender_line.hpp"
#include "bench/program/mg/mg_cases.hpp"
#include "bench/program/mg/mg_methods.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class BenchMg : public Program {
 protected:
  /// A folder whose contender says these lines, and keeps the words it was called with.
  std::string contender(const std::vector<bench::ContenderLine>& lines) {
    const auto folder = file("peers");
    std::filesystem::create_directories(folder);
    std::string said;
    for (const auto& line : lines) said += bench::to_line(line) + "\n";
    write("said.txt", said);
    std::ofstream(folder + "/bench_mg_hypre")
        << "#!/bin/sh\necho \"$@\" >> " << file("asked.txt") << "\ncat " << file("said.txt") << "\n";
    std::filesystem::permissions(folder + "/bench_mg_hypre", std::filesystem::perms::owner_all);
    return folder;
  }
  static bench::ContenderLine line(const char* operation, const char* setting, double seconds, double residual) {
    bench::ContenderLine line;
    line.contender = "hypre 0";
    line.operation = operation;
    line.method = std::string("PCG ") + setting;
    line.seconds = seconds, line.setup_seconds = seconds / 4;
    line.iterations = 2;
    line.relative_residual = residual;
    line.history = {{seconds / 4, 1}, {seconds, residual}};
    return line;
  }
  std::string none() {
    std::filesystem::create_directories(file("none"));
    return file("none");
  }
};

TEST_F(BenchMg, EveryCaseHasItsMethodsForEveryNumberOfThreads) {
  const auto result = run(fmt::format("bench mg --small --threads 1 2 --contenders {} --json r.json --plot r.svg", none()));
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  std::map<std::string, std::multiset<std::string>> rows;
  const auto report = json("r.json");
  for (const auto& row : report["cases"]) {
    rows[row["case"]].insert(fmt::format("{} t{}", row["operation"].get<std::string>(), row["threads"].get<int>()));
    EXPECT_LE(row["relative_residual"].get<double>(), 1.1e-8) << row["case"];
    EXPECT_GT(row["measures"]["cycle_seconds"].get<double>(), 0);
    EXPECT_NEAR(row["seconds"].get<double>(), row["setup_seconds"].get<double>() + row["solve_seconds"].get<double>(),
                1e-12);
    // The way to the tolerance: from 1, later and later, to the residual that is reported.
    const auto& history = row["history"];
    ASSERT_GE(history.size(), row["iterations"].get<std::size_t>());
    EXPECT_EQ(history.front()[1], 1.0);
    for (std::size_t i = 1; i < history.size(); ++i) EXPECT_LE(history[i - 1][0].get<double>(), history[i][0].get<double>());
    EXPECT_EQ(history.back()[1], row["relative_residual"]);
  }
  const auto cases = cli::mg_cases(true);
  ASSERT_EQ(rows.size(), cases.size()) << "two cases have one name";
  for (const auto& one : cases) {
    for (const auto& method : cli::mg_methods()) {
      const std::size_t expected = method.usual && method.fits(one) ? 1 : 0;
      for (const char* threads : {" t1", " t2"})
        EXPECT_EQ(rows[one.name()].count(method.name + threads), expected) << one.name();
    }
  }
  EXPECT_TRUE(contains(result.out, "contenders not found: hypre")) << result.out;
  EXPECT_TRUE(contains(text("r.svg"), ">varpoisson regions 1000</text>"));
  EXPECT_TRUE(contains(text("r.svg"), ">gmres(30), star7 16x16x16, 2 threads</text>"));
  const auto again = run("bench mg --from r.json --plot again.svg");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(text("again.svg"), text("r.svg"));
}

TEST_F(BenchMg, TheBestSettingIsAskedForAgain) {
  const auto peers = contender({line("default", "PFMG relax 1, rap 0, skip 1", 3, 1e-9),
                                line("best", "PFMG relax 2, rap 1, skip 0", 2, 1e-9), line("smg", "SMG", 1e3, 1e-9)});
  const auto result = run(fmt::format(
      "bench mg --small --only 'poisson star7 16x16x16 b=1 neumann' --threads 1 --rounds 3 --contenders {} --json r.json "
      "--plot r.svg",
      peers));
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  const auto asked = text("asked.txt");
  const auto again = asked.find("--setting PFMG relax 2, rap 1, skip 0");
  EXPECT_GT(again, asked.find('\n')) << "the first round asks for all: " << asked;
  EXPECT_NE(asked.find("--setting", again + 1), std::string::npos) << asked;
  EXPECT_TRUE(contains(asked, "--boundary neumann"));
  const auto row = json("r.json")["cases"][0];
  ASSERT_EQ(row["peers"].size(), 3u);
  EXPECT_EQ(row["peer"], "hypre 0, best: PCG PFMG relax 2, rap 1, skip 0");
  EXPECT_EQ(row["peer_seconds"], 2.0);
  EXPECT_EQ(row["peers"][0]["history"].size(), 2u);
  EXPECT_TRUE(contains(result.out, "smg: PCG SMG")) << result.out;
  EXPECT_TRUE(contains(text("r.svg"), "hypre best"));
}

TEST_F(BenchMg, OnlyRightAnswersCount) {
  auto refused = bench::ContenderLine::nothing("hypre 0", "its set-up takes minutes");
  refused.operation = "smg";
  const auto peers =
      contender({line("default", "PFMG relax 1, rap 0, skip 1", 3, 1e-9), line("best", "PFMG", 1e-9, 1e-7), refused});
  const auto result =
      run(fmt::format("bench mg --small --only 'regions 30' --threads 1 --contenders {} --json r.json --rounds 2", peers));
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  const auto report = json("r.json");
  ASSERT_EQ(report["cases"][0]["peers"].size(), 1u);
  EXPECT_EQ(report["cases"][0]["peer"], "hypre 0, default: PCG PFMG relax 1, rap 0, skip 1");
  std::map<std::string, std::string> why;
  for (const auto& one : report["not_compared"]) why[one["contender"]] = one["why"];
  EXPECT_TRUE(contains(why["hypre best, 1 rank(s)"], "true residual is 1.00e-07")) << result.out;
  EXPECT_EQ(why["hypre smg, 1 rank(s)"], "its set-up takes minutes");
  contender({});
  ASSERT_EQ(run(fmt::format("bench mg --small --only 'regions 30' --threads 1 --contenders {} --json s.json", peers)).status,
            0);
  EXPECT_EQ(json("s.json")["not_compared"][0]["why"], "it said nothing");
}

TEST_F(BenchMg, HypreSolvesOurSystems) {
  for (const char* only :
       {"neumann", "regions 1000", "random", "box27", "star5", "pe 1000 along 1,-1,0.5", "pe 1000 recirculating"}) {
    const char* threads = std::string(only) == "neumann" ? "1 2" : "1";
    const auto result = run(fmt::format("bench mg --small --only '{}' --threads {} --json r.json", only, threads));
    ASSERT_EQ(result.status, 0) << result.err << result.out;
    const auto report = json("r.json");
    if (report["contenders"]["found"].empty()) GTEST_SKIP() << "hypre's contender is not built here";
    EXPECT_TRUE(report["not_compared"].empty()) << report["not_compared"].dump();
    for (const auto& row : report["cases"]) {
      ASSERT_EQ(row["peers"].size(), 3u) << only;
      for (const auto& peer : row["peers"]) {
        EXPECT_EQ(peer["ranks"], row["threads"]);
        EXPECT_LE(peer["relative_residual"].get<double>(), 1.1e-8) << only << peer["method"];
        EXPECT_EQ(peer["history"].size(), peer["iterations"].get<std::size_t>() + 1);
      }
    }
  }
}

TEST_F(BenchMg, TheReportFitsTheSchema) {
  if (std::system("/usr/bin/python3 -c 'import jsonschema' 2>/dev/null") != 0)
    GTEST_SKIP() << "python3-jsonschema is not installed";
  const auto peers = contender({line("default", "PFMG", 3, 1e-9), line("best", "PFMG", 2, 1e-9)});
  ASSERT_EQ(run(fmt::format("bench mg --small --only regions --threads 1 --contenders {} --json r.json", peers)).status, 0);
  write("validate.py",
        "import json,sys,jsonschema\n"
        "schema=json.load(open(sys.argv[1])); report=json.load(open(sys.argv[2]))\n"
        "jsonschema.validate(report,schema)\n"
        "report['cases'][0]['history'][0]=[1]\n"
        "try: jsonschema.validate(report,schema)\n"
        "except jsonschema.ValidationError: sys.exit(0)\n"
        "sys.exit('the schema accepts half a point')\n");
  const auto command = fmt::format("/usr/bin/python3 {} {}/docs/report.schema.json {} >{} 2>&1", file("validate.py"),
                                   ECHELON_SOURCE_DIR, file("r.json"), file("said"));
  EXPECT_EQ(std::system(command.c_str()), 0) << text("said");
}

TEST_F(BenchMg, WhatDoesNotGoTogetherIsRefused) {
  struct Refused {
    const char *arguments, *sentence;
  };
  for (const auto& one :
       {Refused{"bench mg --methods exact", "--methods: mg has no 'exact'"},
        Refused{"bench mg --large", "--large is for hpcg and dbsr"}, Refused{"bench mg --ranks 2", "--ranks is for hpcg"},
        Refused{"bench mg --backend cuda", "mg is of the host"},
        Refused{"bench trsv --methods ic", "--methods is for hpcg, dbsr and mg"},
        Refused{"bench mg --only nothing", "no case of mg"}}) {
    const auto result = run(one.arguments);
    EXPECT_EQ(result.status, 2) << one.arguments;
    EXPECT_TRUE(contains(result.err, one.sentence)) << result.err;
  }
  const auto one =
      run(fmt::format("bench mg --small --only regions --methods sgs --threads 1 --contenders {} --json r.json", none()));
  ASSERT_EQ(one.status, 0) << one.err;
  const auto report = json("r.json");
  ASSERT_EQ(report["cases"].size(), 2u);
  for (const auto& row : report["cases"]) EXPECT_EQ(row["operation"], "sgs");
}

}  // namespace
}  // namespace echelon::test
