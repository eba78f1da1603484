// SPDX-License-Identifier: BSD-3-Clause
// The program under mpirun, as root and on few cores too; each start has a limit of its own, because what is tested is also
// that nothing hangs.
#pragma once

#include "tests/cli/program.hpp"

namespace echelon::test {

inline constexpr const char* launcher_variables =
    "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
    "OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none "
    "OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 ";

class LaunchedProgram : public Program {
 protected:
  void SetUp() override {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    GTEST_SKIP() << "MPI is no code the thread sanitizer has seen; test_ranks has the same code over threads";
#endif
#endif
    if (!std::filesystem::exists(ECHELON_BINARY_DIR "/bin/libechelon_mpi.so")) GTEST_SKIP() << "this build has no MPI";
    if (std::system("command -v mpirun >/dev/null") != 0) GTEST_SKIP() << "there is no mpirun";
  }

  /// `job` is what follows mpirun; `limit` what stands before it.
  Outcome launch(const std::string& job, const std::string& limit = "timeout -k 5 100") const {
    const auto command = "cd " + folder_.string() + " && " + launcher_variables + limit + " mpirun " + job + " >" +
                         file(".out") + " 2>" + file(".err") + " </dev/null";
    const int raw = std::system(command.c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -WTERMSIG(raw), text(".out"), text(".err")};
  }
  static std::string program(int ranks, const std::string& line) {
    return "-n " + std::to_string(ranks) + " " ECHELON_PROGRAM " " + line;
  }
};

}  // namespace echelon::test
