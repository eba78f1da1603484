// SPDX-License-Identifier: BSD-3-Clause
// Text tables for people: columns padded to their widest cell (counted in code points, so that "≤" is one), numbers to the
// right where the column asks for it.
#pragma once

#include <string>
#include <vector>

namespace echelon {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  /// Without titles when all are empty.
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Throws Error(bad_argument) when the number of cells is not that of the columns.
  void add(std::vector<std::string> row);
  /// Lines with their ends; nothing trails a line's last cell.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace echelon
