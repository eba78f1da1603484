// SPDX-License-Identifier: BSD-3-Clause
// The kernels of layout conversion: one panel of one stencil entry, either way, compiled for each SIMD target and block
// size and chosen at run time. While one panel moves, the next is asked for: where it is one run of user order, from its
// first cache line to its last, an order that the hardware foresees, unlike that of the squares; else square by square.
#pragma once

#include "bench/layout/layout_panels.hpp"

namespace echelon {

/// A panel of an entry, whose first value in user order is at `user`.
template <class User>
struct EntryPanel {
  const Panel& panel;
  std::span<const Piece> pieces;  // one a level
  int e;
  User* user;
};

template <class User, class Laid>
struct PanelMoves {
  using Into = void (*)(const LayoutView& view, const EntryPanel<const User>& now, const EntryPanel<const User>& next,
                        Laid* laid);
  using Out = void (*)(const LayoutView& view, const EntryPanel<User>& now, const EntryPanel<User>& next, const Laid* laid);
  // The second of each is for more than the caches hold: memory is asked for a panel ahead, and whole cache lines of the
  // layout are written without being read.
  Into into, into_past_caches;
  Out out, out_past_caches;
};

template <class User, class Laid>
PanelMoves<User, Laid> panel_moves(int rows, int columns);

}  // namespace echelon
