// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/registry.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/precond/jacobi.hpp"

namespace echelon {
namespace {

using Made = std::unique_ptr<Preconditioner<double>>;

Made make_identity(const MatrixRef&, const IluOptions&) { return std::make_unique<Identity<double>>(); }

[[noreturn]] void refuse_rows() {
  throw Error(ErrorCode::device, "a matrix given by rows has no storage on the host; solve it on the device of its rows");
}

/// visit(matrix) in its storage on the host.
template <class Visit>
decltype(auto) in_storage(const MatrixRef& A, const Visit& visit) {
  if (const auto* csr = std::get_if<const BlockCsr<double>*>(&A)) return visit(**csr);
  if (const auto* grid = std::get_if<const StructMatrix<double>*>(&A)) return visit(**grid);
  refuse_rows();
}

Made make_jacobi(const MatrixRef& A, const IluOptions&) {
  return in_storage(A, [](const auto& matrix) -> Made { return std::make_unique<Jacobi<double>>(matrix); });
}

/// The stencil body keeps the grid's order and has schedules of its own; what asks for others is factored as block CSR.
bool stays_on_grid(const IluOptions& options) {
  return options.ordering == Ordering::natural &&
         (options.schedule == SweepSchedule::automatic || options.schedule == SweepSchedule::sequential);
}

template <class Factor>
Made factored(const MatrixRef& A, const IluOptions& options, Factor factor) {
  return in_storage(A, [&]<class Matrix>(const Matrix& matrix) -> Made {
    if constexpr (std::is_same_v<Matrix, StructMatrix<double>>) {
      if (!stays_on_grid(options)) return std::make_unique<Ilu<double>>(factor(to_block_csr(matrix), options));
    }
    return std::make_unique<Ilu<double>>(factor(matrix, options));
  });
}

Made make_ilu(const MatrixRef& A, const IluOptions& options) {
  return factored(A, options, [](const auto& matrix, const IluOptions& o) { return ilu(matrix, o); });
}

Made make_ic(const MatrixRef& A, const IluOptions& options) {
  return factored(A, options, [](const auto& matrix, const IluOptions& o) { return ic(matrix, o); });
}

constexpr PrecondEntry entries[] = {
    {"none", "no preconditioner", false, false, make_identity},
    {"jacobi", "the inverse of the (block) diagonal", false, false, make_jacobi},
    {"ilu", "incomplete LU with level of fill K, exact triangular solves", true, false, make_ilu},
    {"ic", "incomplete Cholesky with level of fill K, for symmetric matrices", true, true, make_ic},
};

}  // namespace

const Operator<double>& as_operator(const MatrixRef& A) {
  return in_storage(A, [](const auto& matrix) -> const Operator<double>& { return matrix; });
}

std::span<const PrecondEntry> preconditioners() { return entries; }

const PrecondEntry& find_preconditioner(const std::string& name) {
  std::string known;
  for (const auto& entry : entries) {
    if (name == entry.name) return entry;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  }
  throw Error(ErrorCode::bad_argument, fmt::format("no preconditioner is called '{}'; there are {}", name, known));
}

}  // namespace echelon
