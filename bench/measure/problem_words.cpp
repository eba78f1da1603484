// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/problem_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "echelon/base/error.hpp"

namespace echelon::bench {
namespace {

using Triple = double[3];

[[noreturn]] void refuse(const std::string& option, const std::string& value, const char* needed) {
  throw Error(ErrorCode::bad_option, fmt::format("{} needs {}, got '{}'", option, needed, value));
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

}  // namespace echelon::bench
