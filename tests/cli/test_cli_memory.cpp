// SPDX-License-Identifier: BSD-3-Clause
// Memory follows the bytes that are there, not what they claim: the most that any of these runs takes is a small part of
// what its file asks for. The peak is that of all children so far, so every test bounds those before it as well.
#include <sys/resource.h>

#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;
/// The program with its threads takes about 20 MiB.
constexpr std::int64_t bound = 150 * mebibyte;

class Memory : public Program {
 protected:
  void SetUp() override {
    if (sanitized()) GTEST_SKIP() << "a sanitizer takes memory of its own";
  }
  static std::int64_t peak() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
  }
  /// Under a limit, so that the machine survives a program that fails here.
  Outcome run_bounded(const std::string& line, const std::string& before = "") const {
    return run(line, before + " ulimit -v 4000000;");
  }
};

TEST_F(Memory, FewerEntriesThanRowsIsSingularByTheSizeLine) {
  // Each takes 10 GB when its rows are taken at their word.
  const std::pair<const char*, const char*> headers[] = {
      {"general", "300000000 300000000 2\n1 1 1\n2 2 1\n"},
      {"symmetric", "300000000 300000000 3\n1 1 1\n2 1 1\n3 3 1\n"},
      {"skew-symmetric", "300000000 300000000 1\n2 1 1\n"},
  };
  for (const auto& [symmetry, text] : headers) {
    SCOPED_TRACE(symmetry);
    write("A.mtx", "%%MatrixMarket matrix coordinate real " + std::string(symmetry) + "\n" + text);
    const auto solved = run_bounded("solve --matrix A.mtx --json s.json");
    EXPECT_EQ(solved.status, 2);
    EXPECT_TRUE(contains(solved.err, "structurally singular")) << solved.err;
    EXPECT_EQ(json("s.json")["error"]["code"], "structure");
    const auto checked = run_bounded("check A.mtx --json c.json");
    EXPECT_EQ(checked.status, 1) << checked.err;
    EXPECT_TRUE(contains(checked.out, "structurally singular")) << checked.out;
    const auto report = json("c.json");
    EXPECT_EQ(report["solvable"], false);
    EXPECT_EQ(report["matrix"]["looked_at"], "size line");
    EXPECT_LE(report["matrix"]["structural_rank_at_most"].get<std::int64_t>(), 6);
    EXPECT_LT(peak(), bound);
  }
}

TEST_F(Memory, RowsOfASingularMatrixAreAskedForBeforeTheyAreTaken) {
  // Its null space is given, so few entries are no reason to refuse it; 139 GiB are.
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n300000000 300000000 2\n1 1 1\n2 2 1\n");
  const auto result = run("solve --matrix A.mtx --null-space constant", "ulimit -v 16000000;");
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(contains(result.err, "vectors needs")) << result.err;
  EXPECT_LT(peak(), bound);
}

TEST_F(Memory, FewerEntriesThanRowsInASmallMatrixStillNamesTheRows) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n3 3 1\n");
  EXPECT_TRUE(contains(run("solve --matrix A.mtx").err, "row 2 cannot be matched"));
  EXPECT_TRUE(contains(run("check A.mtx").out, "row 2 cannot be matched"));
}

TEST_F(Memory, RectanglesAndRightSidesAreRefusedByTheSizeLine) {
  write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 300000000 1\n1 1 1\n");
  write("tall.mtx", "%%MatrixMarket matrix coordinate real general\n300000000 2 1\n1 1 1\n");
  for (const std::string name : {"wide.mtx", "tall.mtx"}) {
    const auto solved = run_bounded("solve --matrix " + name);
    EXPECT_EQ(solved.status, 2);
    EXPECT_TRUE(contains(solved.err, "300000000") && contains(solved.err, "square")) << solved.err;
    EXPECT_EQ(run_bounded("check " + name).status, 1);
  }
  write("A.mtx", small_matrix);
  write("b.mtx", "%%MatrixMarket matrix coordinate real general\n300000000 1 1\n1 1 1\n");
  const auto longer = run_bounded("solve --matrix A.mtx --rhs b.mtx");
  EXPECT_EQ(longer.status, 2);
  EXPECT_TRUE(contains(longer.err, "300000000 entries") && contains(longer.err, "2 rows")) << longer.err;
  EXPECT_LT(peak(), bound);
}

TEST_F(Memory, GzipOfSomethingElseIsNotInflated) {
  ASSERT_EQ(std::system(("head -c 600000000 /dev/zero | gzip -1 > " + file("zeros.gz")).c_str()), 0);
  for (const std::string line : {"solve --matrix zeros.gz", "check zeros.gz"}) {
    const auto result = run_bounded(line);
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(contains(result.err, "not a Matrix Market file")) << result.err;
  }
  EXPECT_LT(peak(), bound);
}

TEST_F(Memory, WhatIsNoReportIsNotReadToItsEnd) {
  for (const char* endless : {"/dev/zero", "/dev/urandom"}) {
    if (!std::filesystem::exists(endless)) continue;
    const auto result = run("bench trisolve --from " + std::string(endless), "ulimit -t 10; ulimit -v 4000000;");
    EXPECT_EQ(result.status, 2) << endless << result.err;
    EXPECT_TRUE(contains(result.err, "not the report of a benchmark")) << result.err;
    EXPECT_LT(peak(), bound);
  }
}

TEST_F(Memory, AStreamWithoutAnEndIsLeftWhenItIsNoMatrix) {
  const auto device = run_bounded("solve --matrix /dev/zero");
  EXPECT_EQ(device.status, 2);
  EXPECT_TRUE(contains(device.err, "not a Matrix Market file")) << device.err;
  const auto plain = run_bounded("check plain", "mkfifo plain; yes > plain & ");
  EXPECT_EQ(plain.status, 2);
  EXPECT_TRUE(contains(plain.err, "not a Matrix Market file")) << plain.err;
  const auto packed = run_bounded("check packed", "mkfifo packed; yes | gzip > packed & ");
  EXPECT_EQ(packed.status, 2);
  EXPECT_TRUE(contains(packed.err, "not a Matrix Market file")) << packed.err;
  const std::string banner = "echo '%%MatrixMarket matrix coordinate real general'; ";
  const auto comments = run_bounded("check comments", "mkfifo comments; (" + banner + "yes %) > comments & ");
  EXPECT_EQ(comments.status, 2);
  EXPECT_TRUE(contains(comments.err, "size line")) << comments.err;
  const auto surplus = run_bounded("check surplus", "mkfifo surplus; (" + banner + "echo 2 2 2; yes '1 1 1') > surplus & ");
  EXPECT_EQ(surplus.status, 2);
  EXPECT_TRUE(contains(surplus.err, "promises 2 entries")) << surplus.err;
  const auto rhs = run_bounded("solve --grid 4 --rhs /dev/zero");
  EXPECT_EQ(rhs.status, 2);
  EXPECT_TRUE(contains(rhs.err, "not a Matrix Market file")) << rhs.err;
  EXPECT_LT(peak(), bound);
}

TEST_F(Memory, AMatrixFromAPipeIsStillRead) {
  write("A.mtx", small_matrix);
  EXPECT_EQ(run("solve --matrix pipe", "mkfifo pipe; cat A.mtx > pipe & ").status, 0);
  EXPECT_EQ(run("solve --matrix packed", "mkfifo packed; gzip < A.mtx > packed & ").status, 0);
  // Longer than the first look, plain and packed.
  std::string text = "%%MatrixMarket matrix coordinate real general\n20000 20000 20000\n";
  for (int i = 1; i <= 20000; ++i) text += std::to_string(i) + " " + std::to_string(i) + " 2.5\n";
  write("long.mtx", text);
  EXPECT_EQ(run("solve --matrix longer", "mkfifo longer; cat long.mtx > longer & ").status, 0);
  EXPECT_EQ(run("solve --matrix both", "mkfifo both; gzip < long.mtx > both & ").status, 0);
}

}  // namespace
}  // namespace echelon::test
