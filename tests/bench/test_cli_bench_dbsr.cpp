// SPDX-License-Identifier: BSD-3-Clause
// echelon bench dbsr and echelon bench hpcg on tiny grids. The reference of HPCG is a script here, right and wrong.
#include <fmt/format.h>

#include <map>
#include <set>

#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class BenchOrders : public Program {
 protected:
  /// A program that leaves HPCG's report in its folder.
  std::string reference(const std::string& verdict, std::int64_t equations) {
    const auto path = file("xhpcg");
    std::ofstream(path) << "#!/bin/sh\ncat > HPCG-Benchmark_3.1_x.txt <<'X'\n"
                        << "Linear System Information::Number of Equations=" << equations << "\n"
                        << "Linear System Information::Number of Nonzero Terms=97336\n"
                        << "Iteration Count Information::Optimized CG iterations per set=50\n"
                        << "Reproducibility Information::Scaled residual mean=1e-9\n"
                        << "GFLOP/s Summary::Raw Total=0.6\n"
                        << "Final Summary::HPCG result is " << verdict << "\nX\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
};

TEST_F(BenchOrders, SolvesReachOneResidualAndFormatsDoNotChangeIterations) {
  for (const char* what : {"cg star7", "mg box27", "mg star7"}) {
    const auto result = run(fmt::format("bench dbsr --small --only '{}' --threads 1 2 --json r.json --plot r.svg", what));
    ASSERT_EQ(result.status, 0) << result.err << result.out;
    const auto report = json("r.json");
    ASSERT_EQ(report["cases"].size(), 2u * (1 + 2 * 9)) << result.out;
    std::map<std::string, int> iterations;
    for (const auto& row : report["cases"]) {
      const bool narrow = row["precision"] == "fp32";
      EXPECT_LE(row["relative_residual"].get<double>(), narrow ? 2e-5 : 2e-8);
      EXPECT_GT(row["measures"]["speedup_over_serial"].get<double>(), 0);
      iterations[fmt::format("{} {} {}", row["operation"].get<std::string>(), row["threads"].get<int>(),
                             row["precision"].get<std::string>())] = row["iterations"];
    }
    for (const char* tail : {" 1 fp64", " 2 fp64"}) {
      for (const std::string blocks : {"fix", "auto"}) {
        EXPECT_EQ(iterations["dbsr-" + blocks + tail], iterations["bmc-" + blocks + tail]) << what;
        EXPECT_EQ(iterations["simd-" + blocks + tail], iterations["bmc-" + blocks + tail]) << what;
      }
      EXPECT_EQ(iterations["lines" + std::string(tail)], iterations["serial 1 fp64"]) << what;
      EXPECT_GE(iterations["mc" + std::string(tail)], iterations["bmc-fix" + std::string(tail)]) << what;
    }
    EXPECT_TRUE(contains(result.out, "DBSR over BMC, FP64")) << result.out;
    EXPECT_TRUE(contains(text("r.svg"), "simd-auto"));
  }
}

TEST_F(BenchOrders, SweepsTellTimesStorageAndFactorizationInSteps) {
  const auto result = run("bench dbsr --small --only 'sweeps box27' --threads 1 2 --json r.json --plot r.svg");
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  std::set<std::string> formats;
  const auto rows = json("r.json")["cases"];
  for (const auto& row : rows) {
    formats.insert(row["operation"].get<std::string>());
    EXPECT_GT(row["percent_of_triad"].get<double>(), 0);
    EXPECT_GT(row["measures"]["factor_steps"].get<double>(), 0);
    EXPECT_GT(row["measures"]["step_seconds"].get<double>(), row["seconds"].get<double>() / 4);
    EXPECT_EQ(row["measures"]["bytes_nonzeros"].get<double>(), (row["precision"] == "fp64" ? 8 : 4) * 97336.0);
  }
  for (const char* name : {"serial", "bmc-fix", "lines", "sell+gather bsize 8", "dbsr+gather bsize 8", "dbsr bsize 8",
                           "simd bsize 1", "simd bsize 16"}) {
    EXPECT_EQ(formats.count(name), 1u) << name;
  }
  const auto again = run("bench dbsr --from r.json --plot again.svg");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "DBSR over SELL")) << again.out;
  EXPECT_EQ(text("again.svg"), text("r.svg"));
}

TEST_F(BenchOrders, MethodsAndCasesCanBeChosen) {
  const auto result = run("bench dbsr --small --only 'mg star7 16x16x16 fp64' --methods simd-fix --threads 2 --json r.json");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto rows = json("r.json")["cases"];
  ASSERT_EQ(rows.size(), 2u);  // the one that is asked for, and what its speedup is over
  EXPECT_EQ(rows[0]["operation"], "serial");
  EXPECT_EQ(rows[0]["threads"], 1);
  EXPECT_EQ(rows[1]["operation"], "simd-fix");
  EXPECT_EQ(rows[1]["threads"], 2);
  const auto others = run("bench dbsr --small --only levels --threads 1 --json l.json");
  ASSERT_EQ(others.status, 0) << others.err;
  EXPECT_EQ(json("l.json")["cases"].size(), 2u * 3);
  ASSERT_EQ(run("bench dbsr --small --only symgs --threads 1 --json s.json").status, 0);
  EXPECT_EQ(json("s.json")["cases"].size(), 4u * 2);
}

TEST_F(BenchOrders, RatingsAreThoseOfHpcgBesideTheReference) {
  const auto xhpcg = reference("VALID with a GFLOP/s rating of=0.5", 4096);
  const auto result = run(fmt::format(
      "bench hpcg --small --methods exact --ranks 1 --threads 1 --seconds 0.01 --xhpcg {} --json r.json --plot r.svg",
      xhpcg));
  ASSERT_EQ(result.status, 0) << result.err << result.out;
  const auto rows = json("r.json")["cases"];
  ASSERT_EQ(rows.size(), 1u);
  const auto& row = rows[0];
  EXPECT_EQ(row["operation"], "exact");
  EXPECT_EQ(row["iterations"], 50);
  const double rating = row["measures"]["rating_gflops"];
  EXPECT_NEAR(row["gflops"].get<double>(), rating, 1e-9 * rating);
  EXPECT_NEAR(row["speedup"].get<double>(), rating / 0.5, 1e-9 * rating);
  EXPECT_EQ(row["peer"], "HPCG 3.1, reference");
  EXPECT_TRUE(contains(text("r.svg"), "exact"));
  EXPECT_TRUE(contains(result.out, "16x16x16"));
}

TEST_F(BenchOrders, AReferenceThatIsWrongDoesNotCount) {
  const std::pair<std::string, std::int64_t> wrong[] = {{"INVALID.", 4096}, {"VALID with a GFLOP/s rating of=9", 4097}};
  for (const auto& [verdict, equations] : wrong) {
    const auto xhpcg = reference(verdict, equations);
    const auto result = run(fmt::format(
        "bench hpcg --small --methods exact --ranks 1 --threads 1 --seconds 0.01 --xhpcg {} --json r.json", xhpcg));
    EXPECT_EQ(result.status, 0) << result.err;
    const auto report = json("r.json");
    EXPECT_TRUE(report["cases"][0]["peer"].is_null());
    ASSERT_EQ(report["not_compared"].size(), 1u);
  }
}

TEST_F(BenchOrders, WhatDoesNotGoTogetherIsRefused) {
  struct Refused {
    const char *arguments, *sentence;
  };
  for (const auto& one : {Refused{"bench dbsr --methods exact", "--methods: dbsr has no 'exact'"},
                          Refused{"bench hpcg --methods simd-fix", "--methods: hpcg has no 'simd-fix'"},
                          Refused{"bench dbsr --ranks 2", "--ranks is for hpcg"},
                          Refused{"bench trsv --large", "--large is for hpcg and dbsr"},
                          Refused{"bench dbsr --small --large", "--small and --large exclude each other"},
                          Refused{"bench dbsr --backend cuda", "dbsr is of the host"},
                          Refused{"bench dbsr --only nothing", "no case of dbsr"}}) {
    const auto result = run(one.arguments);
    EXPECT_EQ(result.status, 2) << one.arguments;
    EXPECT_TRUE(contains(result.err, one.sentence)) << result.err;
  }
}

}  // namespace
}  // namespace echelon::test
