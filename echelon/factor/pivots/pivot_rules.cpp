// SPDX-License-Identifier: BSD-3-Clause
// The cold side of the row mathematics, once for the host.
#include "echelon/factor/pivots/pivot_rules.hpp"

#include "echelon/factor/pivots/pivot_repair.hpp"

namespace echelon {

void log_nonfinite_row(const PivotRules& rules, PivotPlace place) { repair::note_nonfinite_row(*rules.log, place); }

template <class T>
T repaired_pivot(const PivotRules& rules, PivotPlace place, T pivot, T scale, PivotWorkspace<T>& work) {
  return repair::pivot(rules, *rules.log, place, pivot, scale, work);
}

template <class T>
void check_block_pivot(const PivotRules& rules, PivotPlace place, int b, T* D, T smallest, T scale,
                       PivotWorkspace<T>& work) {
  repair::block_pivot(rules, *rules.log, place, b, D, smallest, scale, work);
}

#define ECHELON_INSTANTIATE(T)                                                           \
  template T repaired_pivot<T>(const PivotRules&, PivotPlace, T, T, PivotWorkspace<T>&); \
  template void check_block_pivot<T>(const PivotRules&, PivotPlace, int, T*, T, T, PivotWorkspace<T>&);
ECHELON_INSTANTIATE(double)
ECHELON_INSTANTIATE(float)
#undef ECHELON_INSTANTIATE

}  // namespace echelon
