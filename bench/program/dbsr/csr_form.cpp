// SPDX-License-Identifier: BSD-3-Clause
// CSR in any of the orders: rows of a step run together, parts a thread, a barrier between steps. The permuted matrix is
// kept for products and the factorization; L and U are streams of their own in the order that the sweeps read them, 4 bytes
// of distance beside a value. Block Jacobi drops what leaves a part.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/program/dbsr/ilu_form.hpp"
#include "bench/program/dbsr/rival_kernels.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"
#include "echelon/sweep/rows/triangular_sweep.hpp"

namespace echelon::bench {
namespace {

struct Rows {
  std::int64_t begin, end;
};
using Step = std::vector<Rows>;  // a part each

struct Plan {
  Array<std::int32_t> order;  // the point of each row; empty: natural
  std::vector<Step> steps;
  bool parts_alone = false;  // entries between parts are dropped
};

template <class T>
Plan plan_of(const StructMatrix<T>& A, const Strategy& strategy) {
  Plan plan;
  const int team = threads();
  const std::int64_t n = A.rows();
  if (strategy.order == Elimination::natural) {
    plan.steps = {{{0, n}}};
  } else if (strategy.order == Elimination::slabs) {
    plan.parts_alone = true;
    Step all;
    const std::int64_t plane = A.grid().nx * A.grid().ny;
    for (int part = 0; part < team; ++part) {
      const auto [begin, end] = share(A.grid().nz, part, team);
      all.push_back({begin * plane, end * plane});
    }
    plan.steps = {all};
  } else {
    BlockOptions options{BlockChoice::given, {1, 1, 1}, 1, team};
    if (strategy.order == Elimination::fixed_blocks) options.choice = BlockChoice::fixed;
    // The blocks that DBSR gets: formats are compared, not shapes.
    if (strategy.order == Elimination::auto_blocks) {
      options.shape = block_shape(A.grid(), A.stencil(), {BlockChoice::automatic, {}, 8, team});
    }
    const auto colouring = grid_block_colouring(A.grid(), A.stencil(), options);
    plan.order = colouring.order();
    // With bsize 1 positions are rows, apart from a row of guard before each colour.
    std::int64_t moved = 0;
    for (const auto& colour : colouring.colours()) {
      ++moved;
      Step step;
      for (int part = 0; part < team; ++part) {
        const auto [begin, end] = colouring.rows(colour, part, team);
        step.push_back({begin - moved, end - moved});
      }
      plan.steps.push_back(std::move(step));
    }
  }
  return plan;
}

template <class T>
BlockCsr<T> permuted_matrix(const StructMatrix<T>& A, const Plan& plan) {
  auto natural = to_block_csr(A);
  return plan.order.empty() ? std::move(natural) : permuted(natural, plan.order.span());
}

template <class T>
class CsrForm final : public IluForm<T> {
 public:
  CsrForm(const StructMatrix<T>& A, const Strategy& strategy)
      : plan_(plan_of(A, strategy)),
        A_(permuted_matrix(A, plan_)),
        n_(A.rows()),
        inverse_(n_, T(0)),
        places_(plan_.order.size()) {
    for (std::int64_t row = 0; row < plan_.order.size(); ++row) {
      places_[plan_.order[row]] = static_cast<std::int32_t>(row);
    }
    std::vector<Rows> part_of_row;
    lay_out(lower_, false);
    lay_out(upper_, true);
    factor();
    for (std::int64_t i = 0; i < n_; ++i) {
      if (!std::isfinite(inverse_[i]))
        throw Error(ErrorCode::structure, "ILU(0) in CSR met a pivot that is zero or not finite");
    }
  }

  void factor() override {
    const auto rows_kernel = csr_factor_rows<T>();
    const CsrFactorView<T> view{n_,
                                A_.row_start().data(),
                                A_.column().data(),
                                A_.values().data(),
                                lower_.start.data(),
                                upper_.start.data(),
                                lower_.distance.data(),
                                upper_.distance.data(),
                                lower_.value.data(),
                                upper_.value.data(),
                                inverse_.data()};
    if (where_.empty()) {
      std::int64_t longest = 1;
      for (std::int64_t i = 0; i < n_; ++i)
        longest =
            std::max(longest, A_.row_start()[static_cast<std::size_t>(i + 1)] - A_.row_start()[static_cast<std::size_t>(i)]);
      for (std::size_t part = 0; part < plan_.steps.front().size(); ++part) {
        where_.emplace_back(n_, std::int32_t{-1});
        row_.emplace_back(longest, T(0));
      }
    }
    over_steps(true, [&](const Rows& rows, std::size_t part) {
      const Rows within = plan_.parts_alone ? rows : Rows{0, n_};
      rows_kernel(view, rows.begin, rows.end, within.begin, within.end, where_[part].data(), row_[part].data());
    });
  }
  void sweep(const Vector<T>& r, Vector<T>& x) const override {
    const auto kernels = sweep_kernels<T>(1, false);
    const SweepView<T> L{n_,       1,       lower_.start.data(), lower_.distance.data(), lower_.value.data(), nullptr,
                         r.data(), x.data()};
    const SweepView<T> U{
        n_, 1, upper_.start.data(), upper_.distance.data(), upper_.value.data(), inverse_.data(), x.data(), x.data()};
    over_steps(true, [&](const Rows& rows, std::size_t) {
      T scratch = 0;
      kernels.lower(L, rows.begin, rows.end, &scratch);
    });
    over_steps(false, [&](const Rows& rows, std::size_t) {
      T scratch = 0;
      kernels.upper(U, n_ - rows.end, n_ - rows.begin, &scratch);
    });
  }
  void multiply(const Vector<T>& x, Vector<T>& y) const override { A_.apply(x, y); }
  std::int64_t length() const override { return n_; }
  std::span<const std::int32_t> places() const override { return places_.span(); }
  double sweep_bytes() const override {
    const double entries = static_cast<double>(lower_.value.size() + upper_.value.size());
    return entries * (sizeof(T) + 4.0) + static_cast<double>(n_) * (2 * 8.0 + 5.0 * sizeof(T));
  }
  StorageSplit storage() const override {
    const double nonzeros = static_cast<double>(A_.nonzeros());
    return {nonzeros * sizeof(T), 0, 4 * nonzeros, 4 * static_cast<double>(n_ + 1), 0};
  }
  std::string description() const override {
    return plan_.parts_alone         ? "csr, slabs"
           : plan_.steps.size() == 1 ? "csr"
                                     : "csr, " + std::to_string(plan_.steps.size()) + " colours";
  }

 private:
  struct Triangle {
    Array<std::int64_t> start;
    Array<std::int32_t> distance;
    Array<T> value;
  };

  /// The part that a row is in, when parts stand alone.
  Rows within(std::int64_t row) const {
    if (!plan_.parts_alone) return {0, n_};
    const auto& parts = plan_.steps.front();
    return *std::ranges::find_if(parts, [&](const Rows& part) { return row < part.end; });
  }
  void lay_out(Triangle& t, bool upper) {
    const auto view = A_.view();
    const auto over = [&](const auto& entry) {
      for (std::int64_t s = 0; s < n_; ++s) {
        const std::int64_t i = upper ? n_ - 1 - s : s;
        const Rows own = within(i);
        for (auto p = view.row_start[i]; p < view.row_start[i + 1]; ++p) {
          const std::int64_t j = view.column[p];
          if ((upper ? j > i : j < i) && j >= own.begin && j < own.end) entry(s, upper ? j - i : i - j);
        }
      }
    };
    t.start = Array<std::int64_t>(n_ + 1, std::int64_t{0});
    over([&](std::int64_t s, std::int64_t) { ++t.start[s + 1]; });
    std::partial_sum(t.start.begin(), t.start.end(), t.start.begin());
    t.distance = Array<std::int32_t>(t.start[n_]);
    t.value = Array<T>(t.start[n_], T(0));
    std::int64_t at = 0;
    over([&](std::int64_t, std::int64_t distance) { t.distance[at++] = static_cast<std::int32_t>(distance); });
  }
  template <class Work>
  void over_steps(bool ascending, const Work& work) const {
    const auto count = plan_.steps.size();
    const std::size_t widest = plan_.steps.front().size();
    if (widest == 1) {
      for (std::size_t n = 0; n < count; ++n) work(plan_.steps[ascending ? n : count - 1 - n][0], 0);
      return;
    }
#pragma omp parallel num_threads(static_cast <int>(widest))
    {
      const auto team = static_cast<std::size_t>(omp_get_num_threads());
      for (std::size_t n = 0; n < count; ++n) {
        const Step& step = plan_.steps[ascending ? n : count - 1 - n];
        for (auto part = static_cast<std::size_t>(omp_get_thread_num()); part < step.size(); part += team)
          work(step[part], part);
#pragma omp barrier
      }
    }
  }

  Plan plan_;
  BlockCsr<T> A_;
  std::int64_t n_;
  Triangle lower_, upper_;
  Array<T> inverse_;
  Array<std::int32_t> places_;
  std::vector<Array<std::int32_t>> where_;
  std::vector<Array<T>> row_;
};

}  // namespace

template <class T>
std::unique_ptr<IluForm<T>> make_csr_form(const StructMatrix<T>& A, const Strategy& strategy) {
  return std::make_unique<CsrForm<T>>(A, strategy);
}
template std::unique_ptr<IluForm<double>> make_csr_form(const StructMatrix<double>&, const Strategy&);
template std::unique_ptr<IluForm<float>> make_csr_form(const StructMatrix<float>&, const Strategy&);

}  // namespace echelon::bench
