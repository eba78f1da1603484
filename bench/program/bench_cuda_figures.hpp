// SPDX-License-Identifier: BSD-3-Clause
// What --plot draws of a GPU benchmark, all in percent of the copy bandwidth but for solves: the shapes of a table beside
// the faster contender (the paper's figure 7), a breakdown of the method into its stages (figure 8), growing sides (figure
// 9), whole solves (figure 10). Which of them is seen from the rows.
#pragma once

#include <string>

#include "echelon/report/bench_report.hpp"
#include "echelon/report/plots/panel_plot.hpp"
#include "echelon/report/plots/size_plot.hpp"

namespace echelon::cli {

/// A row for each operation, a panel for each stencil, DoF across; the speedup is marked.
PanelPlot comparison_figure(const BenchReport& report);

/// A row for each operation, shapes across, a bar for each stage; marked: times the stage before. A row's operation says the
/// stage in brackets.
bool is_breakdown(const BenchReport& report);
PanelPlot breakdown_figure(const BenchReport& report);

/// One shape in several sizes; the lower sweep or the factorization over the side.
bool is_growing(const BenchReport& report);
SizePlot growing_figure(const BenchReport& report);

/// Solves: a panel a case, in it ours and each contender, stacked from the parts of the time in percent of all of ours;
/// marked are our milliseconds and the speedups (the paper's figure 10).
PanelPlot solver_figure(const BenchReport& report);

/// The one that fits, as SVG.
std::string cuda_figure(const BenchReport& report);

}  // namespace echelon::cli
