// SPDX-License-Identifier: BSD-3-Clause
// What test_cli_mpi starts under mpirun: one case by name, on the ranks the launcher started, as a command of the program
// runs on them. Rank 0 prints "<case> on <ranks>: good"; what is wrong is thrown.
#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "cli/console.hpp"
#include "cli/launched_run.hpp"
#include "echelon/base/array.hpp"
#include "echelon/comm/agreement.hpp"
#include "echelon/comm/halo.hpp"
#include "echelon/comm/mpi/mpi_ranks.hpp"

namespace {

using namespace echelon;

void require(bool holds, const std::string& what) {
  if (!holds) throw Error(ErrorCode::internal, what);
}

double drawn(int rank) { return std::sin(1.0 + 7 * rank) * std::pow(10.0, rank * 5 % 9); }

/// The tree of ranks.hpp.
double stated_sum(int count) {
  std::vector<double> v;
  for (int rank = 0; rank < count; ++rank) v.push_back(drawn(rank));
  const auto paired = std::bit_floor(v.size());
  for (std::size_t guest = paired; guest < v.size(); ++guest) v[guest - paired] += v[guest];
  v.resize(paired);
  for (; v.size() > 1; v.resize(v.size() / 2)) {
    for (std::size_t pair = 0; pair < v.size() / 2; ++pair) v[pair] = v[2 * pair] + v[2 * pair + 1];
  }
  return v[0];
}

void calls(const Communicator& ranks) {
  const int count = ranks.size(), me = ranks.rank();
  for (int round = 0; round < 60; ++round) {
    std::vector<double> values(3, drawn(me));
    ranks.sum(values);
    require(values[0] == stated_sum(count) && values[2] == values[0], "a sum in another order");
  }
  require(ranks.largest(me) == count - 1, "largest");
  require(std::isnan(ranks.largest(me == count - 1 ? std::nan("") : 1.0)), "largest with a NaN");
  for (int root = 0; root < count; ++root) {
    std::vector<int> many(100000, me == root ? root : -1);  // beyond what is sent at once
    ranks.broadcast(std::as_writable_bytes(std::span(many)), root);
    require(many.front() == root && many.back() == root, "broadcast");
  }
  std::vector<int> all(static_cast<std::size_t>(count));
  ranks.all_gather(std::as_bytes(std::span(&me, 1)), std::as_writable_bytes(std::span(all)));
  for (int rank = 0; rank < count; ++rank) require(all[static_cast<std::size_t>(rank)] == rank, "all_gather");
  require(ranks.on_this_machine() == count, "on_this_machine");
  ranks.barrier();
}

void halo_of(const Communicator& ranks, const ProcessGrid& processes, std::array<int, 3> sides) {
  BoxHalo halo(ranks, processes, sides);
  const auto place = processes.place(ranks.rank());
  const auto number = [&](std::array<int, 3> at, int round) {
    double value = 0;
    for (std::size_t d = 3; d-- > 0;) {
      const int all = processes.sides[d] * sides[d], here = place[d] * sides[d] + at[d];
      if (here < 0 || here >= all) return -1.0;
      value = value * all + here;
    }
    return value + 1e9 * round;
  };
  std::vector<double> x;
  long allocated = 0;
  for (int round = 0; round < 4; ++round) {
    x.clear();
    for (int k = 0; k < sides[2]; ++k) {
      for (int j = 0; j < sides[1]; ++j) {
        for (int i = 0; i < sides[0]; ++i) x.push_back(number({i, j, k}, round));
      }
    }
    if (round == 1) allocated = allocation_count();
    halo.start(x.data());
    const auto values = halo.finish();
    for (int k = -1; k <= sides[2]; ++k) {
      for (int j = -1; j <= sides[1]; ++j) {
        for (int i = -1; i <= sides[0]; ++i) {
          const auto index = halo.index(i, j, k);
          if (index >= 0)
            require(values[static_cast<std::size_t>(index)] == number({i, j, k}, round), "a value of the halo");
        }
      }
    }
  }
  require(allocation_count() == allocated, "an exchange allocated");
}

void halos(const Communicator& ranks) {
  const auto processes = hpcg_process_grid(ranks.size());
  for (const auto& sides : {std::array{1, 1, 1}, std::array{5, 3, 2}, std::array{8, 8, 8}, std::array{40, 48, 56}}) {
    halo_of(ranks, processes, sides);
  }
  halo_of(ranks, {{1, 1, ranks.size()}}, {4, 60, 3});
}

/// The last rank fails while the others are in sums, then in a halo of long messages; and all go on.
void failures(const Communicator& ranks) {
  const int bad = ranks.size() - 1;
  for (int round = 0; round < 3; ++round) {
    bool refused = false;
    try {
      all_or_none(ranks, [&] {
        BoxHalo halo(ranks, {{ranks.size(), 1, 1}}, {2, 200, 100});
        const std::vector<double> x(40000, 1.0);
        std::vector<double> one(1);
        for (int call = 0; call < 20; ++call) {
          if (ranks.rank() == bad && call == 3 + round) throw Error(ErrorCode::file_format, "a bad line");
          if (round != 1) ranks.sum(one);
          halo.start(x.data());
          if (round == 2 && ranks.rank() == bad && call == 10) throw Error(ErrorCode::file_format, "a bad line");
          halo.finish();
        }
      });
    } catch (const Error& error) {
      refused = error.what() == fmt::format("a bad line (rank {} of {})", bad, ranks.size());
    }
    require(refused, "a failure that was not everybody's");
    calls(ranks);
    halos(ranks);
  }
}

void throws(const Communicator& ranks) {
  if (ranks.rank() == ranks.size() - 1) throw Error(ErrorCode::will_not_fit, "too much for me");
  std::vector<double> one(1);
  while (true) ranks.sum(one);
}

void waits(const Communicator& ranks) {
  std::vector<double> one(1);
  while (true) ranks.sum(one);
}

void ended(const Communicator& ranks) {
  if (ranks.rank() == ranks.size() - 1) std::raise(SIGTERM);
  waits(ranks);
}

int run_case(const std::string& name) {
  const std::map<std::string, void (*)(const Communicator&)> cases = {
      {"calls", calls}, {"halos", halos}, {"failures", failures}, {"throws", throws}, {"waits", waits}, {"ended", ended}};
  cases.at(name)(cli::ranks());
  fmt::print("{} on {}: good\n", name, cli::ranks().size());
  return 0;
}

/// As a program does that has MPI for itself.
int with_own_mpi() {
  MPI_Init(nullptr, nullptr);
  {
    const auto ranks = mpi_ranks(MPI_COMM_WORLD);
    failures(*ranks);
    if (ranks->rank() == 0) fmt::print("own on {}: good\n", ranks->size());
  }
  MPI_Finalize();
  return 0;
}

int guarded(const cli::Run& run) {
  try {
    return run();
  } catch (const Error& error) {
    if (cli::speaks()) std::fputs(fmt::format("worker: {}\n", error.what()).c_str(), stderr);
    return exit_status(error.code());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.at(0) == "own") return with_own_mpi();
  cli::catch_signals();
  return cli::run_as_launched(
      words, [&] { return run_case(words.at(0)); }, guarded);
}
