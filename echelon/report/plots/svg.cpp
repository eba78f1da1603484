// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/plots/svg.hpp"

#include <fmt/format.h>

#include <cmath>

#include "echelon/base/utf8.hpp"

namespace echelon::svg {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default:
        // Control characters are not allowed in XML.
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
  }
  return out;
}

std::string opened_page(double width, double height, double left, const std::string& title, const std::string& subtitle) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "<text x=\"{2}\" y=\"28\" font-size=\"16\" font-weight=\"bold\">{3}</text>\n"
      "<text x=\"{2}\" y=\"48\" fill=\"#555555\">{4}</text>\n",
      width, height, left, escaped(title), escaped(subtitle));
}

double round_step(double range, int count) {
  const double power = std::pow(10, std::floor(std::log10(range / count)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power * count >= range) return factor * power;
  }
  return 10 * power;
}

}  // namespace echelon::svg
