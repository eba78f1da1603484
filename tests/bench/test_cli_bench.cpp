// SPDX-License-Identifier: BSD-3-Clause
// echelon bench on tiny grids: every listed shape has a row, answers of contenders are checked before times count, and what
// is missing is said. Contenders are scripts here, so that both right and wrong ones exist on every machine.
#include <fmt/format.h>

#include <csignal>
#include <set>

#include "bench/measure/contender_line.hpp"
#include "bench/measure/shapes.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class Bench : public Program {
 protected:
  /// A folder with a contender of `kind` that prints `line`.
  std::string contender(const std::string& kind, const std::string& line) {
    const auto folder = file("peers");
    std::filesystem::create_directories(folder);
    const auto path = folder + "/bench_" + kind + "_eigen";
    write("line.json", line + "\n");
    std::ofstream(path) << "#!/bin/sh\ncat " << file("line.json") << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return folder;
  }
  /// The same with any shell commands.
  void script(const std::string& kind, const std::string& commands) {
    const auto path = contender(kind, "") + "/bench_" + kind + "_eigen";
    std::ofstream(path) << "#!/bin/sh\n" << commands << "\n";
  }
  /// Whether a process is gone, or will be soon.
  static bool ends(pid_t id) {
    for (int wait = 0; wait < 100; ++wait) {
      // One that was not waited for yet is a name only.
      const auto state = read_text("/proc/" + std::to_string(id) + "/stat");
      if (state.empty() || state.find(") Z ") != std::string::npos) return true;
      usleep(50'000);
    }
    return false;
  }
  static std::string answer(double norm, double probe, double residual = 0) {
    bench::ContenderLine line;
    line.contender = "Eigen 0";
    line.method = "script";
    line.seconds = 1e-3;
    line.iterations = 3;
    line.relative_residual = residual;
    line.answer = {norm, probe};
    return bench::to_line(line);
  }
};

TEST_F(Bench, TrisolveMeasuresEveryKindAndDraws) {
  const auto result = run("bench trisolve --small --json r.json --plot r.svg --spy s.svg");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  const auto report = json("r.json");
  ASSERT_EQ(report["cases"].size(), 2u * (1 + 2 * 6));
  double plain = 0, scaled = 0;
  for (const auto& row : report["cases"]) {
    const auto& measures = row["measures"];
    EXPECT_GT(row["iterations"].get<int>(), 0);
    if (row["operation"] == "exact") {
      EXPECT_EQ(measures["error"], 0.0);
    } else {
      EXPECT_LT(measures["error"].get<double>(), 1);
    }
    if (row["operation"] == "jacobi 5") plain = measures["error"];
    if (row["operation"] == "scaled jacobi 5") {
      scaled = measures["error"];
      EXPECT_GT(measures["departure_upper"].get<double>() / measures["scaled_departure_upper"].get<double>(), 1e6);
    }
  }
  EXPECT_NEAR(scaled / plain, 1, 1e-10);
  EXPECT_TRUE(contains(text("r.svg"), "block jacobi"));
  EXPECT_TRUE(contains(text("s.svg"), "L + U of ILU(0)"));
  const auto again = run("bench trisolve --from r.json");
  EXPECT_EQ(again.status, 0);
  EXPECT_TRUE(contains(again.out, "scaled jacobi 5")) << again.out;
}

class BenchKinds : public Bench, public testing::WithParamInterface<const char*> {};

TEST_P(BenchKinds, EveryListedShapeHasARowForEveryThreadCount) {
  const std::string kind = GetParam();
  std::filesystem::create_directories(file("none"));
  const auto result = run(fmt::format("bench {} --small --threads 1 2 --contenders none --json r.json --plot r.svg", kind));
  EXPECT_EQ(result.status, 0) << result.err << result.out;
  const auto report = json("r.json");
  std::multiset<std::string> rows;
  for (const auto& row : report["cases"]) {
    rows.insert(row["case"].get<std::string>() + " t" + std::to_string(row["threads"].get<int>()));
    EXPECT_TRUE(row["peer"].is_null());
    EXPECT_GT(row["seconds"].get<double>(), 0);
    EXPECT_EQ(row["percent_of_triad"].is_number(), kind != "solver" && kind != "convergence");
  }
  std::set<std::string> names;
  for (const auto& one : bench::shapes(kind, true)) {
    names.insert(one.name());
    // Sweeps with factors in four precisions; solves with two, GMRES with its basis in FP64 and FP32 too; five methods.
    const std::size_t variants = kind == "trsv"          ? 4
                                 : kind == "factor"      ? 1
                                 : kind == "convergence" ? 5
                                 : one.solver == "gmres" ? 3
                                                         : 2;
    for (const char* threads : {" t1", " t2"}) {
      EXPECT_EQ(rows.count(one.name() + threads), variants) << one.name();
    }
  }
  EXPECT_EQ(names.size(), bench::shapes(kind, true).size()) << "two shapes have one name";
  EXPECT_EQ(contains(result.out, "contenders not found: petsc, hypre, eigen"), kind != "convergence") << result.out;
  EXPECT_EQ(contains(result.out, "hypre, eigen, mkl ("), kind == "trsv" || kind == "factor") << result.out;
  EXPECT_TRUE(contains(text("r.svg"), "</svg>"));
  EXPECT_TRUE(contains(text("r.svg"), kind == "convergence" ? "parilut" : bench::shapes(kind, true).front().name()));
}

TEST_P(BenchKinds, TheReportFitsTheSchema) {
  if (std::system("/usr/bin/python3 -c 'import jsonschema' 2>/dev/null") != 0)
    GTEST_SKIP() << "python3-jsonschema is not installed";
  const std::string kind = GetParam();
  EXPECT_EQ(run(fmt::format("bench {} --small --only star7 --threads 1 --peers eigen --json r.json", kind)).status, 0);
  const std::string script =
      "import json,sys,jsonschema\n"
      "schema=json.load(open(sys.argv[1])); report=json.load(open(sys.argv[2]))\n"
      "jsonschema.validate(report,schema)\n"
      "report['cases'][0]['seconds']=0\n"
      "try: jsonschema.validate(report,schema)\n"
      "except jsonschema.ValidationError: sys.exit(0)\n"
      "sys.exit('the schema accepts a time of zero')\n";
  write("validate.py", script);
  const auto command = fmt::format("/usr/bin/python3 {} {}/docs/report.schema.json {} >{} 2>&1", file("validate.py"),
                                   ECHELON_SOURCE_DIR, file("r.json"), file("said"));
  EXPECT_EQ(std::system(command.c_str()), 0) << text("said");
}

INSTANTIATE_TEST_SUITE_P(Kinds, BenchKinds, testing::Values("trsv", "factor", "solver", "convergence"));

TEST_F(Bench, ConvergenceComparesPreconditionersByTheirIterations) {
  const auto result = run("bench convergence --small --only 10x7x9 --threads 1 --json r.json");
  EXPECT_EQ(result.status, 0) << result.err;
  const auto rows = json("r.json")["cases"];
  ASSERT_EQ(rows.size(), 5u) << result.out;
  const char* operations[] = {"cg + ic0", "cg + ic1", "cg + parilu", "cg + parilut", "cg + mcilu"};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    EXPECT_EQ(rows[r]["operation"], operations[r]);
    EXPECT_GT(rows[r]["parts"]["factorization"].get<double>(), 0);
  }
  EXPECT_EQ(rows[0]["iteration_ratio"], 1.0);
  EXPECT_LT(rows[1]["iterations"].get<int>(), rows[0]["iterations"].get<int>());
  EXPECT_EQ(rows[1]["iteration_ratio"].get<double>(),
            rows[1]["iterations"].get<double>() / rows[0]["iterations"].get<double>());
  for (const auto& row : rows) EXPECT_LE(row["relative_residual"].get<double>(), 1e-5);
  EXPECT_TRUE(contains(result.out, "to the first")) << result.out;
}

TEST_F(Bench, AContenderCountsOnlyWhenItsAnswerIsRight) {
  // A wrong answer, from which the program's own can be read.
  const auto folder = contender("trsv", answer(1, 0));
  const std::string line = "bench trsv --small --only poisson --threads 1 --peers eigen --contenders peers --json r.json";
  auto result = run(line);
  EXPECT_EQ(result.status, 0) << result.err;
  auto report = json("r.json");
  ASSERT_EQ(report["not_compared"].size(), 2u) << "poisson and varpoisson";
  for (const auto& row : report["cases"]) EXPECT_TRUE(row["peer"].is_null());
  EXPECT_TRUE(contains(report["not_compared"][0]["why"], "another answer")) << result.out;

  for (const char* nonsense : {"", "not json", "{\"contender\":\"Eigen 0\"}"}) {
    contender("trsv", nonsense);
    EXPECT_EQ(run(line).status, 0);
    EXPECT_TRUE(contains(text("r.json"), "expected a contender's line of JSON")) << nonsense;
  }
}

TEST_F(Bench, AContenderThatHangsOrBabblesIsEndedAndNamed) {
  const std::string line =
      "bench trsv --small --only 'varpoisson' --threads 1 --peers eigen --contenders peers --json r.json ";
  script("trsv", "sleep 1000 & echo $! > " + file("sleeper") + "; wait");
  auto result = run(line + "--contender-limit 0.5");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(text("r.json"), "it took longer than 0.5 s and was ended")) << text("r.json");
  EXPECT_TRUE(ends(std::stoi(text("sleeper")))) << "what a contender started goes with it";

  script("trsv", "exec yes");
  result = run(line);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(text("r.json"), "it said more than 16777216 bytes and was ended")) << text("r.json");
}

TEST_F(Bench, AContenderDiesWithTheProgram) {
  for (const char* signal : {"TERM", "KILL"}) {
    std::filesystem::remove(file("contender"));
    script("trsv", "echo $$ > " + file("contender.new") + "; mv " + file("contender.new") + " " + file("contender") +
                       "; exec sleep 1000");
    const auto result = run(fmt::format(
        "bench trsv --small --only 'varpoisson' --threads 1 --peers eigen --contenders "
        "peers & child=$!; while kill -0 $child && ! [ -f {} ]; do sleep 0.05; done; kill -{} $child; wait $child",
        file("contender"), signal));
    EXPECT_TRUE(ends(std::stoi(text("contender")))) << signal;
    EXPECT_EQ(result.status, signal == std::string("TERM") ? 130 : 128 + SIGKILL);
  }
}

TEST_F(Bench, ContendersStandBesideTheProgram) {
  std::filesystem::create_directories(file("own/bin"));
  std::filesystem::copy_file(ECHELON_PROGRAM, file("own/bin/echelon"));
  const std::string line = " bench trsv --small --only 'varpoisson' --threads 1 --peers eigen --json r.json -q";
  const auto missing = [&] {
    EXPECT_EQ(std::system(("cd " + file("") + " && own/bin/echelon" + line).c_str()), 0);
    return json("r.json")["contenders"]["missing"].size();
  };
  EXPECT_EQ(missing(), 1u);
  std::filesystem::copy(contender("trsv", answer(1, 0)), file("own/bin"));
  EXPECT_EQ(missing(), 0u);
}

TEST_F(Bench, AContenderWithThreadsGetsAsManyAsOurs) {
  script("trsv", "echo $OMP_NUM_THREADS $MKL_NUM_THREADS $OMP_WAIT_POLICY >> " + file("threads") + "; cat " +
                     file("line.json"));
  write("line.json", answer(1, 0) + "\n");
  std::filesystem::rename(file("peers/bench_trsv_eigen"), file("peers/bench_trsv_mkl"));
  const auto result =
      run("bench trsv --small --only varpoisson --threads 1 3 --peers mkl --contenders peers --json r.json",
          "unset OMP_WAIT_POLICY;");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(text("threads"), "1 1\n3 3\n");
  const auto report = json("r.json");
  ASSERT_EQ(report["not_compared"].size(), 2u) << result.out;
  EXPECT_EQ(report["not_compared"][1]["contender"], "mkl, 3 thread(s)");
  EXPECT_TRUE(contains(report["not_compared"][1]["why"], "another answer")) << result.out;
}

TEST_F(Bench, ASolveIsJudgedByItsTrueResidual) {
  const auto folder = contender("solver", answer(1, 0, 1e-6));
  const auto result =
      run("bench solver --small --only 'cg poisson star7' --threads 1 --peers eigen --contenders peers --json r.json");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(text("r.json"), "its true residual is 1.00e-06")) << text("r.json");
}

class TrueAnswers : public Bench {
 protected:
  /// `name` is that of the program, `library` stands in the report; skips where the contender was not built.
  void expect_they_count(const char* name, const char* library, std::initializer_list<const char*> kinds, int threads) {
    for (const char* kind : kinds) {
      const auto result =
          run(fmt::format("bench {} --small --only poisson --threads {} --peers {} --json r.json", kind, threads, name));
      EXPECT_EQ(result.status, 0) << result.err;
      const auto report = json("r.json");
      if (!report["contenders"]["missing"].empty()) GTEST_SKIP() << library << "'s contenders are not built";
      const auto& row = report["cases"][0];
      EXPECT_TRUE(contains(row["peer"], library)) << kind << result.out;
      EXPECT_EQ(row["peers"][0]["ranks"], threads);
      EXPECT_NEAR(row["speedup"].get<double>(), row["peer_seconds"].get<double>() / row["seconds"].get<double>(), 1e-9);
    }
  }
};

TEST_F(TrueAnswers, OfEigenCount) { expect_they_count("eigen", "Eigen", {"trsv", "factor", "solver"}, 1); }

TEST_F(TrueAnswers, OfOneMklCountOnTwoThreads) { expect_they_count("mkl", "oneMKL", {"trsv", "factor"}, 2); }

TEST_F(Bench, AnEarlierReportIsShownAgain) {
  std::filesystem::create_directories(file("none"));
  ASSERT_EQ(run("bench trsv --small --only star7 --threads 1 --contenders none --json r.json --plot r.svg").status, 0);
  const auto again = run("bench trsv --from r.json --plot again.svg");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(text("again.svg"), text("r.svg"));
  const auto report = json("r.json");
  EXPECT_NE(again.out.find(report["cases"][0]["case"].get<std::string>()), std::string::npos) << again.out;
  EXPECT_EQ(run("bench factor --from r.json").status, 2);
  EXPECT_EQ(run("bench trsv --from nowhere.json").status, 2);
  write("other.json", "{\"command\": \"solve\"}");
  EXPECT_EQ(run("bench trsv --from other.json").status, 2);
  write("broken.json", "{\"command\": \"bench\", \"rounds\": \"many\"}");
  EXPECT_EQ(run("bench trsv --from broken.json").status, 2);
}

TEST_F(Bench, WhatIsWrongIsSaid) {
  struct Refused {
    const char* line;
    const char* says;
  };
  for (const auto& [line, says] :
       {Refused{"bench", "kind is required"}, Refused{"bench trvs", "did you mean trsv?"},
        Refused{"bench trsv --only star8", "no case of trsv"},
        Refused{"bench trsv --threads 0", "from 1 to 4096"},
        Refused{"bench trsv --from /dev/null --json r.json", "--from measures nothing"},
        Refused{"bench trsv --contenders nowhere", "is no folder"},
        Refused{"bench trsv --peers petcs", "did you mean petsc?"},
        Refused{"bench trsv --round 3", "did you mean --rounds?"},
        Refused{"bench trsv --json a --plot a", "are the same file"}}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 2) << line;
    EXPECT_TRUE(contains(result.err, says)) << line << ": " << result.err;
  }
}

TEST_F(Bench, AShapeThatCannotBeMeasuredFailsTheRunAndIsNamed) {
  if (sanitized()) GTEST_SKIP() << "a sanitizer needs more addresses than the limit of this test";
  std::filesystem::create_directories(file("none"));
  const auto result = run("bench trsv --only 'varpoisson star7' --threads 1 --rounds 1 --contenders none --json r.json",
                          "ulimit -v 900000;");
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_TRUE(contains(result.out, "MISSING varpoisson star7 192x192x192 b=1")) << result.out;
  EXPECT_EQ(json("r.json")["missing"].size(), 1u);
}

class BenchPeersFull : public Program {};

TEST_F(BenchPeersFull, EveryContenderThatIsBuiltGivesOurAnswers) {
  for (const char* kind : {"trsv", "factor --only box27", "solver"}) {
    // Ranks that wait must not spin: there may be fewer cores than ranks.
    const auto result =
        run(fmt::format("bench {} --small --threads 1 2 --json r.json", kind), "export OMPI_MCA_mpi_yield_when_idle=1;");
    EXPECT_EQ(result.status, 0) << result.err;
    const auto report = json("r.json");
    for (const auto& one : report["not_compared"]) {
      const std::string why = one["why"];
      EXPECT_TRUE(contains(why, "knows no blocks") || contains(why, "know no blocks") || contains(why, "it has no") ||
                  contains(why, "mpirun is not installed"))
          << kind << " " << one.dump();
    }
  }
}

}  // namespace
}  // namespace echelon::test
