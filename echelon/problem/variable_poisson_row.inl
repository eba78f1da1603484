// SPDX-License-Identifier: BSD-3-Clause
// Rows of −h² ∇·(κ diag(ε) ∇u), w_d = ε_d (h/h_d)².
// Unit star: the face between points p and q along d conducts w_d 2κ_p κ_q/(κ_p + κ_q), which carries the flux exactly
// across a jump half way between them. Full box: elements with κ constant in each; A(p, p+o) = t(o) Σ κ_e over the elements
// that have both points (variable_poisson.cpp has t).
#pragma once

#include "echelon/problem/assembly/point_samples.hpp"
#include "echelon/problem/assembly/recipe.hpp"

namespace echelon::problems {

struct StarConductors {
  static constexpr int unknowns = 1;
  static constexpr std::int64_t operations = 40;
  static constexpr int most_entries = 7;
  SampleView<1> kappa;  // at the points and one around them
  double along[3];      // w_d
  Offset offsets[most_entries];
  int entries, center;

  struct Block {
    double value;
    ECHELON_FN double at(int, int) const { return value; }
  };
  struct Row {
    const StarConductors& of;
    Ijk p;
    double per_here;  // 1/κ

    ECHELON_FN double face(const Offset& o) const {
      const double there = *of.kappa.at(p.i + o.x, p.j + o.y, p.k + o.z);
      return pick(of.along, axis_of(o)) * (2 / (per_here + 1 / there));
    }
    ECHELON_FN Block block(int e, const Offset& o) const {
      if (e != of.center) return {-face(o)};
      double diagonal = 0;
      for (int other = 0; other < of.entries; ++other) {
        if (other != of.center) diagonal += face(of.offsets[other]);
      }
      return {diagonal};
    }
  };
  ECHELON_FN Row row(Ijk p) const { return {*this, p, 1 / *kappa.at(p.i, p.j, p.k)}; }
};

struct BoxElements {
  static constexpr int unknowns = 1;
  static constexpr std::int64_t operations = 200;
  static constexpr int most_entries = 27;
  SampleView<1> kappa;  // of the elements; point p is the upper corner of element p
  double weight[most_entries];
  bool coupled[3];

  struct Block {
    double value;
    ECHELON_FN double at(int, int) const { return value; }
  };
  struct Row {
    const BoxElements& of;
    Ijk p;

    ECHELON_FN static int first(int offset) { return offset > 0 ? 1 : 0; }
    ECHELON_FN static int last(int offset, bool coupled) { return coupled && offset >= 0 ? 1 : 0; }
    ECHELON_FN Block block(int e, const Offset& o) const {
      // Elements in ascending order from both points' sides: the matrix is symmetric to the last bit.
      double sum = 0;
      for (int ez = first(o.z); ez <= last(o.z, of.coupled[2]); ++ez) {
        for (int ey = first(o.y); ey <= last(o.y, of.coupled[1]); ++ey) {
          for (int ex = first(o.x); ex <= last(o.x, of.coupled[0]); ++ex) {
            sum += *of.kappa.at(p.i + ex, p.j + ey, p.k + ez);
          }
        }
      }
      return {of.weight[e] * sum};
    }
  };
  ECHELON_FN Row row(Ijk p) const { return {*this, p}; }
};

/// κ of a field: a formula, or a user's function.
template <class Field>
struct KappaSampler {
  static constexpr int components = 1;
  Field kappa;
  ECHELON_FN bool operator()(double x, double y, double z, double* value) const {
    *value = kappa(x, y, z);
    return !(*value <= 0);
  }
  [[noreturn]] void refuse(double x, double y, double z) const;
};

}  // namespace echelon::problems
