// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/careful_residual.hpp"

#include <omp.h>

#include <type_traits>

#include "echelon/base/threads.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/matrix/rows/row_shares.hpp"
#include "echelon/matrix/rows_gpu/device_csr.hpp"
#include "echelon/matrix/vector_checks.hpp"

namespace echelon {

template <class T>
void BlockCsr<T>::careful_residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const {
  check_product({rows(), columns(), device()}, x, r);
  check_right_side(b, r);
  if (!device().is_host()) {
    if constexpr (std::is_same_v<T, double>) {
      return csr_product_kernels()->careful_residual(device().index, device_view(*this, x, b.data(), r));
    } else {
      return residual(b, x, r);
    }
  }
  const auto A = view();
#pragma omp parallel num_threads(threads_for(nonzeros() + rows()))
  {
    const auto [begin, end] = row_share(A.row_start, A.block_rows, omp_get_thread_num(), omp_get_num_threads());
    careful_kernels<T>().rows(A, {x.data(), r.data(), b.data()}, begin, end);
  }
}

template <class T>
void StructMatrix<T>::careful_residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const {
  check_product({rows(), rows(), Device::host()}, x, r);
  check_right_side(b, r);
  const StructView<T> A{grid_, stencil_.offsets(), dof_, values_->data()};
  const auto kernel = careful_kernels<T>().points[shapes::specialised(dof_) ? dof_ : 0];
#pragma omp parallel num_threads(threads_for(values_->size() + rows()))
  {
    const auto [begin, end] = share(grid_.points(), omp_get_thread_num(), omp_get_num_threads());
    kernel(A, {x.data(), r.data(), b.data()}, begin, end);
  }
}

template void BlockCsr<double>::careful_residual(const Vector<double>&, const Vector<double>&, Vector<double>&) const;
template void BlockCsr<float>::careful_residual(const Vector<float>&, const Vector<float>&, Vector<float>&) const;
template void StructMatrix<double>::careful_residual(const Vector<double>&, const Vector<double>&, Vector<double>&) const;
template void StructMatrix<float>::careful_residual(const Vector<float>&, const Vector<float>&, Vector<float>&) const;

}  // namespace echelon
