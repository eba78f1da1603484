// SPDX-License-Identifier: BSD-3-Clause
// A place that a sentence names: a row, a column, a component, a side of a grid point. In data it is an index from 0; in
// words it is the number by which the reader counts. The library counts from 0, as its callers do; the program says once
// that its readers, and their files, count from 1. The conversion is here and nowhere else.
#pragma once

#include <fmt/format.h>

#include <cstdint>

namespace echelon {

/// Written by fmt as index + the number of the first.
struct Ordinal {
  std::int64_t index;
};

/// The number of the first row in sentences made from now on: 0 or 1 (others throw Error(bad_argument)). For the whole
/// process; a program calls it once, before anything else.
void count_ordinals_from(int first);
int first_ordinal();

}  // namespace echelon

template <>
struct fmt::formatter<echelon::Ordinal> : fmt::formatter<std::int64_t> {
  template <class Context>
  auto format(echelon::Ordinal ordinal, Context& context) const {
    return fmt::formatter<std::int64_t>::format(ordinal.index + echelon::first_ordinal(), context);
  }
};
