// SPDX-License-Identifier: BSD-3-Clause
// What is remembered of an attempt's bad pivots, on host and device: how many there were, and the first few in elimination
// order. The outcome does not depend on the order in which they come, so neither threads nor blocks matter.
#pragma once

#include <cstdint>

#include "echelon/base/device.hpp"
#include "echelon/report/pivot_note.hpp"

namespace echelon {

struct PivotNotes {
  static constexpr int kept = 10;
  std::int64_t count = 0;
  bool nonfinite = false;        // a pivot that is NaN or Inf, or a row of A that holds one
  bool nonfinite_input = false;  // the latter
  int used = 0;
  std::int64_t positions[kept] = {};  // ascending
  PivotNote notes[kept];

  ECHELON_FN void note_kind(PivotNote::Kind kind) {
    nonfinite_input = nonfinite_input || kind == PivotNote::Kind::nonfinite_input;
    nonfinite = nonfinite || nonfinite_input || kind == PivotNote::Kind::overflow;
  }
  /// A row's second note does not take the place of its first.
  ECHELON_FN bool is_among_first(std::int64_t position) const { return used < kept || position < positions[kept - 1]; }
  /// Keeps it when it is among the first.
  ECHELON_FN void keep(std::int64_t position, const PivotNote& note) {
    if (!is_among_first(position)) return;
    int at = used < kept ? used++ : kept - 1;
    for (; at > 0 && positions[at - 1] > position; --at) {
      positions[at] = positions[at - 1];
      notes[at] = notes[at - 1];
    }
    positions[at] = position;
    notes[at] = note;
  }
};

}  // namespace echelon
