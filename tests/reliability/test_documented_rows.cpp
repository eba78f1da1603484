// SPDX-License-Identifier: BSD-3-Clause
// docs/guide/reliability.md is true: every row that names error codes gives the status that these codes have, and every
// test that a row names is there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

namespace fs = std::filesystem;

struct Row {
  int line = 0;
  std::vector<std::string> cells;
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Rows of all tables with four columns, heads and rules left out.
std::vector<Row> documented_rows() {
  std::ifstream in(fs::path(ECHELON_SOURCE_DIR) / "docs/guide/reliability.md");
  std::vector<Row> rows;
  int line = 0;
  for (std::string text; std::getline(in, text);) {
    ++line;
    if (!text.starts_with("| ") || text.starts_with("| ---") || text.starts_with("| what happens")) continue;
    Row row{line, {}};
    std::size_t at = 1;
    for (auto end = text.find('|', at); end != std::string::npos; at = end + 1, end = text.find('|', at))
      row.cells.push_back(text.substr(at, end - at));
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> quoted(const std::string& cell) {
  static const std::regex word("`([^`]*)`");
  std::vector<std::string> words;
  for (std::sregex_iterator it(cell.begin(), cell.end(), word), end; it != end; ++it) words.push_back((*it)[1]);
  return words;
}

std::map<std::string, ErrorCode> codes() {
  std::map<std::string, ErrorCode> all;
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code)
    all[word(static_cast<ErrorCode>(code))] = static_cast<ErrorCode>(code);
  return all;
}

TEST(DocumentedRows, GiveTheStatusOfTheirCodes) {
  const auto known = codes();
  int compared = 0;
  for (const auto& row : documented_rows()) {
    ASSERT_EQ(row.cells.size(), 4u) << "line " << row.line;
    for (const auto& word : quoted(row.cells[1])) {
      const auto code = known.find(word);
      if (code == known.end()) continue;
      ++compared;
      EXPECT_NE(row.cells[2].find(std::to_string(exit_status(code->second))), std::string::npos)
          << "docs/guide/reliability.md:" << row.line << ": " << word << " is " << exit_status(code->second) << ", not"
          << row.cells[2];
    }
  }
  EXPECT_GT(compared, 20);
}

TEST(DocumentedRows, NameTestsThatAreThere) {
  std::set<std::string> suites_and_names, names;
  const std::regex test(R"(\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))");
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(ECHELON_SOURCE_DIR) / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const auto text = text_of(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), test), end; it != end; ++it) {
      suites_and_names.insert(fmt::format("{}.{}", (*it)[1].str(), (*it)[2].str()));
      suites_and_names.insert((*it)[1].str() + ".*");
      names.insert((*it)[2]);
    }
  }
  int found = 0;
  for (const auto& row : documented_rows()) {
    for (const auto& name : quoted(row.cells.back())) {
      const bool is_file = name.find('/') != std::string::npos;
      const bool there = is_file ? fs::exists(fs::path(ECHELON_SOURCE_DIR) / name)
                                 : suites_and_names.contains(name) || names.contains(name);
      EXPECT_TRUE(there) << "docs/guide/reliability.md:" << row.line << ": " << name;
      found += there;
    }
  }
  EXPECT_GT(found, 40);
}

}  // namespace
}  // namespace echelon
