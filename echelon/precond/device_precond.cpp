// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/device_precond.hpp"

#include <fmt/format.h>

#include "echelon/factor/stencil_fill.hpp"
#include "echelon/precond/device_block_ilu.hpp"
#include "echelon/precond/device_factored_ilu.hpp"
#include "echelon/precond/device_ilu.hpp"
#include "echelon/precond/device_matched_ilu.hpp"
#include "echelon/precond/ilu_impl.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/precond/struct_ilu_checks.hpp"

namespace echelon {

namespace {

/// Made on the host and swept on the GPU.
bool travels(const AutoChoice& choice) { return choice.pc == "ilut" || choice.pc == "parilut"; }
bool factors(const AutoChoice& choice) { return choice.pc == "ilu" || choice.pc == "ic" || travels(choice); }

/// What no storage has on a GPU.
std::string host_only_everywhere(const AutoChoice& choice) {
  if (choice.pc != "none" && !factors(choice)) {
    return fmt::format("{} has no version for a GPU (none, ilu, ic, ilut and parilut have)", choice.pc);
  }
  if (factors(choice) && choice.ilu.scale_matrix) return "a matrix scaled before it is factored has no version for a GPU";
  return "";
}

/// Only the device solves with them, so only it looks at how.
std::unique_ptr<Preconditioner<double>> factored_on_host(const AutoChoice& choice, const BlockCsr<double>& A,
                                                         Device device) {
  IluOptions options = choice.ilu;
  options.trisolve = {};
  const auto made = make_preconditioner(choice.pc, &A, options);
  return std::make_unique<DeviceFactoredIlu>(dynamic_cast<const Ilu<double>&>(*made), options.schedule, device,
                                             choice.ilu.trisolve);
}

std::unique_ptr<Preconditioner<double>> factored(const AutoChoice& choice, const BlockCsr<double>& A,
                                                 const BlockCsr<double>& on_gpu) {
  if (travels(choice)) return factored_on_host(choice, A, on_gpu.device());
  const bool positive = choice.pc == "ic";
  if (positive) require_symmetry(A, Array<std::int64_t>(A.block_rows()).span());
  return std::make_unique<DeviceBlockIlu>(on_gpu, choice.ilu, positive);
}

}  // namespace

std::string host_only(const AutoChoice& choice) {
  const std::string why = host_only_everywhere(choice);
  if (!why.empty() || !factors(choice)) return why;
  if (!travels(choice) && choice.ilu.ordering != Ordering::natural && choice.ilu.ordering != Ordering::rcm) {
    return fmt::format("{} are an order of the host's", word(choice.ilu.ordering));
  }
  return choice.ilu.schedule == SweepSchedule::point_to_point ? "point-to-point is a schedule of the host's sweeps" : "";
}

std::string host_only(const AutoChoice& choice, const Stencil& stencil) {
  const std::string why = host_only_everywhere(choice);
  if (!why.empty() || !factors(choice)) return why;
  if (travels(choice)) return fmt::format("{} leaves the grid, which a GPU does not", choice.pc);
  if (choice.match_rows) return "matched rows leave the grid, which a GPU does not";
  if (iterates(choice.ilu.trisolve)) return "iterated triangular solves leave the grid, which a GPU does not";
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
  const Device device = on_gpu.device();
  if (choice.match_rows) {
    return std::make_unique<DeviceMatchedIlu>(
        A, [&](const BlockCsr<double>& B) { return factored(choice, B, B.to(device)); }, device);
  }
  return factored(choice, A, on_gpu);
}

}  // namespace echelon
