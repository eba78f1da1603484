// SPDX-License-Identifier: BSD-3-Clause
// What the contenders that run under MPI need of it: who am I, the slowest rank's time, a vector gathered on rank 0.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "bench/measure/sampling.hpp"
#include "echelon/base/array.hpp"
#include "echelon/base/timer.hpp"

namespace echelon::bench {

struct MpiRanks {
  int rank = 0, ranks = 1;

  MpiRanks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }

  /// Seconds of the slowest rank, all starting together.
  double seconds(const std::function<void()>& work) const {
    MPI_Barrier(MPI_COMM_WORLD);
    const Timer timer;
    work();
    double mine = timer.seconds(), slowest = 0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
  }

  /// Median over `repeats`, after one call that is not counted.
  double median_seconds(int repeats, const std::function<void()>& work) const {
    work();
    std::vector<double> samples;
    for (int i = 0; i < repeats; ++i) samples.push_back(seconds(work));
    return median(std::move(samples));
  }

  /// The parts one after the other on rank 0; empty elsewhere.
  Vector<double> gather(const Vector<double>& part) const {
    const int mine = static_cast<int>(part.size());
    std::vector<int> counts(static_cast<std::size_t>(ranks)), starts(static_cast<std::size_t>(ranks), 0);
    MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (std::size_t r = 1; r < counts.size(); ++r) starts[r] = starts[r - 1] + counts[r - 1];
    Vector<double> whole(rank == 0 ? starts.back() + counts.back() : 0);
    MPI_Gatherv(part.data(), mine, MPI_DOUBLE, whole.data(), counts.data(), starts.data(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return whole;
  }
};

}  // namespace echelon::bench
