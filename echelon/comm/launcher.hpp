// SPDX-License-Identifier: BSD-3-Clause
// What a launcher (mpirun, srun) tells the processes it starts, in their environment, and the way to MPI for them:
// libechelon_mpi.so, looked for beside the program, in ../lib and in ../bin of its folder. It is loaded by `mpi_module`
// alone, so a program that no launcher started never touches MPI.
#pragma once

#include <string>

namespace echelon {

struct MpiModule;

struct Launch {
  std::string variable;  // that says so: "OMPI_COMM_WORLD_SIZE"; empty: no launcher
  int size = 0;          // 0: not said
  int rank = 0;

  /// Of what is known: one process is a process that runs alone.
  bool may_be_several() const { return !variable.empty() && size != 1; }
};

/// By OMPI_COMM_WORLD_SIZE, PMI_SIZE, PMI_RANK or PMIX_RANK; the rank and the size by their companions (Slurm's among them).
Launch launched();

/// Where the module lies; empty where it does not. Loads nothing.
std::string mpi_module_path();
/// Null where there is none. Throws Error(device) with the reason for one that cannot be loaded or is of another version. A
/// program that is linked with echelon_mpi has it without a file.
const MpiModule* mpi_module();

}  // namespace echelon
