// SPDX-License-Identifier: BSD-3-Clause
// check, info and selftest, and every kind of report against docs/report.schema.json.
#include <fmt/format.h>

#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class Reports : public Program {};

TEST_F(Reports, CheckFindsBlocksSymmetryAndRank) {
  std::string text = "%%MatrixMarket matrix coordinate real general\n4 4 12\n";
  for (int r = 1; r <= 4; ++r) {
    for (int c = 1; c <= 4; ++c) {
      if ((r - 1) / 2 == 1 && (c - 1) / 2 == 0) continue;
      text += std::to_string(r) + " " + std::to_string(c) + " " + (r == c ? "10" : "1") + "\n";
    }
  }
  write("A.mtx", text);
  const auto result = run("check A.mtx --json r.json");
  EXPECT_EQ(result.status, 0) << result.err;
  const auto matrix = json("r.json")["matrix"];
  EXPECT_EQ(matrix["block_guess"], 2);
  EXPECT_EQ(matrix["symmetric"], false);
  EXPECT_EQ(matrix["pattern_symmetric"], false);
  EXPECT_EQ(matrix["structural_rank"], 4);
  EXPECT_EQ(matrix["diagonal"]["dominant_rows"], 4);
  EXPECT_TRUE(contains(result.out, "try --block 2")) << result.out;
}

TEST_F(Reports, CheckSaysNoToWhatCannotBeSolved) {
  write("singular.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 4\n2 2 5\n3 2 1\n");
  const auto singular = run("check singular.mtx --json r.json");
  EXPECT_EQ(singular.status, 1);
  EXPECT_TRUE(contains(singular.out, "row 3 cannot be matched")) << singular.out;
  EXPECT_TRUE(contains(singular.out, "rank n-1")) << singular.out;
  EXPECT_EQ(json("r.json")["matrix"]["empty_columns"], 1);
  write("nan.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n2 2 5\n1 2 nan\n");
  const auto nan = run("check nan.mtx");
  EXPECT_EQ(nan.status, 1);
  EXPECT_TRUE(contains(nan.out, "row 1, column 2")) << nan.out;
  write("inf.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 4\n2 2 5\n1 2 1e308\n1 2 1e308\n");
  const auto sum = run("check inf.mtx --json i.json");
  EXPECT_EQ(sum.status, 1) << sum.out;
  EXPECT_TRUE(contains(sum.out, "row 1, column 2")) << sum.out;
  EXPECT_EQ(json("i.json")["matrix"]["nonfinite"], 1);
  write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 4\n2 3 1\n");
  EXPECT_EQ(run("check wide.mtx").status, 1);
}

TEST_F(Reports, InfoNamesTheMachine) {
  const auto result = run("info --json r.json");
  EXPECT_EQ(result.status, 0);
  for (const char* word : {"version", "CUDA", "CPU", "SIMD", "threads", "copy"})
    EXPECT_TRUE(contains(result.out, word)) << word;
  EXPECT_GT(json("r.json")["backend"]["copy_bandwidth_gbs"].get<double>(), 0.1);
}

TEST_F(Reports, SolveSaysWhichKernelFactored) {
  write("A.mtx", small_matrix);
  const std::pair<const char*, const char*> cases[] = {
      {"--grid 5 --pc ic", "lines, b=1, diagonal only"},
      {"--grid 5 --stencil box27 --pc ilu", "lines, b=1"},
      {"--problem navierstokes --grid 4 --pc ilu", "lines, b=4"},
      {"--matrix A.mtx --pc ilu", "rows, b=1, 16-bit distances"},
      {"--matrix A.mtx --pc parilu", "fixed-point sweeps, b=1, 16-bit distances"},
      {"--matrix A.mtx --pc parilut", "rounds of fixed-point sweeps, b=1"},
      {"--matrix A.mtx --pc ilut", "rows with thresholds, b=1"},
  };
  for (const auto& [options, kernel] : cases) {
    const auto result = run(fmt::format("solve {} --json r.json", options));
    EXPECT_EQ(json("r.json")["preconditioner"]["factor_kernel"], kernel) << options << result.err;
  }
  (void)run("solve --matrix A.mtx --pc jacobi --json r.json");
  EXPECT_TRUE(json("r.json")["preconditioner"]["factor_kernel"].is_null()) << "nothing was factored";
}

TEST_F(Reports, EveryKindFitsTheSchema) {
  if (std::system("/usr/bin/python3 -c 'import jsonschema' 2>/dev/null") != 0)
    GTEST_SKIP() << "python3-jsonschema is not installed";
  write("A.mtx", small_matrix);
  write("Z.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 2 1\n2 1 1\n2 2 1\n3 3 2\n2 3 1\n");
  write("H.mtx", "%%MatrixMarket matrix coordinate real general\n300000000 300000000 1\n1 1 1\n");
  write("L.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 -1\n2 1 -1\n2 2 1\n");
  write("D.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 -1\n2 1 -3\n2 2 3\n");
  write("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
  std::string files;
  int count = 0;
  for (const char* line :
       {"solve --grid 5", "solve --matrix A.mtx", "solve --matrix Z.mtx --pc ilu", "solve --grid 9 --max-it 1",
        "solve --matrix Z.mtx --pc ilu --shift none", "solve --pc amg", "solve --matrix nothere.mtx", "solve --grid 20000",
        "check A.mtx", "check Z.mtx", "check nothere.mtx", "info", "check H.mtx",
        "solve --matrix L.mtx --rhs b.mtx --null-space constant", "solve --matrix D.mtx --null-space constant",
        "solve --problem projection --grid 7 --pc ilu --trisolve jacobi --scale-factors both", "bench trisolve --small",
        "hpcg --grid 16 --seconds 0.01", "hpcg --grid 20"}) {
    const auto name = fmt::format("r{}.json", count++);
    (void)run(std::string(line) + " --json " + name);
    ASSERT_TRUE(std::filesystem::exists(file(name))) << line;
    files += fmt::format(" {}", file(name));
  }
  const std::string script =
      "import json,sys,jsonschema\n"
      "schema=json.load(open(sys.argv[1]))\n"
      "jsonschema.Draft7Validator.check_schema(schema)\n"
      "for f in sys.argv[2:]:\n"
      "  jsonschema.validate(json.load(open(f)),schema)\n"
      "bad=json.load(open(sys.argv[2])); bad['reason']='because'\n"
      "try: jsonschema.validate(bad,schema)\n"
      "except jsonschema.ValidationError: sys.exit(0)\n"
      "sys.exit('the schema accepts anything')\n";
  write("validate.py", script);
  const auto command = fmt::format("/usr/bin/python3 {} {}/docs/report.schema.json{} >{} 2>&1", file("validate.py"),
                                   ECHELON_SOURCE_DIR, files, file("said"));
  EXPECT_EQ(std::system(command.c_str()), 0) << text("said");
}

class SelftestFull : public Program {};

TEST_F(SelftestFull, PassesInUnderAMinute) {
  const auto result = run("selftest --json r.json");
  EXPECT_EQ(result.status, 0) << result.out;
  const auto report = json("r.json");
  EXPECT_EQ(report["passed"], true);
  EXPECT_LT(report["seconds"]["total"].get<double>(), 60);
}

}  // namespace
}  // namespace echelon::test
