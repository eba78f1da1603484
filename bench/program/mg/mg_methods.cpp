// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/mg/mg_methods.hpp"

namespace echelon::cli {
namespace {

/// Both triangles of A's pattern, a sweep each.
std::vector<NamedNumber> two_sweeps(const FactorReport&, const bench::WorkShape& shape) {
  return {{"cycle_bytes", bench::sweep_bytes(shape)}};
}

}  // namespace

const std::vector<MgMethod>& mg_methods() {
  // The first that fits a case is the one the others are compared with.
  static const std::vector<MgMethod> methods = {
      {.name = "ic", .pc = "ic", .options = {}, .nonsymmetric = false, .figures = two_sweeps},
      {.name = "ilu", .pc = "ilu", .options = {}, .symmetric = false, .figures = two_sweeps},
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
