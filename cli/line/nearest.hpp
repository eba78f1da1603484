// SPDX-License-Identifier: BSD-3-Clause
// "did you mean": the known word nearest to a mistyped one, by edit distance (insert, delete, replace, swap of neighbours).
#pragma once

#include <string>
#include <vector>

namespace echelon::cli {

int edit_distance(const std::string& a, const std::string& b);
/// Empty when nothing is near enough (more than a third of the letters differ).
std::string nearest(const std::string& word, const std::vector<std::string>& known);
/// " (did you mean --max-it?)", or nothing.
std::string suggestion(const std::string& word, const std::vector<std::string>& known);

}  // namespace echelon::cli
