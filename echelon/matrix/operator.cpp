// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/operator.hpp"

#include <fmt/format.h>

#include <limits>

#include "echelon/base/error.hpp"

namespace echelon {

template <class T>
void Operator<T>::residual(const Vector<T>& b, const Vector<T>& x, Vector<T>& r) const {
  // This loop runs on the host: a matrix elsewhere brings a residual of its own.
  for (const Vector<T>* v : {&b, static_cast<const Vector<T>*>(&r)}) {
    if (v->device().is_host()) continue;
    throw Error(ErrorCode::device, fmt::format("this operator has no residual for vectors on {}: derive from Operator and "
                                               "give it one",
                                               v->device().name()));
  }
  apply(x, r);
  for (std::int64_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
}

template <class T>
double Operator<T>::norm_inf() const {
  return std::numeric_limits<double>::quiet_NaN();
}

template class Operator<double>;
template class Operator<float>;

}  // namespace echelon
