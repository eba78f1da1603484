// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/ilu/ilu_option_list.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "echelon/base/stored.hpp"

namespace echelon {
namespace {

template <class Value>
struct Named {
  const char* word;
  Value value;
};

constexpr Named<Ordering> orderings[] = {{"natural", Ordering::natural},
                                         {"rcm", Ordering::rcm},
                                         {"colours", Ordering::colours},
                                         {"random-colours", Ordering::random_colours}};
constexpr Named<SweepSchedule> schedules[] = {{"auto", SweepSchedule::automatic},
                                              {"sequential", SweepSchedule::sequential},
                                              {"levels", SweepSchedule::levels},
                                              {"point-to-point", SweepSchedule::point_to_point}};
constexpr Named<Trisolve> methods[] = {
    {"exact", Trisolve::exact}, {"jacobi", Trisolve::jacobi}, {"neumann", Trisolve::neumann}, {"auto", Trisolve::automatic}};
constexpr const char* later_methods[] = {"randomized"};
constexpr Named<JacobiForm> forms[] = {{"noncompact", JacobiForm::noncompact}, {"compact", JacobiForm::compact}};
constexpr Named<FactorScaling> scalings[] = {{"none", FactorScaling::none},
                                             {"lower", FactorScaling::lower},
                                             {"upper", FactorScaling::upper},
                                             {"both", FactorScaling::both}};
constexpr Named<bool> matrix_scalings[] = {{"none", false}, {"ruiz", true}};
constexpr Named<bool> guards[] = {{"on", true}, {"off", false}};
constexpr Named<Stored> precisions[] = {
    {"fp64", Stored::fp64}, {"fp32", Stored::fp32}, {"bf16", Stored::bf16}, {"fp16", Stored::fp16}};

template <const auto& table>
constexpr auto words_of = [] {
  std::array<const char*, std::size(table)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = table[i].word;
  return all;
}();

/// The words of a table, for the member that `in` gives.
template <const auto& table, auto in>
constexpr WordValue word_of(std::span<const char* const> later = {}) {
  return {words_of<table>,
          [](const PrecondOptions& options) {
            PrecondOptions copy = options;
            for (const auto& one : table) {
              if (one.value == in(copy)) return one.word;
            }
            return table[0].word;
          },
          [](PrecondOptions& options, const std::string& word) {
            for (const auto& one : table) {
              if (word == one.word) in(options) = one.value;
            }
          },
          later};
}

std::string shift_text(const PrecondOptions& options) {
  if (options.ilu.shift == ShiftPolicy::value) return fmt::format("{}", options.ilu.shift_value);
  return options.ilu.shift == ShiftPolicy::none ? "none" : "auto";
}

constexpr auto fill = [](PrecondOptions& o) -> int& { return o.ilu.fill; };
constexpr auto drop = [](PrecondOptions& o) -> double& { return o.ilu.drop; };
constexpr auto lfil = [](PrecondOptions& o) -> std::int64_t& { return o.ilu.lfil; };
constexpr auto column_pivoting = [](PrecondOptions& o) -> double& { return o.ilu.column_pivoting; };
constexpr auto factor_sweeps = [](PrecondOptions& o) -> int& { return o.ilu.factor_sweeps; };
constexpr auto fill_limit = [](PrecondOptions& o) -> double& { return o.ilu.fill_limit; };
constexpr auto omega = [](PrecondOptions& o) -> double& { return o.ilu.omega; };
constexpr auto ordering = [](PrecondOptions& o) -> Ordering& { return o.ilu.ordering; };
constexpr auto match_rows = [](PrecondOptions& o) -> bool& { return o.match_rows; };
constexpr auto schedule = [](PrecondOptions& o) -> SweepSchedule& { return o.ilu.schedule; };
constexpr auto method = [](PrecondOptions& o) -> Trisolve& { return o.ilu.trisolve.method; };
constexpr auto sweeps = [](PrecondOptions& o) -> int& { return o.ilu.trisolve.sweeps; };
constexpr auto form = [](PrecondOptions& o) -> JacobiForm& { return o.ilu.trisolve.form; };
constexpr auto damping = [](PrecondOptions& o) -> double& { return o.ilu.trisolve.damping; };
constexpr auto rows_a_block = [](PrecondOptions& o) -> int& { return o.ilu.trisolve.rows_a_block; };
constexpr auto scaling = [](PrecondOptions& o) -> FactorScaling& { return o.ilu.trisolve.scaling; };
constexpr auto scale_matrix = [](PrecondOptions& o) -> bool& { return o.ilu.scale_matrix; };
constexpr auto guard = [](PrecondOptions& o) -> bool& { return o.ilu.trisolve.guard; };
constexpr auto precision = [](PrecondOptions& o) -> Stored& { return o.ilu.precision; };

}  // namespace

std::string set_shift(IluOptions& options, const std::string& text) {
  const bool none = text == "none";
  if (none || text == "auto") {
    options.shift = none ? ShiftPolicy::none : ShiftPolicy::automatic;
    return {};
  }
  // std::stod throws at numbers below the normal ones.
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value) || !(value > 0))
    return fmt::format("got '{}', needs none, auto or a positive number", text);
  options.shift = ShiftPolicy::value;
  options.shift_value = value;
  return {};
}

constexpr PrecondOption level_options[] = {{"--fill", "level of fill of ilu and ic", "K", CountValue<int>{fill, 0, 100}}};

constexpr PrecondOption threshold_options[] = {
    {"--drop", "ilut: entries not above this times the norm of their row of A are dropped", "T", RealValue{drop, 0, 1},
     nullptr, true},
    {"--lfil", "ilut: at most so many entries a row of L, and of U, the diagonal apart", "P",
     CountValue<std::int64_t>{lfil, 0, std::numeric_limits<std::int32_t>::max()}, nullptr, true},
    {"--column-pivoting",
     "ilut: the largest entry of a row of U becomes its pivot when T times it is above the diagonal; 0: never", "T",
     RealValue{column_pivoting, 0, 1}, nullptr, true},
};

constexpr PrecondOption pivot_options[] = {
    {"--shift", "bad pivots: none stops, auto repairs and reports, or a diagonal shift", "none|auto|VALUE",
     TextValue{shift_text, [](PrecondOptions& o, const std::string& text) { return set_shift(o.ilu, text); }}}};

// 0 is an exact elimination to IluOptions, and the method's own number to what sweeps by its name.
static_assert(default_sweeps == 5);
constexpr PrecondOption factor_sweeps_options[] = {{"--factor-sweeps",
                                                    "of parilu and parilut: fixed-point sweeps over the factors", "N",
                                                    CountValue<int>{factor_sweeps, 1, 1000}, "5"}};
constexpr PrecondOption fill_limit_options[] = {{"--fill-limit",
                                                 "of parilut: entries of L, and of U, over those of A's triangles", "R",
                                                 RealValue{fill_limit, 0, 1000}}};

constexpr PrecondOption omega_options[] = {
    {"--omega", "of sgs: SSOR; 1 is symmetric Gauss-Seidel", "W", RealValue{omega, 1e-3, 1.999}, "1"}};

constexpr PrecondOption order_and_sweep_options[] = {
    {"--ordering", "natural, rcm, colours (greedy) or random-colours (Jones and Plassmann's)", "WORD",
     word_of<orderings, ordering>()},
    {"--match-rows", "ilu, ilut: first permute and scale rows so that the diagonal is large", "", FlagValue{match_rows}},
    {"--schedule", "triangular sweeps: auto, sequential, levels or point-to-point", "WORD", word_of<schedules, schedule>()},
    {"--trisolve", "triangular systems: exact sweeps, jacobi or neumann iterations, or auto: what is faster", "WORD",
     word_of<methods, method>(later_methods)},
    {"--sweeps", "of the iteration, for each triangle; with exact sweeps, --factor-sweeps", "K",
     CountValue<int>{sweeps, 1, 100'000}},
    {"--trisolve-form", "of jacobi: noncompact or compact", "WORD", word_of<forms, form>()},
    {"--damping", "of jacobi", "W", RealValue{damping, 1e-3, 1}},
    {"--jacobi-block", "block jacobi: so many consecutive rows are solved exactly", "M",
     CountValue<int>{rows_a_block, 1, 1'000'000}},
    {"--scale-factors", "Ruiz scaling before iterating: none, lower, upper or both", "WORD", word_of<scalings, scaling>()},
    {"--scale-matrix", "factor the matrix as it is, or after ruiz scaling", "WORD",
     word_of<matrix_scalings, scale_matrix>()},
    {"--guard", "on: exact sweeps take over where the iteration would diverge; off is for study", "WORD",
     word_of<guards, guard>()},
    {"--factor-precision", "how factors on a grid are kept: fp64, fp32, bf16 or fp16", "WORD",
     word_of<precisions, precision>()},
};

}  // namespace echelon
