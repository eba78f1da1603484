// SPDX-License-Identifier: BSD-3-Clause
// Option errors are 2 with a sentence that helps; help and version are 0.
#include "tests/cli/program.hpp"

namespace echelon::test {
namespace {

struct Refused {
  const char* line;
  int status;
  const char* says;
};

class UsageTable : public Program, public testing::WithParamInterface<Refused> {};

TEST_P(UsageTable, IsRefusedWithASentence) {
  const auto& expected = GetParam();
  const auto result = run(expected.line);
  EXPECT_EQ(result.status, expected.status) << result.err;
  EXPECT_TRUE(contains(result.err, expected.says)) << result.err;
  EXPECT_EQ(result.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    Lines, UsageTable,
    testing::Values(
        Refused{"", 2, "a command is needed: solve, check, bench, hpcg, selftest, info"},
        Refused{"solev", 2, "did you mean solve?"}, Refused{"cfd", 2, "does not have 'cfd' yet"},
        Refused{"solve --maxit 5", 2, "did you mean --max-it?"}, Refused{"solve -grid 5", 2, "did you mean --grid?"},
        Refused{"solve --zzzzzzzzz", 2, "unknown option --zzzzzzzzz"},
        Refused{"solve extra", 2, "unexpected argument 'extra'\n"},
        Refused{"solve A.mtx.gz", 2, "unexpected argument 'A.mtx.gz'; a file is given as --matrix A.mtx.gz"},
        Refused{"solve --grid", 2, "--grid"}, Refused{"solve --grid 0", 2, "got '0'"},
        Refused{"solve --grid 8x8x", 2, "needs N, NXxNY or NXxNYxNZ"},
        Refused{"solve --rtol nan", 2, "needs a number from 0 to 1"}, Refused{"solve --max-it 1e3", 2, "whole number"},
        Refused{"solve --problem projection --radius 0.5", 2, "needs a number from 0 to 0.45"},
        Refused{"solve --problem projection --grid 9x9 --stencil box27", 2, "its differences are those of box9"},
        Refused{"solve --radius 0.1", 2, "--radius is for --problem projection"},
        Refused{"solve --problem euler --stencil box27", 2, "--stencil box27 does not fit euler: its differences are"},
        Refused{"solve --problem navierstokes --dof 5", 2, "navierstokes has 4 unknowns a point"},
        Refused{"solve --contrast 10", 2, "--contrast is for --problem varpoisson"},
        Refused{"solve --problem cahnhilliard --cfl 2", 2, "--cfl is for --problem navierstokes or euler"},
        Refused{"solve --problem euler --cfl 2 --dt 1", 2, "--dt and --cfl both give the time step"},
        Refused{"solve --problem varpoisson --anisotropy 1,0,1 --grid 4", 2, "EX,EY,EZ, all positive"},
        Refused{"solve --problem varpoisson --contrast 0.5", 2, "needs a finite number of at least 1"},
        Refused{"solve --problem varpoisson --coefficient random --contrast 0", 2, "needs a finite number of at least 1"},
        Refused{"solve --problem varpoisson --coefficient random --contrast nan", 2, "needs a finite number of at least 1"},
        Refused{"solve --problem varpoisson --coefficient random --contrast 1e305 --grid 4", 2, "from 1 to 1e+300"},
        Refused{"solve --problem varpoisson --coefficient randon", 2, "did you mean random?"},
        Refused{"solve --problem varpoisson --coefficient regions --stencil box27 --grid 4", 2, "differs by direction"},
        Refused{"solve --problem varpoisson --seed 3", 2, "--seed is for --coefficient random; got smooth"},
        Refused{"solve --problem convdiff --velocity 1,2 --grid 4", 2, "got '1,2', needs X,Y,Z"},
        Refused{"solve --problem convdiff --velocity 1,2,nan --grid 4", 2, "got '1,2,nan', needs X,Y,Z"},
        Refused{"solve --problem convdiff --velocity 0,0,0 --grid 4", 2, "that are not all 0, or recirculating"},
        Refused{"solve --problem convdiff --velocity recirculate --grid 4", 2, "or recirculating"},
        Refused{"solve --velocity 1,2,3", 2, "--velocity is for --problem convdiff"},
        Refused{"solve --boundary neuman", 2, "did you mean neumann?"},
        Refused{"solve --problem convdiff --boundary neumann", 2, "--boundary is for --problem poisson or varpoisson"},
        Refused{"solve --boundary neumann --grid 1", 2, "two points along an axis"},
        Refused{"solve --problem varpoisson --stencil diamond25 --grid 8", 2, "the full box (box9, box27)"},
        Refused{"solve --problem euler --match-rows --grid 4", 2, "blocks of size 1"},
        Refused{"solve --matrix A.mtx --dt 1", 2, "--dt describes a built-in problem"},
        Refused{"solve --problem poison", 2, "did you mean poisson?"},
        Refused{"solve --pc amg", 2, "does not have 'amg' yet; it has none, jacobi, sgs, ilu, ic"},
        Refused{"solve --trisolve randomized", 2, "does not have 'randomized' yet; it has exact"},
        Refused{"solve --sweeps 5", 2, "--sweeps needs --trisolve jacobi, neumann or auto, or --pc parilu or parilut"},
        Refused{"solve --pc parilu --sweeps 5 --factor-sweeps 4", 2, "give one of them"},
        Refused{"solve --trisolve neumann --damping 0.5", 2, "are for --trisolve jacobi"},
        Refused{"solve --trisolve jacobi --jacobi-block 4 --damping 0.5", 2, "--jacobi-block has no damping"},
        Refused{"solve --pc jacobi --trisolve jacobi", 2, "--trisolve is for factorizations; --pc jacobi has none"},
        Refused{"solve --factor-precision fp8", 2, "fp8"},
        Refused{"solve --pc ilu --drop 0.1", 2, "--drop is for --pc ilut; got --pc ilu"},
        Refused{"solve --pc ic --lfil 3", 2, "--lfil is for --pc ilut; got --pc ic"},
        Refused{"solve --pc ilut --fill 1", 2, "--pc ilut has --lfil and --drop"},
        Refused{"solve --pc ilut --drop 2", 2, "--drop"}, Refused{"solve --pc ilut --lfil -1", 2, "--lfil"},
        Refused{"solve --pc ilut --column-pivoting 0.5 --solver cg", 2, "takes the symmetry away"},
        Refused{"solve --problem euler --pc ilut --column-pivoting 0.5 --grid 4", 2, "blocks of size 1"},
        Refused{"solve --factor-sweeps 3", 2, "--factor-sweeps is for --pc parilu and parilut; got --pc auto"},
        Refused{"solve --pc parilu --factor-sweeps 0", 2, "whole number from 1"},
        Refused{"solve --pc parilu --fill-limit 3", 2, "--fill-limit is for --pc parilut"},
        Refused{"solve --pc parilut --fill 1", 2, "finds its fill by --fill-limit"},
        Refused{"solve --problem euler --pc parilut --grid 4", 2, "blocks of size 1"},
        Refused{"solve --pc mcilu --ordering rcm", 2, "in the order of a colouring: colours or random-colours; got rcm"},
        Refused{"solve --pc sgs --fill 1", 2, "--fill is a level of ilu and ic"},
        Refused{"solve --pc sgs --omega 2", 2, "--omega"},
        Refused{"solve --pc ilu --omega 1.2", 2, "--omega is for --pc sgs; got --pc ilu"},
        Refused{"solve --blocks 0x4x4 --pc dbsr", 2, "needs fixed, auto or the sides of a block"},
        Refused{"solve --pc ilu --blocks auto", 2, "--blocks is for --pc dbsr; got --pc ilu"},
        Refused{"solve --pc dbsr --bsize 12", 2, "12"},
        Refused{"solve --pc dbsr --fill 1", 2, "by exact sweeps: it has no --fill"},
        Refused{"solve --pc dbsr --factor-precision bf16", 2, "fp64 or fp32; got --factor-precision bf16"},
        Refused{"solve --problem euler --pc dbsr --grid 4", 2, "blocks of size 1"},
        Refused{"solve --shift -1", 2, "none, auto or a positive number"},
        Refused{"solve --pc jacobi --fill 1", 2, "--fill is for factorizations"},
        Refused{"solve --dof 3", 2, "--dof 3 is for --problem random"},
        Refused{"solve --block 2", 2, "--block needs --matrix"},
        Refused{"solve --recognise off", 2, "--recognise needs --matrix"},
        Refused{"solve --matrix A.mtx --recognise of", 2, "did you mean off?"},
        Refused{"solve --matrix A.mtx --grid 8", 2, "--grid describes a built-in problem"},
        Refused{"solve -q -v", 2, "contradict"}, Refused{"solve -ksp_typ cg", 2, "did you mean -ksp_type?"},
        Refused{"-ksp_pc_side right", 2, "a command is needed"}, Refused{"-ksp_monitor false", 2, "a command is needed"},
        Refused{"-ksp_view", 2, "echelon: "}, Refused{"-ksp_pc_side right -q", 2, "echelon: "},
        Refused{"--grid 8 solve", 2, "a command is needed before --grid: solve,"},
        Refused{"-ksp_type cg solve", 2, "a command is needed before -ksp_type: solve,"},
        Refused{"-v solve --grid 4", 2, "a command is needed before -v: solve,"},
        Refused{"-ksp_monitor false solve --grid 4", 2, "a command is needed before -ksp_monitor"},
        Refused{"info -ksp_monitor", 2, "unknown option -ksp_monitor"},
        Refused{"check A.mtx -ksp_pc_side right", 2, "unknown option -ksp_pc_side"},
        Refused{"solve -- --grid 8", 2, "unexpected argument '--grid' behind --"},
        Refused{"solve -- 1 2 3", 2, "unexpected argument '1'"}, Refused{"--", 2, "a command is needed"},
        Refused{"check A.mtx -- B.mtx C.mtx", 2, "unexpected argument"},
        Refused{"solve --shift 1e-999", 2, "none, auto or a positive number"},
        Refused{"solve -pc_type gamg", 2, "this version has none, jacobi, ilu, icc"},
        Refused{"solve --stencil star8", 2, "did you mean star"}, Refused{"check", 2, "matrix is required"},
        Refused{"info --threads 100000", 2, "needs a whole number from 0 to "},
        Refused{"solve --grid 20000", 3, "needs 1."},  // refused before assembly, with bytes needed and there
        Refused{"solve --grid 1000000000x1000000000x1000000000", 3, "are free on host"}));

class Usage : public Program {};

TEST_F(Usage, HelpAndVersion) {
  for (const char* line : {"--help", "solve --help", "check -h", "selftest --help", "info --help", "hpcg --help"}) {
    const auto result = run(line);
    EXPECT_EQ(result.status, 0) << line;
    EXPECT_TRUE(contains(result.out, "Usage: echelon")) << line;
  }
  EXPECT_TRUE(contains(run("solve --help").out, "Examples:"));
  const auto version = run("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("echelon ", 0), 0u);
}

TEST_F(Usage, ANumberBelowTheNormalOnesIsANumber) {
  for (const char* line : {"solve --grid 4 --atol 1e-320", "solve --grid 4 --pc ilut --drop 1e-320",
                           "solve --problem euler --grid 4 --dt 1e-320", "solve --grid 4 --time-limit 1e-320",
                           "solve --problem varpoisson --anisotropy 1e-320 --grid 4",
                           "solve --problem convdiff --velocity 1e-320,1,0 --grid 4"}) {
    const auto result = run(line);
    EXPECT_FALSE(contains(result.err, "a bug of ours")) << line << result.err;
    EXPECT_LE(result.status, 2) << line;
  }
  EXPECT_EQ(run("solve --grid 4 --pc ilu --shift 1e-320").status, 0);
}

TEST_F(Usage, NamesMayFollowTheMark) {
  write("A.mtx", small_matrix);
  EXPECT_EQ(run("check -- A.mtx").status, 0);
  EXPECT_EQ(run("check -q -- A.mtx").status, 0);
  EXPECT_EQ(run("solve --grid 4 --").status, 0);
}

TEST_F(Usage, TheLastOfARepeatedOptionCounts) {
  const auto result = run("solve --grid 4 --grid 6 --pc none");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(result.out, "6x6x6"));
}

TEST_F(Usage, AnOptionErrorIsInTheJsonToo) {
  EXPECT_EQ(run("solve --pc amg --json r.json").status, 2);
  const auto report = json("r.json");
  EXPECT_EQ(report["error"]["code"], "bad_option");
  EXPECT_EQ(report["command"], "solve");
}

TEST_F(Usage, CudaWithoutADeviceIsThreeWithTheReason) {
  const auto result = run("solve --grid 4 --backend cuda");
  if (result.status == 0) GTEST_SKIP() << "this machine has a CUDA device";
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(contains(result.err, "CUDA")) << result.err;
}

TEST_F(Usage, OutOfMemoryIsThree) {
  if (sanitized()) GTEST_SKIP() << "a sanitizer needs more addresses than the limit of this test";
  const auto result = run("solve --grid 200 --threads 1", "ulimit -v 600000;");
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_TRUE(contains(result.err, "echelon: ")) << result.err;
}

TEST_F(Usage, AFullStandardOutputIsSaid) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const int raw = std::system(ECHELON_PROGRAM " info >/dev/full 2>/dev/null");
  EXPECT_EQ(WEXITSTATUS(raw), 2);
  const auto help = ECHELON_PROGRAM " solve --help >/dev/full 2>" + file("err");
  EXPECT_EQ(WEXITSTATUS(std::system(help.c_str())), 2);
  EXPECT_TRUE(contains(text("err"), "could not be written")) << text("err");
  EXPECT_FALSE(contains(text("err"), "Success")) << text("err");
  const auto line = ECHELON_PROGRAM " solve --grid 4 --json " + file("r.json") + " >/dev/full 2>" + file("err");
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 2);
  EXPECT_TRUE(contains(text("err"), "standard output could not be written")) << text("err");
  EXPECT_EQ(json("r.json")["converged"], true) << "the report is of the solve, not of the words about it";
}

TEST_F(Usage, AClosedPipeIsNoCrash) {
  const int raw = std::system("bash -c 'set -o pipefail; " ECHELON_PROGRAM " solve --grid 8 -v | head -1 >/dev/null'");
  EXPECT_EQ(WEXITSTATUS(raw), 0);
}

}  // namespace
}  // namespace echelon::test
