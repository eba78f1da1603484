// SPDX-License-Identifier: BSD-3-Clause
// What stands behind an Ilu: one implementation for block CSR (ilu.cpp), one for stencils (struct_ilu.cpp). Private.
#pragma once

#include "echelon/precond/ilu.hpp"

namespace echelon {

template <class T>
struct Ilu<T>::Impl {
  FactorReport report;

  virtual ~Impl() = default;
  virtual void apply(const Vector<T>& r, Vector<T>& z) const = 0;
  /// The default refuses: this factorization was made from the other kind of matrix.
  virtual void refactor(const BlockCsr<T>& A);
  virtual void refactor(const StructMatrix<T>& A);
  virtual BlockCsr<T> lower() const = 0;
  virtual BlockCsr<T> upper() const = 0;
  virtual std::span<const std::int32_t> order() const = 0;
};

}  // namespace echelon
