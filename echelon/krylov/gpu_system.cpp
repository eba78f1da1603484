// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/gpu_system.hpp"

#include "echelon/base/cuda_backend.hpp"
#include "echelon/base/error.hpp"

namespace echelon {
namespace {

const StructMatrix<double>& on_grid(const MatrixRef& A) {
  if (const auto* grid = std::get_if<const StructMatrix<double>*>(&A)) return **grid;
  throw Error(ErrorCode::bad_option, "a GPU solves systems on a structured grid; this matrix is in block CSR: use the host");
}

}  // namespace

GpuSystem::GpuSystem(const MatrixRef& A, const Vector<double>& b, const Vector<double>* null_space, Device device)
    : A_(on_grid(A)), device_(device), b_(b.to(device)), x_(b.size(), device) {
  if (null_space) null_vector_ = null_space->to(device);
}

const TileMatrix& GpuSystem::matrix(int fill) {
  if (!tiles_ || tiles_->fill() != fill) {
    tiles_.reset();
    tiles_ = std::make_unique<TileMatrix>(A_, fill, device_);
  }
  return *tiles_;
}

Report GpuSystem::solve(const std::string& solver, const Preconditioner<double>& M, KrylovOptions options,
                        Vector<double>& x) {
  cuda_backend()->fill(device_.index, x_.data(), x_.size(), 0);
  options.null_space = null_vector_ ? &*null_vector_ : nullptr;
  Report report = echelon::solve(solver, *tiles_, b_, x_, M, options);
  x.copy_from(x_);
  return report;
}

}  // namespace echelon
