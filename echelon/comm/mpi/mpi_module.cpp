// SPDX-License-Identifier: BSD-3-Clause
// The messages of message_table.hpp over MPI: the only source that calls MPI, compiled into libechelon_mpi.so, which needs
// nothing of the core. An error inside MPI ends the job with MPI's own words, as MPI does unless it is told otherwise.
#include <mpi.h>

#include <chrono>
#include <vector>

#include "echelon/comm/mpi/mpi_ranks.hpp"

namespace {

struct Endpoint {
  MPI_Comm group = MPI_COMM_NULL;
  int rank = 0, size = 1, here = 1;
  struct Slot {
    MPI_Request request = MPI_REQUEST_NULL;
    bool receives = false;
  };
  std::vector<Slot> slots;
  std::vector<int> unused;

  Slot& slot(int handle) { return slots[static_cast<std::size_t>(handle)]; }
  int take(bool receives) {
    if (unused.empty()) {
      unused.push_back(static_cast<int>(slots.size()));
      slots.emplace_back();
      unused.reserve(slots.size());
    }
    const int handle = unused.back();
    unused.pop_back();
    slot(handle).receives = receives;
    return handle;
  }
};

Endpoint& of(void* endpoint) { return *static_cast<Endpoint*>(endpoint); }

void* open_endpoint(MPI_Comm group) {
  auto* e = new Endpoint;
  MPI_Comm_dup(group, &e->group);
  MPI_Comm_rank(e->group, &e->rank);
  MPI_Comm_size(e->group, &e->size);
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(e->group, MPI_COMM_TYPE_SHARED, e->rank, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &e->here);
  MPI_Comm_free(&machine);
  return e;
}

int rank(void* endpoint) { return of(endpoint).rank; }
int size(void* endpoint) { return of(endpoint).size; }
int on_this_machine(void* endpoint) { return of(endpoint).here; }

int send(void* endpoint, int to, int tag, const void* data, int bytes) {
  auto& e = of(endpoint);
  const int handle = e.take(false);
  MPI_Isend(data, bytes, MPI_BYTE, to, tag, e.group, &e.slot(handle).request);
  return handle;
}

int receive(void* endpoint, int from, int tag, void* data, int bytes) {
  auto& e = of(endpoint);
  const int handle = e.take(true);
  MPI_Irecv(data, bytes, MPI_BYTE, from, tag, e.group, &e.slot(handle).request);
  return handle;
}

int done(void* endpoint, int handle) {
  auto& e = of(endpoint);
  int complete = 0;
  MPI_Test(&e.slot(handle).request, &complete, MPI_STATUS_IGNORE);
  if (complete) e.unused.push_back(handle);
  return complete;
}

/// A receive is cancelled, or completes because its message was under way. A send cannot be cancelled everywhere: one that
/// was matched ends soon, one that was not will never read its memory.
void drop(void* endpoint, int handle) {
  auto& e = of(endpoint);
  auto& slot = e.slot(handle);
  if (slot.receives) {
    MPI_Cancel(&slot.request);
    MPI_Wait(&slot.request, MPI_STATUS_IGNORE);
  } else {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    int complete = 0;
    while (!complete && std::chrono::steady_clock::now() < end) MPI_Test(&slot.request, &complete, MPI_STATUS_IGNORE);
    if (!complete) MPI_Request_free(&slot.request);
  }
  e.unused.push_back(handle);
}

int waiting(void* endpoint, int tag, int* bytes) {
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, of(endpoint).group, &there, &status);
  if (!there) return -1;
  MPI_Get_count(&status, MPI_BYTE, bytes);
  return status.MPI_SOURCE;
}

void close(void* endpoint) {
  MPI_Comm_free(&of(endpoint).group);
  delete &of(endpoint);
}

bool begun_here = false;

void* begin() {
  int begun = 0;
  MPI_Initialized(&begun);
  if (!begun) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    begun_here = true;
  }
  return open_endpoint(MPI_COMM_WORLD);
}

void end() {
  if (begun_here) MPI_Finalize();
}

void abort_job(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

}  // namespace

extern "C" {
const echelon::MpiModule echelon_mpi = {
    echelon::message_table_version,
    {rank, size, on_this_machine, send, receive, done, drop, waiting, close},
    begin,
    end,
    abort_job,
};
void* echelon_mpi_open(const MPI_Comm* group) { return open_endpoint(*group); }
}
