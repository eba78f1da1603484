// SPDX-License-Identifier: BSD-3-Clause
#include "cli/linear_system.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "cli/grid_text.hpp"
#include "cli/problem_kinds.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/io/matrix_market.hpp"
#include "echelon/problem/projection.hpp"
#include "echelon/solve/device_precond.hpp"
#include "echelon/solve/matrix_check.hpp"

namespace echelon::cli {
namespace {

/// Vectors a solve holds beside the matrix: b, x, the best x, and the method's own.
double vector_count(const SolveOptions& options) {
  constexpr double others = 8;
  if (options.solver == "cg" || options.solver == "bicgstab" || options.solver == "stationary") return others + 4;
  const double basis = options.restart * (options.basis == "fp32" ? 0.5 : 1.0) * (options.solver == "fgmres" ? 2 : 1);
  // With the solver left open a symmetric problem takes CG: the basis is not counted against it.
  const bool takes_cg = options.solver == "auto" && options.matrix.empty() && problem_kind(options.problem).symmetric;
  return others + (takes_cg ? 4 : basis);
}

/// Refuses before assembly. In floating point: the product of three extents may pass 64 bits.
void require_room(const SolveOptions& options, const Grid& grid, const Stencil& stencil, Device device) {
  const double points = static_cast<double>(grid.nx) * static_cast<double>(grid.ny) * static_cast<double>(grid.nz);
  const double dof = unknowns_a_point(options);
  const double block = dof * dof * 8;
  const double matrix = points * stencil.size() * block;
  const bool factors = options.pc == "auto" || find_preconditioner(options.pc).takes_ilu_options;
  const int fill = options.precond.ilu.fill;
  const double growth = 1.0 + fill;  // each level of fill adds about a pattern's worth
  const double factor = factors ? growth * matrix * (fill > 0 ? 1.5 : 1.0) : 0;
  const double needed = matrix + factor + vector_count(options) * points * dof * 8;
  const auto what =
      fmt::format("{} on {}x{}x{} ({} of matrix, {} of factors, the rest vectors)", options.problem, grid.nx, grid.ny,
                  grid.nz, human_bytes(saturated_bytes(matrix)), human_bytes(saturated_bytes(factor)));
  require_memory(saturated_bytes(needed), what, device);
  if (points * dof > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::will_not_fit,
                fmt::format("{:.0f} unknowns on one machine: local indices have 32 bits", points * dof));
  }
}

/// The obstacle takes the nodes inside it out of the grid: block CSR, on every backend.
LinearSystem from_projection(const SolveOptions& options, const Grid& grid, const Stencil& stencil) {
  const Timer clock;
  auto made =
      problems::projection(grid, {.density = problems::flame_density(options.density_ratio), .radius = options.radius});
  ProblemInfo info{options.problem, made.A.rows(), made.A.nonzeros(), 1, {{grid.nx, grid.ny, grid.nz}}, stencil.name()};
  return {std::move(made.A), std::move(made.b), std::move(info), {}, 0, clock.seconds()};
}

/// Whether a GPU takes block CSR, which is then made on the host.
bool leaves_grid(const SolveOptions& options) {
  AutoChoice choice;
  choice.pc = options.pc == "auto" ? "ilu" : options.pc;
  choice.options = options.precond;
  return echelon::leaves_grid(choice);
}

LinearSystem from_problem(const SolveOptions& options) {
  const Stencil stencil = stencil_of(options);
  const Grid grid = parse_grid(options.grid, stencil);
  const Device device = options.backend == "cuda" ? Device::cuda() : Device::host();
  require_room(options, grid, stencil, device);
  if (options.problem == "projection") return from_projection(options, grid, stencil);
  const Timer clock;
  const ProblemKind& kind = problem_kind(options.problem);
  const int dof = unknowns_a_point(options);
  ProblemInfo info;
  info.name = options.problem;
  info.n = grid.points() * dof;
  info.nnz = neighbours_inside(grid, stencil.offsets()) * dof * dof;
  info.block = dof;
  info.grid = {{grid.nx, grid.ny, grid.nz}};
  info.stencil = stencil.name();
  auto b = is_singular(options) ? problems::balanced_sources(grid) : Vector<double>(info.n, 1.0);
  if (!device.is_host() && leaves_grid(options)) {
    return {to_block_csr(kind.assemble(options, grid, stencil)), std::move(b), std::move(info), {}, 0, clock.seconds()};
  }
  if (device.is_host()) {
    return {kind.assemble(options, grid, stencil), std::move(b), std::move(info), {}, 0, clock.seconds()};
  }
  return {kind.rows(options, grid, stencil, device), std::move(b), std::move(info), {}, 0, clock.seconds()};
}

std::vector<std::string> reading_remarks(const ReadNotes& notes, const std::string& policy) {
  std::vector<std::string> remarks;
  if (notes.duplicates > 0) {
    remarks.push_back(
        fmt::format("{} duplicate entries ({})", notes.duplicates, policy == "last" ? "the last one counts" : "summed"));
  }
  if (notes.explicit_zeros > 0) remarks.push_back(fmt::format("{} entries are stored zeros", notes.explicit_zeros));
  if (notes.denormals > 0) remarks.push_back(fmt::format("{} entries are denormal numbers", notes.denormals));
  if (notes.nonfinite > 0) remarks.push_back(fmt::format("{} entries are NaN or infinite", notes.nonfinite));
  return remarks;
}

/// Refuses another length than `rows` by the size line, before a vector of it is allocated. `other` is whose rows these are.
Vector<double> right_hand_side(const std::string& path, const ReadOptions& reading, std::int64_t rows,
                               const std::string& other) {
  MatrixMarketFile file(path, reading);
  if (file.sizes().rows != rows) {
    throw Error(ErrorCode::size_mismatch,
                fmt::format("the right-hand side {} has {} entries, {}", path, file.sizes().rows, other));
  }
  return file.vector();
}

/// b = A·1, or where 1 is in the null space b = A·(1/n, 2/n, …, 1): a b that A can reach.
Vector<double> made_right_hand_side(const BlockCsr<double>& A, bool singular) {
  Vector<double> x(A.rows(), 1.0), b(A.rows());
  if (singular) {
    for (std::int64_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i + 1) / static_cast<double>(x.size());
  }
  A.apply(x, b);
  return b;
}

LinearSystem from_file(const SolveOptions& options) {
  const Timer clock;
  ReadOptions reading;
  reading.allow_nonfinite = options.allow_nonfinite;
  reading.duplicates = options.duplicates == "last" ? Duplicates::last : Duplicates::sum;
  // Merging is a repair unless the user asked for it by name.
  const bool strict = options.strict && !options.duplicates_given;
  if (strict || options.duplicates == "refuse") reading.duplicates = Duplicates::refuse;
  const bool regular = options.null_space != "constant";
  MatrixMarketFile opened(options.matrix, reading);
  require_solvable_sizes(opened.sizes(), regular);
  const auto rows = opened.sizes().rows;
  const auto require_room = [&](std::int64_t entries) {
    require_memory(ilu0_memory(rows, entries, static_cast<std::int64_t>(vector_count(options))),
                   "the factorization and the solver's vectors");
  };
  // Rows cost a file nothing: what they will take is asked for before the first of them is.
  require_room(0);
  auto file = opened.matrix();
  if (regular) require_structural_rank(file.matrix);
  require_room(file.matrix.nonzeros());
  Vector<double> b(rows, 1.0);
  if (!options.rhs.empty()) {
    b = right_hand_side(options.rhs, reading, rows, fmt::format("the matrix {} {} rows", options.matrix, rows));
  }
  const double read_seconds = clock.seconds();
  ProblemInfo info{options.matrix, rows, file.matrix.nonzeros(), options.block, std::nullopt, {}};
  auto A = options.block > 1 ? reblock(file.matrix, options.block) : std::move(file.matrix);
  auto remarks = reading_remarks(file.notes, options.duplicates);
  if (options.rhs.empty() && file.notes.nonfinite > 0) {
    remarks.emplace_back("the right-hand side is 1, because A*1 is not finite");
  } else if (options.rhs.empty()) {
    b = made_right_hand_side(A, !regular);
    if (!regular) remarks.emplace_back("the right-hand side is A*(1/n, 2/n, ..., 1), because A*1 is 0");
  }
  return {std::move(A), std::move(b), std::move(info), std::move(remarks), read_seconds, clock.seconds() - read_seconds};
}

}  // namespace

MatrixRef LinearSystem::ref() const {
  if (const auto* csr = std::get_if<BlockCsr<double>>(&matrix)) return csr;
  if (const auto* grid = std::get_if<StructMatrix<double>>(&matrix)) return grid;
  return std::get<std::shared_ptr<const RowSource>>(matrix);
}

LinearSystem make_system(const SolveOptions& options) {
  if (!options.matrix.empty()) return from_file(options);
  auto system = from_problem(options);
  if (!options.rhs.empty()) {
    const Timer clock;
    system.b = right_hand_side(options.rhs, {}, system.info.n, fmt::format("the problem {} unknowns", system.info.n));
    system.read_seconds = clock.seconds();
  }
  return system;
}

}  // namespace echelon::cli
