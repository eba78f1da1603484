// SPDX-License-Identifier: BSD-3-Clause
// What the plots share: a white page with a title, text made safe for XML, colours that differ in lightness too, and round
// steps for an axis.
#pragma once

#include <array>
#include <string>

namespace echelon::svg {

inline constexpr std::array<const char*, 6> colors = {"#1f5fa8", "#c4511d", "#2e7d4f", "#7a3e9d", "#8a6d1a", "#555555"};

/// Well-formed whatever the bytes: markup escaped, control characters left out, what is no UTF-8 replaced.
std::string escaped(const std::string& text);

/// The head of the file, the background, the title and the line below it, from `left` on.
std::string opened_page(double width, double height, double left, const std::string& title, const std::string& subtitle);

/// 1, 2 or 5 times a power of ten, so that there are at most `count` steps.
double round_step(double range, int count);

}  // namespace echelon::svg
