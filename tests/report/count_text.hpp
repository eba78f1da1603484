// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace echelon::test {

/// How often `what` stands in the text.
inline std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++found;
  return found;
}

}  // namespace echelon::test
