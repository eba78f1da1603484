// SPDX-License-Identifier: BSD-3-Clause
// Rows of q = (u, v): q_p + dt Σ_{faces p|n} m_pn (P_p − P_n)/h_d², and dt σ v_p in those of v, with the chemical potentials
// P_p = H_p q_p + E Σ_{faces p|s} (q_p − q_s)/h_c², H the second derivatives of W at the base state
//   W_uu = 3u² − 1 + 2γv,  W_vv = 3v² − 1 + 2βu,  W_uv = α + 2βv + 2γu,
// E = diag(ε_u², ε_v²), and m_pn the mean of the mobilities of both cells. Faces on the boundary carry no flux, so none
// appears: what leaves a cell enters its neighbour. Two steps along the axes at most: diamond25.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "echelon/base/error.hpp"
#include "echelon/problem/point_loop.hpp"
#include "echelon/problem/point_samples.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/time_step.hpp"

namespace echelon::problems {
namespace {

constexpr int unknowns = 2;
constexpr int components = 5;  // sampled: W_uu, W_uv, W_vv, M_u, M_v

void check(const CahnHilliardOptions& options) {
  for (const double c : options.coupling) {
    if (!std::isfinite(c)) throw Error(ErrorCode::bad_argument, "cahn_hilliard: the couplings must be finite");
  }
  if (!(options.nonlocal >= 0) || !std::isfinite(options.nonlocal)) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("cahn_hilliard: the nonlocal strength must be 0 or more and finite; got {}", options.nonlocal));
  }
  if (!(options.degeneracy >= 0 && options.degeneracy < 1)) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("cahn_hilliard: the degeneracy must be from 0 to below 1; got {}", options.degeneracy));
  }
}

struct Lengths {
  double per_h2[3];   // 1/h_d²
  double epsilon[2];  // ε_u, ε_v
};

Lengths lengths(const Grid& grid, const double (&width)[2]) {
  Lengths result{};
  const std::int64_t sides[3] = {grid.nx, grid.ny, grid.nz};
  double smallest = 1;
  for (int d = 0; d < 3; ++d) {
    const double h = 1.0 / static_cast<double>(sides[d]);
    result.per_h2[d] = 1 / (h * h);
    smallest = std::min(smallest, h);
  }
  // tanh(s/(√2 ε)) goes from −0.9 to 0.9 over 2√2 ε artanh 0.9.
  const double cells[2] = {4, 6};
  for (int r = 0; r < 2; ++r) {
    result.epsilon[r] = cells[r] * smallest / (2 * std::numbers::sqrt2 * std::atanh(0.9));
    if (width[r] == 0) continue;
    require_step("cahn_hilliard", r == 0 ? "the interface width of u" : "the interface width of v", width[r]);
    result.epsilon[r] = width[r];
  }
  return result;
}

PointSamples sampled(const CahnHilliardOptions& options, const Grid& grid) {
  return {
      "a coefficient of cahn_hilliard", grid, Place::cells, 0, components, [&](double x, double y, double z, double* at) {
        const auto [alpha, beta, gamma] = options.coupling;
        const PhaseState s = options.base(x, y, z);
        at[0] = 3 * s.u * s.u - 1 + 2 * gamma * s.v;
        at[1] = alpha + 2 * beta * s.v + 2 * gamma * s.u;
        at[2] = 3 * s.v * s.v - 1 + 2 * beta * s.u;
        at[3] = 1 - options.degeneracy * s.u * s.u;
        at[4] = 1 - options.degeneracy * s.v * s.v;
        if (at[3] < 0 || at[4] < 0) {
          throw Error(
              ErrorCode::bad_argument,
              fmt::format("cahn_hilliard: the mobility is negative at ({}, {}, {}): |u| or |v| is too large", x, y, z));
        }
      }};
}

constexpr Offset faces[6] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
Offset operator+(const Offset& a, const Offset& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

/// Where an offset of the diamond stands in the stencil, without a search.
class Places {
 public:
  explicit Places(const Stencil& stencil) {
    place_.fill(-1);
    for (int e = 0; e < stencil.size(); ++e) place_[cell(stencil.offsets()[e])] = e;
  }
  std::size_t of(const Offset& o) const { return static_cast<std::size_t>(place_[cell(o)]); }

 private:
  static std::size_t cell(const Offset& o) { return static_cast<std::size_t>((o.z + 2) * 25 + (o.y + 2) * 5 + o.x + 2); }
  std::array<int, 125> place_;
};

/// The block row of one cell.
struct Row {
  const Grid& grid;
  const Places& places;
  const PointSamples& samples;
  const Lengths& length;
  std::int64_t i, j, k;
  std::array<std::array<double, unknowns * unknowns>, 25> blocks = {};  // column-major

  const double* sample(const Offset& o) const { return samples.at(i + o.x, j + o.y, k + o.z); }
  bool inside(const Offset& o) const { return grid.contains(i + o.x, j + o.y, k + o.z); }
  double per_area(int face) const { return length.per_h2[face / 2]; }

  /// diag(factor) P at the neighbour o.
  void add_potential(const Offset& o, const double (&factor)[2]) {
    const double* H = sample(o);
    auto& own = blocks[places.of(o)];
    own[0] += factor[0] * H[0], own[2] += factor[0] * H[1];
    own[1] += factor[1] * H[1], own[3] += factor[1] * H[2];
    for (int face = 0; face < 6; ++face) {
      if (!inside(o + faces[face])) continue;
      auto& other = blocks[places.of(o + faces[face])];
      for (int r = 0; r < unknowns; ++r) {
        const double bending = factor[r] * length.epsilon[r] * length.epsilon[r] * per_area(face);
        own[static_cast<std::size_t>(3 * r)] += bending;
        other[static_cast<std::size_t>(3 * r)] -= bending;
      }
    }
  }

  void add_fluxes(double dt) {
    const double* M = sample({});
    double sum[2] = {0, 0};
    for (int face = 0; face < 6; ++face) {
      if (!inside(faces[face])) continue;
      const double* N = sample(faces[face]);
      const double flux[2] = {dt * per_area(face) * 0.5 * (M[3] + N[3]), dt * per_area(face) * 0.5 * (M[4] + N[4])};
      add_potential(faces[face], {-flux[0], -flux[1]});
      sum[0] += flux[0], sum[1] += flux[1];
    }
    add_potential({}, sum);
  }
};

}  // namespace

StructMatrix<double> cahn_hilliard(Grid grid, const CahnHilliardOptions& options) {
  StructMatrix<double> A(grid, stencils::diamond25(), unknowns);
  check(options);
  const Lengths length = lengths(grid, options.interface_width);
  double dt = 0.25 * length.epsilon[0] * length.epsilon[0];
  if (options.dt != 0) {
    require_step("cahn_hilliard", "the time step", options.dt);
    dt = options.dt;
  }
  const PointSamples samples = sampled(options, grid);
  const Stencil& stencil = A.stencil();
  const Places places(stencil);
  constexpr std::int64_t operations = 1000;
  for_each_point(grid, operations, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t point) {
    Row row{grid, places, samples, length, i, j, k};
    row.add_fluxes(dt);
    auto& own = row.blocks[places.of({})];
    own[0] += 1;
    own[3] += 1 + dt * options.nonlocal;
    for (int e = 0; e < stencil.size(); ++e) {
      if (!row.inside(stencil.offsets()[e])) continue;
      std::copy_n(row.blocks[static_cast<std::size_t>(e)].begin(), unknowns * unknowns, A.block(point, e).begin());
    }
  });
  return A;
}

}  // namespace echelon::problems
