// SPDX-License-Identifier: BSD-3-Clause
// Diagonal block rows with the library's kernels, with those that stay scalar and those that gather, and SELL-C-σ made of
// the same factors: each slot of a chunk holds an entry of every lane, whichever coupling it is of.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <bit>

#include "bench/program/dbsr/ilu_form.hpp"
#include "bench/program/dbsr/rival_kernels.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/factor/dbsr/dbsr_factors.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"
#include "echelon/sweep/dbsr/dbsr_sweep.hpp"

namespace echelon::bench {
namespace {

constexpr double pivot_tolerance = 1e-13;

template <class T>
std::shared_ptr<const BlockColouring> colouring_of(const StructMatrix<T>& A, const Strategy& strategy) {
  BlockOptions options{BlockChoice::fixed, {}, strategy.bsize, threads()};
  if (strategy.order == Elimination::auto_blocks) {
    // Of bsize 8 whatever the bsize, so that bsize changes the format and not the order.
    options.shape = block_shape(A.grid(), A.stencil(), {BlockChoice::automatic, {}, 8, threads()});
    options.choice = BlockChoice::given;
  }
  return std::make_shared<BlockColouring>(grid_block_colouring(A.grid(), A.stencil(), options));
}

template <class T>
class DbsrForm : public IluForm<T> {
 public:
  DbsrForm(const StructMatrix<T>& A, const Strategy& strategy)
      : order_(colouring_of(A, strategy)),
        A_(A, order_),
        factors_(order_, A_.share_pattern()),
        format_(strategy.format),
        shape_(shape_text(A.grid(), block_shape(A.grid(), A.stencil(),
                                                strategy.order == Elimination::auto_blocks
                                                    ? BlockOptions{BlockChoice::automatic, {}, 8, threads()}
                                                    : BlockOptions{}))) {
    if (format_ == Format::dbsr_plain) {
      const auto plain = plain_dbsr_kernels<T>(A_.bsize());
      kernels_ = plain.sweeps;
      product_ = plain.multiply;
    } else if (format_ == Format::dbsr_gather) {
      kernels_ = gathering_dbsr_kernels<T>(A_.bsize());
    } else {
      kernels_ = dbsr_sweep_kernels<T>(A_.bsize(), sizeof(T) == 8 ? Stored::fp64 : Stored::fp32);
    }
    DbsrForm::factor();
    if (log_.count() > 0) throw Error(ErrorCode::structure, "ILU(0) in DBSR met a bad pivot");
  }

  void factor() override { factors_.attempt(A_, {pivot_tolerance, 0, false, true, 1, &log_}); }
  void sweep(const Vector<T>& r, Vector<T>& x) const override {
    const DbsrSweepView<T> first{factors_.lower(), factors_.upper(), factors_.inverse(), r.data(), x.data(), nullptr};
    DbsrSweepView<T> second = first;
    second.r = x.data();
    run_colours<T>(*order_, ColourOrder::ascending, threads(), kernels_.lower, first);
    run_colours<T>(*order_, ColourOrder::descending, threads(), kernels_.upper, second);
  }
  void multiply(const Vector<T>& x, Vector<T>& y) const override {
    if (!product_) return A_.multiply(x, y);
    const DbsrView<T> view = A_.view();
#pragma omp parallel num_threads(threads())
    {
      const auto [begin, end] = share(order_->block_rows(), omp_get_thread_num(), omp_get_num_threads());
      product_(view, x.data(), y.data(), begin, end);
    }
  }
  std::int64_t length() const override { return A_.positions(); }
  std::span<const std::int32_t> places() const override { return order_->position(); }
  double sweep_bytes() const override {
    const auto& pattern = A_.pattern();
    const double blocks = static_cast<double>(pattern.lower.blocks() + pattern.upper.blocks());
    return blocks * (static_cast<double>(A_.bsize()) * sizeof(T) + 5) + 16 * static_cast<double>(order_->block_rows()) +
           5 * static_cast<double>(A_.positions()) * sizeof(T);
  }
  StorageSplit storage() const override {
    const auto& pattern = A_.pattern();
    const double blocks = static_cast<double>(pattern.lower.blocks() + pattern.upper.blocks());
    const double diagonal = static_cast<double>(order_->block_rows());
    const double values = (blocks + diagonal) * A_.bsize() * sizeof(T);
    const double nonzeros = static_cast<double>(A_.nonzeros()) * sizeof(T);
    return {nonzeros, values - nonzeros, 4 * blocks, 16 * diagonal, blocks};
  }
  std::string description() const override {
    return fmt::format("{}, {} blocks, bsize {}, {:.3f} values a nonzero", words(), shape_, A_.bsize(),
                       A_.stored_a_nonzero());
  }

 protected:
  const char* words() const {
    switch (format_) {
      case Format::dbsr_plain: return "dbsr, scalar";
      case Format::dbsr_gather: return "dbsr, simd with gather";
      case Format::sell_plain: return "sell, scalar";
      case Format::sell: return "sell, simd with gather";
      default: return "dbsr, simd";
    }
  }
  std::shared_ptr<const BlockColouring> order_;
  DbsrMatrix<T> A_;
  DbsrFactors<T> factors_;

 private:
  Format format_;
  std::string shape_;
  DbsrSweepKernels<T> kernels_;
  void (*product_)(const DbsrView<T>&, const T*, T*, std::int64_t, std::int64_t) = nullptr;
  PivotLog log_;
};

/// Sweeps alone are in SELL: the product stays DBSR's, and a factorization is followed by a conversion.
template <class T>
class SellForm final : public DbsrForm<T> {
 public:
  SellForm(const StructMatrix<T>& A, const Strategy& strategy)
      : DbsrForm<T>(A, strategy), kernels_(sell_kernels<T>(this->A_.bsize(), strategy.format == Format::sell)) {
    const auto& pattern = this->A_.pattern();
    convert(pattern.lower, this->factors_.lower(), true, lower_);
    convert(pattern.upper, this->factors_.upper(), false, upper_);
  }
  void sweep(const Vector<T>& r, Vector<T>& x) const override {
    SellSweepView<T> view{lower_.view(), upper_.view(), static_cast<const T*>(this->factors_.inverse()), r.data(), x.data()};
    run(true, kernels_.lower, view);
    view.r = x.data();
    run(false, kernels_.upper, view);
  }
  double sweep_bytes() const override {
    const double slots = static_cast<double>(lower_.column.size() + upper_.column.size());
    return slots * (sizeof(T) + 4) + 16 * static_cast<double>(this->order_->block_rows()) +
           5 * static_cast<double>(this->A_.positions()) * sizeof(T);
  }
  StorageSplit storage() const override {
    const double slots = static_cast<double>(lower_.column.size() + upper_.column.size() + this->A_.positions());
    const double nonzeros = static_cast<double>(this->A_.nonzeros()) * sizeof(T);
    return {nonzeros, slots * sizeof(T) - nonzeros, 4 * slots, 8 * static_cast<double>(this->order_->block_rows()), 0};
  }

 private:
  struct Triangle {
    Array<std::int64_t> start;
    Array<std::int32_t> column;
    Array<T> value;
    SellTriangleView view() const { return {start.data(), column.data(), value.data()}; }
  };
  void convert(const DbsrPattern::Triangle& pattern, const DbsrTriangleView& from, bool ascending, Triangle& to) {
    const int B = this->A_.bsize();
    const std::int64_t rows = this->order_->block_rows();
    const T* values = static_cast<const T*>(from.values);
    to.start = Array<std::int64_t>(rows + 1, std::int64_t{0});
    std::vector<std::int32_t> column;
    std::vector<T> value;
    std::vector<std::int64_t> used(static_cast<std::size_t>(B));
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t begin = pattern.blk_ptr[row], end = pattern.blk_ptr[row + 1], first = to.start[row];
      std::fill(used.begin(), used.end(), 0);
      std::int64_t slots = 0;
      for (std::int64_t n = begin; n < end; ++n) {
        const std::int64_t e = ascending ? n : begin + end - 1 - n;
        for (int lane = 0; lane < B; ++lane) {
          if ((pattern.lanes[e] >> lane & 1) == 0) continue;
          const std::int64_t slot = used[static_cast<std::size_t>(lane)]++;
          if (slot == slots) {
            ++slots;
            // Padding multiplies the row's own place by zero.
            for (int l = 0; l < B; ++l) column.push_back(static_cast<std::int32_t>(row * B + l));
            value.resize(value.size() + static_cast<std::size_t>(B), T(0));
          }
          const auto at = static_cast<std::size_t>((first + slot) * B + lane);
          column[at] = static_cast<std::int32_t>(pattern.first_column(e, B) + lane);
          value[at] = values[e * B + lane];
        }
      }
      to.start[row + 1] = first + slots;
    }
    to.column = Array<std::int32_t>(std::span<const std::int32_t>(column));
    to.value = Array<T>(std::span<const T>(value));
  }
  void run(bool ascending, typename SellSweepKernels<T>::Rows kernel, const SellSweepView<T>& view) const {
    const auto colours = this->order_->colours();
#pragma omp parallel num_threads(threads())
    for (std::size_t n = 0; n < colours.size(); ++n) {
      const auto& colour = colours[ascending ? n : colours.size() - 1 - n];
      const auto [begin, end] = this->order_->rows(colour, omp_get_thread_num(), omp_get_num_threads());
      kernel(view, begin, end);
#pragma omp barrier
    }
  }
  SellSweepKernels<T> kernels_;
  Triangle lower_, upper_;
};

}  // namespace

template <class T>
std::unique_ptr<IluForm<T>> make_dbsr_form(const StructMatrix<T>& A, const Strategy& strategy) {
  if (strategy.format == Format::sell || strategy.format == Format::sell_plain) {
    return std::make_unique<SellForm<T>>(A, strategy);
  }
  return std::make_unique<DbsrForm<T>>(A, strategy);
}
template std::unique_ptr<IluForm<double>> make_dbsr_form(const StructMatrix<double>&, const Strategy&);
template std::unique_ptr<IluForm<float>> make_dbsr_form(const StructMatrix<float>&, const Strategy&);

}  // namespace echelon::bench
