// SPDX-License-Identifier: BSD-3-Clause
#include "cli/row_numbers.hpp"

#include <charconv>

namespace echelon::cli {

std::string rows_from_one(const std::string& sentence) {
  const std::string mark = "row ";
  std::string out;
  std::size_t at = 0;
  while (true) {
    const auto found = sentence.find(mark, at);
    if (found == std::string::npos) return out + sentence.substr(at);
    const auto digits = found + mark.size();
    out += sentence.substr(at, digits - at);
    std::int64_t row = 0;
    const char* end = sentence.data() + sentence.size();
    const auto [stop, error] = std::from_chars(sentence.data() + digits, end, row);
    at = digits;
    if (error != std::errc() || row < 0) continue;
    out += std::to_string(row + 1);
    at = static_cast<std::size_t>(stop - sentence.data());
  }
}

void count_rows_from_one(Report& report) {
  auto& pc = report.preconditioner;
  pc.message = rows_from_one(pc.message);
  for (auto& remark : pc.remarks) remark = rows_from_one(remark);
  if (report.reason == Reason::pc_failed) report.message = rows_from_one(report.message);
}

}  // namespace echelon::cli
