// SPDX-License-Identifier: BSD-3-Clause
// The kinds of benchmark that compare orders and cycles of our own, each with its run, table, picture and what --methods
// takes.
#pragma once

#include <string>
#include <vector>

#include "bench/program/bench_options.hpp"
#include "echelon/report/bench_report.hpp"

namespace echelon::cli {

struct OrderKind {
  const char* name;
  int (*run)(const BenchOptions& options, const std::vector<std::string>& arguments);
  std::string (*table)(const BenchReport& report);
  std::string (*svg)(const BenchReport& report);
  std::vector<std::string> (*methods)();
  bool processes;  // takes ranks, seconds, and a reference program
  bool large;      // takes --large
};
const std::vector<OrderKind>& order_kinds();
/// Null for other kinds.
const OrderKind* find_order_kind(const std::string& name);

}  // namespace echelon::cli
