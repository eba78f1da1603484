// SPDX-License-Identifier: BSD-3-Clause
// Rows of q = (u, v): q_p + dt Σ_{faces p|n} m_pn (P_p − P_n)/h_d², and dt σ v_p in those of v, with the chemical potentials
// P_p = H_p q_p + E Σ_{faces p|s} (q_p − q_s)/h_c², H the second derivatives of W at the base state
//   W_uu = 3u² − 1 + 2γv,  W_vv = 3v² − 1 + 2βu,  W_uv = α + 2βv + 2γu,
// E = diag(ε_u², ε_v²), and m_pn the mean of the mobilities of both cells. Faces on the boundary carry no flux, so none
// appears: what leaves a cell enters its neighbour. A value is gathered from the potentials of the cell's neighbours, in the
// order of the faces, and then of the cell itself.
#pragma once

#include "echelon/factor/static_plan.hpp"
#include "echelon/problem/point_samples.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/recipe.hpp"

namespace echelon::problems {

namespace phases {
constexpr int components = 5;  // sampled: W_uu, W_uv, W_vv, M_u, M_v
constexpr int faces = 6;
/// −x, x, −y, y, −z, z
ECHELON_FN Offset face(int n) {
  const int step = n % 2 == 0 ? -1 : 1;
  return {n / 2 == 0 ? step : 0, n / 2 == 1 ? step : 0, n / 2 == 2 ? step : 0};
}
ECHELON_FN bool is_zero(const Offset& o) { return o.x == 0 && o.y == 0 && o.z == 0; }
ECHELON_FN int length(const Offset& o) { return (o.x < 0 ? -o.x : o.x) + (o.y < 0 ? -o.y : o.y) + (o.z < 0 ? -o.z : o.z); }
}  // namespace phases

struct CahnHilliardRows {
  using Known = static_plans::Diamond25;
  static constexpr int unknowns = 2;
  static constexpr std::int64_t operations = 2000;
  SampleView<phases::components> samples;
  Sides sides;
  double per_h2[3];   // 1/h_d²
  double epsilon[2];  // ε_u, ε_v
  double dt, nonlocal;

  struct Row {
    const CahnHilliardRows& of;
    Ijk p;
    bool open[phases::faces];
    double flux[2][phases::faces];  // 0 where there is none
    double sum[2];

    ECHELON_FN bool inside(const Offset& o) const { return of.sides.contain(moved(p, o)); }
    /// What the bending of unknown r weighs across a face along an axis.
    ECHELON_FN double bending(double factor, int r, int axis) const {
      const double width = pick(of.epsilon, r);
      return factor * width * width * pick(of.per_h2, axis);
    }

    /// What factor · P_r at the neighbour o, the cell itself for (0, 0, 0), adds to the value (r, column) of the entry t.
    ECHELON_FN double with_potential(double value, const Offset& o, const Offset& t, double factor, int r,
                                     int column) const {
      const Offset apart{t.x - o.x, t.y - o.y, t.z - o.z};
      if (phases::is_zero(apart)) {
        value += factor * of.samples.at(p.i + o.x, p.j + o.y, p.k + o.z)[r + column];
        if (r != column) return value;
#pragma unroll
        for (int n = 0; n < phases::faces; ++n) {
          const Offset s = phases::face(n);
          if (inside({o.x + s.x, o.y + s.y, o.z + s.z})) value += bending(factor, r, n / 2);
        }
        return value;
      }
      if (r != column || phases::length(apart) != 1) return value;
      return value - bending(factor, r, axis_of(apart));
    }

    struct Block {
      const Row& row;
      Offset t;
      ECHELON_FN double at(int r, int column) const {
        double value = 0;
#pragma unroll
        for (int n = 0; n < phases::faces; ++n) {
          if (row.open[n])
            value = row.with_potential(value, phases::face(n), t, r == 0 ? -row.flux[0][n] : -row.flux[1][n], r, column);
        }
        value = row.with_potential(value, {0, 0, 0}, t, pick(row.sum, r), r, column);
        if (!phases::is_zero(t) || r != column) return value;
        return value + (r == 0 ? 1 : 1 + row.of.dt * row.of.nonlocal);
      }
    };
    ECHELON_FN Block block(int, const Offset& t) const { return {*this, t}; }
  };

  ECHELON_FN Row row(Ijk p) const {
    Row row{*this, p, {}, {}, {}};
    const double* M = samples.at(p.i, p.j, p.k);
#pragma unroll
    for (int n = 0; n < phases::faces; ++n) {
      row.open[n] = row.inside(phases::face(n));
      if (!row.open[n]) continue;
      const Offset o = phases::face(n);
      const double* N = samples.at(p.i + o.x, p.j + o.y, p.k + o.z);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        row.flux[r][n] = dt * per_h2[n / 2] * 0.5 * (M[3 + r] + N[3 + r]);
        row.sum[r] += row.flux[r][n];
      }
    }
    return row;
  }
};

/// Second derivatives and mobilities of a base state: a formula, or a user's function.
template <class Field>
struct PhaseSampler {
  static constexpr int components = phases::components;
  Field base;
  double coupling[3];  // α, β, γ
  double degeneracy;
  ECHELON_FN bool operator()(double x, double y, double z, double* at) const {
    const PhaseState s = base(x, y, z);
    const double alpha = coupling[0], beta = coupling[1], gamma = coupling[2];
    at[0] = 3 * s.u * s.u - 1 + 2 * gamma * s.v;
    at[1] = alpha + 2 * beta * s.v + 2 * gamma * s.u;
    at[2] = 3 * s.v * s.v - 1 + 2 * beta * s.u;
    at[3] = 1 - degeneracy * s.u * s.u;
    at[4] = 1 - degeneracy * s.v * s.v;
    return !(at[3] < 0 || at[4] < 0);
  }
  [[noreturn]] void refuse(double x, double y, double z) const;
};

}  // namespace echelon::problems
