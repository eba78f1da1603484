// SPDX-License-Identifier: BSD-3-Clause
// A level's matrix in the precision of its vectors: the one given where that is FP64, a rounded copy where not.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "echelon/base/threads.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"

namespace echelon {

template <class T>
class LevelMatrix {
 public:
  /// `A` stays where it is.
  explicit LevelMatrix(const StructMatrix<double>& A) { set(A); }
  void set(const StructMatrix<double>& A) {
    if constexpr (std::is_same_v<T, double>) {
      matrix_ = &A;
    } else {
      if (!own_) own_ = std::make_unique<StructMatrix<T>>(A.grid(), A.stencil());
      const auto from = A.values();
      const auto to = own_->values();
      const auto count = static_cast<std::int64_t>(from.size());
#pragma omp parallel for num_threads(threads_for(count)) schedule(static)
      for (std::int64_t i = 0; i < count; ++i)
        to[static_cast<std::size_t>(i)] = static_cast<T>(from[static_cast<std::size_t>(i)]);
      matrix_ = own_.get();
    }
  }
  const StructMatrix<T>& operator*() const { return *matrix_; }
  const StructMatrix<T>* operator->() const { return matrix_; }
  std::int64_t bytes() const { return own_ ? own_->layout().bytes() : 0; }

 private:
  const StructMatrix<T>* matrix_ = nullptr;
  std::unique_ptr<StructMatrix<T>> own_;
};

}  // namespace echelon
