// SPDX-License-Identifier: BSD-3-Clause
// Names of files are bytes: any but '/' and 0. Before one stands in a picture it is made UTF-8, and before one stands in a
// sentence for a person nothing of it may act on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace echelon {

/// Every byte that belongs to no character becomes U+FFFD, as do the two that no XML may hold.
std::string valid_utf8(std::string_view text);

/// Control characters (of one byte or two, and those that turn the direction of writing) and bytes that are no UTF-8 become
/// \n, \x1b, \u{9b}; all else stays. What is printable already is not changed.
std::string printable(std::string_view text);
/// The same for text of several lines: their ends stay.
std::string printable_lines(std::string_view text);

}  // namespace echelon
