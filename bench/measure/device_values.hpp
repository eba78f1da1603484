// SPDX-License-Identifier: BSD-3-Clause
// The values of a benchmark case on a GPU, each made where it is needed: ten gigabytes never pass through the host.
//   matrix            problems::random of the case: diagonally dominant
//   factors           L (strictly lower, rows sum to at most 0.9), D (diagonal, 1 to 2), U (strictly upper, as L)
//   factors_inverted  the same with D⁻¹ at the centre, as our sweeps store them
// D has no entries beside the diagonal, so that solves with blocks and with scalars are the same system.
#pragma once

#include <cmath>
#include <cstdint>

#include "bench/measure/bench_case.hpp"
#include "echelon/problem/random_value.hpp"
#include "echelon/stencil/wavefront.hpp"

namespace echelon::bench {

enum class ValueKind { matrix, factors, factors_inverted };

/// Travels to kernels by value.
struct ValueShape {
  static constexpr int most_entries = 64;

  ValueKind kind = ValueKind::matrix;
  int nx = 1, ny = 1, nz = 1;
  int dof = 1, entries = 1, center = 0;
  double lower_weight = 0, upper_weight = 0;
  problems::RandomValues generator{};
  Offset offsets[most_entries];

  /// Throws Error(bad_argument) for a stencil of more entries.
  static ValueShape of(const BenchCase& one, ValueKind kind);

  ECHELON_FN std::int64_t points() const { return std::int64_t{nx} * ny * nz; }
  ECHELON_FN Ijk at(std::int64_t point) const {
    const std::int64_t line = point / nx;
    return {static_cast<int>(point - line * nx), static_cast<int>(line % ny), static_cast<int>(line / ny)};
  }
  ECHELON_FN bool inside(Ijk p, int e) const {
    const int i = p.i + offsets[e].x, j = p.j + offsets[e].y, k = p.k + offsets[e].z;
    return i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz;
  }
  ECHELON_FN std::int64_t index(Ijk p) const { return (std::int64_t{p.k} * ny + p.j) * nx + p.i; }
  ECHELON_FN std::int64_t neighbour(Ijk p, int e) const {
    return index({p.i + offsets[e].x, p.j + offsets[e].y, p.k + offsets[e].z});
  }

  /// Of a neighbour inside.
  ECHELON_FN double value(Ijk p, int e, int row, int column) const {
    const std::int64_t point = index(p);
    const double drawn = problems::RandomValues::value(generator.block(point, e), std::int64_t{column} * dof + row);
    if (e == center && kind != ValueKind::matrix) {
      const double d = problems::diagonal_margin(drawn);
      return row != column ? 0.0 : kind == ValueKind::factors ? d : 1.0 / d;
    }
    if (kind != ValueKind::matrix) return drawn * (e < center ? lower_weight : upper_weight);
    return e == center && row == column ? row_sum(p, row) + problems::diagonal_margin(drawn) : drawn;
  }

 private:
  /// Sizes of a row's values beside the diagonal, in the order of problems::random.
  ECHELON_FN double row_sum(Ijk p, int row) const {
    double sum = 0;
    for (int e = 0; e < entries; ++e) {
      if (!inside(p, e)) continue;
      const std::uint64_t block = generator.block(index(p), e);
      for (int c = 0; c < dof; ++c) {
        if (e != center || c != row) sum += std::fabs(problems::RandomValues::value(block, std::int64_t{c} * dof + row));
      }
    }
    return sum;
  }
};

}  // namespace echelon::bench
