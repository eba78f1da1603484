// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/solve/gpu_system.hpp"

#include <fmt/format.h>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/matrix/grid_gpu/tile_traits.hpp"
#include "echelon/solve/device_precond.hpp"
#include "echelon/stencil/stencil_fill.hpp"

namespace echelon {

namespace {

/// Null for block CSR.
const Stencil* stencil_of(const MatrixRef& A) {
  if (const auto* rows = std::get_if<std::shared_ptr<const RowSource>>(&A)) return &(*rows)->stencil();
  const auto* grid = std::get_if<const StructMatrix<double>*>(&A);
  return grid ? &(*grid)->stencil() : nullptr;
}

}  // namespace

std::string host_only(const AutoChoice& choice, const MatrixRef& A) {
  const Stencil* stencil = stencil_of(A);
  if (leaves_grid(choice) && std::holds_alternative<std::shared_ptr<const RowSource>>(A)) {
    return fmt::format("{} takes block CSR, and rows that a GPU writes stay on the grid", choice.name());
  }
  return stencil ? host_only(choice, *stencil) : host_only(choice);
}

GpuSystem::GpuSystem(const MatrixRef& A, const Vector<double>& b, const Vector<double>* null_space, int fill, Device device)
    : A_(A), device_(device), b_(b.to(device)), x_(b.size(), device) {
  if (null_space) null_vector_ = null_space->to(device);
  if (const auto* csr = std::get_if<const BlockCsr<double>*>(&A_)) {
    csr_ = std::make_unique<BlockCsr<double>>((*csr)->to(device));
    traits_ = traits_of(**csr);
    in_csr_ = true;
  } else {
    traits_ = traits_of(tiles(can_grow(*stencil_of(A_), fill) ? fill : 0));
  }
}

std::unique_ptr<Preconditioner<double>> GpuSystem::make(const AutoChoice& choice) {
  if (const auto* csr = std::get_if<const BlockCsr<double>*>(&A_)) return make_on_gpu(choice, **csr, *csr_, traits_);
  in_csr_ = leaves_grid(choice);
  if (in_csr_) {
    convert();
    return make_on_gpu(choice, *converted_, *csr_, traits_);
  }
  const int fill = find_preconditioner(choice.pc).takes_ilu_options ? choice.options.ilu.fill : 0;
  return make_on_gpu(choice, tiles(fill), traits_.asymmetry);
}

void GpuSystem::convert() {
  if (converted_) return;
  tiles_.reset();
  const Timer timer;
  converted_ = std::make_unique<BlockCsr<double>>(to_block_csr(*std::get<const StructMatrix<double>*>(A_)));
  csr_ = std::make_unique<BlockCsr<double>>(converted_->to(device_));
  conversion_seconds_ += timer.seconds();
}

/// Made again when the fill changes.
const TileMatrix& GpuSystem::tiles(int fill) {
  if (tiles_ && tiles_->fill() == fill) return *tiles_;
  tiles_.reset();
  const auto* rows = std::get_if<std::shared_ptr<const RowSource>>(&A_);
  const double seconds = cuda_backend()->seconds(device_.index, [&] {
    tiles_ = rows ? std::make_unique<TileMatrix>(*rows, fill)
                  : std::make_unique<TileMatrix>(*std::get<const StructMatrix<double>*>(A_), fill, device_);
  });
  (rows && (*rows)->lasting() ? assembly_seconds_ : conversion_seconds_) += seconds;
  return *tiles_;
}

Report GpuSystem::solve(const std::string& solver, const Preconditioner<double>& M, KrylovOptions options,
                        Vector<double>& x) {
  cuda_backend()->fill(device_.index, x_.data(), x_.size(), 0);
  options.null_space = null_vector_ ? &*null_vector_ : nullptr;
  const Operator<double>& A = in_csr_ ? static_cast<const Operator<double>&>(*csr_) : *tiles_;
  Report report = echelon::solve(solver, A, b_, x_, M, options);
  x.copy_from(x_);
  return report;
}

}  // namespace echelon
