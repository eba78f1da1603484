// SPDX-License-Identifier: BSD-3-Clause
// Rows of q = (u, v): q_p + dt Σ_{faces p|n} m_pn (P_p − P_n)/h_d², and dt σ v_p in those of v, with the chemical potentials
// P_p = H_p q_p + E Σ_{faces p|s} (q_p − q_s)/h_c², H the second derivatives of W at the base state
//   W_uu = 3u² − 1 + 2γv,  W_vv = 3v² − 1 + 2βu,  W_uv = α + 2βv + 2γu,
// E = diag(ε_u², ε_v²), and m_pn the mean of the mobilities of both cells. Faces on the boundary carry no flux, so none
// appears: what leaves a cell enters its neighbour. A value is gathered from the potentials of the cell's neighbours, in the
// order of the faces, and then of the cell itself.
#pragma once

#include "echelon/problem/assembly/point_samples.hpp"
#include "echelon/problem/assembly/recipe.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/stencil/static_plan.hpp"

namespace echelon::problems {

namespace phases {
constexpr int components = 5;  // sampled: W_uu, W_uv, W_vv, M_u, M_v
constexpr int faces = 6;
/// −x, x, −y, y, −z, z; behind them the cell itself.
ECHELON_FN Offset face(int n) {
  if (n == faces) return {0, 0, 0};
  const int step = n % 2 == 0 ? -1 : 1;
  return {n / 2 == 0 ? step : 0, n / 2 == 1 ? step : 0, n / 2 == 2 ? step : 0};
}
ECHELON_FN bool is_zero(const Offset& o) { return o.x == 0 && o.y == 0 && o.z == 0; }
ECHELON_FN int length(const Offset& o) { return (o.x < 0 ? -o.x : o.x) + (o.y < 0 ? -o.y : o.y) + (o.z < 0 ? -o.z : o.z); }
}  // namespace phases

struct CahnHilliardRows {
  using Known = static_plans::Diamond25;
  static constexpr int unknowns = 2, reach = 2;
  static constexpr std::int64_t operations = 2000;
  SampleView<phases::components> samples;
  Sides sides;
  double per_h2[3];   // 1/h_d²
  double epsilon[2];  // ε_u, ε_v
  double dt, nonlocal;

  /// One of the two rows of a point. Interior: all neighbours within reach are inside.
  template <bool Interior>
  struct RowOf {
    const CahnHilliardRows& of;
    Ijk p;
    int r;
    double width;  // ε_r
    bool open[phases::faces];
    double flux[phases::faces];  // 0 where there is none
    double sum;
    // W_rr and W_uv of the neighbours, and of the cell itself.
    double curvature[phases::faces + 1], mixed[phases::faces + 1];

    ECHELON_FN bool inside(const Offset& o) const { return Interior || of.sides.contain(moved(p, o)); }
    /// What the bending weighs across a face along an axis.
    ECHELON_FN double bending(double factor, int axis) const { return factor * width * width * pick(of.per_h2, axis); }

    /// What factor · P_r at the neighbour of a face, or at the cell itself, adds to a value of the entry t: that of the own
    /// unknown, or of the other one.
    ECHELON_FN double with_potential(double value, int at, const Offset& t, double factor, bool own) const {
      const Offset o = phases::face(at), apart{t.x - o.x, t.y - o.y, t.z - o.z};
      if (phases::is_zero(apart)) {
        value += factor * (own ? curvature[at] : mixed[at]);
        if (!own) return value;
#pragma unroll
        for (int n = 0; n < phases::faces; ++n) {
          const Offset s = phases::face(n);
          if (inside({o.x + s.x, o.y + s.y, o.z + s.z})) value += bending(factor, n / 2);
        }
        return value;
      }
      if (!own || phases::length(apart) != 1) return value;
      return value - bending(factor, axis_of(apart));
    }
    ECHELON_FN double value(const Offset& t, bool own) const {
      double value = 0;
#pragma unroll
      for (int n = 0; n < phases::faces; ++n) {
        if (open[n]) value = with_potential(value, n, t, -flux[n], own);
      }
      value = with_potential(value, phases::faces, t, sum, own);
      if (!phases::is_zero(t) || !own) return value;
      return value + (r == 0 ? 1 : 1 + of.dt * of.nonlocal);
    }
  };

  /// Asks for all samples, before anything is written: to a compiler whatever is written could be one of them.
  template <bool Interior>
  ECHELON_FN RowOf<Interior> row_of(Ijk p, int r) const {
    constexpr int self = phases::faces;
    RowOf<Interior> row{*this, p, r, pick(epsilon, r), {}, {}, 0, {}, {}};
    const double *own = samples.at(p.i, p.j, p.k), mobility = own[3 + r];
    row.curvature[self] = own[2 * r], row.mixed[self] = own[1];
#pragma unroll
    for (int n = 0; n < phases::faces; ++n) {
      const Offset o = phases::face(n);
      row.open[n] = row.inside(o);
      if (!row.open[n]) continue;
      const double* other = samples.at(p.i + o.x, p.j + o.y, p.k + o.z);
      row.curvature[n] = other[2 * r], row.mixed[n] = other[1];
      row.flux[n] = dt * per_h2[n / 2] * 0.5 * (mobility + other[3 + r]);
      row.sum += row.flux[n];
    }
    return row;
  }
  ECHELON_FN bool is_interior(Ijk p) const {
    return p.i >= reach && p.i + reach < sides.nx && p.j >= reach && p.j + reach < sides.ny && p.k >= reach &&
           p.k + reach < sides.nz;
  }

  /// Both rows of a point.
  struct Row {
    RowOf<false> of_unknown[unknowns];
    struct Block {
      const Row& row;
      Offset t;
      ECHELON_FN double at(int r, int column) const { return row.of_unknown[r].value(t, r == column); }
    };
    ECHELON_FN Block block(int, const Offset& t) const { return {*this, t}; }
  };
  ECHELON_FN Row row(Ijk p) const { return {{row_of<false>(p, 0), row_of<false>(p, 1)}}; }
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
