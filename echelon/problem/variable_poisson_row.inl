// SPDX-License-Identifier: BSD-3-Clause
// Rows of −h² ∇·(κ diag(ε) ∇u), w_d = ε_d (h/h_d)².
// Unit star: the face between points p and q along d conducts w_d 2κ_p κ_q/(κ_p + κ_q), which carries the flux exactly
// across a jump half way between them; κ may be another one along each axis. Full box: elements with κ constant in each;
// A(p, p+o) = t(o) Σ κ_e over the elements that have both points (variable_poisson.cpp has t).
// Without flux through the boundary, faces and elements outside are left out; else faces lead to the zero values there.
#pragma once

#include "echelon/problem/assembly/point_samples.hpp"
#include "echelon/problem/assembly/recipe.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::problems {

template <int components>
struct Conductors {
  static constexpr int unknowns = 1;
  static constexpr std::int64_t operations = 40;
  static constexpr int most_entries = 7;
  SampleView<components> kappa;  // at the points, and one around them unless closed; one, or one an axis
  double along[3];               // w_d
  Offset offsets[most_entries];
  int entries, center;
  bool closed;  // no flux through the boundary
  Sides sides;

  struct Block {
    double value;
    ECHELON_FN double at(int, int) const { return value; }
  };
  struct Row {
    const Conductors& of;
    Ijk p;
    double per_here[components];  // 1/κ

    ECHELON_FN double face(const Offset& o) const {
      const int axis = axis_of(o);
      const double there = of.kappa.at(p.i + o.x, p.j + o.y, p.k + o.z)[components == 1 ? 0 : axis];
      return pick(of.along, axis) * (2 / (pick(per_here, components == 1 ? 0 : axis) + 1 / there));
    }
    ECHELON_FN Block block(int e, const Offset& o) const {
      if (e != of.center) return {-face(o)};
      double diagonal = 0;
      for (int other = 0; other < of.entries; ++other) {
        if (other == of.center || (of.closed && !of.sides.contain(moved(p, of.offsets[other])))) continue;
        diagonal += face(of.offsets[other]);
      }
      return {diagonal};
    }
  };
  ECHELON_FN Row row(Ijk p) const {
    Row made{*this, p, {}};
    for (int c = 0; c < components; ++c) made.per_here[c] = 1 / kappa.at(p.i, p.j, p.k)[c];
    return made;
  }
};
using StarConductors = Conductors<1>;
using DirectedConductors = Conductors<3>;

struct BoxElements {
  static constexpr int unknowns = 1;
  static constexpr std::int64_t operations = 200;
  static constexpr int most_entries = 27;
  SampleView<1> kappa;  // of the elements
  double weight[most_entries];
  bool coupled[3];
  int below[3];    // point p is the upper corner of element p − below along an axis: 0, or 1 where no element is outside
  Sides elements;  // how many there are

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
            const Ijk element{p.i + ex - of.below[0], p.j + ey - of.below[1], p.k + ez - of.below[2]};
            if (of.elements.contain(element)) sum += *of.kappa.at(element.i, element.j, element.k);
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

/// κ along x, y and z.
template <class Field>
struct DirectedSampler {
  static constexpr int components = 3;
  Field along;
  ECHELON_FN bool operator()(double x, double y, double z, double* value) const {
    const PerAxis kappa = along(x, y, z);
    value[0] = kappa.x, value[1] = kappa.y, value[2] = kappa.z;
    return !(kappa.x <= 0) && !(kappa.y <= 0) && !(kappa.z <= 0);
  }
  [[noreturn]] void refuse(double x, double y, double z) const;
};

}  // namespace echelon::problems
