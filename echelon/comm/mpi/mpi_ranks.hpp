// SPDX-License-Identifier: BSD-3-Clause
// For programs that use MPI themselves: a Communicator over their own group of ranks. They link echelon_mpi and begin and
// end MPI. The group is duplicated, so messages of the library and of the program never meet.
#pragma once

#include <mpi.h>

#include <memory>

#include "echelon/comm/message_table.hpp"
#include "echelon/comm/ranks.hpp"

extern "C" {
extern const echelon::MpiModule echelon_mpi;
/// An endpoint of messages over this group; the same call on every rank of it.
void* echelon_mpi_open(const MPI_Comm* group);
}

namespace echelon {

/// The same call on every rank of the group; it must go away on all of them, before MPI ends.
inline std::unique_ptr<Communicator> mpi_ranks(MPI_Comm group) {
  return std::make_unique<Ranks>(echelon_mpi.messages, echelon_mpi_open(&group));
}

}  // namespace echelon
