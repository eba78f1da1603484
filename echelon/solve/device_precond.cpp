// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/solve/device_precond.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/precond/ilu_gpu/device_matched_ilu.hpp"
#include "echelon/precond/registry.hpp"
#include "echelon/stencil/stencil_fill.hpp"

namespace echelon {

namespace {

/// What no storage has on a GPU.
std::string host_only_everywhere(const PrecondEntry& entry, const IluOptions& options) {
  if (!entry.make_from_grid && !entry.make_from_rows)
    return entry.host_only ? entry.host_only : fmt::format("{} has no version for a GPU", entry.name);
  if (entry.takes_ilu_options && options.scale_matrix)
    return "a matrix scaled before it is factored has no version for a GPU";
  return "";
}

}  // namespace

bool leaves_grid(const AutoChoice& choice) {
  const auto leaves = find_preconditioner(choice.pc).leaves_grid;
  return leaves && leaves(choice.options);
}

std::string host_only(const AutoChoice& choice) {
  const PrecondEntry& entry = find_preconditioner(choice.pc);
  const IluOptions& options = choice.options.ilu;
  const std::string why = host_only_everywhere(entry, options);
  if (!why.empty()) return why;
  if (!entry.make_from_rows) return fmt::format("{} takes no block CSR on a GPU", entry.name);
  const bool on_host = entry.takes_ilu_options && options.schedule == SweepSchedule::point_to_point;
  return on_host ? "point-to-point is a schedule of the host's sweeps" : "";
}

std::string host_only(const AutoChoice& choice, const Stencil& stencil) {
  if (leaves_grid(choice)) return host_only(choice);
  const PrecondEntry& entry = find_preconditioner(choice.pc);
  const IluOptions& options = choice.options.ilu;
  const std::string why = host_only_everywhere(entry, options);
  if (!why.empty()) return why;
  if (!entry.make_from_grid) return fmt::format("{} takes no grid on a GPU", entry.name);
  if (!entry.takes_ilu_options) return "";
  if (options.schedule != SweepSchedule::automatic) return "the schedule is for the host's sweeps";
  if (!can_grow(stencil, options.fill))
    return fmt::format("fill {} would grow the stencil beyond a thousand entries", options.fill);
  return "";
}

std::unique_ptr<Preconditioner<double>> make_on_gpu(const AutoChoice& choice, const TileMatrix& on_gpu, double asymmetry) {
  const auto make = find_preconditioner(choice.pc).make_from_grid;
  if (!make) throw Error(ErrorCode::bad_option, host_only(choice, on_gpu.stencil()));
  return make(on_gpu, choice.options, asymmetry);
}

std::unique_ptr<Preconditioner<double>> make_on_gpu(const AutoChoice& choice, const BlockCsr<double>& A,
                                                    const BlockCsr<double>& on_gpu, const MatrixTraits& traits) {
  const PrecondEntry& entry = find_preconditioner(choice.pc);
  if (!entry.make_from_rows) throw Error(ErrorCode::bad_option, host_only(choice));
  const Device device = on_gpu.device();
  if (choice.options.match_rows && entry.takes_ilu_options) {
    return std::make_unique<DeviceMatchedIlu>(
        A, [&](const BlockCsr<double>& B) { return entry.make_from_rows(B, B.to(device), choice.options, false); }, device);
  }
  return entry.make_from_rows(A, on_gpu, choice.options, traits.symmetric() && traits.positive_diagonal());
}

}  // namespace echelon
