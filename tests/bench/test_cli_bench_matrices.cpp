// SPDX-License-Identifier: BSD-3-Clause
// echelon bench matrices --backend cuda: files solved on host and GPU with the same verdicts. Without a GPU the host stands
// in for it, which must agree with itself.
#include "bench/program/bench_cuda_matrices.hpp"

#include <cmath>

#include "bench/measure/block_matrix.hpp"
#include "bench/program/bench_text.hpp"
#include "echelon/io/matrix_market.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

class BenchMatrices : public Program {
 protected:
  void write_matrices() const {
    write_matrix_market(file("poisson.mtx"), to_block_csr(problems::poisson({11, 10, 12}, stencils::star7())));
    write("shifted.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 4\n2 3 5\n3 1 6\n3 2 1\n");
  }
  static void say_nothing(const std::string&) {}
};

TEST_F(BenchMatrices, EveryFileHasThreeRunsAndTheHostAgreesWithItself) {
  write_matrices();
  const auto cases = bench::block_files(folder_.string());
  ASSERT_EQ(cases.size(), 2u);
  BenchReport report;
  report.kind = "matrices";
  report.backend.kind = "cuda";
  for (const auto& one : cases) {
    const auto result = cli::measure_matrix_verdicts(one, Device::host(), say_nothing);
    EXPECT_EQ(result.rows.size(), 3u);
    EXPECT_TRUE(result.missing.empty()) << result.missing.front().why;
    for (const auto& row : result.rows) {
      ASSERT_EQ(row.peers.size(), 1u);
      EXPECT_EQ(row.iterations, row.peers[0].iterations);
      EXPECT_EQ(row.reason, row.peers[0].reason);
      report.rows.push_back(row);
    }
  }
  EXPECT_EQ(report.rows[0].stencil, "star7 on 11x10x12");
  EXPECT_EQ(report.rows[2].schedule, "cg with ic(0)");
  EXPECT_LE(report.rows[2].relative_residual, 1e-8);
  EXPECT_TRUE(contains(report.rows[5].schedule, "rows matched"));
  const auto table = cli::bench_table(report);
  EXPECT_TRUE(contains(table, "6 runs:")) << table;
  EXPECT_TRUE(contains(table, "star7 on 11x10x12")) << table;
}

TEST_F(BenchMatrices, WhatIsWrongIsSaid) {
  struct Refused {
    const char* line;
    const char* says;
  };
  for (const auto& [line, says] : {Refused{"bench matrices --matrices .", "matrices needs --backend cuda"},
                                   Refused{"bench matrices --backend cuda", "matrices needs --matrices DIR"},
                                   Refused{"bench matrices --backend cuda --matrices . --plot p.svg", "no picture"},
                                   Refused{"bench matrixes", "did you mean matrices?"}}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 2) << line;
    EXPECT_TRUE(contains(result.err, says)) << line << ": " << result.err;
  }
}

TEST_F(BenchMatrices, OnAGpu) {
  if (Device::cuda_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  write_matrices();
  const auto result = run("bench matrices --backend cuda --matrices . --json r.json");
  EXPECT_EQ(result.status, 0) << result.err << result.out;
  EXPECT_EQ(json("r.json")["cases"].size(), 6u);
  for (const auto& row : json("r.json")["cases"]) EXPECT_EQ(row["reason"], row["peers"][0]["reason"]) << row.dump();
}

}  // namespace
}  // namespace echelon::test
