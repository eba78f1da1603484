// SPDX-License-Identifier: BSD-3-Clause
// A benchmark's report for people: the table, and the chart that --plot draws.
#pragma once

#include <string>

#include "echelon/report/bench_report.hpp"
#include "echelon/report/plots/bar_plot.hpp"

namespace echelon::cli {

std::string bench_table(const BenchReport& report);
/// What is missing or was not compared, a line each, and the contenders that are not there; empty when all is.
std::string bench_remarks(const BenchReport& report);
/// On the host: percent of triad of ours and the contenders, for solves seconds.
BarPlot bench_plot(const BenchReport& report);
/// What --plot writes: those bars, or a GPU's figure.
std::string bench_svg(const BenchReport& report);

}  // namespace echelon::cli
