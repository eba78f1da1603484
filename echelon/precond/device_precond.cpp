// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/device_precond.hpp"

#include <fmt/format.h>

#include "echelon/factor/stencil_fill.hpp"
#include "echelon/precond/device_ilu.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/precond/struct_ilu_checks.hpp"

namespace echelon {

std::string host_only(const AutoChoice& choice, const Stencil& stencil) {
  const bool factors = choice.pc == "ilu" || choice.pc == "ic";
  if (choice.pc != "none" && !factors) return fmt::format("{} has no version for a GPU (none, ilu and ic have)", choice.pc);
  if (choice.match_rows) return "rows are matched on the host only";
  if (factors && choice.ilu.ordering != Ordering::natural) return "rcm order leaves the grid, which a GPU does not";
  if (factors && choice.ilu.schedule != SweepSchedule::automatic) return "the schedule is for the host's sweeps";
  if (factors && !can_grow(stencil, choice.ilu.fill)) {
    return fmt::format("fill {} would grow the stencil beyond a thousand entries", choice.ilu.fill);
  }
  return {};
}

std::unique_ptr<Preconditioner<double>> make_on_gpu(const AutoChoice& choice, const StructMatrix<double>& A,
                                                    const TileMatrix& on_gpu) {
  if (choice.pc == "none") return std::make_unique<Identity<double>>();
  const bool positive = choice.pc == "ic";
  if (positive) require_symmetric(A);
  return std::make_unique<DeviceIlu>(on_gpu, choice.ilu, positive);
}

}  // namespace echelon
