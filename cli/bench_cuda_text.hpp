// SPDX-License-Identifier: BSD-3-Clause
// A GPU benchmark's report for people: the table, the means that goals speak of, and the chart that --plot draws.
#pragma once

#include <string>

#include "echelon/report/bar_plot.hpp"
#include "echelon/report/bench_report.hpp"
#include "echelon/report/size_plot.hpp"

namespace echelon::cli {

std::string cuda_table(const BenchReport& report);
/// Geometric means over the cases, of all and of those with blocks, a line an operation and precision.
std::string cuda_means(const BenchReport& report);
/// Percent of the copy bandwidth of FP64 operations that contenders have too.
BarPlot cuda_plot(const BenchReport& report);
/// True when the report has one shape in several sizes; then the sweeps or the factorization as curves over the side.
bool grows(const BenchReport& report);
SizePlot cuda_curves(const BenchReport& report);

}  // namespace echelon::cli
