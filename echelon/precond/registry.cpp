// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "echelon/base/error.hpp"
#include "echelon/factor/grid_checks.hpp"
#include "echelon/matrix/grid/stencil_recognition.hpp"
#include "echelon/matrix/traits.hpp"
#include "echelon/precond/dbsr/dbsr.hpp"
#include "echelon/precond/dbsr/dbsr_option_list.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/precond/ilu/ilu_option_list.hpp"
#include "echelon/precond/ilu/matched_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_block_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_factored_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_ilu.hpp"
#include "echelon/precond/ilu_gpu/device_parilut.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/precond/mg/mg_option_list.hpp"
#include "echelon/precond/mg/multigrid.hpp"
#include "echelon/precond/scaled_precond.hpp"

namespace echelon {
namespace {

using Made = PrecondEntry::Made;

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

/// visit(matrix) in block CSR.
template <class Visit>
Made in_block_csr(const MatrixRef& A, const Visit& visit) {
  return in_storage(A, [&]<class Matrix>(const Matrix& matrix) -> Made {
    if constexpr (std::is_same_v<Matrix, StructMatrix<double>>) {
      return visit(to_block_csr(matrix));
    } else {
      return visit(matrix);
    }
  });
}

Made make_identity(const MatrixRef&, const PrecondOptions&) { return std::make_unique<Identity<double>>(); }

Made make_jacobi(const MatrixRef& A, const PrecondOptions&) {
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

Made make_ilu(const MatrixRef& A, const PrecondOptions& options) {
  return factored(A, options.ilu, [](const auto& matrix, const IluOptions& o) { return ilu(matrix, o); });
}

Made make_ic(const MatrixRef& A, const PrecondOptions& options) {
  return factored(A, options.ilu, [](const auto& matrix, const IluOptions& o) { return ic(matrix, o); });
}

template <class Matrix>
bool looks_definite(const Matrix& matrix) {
  const auto traits = traits_of(matrix);
  return traits.symmetric() && traits.positive_diagonal();
}

/// The symmetric form where CG may be meant: its pivots must be positive.
Made make_either(const MatrixRef& A, const PrecondOptions& options) {
  const bool definite = in_storage(A, [](const auto& matrix) { return looks_definite(matrix); });
  return definite ? make_ic(A, options) : make_ilu(A, options);
}

void complete_parilu(PrecondOptions& options) {
  if (options.ilu.factor_sweeps == 0) options.ilu.factor_sweeps = default_sweeps;
}
void complete_mcilu(PrecondOptions& options) {
  if (options.ilu.ordering != Ordering::random_colours) options.ilu.ordering = Ordering::colours;
}

template <void (*complete)(PrecondOptions&)>
Made make_completed(const MatrixRef& A, const PrecondOptions& options) {
  PrecondOptions all = options;
  complete(all);
  return make_either(A, all);
}

void complete_sgs(PrecondOptions& options) {
  if (options.ilu.omega == 0) options.ilu.omega = 1;
}
Made make_sgs(const MatrixRef& A, const PrecondOptions& options) {
  PrecondOptions all = options;
  complete_sgs(all);
  return make_ilu(A, all);
}

Made make_parilut(const MatrixRef& A, const PrecondOptions& options) {
  const bool definite = in_storage(A, [](const auto& matrix) { return looks_definite(matrix); });
  return in_block_csr(A, [&](const BlockCsr<double>& matrix) {
    return std::make_unique<Ilu<double>>(definite ? parict(matrix, options.ilu) : parilut(matrix, options.ilu));
  });
}

Made make_ilut(const MatrixRef& A, const PrecondOptions& options) {
  return in_storage(A, [&](const auto& matrix) -> Made { return std::make_unique<Ilu<double>>(ilut(matrix, options.ilu)); });
}

Made make_dbsr(const MatrixRef& A, const PrecondOptions& options) {
  return in_storage(A, [&](const auto& matrix) -> Made {
    return std::make_unique<Dbsr<double>>(dbsr(matrix, {options.blocks, options.ilu}));
  });
}

Made make_mg(const MatrixRef& A, const PrecondOptions& options) {
  return in_storage(A, [&]<class Matrix>(const Matrix& matrix) -> Made {
    if constexpr (std::is_same_v<Matrix, StructMatrix<double>>) {
      return std::make_unique<Multigrid>(multigrid(matrix, options.mg));
    } else {
      const auto found = recognise_stencil(matrix);
      if (!found) {
        throw Error(ErrorCode::bad_argument,
                    "multigrid needs a matrix on a structured grid; this one is no stencil on a grid");
      }
      return std::make_unique<Multigrid>(multigrid(to_struct(matrix, *found), options.mg));
    }
  });
}

// On a GPU.

Made identity_from_grid(const TileMatrix&, const PrecondOptions&, double) { return std::make_unique<Identity<double>>(); }
Made identity_from_rows(const BlockCsr<double>&, const BlockCsr<double>&, const PrecondOptions&, bool) {
  return std::make_unique<Identity<double>>();
}

template <bool positive>
Made ilu_from_grid(const TileMatrix& on_gpu, const PrecondOptions& options, double asymmetry) {
  if (positive) require_symmetric<double>(asymmetry);
  return std::make_unique<DeviceIlu>(on_gpu, options.ilu, positive);
}

void require_symmetric_rows(const BlockCsr<double>& A) { require_symmetry(A, Array<std::int64_t>(A.block_rows()).span()); }

template <bool positive>
Made ilu_from_rows(const BlockCsr<double>& A, const BlockCsr<double>& on_gpu, const PrecondOptions& options, bool) {
  if (positive) require_symmetric_rows(A);
  return std::make_unique<DeviceBlockIlu>(on_gpu, options.ilu, positive);
}

template <void (*complete)(PrecondOptions&)>
Made either_from_rows(const BlockCsr<double>& A, const BlockCsr<double>& on_gpu, const PrecondOptions& options,
                      bool looks_definite) {
  if (looks_definite) require_symmetric_rows(A);
  PrecondOptions all = options;
  complete(all);
  return std::make_unique<DeviceBlockIlu>(on_gpu, all.ilu, looks_definite);
}

Made parilut_from_rows(const BlockCsr<double>& A, const BlockCsr<double>& on_gpu, const PrecondOptions& options,
                       bool looks_definite) {
  if (looks_definite) require_symmetric_rows(A);
  return std::make_unique<DeviceParilut>(on_gpu, options.ilu, looks_definite);
}

/// Factored on the host and swept on the GPU. Only the device solves with the factors, so only it looks at how.
Made ilut_from_rows(const BlockCsr<double>& A, const BlockCsr<double>& on_gpu, const PrecondOptions& options, bool) {
  IluOptions on_host = options.ilu;
  on_host.trisolve = {};
  return std::make_unique<DeviceFactoredIlu>(ilut(A, on_host), options.ilu.schedule, on_gpu.device(), options.ilu.trisolve);
}

Made sgs_from_rows(const BlockCsr<double>& A, const BlockCsr<double>& on_gpu, const PrecondOptions& options, bool) {
  PrecondOptions on_host = options;
  complete_sgs(on_host);
  on_host.ilu.trisolve = {};
  return std::make_unique<DeviceFactoredIlu>(ilu(A, on_host.ilu), options.ilu.schedule, on_gpu.device(),
                                             options.ilu.trisolve);
}

bool always(const PrecondOptions&) { return true; }
bool when_asked(const PrecondOptions& options) {
  return options.match_rows || options.ilu.ordering != Ordering::natural || iterates(options.ilu.trisolve);
}

// What is said of options.

std::string level(const PrecondOptions& options) { return fmt::format("({})", options.ilu.fill); }
std::string thresholds(const PrecondOptions& options) {
  const auto& ilu = options.ilu;
  return fmt::format("{}({}, {:g})", ilu.column_pivoting > 0 ? "p" : "", ilu.lfil, ilu.drop);
}

std::string refuse_by_parilut(const PrecondOptions&, const OptionGiven& given) {
  return given("--fill") ? "--pc parilut finds its fill by --fill-limit; --fill is a level" : "";
}
std::string refuse_by_mcilu(const PrecondOptions& options, const OptionGiven& given) {
  const Ordering order = options.ilu.ordering;
  if (!given("--ordering") || order == Ordering::colours || order == Ordering::random_colours) return {};
  return fmt::format("--pc mcilu is ILU in the order of a colouring: colours or random-colours; got {}", word(order));
}
std::string refuse_by_ilut(const PrecondOptions&, const OptionGiven& given) {
  return given("--fill") ? "--fill is the level of ilu and ic; --pc ilut has --lfil and --drop" : "";
}

std::string refuse_by_dbsr(const PrecondOptions& options, const OptionGiven& given) {
  for (const char* name : {"--fill", "--ordering", "--schedule", "--trisolve"}) {
    if (given(name)) return fmt::format("--pc dbsr is ILU(0) in an order of its own, by exact sweeps: it has no {}", name);
  }
  if (options.ilu.precision != Stored::fp64 && options.ilu.precision != Stored::fp32)
    return fmt::format("--pc dbsr keeps factors in fp64 or fp32; got --factor-precision {}", word(options.ilu.precision));
  return {};
}

constexpr std::span<const PrecondOption> own_of_dbsr[] = {dbsr_options};
constexpr std::span<const PrecondOption> own_of_mg[] = {mg_options};
constexpr std::span<const PrecondOption> own_of_parilu[] = {factor_sweeps_options};
constexpr std::span<const PrecondOption> own_of_parilut[] = {factor_sweeps_options, fill_limit_options};
std::string refuse_by_sgs(const PrecondOptions&, const OptionGiven& given) {
  return given("--fill") ? "--pc sgs takes the entries of A as they are; --fill is a level of ilu and ic" : "";
}
std::string relaxation(const PrecondOptions& options) {
  PrecondOptions all = options;
  complete_sgs(all);
  return fmt::format("({:g})", all.ilu.omega);
}

constexpr std::span<const PrecondOption> own_of_sgs[] = {omega_options};
constexpr std::span<const PrecondOption> own_of_ilut[] = {threshold_options};

constexpr PrecondEntry entries[] = {
    {.name = "none",
     .description = "no preconditioner",
     .kind = PrecondKind::identity,
     .make = make_identity,
     .make_from_grid = identity_from_grid,
     .make_from_rows = identity_from_rows,
     .takes_recognised_grids = true},
    {.name = "jacobi",
     .description = "the inverse of the (block) diagonal",
     .kind = PrecondKind::diagonal,
     .make = make_jacobi,
     .host_only = "jacobi has no version for a GPU (none, sgs, ilu, ic, ilut, parilu, parilut and mcilu have)"},
    {.name = "sgs",
     .description = "symmetric Gauss-Seidel, or SSOR with --omega W",
     .kind = PrecondKind::relaxation,
     .takes_ilu_options = true,
     .make = make_sgs,
     .own = own_of_sgs,
     .complete = complete_sgs,
     .refuse = refuse_by_sgs,
     .parameters = relaxation,
     .make_from_rows = sgs_from_rows,
     .leaves_grid = always,
     .takes_recognised_grids = true},
    {.name = "ilu",
     .description = "incomplete LU with level of fill K, exact triangular solves",
     .kind = PrecondKind::levels,
     .takes_ilu_options = true,
     .make = make_ilu,
     .factor_matched = ilu<double>,
     .parameters = level,
     .make_from_grid = ilu_from_grid<false>,
     .make_from_rows = ilu_from_rows<false>,
     .leaves_grid = when_asked,
     .takes_recognised_grids = true},
    {.name = "ic",
     .description = "incomplete Cholesky with level of fill K, for symmetric matrices",
     .kind = PrecondKind::levels,
     .takes_ilu_options = true,
     .symmetric_only = true,
     .make = make_ic,
     .parameters = level,
     .make_from_grid = ilu_from_grid<true>,
     .make_from_rows = ilu_from_rows<true>,
     .leaves_grid = when_asked,
     .takes_recognised_grids = true},
    {.name = "parilu",
     .description = "ILU(K), IC(K) for symmetric matrices, by fixed-point sweeps",
     .kind = PrecondKind::levels,
     .takes_ilu_options = true,
     .make = make_completed<complete_parilu>,
     .own = own_of_parilu,
     .complete = complete_parilu,
     .parameters = level,
     .make_from_rows = either_from_rows<complete_parilu>,
     .leaves_grid = always},
    {.name = "parilut",
     .description = "the same with thresholds that choose the pattern, for blocks of size 1",
     .kind = PrecondKind::fill_limit,
     .takes_ilu_options = true,
     .scalars_only = true,
     .make = make_parilut,
     .own = own_of_parilut,
     .refuse = refuse_by_parilut,
     .make_from_rows = parilut_from_rows,
     .leaves_grid = always},
    {.name = "mcilu",
     .description = "ILU(K), IC(K) for symmetric matrices, in the order of a colouring",
     .kind = PrecondKind::levels,
     .takes_ilu_options = true,
     .make = make_completed<complete_mcilu>,
     .complete = complete_mcilu,
     .refuse = refuse_by_mcilu,
     .parameters = level,
     .make_from_rows = either_from_rows<complete_mcilu>,
     .leaves_grid = always},
    {.name = "dbsr",
     .description = "ILU(0), IC(0) for symmetric matrices, in block multicolour order, SIMD sweeps without gathers",
     .kind = PrecondKind::levels,
     .takes_ilu_options = true,
     .scalars_only = true,
     .make = make_dbsr,
     .own = own_of_dbsr,
     .refuse = refuse_by_dbsr,
     .host_only = "dbsr has no version for a GPU (ilu, ic and mcilu have)",
     .takes_recognised_grids = true},
    {.name = "mg",
     .description = "a cycle of structured multigrid, for matrices on a grid with one unknown a point",
     .kind = PrecondKind::multilevel,
     .scalars_only = true,
     .make = make_mg,
     .own = own_of_mg,
     .host_only = "mg has no version for a GPU (ilu, ic and sgs have)",
     .takes_recognised_grids = true},
    {.name = "ilut",
     .description = "incomplete LU by thresholds: a drop tolerance and at most lfil entries a row and triangle",
     .kind = PrecondKind::thresholds,
     .takes_ilu_options = true,
     .make = make_ilut,
     .factor_matched = ilut<double>,
     .own = own_of_ilut,
     .refuse = refuse_by_ilut,
     .refuses_late = true,
     .parameters = thresholds,
     .make_from_rows = ilut_from_rows,
     .leaves_grid = always},
};

Made make_matched(const PrecondEntry& entry, const MatrixRef& A, const IluOptions& options) {
  if (!entry.factor_matched) throw Error(ErrorCode::bad_option, fmt::format("matched rows are not for --pc {}", entry.name));
  return in_block_csr(A, [&](const BlockCsr<double>& matrix) {
    return std::make_unique<MatchedIlu>(matrix, options, entry.factor_matched);
  });
}

}  // namespace

const Operator<double>& as_operator(const MatrixRef& A) {
  return in_storage(A, [](const auto& matrix) -> const Operator<double>& { return matrix; });
}

std::span<const PrecondEntry> preconditioners() { return entries; }

const PrecondEntry* look_up_preconditioner(const std::string& name) {
  const auto* found = std::ranges::find_if(entries, [&](const PrecondEntry& entry) { return name == entry.name; });
  return found == std::end(entries) ? nullptr : found;
}

const PrecondEntry& find_preconditioner(const std::string& name) {
  if (const auto* entry = look_up_preconditioner(name)) return *entry;
  std::string known;
  for (const auto& entry : entries) known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  throw Error(ErrorCode::bad_argument, fmt::format("no preconditioner is called '{}'; there are {}", name, known));
}

Made make_preconditioner(const std::string& name, const MatrixRef& A, const PrecondOptions& options) {
  const PrecondEntry& entry = find_preconditioner(name);
  if (options.match_rows) return make_matched(entry, A, options.ilu);
  if (!options.ilu.scale_matrix || !entry.takes_ilu_options) return entry.make(A, options);
  const auto make = [&](const BlockCsr<double>& matrix) { return entry.make(&matrix, options); };
  return in_block_csr(A,
                      [&](const BlockCsr<double>& matrix) { return std::make_unique<ScaledPreconditioner>(matrix, make); });
}

PrecondOptions options_by_name(const std::string& name, PrecondOptions options) {
  if (const auto complete = find_preconditioner(name).complete) complete(options);
  return options;
}

std::vector<const PrecondOption*> precond_options() {
  std::vector<const PrecondOption*> all;
  const auto add = [&](std::span<const PrecondOption> group) {
    for (const auto& option : group) {
      if (std::ranges::find(all, &option) == all.end()) all.push_back(&option);
    }
  };
  for (const std::span<const PrecondOption> group : std::initializer_list<std::span<const PrecondOption>>{
           level_options, threshold_options, pivot_options, factor_sweeps_options, fill_limit_options, omega_options,
           order_and_sweep_options})
    add(group);
  for (const auto& entry : entries) std::ranges::for_each(entry.own, add);
  return all;
}

std::vector<const PrecondEntry*> owners_of(const PrecondOption& option) {
  std::vector<const PrecondEntry*> owners;
  for (const auto& entry : entries) {
    for (const auto& group : entry.own) {
      if (std::ranges::any_of(group, [&](const PrecondOption& one) { return &one == &option; })) owners.push_back(&entry);
    }
  }
  return owners;
}

}  // namespace echelon
