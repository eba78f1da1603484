// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/mg/mg_methods.hpp"

namespace echelon::cli {
namespace {

/// Both triangles of A's pattern, a sweep each.
std::vector<NamedNumber> two_sweeps(const FactorReport&, const bench::WorkShape& shape) {
  return {{"cycle_bytes", bench::sweep_bytes(shape)}};
}

/// Levels, and the entries of all of them over those of A.
std::vector<NamedNumber> hierarchy(const FactorReport& report, const bench::WorkShape&) {
  if (!report.multilevel) return {};
  return {{"levels", static_cast<double>(report.multilevel->levels.size())},
          {"operator_complexity", report.multilevel->operator_complexity}};
}

MgMethod smoothed(const char* name, MgSmoother smoother, bool usual = true) {
  MgMethod method{.name = name, .pc = "mg", .options = {}, .figures = hierarchy, .usual = usual};
  method.options.mg.smoother = smoother;
  return method;
}

}  // namespace

const std::vector<MgMethod>& mg_methods() {
  // The first that fits a case is the one the others are compared with.
  static const std::vector<MgMethod> methods = {
      smoothed("mg", MgSmoother::automatic),
      smoothed("mg gs", MgSmoother::gs),
      smoothed("mg ilu", MgSmoother::ilu),
      smoothed("mg dbsr", MgSmoother::dbsr, false),
      smoothed("mg chebyshev", MgSmoother::chebyshev, false),
      smoothed("mg lines", MgSmoother::lines, false),
      {.name = "ic", .pc = "ic", .options = {}, .nonsymmetric = false, .figures = two_sweeps, .usual = false},
      {.name = "ilu", .pc = "ilu", .options = {}, .symmetric = false, .figures = two_sweeps, .usual = false},
      {.name = "sgs", .pc = "sgs", .options = {}, .figures = two_sweeps, .usual = false},
  };
  return methods;
}

std::vector<std::string> mg_method_names() {
  std::vector<std::string> names;
  for (const auto& method : mg_methods()) names.push_back(method.name);
  return names;
}

}  // namespace echelon::cli
