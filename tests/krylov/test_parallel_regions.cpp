// SPDX-License-Identifier: BSD-3-Clause
// What wakes other threads: counted at the run time's own door (GNU's GOMP_parallel, which this program has in front of it).
// A system of some thousand rows is solved on one thread whatever there are, since on a machine with other work every waking
// may cost a time slice; large ones use all, always in teams of one size; and no team is larger than what was asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "echelon/base/worth_sharing.hpp"
#include "echelon/echelon.hpp"
#include "echelon/solve/auto_solve.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#include <dlfcn.h>
#include <omp.h>

#include <map>
#include <mutex>

namespace {
std::mutex at_the_door;
std::map<unsigned, int> regions_of;  // by the number of threads, one left out
}  // namespace

extern "C" void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  using Door = void (*)(void (*)(void*), void*, unsigned, unsigned);
  static const auto behind = reinterpret_cast<Door>(dlsym(RTLD_NEXT, "GOMP_parallel"));
  if (threads != 1) {
    const std::lock_guard lock(at_the_door);
    ++regions_of[threads];
  }
  behind(body, data, threads, flags);
}

namespace echelon {
namespace {

std::map<unsigned, int> regions(const std::function<void()>& work) {
  regions_of.clear();
  work();
  return regions_of;
}

class ParallelRegions : public testing::Test {
 protected:
  void SetUp() override {
    share_work_from(0);  // as users have it
    set_threads(3);
  }
  void TearDown() override { set_threads(0); }
};

/// As large as the reservoir matrix sherman3, on its grid.
const Grid reservoir{35, 11, 13};

TEST_F(ParallelRegions, FiveThousandRowsWakeNobody) {
  const auto A = to_block_csr(problems::convection_diffusion(reservoir, stencils::star7()));
  ASSERT_EQ(A.rows(), 5'005);
  for (const char* solver : {"gmres", "bicgstab", "fgmres"}) {
    const auto woken = regions([&] {
      const auto M = ilu(A);
      const Vector<double> b(A.rows(), 1.0);
      Vector<double> x(A.rows(), 0.0);
      EXPECT_TRUE(solve(solver, A, b, x, M).converged);
    });
    EXPECT_TRUE(woken.empty()) << solver << ": " << woken.begin()->second << " regions of " << woken.begin()->first
                               << " threads";
  }
}

TEST_F(ParallelRegions, NorDoesTheProgramsWayOfSolvingThem) {
  const auto grid = problems::convection_diffusion(reservoir, stencils::star7());
  const auto A = to_block_csr(grid);
  const Vector<double> b(A.rows(), 1.0);
  for (const char* pc : {"auto", "ilu", "jacobi"}) {
    const auto woken = regions([&] {
      SolveRequest request;
      request.wishes.pc = pc;
      Vector<double> x(A.rows(), 0.0);
      const auto outcome = solve_automatically(&A, b, x, request);
      EXPECT_TRUE(outcome.report.converged) << pc;
    });
    EXPECT_TRUE(woken.empty()) << pc << ": " << woken.begin()->second << " regions of " << woken.begin()->first
                               << " threads";
  }
}

/// Threads that a smaller team leaves over are ended, and created again for the next.
TEST_F(ParallelRegions, TeamsAreOfOneSize) {
  const auto A = problems::convection_diffusion({40, 40, 40}, stencils::star7());
  const auto rows = to_block_csr(A);
  const auto wide = problems::poisson({3'000, 9, 1}, stencils::star5());
  const auto woken = regions([&] {
    const auto on = [](const auto& matrix, const auto& M) {
      const Vector<double> b(matrix.rows(), 1.0);
      Vector<double> x(matrix.rows(), 0.0);
      static_cast<void>(gmres(matrix, b, x, M, {.max_it = 20, .restart = 8}));
    };
    on(A, ilu(A));
    on(wide, ilu(wide));
    IluOptions options;
    for (const auto schedule : {SweepSchedule::levels, SweepSchedule::point_to_point, SweepSchedule::automatic}) {
      options.schedule = schedule;
      on(rows, ilu(rows, options));
    }
    options.schedule = SweepSchedule::automatic;
    on(rows, ilut(rows, options));
    options.factor_sweeps = 2;
    on(rows, ilu(rows, options));
    on(rows, parilut(rows, options));
  });
  ASSERT_EQ(woken.size(), 1U) << "teams of " << woken.begin()->first << " and of " << woken.rbegin()->first;
  EXPECT_EQ(woken.begin()->first, 3U);
  EXPECT_GT(woken.begin()->second, 100);
}

TEST_F(ParallelRegions, OneThreadMeansOne) {
  set_threads(1);
  const auto A = to_block_csr(problems::convection_diffusion({60, 60, 60}, stencils::star7()));
  const auto woken = regions([&] {
    IluOptions options;
    options.factor_sweeps = 2;
    const auto M = ilu(A, options);
    const Vector<double> b(A.rows(), 1.0);
    Vector<double> x(A.rows(), 0.0);
    static_cast<void>(gmres(A, b, x, M, {.max_it = 5}));
  });
  EXPECT_TRUE(woken.empty()) << woken.begin()->second << " regions of " << woken.begin()->first << " threads";
}

/// A schedule for more threads than come is done by the first, in order: a limit of the run time must not make it wait for
/// threads that are not there.
TEST_F(ParallelRegions, InsideAParallelRegionSchedulesDoNotWaitForThreadsThatAreNotThere) {
  const auto A = problems::poisson({40, 30, 20}, stencils::star7());
  const auto rows = to_block_csr(A);
  IluOptions levels, tasks;
  levels.schedule = SweepSchedule::levels;
  tasks.schedule = SweepSchedule::point_to_point;
  const auto on_grid = ilu(A), by_levels = ilu(rows, levels), by_tasks = ilu(rows, tasks);
  for (const auto* M : {&on_grid, &by_levels, &by_tasks}) {
    const Vector<double> r(A.rows(), 1.0);
    Vector<double> wanted(A.rows()), z(A.rows());
    M->apply(r, wanted);
#pragma omp parallel num_threads(2)
    {
#pragma omp single
      M->apply(r, z);
    }
    EXPECT_TRUE(std::equal(z.begin(), z.end(), wanted.begin()));
  }
}

}  // namespace
}  // namespace echelon
#endif
