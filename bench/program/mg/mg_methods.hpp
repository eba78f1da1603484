// SPDX-License-Identifier: BSD-3-Clause
// What of ours `bench mg` measures: a preconditioner of the registry with its options, one line each.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/bench_case.hpp"
#include "bench/measure/work_model.hpp"
#include "echelon/precond/precond_options.hpp"
#include "echelon/report/bench_report.hpp"
#include "echelon/report/factor_report.hpp"

namespace echelon::cli {

struct MgMethod {
  std::string name;  // of tables and of --methods
  const char* pc;    // of the registry
  PrecondOptions options;
  bool symmetric = true, nonsymmetric = true;  // whether it is for the cases of CG, and of GMRES
  /// What is known of one application: "cycle_bytes" that must move, "levels", "operator_complexity". Null: nothing.
  std::vector<NamedNumber> (*figures)(const FactorReport& report, const bench::WorkShape& shape) = nullptr;
  bool usual = true;  // also without being asked for

  bool fits(const bench::BenchCase& one) const { return one.symmetric() ? symmetric : nonsymmetric; }
};

const std::vector<MgMethod>& mg_methods();
std::vector<std::string> mg_method_names();

}  // namespace echelon::cli
