// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/grid_cycle.hpp"

#include <fmt/format.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/lent_scratch.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/mg/grid_transfer.hpp"
#include "echelon/precond/mg/smoother_choice.hpp"
#include "echelon/precond/mg/smoothers.hpp"
#include "echelon/precond/multilevel/cycle.hpp"
#include "echelon/precond/multilevel/dense_solve.hpp"

namespace echelon {
namespace {

/// Row after row into `all`.
void write_dense(const StructMatrix<double>& A, std::vector<double>& all) {
  const std::int64_t n = A.rows();
  const Grid& g = A.grid();
  all.assign(static_cast<std::size_t>(n * n), 0.0);
  for (std::int64_t p = 0; p < n; ++p) {
    const std::int64_t i = p % g.nx, j = p / g.nx % g.ny, k = p / g.nx / g.ny;
    for (int e = 0; e < A.stencil().size(); ++e) {
      const Offset o = A.stencil().offsets()[static_cast<std::size_t>(e)];
      if (!g.contains(i + o.x, j + o.y, k + o.z)) continue;
      all[static_cast<std::size_t>(p * n + p + g.index(o.x, o.y, o.z))] = A.block(p, e)[0];
    }
  }
}

/// A hierarchy with smoothers, transfers and the solve at the end, in the precision T.
template <class T>
class GridCycleOf final : public GridCycle {
 public:
  GridCycleOf(const GridHierarchy& hierarchy, const MgOptions& options) {
    for (std::size_t l = 0; l + 1 < hierarchy.levels(); ++l) {
      const StructMatrix<double>& A = hierarchy.matrix(l);
      std::vector<Axis> axes;
      for (const DirectionStep& step : hierarchy.steps(l)) axes.push_back(step.axis());
      on_level(hierarchy, l,
               [&] { smoothers_.push_back(make_smoother<T>(smoother_for(A, options.smoother), A, axes, options)); });
      transfers_.push_back(std::make_unique<GridTransfer<T>>(A.grid(), hierarchy.steps(l)));
    }
    factor_coarsest(hierarchy);
    std::vector<std::unique_ptr<Level<T>>> levels;
    for (std::size_t l = 0; l < smoothers_.size(); ++l) {
      levels.push_back(std::make_unique<ComposedLevel<T>>(hierarchy.matrix(l).rows(), *smoothers_[l], *transfers_[l]));
    }
    if (!std::is_same_v<T, double>) fit(narrow_.own(), hierarchy.matrix(0).rows());
    cycle_ = Cycle<T>(std::move(levels), std::make_unique<DenseSolve<T>>(coarsest_), options.cycle);
  }

  void refresh(const GridHierarchy& hierarchy) override {
    for (std::size_t l = 0; l < smoothers_.size(); ++l) {
      on_level(hierarchy, l, [&] { smoothers_[l]->refresh(hierarchy.matrix(l)); });
      transfers_[l]->refresh();
    }
    factor_coarsest(hierarchy);
  }
  void apply(const Vector<double>& r, Vector<double>& z) const override;
  std::string smoother(std::size_t level) const override {
    return level < smoothers_.size() ? smoothers_[level]->name() : "direct";
  }
  const FactorReport* factors(std::size_t level) const override {
    return level < smoothers_.size() ? smoothers_[level]->factors() : nullptr;
  }
  std::int64_t null_vectors() const override { return coarsest_.rows() - coarsest_.rank(); }
  std::int64_t bytes() const override {
    std::int64_t total = cycle_.bytes() + coarsest_.bytes() + static_cast<std::int64_t>(dense_.size() * sizeof(double));
    for (std::size_t l = 0; l < smoothers_.size(); ++l) total += smoothers_[l]->bytes() + transfers_[l]->bytes();
    return total;
  }

 private:
  /// A caller's vectors where T is not the solver's.
  struct Narrow {
    Vector<T> r, z;
  };
  static void fit(Narrow& narrow, std::int64_t n) {
    if (narrow.r.size() == n) return;
    narrow.r = Vector<T>(n);
    narrow.z = Vector<T>(n);
  }
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
      write_dense(A, dense_);
      const std::string wrong = coarsest_.factor(A.rows(), dense_);
      if (!wrong.empty()) throw Error(ErrorCode::structure, fmt::format("the direct solve: {}", wrong));
    });
  }

  std::vector<std::unique_ptr<GridSmoother<T>>> smoothers_;
  std::vector<std::unique_ptr<GridTransfer<T>>> transfers_;
  std::vector<double> dense_;  // of the coarsest matrix
  DenseFactors coarsest_;
  Cycle<T> cycle_;
  LentScratch<Narrow> narrow_;
};

template <class T>
void GridCycleOf<T>::apply(const Vector<double>& r, Vector<double>& z) const {
  if constexpr (std::is_same_v<T, double>) {
    cycle_.apply(r, z);
  } else {
    const std::int64_t n = cycle_.rows();
    if (r.size() != n) throw_size_mismatch("multigrid: r", r.size(), n);
    if (z.size() != n) throw_size_mismatch("multigrid: z", z.size(), n);
    if (r.data() == z.data() && n > 0) throw Error(ErrorCode::bad_argument, "multigrid: r and z are the same vector");
    auto narrow = narrow_.take([n](Narrow& spare) { fit(spare, n); });
    T *small = narrow->r.data(), *result = narrow->z.data();
    const int team = threads_for(n);
#pragma omp parallel for num_threads(team) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) small[i] = static_cast<T>(r[i]);
    cycle_.apply(narrow->r, narrow->z);
#pragma omp parallel for num_threads(team) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) z[i] = static_cast<double>(result[i]);
  }
}

}  // namespace

std::unique_ptr<GridCycle> make_grid_cycle(const GridHierarchy& hierarchy, const MgOptions& options, bool in_fp32) {
  if (in_fp32) return std::make_unique<GridCycleOf<float>>(hierarchy, options);
  return std::make_unique<GridCycleOf<double>>(hierarchy, options);
}

}  // namespace echelon
