// SPDX-License-Identifier: BSD-3-Clause
#include "cli/solve_text.hpp"

#include <fmt/format.h>

#include "cli/next_step.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/base/utf8.hpp"

namespace echelon::cli {
namespace {

constexpr const char* line_format = "{:<15} {}\n";

const char* in_words(Reason reason) {
  switch (reason) {
    case Reason::rtol: return "the relative tolerance was reached";
    case Reason::atol: return "the absolute tolerance was reached";
    case Reason::nrbe: return "the backward error asked for was reached";
    case Reason::max_it: return "out of iterations";
    case Reason::breakdown: return "the method broke down";
    case Reason::indefinite_matrix: return "CG met a direction of negative energy";
    case Reason::indefinite_pc: return "CG met a preconditioner that is not positive";
    case Reason::stagnated: return "the residual no longer falls";
    case Reason::nan: return "a number was no longer finite";
    case Reason::pc_failed: return "the preconditioner could not be set up";
    case Reason::diverged: return "the residual grew";
    case Reason::interrupted: return "interrupted";
    case Reason::time_limit: return "the time limit was reached";
    case Reason::inconsistent: return "b is not in the range of A";
  }
  return "";
}

std::string preconditioner_text(const FactorReport& pc) {
  if (pc.kind == PrecondKind::identity) return "none";
  if (!pc.ok && pc.bytes == 0) return pc.name + ", not set up";
  std::string text = pc.name;
  if (has_factors(pc.kind)) {
    text += pc.kind == PrecondKind::thresholds
                ? fmt::format("{}({}, {:g})", pc.column_pivoting > 0 ? "p" : "", pc.lfil, pc.drop)
            : pc.omega > 0      ? fmt::format("(omega {:g})", pc.omega)
            : pc.fill_limit > 0 ? fmt::format("(fill {:g})", pc.fill_limit)
                                : fmt::format("({})", pc.fill);
    text += fmt::format(", {} order, fill ratio {:.2f}", pc.ordering, pc.fill_ratio);
    if (pc.fill_limit > 0) text += fmt::format(", threshold {:.2e}", pc.threshold);
    if (pc.colours > 0) text += fmt::format(", {} colours", pc.colours);
    if (pc.factor_sweeps > 0) {
      text += fmt::format(", {} sweeps: |LU-A|/|A| {:.1e} on the pattern", pc.factor_sweeps, pc.pattern_residual);
    }
    if (pc.precision != "fp64") text += fmt::format(", stored in {}", pc.precision);
  }
  if (pc.multilevel) {
    const MultilevelNote& note = *pc.multilevel;
    text += fmt::format(", {} cycle, {} level{} ({} to {} unknowns), operator complexity {:.2f}", note.cycle,
                        note.levels.size(), note.levels.size() == 1 ? "" : "s", note.levels.front().rows,
                        note.levels.back().rows, note.operator_complexity);
    if (note.levels.size() > 1) text += fmt::format(", {} on the finest", note.levels.front().smoother);
    if (pc.precision != "fp64") text += fmt::format(", stored in {}", pc.precision);
  }
  text += fmt::format(", {}", human_bytes(pc.bytes));
  if (pc.missing_diagonals > 0) text += fmt::format(", {} missing diagonals inserted", pc.missing_diagonals);
  if (pc.perturbed_pivots > 0) text += fmt::format(", {} pivots replaced", pc.perturbed_pivots);
  if (pc.shift != 0) text += fmt::format(", shift {:.3g} after {} attempts", pc.shift, pc.shift_attempts);
  if (pc.missing_diagonals == 0 && pc.perturbed_pivots == 0 && pc.shift == 0) text += ", no repairs";
  return text;
}

std::string trisolve_text(const TrisolveNote& note) {
  if (note.used == "exact")
    return fmt::format("exact ({} was asked for{})", note.asked, note.why.empty() ? "" : ": " + note.why);
  std::string text = fmt::format("{}, {} and {} sweeps", note.used, note.lower.sweeps, note.upper.sweeps);
  if (!note.form.empty()) text += ", " + note.form;
  if (note.damping != 1) text += fmt::format(", damping {}", note.damping);
  if (note.rows_a_block > 1) text += fmt::format(", blocks of {} rows", note.rows_a_block);
  if (note.scaling != "none") text += fmt::format(", scaled: {}", note.scaling);
  return text + fmt::format("; at most {:.1e} and {:.1e} of an error left{}", note.lower.left_over, note.upper.left_over,
                            note.lower.probed || note.upper.probed ? " (probed)" : "");
}

/// "zero pivot in rows 3, 17, …"
std::string pivot_text(const FactorReport& pc) {
  std::string rows;
  for (const auto& pivot : pc.bad_pivots)
    rows += fmt::format("{}{} ({})", rows.empty() ? "" : ", ", Ordinal{pivot.row}, word(pivot.kind));
  return fmt::format("bad pivots met in row{} {}", pc.bad_pivots.size() == 1 ? "" : "s", rows);
}

}  // namespace

std::string problem_text(const ProblemInfo& problem) {
  std::string text = printable(problem.name);
  if (problem.grid) {
    const auto& grid = *problem.grid;
    text +=
        fmt::format(" {}x{}", grid[0], grid[1]) + (grid[2] > 1 ? fmt::format("x{}", grid[2]) : "") + ", " + problem.stencil;
  }
  if (problem.block > 1) text += fmt::format(", {0}x{0} blocks", problem.block);
  return text + fmt::format(": {} unknowns, {} nonzeros", problem.n, problem.nnz);
}

std::string problem_line(const ProblemInfo& problem) { return fmt::format(line_format, "problem", problem_text(problem)); }

std::string outcome_sentence(const RunReport& run) {
  const auto& result = run.result;
  if (result.converged) return fmt::format("converged in {} iterations: {}", result.iterations, in_words(result.reason));
  const std::string detail = result.message.empty() ? in_words(result.reason) : result.message;
  return fmt::format("NOT converged after {} iterations ({}): {}", result.iterations, word(result.reason), detail);
}

std::string result_text(const RunReport& run, bool verbose) {
  const auto& result = run.result;
  const auto& pc = result.preconditioner;
  std::string text;
  const auto add = [&](const char* key, const std::string& value) {
    text += fmt::format(line_format, key, printable(value));
  };
  add("choice", fmt::format("{}: {}", run.choice, run.why));
  add("preconditioner", preconditioner_text(pc));
  if (!pc.bad_pivots.empty()) add("", pivot_text(pc));
  if (verbose) {
    if (!pc.kernel.empty()) {
      const auto levels = pc.levels > 0 ? fmt::format(" ({} levels)", pc.levels) : "";
      add("", fmt::format("kernel {}, schedule {}{}, growth {:.1e}", pc.kernel, pc.schedule, levels, pc.growth));
    }
    add("form", result.cg_form.empty() ? fmt::format("{} product", result.product) : fmt::format("{} CG", result.cg_form));
    add("machine", fmt::format("{}, {}, {} threads", run.backend.name, run.backend.simd, run.backend.threads));
  }
  if (pc.trisolve) add("triangles", trisolve_text(*pc.trisolve));
  for (const auto& remark : pc.remarks) add("note", remark);
  for (const auto& remark : result.remarks) add("note", remark);
  add("result", outcome_sentence(run));
  if (!result.converged) add("next", next_step(run));
  add("residual", fmt::format("{:.3e} relative, recomputed from A, b and x; backward error {:.1e}", result.relative_residual,
                              result.nrbe));
  if (verbose) add("solution hash", run.solution_hash);
  std::string seconds;
  if (run.seconds.read > 0) seconds += fmt::format("read {:.3f}, ", run.seconds.read);
  seconds += fmt::format("assemble {:.3f}, ", run.seconds.assemble);
  if (run.seconds.convert > 0) seconds += fmt::format("convert {:.3f}, ", run.seconds.convert);
  seconds += fmt::format("set up {:.3f}", run.seconds.setup);
  if (run.backend.kind == "cuda") seconds += fmt::format(" (factorization {:.3f})", pc.numeric_seconds);
  seconds += fmt::format(", solve {:.3f}, total {:.3f}", run.seconds.solve, run.seconds.total);
  add("seconds", seconds);
  return text;
}

}  // namespace echelon::cli
