// SPDX-License-Identifier: BSD-3-Clause
// Interpolation along one direction and its triple product, entry by entry, as echelon/precond/mg/direction_step.hpp says
// them: P as rows of (coarse point, weight), PᵀAP as a map of entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/precond/mg/axis.hpp"

namespace echelon::reference {

using PlainRows = std::vector<std::vector<std::pair<std::int64_t, double>>>;

struct PlainPlace {
  std::int64_t at[3];
  PlainPlace(const Grid& g, std::int64_t p) : at{p % g.nx, p / g.nx % g.ny, p / g.nx / g.ny} {}
};

inline PlainRows plain_rows(const StructMatrix<double>& A) {
  PlainRows rows(static_cast<std::size_t>(A.rows()));
  for (std::int64_t p = 0; p < A.rows(); ++p) {
    const PlainPlace c(A.grid(), p);
    for (int e = 0; e < A.stencil().size(); ++e) {
      const Offset o = A.stencil().offsets()[static_cast<std::size_t>(e)];
      if (!A.grid().contains(c.at[0] + o.x, c.at[1] + o.y, c.at[2] + o.z)) continue;
      rows[static_cast<std::size_t>(p)].push_back(
          {A.grid().index(c.at[0] + o.x, c.at[1] + o.y, c.at[2] + o.z), A.block(p, e)[0]});
    }
  }
  return rows;
}

inline PlainRows plain_interpolation(const StructMatrix<double>& A, Axis axis) {
  const Grid g = A.grid(), coarse = coarsened(g, axis);
  const auto d = static_cast<int>(axis);
  PlainRows P(static_cast<std::size_t>(g.points()));
  const auto rows = plain_rows(A);
  for (std::int64_t p = 0; p < g.points(); ++p) {
    const PlainPlace c(g, p);
    const auto coarse_point = [&](std::int64_t along) {
      std::int64_t at[3] = {c.at[0], c.at[1], c.at[2]};
      at[d] = along;
      return coarse.index(at[0], at[1], at[2]);
    };
    auto& row = P[static_cast<std::size_t>(p)];
    if (c.at[d] % 2 == 1) {
      row.push_back({coarse_point(c.at[d] / 2), 1});
      continue;
    }
    double before = 0, behind = 0, still = 0, diagonal = 0;
    for (const auto& [q, a] : rows[static_cast<std::size_t>(p)]) {
      const std::int64_t move = PlainPlace(g, q).at[d] - c.at[d];
      (move < 0 ? before : move > 0 ? behind : still) += a;
      if (q == p) diagonal = a;
    }
    const double sign = diagonal < 0 ? -1 : 1;
    const double lower = std::max(-sign * before, 0.0), upper = std::max(-sign * behind, 0.0), total = lower + upper;
    if (total == 0) continue;
    const double divisor = 2 * sign * still >= total ? sign * still : total;
    const std::int64_t m = c.at[d] / 2;
    if (m > 0) row.push_back({coarse_point(m - 1), lower / divisor});
    if (m < side(coarse, axis)) row.push_back({coarse_point(m), upper / divisor});
  }
  return P;
}

inline std::map<std::pair<std::int64_t, std::int64_t>, double> plain_triple_product(const PlainRows& A, const PlainRows& P) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> product;
  for (std::size_t i = 0; i < A.size(); ++i) {
    for (const auto& [I, left] : P[i]) {
      for (const auto& [j, a] : A[i]) {
        for (const auto& [J, right] : P[static_cast<std::size_t>(j)]) product[{I, J}] += left * a * right;
      }
    }
  }
  return product;
}

}  // namespace echelon::reference
