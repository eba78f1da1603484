// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/multigrid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/precond/mg/grid_cycle.hpp"
#include "echelon/precond/mg/grid_hierarchy.hpp"
#include "echelon/stencil/shapes.hpp"

namespace echelon {
namespace {

void check_options(const MgOptions& options) {
  if (options.sweeps < 1 || options.sweeps > 100)
    throw Error(ErrorCode::bad_argument, fmt::format("multigrid: {} sweeps, expected 1 to 100", options.sweeps));
  if (!(options.strong > 0 && options.strong <= 1))
    throw Error(ErrorCode::bad_argument,
                fmt::format("multigrid: strong is {}, expected above 0, at most 1", options.strong));
  if (options.coarsest < 1 || options.coarsest > 5000)
    throw Error(ErrorCode::bad_argument,
                fmt::format("multigrid: at most {} unknowns on the coarsest level, expected 1 to 5000", options.coarsest));
}

/// The diagonal spans no more orders than FP32 has digits, and is far from that type's ends: jumps of 10⁶ take as many
/// iterations as in FP64.
bool suits_fp32(const StructMatrix<double>& A) {
  constexpr double widest = 1e7, largest_value = 1e25, smallest_value = 1e-25;
  const std::int64_t n = A.rows();
  const double* diagonal = A.values().data() + A.stencil().center() * n;
  double largest = 0, smallest = std::numeric_limits<double>::infinity();
#pragma omp parallel for num_threads(threads_for(n)) schedule(static) reduction(max : largest) reduction(min : smallest)
  for (std::int64_t p = 0; p < n; ++p) {
    largest = std::max(largest, std::abs(diagonal[p]));
    smallest = std::min(smallest, std::abs(diagonal[p]));
  }
  return largest <= widest * smallest && largest <= largest_value && smallest >= smallest_value;
}

/// "grid point (1,2,3)" of the first value that is no number; empty when all are.
std::string first_nonfinite(const StructMatrix<double>& A) {
  const Grid& g = A.grid();
  const auto values = A.values();
  const auto bad = std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
  if (bad == values.end()) return {};
  const std::int64_t p = (bad - values.begin()) % g.points();
  return fmt::format("a value is {} at grid point ({},{},{}), row {}", *bad, p % g.nx, p / g.nx % g.ny, p / g.nx / g.ny, p);
}

}  // namespace

struct Multigrid::Impl {
  Impl(const StructMatrix<double>& A, const MgOptions& wishes) : options(wishes) {
    if (A.dof() != 1) {
      throw Error(ErrorCode::bad_argument, fmt::format("multigrid: {} unknowns a point, expected 1", A.dof()));
    }
    check_options(options);
    report.name = std::string("mg");
    report.kind = PrecondKind::multilevel;
    report.ordering = "natural";
    attempt(A, [&] {
      hierarchy.emplace(A, options);
      make_cycle(A);
    });
  }

  /// Sets up by `make`; what goes wrong with the matrix is in the report.
  template <class Make>
  void attempt(const StructMatrix<double>& A, const Make& make) {
    const Timer timer;
    report.ok = true;
    report.message.clear();
    try {
      make();
      if (!report.multilevel) describe();
      report.symmetric = hierarchy->symmetric();
      report.multilevel->null_vectors = cycle->null_vectors();
      collect_repairs();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::structure) throw;
      const std::string place = first_nonfinite(A);
      report.ok = false;
      report.message = fmt::format("multigrid: {}", place.empty() ? error.what() : place.c_str());
    }
    report.numeric_seconds = timer.seconds();
  }

  void make_cycle(const StructMatrix<double>& A) {
    in_fp32 = options.precision == MgPrecision::fp32 ||
              (options.precision == MgPrecision::automatic && hierarchy->symmetric() && suits_fp32(A));
    cycle = make_grid_cycle(*hierarchy, options, in_fp32);
  }

  /// Pivots that smoothers replaced, and shifts, are the whole's.
  void collect_repairs() {
    report.perturbed_pivots = 0;
    report.shift = 0;
    report.remarks.clear();
    for (std::size_t l = 0; l < hierarchy->levels(); ++l) {
      const FactorReport* factors = cycle->factors(l);
      if (!factors || (factors->perturbed_pivots == 0 && factors->shift == 0)) continue;
      report.perturbed_pivots += factors->perturbed_pivots;
      report.shift = std::max(report.shift, factors->shift);
      report.remarks.push_back(fmt::format("level {} ({}): {} replaced {} pivots and shifted by {:g}", l,
                                           sides_of(hierarchy->matrix(l).grid()), title(*factors), factors->perturbed_pivots,
                                           factors->shift));
    }
  }

  void describe() {
    MultilevelNote note;
    std::int64_t bytes = cycle->bytes();
    for (std::size_t l = 0; l < hierarchy->levels(); ++l) {
      const auto& A = hierarchy->matrix(l);
      const bool last = l + 1 == hierarchy->levels();
      note.levels.push_back(
          {A.rows(), A.nonzeros(), sides_of(A.grid()), cycle->smoother(l), last ? "" : hierarchy->directions(l)});
      if (l > 0) bytes += A.layout().bytes();
    }
    note.cycle = std::string(word(options.cycle));
    note.sweeps = options.sweeps;
    note.operator_complexity = hierarchy->operator_complexity();
    note.grid_complexity = hierarchy->grid_complexity();
    report.precision = in_fp32 ? "fp32" : "fp64";
    report.kernel = shapes::kernel_name(1);
    report.levels = static_cast<std::int64_t>(note.levels.size());
    report.fill_ratio = note.operator_complexity;
    report.bytes = bytes;
    report.multilevel = std::move(note);
  }

  MgOptions options;
  FactorReport report;
  std::optional<GridHierarchy> hierarchy;
  std::unique_ptr<GridCycle> cycle;
  bool in_fp32 = false;
};

Multigrid::Multigrid(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Multigrid::Multigrid(Multigrid&&) noexcept = default;
Multigrid& Multigrid::operator=(Multigrid&&) noexcept = default;
Multigrid::~Multigrid() = default;

const FactorReport& Multigrid::report() const { return impl_->report; }
const StructMatrix<double>& Multigrid::matrix(int level) const {
  return impl_->hierarchy->matrix(static_cast<std::size_t>(level));
}

void Multigrid::apply(const Vector<double>& r, Vector<double>& z) const {
  if (!impl_->report.ok || !impl_->cycle) throw Error(ErrorCode::bad_argument, impl_->report.message);
  for (const auto* v : {&r, static_cast<const Vector<double>*>(&z)}) {
    if (!v->device().is_host()) {
      throw Error(ErrorCode::device, fmt::format("mixing places: multigrid is on host, a vector on {}", v->device().name()));
    }
  }
  impl_->cycle->apply(r, z);
}

const FactorReport& Multigrid::refactor(const StructMatrix<double>& A) {
  const StructMatrix<double>& own = matrix(0);
  if (!(A.grid() == own.grid()) || A.dof() != own.dof() ||
      !std::ranges::equal(A.stencil().offsets(), own.stencil().offsets())) {
    throw Error(ErrorCode::structure,
                fmt::format("new values for multigrid: got the grid {} with {} entries and {} unknowns a point, expected {} "
                            "with the same {} entries and 1",
                            sides_of(A.grid()), A.stencil().size(), A.dof(), sides_of(own.grid()), own.stencil().size()));
  }
  impl_->attempt(A, [&] {
    impl_->hierarchy->refresh(A);
    if (impl_->cycle) {
      impl_->cycle->refresh(*impl_->hierarchy);
    } else {
      impl_->make_cycle(A);
    }
  });
  return impl_->report;
}

Multigrid multigrid(const StructMatrix<double>& A, const MgOptions& options) {
  return Multigrid(std::make_unique<Multigrid::Impl>(A, options));
}

}  // namespace echelon
