// SPDX-License-Identifier: BSD-3-Clause
// The public face: forwards to what was made, and says so when it is used wrongly.
#include "echelon/precond/ilu/ilu.hpp"

#include <fmt/format.h>

#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/sweep/shared_triangles.hpp"

namespace echelon {

template <class T>
void Ilu<T>::Impl::refactor(const BlockCsr<T>&) {
  throw Error(ErrorCode::bad_argument,
              "refactor got a block CSR matrix, but this factorization was made from a structured one");
}

template <class T>
void Ilu<T>::Impl::refactor(const StructMatrix<T>&) {
  throw Error(ErrorCode::bad_argument, "refactor got a structured matrix, but this factorization was made from block CSR");
}

template <class T>
std::unique_ptr<SharedTriangles<T>> Ilu<T>::Impl::shared_triangles(const Operator<T>&) const {
  return nullptr;
}

template <class T>
Ilu<T>::Ilu(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <class T>
Ilu<T>::Ilu(Ilu&&) noexcept = default;
template <class T>
Ilu<T>& Ilu<T>::operator=(Ilu&&) noexcept = default;
template <class T>
Ilu<T>::~Ilu() = default;

template <class T>
void Ilu<T>::apply(const Vector<T>& r, Vector<T>& z) const {
  if (!impl_->report.ok) {
    throw Error(ErrorCode::bad_argument, "a failed factorization was applied: " + impl_->report.message);
  }
  if (!r.device().is_host() || !z.device().is_host()) {
    throw Error(ErrorCode::device,
                fmt::format("mixing places: the ILU is on host, r on {}, z on {}", r.device().name(), z.device().name()));
  }
  impl_->apply(r, z);
}

template <class T>
const FactorReport& Ilu<T>::report() const {
  return impl_->report;
}

template <class T>
std::unique_ptr<SharedTriangles<T>> Ilu<T>::shared_triangles(const Operator<T>& A) const {
  return impl_->report.ok ? impl_->shared_triangles(A) : nullptr;
}

template <class T>
const FactorReport& Ilu<T>::refactor(const BlockCsr<T>& A) {
  impl_->refactor(A);
  return impl_->report;
}

template <class T>
const FactorReport& Ilu<T>::refactor(const StructMatrix<T>& A) {
  impl_->refactor(A);
  return impl_->report;
}

template <class T>
BlockCsr<T> Ilu<T>::lower() const {
  return impl_->lower();
}

template <class T>
BlockCsr<T> Ilu<T>::upper() const {
  return impl_->upper();
}

template <class T>
std::span<const std::int32_t> Ilu<T>::order() const {
  return impl_->order();
}

template <class T>
std::span<const std::int32_t> Ilu<T>::column_order() const {
  return impl_->column_order();
}

template <class T>
const Triangles<T>* Ilu<T>::triangles() const {
  return impl_->triangles();
}

double checked_omega(double omega) {
  if (omega > 0 && omega < 2) return omega;
  throw Error(ErrorCode::bad_argument, fmt::format("SSOR: omega is {:g}; legal are numbers between 0 and 2", omega));
}

template <class T>
void check_matrix(const BlockCsr<T>& A, const IluOptions& options) {
  check_options(options);
  if (options.precision != Stored::fp64) {
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("factors stored in {}: only those on a structured grid in natural order can be; this is block CSR",
                    word(options.precision)));
  }
  if (!A.square()) {
    throw Error(ErrorCode::not_square, fmt::format("ILU needs a square matrix; got {}×{}", A.rows(), A.columns()));
  }
  if (!A.device().is_host())
    throw Error(ErrorCode::device, "ILU of a matrix on " + A.device().name() + "; it must be on the host");
}

template void check_matrix(const BlockCsr<double>&, const IluOptions&);
template void check_matrix(const BlockCsr<float>&, const IluOptions&);
template class Ilu<double>;
template class Ilu<float>;

}  // namespace echelon
