// SPDX-License-Identifier: BSD-3-Clause
// What --plot draws of `bench convergence` (the paper's figure 11): preconditioners beside each other, their iterations and
// below them the seconds of factorization and of iteration; a panel a grid, a bar a number of threads.
#pragma once

#include "echelon/report/bench_report.hpp"
#include "echelon/report/plots/panel_plot.hpp"

namespace echelon::cli {

PanelPlot methods_figure(const BenchReport& report);

}  // namespace echelon::cli
