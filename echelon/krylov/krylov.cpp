// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/krylov.hpp"

#include <fmt/format.h>

#include <vector>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

struct Named {
  const char* name;
  decltype(&cg) solve;
};

constexpr Named solvers[] = {
    {"cg", cg}, {"gmres", gmres}, {"fgmres", fgmres}, {"bicgstab", bicgstab}, {"stationary", stationary}};

}  // namespace

std::span<const std::string> solver_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& one : solvers) all.emplace_back(one.name);
    return all;
  }();
  return names;
}

Report solve(const std::string& solver, const Operator<double>& A, const Vector<double>& b, Vector<double>& x,
             const Preconditioner<double>& M, const KrylovOptions& options) {
  for (const auto& one : solvers) {
    if (solver == one.name) return one.solve(A, b, x, M, options);
  }
  const auto names = solver_names();
  throw Error(ErrorCode::bad_argument, fmt::format("there is no solver '{}'; there are {} and {}", solver,
                                                   fmt::join(names.first(names.size() - 1), ", "), names.back()));
}

}  // namespace echelon
