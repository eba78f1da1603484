// SPDX-License-Identifier: BSD-3-Clause
// The sentences of the reader: what was found where, what would be legal, what to do next.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "echelon/io/matrix_market_header.hpp"

namespace echelon::matrix_market {

std::string place(const TextSource& source, std::int64_t offset) {
  const auto text = source.text();
  const auto before = text.first(static_cast<std::size_t>(std::min(offset, static_cast<std::int64_t>(text.size()))));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto start = std::find(before.rbegin(), before.rend(), '\n').base();
  return fmt::format("{}:{}:{}", source.name(), line, before.end() - start + 1);
}

std::string quoted_token(const TextSource& source, std::int64_t offset) {
  constexpr std::size_t longest = 40;
  const auto rest = source.text().subspan(std::min(static_cast<std::size_t>(offset), source.text().size()));
  std::string out = "'";
  std::size_t length = 0;
  for (const char c : rest) {
    if (is_blank(c) || c == '\n') break;
    if (++length > longest) {
      out += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out + "'";
}

std::int64_t find_entry_line(const TextSource& source, std::int64_t from, std::int64_t number) {
  const char* const begin = source.text().data();
  const char* const end = begin + source.text().size();
  for (const char* p = begin + from; p < end;) {
    while (p < end && is_blank(*p)) ++p;
    if (p < end && *p != '\n' && *p != '%' && number-- == 0) return p - begin;
    const void* next = p < end ? std::memchr(p, '\n', static_cast<std::size_t>(end - p)) : nullptr;
    p = next ? static_cast<const char*>(next) + 1 : end;
  }
  return -1;
}

namespace {

/// An index written as zero, with or without a sign.
bool is_zero_token(const TextSource& source, std::int64_t offset) {
  const auto token = quoted_token(source, offset);
  return token.find_first_not_of("+-0'") == std::string::npos;
}

std::string index_sentence(const TextSource& source, std::int64_t offset, const char* what, std::int64_t most) {
  return fmt::format("the {} index is {}; legal are 1 to {}{}", what, quoted_token(source, offset), most,
                     is_zero_token(source, offset) ? "; the file looks 0-based: add 1 to every index" : "");
}

}  // namespace

void refuse_entry(const TextSource& source, const Header& header, Fault fault, std::int64_t offset) {
  const std::string token = quoted_token(source, offset);
  const char* const shape = header.format == Format::array   ? "one value"
                            : header.field == Field::pattern ? "a row and a column"
                                                             : "a row, a column and a value";
  const bool nul =
      offset < static_cast<std::int64_t>(source.text().size()) && source.text()[static_cast<std::size_t>(offset)] == '\0';
  const char* const hint = nul ? "; there is a NUL byte: the file is damaged or not text" : "";
  ErrorCode code = ErrorCode::file_format;
  std::string sentence;
  switch (fault) {
    case Fault::none: code = ErrorCode::internal; break;
    case Fault::row_malformed: sentence = fmt::format("the row index {} is not a whole number{}", token, hint); break;
    case Fault::column_malformed: sentence = fmt::format("the column index {} is not a whole number{}", token, hint); break;
    case Fault::row_range:
      code = ErrorCode::index_range;
      sentence = index_sentence(source, offset, "row", header.rows);
      break;
    case Fault::column_range:
      code = ErrorCode::index_range;
      sentence = index_sentence(source, offset, "column", header.columns);
      break;
    case Fault::column_missing: sentence = fmt::format("the line ends before its column index; it needs {}", shape); break;
    case Fault::value_missing: sentence = fmt::format("the line ends before its value; it needs {}", shape); break;
    case Fault::value_malformed: sentence = fmt::format("the value {} is not a number{}", token, hint); break;
    case Fault::value_not_whole:
      sentence = fmt::format("the value {} is not a whole number, but the file is declared integer; declare it real", token);
      break;
    case Fault::trailing:
      sentence = fmt::format("{} follows a complete entry; a line holds {} only{}", token, shape, hint);
      break;
    case Fault::above_diagonal:
      code = ErrorCode::symmetry;
      sentence = fmt::format(
          "this entry lies above the diagonal, and a {} file stores the lower triangle; swap its indices or declare the "
          "file general",
          word(header.symmetry));
      break;
    case Fault::skew_diagonal:
      code = ErrorCode::symmetry;
      sentence = fmt::format("a skew-symmetric matrix has a zero diagonal, and this diagonal entry is {}; remove it", token);
      break;
  }
  throw Error(code, sentence, place(source, offset));
}

void refuse_surplus(const TextSource& source, const Header& header, std::int64_t offset) {
  throw Error(
      ErrorCode::file_format,
      fmt::format("the size line promises {} entries, and {} comes after the last of them; correct the size line or remove "
                  "what follows",
                  header.entries, quoted_token(source, offset)),
      place(source, offset));
}

void refuse_truncated(const TextSource& source, const Header& header, std::int64_t found) {
  throw Error(
      ErrorCode::file_format,
      fmt::format(
          "the file ends after {} of the {} entries that its size line promises; it is cut short or its size line is "
          "wrong",
          found, header.entries),
      place(source, static_cast<std::int64_t>(source.text().size())));
}

}  // namespace echelon::matrix_market
