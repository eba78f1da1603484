// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/operator.hpp"

#include <limits>

#include "echelon/sweep/queued_triangles.hpp"
#include "echelon/sweep/shared_triangles.hpp"

namespace echelon {

template <class T>
void Operator<T>::residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const {
  apply(x, r);
  for (std::int64_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
}

template <class T>
double Operator<T>::norm_inf() const {
  return std::numeric_limits<double>::quiet_NaN();
}

template <class T>
void Preconditioner<T>::apply_many(std::span<const Vector<T>> r, std::span<Vector<T>> z) const {
  require_as_many(r.size(), z.size());
  for (std::size_t k = 0; k < r.size(); ++k) apply(r[k], z[k]);
}

void require_as_many(std::size_t given, std::size_t results) {
  if (given == results) return;
  throw_size_mismatch("results for several right-hand sides", static_cast<std::int64_t>(results),
                      static_cast<std::int64_t>(given));
}

template <class T>
std::unique_ptr<SharedTriangles<T>> Preconditioner<T>::shared_triangles(const Operator<T>&) const {
  return nullptr;
}

template <class T>
std::unique_ptr<QueuedTriangles<T>> Preconditioner<T>::queued_triangles(const Operator<T>&) const {
  return nullptr;
}

template class Operator<double>;
template class Operator<float>;
template class Preconditioner<double>;
template class Preconditioner<float>;

}  // namespace echelon
