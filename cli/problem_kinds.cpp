// SPDX-License-Identifier: BSD-3-Clause
#include "cli/problem_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "cli/grid_text.hpp"
#include "cli/line/option_checks.hpp"
#include "echelon/base/error.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::cli {
namespace {

using Matrix = StructMatrix<double>;
using problems::Rows;

problems::Boundary boundary(const SolveOptions& o) {
  return o.boundary == "neumann" ? problems::Boundary::neumann : problems::Boundary::dirichlet;
}

problems::VarPoissonOptions varpoisson_options(const SolveOptions& o) {
  problems::VarPoissonOptions options;
  if (o.coefficient == "regions") {
    options.along = problems::region_coefficient(o.contrast);
  } else if (o.coefficient == "random") {
    options.kappa = problems::random_coefficient(o.contrast, o.seed);
  } else {
    options.kappa =
        o.coefficient == "jumps" ? problems::jump_coefficient(o.contrast) : problems::smooth_coefficient(o.contrast);
  }
  const auto factors = parse_anisotropy(o.anisotropy);
  std::copy(factors.begin(), factors.end(), options.anisotropy);
  options.boundary = boundary(o);
  return options;
}
problems::ConvDiffOptions convdiff_options(const SolveOptions& o) {
  problems::ConvDiffOptions options;
  options.peclet = o.peclet;
  if (o.velocity == "recirculating") {
    options.flow = problems::recirculating_flow();
  } else {
    const auto velocity = parse_velocity(o.velocity);
    std::copy(velocity.begin(), velocity.end(), options.velocity);
  }
  return options;
}
problems::NavierStokesOptions navierstokes_options(const SolveOptions& o) {
  return {.step = {.dt = o.dt, .cfl = o.cfl}, .base = problems::waved_viscous_flow(o.mach, o.reynolds)};
}
problems::EulerOptions euler_options(const SolveOptions& o) {
  return {.step = {.dt = o.dt, .cfl = o.cfl}, .base = problems::waved_gas_flow(o.mach)};
}
problems::CahnHilliardOptions cahnhilliard_options(const SolveOptions& o) {
  problems::CahnHilliardOptions options;
  options.dt = o.dt;
  return options;
}

Matrix poisson(const SolveOptions& o, const Grid& grid, const Stencil& stencil) {
  return problems::poisson(grid, stencil, boundary(o));
}
Matrix varpoisson(const SolveOptions& o, const Grid& grid, const Stencil& stencil) {
  return problems::variable_poisson(grid, stencil, varpoisson_options(o));
}
Matrix convdiff(const SolveOptions& o, const Grid& grid, const Stencil& stencil) {
  return problems::convection_diffusion(grid, stencil, convdiff_options(o));
}
Matrix navierstokes(const SolveOptions& o, const Grid& grid, const Stencil&) {
  return problems::navier_stokes(grid, navierstokes_options(o));
}
Matrix euler(const SolveOptions& o, const Grid& grid, const Stencil&) { return problems::euler(grid, euler_options(o)); }
Matrix cahnhilliard(const SolveOptions& o, const Grid& grid, const Stencil&) {
  return problems::cahn_hilliard(grid, cahnhilliard_options(o));
}
Matrix random(const SolveOptions& o, const Grid& grid, const Stencil& stencil) {
  return problems::random(grid, stencil, o.dof, o.seed);
}

Rows poisson_rows(const SolveOptions& o, const Grid& grid, const Stencil& stencil, Device device) {
  return problems::poisson_rows(grid, stencil, device, boundary(o));
}
Rows varpoisson_rows(const SolveOptions& o, const Grid& grid, const Stencil& stencil, Device device) {
  return problems::variable_poisson_rows(grid, stencil, varpoisson_options(o), device);
}
Rows convdiff_rows(const SolveOptions& o, const Grid& grid, const Stencil& stencil, Device device) {
  return problems::convection_diffusion_rows(grid, stencil, convdiff_options(o), device);
}
Rows navierstokes_rows(const SolveOptions& o, const Grid& grid, const Stencil&, Device device) {
  return problems::navier_stokes_rows(grid, navierstokes_options(o), device);
}
Rows euler_rows(const SolveOptions& o, const Grid& grid, const Stencil&, Device device) {
  return problems::euler_rows(grid, euler_options(o), device);
}
Rows cahnhilliard_rows(const SolveOptions& o, const Grid& grid, const Stencil&, Device device) {
  return problems::cahn_hilliard_rows(grid, cahnhilliard_options(o), device);
}
Rows random_rows(const SolveOptions& o, const Grid& grid, const Stencil& stencil, Device device) {
  return problems::random_rows(grid, stencil, o.dof, o.seed, device);
}

}  // namespace

const std::vector<ProblemKind>& problem_kinds() {
  static const std::vector<ProblemKind> kinds = {
      {"poisson", "", 1, true, false, {"--boundary"}, poisson, poisson_rows},
      {"varpoisson",
       "",
       1,
       true,
       false,
       {"--coefficient", "--contrast", "--seed", "--anisotropy", "--boundary"},
       varpoisson,
       varpoisson_rows},
      {"convdiff", "", 1, false, false, {"--peclet", "--velocity"}, convdiff, convdiff_rows},
      {"navierstokes", "box27", 4, false, false, {"--dt", "--cfl", "--mach", "--reynolds"}, navierstokes, navierstokes_rows},
      {"euler", "star13", 5, false, false, {"--dt", "--cfl", "--mach"}, euler, euler_rows},
      {"cahnhilliard", "diamond25", 2, false, false, {"--dt"}, cahnhilliard, cahnhilliard_rows},
      {"projection", "box27", 1, true, true, {"--density-ratio", "--radius"}, nullptr, nullptr},
      {"random", "", 0, false, false, {"--seed"}, random, random_rows},
  };
  return kinds;
}

std::vector<std::string> problem_names() {
  std::vector<std::string> names;
  for (const auto& kind : problem_kinds()) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> problem_options() {
  std::vector<std::string> names;
  for (const auto& kind : problem_kinds()) {
    for (const auto& option : kind.options) {
      if (std::find(names.begin(), names.end(), option) == names.end()) names.push_back(option);
    }
  }
  return names;
}

const ProblemKind& problem_kind(const std::string& name) {
  for (const auto& kind : problem_kinds()) {
    if (kind.name == name) return kind;
  }
  throw Error(ErrorCode::bad_option,
              fmt::format("there is no problem '{}'; there are {}", name, fmt::join(problem_names(), ", ")));
}

int unknowns_a_point(const SolveOptions& options) {
  const int fixed = problem_kind(options.problem).dof;
  return fixed > 0 ? fixed : options.dof;
}

Stencil stencil_of(const SolveOptions& options) {
  const std::string fixed = problem_kind(options.problem).stencil;
  if (options.problem == "projection" && grid_extents(options.grid) == 2) return stencils::box9();
  if (!fixed.empty()) return stencils::named(fixed);
  if (!options.stencil.empty()) return stencils::named(options.stencil);
  return grid_extents(options.grid) == 2 ? stencils::star5() : stencils::star7();
}

bool is_singular(const SolveOptions& options) {
  return options.boundary == "neumann" || problem_kind(options.problem).singular;
}

bool has_constant_null_space(const SolveOptions& options) {
  if (options.null_space != "auto") return options.null_space == "constant";
  return options.matrix.empty() && is_singular(options);
}

void check_problem(const SolveOptions& o, const std::function<bool(const std::string& option)>& given) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCode::bad_option, sentence); };
  const ProblemKind& kind = problem_kind(o.problem);
  if (kind.dof > 0 && given("--dof") && o.dof != kind.dof) {
    refuse(fmt::format("--dof {} is for --problem random; {} has {} a point", o.dof, kind.name,
                       kind.dof == 1 ? "one unknown" : fmt::format("{} unknowns", kind.dof)));
  }
  const std::string stencil = kind.stencil;
  if (!stencil.empty() && given("--stencil") && o.stencil != stencil_of(o).name())
    refuse(fmt::format("--stencil {} does not fit {}: its differences are those of {}", o.stencil, kind.name,
                       stencil_of(o).name()));
  for (const auto& option : problem_options()) {
    const auto takes = [&](const ProblemKind& any) {
      return std::find(any.options.begin(), any.options.end(), option) != any.options.end();
    };
    if (!given(option) || takes(kind)) continue;
    std::vector<std::string> owners;
    for (const auto& any : problem_kinds()) {
      if (takes(any)) owners.emplace_back(any.name);
    }
    refuse(fmt::format("{} is for --problem {}", option, fmt::join(owners, " or ")));
  }
  if (kind.dof > 0 && given("--seed") && o.coefficient != "random")
    refuse(fmt::format("--seed is for --coefficient random; got {}", o.coefficient));
  if (given("--dt") && given("--cfl")) refuse("--dt and --cfl both give the time step: give one of them");
}

namespace {

/// Numbers with commas between them; empty when there is anything else.
std::vector<double> parse_numbers(const std::string& text, double smallest) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  std::vector<double> numbers;
  for (const auto& part : parts) {
    if (!check_number(part, smallest, std::numeric_limits<double>::infinity()).empty()) return {};
    numbers.push_back(std::strtod(part.c_str(), nullptr));
  }
  return numbers;
}

}  // namespace

std::vector<double> parse_anisotropy(const std::string& text) {
  std::vector<double> factors = parse_numbers(text, std::numeric_limits<double>::min());
  if (factors.size() != 1 && factors.size() != 3) {
    throw Error(ErrorCode::bad_option,
                fmt::format("--anisotropy: got '{}', needs EZ or EX,EY,EZ, all positive numbers", text));
  }
  if (factors.size() == 1) factors.insert(factors.begin(), {1, 1});
  return factors;
}

std::vector<double> parse_velocity(const std::string& text) {
  std::vector<double> velocity = parse_numbers(text, -std::numeric_limits<double>::infinity());
  if (velocity.size() != 3 || std::ranges::all_of(velocity, [](double v) { return v == 0; })) {
    throw Error(ErrorCode::bad_option,
                fmt::format("--velocity: got '{}', needs X,Y,Z, finite numbers that are not all 0, or "
                            "recirculating",
                            text));
  }
  return velocity;
}

}  // namespace echelon::cli
