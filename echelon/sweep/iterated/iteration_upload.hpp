// SPDX-License-Identifier: BSD-3-Clause
// What both forms of an iteration on a GPU share: arrays that are kept when their size stays, and the words of the options.
#pragma once

#include "echelon/base/array.hpp"
#include "echelon/factor/trisolve_options.hpp"
#include "echelon/sweep/iterated/device_iteration_view.hpp"

namespace echelon {

template <class S>
void set_size(Array<S>& array, std::int64_t n, Device device) {
  if (array.size() != n || array.device() != device) array = Array<S>(n, device);
}

/// A copy of `here` on the device, in `there`.
template <class S>
const S* put(Array<S>& there, const Array<S>& here, Device device) {
  set_size(there, here.size(), device);
  there.copy_from(here);
  return there.data();
}

inline IterationKind iteration_kind(const TrisolveOptions& options) {
  if (options.method == Trisolve::neumann) return IterationKind::neumann;
  const bool compact = options.rows_a_block > 1 || options.form == JacobiForm::compact;
  return compact ? IterationKind::compact : IterationKind::noncompact;
}

}  // namespace echelon
