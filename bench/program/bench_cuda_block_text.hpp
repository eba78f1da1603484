// SPDX-License-Identifier: BSD-3-Clause
// The report of `echelon bench block --backend cuda` as a table, a line a matrix, with geometric means, and as a figure.
#pragma once

#include <string>

#include "echelon/report/bench_report.hpp"
#include "echelon/report/plots/panel_plot.hpp"

namespace echelon::cli {

std::string block_table(const BenchReport& report);
/// How many times as fast as cuSPARSE, by kind of matrix and block size; real matrices as a geometric mean.
PanelPlot block_figure(const BenchReport& report);

}  // namespace echelon::cli
