// SPDX-License-Identifier: BSD-3-Clause
// −h² ∇·(κ diag(ε) ∇u), w_d = ε_d (h/h_d)².
// Unit star: the face between points p and q along d conducts w_d 2κ_p κ_q/(κ_p + κ_q), which carries the flux exactly
// across a jump half way between them. Full box: elements with κ constant in each; A(p, p+o) = t(o) Σ κ_e over the elements
// that have both points, t(o) = Σ_d w_d (±1) Π_{c≠d} m(o_c), + for o_d = 0, m(0) = 5/12, m(±1) = 1/12. These transverse
// masses lie between lumped (1/2, 0: a star) and exact ones (1/3, 1/6: no coupling of face neighbours on a cube); with
// them a cube with constant κ has 26 negative neighbours, so its factorization cannot break down.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/problem/point_loop.hpp"
#include "echelon/problem/point_samples.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/spacing.hpp"

namespace echelon::problems {
namespace {

PointSamples sampled(const Coefficient& kappa, const Grid& grid, Place place, int halo) {
  return {"the coefficient of variable_poisson", grid, place, halo, 1, [&](double x, double y, double z, double* value) {
            *value = kappa(x, y, z);
            if (*value > 0 || !std::isfinite(*value)) return;
            throw Error(ErrorCode::bad_argument,
                        fmt::format("variable_poisson: the coefficient must be positive; at ({}, {}, {}) it is {}", x, y, z,
                                    *value));
          }};
}

struct Weights {
  double along[3];  // ε_d (h/h_d)², 0 for axes that are not coupled
};

Weights weights(const Spacing& space, const double (&anisotropy)[3]) {
  Weights result{};
  for (int d = 0; d < 3; ++d) {
    if (!space.coupled[d]) continue;
    if (!(anisotropy[d] > 0) || !std::isfinite(anisotropy[d])) {
      throw Error(ErrorCode::bad_argument, fmt::format("variable_poisson: the anisotropy must be positive and finite; along "
                                                       "{} it is {}",
                                                       "xyz"[d], anisotropy[d]));
    }
    result.along[d] = anisotropy[d] * (space.smallest / space.h[d]) * (space.smallest / space.h[d]);
  }
  return result;
}

void fill_star(StructMatrix<double>& A, const Weights& weight, const Coefficient& coefficient) {
  const Stencil& stencil = A.stencil();
  const PointSamples kappa = sampled(coefficient, A.grid(), Place::nodes, 1);
  constexpr std::int64_t operations = 40;
  for_each_point(A.grid(), operations, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t point) {
    const double here = *kappa.at(i, j, k);
    double diagonal = 0;
    for (int e = 0; e < stencil.size(); ++e) {
      if (e == stencil.center()) continue;
      const Offset o = stencil.offsets()[e];
      const double there = *kappa.at(i + o.x, j + o.y, k + o.z);
      const double face = weight.along[o.x != 0 ? 0 : o.y != 0 ? 1 : 2] * (2 / (1 / here + 1 / there));
      diagonal += face;
      if (A.grid().contains(i + o.x, j + o.y, k + o.z)) A.block(point, e)[0] = -face;
    }
    A.block(point, stencil.center())[0] = diagonal;
  });
}

double element_weight(const Offset& offset, const Weights& weight, const Spacing& space) {
  const int o[3] = {offset.x, offset.y, offset.z};
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    double term = o[d] == 0 ? weight.along[d] : -weight.along[d];
    for (int c = 0; c < 3; ++c) {
      if (c != d && space.coupled[c]) term *= o[c] == 0 ? 5.0 / 12 : 1.0 / 12;
    }
    sum += term;
  }
  return sum;
}

void fill_box(StructMatrix<double>& A, const Weights& weight, const Spacing& space, const Coefficient& coefficient) {
  const Stencil& stencil = A.stencil();
  const Grid& grid = A.grid();
  const Grid elements{grid.nx + space.coupled[0], grid.ny + space.coupled[1], grid.nz + space.coupled[2]};
  const PointSamples kappa = sampled(coefficient, elements, Place::cells, 0);
  std::vector<double> entry_weight;
  for (const Offset& o : stencil.offsets()) entry_weight.push_back(element_weight(o, weight, space));
  const auto first = [](int offset) { return offset > 0 ? 1 : 0; };
  const auto last = [](int offset, bool coupled) { return coupled && offset >= 0 ? 1 : 0; };
  A.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int e, std::span<double> block) {
    // Elements in ascending order from both points' sides: the matrix is symmetric to the last bit.
    const Offset o = stencil.offsets()[e];
    double sum = 0;
    for (int ez = first(o.z); ez <= last(o.z, space.coupled[2]); ++ez) {
      for (int ey = first(o.y); ey <= last(o.y, space.coupled[1]); ++ey) {
        for (int ex = first(o.x); ex <= last(o.x, space.coupled[0]); ++ex) sum += *kappa.at(i + ex, j + ey, k + ez);
      }
    }
    block[0] = entry_weight[static_cast<std::size_t>(e)] * sum;
  });
}

}  // namespace

Coefficient smooth_coefficient(double contrast) {
  if (!(contrast >= 1) || !std::isfinite(contrast))
    throw Error(ErrorCode::bad_argument, fmt::format("a contrast is at least 1 and finite; got {}", contrast));
  return [half = 0.5 * std::log(contrast)](double x, double y, double z) {
    constexpr double turn = 2 * std::numbers::pi;
    return std::exp(half * std::cos(turn * x) * std::cos(turn * y) * std::cos(turn * z));
  };
}

Coefficient jump_coefficient(double contrast) {
  if (!(contrast > 0) || !std::isfinite(contrast))
    throw Error(ErrorCode::bad_argument, fmt::format("a contrast is positive and finite; got {}", contrast));
  return [contrast](double x, double y, double z) {
    const double cubes = std::floor(4 * x) + std::floor(4 * y) + std::floor(4 * z);
    return std::fmod(cubes, 2) != 0 ? contrast : 1.0;
  };
}

StructMatrix<double> variable_poisson(Grid grid, const Stencil& stencil, const VarPoissonOptions& options) {
  StructMatrix<double> A(grid, stencil, 1);
  const Spacing space = spacing("variable_poisson", grid, stencil);
  const Weights weight = weights(space, options.anisotropy);
  if (is_full_box(stencil, space)) {
    fill_box(A, weight, space, options.kappa);
  } else if (is_unit_star(stencil)) {
    fill_star(A, weight, options.kappa);
  } else {
    throw Error(ErrorCode::bad_argument,
                fmt::format("variable_poisson is not defined on the stencil '{}': it needs ±1 along the axes (star5, star7) "
                            "or the full box (box9, box27)",
                            stencil.name()));
  }
  return A;
}

}  // namespace echelon::problems
