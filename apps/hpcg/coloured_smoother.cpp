// SPDX-License-Identifier: BSD-3-Clause
// Gauss-Seidel in a block multicolour order: other sweeps than the reference's, which take more iterations.
#include <optional>
#include <utility>

#include "apps/hpcg/smoother.hpp"
#include "apps/hpcg/vector_work.hpp"
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
  void inject_to(Injection injection) override { injection_.emplace(sweeps_.matrix().order(), injection); }
  void coarse_residual(const V& r, const V& x, V& coarse) override {
    sweeps_.coarse_residual_after_zero(r, half_, x, *injection_, coarse);
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
    const auto blocks = [&](std::int64_t count) { return static_cast<double>(count) * (number * bsize + index); };
    const double pointers = positions / bsize * row, vector = positions * number;
    const double lower = blocks(pattern.lower.blocks()) + pointers, upper = blocks(pattern.upper.blocks()) + pointers;
    // With r, x, and what lies half way twice; D⁻¹ in both sweeps; the product has D, x, y, and x'y reads those again.
    SmootherBytes bytes{
        .zero = lower + upper + 6 * vector, .guess = lower + 2 * upper + 6 * vector, .multiply = lower + upper + 5 * vector};
    if (!injection_) return bytes;
    std::int64_t chosen = 0;
    for (const std::int64_t at : injection_->block_rows()) {
      chosen += pattern.lower.blk_ptr[at + 1] - pattern.lower.blk_ptr[at];
    }
    // In the chosen block rows r, what lies half way twice, and x everywhere else: every other point is a neighbour there.
    const auto rows = static_cast<double>(injection_->block_rows().size());
    const double own = rows * bsize * number;
    bytes.coarse_residual = blocks(chosen) + 2 * rows * row + 3 * own + (vector - own);
    bytes.coarse_residual += static_cast<double>(injection_->bytes()) + static_cast<double>(injection_->size()) * number;
    return bytes;
  }
  std::int64_t bytes() const override { 
    return sweeps_.bytes() + half_.bytes() + sweeps_.matrix().order().bytes() + (injection_ ? injection_->bytes() : 0);
  }
  std::int64_t length() const override { return half_.size(); }
  std::span<const std::int32_t> places() const override { return sweeps_.matrix().order().position(); }

 private:
  DbsrGaussSeidel<double> sweeps_;
  V half_;
  std::optional<DbsrInjection> injection_;
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
