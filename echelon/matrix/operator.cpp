// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/operator.hpp"

#include <limits>

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

template class Operator<double>;
template class Operator<float>;

}  // namespace echelon
