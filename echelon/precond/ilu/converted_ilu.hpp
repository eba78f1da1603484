// SPDX-License-Identifier: BSD-3-Clause
// ILU of a structured matrix through block CSR, for what leaves the grid: another order, or fill beyond any sensible
// stencil. The report says so. Private to precond/.
#pragma once

#include <memory>

#include "echelon/precond/ilu/ilu_impl.hpp"

namespace echelon {

/// What factors the block CSR matrix: ilu, ic, ilut.
template <class T>
using FactorCsr = Ilu<T> (*)(const BlockCsr<T>& A, const IluOptions& options);

template <class T>
std::unique_ptr<typename Ilu<T>::Impl> converted_ilu(const StructMatrix<T>& A, const IluOptions& options,
                                                     FactorCsr<T> factor);

}  // namespace echelon
