// SPDX-License-Identifier: BSD-3-Clause
// Solves as a user runs them: answers checked from the written files, honest ends, repairs told.
#include <fmt/format.h>

#include <cmath>

#include "echelon/base/device.hpp"
#include "echelon/io/matrix_market.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

double relative_residual(const Operator<double>& A, const Vector<double>& b, const Vector<double>& x) {
  Vector<double> y(A.rows());
  A.apply(x, y);
  double r2 = 0, b2 = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) {
    r2 += (b[i] - y[i]) * (b[i] - y[i]);
    b2 += b[i] * b[i];
  }
  return std::sqrt(r2 / b2);
}

class Solve : public Program {};

TEST_F(Solve, TheWrittenSolutionHasTheReportedResidual) {
  const auto result = run("solve --grid 12 --json r.json --solution x.mtx --history h.csv --plot p.svg");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "cg with ic(0)"));
  EXPECT_EQ(result.err, "") << "no progress line in a pipe";
  const auto A = problems::poisson({12, 12, 12}, stencils::star7());
  const Vector<double> b(A.rows(), 1.0);
  const auto report = json("r.json");
  const double expected = relative_residual(A, b, read_vector(file("x.mtx")));
  EXPECT_LE(expected, 1e-8);
  EXPECT_NEAR(report["relative_residual"].get<double>(), expected, 1e-3 * expected);
  EXPECT_EQ(report["converged"], true);
  EXPECT_EQ(report["reason"], "rtol");
  EXPECT_EQ(report["history"].size(), report["iterations"].get<std::size_t>() + 1);
  EXPECT_EQ(report["problem"]["nnz"], A.nonzeros());
  EXPECT_TRUE(contains(text("h.csv"), "iteration,relative_residual\n0,1\n"));
  EXPECT_TRUE(contains(text("p.svg"), "</svg>"));
}

TEST_F(Solve, FilesDefaultToASolutionOfOnes) {
  write("A.mtx", small_matrix);
  ASSERT_EQ(run("solve --matrix A.mtx --solution x.mtx --rtol 1e-14").status, 0);
  const auto x = read_vector(file("x.mtx"));
  EXPECT_NEAR(x[0], 1, 1e-13);
  EXPECT_NEAR(x[1], 1, 1e-13);
}

TEST_F(Solve, AFileThatIsAStencilIsSolvedAsSuch) {
  write_matrix_market(file("A.mtx"), to_block_csr(problems::convection_diffusion({12, 11, 10}, stencils::star7())));
  const auto taken = run("solve --matrix A.mtx --json r.json");
  ASSERT_EQ(taken.status, 0) << taken.err;
  EXPECT_EQ(json("r.json")["recognised"], "star7 on 12x11x10");
  EXPECT_TRUE(contains(taken.out, "the matrix is the stencil star7 on 12x11x10 and was solved as such")) << taken.out;
  ASSERT_EQ(run("solve --matrix A.mtx --recognise off --json s.json").status, 0);
  EXPECT_TRUE(json("s.json")["recognised"].is_null());
  EXPECT_EQ(json("r.json")["iterations"], json("s.json")["iterations"]);
}

TEST_F(Solve, APetscUsersLineWorks) {
  write("A.mtx", small_matrix);
  const auto result =
      run("solve --matrix A.mtx -ksp_type bcgs -ksp_rtol 1e-10 -ksp_max_it 50 -pc_type ilu -pc_factor_levels 1 "
          "-pc_factor_mat_ordering_type rcm -ksp_converged_reason --json r.json");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto report = json("r.json");
  EXPECT_EQ(report["solver"], "bicgstab");
  EXPECT_EQ(report["preconditioner"]["name"], "ilu");
  EXPECT_EQ(report["preconditioner"]["fill"], 1);
  EXPECT_EQ(report["preconditioner"]["ordering"], "rcm");
  EXPECT_EQ(report["rtol"], 1e-10);
}

TEST_F(Solve, TheSameBitsForEveryThreadCountAndRun) {
  std::string hashes[3];
  const char* threads[] = {"1", "2", "3"};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(run(std::string("solve --problem convdiff --grid 20 -q --json r.json --threads ") + threads[i]).status, 0);
    hashes[i] = json("r.json")["solution_hash"];
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

TEST_F(Solve, OutOfIterationsIsOneAndTheBestIterateIsWritten) {
  const auto result = run("solve --grid 20 --solver gmres --pc none --max-it 3 --json r.json --solution x.mtx");
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.out, "NOT converged after 3 iterations (max_it)")) << result.out;
  EXPECT_TRUE(contains(result.out, "raise --max-it"));
  const auto report = json("r.json");
  EXPECT_EQ(report["converged"], false);
  const auto A = problems::poisson({20, 20, 20}, stencils::star7());
  const Vector<double> b(A.rows(), 1.0);
  const double expected = relative_residual(A, b, read_vector(file("x.mtx")));
  EXPECT_NEAR(report["relative_residual"].get<double>(), expected, 1e-6);
}

TEST_F(Solve, QuietPrintsNothingButTheReasonOfAFailure) {
  const auto good = run("solve --grid 6 -q");
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.out + good.err, "");
  const auto bad = run("solve --grid 20 --pc none --solver gmres --max-it 2 -q");
  EXPECT_EQ(bad.status, 1);
  EXPECT_EQ(bad.out, "");
  EXPECT_TRUE(contains(bad.err, "max_it"));
}

TEST_F(Solve, VerboseShowsIterationsAndTheHash) {
  const auto result = run("solve --grid 6 -v --json r.json");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.out, json("r.json")["solution_hash"].get<std::string>()));
  EXPECT_TRUE(contains(result.out, "trying cg with ic(0)"));
}

TEST_F(Solve, AZeroPivotIsRepairedAndTold) {
  // The diagonal's first entry is missing.
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 2 1\n2 1 1\n2 2 1\n3 3 2\n2 3 1\n");
  const auto repaired = run("solve --matrix A.mtx --pc ilu --json r.json");
  EXPECT_LE(repaired.status, 1);
  const auto pc = json("r.json")["preconditioner"];
  EXPECT_EQ(pc["missing_diagonals"], 1);
  EXPECT_GE(pc["perturbed_pivots"].get<int>() + (pc["shift"].get<double>() > 0), 1);
  EXPECT_EQ(pc["bad_pivots"][0]["row"], 1);
  const auto strict = run("solve --matrix A.mtx --pc ilu --strict --json s.json");
  EXPECT_EQ(strict.status, 2);
  EXPECT_TRUE(contains(strict.err, "--strict"));
  EXPECT_EQ(json("s.json")["error"]["code"], "repair_forbidden");
}

TEST_F(Solve, ShiftNoneStopsWithThePlaceAndWritesAFiniteX) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 6\n1 1 0\n1 2 1\n2 1 1\n2 2 1\n3 3 2\n2 3 1\n");
  const auto result = run("solve --matrix A.mtx --pc ilu --shift none --json r.json --solution x.mtx");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(json("r.json")["reason"], "pc_failed");
  EXPECT_TRUE(contains(result.out, "row 1")) << result.out;
  for (const double value : read_vector(file("x.mtx"))) EXPECT_TRUE(std::isfinite(value));
}

TEST_F(Solve, StrictRefusesDuplicates) {
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 1 1\n2 2 5\n");
  const auto relaxed = run("solve --matrix A.mtx");
  EXPECT_EQ(relaxed.status, 0);
  EXPECT_TRUE(contains(relaxed.out, "1 duplicate"));
  EXPECT_EQ(run("solve --matrix A.mtx --strict").status, 2);
  EXPECT_EQ(run("solve --matrix A.mtx --strict --duplicates sum").status, 0);
}

TEST_F(Solve, ASingularSystemWithItsNullSpace) {
  // The graph Laplacian of a path of four points: A·1 = 0.
  write("L.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n4 4 7\n1 1 1\n2 2 2\n3 3 2\n4 4 1\n2 1 -1\n3 2 -1\n4 3 -1\n");
  write("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\n-1\n2\n-2\n");
  const auto result = run("solve --matrix L.mtx --rhs b.mtx --null-space constant --pc jacobi --solution x.mtx");
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const auto x = read_vector(file("x.mtx"));
  EXPECT_NEAR(x[0] - x[1], 1, 1e-6);
  EXPECT_NEAR(x[0] + x[1] + x[2] + x[3], 0, 1e-6);
}

TEST_F(Solve, AProblemWithoutFluxIsSolvedOrthogonalToTheConstant) {
  const auto result = run("solve --grid 9x8x7 --boundary neumann --rtol 1e-10 --solution x.mtx --json r.json");
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const auto x = read_vector(file("x.mtx"));
  double sum = 0, largest = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) sum += x[i], largest = std::fmax(largest, std::abs(x[i]));
  EXPECT_GT(largest, 1);
  EXPECT_LT(std::abs(sum), 1e-10 * largest * static_cast<double>(x.size()));
  EXPECT_EQ(json("r.json")["arguments"][4], "neumann");
  // 1 is in the null space: a right-hand side of it has nothing that A can reach.
  write("b.mtx", "%%MatrixMarket matrix array real general\n8 1\n1\n1\n1\n1\n1\n1\n1\n2\n");
  EXPECT_EQ(run("solve --grid 2 --boundary neumann --rhs b.mtx").status, 1);
}

TEST_F(Solve, TheTimeLimitEndsInOrder) {
  // Long enough for a sanitizer's build to reach its first iteration.
  const auto result =
      run("solve --grid 96 --pc none --solver gmres --rtol 1e-13 --max-it 1000000 --time-limit 5 --json r.json --solution "
          "x.mtx");
  EXPECT_EQ(result.status, 1) << result.out;
  EXPECT_EQ(json("r.json")["reason"], "time_limit") << result.out;
  EXPECT_EQ(read_vector(file("x.mtx")).size(), 884736);
}

TEST_F(Solve, TheTimeLimitBoundsSetUpToo) {
  const auto result = run("solve --grid 48 --pc ilu --fill 40 --time-limit 0.3 --json r.json --solution x.mtx");
  EXPECT_EQ(result.status, 1) << result.out;
  EXPECT_TRUE(contains(result.out + result.err, "before the first iteration")) << result.out << result.err;
  EXPECT_EQ(json("r.json")["reason"], "time_limit");
  EXPECT_EQ(read_vector(file("x.mtx")).size(), 48 * 48 * 48);
}

TEST_F(Solve, TheReportOnStandardOutputIsNothingButJson) {
  const auto result = run("solve --grid 4 --json -");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(nlohmann::json::parse(result.out)["converged"], true);
  EXPECT_TRUE(contains(result.err, "converged"));
}

TEST_F(Solve, EveryProblemInItsWords) {
  struct Case {
    const char* line;
    const char* stencil;
    int block;
  };
  for (const auto& [line, stencil, block] :
       {Case{"varpoisson --grid 10 --coefficient jumps --contrast 1e4", "star7", 1},
        Case{"varpoisson --grid 12x10 --anisotropy 1,0.1,1", "star5", 1},
        Case{"varpoisson --grid 8 --stencil box27 --contrast 30 --anisotropy 0.2", "box27", 1},
        Case{"varpoisson --grid 10 --coefficient random --contrast 1e3 --seed 5", "star7", 1},
        Case{"varpoisson --grid 8 --stencil box27 --coefficient random", "box27", 1},
        Case{"varpoisson --grid 12x10 --coefficient regions --contrast 1000", "star5", 1},
        Case{"varpoisson --grid 9x8x7 --coefficient jumps --boundary neumann", "star7", 1},
        Case{"varpoisson --grid 9x8 --stencil box9 --boundary neumann", "box9", 1},
        Case{"poisson --grid 8 --boundary neumann", "star7", 1},
        Case{"poisson --grid 20x10 --boundary neumann", "star5", 1},
        Case{"poisson --grid 8 --stencil box27 --boundary neumann", "box27", 1},
        Case{"convdiff --grid 10 --velocity 0,-1,0 --peclet 1e4", "star7", 1},
        Case{"convdiff --grid 16x15 --velocity recirculating --peclet 1000", "star5", 1},
        Case{"convdiff --grid 9 --velocity recirculating", "star7", 1},
        Case{"navierstokes --grid 8x7x6 --cfl 2 --mach 0.2 --reynolds 50", "box27", 4},
        Case{"euler --grid 8 --dof 5 --stencil star13 --dt 0.05", "star13", 5},
        Case{"euler --grid 12x10", "star13", 5},
        Case{"cahnhilliard --grid 8 --dt 1e-4", "diamond25", 2},
        Case{"projection --grid 7 --density-ratio 1e3", "box27", 1},
        Case{"projection --grid 19x20 --radius 0.1", "box9", 1}}) {
    const auto result = run(std::string("solve --json r.json --problem ") + line);
    EXPECT_EQ(result.status, 0) << line << result.out << result.err;
    EXPECT_EQ(json("r.json")["problem"]["stencil"], stencil) << line;
    EXPECT_EQ(json("r.json")["problem"]["block"], block) << line;
    EXPECT_LT(json("r.json")["relative_residual"], 1.0e-8) << line;
  }
  const auto cg = run("solve --problem varpoisson --grid 8");
  EXPECT_TRUE(contains(cg.out, "cg with ic(0)")) << cg.out;
}

TEST_F(Solve, IteratedTriangularSolves) {
  const std::string base = "solve --problem projection --grid 9 --pc ilu --solver gmres --json r.json --trisolve ";
  for (const char* line :
       {"exact", "jacobi", "jacobi --sweeps 8 --trisolve-form compact", "jacobi --jacobi-block 16 --sweeps 5",
        "jacobi --damping 0.8", "neumann --sweeps 10", "jacobi --scale-factors both", "auto"}) {
    const auto result = run(base + line);
    EXPECT_EQ(result.status, 0) << line << result.out << result.err;
    const auto note = json("r.json")["preconditioner"]["trisolve"];
    const std::string word = line, method = word.substr(0, word.find(' '));
    if (method == "exact") {
      EXPECT_TRUE(note.is_null());
    } else {
      EXPECT_EQ(note["asked"], method);
      EXPECT_EQ(note["used"], method == "auto" ? "exact" : word.find("block") != word.npos ? "block jacobi" : method);
    }
  }
  EXPECT_EQ(run("solve --grid 8 --pc ilu --trisolve auto --json r.json").status, 0);
  EXPECT_EQ(json("r.json")["preconditioner"]["trisolve"]["why"], "factors on a grid are swept exactly");
  const auto scaled = run("solve --problem projection --grid 9 --scale-matrix ruiz");
  EXPECT_EQ(scaled.status, 0);
  EXPECT_TRUE(contains(scaled.out, "A was scaled first")) << scaled.out;
  // ILU(0) of a biharmonic operator: the iteration grows, the guard says so, and the solve is that of exact sweeps.
  const auto guarded = run("solve --problem cahnhilliard --grid 8 --dt 1 --pc ilu --trisolve neumann --sweeps 6 --max-it 2");
  EXPECT_TRUE(contains(guarded.out, "exact sweeps take over")) << guarded.out;
}

TEST_F(Solve, IteratedTriangularSolvesOnAGpu) {
  const auto grid = run("solve --grid 8 --pc ilu --backend cuda --trisolve jacobi");
  if (Device::cuda_count() == 0) {
    EXPECT_EQ(grid.status, 3) << grid.err;
    GTEST_SKIP() << "no GPU on this machine";
  }
  EXPECT_EQ(grid.status, 0) << grid.err;
  const std::string base = "solve --problem projection --grid 13 --pc ilu --solver gmres --json r.json --trisolve ";
  for (const char* line : {"jacobi", "jacobi --jacobi-block 16 --sweeps 5", "neumann --sweeps 10", "auto",
                           "jacobi --scale-factors both --ordering rcm"}) {
    ASSERT_EQ(run(base + line).status, 0) << line;
    const int on_host = json("r.json")["iterations"].get<int>();
    const auto result = run(base + line + " --backend cuda");
    ASSERT_EQ(result.status, 0) << line << result.out << result.err;
    EXPECT_NEAR(json("r.json")["iterations"].get<int>(), on_host, 1) << line;
    const std::string word = line;
    EXPECT_EQ(json("r.json")["preconditioner"]["trisolve"]["asked"], word.substr(0, word.find(' ')));
  }
}

/// The second paper's systems to its backward error, by direct and by iterated triangular solves.
TEST_F(Solve, ProjectionsToTheBackwardErrorOfRounding) {
  for (const char* grid : {"7", "13"}) {
    for (const char* solver : {"bicgstab", "fgmres"}) {
      int exact = 0;
      for (const char* way : {"exact", "jacobi"}) {
        const auto result =
            run(fmt::format("solve --problem projection --grid {} --solver {} --pc ilut --lfil 50 --drop 1e-15 "
                            "--trisolve {} --rtol 0 --nrbe 1e-15 --json r.json",
                            grid, solver, way));
        ASSERT_EQ(result.status, 0) << grid << solver << way << result.out << result.err;
        const auto report = json("r.json");
        EXPECT_LE(report["nrbe"].get<double>(), 1e-15);
        EXPECT_EQ(report["reason"], "nrbe");
        const int iterations = report["iterations"].get<int>();
        if (exact == 0) exact = iterations;
        EXPECT_NEAR(iterations, exact, 1) << grid << solver << way;
      }
    }
  }
}

TEST_F(Solve, SweepsOfAFactorizationAndOfItsTriangles) {
  ASSERT_EQ(run("solve --grid 8 --pc parilu --sweeps 3 --json r.json").status, 0);
  EXPECT_EQ(json("r.json")["preconditioner"]["factor_sweeps"], 3);
  ASSERT_EQ(run("solve --grid 8 --pc parilu --sweeps 7 --trisolve jacobi --factor-sweeps 2 --json r.json").status, 0);
  const auto pc = json("r.json")["preconditioner"];
  EXPECT_EQ(pc["factor_sweeps"], 2);
  EXPECT_EQ(pc["trisolve"]["sweeps"], 7);
}

TEST_F(Solve, BlocksStencilsAndProblems) {
  for (const char* line :
       {"--problem random --grid 5 --stencil box27 --dof 3", "--problem convdiff --grid 9x8x7 --peclet 50", "--grid 30x20",
        "--grid 20 --stencil box9", "--problem random --grid 6x5 --stencil star9 --dof 2 --seed 9",
        "--grid 8 --solver fgmres --pc ilu --fill 1 --ordering rcm --basis fp32",
        "--grid 8 --solver bicgstab --pc ilu --schedule levels --threads 2"}) {
    const auto result = run(std::string("solve ") + line);
    EXPECT_EQ(result.status, 0) << line << result.out << result.err;
  }
  write("A.mtx", small_matrix);
  EXPECT_EQ(run("solve --matrix A.mtx --block 2 --json r.json").status, 0);
  EXPECT_EQ(json("r.json")["problem"]["block"], 2);
}

}  // namespace
}  // namespace echelon::test
