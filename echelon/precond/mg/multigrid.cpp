// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/multigrid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/precond/mg/grid_hierarchy.hpp"
#include "echelon/precond/mg/grid_transfer.hpp"
#include "echelon/precond/mg/smoother_choice.hpp"
#include "echelon/precond/mg/smoothers.hpp"
#include "echelon/precond/multilevel/cycle.hpp"
#include "echelon/precond/multilevel/dense_solve.hpp"
#include "echelon/stencil/shapes.hpp"

namespace echelon {
namespace {

void check_options(const MgOptions& options) {
  if (options.sweeps < 1 || options.sweeps > 100)
    throw Error(ErrorCode::bad_argument, fmt::format("multigrid: {} sweeps, expected 1 to 100", options.sweeps));
  if (!(options.strong > 0 && options.strong <= 1))
    throw Error(ErrorCode::bad_argument, fmt::format("multigrid: strong is {}, expected above 0, at most 1", options.strong));
  if (options.coarsest < 1 || options.coarsest > 5000)
    throw Error(ErrorCode::bad_argument,
                fmt::format("multigrid: at most {} unknowns on the coarsest level, expected 1 to 5000", options.coarsest));
}

std::vector<double> dense(const StructMatrix<double>& A) {
  const std::int64_t n = A.rows();
  const Grid& g = A.grid();
  std::vector<double> all(static_cast<std::size_t>(n * n), 0.0);
  for (std::int64_t p = 0; p < n; ++p) {
    const std::int64_t i = p % g.nx, j = p / g.nx % g.ny, k = p / g.nx / g.ny;
    for (int e = 0; e < A.stencil().size(); ++e) {
      const Offset o = A.stencil().offsets()[static_cast<std::size_t>(e)];
      if (!g.contains(i + o.x, j + o.y, k + o.z)) continue;
      all[static_cast<std::size_t>(p * n + p + g.index(o.x, o.y, o.z))] = A.block(p, e)[0];
    }
  }
  return all;
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

/// What runs in a cycle.
class GridCycle {
 public:
  GridCycle(const GridHierarchy& hierarchy, const MgOptions& options) {
    for (std::size_t l = 0; l + 1 < hierarchy.levels(); ++l) {
      const StructMatrix<double>& A = hierarchy.matrix(l);
      std::vector<Axis> axes;
      for (const DirectionStep& step : hierarchy.steps(l)) axes.push_back(step.axis());
      on_level(hierarchy, l, [&] {
        smoothers_.push_back(make_smoother(smoother_for(A, options.smoother), A, axes, options));
      });
      transfers_.push_back(std::make_unique<GridTransfer<double>>(A.grid(), hierarchy.steps(l)));
    }
    factor_coarsest(hierarchy);
    std::vector<std::unique_ptr<Level<double>>> levels;
    for (std::size_t l = 0; l < smoothers_.size(); ++l) {
      levels.push_back(std::make_unique<ComposedLevel<double>>(hierarchy.matrix(l).rows(), *smoothers_[l], *transfers_[l]));
    }
    cycle_ = Cycle<double>(std::move(levels), std::make_unique<DenseSolve<double>>(coarsest_), options.cycle);
  }
  GridCycle(const GridCycle&) = delete;
  GridCycle& operator=(const GridCycle&) = delete;

  void refresh(const GridHierarchy& hierarchy) {
    for (std::size_t l = 0; l < smoothers_.size(); ++l) {
      on_level(hierarchy, l, [&] { smoothers_[l]->refresh(hierarchy.matrix(l)); });
      transfers_[l]->refresh();
    }
    factor_coarsest(hierarchy);
  }
  void apply(const Vector<double>& r, Vector<double>& z) const { cycle_.apply(r, z); }
  std::string smoother(std::size_t level) const { return level < smoothers_.size() ? smoothers_[level]->name() : "direct"; }
  std::int64_t null_vectors() const { return coarsest_.rows() - coarsest_.rank(); }
  std::int64_t bytes() const {
    std::int64_t total = cycle_.bytes() + coarsest_.bytes();
    for (std::size_t l = 0; l < smoothers_.size(); ++l) total += smoothers_[l]->bytes() + transfers_[l]->bytes();
    return total;
  }

 private:
  /// What cannot be made on a level is said with its number and sides.
  template <class Make>
  static void on_level(const GridHierarchy& hierarchy, std::size_t level, const Make& make) {
    try {
      make();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::structure) throw;
      throw Error(error.code(), fmt::format("level {} ({}): {}{}{}", level, sides_of(hierarchy.matrix(level).grid()),
                                            error.what(), error.where().empty() ? "" : " at ", error.where()));
    }
  }
  void factor_coarsest(const GridHierarchy& hierarchy) {
    const std::size_t last = hierarchy.levels() - 1;
    on_level(hierarchy, last, [&] {
      const auto& A = hierarchy.matrix(last);
      const std::string wrong = coarsest_.factor(A.rows(), dense(A));
      if (!wrong.empty()) throw Error(ErrorCode::structure, fmt::format("the direct solve: {}", wrong));
    });
  }

  std::vector<std::unique_ptr<GridSmoother<double>>> smoothers_;
  std::vector<std::unique_ptr<GridTransfer<double>>> transfers_;
  DenseFactors coarsest_;
  Cycle<double> cycle_;
};

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
      cycle.emplace(*hierarchy, options);
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
      describe();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::structure) throw;
      const std::string place = first_nonfinite(A);
      report.ok = false;
      report.message = fmt::format("multigrid: {}", place.empty() ? error.what() : place.c_str());
    }
    report.numeric_seconds = timer.seconds();
  }

  void describe() {
    MultilevelNote note;
    std::int64_t bytes = cycle->bytes();
    for (std::size_t l = 0; l < hierarchy->levels(); ++l) {
      const auto& A = hierarchy->matrix(l);
      const bool last = l + 1 == hierarchy->levels();
      note.levels.push_back({A.rows(), A.nonzeros(), sides_of(A.grid()), cycle->smoother(l), last ? "" : hierarchy->directions(l)});
      if (l > 0) bytes += A.layout().bytes();
    }
    note.cycle = std::string(word(options.cycle));
    note.sweeps = options.sweeps;
    note.operator_complexity = hierarchy->operator_complexity();
    note.grid_complexity = hierarchy->grid_complexity();
    note.null_vectors = cycle->null_vectors();
    report.kernel = shapes::kernel_name(1);
    report.levels = static_cast<std::int64_t>(note.levels.size());
    report.fill_ratio = note.operator_complexity;
    report.symmetric = hierarchy->symmetric();
    report.bytes = bytes;
    report.multilevel = std::move(note);
  }

  MgOptions options;
  FactorReport report;
  std::optional<GridHierarchy> hierarchy;
  std::optional<GridCycle> cycle;
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
      impl_->cycle.emplace(*impl_->hierarchy, impl_->options);
    }
  });
  return impl_->report;
}

Multigrid multigrid(const StructMatrix<double>& A, const MgOptions& options) {
  return Multigrid(std::make_unique<Multigrid::Impl>(A, options));
}

}  // namespace echelon
