// SPDX-License-Identifier: BSD-3-Clause
// Our side of a benchmark case, through the public interface: ilu(A), apply, cg, gmres.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/measure/bench_case.hpp"
#include "bench/measure/contender_line.hpp"
#include "echelon/base/stored.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/report/bench_report.hpp"

namespace echelon::cli {

/// One way to run a case: which factorization, and how the factors and the basis are stored.
struct OurVariant {
  Stored precision = Stored::fp64;
  BasisPrecision basis = BasisPrecision::fp64;
  bool positive = false;  // IC, or ILU
  int fill = 0;
  std::string pc = {};  // by name, of a comparison of methods; empty: as above

  /// "ilu0", "ic1", "parilu"
  std::string method() const;
};

struct OurSample {
  double seconds = 0, setup_seconds = 0, solve_seconds = 0, analysis_seconds = 0;
  double factor_seconds = 0;  // of the set-up
  std::string kernel, schedule, hash;
  std::int64_t iterations = 0;
  double relative_residual = 0;
  bench::Fingerprint answer;
};

/// What every row says of its case.
BenchRow row_of_case(const bench::BenchCase& one);

class OurCase {
 public:
  /// Assembles; throws Error(will_not_fit) before it would take more memory than there is.
  explicit OurCase(const bench::BenchCase& one);

  std::vector<OurVariant> variants() const;
  /// With threads() threads. Throws Error(structure) when the factorization or the solve failed.
  OurSample run(const OurVariant& variant) const;
  /// Everything of a row that is known before measuring.
  BenchRow row(const OurVariant& variant) const;
  /// ILU(0) applied to the right-hand side slab by slab: what block Jacobi over `ranks` processes must give.
  bench::Fingerprint block_jacobi_answer(int ranks) const;

 private:
  OurSample apply(const OurVariant& variant) const;
  OurSample factor(const OurVariant& variant) const;
  OurSample solve(const OurVariant& variant) const;

  bench::BenchCase one_;
  StructMatrix<double> A_;
  Vector<double> b_;
  std::int64_t nonzeros_;
};

}  // namespace echelon::cli
