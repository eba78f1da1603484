// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/preconditioner.hpp"

#include "echelon/sweep/queued_triangles.hpp"
#include "echelon/sweep/shared_triangles.hpp"

namespace echelon {

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

template class Preconditioner<double>;
template class Preconditioner<float>;

}  // namespace echelon
