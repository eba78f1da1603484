// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/dbsr/order_kinds.hpp"

#include <algorithm>

#include "bench/program/dbsr/bench_dbsr.hpp"
#include "bench/program/dbsr/dbsr_cases.hpp"
#include "bench/program/hpcg/bench_hpcg.hpp"
#include "bench/program/mg/bench_mg.hpp"
#include "bench/program/mg/mg_methods.hpp"

namespace echelon::cli {

const std::vector<OrderKind>& order_kinds() {
  static const std::vector<OrderKind> kinds = {
      {"hpcg", run_bench_hpcg, hpcg_table, hpcg_svg, hpcg_smoother_names, true, true},
      {"dbsr", run_bench_dbsr, dbsr_table, dbsr_svg, dbsr_method_names, false, true},
      {"mg", run_bench_mg, mg_table, mg_svg, mg_method_names, false, false}};
  return kinds;
}

const OrderKind* find_order_kind(const std::string& name) {
  const auto at = std::ranges::find_if(order_kinds(), [&](const OrderKind& kind) { return kind.name == name; });
  return at == order_kinds().end() ? nullptr : &*at;
}

}  // namespace echelon::cli
