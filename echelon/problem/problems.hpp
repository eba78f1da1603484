// SPDX-License-Identifier: BSD-3-Clause
// The one source of matrices for tests, benchmarks, examples and the program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/row_source.hpp"

namespace echelon::problems {

/// What holds on the boundary of the unit cube.
enum class Boundary {
  dirichlet,  // u = 0
  neumann     // no flux: the rows have sum 0, the matrix is singular and the constant is its null vector
};

/// −Δu on the unit cube (square, interval), u = 0 on the boundary, N interior points a direction, h_d = 1/(N_d + 1), the
/// rows multiplied by h², h the smallest spacing, as users of 7-point codes expect (diagonal 6 for star7 on a cube). The
/// full 3×3×3 cube and 3×3 square: 26 (8) and −1, as in HPCG, whatever the spacings; on a cube this is 9h² (3h²) times −Δ to
/// second order. Every other symmetric stencil: weights h²/|o|² with |o| the distance in the unit cube, which for star5 and
/// star7 are the second-order differences. Throws Error(bad_argument) for stencils without symmetry or without neighbours,
/// and for those that do not reach along an axis the grid extends in.
/// Without flux: the points are the middles of cells, h_d = 1/N_d, and the diagonal is the sum over the neighbours inside.
StructMatrix<double> poisson(Grid grid, const Stencil& stencil, Boundary boundary = Boundary::dirichlet);

/// A right-hand side that a matrix with the constant as its null vector can reach: 1 and −1 by octants like a chessboard, 0
/// on the middle planes. Its sum is 0. Axes with one point do not count.
Vector<double> balanced_sources(Grid grid);

/// One number an axis at a point of the unit cube; called from several threads at once.
struct PerAxis {
  double x, y, z;
};
using AxisField = std::function<PerAxis(double x, double y, double z)>;
/// One vortex in the plane, the same at every z: (4x(1 − x)(2y − 1), −4y(1 − y)(2x − 1), 0). No divergence, no flux through
/// the boundary, largest speed 1.
AxisField recirculating_flow();

struct ConvDiffOptions {
  double peclet = 10;                     // |velocity|·length/diffusion
  double velocity[3] = {1.0, 0.5, 0.25};  // only its direction counts
  AxisField flow = {};                    // when given, in place of it: the velocity at a point, in units of |velocity|
};
/// −Δu + Pe (v/|v|)·∇u, Dirichlet, rows multiplied by h² as for `poisson`: second-order differences for diffusion,
/// first-order upwind ones for convection. The stencil must be star5, star7 or their 1-D kin: ±1 along the axes.
StructMatrix<double> convection_diffusion(Grid grid, const Stencil& stencil, const ConvDiffOptions& options = {});

/// A coefficient at a point of the unit cube; called from several threads at once.
using Coefficient = std::function<double(double x, double y, double z)>;
/// exp(½ ln C · cos 2πx cos 2πy cos 2πz): from C^−½ to C^½, without a jump. Throws Error(bad_argument) for C < 1.
Coefficient smooth_coefficient(double contrast);
/// Cubes of side ¼ like a chessboard, 1 and C in turn. Throws Error(bad_argument) unless C is positive.
Coefficient jump_coefficient(double contrast);
/// At every place another value: C^t, t uniform in [0, 1) by a hash of the seed and the coordinates' bits. At the points of
/// a grid that is one value a cell, the same bits on every machine. Throws Error(bad_argument) unless 1 ≤ C ≤ 1e300.
Coefficient random_coefficient(double contrast, std::uint64_t seed);
/// C along one axis, 1 along the two others; the axis is that of (upper in x) + (upper in y) + (upper in z) modulo 3, so
/// that octants with a face in common differ. Throws Error(bad_argument) unless C is positive.
AxisField region_coefficient(double contrast);

struct VarPoissonOptions {
  Coefficient kappa = smooth_coefficient(100);  // positive everywhere
  double anisotropy[3] = {1, 1, 1};             // a factor of κ along x, y and z
  AxisField along = {};                         // when given, in place of κ: that along x, y and z; unit stars only
  Boundary boundary = Boundary::dirichlet;
};
/// −∇·(κ diag(εx, εy, εz) ∇u) on the points of `poisson` and with rows multiplied by its h². Unit stars: κ at the points,
/// harmonic means on the faces between them. The full box: bilinear or trilinear elements, κ at their centres; without flux
/// through the boundary its points are at i/(N − 1). Symmetric, positive definite (semidefinite without flux). Throws
/// Error(bad_argument) for other stencils and for coefficients that are not positive.
StructMatrix<double> variable_poisson(Grid grid, const Stencil& stencil, const VarPoissonOptions& options = {});

/// What the implicit steps have in common: rows are multiplied by the time step, so that they read I + dt·(…).
struct TimeStep {
  double dt = 0;   // 0: cfl times the time in which the fastest wave crosses the smallest spacing
  double cfl = 3;  // not looked at when dt is given
};

struct GasState {
  double rho, u, v, w, p;
};
using GasFlow = std::function<GasState(double x, double y, double z)>;
/// A smooth three-dimensional flow at about this Mach number: ρ = 1 ± 10 %, p = ρ^γ/γ (sound speed 1), waves in V.
GasFlow waved_gas_flow(double mach);

struct EulerOptions {
  TimeStep step = {};
  GasFlow base = waved_gas_flow(0.5);
};
/// One implicit step of the compressible Euler equations for a perfect gas, γ = 1.4, linearised about the state `base`:
/// W + dt Σ_d ∂_d(A_d W) for W = (ρ, ρu, ρv, ρw, E), star13, 5 unknowns a point. The split Jacobians A_d^± take second-order
/// differences from their upwind sides. Points as for `poisson`; outside W = 0, the state there being held. Axes with one
/// point are not differentiated. Throws Error(bad_argument) unless ρ and p are positive.
StructMatrix<double> euler(Grid grid, const EulerOptions& options = {});

struct ViscousState {
  double rho, u, v, w, mu;
};
using ViscousFlow = std::function<ViscousState(double x, double y, double z)>;
/// The density and velocity of `waved_gas_flow`, and a viscosity of mach/reynolds that varies by half of that.
ViscousFlow waved_viscous_flow(double mach, double reynolds);

struct NavierStokesOptions {
  TimeStep step = {};
  ViscousFlow base = waved_viscous_flow(0.5, 1000);
};
/// One implicit step of the compressible Navier-Stokes equations for an isothermal gas, p = ρ (sound speed 1), linearised
/// about the steady state `base`: unknowns (ρ, u, v, w), box27. Second-order central differences, each averaged across its
/// direction with (1, 10, 1)/12; the mixed derivatives of the viscous stress couple u, v and w. Points, outside and flat
/// axes as for `euler`. Throws Error(bad_argument) unless ρ is positive and μ not negative.
StructMatrix<double> navier_stokes(Grid grid, const NavierStokesOptions& options = {});

struct PhaseState {
  double u, v;
};
using PhaseField = std::function<PhaseState(double x, double y, double z)>;
/// Cosines of the two phases, between −0.9 and 0.9, with zero normal derivative on the boundary.
PhaseField waved_phases();

struct CahnHilliardOptions {
  double dt = 0;                       // 0: ε_u²/4
  double interface_width[2] = {0, 0};  // ε_u, ε_v; 0: from −0.9 to 0.9 an interface takes 4 and 6 of the smallest cells
  double coupling[3] = {0.1, -0.25, 0};  // α, β and γ of W
  double nonlocal = 10;                  // σ
  double degeneracy = 0.5;               // θ of the mobilities M = 1 − θu², 1 − θv²; 0 ≤ θ < 1
  PhaseField base = waved_phases();
};
/// One implicit step of two coupled Cahn-Hilliard equations (a copolymer u and its blocks v), linearised about `base`
/// with the mobilities held: u_t = ∇·(M_u ∇(W_u − ε_u² Δu)), v_t = ∇·(M_v ∇(W_v − ε_v² Δv)) − σ(v − v̄),
/// W = (u² − 1)²/4 + (v² − 1)²/4 + αuv + βuv² + γu²v. Cells of width 1/N, no flux through the boundary (u is conserved to
/// rounding), diamond25, 2 unknowns a cell. Flat axes as for `euler`. Throws Error(bad_argument) for options out of range.
StructMatrix<double> cahn_hilliard(Grid grid, const CahnHilliardOptions& options = {});

/// Random values in (−1, 1); the diagonal is 1 to 2 larger than the sum of the row's other magnitudes, so scalar rows and
/// blocks are strictly dominant. A value depends on the seed and its own place only: the same bits for every thread count.
StructMatrix<double> random(Grid grid, const Stencil& stencil, int dof, std::uint64_t seed);

/// The same matrices, bit for bit, as rows that are written where they are wanted: a TileMatrix on a GPU takes them without
/// a copy on the host. The built-in coefficients and base states are evaluated there, functions of users on the host, and
/// only their values at the points travel. Errors as above.
using Rows = std::shared_ptr<const RowSource>;
Rows poisson_rows(Grid grid, const Stencil& stencil, Device device, Boundary boundary = Boundary::dirichlet);
Rows convection_diffusion_rows(Grid grid, const Stencil& stencil, const ConvDiffOptions& options, Device device);
Rows variable_poisson_rows(Grid grid, const Stencil& stencil, const VarPoissonOptions& options, Device device);
Rows euler_rows(Grid grid, const EulerOptions& options, Device device);
Rows navier_stokes_rows(Grid grid, const NavierStokesOptions& options, Device device);
Rows cahn_hilliard_rows(Grid grid, const CahnHilliardOptions& options, Device device);
Rows random_rows(Grid grid, const Stencil& stencil, int dof, std::uint64_t seed, Device device);

}  // namespace echelon::problems
