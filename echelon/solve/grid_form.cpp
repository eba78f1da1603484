// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/solve/grid_form.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/solve/graph_fill.hpp"

namespace echelon {

GridForm::GridForm(RecognisedStencil found, const BlockCsr<double>& A)
    : found_(std::move(found)), matrix_(to_struct(A, found_)) {}

std::optional<GridForm> GridForm::of(const MatrixRef& A) {
  constexpr std::int64_t fewest_rows = 1000;
  const auto* csr = std::get_if<const BlockCsr<double>*>(&A);
  if (!csr || (*csr)->block_rows() < fewest_rows) return std::nullopt;
  auto found = recognise_stencil(**csr);
  if (!found) return std::nullopt;
  try {
    return GridForm(std::move(*found), **csr);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::will_not_fit) throw;
    return std::nullopt;
  }
}

bool GridForm::concerns(const AutoChoice& choice) {
  const auto* entry = look_up_preconditioner(choice.pc);
  if (!entry || !entry->takes_recognised_grids) return false;
  if (!entry->takes_ilu_options) return true;
  const IluOptions& ilu = choice.options.ilu;
  if (choice.options.match_rows || ilu.ordering != Ordering::natural) return false;
  return ilu.schedule == SweepSchedule::automatic && !iterates(ilu.trisolve) && !ilu.scale_matrix;
}

bool GridForm::suits(const AutoChoice& choice, const MatrixTraits& traits) const {
  if (!concerns(choice)) return false;
  const PrecondEntry& entry = find_preconditioner(choice.pc);
  if (!entry.takes_ilu_options) return true;
  const int fill = choice.options.ilu.fill;
  if (found_.absent == 0) return fill_is_the_graphs(found_.grid, found_.stencil, fill);
  // A pattern that is not symmetric is no matrix for IC, though its zeros may be.
  return fill == 0 && (!entry.symmetric_only || traits.symmetric());
}

std::string GridForm::sentence() const {
  const std::string zeros =
      found_.absent > 0 ? fmt::format(", {} entries it lacks taken as zeros,", found_.absent) : std::string();
  return fmt::format("the matrix is the stencil {}{} and was solved as such", name(), zeros);
}

}  // namespace echelon
