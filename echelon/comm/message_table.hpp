// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks as the core sees them: a table of C functions. libechelon_mpi.so has one over MPI (mpi/), tests
// have one over threads. All else (sums, gathers, agreement) is made of these in ranks.cpp, so that the order of sums, the
// waits and what frees a waiting rank are the same over every MPI. An `endpoint` is one rank's end of a group of ranks;
// messages of two groups never meet. Messages of one sender with one tag are received in the order they were sent.
#pragma once

#include <cstdint>

namespace echelon {

inline constexpr int message_table_version = 1;

struct MessageTable {
  int (*rank)(void* endpoint);
  int (*size)(void* endpoint);
  int (*on_this_machine)(void* endpoint);
  /// A handle for done() or drop(). The memory must stay until then; tags are not negative.
  int (*send)(void* endpoint, int to, int tag, const void* data, int bytes);
  int (*receive)(void* endpoint, int from, int tag, void* data, int bytes);
  /// 1: complete, and the handle is no more; 0: under way. Lets all messages of this rank go on.
  int (*done)(void* endpoint, int handle);
  /// Gives up a message that the other side may never take; its memory is free afterwards.
  void (*drop)(void* endpoint, int handle);
  /// The rank whose message with this tag waits to be received, and its bytes; −1: none.
  int (*waiting)(void* endpoint, int tag, int* bytes);
  /// The same call on every rank.
  void (*close)(void* endpoint);
};

/// What libechelon_mpi.so exports as `echelon_mpi`: the table, and MPI's beginning and end.
struct MpiModule {
  int version;  // message_table_version when it was compiled
  MessageTable messages;
  /// Begins MPI unless the process has; the endpoint of all ranks of the job.
  void* (*begin)();
  /// Ends MPI if begin() began it, after the endpoint was closed. Returns when all ranks have come.
  void (*end)();
  /// Ends all ranks of the job at once; does not return.
  void (*abort)(int status);
};

}  // namespace echelon
