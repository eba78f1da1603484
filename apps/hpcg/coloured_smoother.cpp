// SPDX-License-Identifier: BSD-3-Clause
// Gauss-Seidel in a block multicolour order: other sweeps than the reference's, which take more iterations.
#include <utility>

#include "apps/hpcg/smoother.hpp"
#include "apps/hpcg/vector_work.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"
#include "echelon/sweep/dbsr/dbsr_gauss_seidel.hpp"

namespace echelon::hpcg {
namespace {

/// Vectors are in the order's positions; those of padding stay zero.
class ColouredSmoother final : public Smoother {
 public:
  ColouredSmoother(const StructMatrix<double>& A, std::shared_ptr<const BlockColouring> order)
      : sweeps_(A, std::move(order)), half_(sweeps_.matrix().positions(), 0.0), work_(half_.size()) {}
  void refresh(const StructMatrix<double>& A) override { sweeps_.refresh(A); }
  void from_zero(const V& r, V& x) override { sweeps_.from_zero(r, half_, x); }
  void from_guess(const V& r, V& x) override { sweeps_.from_guess(r, half_, x); }
  void coarse_residual(const V& r, const V& x, Injection injection, V& coarse) override {
    sweeps_.residual_after_zero(r, half_, x);
    const auto count = static_cast<std::int64_t>(injection.size());
#pragma omp parallel for schedule(static) num_threads(threads_for(count))
    for (std::int64_t c = 0; c < count; ++c) {
      const std::int32_t fine = injection[static_cast<std::size_t>(c)];
      if (fine >= 0) coarse[c] = half_[fine];
    }
  }
  double multiply(const V& x, V& y) override {
    sweeps_.multiply(x, y);
    return work_.dot(x, y);
  }
  SmootherBytes traffic() const override {
    const auto& pattern = sweeps_.matrix().pattern();
    constexpr double number = 8, index = 5, row = 8;
    const int bsize = sweeps_.matrix().bsize();
    const auto positions = static_cast<double>(half_.size());
    const auto triangle = [&](const DbsrPattern::Triangle& one) {
      return static_cast<double>(one.blocks()) * (number * bsize + index) + positions / bsize * row;
    };
    const double lower = triangle(pattern.lower), upper = triangle(pattern.upper), vector = positions * number;
    // With r, x, and what lies half way twice; D⁻¹ in both sweeps; the product has D, x, y, and x'y reads those again.
    return {.zero = lower + upper + 6 * vector,
            .guess = lower + 2 * upper + 6 * vector,
            .coarse_residual = lower + 4 * vector + vector / 2 + vector / 8,
            .multiply = lower + upper + 5 * vector};
  }
  std::int64_t bytes() const override { return sweeps_.bytes() + half_.bytes() + sweeps_.matrix().order().bytes(); }
  std::int64_t length() const override { return half_.size(); }
  std::span<const std::int32_t> places() const override { return sweeps_.matrix().order().position(); }

 private:
  DbsrGaussSeidel<double> sweeps_;
  V half_;
  VectorWork work_;
};

}  // namespace

MakeSmoother coloured_smoother(const BlockOptions& options) {
  return [options](const StructMatrix<double>& A) -> std::unique_ptr<Smoother> {
    auto order = std::make_shared<const BlockColouring>(grid_block_colouring(A.grid(), A.stencil(), options));
    return std::make_unique<ColouredSmoother>(A, std::move(order));
  };
}

}  // namespace echelon::hpcg
