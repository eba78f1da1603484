// SPDX-License-Identifier: BSD-3-Clause
// The definition of tile order, value by value: matrix and vector into it and back on the host, and the sweep of either
// triangle as the formula has it, point by point in natural order (struct of any kind, no schedule).
#pragma once

#include <cmath>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/stencil/tile_order.hpp"

namespace echelon::reference {

template <class Function>
void for_each_point(const Grid& g, Function function) {
  for (int k = 0; k < g.nz; ++k) {
    for (int j = 0; j < g.ny; ++j) {
      for (int i = 0; i < g.nx; ++i) function(Ijk{i, j, k}, g.index(i, j, k));
    }
  }
}

/// Entries of the order's stencil that A lacks are zero.
template <class T>
Array<T> in_tile_order(const TileOrder& order, const StructMatrix<T>& A) {
  Array<T> laid(order.matrix_scalars(), T(0));
  const int b = order.dof();
  for_each_point(order.grid(), [&](Ijk p, std::int64_t point) {
    const Place place = order.host_matrix().view().place(p);
    for (int e = 0; e < order.stencil().size(); ++e) {
      const int source = A.stencil().find(order.stencil().offsets()[static_cast<std::size_t>(e)]);
      for (int s = 0; source >= 0 && s < b * b; ++s) {
        laid[place.at(e, s % b, s / b)] = A.block(point, source)[static_cast<std::size_t>(s)];
      }
    }
  });
  return laid;
}

template <class T>
Vector<T> in_tile_order(const TileOrder& order, const Vector<T>& x) {
  Vector<T> laid(order.vector_scalars(), T(0));
  for_each_point(order.grid(), [&](Ijk p, std::int64_t point) {
    const Place place = order.host_vector().view().place(p);
    for (int c = 0; c < order.dof(); ++c) laid[place.at(0, c, 0)] = x[point * order.dof() + c];
  });
  return laid;
}

template <class T>
Vector<T> in_natural_order(const TileOrder& order, const Vector<T>& laid) {
  Vector<T> x(order.grid().points() * order.dof());
  for_each_point(order.grid(), [&](Ijk p, std::int64_t point) {
    const Place place = order.host_vector().view().place(p);
    for (int c = 0; c < order.dof(); ++c) x[point * order.dof() + c] = laid[place.at(0, c, 0)];
  });
  return x;
}

/// LU holds L (unit diagonal), D⁻¹ at the centre, and U.
template <class T>
Vector<T> sweep(const StructMatrix<T>& LU, Triangle triangle, const Vector<T>& r, T r_scale = 1) {
  const Grid& g = LU.grid();
  const int b = LU.dof(), center = LU.stencil().center(), last = LU.stencil().size() - 1;
  const bool lower = triangle == Triangle::lower;
  Vector<T> x(r.size());
  Array<T> sum(b);
  for (std::int64_t n = 0; n < g.points(); ++n) {
    const std::int64_t p = lower ? n : g.points() - 1 - n, i = p % g.nx, j = p / g.nx % g.ny, k = p / g.nx / g.ny;
    for (int row = 0; row < b; ++row) sum[row] = r[p * b + row] * r_scale;
    for (int q = 0; q < (lower ? center : last - center); ++q) {
      const int e = lower ? q : last - q;
      const Offset o = LU.stencil().offsets()[static_cast<std::size_t>(e)];
      if (!g.contains(i + o.x, j + o.y, k + o.z)) continue;
      const std::int64_t from = g.index(i + o.x, j + o.y, k + o.z);
      for (int row = 0; row < b; ++row) {
        for (int c = 0; c < b; ++c) {
          sum[row] = std::fma(-LU.block(p, e)[static_cast<std::size_t>(c * b + row)], x[from * b + c], sum[row]);
        }
      }
    }
    for (int row = 0; row < b; ++row) {
      if (lower) {
        x[p * b + row] = sum[row];
        continue;
      }
      T result = 0;
      for (int c = 0; c < b; ++c) {
        const T d = LU.block(p, center)[static_cast<std::size_t>(c * b + row)];
        result = c == 0 ? d * sum[0] : std::fma(d, sum[c], result);
      }
      x[p * b + row] = result;
    }
  }
  return x;
}

}  // namespace echelon::reference
