// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/registry.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/matrix/traits.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/precond/scaled_precond.hpp"

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
  return options.ordering == Ordering::natural && options.factor_sweeps == 0 && !iterates(options.trisolve) &&
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

template <class Matrix>
bool looks_definite(const Matrix& matrix) {
  const auto traits = traits_of(matrix);
  return traits.symmetric() && traits.positive_diagonal();
}

/// The symmetric form where CG may be meant: its pivots must be positive.
Made make_either(const MatrixRef& A, const IluOptions& options) {
  const bool definite = in_storage(A, [](const auto& matrix) { return looks_definite(matrix); });
  return definite ? make_ic(A, options) : make_ilu(A, options);
}

Made make_parilu(const MatrixRef& A, const IluOptions& options) {
  return make_either(A, options_by_name("parilu", options));
}
Made make_mcilu(const MatrixRef& A, const IluOptions& options) { return make_either(A, options_by_name("mcilu", options)); }

Made make_parilut(const MatrixRef& A, const IluOptions& options) {
  return in_storage(A, [&]<class Matrix>(const Matrix& matrix) -> Made {
    const auto factor = [&](const BlockCsr<double>& csr) {
      return std::make_unique<Ilu<double>>(looks_definite(matrix) ? parict(csr, options) : parilut(csr, options));
    };
    if constexpr (std::is_same_v<Matrix, StructMatrix<double>>) {
      return factor(to_block_csr(matrix));
    } else {
      return factor(matrix);
    }
  });
}

Made make_ilut(const MatrixRef& A, const IluOptions& options) {
  return in_storage(A, [&](const auto& matrix) -> Made { return std::make_unique<Ilu<double>>(ilut(matrix, options)); });
}

constexpr PrecondEntry entries[] = {
    {"none", "no preconditioner", false, false, make_identity},
    {"jacobi", "the inverse of the (block) diagonal", false, false, make_jacobi},
    {"ilu", "incomplete LU with level of fill K, exact triangular solves", true, false, make_ilu, ilu<double>},
    {"ic", "incomplete Cholesky with level of fill K, for symmetric matrices", true, true, make_ic},
    {"parilu", "ILU(K), IC(K) for symmetric matrices, by fixed-point sweeps", true, false, make_parilu},
    {"parilut", "the same with thresholds that choose the pattern, for blocks of size 1", true, false, make_parilut},
    {"mcilu", "ILU(K), IC(K) for symmetric matrices, in the order of a colouring", true, false, make_mcilu},
    {"ilut", "incomplete LU by thresholds: a drop tolerance and at most lfil entries a row and triangle", true, false,
     make_ilut, ilut<double>},
};

}  // namespace

IluOptions options_by_name(const std::string& name, IluOptions options) {
  if (name == "parilu" && options.factor_sweeps == 0) options.factor_sweeps = default_sweeps;
  if (name == "mcilu" && options.ordering != Ordering::random_colours) options.ordering = Ordering::colours;
  return options;
}

const Operator<double>& as_operator(const MatrixRef& A) {
  return in_storage(A, [](const auto& matrix) -> const Operator<double>& { return matrix; });
}

std::span<const PrecondEntry> preconditioners() { return entries; }

Made make_preconditioner(const std::string& name, const MatrixRef& A, const IluOptions& options) {
  const PrecondEntry& entry = find_preconditioner(name);
  if (!options.scale_matrix || !entry.takes_ilu_options) return entry.make(A, options);
  const auto make = [&](const BlockCsr<double>& matrix) { return entry.make(&matrix, options); };
  return in_storage(A, [&]<class Matrix>(const Matrix& matrix) -> Made {
    if constexpr (std::is_same_v<Matrix, StructMatrix<double>>) {
      return std::make_unique<ScaledPreconditioner>(to_block_csr(matrix), make);
    } else {
      return std::make_unique<ScaledPreconditioner>(matrix, make);
    }
  });
}

const PrecondEntry& find_preconditioner(const std::string& name) {
  std::string known;
  for (const auto& entry : entries) {
    if (name == entry.name) return entry;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  }
  throw Error(ErrorCode::bad_argument, fmt::format("no preconditioner is called '{}'; there are {}", name, known));
}

}  // namespace echelon
