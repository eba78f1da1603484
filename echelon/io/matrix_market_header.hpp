// SPDX-License-Identifier: BSD-3-Clause
// The banner and the size line of a Matrix Market file, checked against each other and against the bytes that follow, and
// the words for what can be wrong further down. A claim that the rest of the file cannot hold is refused before anything
// is allocated for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "echelon/base/error.hpp"
#include "echelon/io/text_source.hpp"

namespace echelon::matrix_market {

enum class Format { coordinate, array };
enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew };

struct Header {
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;    // lines that must follow
  std::int64_t size_line = 0;  // offset of the size line
  std::int64_t body = 0;       // offset of the line after it

  bool mirrored() const { return symmetry != Symmetry::general; }
};

/// Whether text that starts so is worth reading on: it begins with the banner's first word; above 16 MiB its size line has
/// come; and it is not much longer than the entries promised there. A stream that has no end is left by this.
bool worth_reading_on(std::span<const char> start);

Header read_header(const TextSource& source);

const char* word(Field field);
const char* word(Symmetry symmetry);

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// "name:line:column" of a byte. Counts the lines before it: for messages.
std::string place(const TextSource& source, std::int64_t offset);
/// The token at a byte, quoted and with unprintable bytes as \xNN, cut to a length one can read.
std::string quoted_token(const TextSource& source, std::int64_t offset);
/// Offset of the first token of the entry line `number` (from 0) at or after `from`, or −1.
std::int64_t find_entry_line(const TextSource& source, std::int64_t from, std::int64_t number);

/// What is wrong with an entry line; `offset` is the byte to point at.
enum class Fault {
  none,
  row_malformed,
  row_range,
  column_missing,
  column_malformed,
  column_range,
  value_missing,
  value_malformed,
  value_not_whole,
  trailing,
  above_diagonal,
  skew_diagonal,
};
[[noreturn]] void refuse_entry(const TextSource& source, const Header& header, Fault fault, std::int64_t offset);
[[noreturn]] void refuse_surplus(const TextSource& source, const Header& header, std::int64_t offset);
[[noreturn]] void refuse_truncated(const TextSource& source, const Header& header, std::int64_t found);

}  // namespace echelon::matrix_market
