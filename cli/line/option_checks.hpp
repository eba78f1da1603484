// SPDX-License-Identifier: BSD-3-Clause
// What an option's text must be: each check gives an empty string, or the rest of a sentence that begins with the option.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace echelon::cli {

std::string check_number(const std::string& text, double smallest, double largest);
std::string check_integer(const std::string& text, std::int64_t smallest, std::int64_t largest);
/// `later` are words of the interface whose method this version does not have yet.
std::string check_word(const std::string& text, const std::vector<std::string>& have,
                       const std::vector<std::string>& later = {});

}  // namespace echelon::cli
