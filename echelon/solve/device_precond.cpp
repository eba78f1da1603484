// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/solve/device_precond.hpp"

#include <fmt/format.h>

#include "echelon/factor/grid_checks.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_factored_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_matched_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_parilut.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/stencil/stencil_fill.hpp"

namespace echelon {

namespace {

/// Made on the host and swept on the GPU.
bool travels(const AutoChoice& choice) { return choice.pc == "ilut"; }
/// These take the symmetric form where A looks definite.
bool either(const AutoChoice& choice) { return choice.pc == "parilu" || choice.pc == "parilut" || choice.pc == "mcilu"; }
bool factors(const AutoChoice& choice) {
  return choice.pc == "ilu" || choice.pc == "ic" || travels(choice) || either(choice);
}

/// What no storage has on a GPU.
std::string host_only_everywhere(const AutoChoice& choice) {
  if (choice.pc != "none" && !factors(choice)) {
    return fmt::format("{} has no version for a GPU (none, ilu, ic, ilut, parilu, parilut and mcilu have)", choice.pc);
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
                                                 const BlockCsr<double>& on_gpu, bool looks_definite) {
  if (travels(choice)) return factored_on_host(choice, A, on_gpu.device());
  const bool positive = choice.pc == "ic" || (either(choice) && looks_definite);
  if (positive) require_symmetry(A, Array<std::int64_t>(A.block_rows()).span());
  if (choice.pc == "parilut") return std::make_unique<DeviceParilut>(on_gpu, choice.ilu, positive);
  return std::make_unique<DeviceBlockIlu>(on_gpu, options_by_name(choice.pc, choice.ilu), positive);
}

}  // namespace

bool leaves_grid(const AutoChoice& choice) {
  if (travels(choice) || either(choice)) return true;
  return factors(choice) && (choice.match_rows || choice.ilu.ordering != Ordering::natural || iterates(choice.ilu.trisolve));
}

std::string host_only(const AutoChoice& choice) {
  const std::string why = host_only_everywhere(choice);
  if (!why.empty() || !factors(choice)) return why;
  return choice.ilu.schedule == SweepSchedule::point_to_point ? "point-to-point is a schedule of the host's sweeps" : "";
}

std::string host_only(const AutoChoice& choice, const Stencil& stencil) {
  if (leaves_grid(choice)) return host_only(choice);
  const std::string why = host_only_everywhere(choice);
  if (!why.empty() || !factors(choice)) return why;
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
                                                    const BlockCsr<double>& on_gpu, const MatrixTraits& traits) {
  if (choice.pc == "none") return std::make_unique<Identity<double>>();
  const Device device = on_gpu.device();
  if (choice.match_rows) {
    return std::make_unique<DeviceMatchedIlu>(
        A, [&](const BlockCsr<double>& B) { return factored(choice, B, B.to(device), false); }, device);
  }
  return factored(choice, A, on_gpu, traits.symmetric() && traits.positive_diagonal());
}

}  // namespace echelon
