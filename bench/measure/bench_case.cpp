// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/bench_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::bench {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCode::bad_option, sentence); }

std::int64_t positive(const std::string& name, const std::string& text) {
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 1) refuse(fmt::format("{} needs a positive number, got '{}'", name, text));
  return value;
}

/// "NXxNYxNZ"
Grid grid_from(const std::string& text) {
  const auto first = text.find('x'), second = text.find('x', first + 1);
  if (first == std::string::npos || second == std::string::npos)
    refuse(fmt::format("--grid needs NXxNYxNZ, got '{}'", text));
  return {positive("--grid", text.substr(0, first)), positive("--grid", text.substr(first + 1, second - first - 1)),
          positive("--grid", text.substr(second + 1))};
}

using Triple = double[3];

[[noreturn]] void refuse(const std::string& option, const std::string& value, const char* needed) {
  refuse(fmt::format("{} needs {}, got '{}'", option, needed, value));
}

double number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) refuse(option, text, "a number");
  return value;
}

void read_triple(const std::string& option, const std::string& text, Triple& to) {
  const auto first = text.find(','), second = text.find(',', first + 1);
  if (first == std::string::npos || second == std::string::npos) refuse(option, text, "three numbers");
  to[0] = number(option, text.substr(0, first));
  to[1] = number(option, text.substr(first + 1, second - first - 1));
  to[2] = number(option, text.substr(second + 1));
}

std::string triple(const Triple& of, const char* between) {
  return fmt::format("{}{}{}{}{}", of[0], between, of[1], between, of[2]);
}

}  // namespace

std::string ProblemWords::name() const {
  const ProblemWords usual;
  std::string text;
  if (coefficient == usual.coefficient && contrast == 1) {
    text += " constant";
  } else if (coefficient != usual.coefficient || contrast != usual.contrast) {
    text += fmt::format(" {} {:g}", coefficient, contrast);
  }
  if (!std::ranges::equal(anisotropy, usual.anisotropy)) text += fmt::format(" {}", triple(anisotropy, ":"));
  const bool turned = recirculating || !std::ranges::equal(velocity, usual.velocity);
  if (peclet != usual.peclet || turned) text += fmt::format(" pe {:g}", peclet);
  if (recirculating) {
    text += " recirculating";
  } else if (turned) {
    text += fmt::format(" along {}", triple(velocity, ","));
  }
  if (closed) text += " neumann";
  return text;
}

std::vector<std::string> ProblemWords::arguments() const {
  const ProblemWords usual;
  std::vector<std::string> list;
  const auto add = [&](bool differs, const char* option, const std::string& value) {
    if (differs) list.insert(list.end(), {option, value});
  };
  add(coefficient != usual.coefficient, "--coefficient", coefficient);
  add(contrast != usual.contrast, "--contrast", fmt::format("{}", contrast));
  add(!std::ranges::equal(anisotropy, usual.anisotropy), "--anisotropy", triple(anisotropy, ","));
  add(peclet != usual.peclet, "--peclet", fmt::format("{}", peclet));
  add(!std::ranges::equal(velocity, usual.velocity), "--velocity", triple(velocity, ","));
  add(recirculating, "--velocity", "recirculating");
  add(closed, "--boundary", "neumann");
  return list;
}

bool ProblemWords::read(const std::string& option, const std::string& value) {
  if (option == "--coefficient") {
    if (std::ranges::count(std::vector<std::string>{"smooth", "jumps", "random", "regions"}, value) == 0)
      refuse(option, value, "smooth, jumps, random or regions");
    coefficient = value;
  } else if (option == "--contrast") {
    contrast = number(option, value);
  } else if (option == "--anisotropy") {
    read_triple(option, value, anisotropy);
  } else if (option == "--peclet") {
    peclet = number(option, value);
  } else if (option == "--velocity" && value == "recirculating") {
    recirculating = true;
  } else if (option == "--velocity") {
    read_triple(option, value, velocity);
  } else if (option == "--boundary") {
    if (value != "dirichlet" && value != "neumann") refuse(option, value, "dirichlet or neumann");
    closed = value == "neumann";
  } else {
    return false;
  }
  return true;
}

problems::VarPoissonOptions ProblemWords::var_poisson(std::uint64_t seed) const {
  problems::VarPoissonOptions options;
  if (coefficient == "smooth") options.kappa = problems::smooth_coefficient(contrast);
  if (coefficient == "jumps") options.kappa = problems::jump_coefficient(contrast);
  if (coefficient == "random") options.kappa = problems::random_coefficient(contrast, seed);
  if (coefficient == "regions") options.along = problems::region_coefficient(contrast);
  std::copy_n(anisotropy, 3, options.anisotropy);
  options.boundary = boundary();
  return options;
}

problems::ConvDiffOptions ProblemWords::conv_diff() const {
  problems::ConvDiffOptions options;
  options.peclet = peclet;
  std::copy_n(velocity, 3, options.velocity);
  if (recirculating) options.flow = problems::recirculating_flow();
  return options;
}

problems::Boundary ProblemWords::boundary() const {
  return closed ? problems::Boundary::neumann : problems::Boundary::dirichlet;
}

std::string BenchCase::name() const {
  if (!file.empty()) {
    const auto last = std::filesystem::path(file).filename().string();
    return fmt::format("{} {} b={}", problem, last.substr(0, last.find(".mtx")), dof);
  }
  const auto method = solver.empty() ? "" : solver == "gmres" ? fmt::format("gmres({}) ", restart) : solver + " ";
  const auto size =
      grid.nz > 1 ? fmt::format("{}x{}x{}", grid.nx, grid.ny, grid.nz) : fmt::format("{}x{}", grid.nx, grid.ny);
  const auto level = fill > 0 ? fmt::format(" fill {}", fill) : std::string();
  const auto order = numbering.empty() ? "" : " " + numbering;
  return fmt::format("{}{} {} {} b={}{}{}{}", method, problem, stencil, size, dof, words.name(), level, order);
}

std::vector<std::string> BenchCase::arguments() const {
  std::vector<std::string> list = {"--problem", problem,
                                   "--stencil", stencil,
                                   "--grid",    fmt::format("{}x{}x{}", grid.nx, grid.ny, grid.nz),
                                   "--dof",     std::to_string(dof)};
  if (!solver.empty()) {
    for (const auto& word : {std::string("--solver"), solver, std::string("--restart"), std::to_string(restart),
                             std::string("--rtol"), fmt::format("{}", rtol)}) {
      list.push_back(word);
    }
  }
  if (fill > 0) list.insert(list.end(), {"--fill", std::to_string(fill)});
  if (!numbering.empty()) list.insert(list.end(), {"--numbering", numbering});
  std::ranges::copy(words.arguments(), std::back_inserter(list));
  if (!setting.empty()) list.insert(list.end(), {"--setting", setting});
  if (!file.empty()) list = {"--problem", problem, "--file", file, "--dof", std::to_string(dof)};
  return list;
}

BenchCase BenchCase::from_arguments(const std::string& kind, int argc, char** argv) {
  BenchCase one;
  one.kind = kind;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) refuse(fmt::format("{} needs a value", name));
    const std::string value = argv[i + 1];
    if (name == "--problem") {
      one.problem = value;
    } else if (name == "--stencil") {
      one.stencil = value;
    } else if (name == "--grid") {
      one.grid = grid_from(value);
    } else if (name == "--dof") {
      one.dof = static_cast<int>(positive(name, value));
    } else if (name == "--solver") {
      one.solver = value;
    } else if (name == "--restart") {
      one.restart = static_cast<int>(positive(name, value));
    } else if (name == "--fill") {
      one.fill = static_cast<int>(positive(name, value));
    } else if (name == "--numbering") {
      one.numbering = value;
    } else if (name == "--file") {
      one.file = value;
    } else if (name == "--rtol") {
      one.rtol = std::strtod(value.c_str(), nullptr);
    } else if (name == "--setting") {
      one.setting = value;
    } else if (!one.words.read(name, value)) {
      refuse(fmt::format("unknown option {}", name));
    }
  }
  if (one.is_solve() && one.solver != "cg" && one.solver != "gmres") {
    refuse(fmt::format("--solver is '{}', legal are cg, gmres", one.solver));
  }
  return one;
}

StructMatrix<double> BenchCase::make() const {
  const auto chosen = stencils::named(stencil);
  if (problem == "poisson") return problems::poisson(grid, chosen, words.boundary());
  if (problem == "varpoisson") return problems::variable_poisson(grid, chosen, words.var_poisson(seed));
  if (problem == "convdiff") return problems::convection_diffusion(grid, chosen, words.conv_diff());
  if (problem == "navierstokes") return problems::navier_stokes(grid);
  if (problem == "euler") return problems::euler(grid);
  if (problem == "cahnhilliard") return problems::cahn_hilliard(grid);
  if (problem == "random") return problems::random(grid, chosen, dof, seed);
  refuse(fmt::format("there is no problem '{}' to measure", problem));
}

problems::Rows BenchCase::make_rows(Device device) const {
  const auto chosen = stencils::named(stencil);
  if (problem == "poisson") return problems::poisson_rows(grid, chosen, device, words.boundary());
  if (problem == "varpoisson") return problems::variable_poisson_rows(grid, chosen, words.var_poisson(seed), device);
  if (problem == "convdiff") return problems::convection_diffusion_rows(grid, chosen, words.conv_diff(), device);
  if (problem == "navierstokes") return problems::navier_stokes_rows(grid, {}, device);
  if (problem == "euler") return problems::euler_rows(grid, {}, device);
  if (problem == "cahnhilliard") return problems::cahn_hilliard_rows(grid, {}, device);
  if (problem == "random") return problems::random_rows(grid, chosen, dof, seed, device);
  refuse(fmt::format("there is no problem '{}' to measure", problem));
}

Vector<double> BenchCase::right_hand_side() const {
  if (words.closed) return problems::balanced_sources(grid);
  Vector<double> b(rows(), 1.0);
  if (is_solve()) return b;
  for (std::int64_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i));
  return b;
}

void BenchCase::fix_constant(Vector<double>& x) const {
  if (!words.closed) return;
  double mean = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) mean += x[i] / static_cast<double>(x.size());
  for (std::int64_t i = 0; i < x.size(); ++i) x[i] -= mean;
}

std::int64_t BenchCase::matrix_bytes() const {
  return grid.points() * stencils::named(stencil).size() * dof * dof * static_cast<std::int64_t>(sizeof(double));
}

int BenchCase::repeats() const {
  if (is_solve()) return 1;
  constexpr std::int64_t sweep_bytes_a_round = 3'000'000'000, factor_bytes_a_round = 1'200'000'000;
  const std::int64_t wanted = (kind == "trsv" ? sweep_bytes_a_round : factor_bytes_a_round) / matrix_bytes();
  return static_cast<int>(std::clamp<std::int64_t>(wanted, kind == "trsv" ? 3 : 1, 5));
}

void require_room(const BenchCase& one, double matrices, const std::string& who) {
  constexpr double vectors = 40;
  const double bytes = matrices * static_cast<double>(one.matrix_bytes()) + vectors * 8 * static_cast<double>(one.rows());
  require_memory(static_cast<std::int64_t>(bytes), fmt::format("{}: {}", who, one.name()));
}

}  // namespace echelon::bench
