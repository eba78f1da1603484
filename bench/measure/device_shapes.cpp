// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/device_shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "echelon/base/error.hpp"

namespace echelon::bench {
namespace {

constexpr int dofs[] = {1, 2, 3, 4, 5, 6, 8};

/// Sides for those DoF; 3 and 5 lie between their neighbours, at multiples of 16.
struct Sides {
  const char* stencil;
  int rtx3090[7], a100[7];
};
constexpr Sides table[] = {
    {"star7", {512, 336, 256, 208, 176, 160, 128}, {560, 416, 320, 256, 224, 192, 160}},
    {"star13", {432, 272, 208, 160, 144, 128, 96}, {544, 336, 256, 208, 176, 160, 128}},
    {"diamond13", {432, 272, 208, 160, 144, 128, 96}, {544, 336, 256, 208, 176, 160, 128}},
    {"diamond25", {336, 208, 160, 128, 112, 96, 80}, {416, 256, 192, 160, 144, 128, 104}},
    {"box27", {336, 208, 160, 128, 112, 96, 80}, {416, 256, 192, 160, 144, 128, 104}},
};

struct Growing {
  const char* stencil;
  int dof;
  std::vector<int> sides;
};
std::vector<Growing> growing() {
  return {{"star7", 1, {64, 128, 192, 256, 384, 512}},
          {"star13", 2, {64, 96, 128, 176, 224, 272}},
          {"diamond13", 2, {64, 96, 128, 176, 224, 272}}};
}

struct BrokenDown {
  const char* stencil;
  int dof, side;
};
constexpr BrokenDown broken_down[] = {{"star7", 1, 512},     {"box27", 1, 336},    {"star13", 2, 272},
                                      {"diamond13", 4, 160}, {"diamond25", 8, 80}, {"box27", 8, 80}};

/// Of sweeps on several vectors.
constexpr BrokenDown for_many[] = {{"star7", 1, 304},  {"star7", 1, 128}, {"box27", 1, 256},
                                   {"star13", 2, 208}, {"star7", 4, 160}, {"box27", 4, 104}};

struct Solve {
  const char* problem;
  const char* stencil;
  int side, dof;
  const char* solver;
  int fill;
};
constexpr Solve solves[] = {{"poisson", "star7", 304, 1, "cg", 0},     {"poisson", "star7", 304, 1, "cg", 1},
                            {"convdiff", "star7", 304, 1, "gmres", 0}, {"navierstokes", "box27", 104, 4, "gmres", 0},
                            {"euler", "star13", 112, 5, "gmres", 0},   {"cahnhilliard", "diamond25", 160, 2, "gmres", 0}};

BenchCase make(const std::string& kind, const char* stencil, std::int64_t side, int dof) {
  BenchCase one;
  one.kind = kind;
  one.problem = "random";
  one.stencil = stencil;
  one.grid = {side, side, side};
  one.dof = dof;
  return one;
}

}  // namespace

std::vector<std::string> device_columns() { return {"rtx3090", "a100", "growing", "breakdown", "many"}; }

bool has_contenders(const std::string& column) { return column == "rtx3090" || column == "growing"; }

std::vector<BenchCase> device_solves(bool small) {
  std::vector<BenchCase> list;
  for (const auto& one : solves) {
    list.push_back(make("solver", one.stencil, one.side, one.dof));
    list.back().problem = one.problem;
    list.back().solver = one.solver;
    list.back().fill = one.fill;
    if (small) list.back().grid = {11, 9, 10};
  }
  return list;
}

std::vector<BenchCase> device_convergence(bool small) {
  constexpr double rtol = 1e-5;
  std::vector<BenchCase> list;
  for (const int side : {64, 96, 128, 160, 200, 256, 304}) {
    list.push_back(make("convergence", "star7", side, 1));
    list.back().problem = "poisson";
    list.back().solver = "cg";
    list.back().rtol = rtol;
    if (small) list.back().grid = {8 + static_cast<std::int64_t>(list.size()), 9, 10};
  }
  return list;
}

std::vector<BenchCase> device_shapes(const std::string& kind, const std::string& column, bool small) {
  std::vector<BenchCase> list;
  if (column == "growing") {
    for (const auto& one : growing()) {
      for (const int side : one.sides) list.push_back(make(kind, one.stencil, side, one.dof));
    }
  } else if (column == "breakdown") {
    for (const auto& [stencil, dof, side] : broken_down) list.push_back(make(kind, stencil, side, dof));
  } else if (column == "many") {
    for (const auto& [stencil, dof, side] : for_many) list.push_back(make(kind, stencil, side, dof));
  } else if (column == "rtx3090" || column == "a100") {
    for (const auto& row : table) {
      for (std::size_t d = 0; d < std::size(dofs); ++d) {
        list.push_back(make(kind, row.stencil, column == "a100" ? row.a100[d] : row.rtx3090[d], dofs[d]));
      }
    }
  } else {
    throw Error(ErrorCode::bad_argument,
                fmt::format("there is no column '{}': known are {}", column, fmt::join(device_columns(), ", ")));
  }
  // Sides that differ and divide by nothing; the list keeps its names apart.
  std::int64_t number = 0;
  for (auto& one : list) {
    if (small) one.grid = {9 + number % 8, 7, 11};
    ++number;
  }
  return list;
}

}  // namespace echelon::bench
