// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "echelon/base/error.hpp"
#include "echelon/base/utf8.hpp"

namespace echelon {
namespace {

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xc0u) != 0x80u; }));
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  if (row.size() != columns_.size()) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("a table row has {} cells, its table {} columns", row.size(), columns_.size()));
  }
  for (auto& cell : row) cell = printable(cell);  // a name of a file may be in it
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::vector<std::string>> lines;
  const bool titled = std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return !c.title.empty(); });
  if (titled) {
    lines.emplace_back();
    for (const auto& column : columns_) lines.back().push_back(column.title);
  }
  lines.insert(lines.end(), rows_.begin(), rows_.end());
  std::vector<std::size_t> widest(columns_.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) widest[c] = std::max(widest[c], width(line[c]));
  }
  std::string out;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t c = 0; c < line.size(); ++c) {
      const std::string pad(widest[c] - width(line[c]), ' ');
      if (c > 0) row += "  ";
      row += columns_[c].align == Align::right ? pad + line[c] : line[c] + pad;
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + '\n';
  }
  return out;
}

}  // namespace echelon
