// SPDX-License-Identifier: BSD-3-Clause
#include "cli/line/petsc_options.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "echelon/base/error.hpp"

namespace echelon::cli {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

struct Line {
  const char* petsc;
  const char* ours;
};

class PetscTranslation : public testing::TestWithParam<Line> {};

TEST_P(PetscTranslation, Holds) { EXPECT_EQ(translate_petsc(split(GetParam().petsc)), split(GetParam().ours)); }

INSTANTIATE_TEST_SUITE_P(
    Lines, PetscTranslation,
    testing::Values(Line{"solve --grid 8", "solve --grid 8"}, Line{"-ksp_type cg", "--solver cg"},
                    Line{"-ksp_type gmres", "--solver gmres"}, Line{"-ksp_type fgmres", "--solver fgmres"},
                    Line{"-ksp_type bcgs", "--solver bicgstab"}, Line{"-ksp_rtol 1e-6", "--rtol 1e-6"},
                    Line{"-ksp_atol 1e-12", "--atol 1e-12"}, Line{"-ksp_max_it 77", "--max-it 77"},
                    Line{"-ksp_gmres_restart 30", "--restart 30"}, Line{"-ksp_pc_side right", ""},
                    Line{"-ksp_monitor", "-v"}, Line{"-ksp_monitor_true_residual", "-v"}, Line{"-ksp_monitor false", ""},
                    Line{"-ksp_converged_reason true -q", "-v -q"}, Line{"-ksp_pc_side right -ksp_monitor false", ""},
                    Line{"-ksp_view", "-v"}, Line{"-pc_type none", "--pc none"}, Line{"-pc_type jacobi", "--pc jacobi"},
                    Line{"-pc_type ilu", "--pc ilu"}, Line{"-pc_type icc", "--pc ic"},
                    Line{"-pc_factor_levels 2", "--fill 2"}, Line{"-pc_factor_mat_ordering_type rcm", "--ordering rcm"},
                    Line{"-pc_factor_mat_ordering_type natural", "--ordering natural"},
                    Line{"-pc_factor_shift_type none", "--shift none"},
                    Line{"-pc_factor_shift_type nonzero", "--shift auto"},
                    Line{"-pc_factor_shift_type positive_definite", "--shift auto"},
                    Line{"-pc_factor_shift_type inblocks", "--shift auto"},
                    Line{"-pc_factor_shift_amount 1e-3", "--shift 1e-3"},
                    Line{"-pc_factor_shift_amount 0.1 -pc_factor_shift_type nonzero", "--shift 0.1"},
                    Line{"-pc_factor_shift_amount 0.1 -pc_factor_shift_type none", "--shift none"}));

class PetscRefusal : public testing::TestWithParam<Line> {};

TEST_P(PetscRefusal, NamesWhatIsSupported) {
  try {
    translate_petsc(split(GetParam().petsc));
    FAIL() << "accepted " << GetParam().petsc;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_option);
    EXPECT_NE(std::string(error.what()).find(GetParam().ours), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, PetscRefusal,
                         testing::Values(Line{"-ksp_typ cg", "did you mean -ksp_type?"},
                                         Line{"-pc_hypre_type x", "-pc_factor_levels"},
                                         Line{"-ksp_type minres", "cg, gmres, fgmres, bcgs"},
                                         Line{"-pc_type gamg", "jacobi, ilu, icc"}, Line{"-ksp_pc_side left", "right"},
                                         Line{"-ksp_rtol", "needs a value"}, Line{"-ksp_rtol -ksp_view", "needs a value"}));

}  // namespace
}  // namespace echelon::cli
