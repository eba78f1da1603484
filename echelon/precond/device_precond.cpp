// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/device_precond.hpp"

#include <fmt/format.h>

#include "echelon/factor/stencil_fill.hpp"
#include "echelon/precond/device_block_ilu.hpp"
#include "echelon/precond/device_ilu.hpp"
#include "echelon/precond/device_matched_ilu.hpp"
#include "echelon/precond/ilu_impl.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/precond/struct_ilu_checks.hpp"

namespace echelon {

namespace {

bool factors(const AutoChoice& choice) { return choice.pc == "ilu" || choice.pc == "ic"; }

/// What no storage has on a GPU.
std::string host_only_everywhere(const AutoChoice& choice) {
  if (choice.pc != "none" && !factors(choice)) {
    return fmt::format("{} has no version for a GPU (none, ilu and ic have)", choice.pc);
  }
  if (factors(choice) && choice.ilu.scale_matrix) return "a matrix scaled before it is factored has no version for a GPU";
  if (factors(choice) && iterates(choice.ilu.trisolve)) return "iterated triangular solves have no version for a GPU";
  return "";
}

}  // namespace

std::string host_only(const AutoChoice& choice) {
  const std::string why = host_only_everywhere(choice);
  if (!why.empty() || !factors(choice)) return why;
  if (choice.ilu.ordering != Ordering::natural && choice.ilu.ordering != Ordering::rcm) {
    return fmt::format("{} are an order of the host's", word(choice.ilu.ordering));
  }
  return choice.ilu.schedule == SweepSchedule::point_to_point ? "point-to-point is a schedule of the host's sweeps" : "";
}

std::string host_only(const AutoChoice& choice, const Stencil& stencil) {
  const std::string why = host_only_everywhere(choice);
  if (!why.empty() || !factors(choice)) return why;
  if (choice.match_rows) return "matched rows leave the grid, which a GPU does not";
  if (choice.ilu.ordering != Ordering::natural) return "rcm order leaves the grid, which a GPU does not";
  if (choice.ilu.schedule != SweepSchedule::automatic) return "the schedule is for the host's sweeps";
  if (!can_grow(stencil, choice.ilu.fill)) {
    return fmt::format("fill {} would grow the stencil beyond a thousand entries", choice.ilu.fill);
  }
  return {};
}

std::unique_ptr<Preconditioner<double>> make_on_gpu(const AutoChoice& choice, const TileMatrix& on_gpu, double asymmetry) {
  if (choice.pc == "none") return std::make_unique<Identity<double>>();
  const bool positive = choice.pc == "ic";
  if (positive) require_symmetric<double>(asymmetry);
  return std::make_unique<DeviceIlu>(on_gpu, choice.ilu, positive);
}

std::unique_ptr<Preconditioner<double>> make_on_gpu(const AutoChoice& choice, const BlockCsr<double>& A,
                                                    const BlockCsr<double>& on_gpu) {
  if (choice.pc == "none") return std::make_unique<Identity<double>>();
  if (choice.match_rows) return std::make_unique<DeviceMatchedIlu>(A, choice.ilu, on_gpu.device());
  const bool positive = choice.pc == "ic";
  if (positive) require_symmetry(A, Array<std::int64_t>(A.block_rows()).span());
  return std::make_unique<DeviceBlockIlu>(on_gpu, choice.ilu, positive);
}

}  // namespace echelon
