// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/mg_option_list.hpp"

#include <string>

#include "echelon/precond/mg/smoothers.hpp"

namespace echelon {
namespace {

constexpr MgSmoother smoothers[] = {MgSmoother::automatic, MgSmoother::gs,     MgSmoother::symgs,     MgSmoother::ilu,
                                    MgSmoother::dbsr,      MgSmoother::jacobi, MgSmoother::chebyshev, MgSmoother::lines};
constexpr const char* smoother_words[] = {"auto", "gs", "symgs", "ilu", "dbsr", "jacobi", "chebyshev", "lines"};
constexpr CycleShape cycles[] = {CycleShape::v, CycleShape::f, CycleShape::w};
constexpr const char* cycle_words[] = {"V", "F", "W"};

const char* smoother_word(const PrecondOptions& options) { return word(options.mg.smoother); }
void set_smoother(PrecondOptions& options, const std::string& text) {
  for (const MgSmoother one : smoothers) {
    if (text == word(one)) options.mg.smoother = one;
  }
}
const char* cycle_word(const PrecondOptions& options) { return word(options.mg.cycle); }
void set_cycle(PrecondOptions& options, const std::string& text) {
  for (const CycleShape one : cycles) {
    if (text == word(one)) options.mg.cycle = one;
  }
}

constexpr MgPrecision precisions[] = {MgPrecision::automatic, MgPrecision::fp64, MgPrecision::fp32};
constexpr const char* precision_words[] = {"auto", "fp64", "fp32"};
const char* precision_word(const PrecondOptions& options) { return precision_words[static_cast<int>(options.mg.precision)]; }
void set_precision(PrecondOptions& options, const std::string& text) {
  for (const MgPrecision one : precisions) {
    if (text == precision_words[static_cast<int>(one)]) options.mg.precision = one;
  }
}

}  // namespace

constexpr PrecondOption mg_options[] = {
    {"--mg-smoother",
     "of mg: auto takes gs where a level's points couple alike along all directions, ilu where not; symgs, dbsr, jacobi, "
     "chebyshev, lines (zebra)",
     "NAME", WordValue{smoother_words, smoother_word, set_smoother}},
    {"--mg-cycle", "of mg: how often coarse levels are visited; F is not symmetric", "V|F|W",
     WordValue{cycle_words, cycle_word, set_cycle}},
    {"--mg-precision",
     "of mg's levels, under a solver in fp64: auto takes fp32 for symmetric matrices whose diagonal spans at most seven "
     "orders",
     "fp64|fp32|auto", WordValue{precision_words, precision_word, set_precision}},
    {"--mg-sweeps", "of mg: smoothings before and after the coarse correction", "N",
     CountValue<int>{[](PrecondOptions& o) -> int& { return o.mg.sweeps; }, 1, 100}},
};

}  // namespace echelon
