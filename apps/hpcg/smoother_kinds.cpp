// SPDX-License-Identifier: BSD-3-Clause
// The one list of smoothers.
#include <fmt/format.h>

#include <vector>

#include "apps/hpcg/smoother.hpp"
#include "echelon/base/error.hpp"
#include "echelon/sweep/grid/gauss_seidel.hpp"

namespace echelon::hpcg {
namespace {

/// Gauss-Seidel in natural order: the reference's sweeps, each triangle read once.
class ExactSmoother final : public Smoother {
 public:
  explicit ExactSmoother(const StructMatrix<double>& A) : sweeps_(A), half_(A.rows(), 0.0) {}
  void refresh(const StructMatrix<double>& A) override { sweeps_.refresh(A); }
  void from_zero(const V& r, V& x) override { sweeps_.from_zero(r, half_, x); }
  void from_guess(const V& r, V& x) override { sweeps_.from_guess(r, half_, x); }
  void coarse_residual(const V& r, const V& x, V& coarse) override {
    sweeps_.coarse_residual_after_zero(r, half_, x, coarse);
  }
  double multiply(const V& x, V& y) override { return sweeps_.multiply_dotted(x, y); }
  SmootherBytes traffic() const override {
    const auto bytes = sweeps_.traffic();
    return {bytes.zero, bytes.guess, bytes.coarse_residual, bytes.multiply};
  }
  std::int64_t bytes() const override { return sweeps_.bytes() + half_.bytes(); }
  std::int64_t length() const override { return half_.size(); }

 private:
  GaussSeidel<double> sweeps_;
  V half_;
};

std::vector<Optimization> coloured(const std::string& order) {
  return {{order, true},
          {"matrix values along diagonals, an index for several of them", false},
          {"a sweep reads each triangle of the matrix once: from a zero guess L forward and U backward", false}};
}

template <class Kind>
std::unique_ptr<Smoother> made(const StructMatrix<double>& A) {
  return std::make_unique<Kind>(A);
}

}  // namespace

const std::vector<SmootherKind>& smoother_kinds() {
  static const std::vector<SmootherKind> kinds = {
      {.name = "exact",
       .help = "Gauss-Seidel in natural order, threads along lines of the grid",
       .make = made<ExactSmoother>,
       .optimizations = {{"a sweep reads each triangle of the matrix once: from a zero guess L forward and U backward",
                          false},
                         {"matrix values in packs of points of a grid line, without column indices", true},
                         {"threads wait for lines of the grid", true}},
       .in_tiles = true},
      {.name = "multicolour",
       .help = "in multicolour order, 8 colours",
       .make = coloured_smoother({.choice = BlockChoice::given, .shape = {1, 1, 1}}),
       .optimizations = coloured("points in multicolour order"),
       .one_process = true},
      {.name = "bmc",
       .help = "in block multicolour order, blocks of 4x4x4 points, row by row",
       .make = coloured_smoother({.bsize = 1}),
       .optimizations = coloured("points in block multicolour order, blocks of 64"),
       .one_process = true},
      {.name = "dbsr",
       .help = "the same, vectorised in diagonal block rows",
       .make = coloured_smoother({}),
       .optimizations = coloured("points in block multicolour order, blocks of 64, the same place of 8 blocks consecutive"),
       .one_process = true},
  };
  return kinds;
}

const SmootherKind& find_smoother(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& kind : smoother_kinds()) {
    if (name == kind.name) return kind;
    names.emplace_back(kind.name);
  }
  throw Error(ErrorCode::bad_option, fmt::format("--smoother: got '{}', needs {}", name, fmt::join(names, " | ")));
}

}  // namespace echelon::hpcg
