// SPDX-License-Identifier: BSD-3-Clause
#include "cli/line/petsc_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/line/nearest.hpp"
#include "echelon/base/error.hpp"

namespace echelon::cli {
namespace {

struct Word {
  const char* petsc;
  const char* ours;
};

constexpr Word solvers[] = {{"cg", "cg"}, {"gmres", "gmres"}, {"fgmres", "fgmres"}, {"bcgs", "bicgstab"}};
constexpr Word pcs[] = {{"none", "none"}, {"jacobi", "jacobi"}, {"ilu", "ilu"}, {"icc", "ic"}};
constexpr Word orderings[] = {{"natural", "natural"}, {"rcm", "rcm"}};
constexpr Word shift_types[] = {{"none", "none"}, {"nonzero", "auto"}, {"positive_definite", "auto"}, {"inblocks", "auto"}};
constexpr Word sides[] = {{"right", ""}};

/// How an option is rewritten: its value looked up in `words`, passed as it is (no words), or none at all (`flag`).
struct Translation {
  const char* petsc;
  const char* ours;
  bool flag;
  const Word* words;
  std::size_t word_count;
};

template <std::size_t N>
constexpr Translation choice(const char* petsc, const char* ours, const Word (&words)[N]) {
  return {petsc, ours, false, words, N};
}
constexpr Translation value(const char* petsc, const char* ours) { return {petsc, ours, false, nullptr, 0}; }
constexpr Translation flag(const char* petsc, const char* ours) { return {petsc, ours, true, nullptr, 0}; }

constexpr Translation translations[] = {
    choice("-ksp_type", "--solver", solvers),
    value("-ksp_rtol", "--rtol"),
    value("-ksp_atol", "--atol"),
    value("-ksp_max_it", "--max-it"),
    value("-ksp_gmres_restart", "--restart"),
    choice("-ksp_pc_side", "", sides),
    flag("-ksp_monitor", "-v"),
    flag("-ksp_monitor_true_residual", "-v"),
    flag("-ksp_converged_reason", "-v"),
    flag("-ksp_view", "-v"),
    choice("-pc_type", "--pc", pcs),
    value("-pc_factor_levels", "--fill"),
    choice("-pc_factor_mat_ordering_type", "--ordering", orderings),
    choice("-pc_factor_shift_type", "--shift", shift_types),
    value("-pc_factor_shift_amount", "--shift"),
};

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const auto& t : translations) names.emplace_back(t.petsc);
  return names;
}

[[noreturn]] void refuse_name(const std::string& name) {
  const auto known = known_names();
  throw Error(ErrorCode::bad_option, fmt::format("the PETSc option {} has no counterpart here{}; those that have are {}",
                                                 name, suggestion(name, known), fmt::join(known, ", ")));
}

std::string look_up(const Translation& t, const std::string& word) {
  std::vector<std::string> legal;
  for (std::size_t i = 0; i < t.word_count; ++i) {
    if (word == t.words[i].petsc) return t.words[i].ours;
    legal.emplace_back(t.words[i].petsc);
  }
  throw Error(ErrorCode::bad_option, fmt::format("{} {}: this version has {}", t.petsc, word, fmt::join(legal, ", ")));
}

bool is_petsc(const std::string& argument) { return argument.rfind("-ksp_", 0) == 0 || argument.rfind("-pc_", 0) == 0; }

/// PETSc flags may carry a truth value; false leaves the flag out.
std::optional<bool> truth(const std::string& word) {
  for (const char* yes : {"true", "yes", "1", "on"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"false", "no", "0", "off"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> translate_petsc(const std::vector<std::string>& arguments) {
  std::vector<std::string> out;
  std::string shift_type, shift_amount;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& name = arguments[i];
    if (!is_petsc(name)) {
      out.push_back(name);
      continue;
    }
    const auto found = std::find_if(std::begin(translations), std::end(translations),
                                    [&](const Translation& t) { return name == t.petsc; });
    if (found == std::end(translations)) refuse_name(name);
    if (found->flag) {
      const auto given = i + 1 < arguments.size() ? truth(arguments[i + 1]) : std::nullopt;
      if (given) ++i;
      if (given.value_or(true)) out.emplace_back(found->ours);
      continue;
    }
    if (i + 1 >= arguments.size() || is_petsc(arguments[i + 1])) {
      throw Error(ErrorCode::bad_option, fmt::format("{} needs a value", name));
    }
    const std::string word = found->words ? look_up(*found, arguments[++i]) : arguments[++i];
    if (name == "-pc_factor_shift_type") {
      shift_type = word;
    } else if (name == "-pc_factor_shift_amount") {
      shift_amount = word;
    } else if (*found->ours) {
      out.emplace_back(found->ours);
      out.push_back(word);
    }
  }
  // The two shift options are one of ours: an amount is the shift itself, unless the type forbids shifting.
  const std::string shift = shift_type == "none" || shift_amount.empty() ? shift_type : shift_amount;
  if (!shift.empty()) {
    out.emplace_back("--shift");
    out.push_back(shift);
  }
  return out;
}

}  // namespace echelon::cli
