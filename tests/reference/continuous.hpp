// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of known functions for manufactured right-hand sides: eighth-order central differences with step 0.01, whose
// error (below 1e-9 for waves of length ½) is nothing beside that of the grids on trial; and what observed order needs.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

namespace echelon::test {

struct Place3 {
  double x = 0, y = 0, z = 0;
  double& operator[](int d) { return d == 0 ? x : d == 1 ? y : z; }
  double operator[](int d) const { return d == 0 ? x : d == 1 ? y : z; }
};

template <class Function>
double derivative(const Function& f, Place3 at, int axis) {
  constexpr double step = 0.01, weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  const double center = at[axis];
  double sum = 0;
  for (int m = 4; m >= 1; --m) {
    at[axis] = center + m * step;
    const double after = f(at);
    at[axis] = center - m * step;
    sum += weight[m - 1] * (after - f(at));
  }
  return sum / step;
}

/// log₂ of the quotients of successive errors, for grids whose spacing is halved each time.
inline std::vector<double> observed_orders(const std::vector<double>& errors) {
  std::vector<double> orders;
  for (std::size_t i = 1; i < errors.size(); ++i) orders.push_back(std::log2(errors[i - 1] / errors[i]));
  return orders;
}

}  // namespace echelon::test
