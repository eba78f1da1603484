// SPDX-License-Identifier: BSD-3-Clause
// Between user order and a skewed or tile-contiguous layout, values rounded where the layout's scalars are shorter. Both
// ways move each value once: along a line's neighbours the layout is contiguous and user order strided, and a line's values
// are used up cache line by cache line as the level advances. Bytes: those of a copy. Padding is written as zero.
#pragma once

#include <span>

#include "echelon/stencil/layout_view.hpp"

namespace echelon {

/// `user` holds [entry][point][column][row] for all stencil entries (or a vector: one entry, one column). Throws
/// Error(size_mismatch) when it is too short for the entries held, or `laid` not the layout's size.
template <class User, class Laid>
void to_layout(const Layout& layout, std::span<const User> user, std::span<Laid> laid);

/// Entries that are not held stay as they are.
template <class User, class Laid>
void to_user(const Layout& layout, std::span<const Laid> laid, std::span<User> user);

/// Sets the padding to zero; what `to_layout` and assembly do for the values they write.
template <class Laid>
void clear_padding(const Layout& layout, std::span<Laid> laid);

}  // namespace echelon
