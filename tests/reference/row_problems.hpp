// SPDX-License-Identifier: BSD-3-Clause
// Every built-in problem twice, as a matrix on the host and as rows, on grids around tile borders, thin ones and tiny ones.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "echelon/problem/problems.hpp"

namespace echelon::reference {

struct RowProblem {
  std::string name;
  std::function<StructMatrix<double>()> on_host;
  std::function<problems::Rows(Device)> rows;
};

inline std::string grid_text(const Grid& g) {
  return std::to_string(g.nx) + "x" + std::to_string(g.ny) + "x" + std::to_string(g.nz);
}

inline void add_scalar_problems(const Grid& grid, const Stencil& stencil, std::vector<RowProblem>& list) {
  const std::string place = " " + stencil.name() + " " + grid_text(grid);
  list.push_back({"poisson" + place, [=] { return problems::poisson(grid, stencil); },
                  [=](Device d) { return problems::poisson_rows(grid, stencil, d); }});
  constexpr auto closed = problems::Boundary::neumann;
  if (grid.points() > 1) {
    list.push_back({"poisson without flux" + place, [=] { return problems::poisson(grid, stencil, closed); },
                    [=](Device d) { return problems::poisson_rows(grid, stencil, d, closed); }});
  }
  if (stencil.size() <= 7) {
    problems::ConvDiffOptions vortex, own;
    vortex.flow = problems::recirculating_flow();
    own.flow = [](double x, double y, double z) { return problems::PerAxis{y, -x, z - 0.5}; };
    for (const auto& options : {vortex, own}) {
      list.push_back({"convdiff with a flow" + place, [=] { return problems::convection_diffusion(grid, stencil, options); },
                      [=](Device d) { return problems::convection_diffusion_rows(grid, stencil, options, d); }});
    }
    list.push_back({"convdiff" + place, [=] { return problems::convection_diffusion(grid, stencil); },
                    [=](Device d) { return problems::convection_diffusion_rows(grid, stencil, {}, d); }});
  }
  const bool box = stencil.name() == "box9" || stencil.name() == "box27";
  if (stencil.size() > 7 && !box) return;
  problems::VarPoissonOptions smooth, jumps, drawn, own;
  smooth.anisotropy[2] = 0.3;
  jumps.kappa = problems::jump_coefficient(1e4);
  own.kappa = [](double x, double y, double z) { return 1 + x + y * z; };
  drawn.kappa = problems::random_coefficient(1e3, 7);
  std::vector<problems::VarPoissonOptions> variants = {smooth, jumps, drawn, own};
  if (!box) {
    variants.emplace_back().along = problems::region_coefficient(1e3);
    variants.emplace_back().along = [](double x, double y, double z) { return problems::PerAxis{1 + x, 2 + y, 3 - z}; };
    variants.back().anisotropy[1] = 0.2;
  }
  const bool closable = box ? grid.nx > 1 && grid.ny > 1 && (grid.nz > 1 || stencil.size() == 9) : grid.points() > 1;
  for (std::size_t n = variants.size(); closable && n > 0; --n) {
    variants.push_back(variants[n - 1]);
    variants.back().boundary = closed;
  }
  for (const auto& options : variants) {
    list.push_back({"varpoisson" + place, [=] { return problems::variable_poisson(grid, stencil, options); },
                    [=](Device d) { return problems::variable_poisson_rows(grid, stencil, options, d); }});
  }
}

inline void add_systems(const Grid& grid, std::vector<RowProblem>& list) {
  const std::string place = " " + grid_text(grid);
  problems::EulerOptions own_gas;
  own_gas.base = [](double x, double y, double) { return problems::GasState{1, x, -y, 0.3, 2}; };
  own_gas.step.dt = 0.01;
  for (const auto& options : {problems::EulerOptions{}, own_gas}) {
    list.push_back({"euler" + place, [=] { return problems::euler(grid, options); },
                    [=](Device d) { return problems::euler_rows(grid, options, d); }});
  }
  problems::NavierStokesOptions own_viscous;
  own_viscous.base = [](double x, double, double z) { return problems::ViscousState{1 + x, x, z, 0.1, 0.01 * (1 + z)}; };
  for (const auto& options : {problems::NavierStokesOptions{}, own_viscous}) {
    list.push_back({"navierstokes" + place, [=] { return problems::navier_stokes(grid, options); },
                    [=](Device d) { return problems::navier_stokes_rows(grid, options, d); }});
  }
  problems::CahnHilliardOptions own_phases;
  own_phases.base = [](double x, double y, double) { return problems::PhaseState{0.5 * x, -0.4 * y}; };
  own_phases.coupling[2] = 0.7;
  for (const auto& options : {problems::CahnHilliardOptions{}, own_phases}) {
    list.push_back({"cahnhilliard" + place, [=] { return problems::cahn_hilliard(grid, options); },
                    [=](Device d) { return problems::cahn_hilliard_rows(grid, options, d); }});
  }
}

/// `grids` are three-dimensional or thinner.
inline std::vector<RowProblem> row_problems(const std::vector<Grid>& grids) {
  std::vector<RowProblem> list;
  for (const Grid& grid : grids) {
    for (const char* name : {"star7", "box27", "star13", "diamond13", "diamond25"}) {
      add_scalar_problems(grid, stencils::named(name), list);
    }
    if (grid.nz == 1) {
      for (const char* name : {"star5", "box9", "star9"}) add_scalar_problems(grid, stencils::named(name), list);
    }
    add_systems(grid, list);
    for (const int dof : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
      const Stencil stencil = dof % 2 == 0 ? stencils::star7() : stencils::diamond13();
      list.push_back({"random b=" + std::to_string(dof) + " " + stencil.name() + " " + grid_text(grid),
                      [=] { return problems::random(grid, stencil, dof, 5); },
                      [=](Device d) { return problems::random_rows(grid, stencil, dof, 5, d); }});
    }
  }
  return list;
}

}  // namespace echelon::reference
