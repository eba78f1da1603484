// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/mg/mg_cases.hpp"

#include <utility>

namespace echelon::cli {
namespace {

using bench::BenchCase;
using bench::ProblemWords;

class CaseList {
 public:
  explicit CaseList(bool small) : scale_(small ? 8 : 1) {}

  BenchCase& add(const char* problem, std::int64_t side, const char* stencil = "star7") {
    BenchCase one;
    one.kind = "mg";
    one.problem = problem;
    one.stencil = stencil;
    side /= scale_;
    one.grid = {side, side, side};
    one.solver = one.symmetric() ? "cg" : "gmres";
    cases_.push_back(std::move(one));
    return cases_.back();
  }
  void add_coefficient(const char* coefficient, double contrast, std::int64_t side) {
    ProblemWords& words = add("varpoisson", side).words;
    words.coefficient = coefficient;
    words.contrast = contrast;
  }
  void add_anisotropy(double along_z) {
    ProblemWords& words = add("varpoisson", 128).words;
    words.contrast = 1;
    words.anisotropy[2] = along_z;
  }
  void add_convection(double peclet, double x, double y, double z) {
    ProblemWords& words = add("convdiff", 128).words;
    words.peclet = peclet;
    words.velocity[0] = x, words.velocity[1] = y, words.velocity[2] = z;
  }
  std::vector<BenchCase> list() && { return std::move(cases_); }

 private:
  std::int64_t scale_;
  std::vector<BenchCase> cases_;
};

}  // namespace

std::vector<BenchCase> mg_cases(bool small) {
  CaseList cases(small);
  for (const int side : {128, 192}) cases.add("poisson", side);
  for (const char* coefficient : {"jumps", "smooth"}) {
    for (const double contrast : {1e3, 1e6}) cases.add_coefficient(coefficient, contrast, 128);
  }
  cases.add_coefficient("random", 1e3, 128);
  for (const double along_z : {100.0, 1000.0, 0.01, 0.001}) cases.add_anisotropy(along_z);
  for (const double contrast : {30.0, 1000.0}) cases.add_coefficient("regions", contrast, 96);
  for (const double peclet : {10.0, 1e3, 1e4}) {
    cases.add_convection(peclet, 1, 0.5, 0.25);     // along the numbering
    cases.add_convection(peclet, -1, -0.5, -0.25);  // against it
    cases.add_convection(peclet, 1, -1, 0.5);       // across
    cases.add_convection(peclet, 0, 0, 1);          // with an axis
  }
  for (const double peclet : {10.0, 1e3, 1e4}) {
    ProblemWords& words = cases.add("convdiff", 96).words;
    words.peclet = peclet;
    words.recirculating = true;
  }
  cases.add("poisson", 128).words.closed = true;
  cases.add("poisson", 128, "box27");
  BenchCase& plane = cases.add("poisson", small ? 512 : 4096, "star5");  // 64 of the small ones
  plane.grid.nz = 1;
  return std::move(cases).list();
}

}  // namespace echelon::cli
