// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "echelon/base/error.hpp"

namespace echelon::bench {
namespace {

struct Shape {
  const char* problem;
  const char* stencil;
  int side;
  int dof;
  const char* solver = "";
};

constexpr Shape operation_shapes[] = {
    {"poisson", "star7", 192, 1},   {"varpoisson", "star7", 192, 1}, {"random", "box27", 160, 1},
    {"random", "star13", 168, 1},   {"random", "diamond13", 168, 1}, {"random", "diamond25", 144, 1},
    {"random", "star5", 3072, 1},   {"random", "box9", 2560, 1},     {"random", "star7", 136, 2},
    {"random", "star7", 104, 3},    {"random", "star7", 88, 4},      {"random", "star7", 76, 5},
    {"random", "star7", 56, 8},     {"random", "box27", 88, 2},      {"random", "box27", 68, 3},
    {"random", "box27", 56, 4},     {"random", "box27", 48, 5},      {"random", "box27", 36, 8},
    {"random", "diamond25", 92, 2}, {"random", "star13", 64, 5},
};

constexpr Shape solver_shapes[] = {
    {"poisson", "star7", 128, 1, "cg"},
    {"poisson", "star7", 192, 1, "cg"},
    {"poisson", "box27", 128, 1, "cg"},
    {"convdiff", "star7", 128, 1, "gmres"},
    {"navierstokes", "box27", 64, 4, "gmres"},
    {"euler", "star13", 64, 5, "gmres"},
    {"cahnhilliard", "diamond25", 96, 2, "gmres"},
};

/// Poisson, as in the figure that compares preconditioners by their iterations, and its tolerance.
constexpr int convergence_sides[] = {64, 96, 128, 160, 200};
constexpr double convergence_rtol = 1e-5;

bool flat(const Stencil& stencil) {
  for (const Offset& o : stencil.offsets()) {
    if (o.z != 0) return false;
  }
  return true;
}

BenchCase make(const std::string& kind, const Shape& shape, bool small) {
  BenchCase one;
  one.kind = kind;
  one.problem = shape.problem;
  one.stencil = shape.stencil;
  one.dof = shape.dof;
  one.solver = shape.solver;
  const bool two_dimensional = flat(stencils::named(shape.stencil));
  const std::int64_t side = shape.side;
  one.grid = two_dimensional ? Grid{side, side, 1} : Grid{side, side, side};
  if (small) {
    // The large side stays in the size, so that no two cases of the list become one.
    const std::int64_t odd = side % 3;
    one.grid = two_dimensional ? Grid{24 + odd, 17, 1} : Grid{8 + odd, 7, side > 128 ? 9 : 6};
  }
  return one;
}

}  // namespace

std::vector<std::string> kinds() { return {"trsv", "factor", "solver", "convergence"}; }

std::vector<BenchCase> shapes(const std::string& kind, bool small) {
  std::vector<BenchCase> list;
  if (kind == "solver") {
    for (const auto& shape : solver_shapes) list.push_back(make(kind, shape, small));
  } else if (kind == "convergence") {
    for (const int side : convergence_sides) {
      list.push_back(make(kind, {"poisson", "star7", side, 1, "cg"}, small));
      list.back().rtol = convergence_rtol;
    }
  } else if (kind == "trsv" || kind == "factor") {
    for (const auto& shape : operation_shapes) list.push_back(make(kind, shape, small));
  } else {
    throw Error(ErrorCode::bad_argument, fmt::format("there is no kind '{}': known are {}", kind, fmt::join(kinds(), ", ")));
  }
  return list;
}

}  // namespace echelon::bench
