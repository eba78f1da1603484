// SPDX-License-Identifier: BSD-3-Clause
// The kernels of layout conversion: one panel of one stencil entry, either way, compiled for each SIMD target and block
// size and chosen at run time. `entry` is the entry's first value in user order; `pieces` has one for each level of the
// panel.
#pragma once

#include "echelon/matrix/layout_panels.hpp"

namespace echelon {

template <class User, class Laid>
struct PanelMoves {
  void (*into)(const LayoutView& view, const Panel& panel, const Piece* pieces, int e, const User* entry, Laid* laid);
  void (*out)(const LayoutView& view, const Panel& panel, const Piece* pieces, int e, User* entry, const Laid* laid);
};

template <class User, class Laid>
PanelMoves<User, Laid> panel_moves(int rows, int columns);

}  // namespace echelon
