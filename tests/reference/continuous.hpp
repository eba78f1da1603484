// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of known functions for manufactured right-hand sides: eighth-order central differences with step 0.01, whose
// error (below 1e-9 for waves of length ½) is nothing beside that of the grids on trial; and the error of a solution. The
// system is solved by the library, whose `converged` is the recomputed residual.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "echelon/echelon.hpp"

namespace echelon::test {

struct Place3 {
  double x = 0, y = 0, z = 0;
  double& operator[](int d) { return d == 0 ? x : d == 1 ? y : z; }
  double operator[](int d) const { return d == 0 ? x : d == 1 ? y : z; }
};

/// ∂f/∂x_axis for f(place) → std::array of values.
template <class Function>
auto derivatives(const Function& f, Place3 at, int axis) {
  constexpr double step = 0.01, weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  const double center = at[axis];
  decltype(f(at)) sum{};
  for (int m = 4; m >= 1; --m) {
    at[axis] = center + m * step;
    const auto after = f(at);
    at[axis] = center - m * step;
    const auto before = f(at);
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += weight[m - 1] * (after[c] - before[c]) / step;
  }
  return sum;
}

template <class Function>
double derivative(const Function& f, const Place3& at, int axis) {
  return derivatives([&](const Place3& p) { return std::array<double, 1>{f(p)}; }, at, axis)[0];
}

/// Where a grid point lies: nodes at (i + 1)/(N + 1), cells at (i + ½)/N.
inline Place3 place_of(const Grid& grid, std::int64_t point, bool cells) {
  const std::int64_t side[3] = {grid.nx, grid.ny, grid.nz};
  const std::int64_t index[3] = {point % grid.nx, point / grid.nx % grid.ny, point / grid.nx / grid.ny};
  Place3 at;
  for (int d = 0; d < 3; ++d) {
    const auto i = static_cast<double>(index[d]), n = static_cast<double>(side[d]);
    at[d] = cells ? (i + 0.5) / n : (i + 1) / (n + 1);
  }
  return at;
}

/// Root mean square error of the solution of A x = b over all unknowns; exact(place, component), and rhs(place, values)
/// writes all components of b at a point.
template <class Exact, class RightHandSide>
double solution_error(const StructMatrix<double>& A, bool cells, const Exact& exact, const RightHandSide& rhs) {
  Vector<double> b(A.rows()), x(A.rows(), 0.0);
  const int dof = A.dof();
#pragma omp parallel for schedule(static)
  for (std::int64_t p = 0; p < A.grid().points(); ++p) rhs(place_of(A.grid(), p, cells), b.data() + p * dof);
  const auto M = ilu(A, {.fill = 0});
  EXPECT_TRUE(gmres(A, b, x, M, {.rtol = 1e-10}).converged);
  double squares = 0;
  for (std::int64_t row = 0; row < A.rows(); ++row) {
    const double difference = x[row] - exact(place_of(A.grid(), row / dof, cells), static_cast<int>(row % dof));
    squares += difference * difference;
  }
  return std::sqrt(squares / static_cast<double>(A.rows()));
}

/// log₂ of the quotients of successive errors, for grids whose spacing is halved each time.
inline std::vector<double> observed_orders(const std::vector<double>& errors) {
  std::vector<double> orders;
  for (std::size_t i = 1; i < errors.size(); ++i) orders.push_back(std::log2(errors[i - 1] / errors[i]));
  return orders;
}

}  // namespace echelon::test
