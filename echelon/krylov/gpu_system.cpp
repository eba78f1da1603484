// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/gpu_system.hpp"

#include "echelon/base/cuda_backend.hpp"
#include "echelon/precond/device_precond.hpp"

namespace echelon {

std::string host_only(const AutoChoice& choice, const MatrixRef& A) {
  if (const auto* grid = std::get_if<const StructMatrix<double>*>(&A)) return host_only(choice, (*grid)->stencil());
  return host_only(choice);
}

GpuSystem::GpuSystem(const MatrixRef& A, const Vector<double>& b, const Vector<double>* null_space, Device device)
    : A_(A), device_(device), b_(b.to(device)), x_(b.size(), device) {
  if (null_space) null_vector_ = null_space->to(device);
  if (const auto* csr = std::get_if<const BlockCsr<double>*>(&A_)) {
    csr_ = std::make_unique<BlockCsr<double>>((*csr)->to(device));
  }
}

std::unique_ptr<Preconditioner<double>> GpuSystem::make(const AutoChoice& choice) {
  if (const auto* grid = std::get_if<const StructMatrix<double>*>(&A_)) {
    return make_on_gpu(choice, **grid, tiles(**grid, choice.pc == "none" ? 0 : choice.ilu.fill));
  }
  return make_on_gpu(choice, *std::get<const BlockCsr<double>*>(A_), *csr_);
}

/// Made again when the fill changes.
const TileMatrix& GpuSystem::tiles(const StructMatrix<double>& A, int fill) {
  if (!tiles_ || tiles_->fill() != fill) {
    tiles_.reset();
    tiles_ = std::make_unique<TileMatrix>(A, fill, device_);
  }
  return *tiles_;
}

Report GpuSystem::solve(const std::string& solver, const Preconditioner<double>& M, KrylovOptions options,
                        Vector<double>& x) {
  cuda_backend()->fill(device_.index, x_.data(), x_.size(), 0);
  options.null_space = null_vector_ ? &*null_vector_ : nullptr;
  const Operator<double>& A = csr_ ? static_cast<const Operator<double>&>(*csr_) : *tiles_;
  Report report = echelon::solve(solver, A, b_, x_, M, options);
  x.copy_from(x_);
  return report;
}

}  // namespace echelon
