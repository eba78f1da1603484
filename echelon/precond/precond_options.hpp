// SPDX-License-Identifier: BSD-3-Clause
// What may be asked of a preconditioner that is made by name, and how a front end asks: PrecondOptions holds it, a
// PrecondOption is one line of --help with the place it writes to. Entries of the registry say which options are theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>

#include "echelon/factor/ilu_options.hpp"
#include "echelon/precond/mg/mg_options.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"

namespace echelon {

/// A member for each family; a method reads what is its own.
struct PrecondOptions {
  IluOptions ilu;
  BlockOptions blocks = {};
  MgOptions mg = {};
  /// Factor the matrix whose rows were permuted and scaled first, so that its diagonal is large.
  bool match_rows = false;
};

/// What an option's text may be, and where its value goes. Bounds are included.
struct RealValue {
  double& (*in)(PrecondOptions&);
  double smallest, largest;
};
template <class Integer>
struct CountValue {
  Integer& (*in)(PrecondOptions&);
  std::int64_t smallest, largest;
};
struct FlagValue {
  bool& (*in)(PrecondOptions&);
};
struct WordValue {
  std::span<const char* const> words;
  const char* (*get)(const PrecondOptions&);
  void (*set)(PrecondOptions&, const std::string& word);  // one of `words`
  std::span<const char* const> later = {};                // words of the interface that this version does not have yet
};
struct TextValue {
  std::string (*get)(const PrecondOptions&);
  /// Empty when it was taken; else what is wrong, the rest of a sentence that begins with the option.
  std::string (*set)(PrecondOptions&, const std::string& text);
};

struct PrecondOption {
  const char* name;  // "--fill"
  const char* help;
  const char* type;  // of its value in the help, "K"
  std::variant<RealValue, CountValue<int>, CountValue<std::int64_t>, FlagValue, WordValue, TextValue> value;
  const char* shown = nullptr;  // the default in the help where PrecondOptions leaves it to the method
  bool for_auto = false;        // of a method's own: --pc auto takes it, too
};

/// Whether the user gave this option, its default or not.
using OptionGiven = std::function<bool(const std::string& option)>;

}  // namespace echelon
