// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/io/matrix_market_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <vector>

namespace echelon::matrix_market {
namespace {

constexpr std::int64_t largest_side = std::numeric_limits<std::int32_t>::max();

struct Token {
  std::int64_t offset;
  std::string_view text;
};

class LineReader {
 public:
  explicit LineReader(const TextSource& source) : text_(source.text().data(), source.text().size()) {}

  bool at_end() const { return next_ >= text_.size(); }
  std::int64_t offset() const { return static_cast<std::int64_t>(next_); }
  /// The tokens of the next line, at most `most` of them: a line may be as long as the file.
  std::vector<Token> tokens(std::size_t most) {
    const auto found = text_.find('\n', next_);
    const auto end = found == std::string_view::npos ? text_.size() : found;
    std::vector<Token> list;
    for (auto at = next_; at < end && list.size() < most;) {
      while (at < end && is_blank(text_[at])) ++at;
      auto stop = at;
      while (stop < end && !is_blank(text_[stop])) ++stop;
      if (stop > at) list.push_back({static_cast<std::int64_t>(at), text_.substr(at, stop - at)});
      at = stop;
    }
    next_ = std::min(text_.size(), end + 1);
    return list;
  }

 private:
  std::string_view text_;
  std::size_t next_ = 0;
};

std::string lower(std::string_view word) {
  std::string out(word.substr(0, 64));
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

[[noreturn]] void refuse(const TextSource& source, std::int64_t offset, const std::string& sentence,
                         ErrorCode code = ErrorCode::file_format) {
  throw Error(code, sentence, place(source, offset));
}

template <class Word, std::size_t n>
Word one_of(const TextSource& source, const Token& token, const char* what,
            const std::array<std::pair<const char*, Word>, n>& legal) {
  const std::string got = lower(token.text);
  std::string list;
  for (const auto& [name, value] : legal) {
    if (got == name) return value;
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  const bool complex = got == "complex" || got == "hermitian";
  refuse(source, token.offset,
         fmt::format("the {} {} {}; legal are {}{}", what, quoted_token(source, token.offset),
                     complex ? "is for complex matrices, which are not supported" : "is unknown", list,
                     complex ? ": solve the equivalent real system of twice the size" : ""));
}

/// Of the first word of the first line; −1: there is none within reach.
std::int64_t first_word(std::span<const char> text) {
  constexpr std::size_t reach = std::size_t{1} << 16;
  for (std::size_t at = 0; at < std::min(text.size(), reach); ++at) {
    if (text[at] == '\n') return -1;
    if (!is_blank(text[at])) return static_cast<std::int64_t>(at);
  }
  return -1;
}

bool begins_as_matrix_market(std::span<const char> start) {
  constexpr std::string_view word = "%%matrixmarket";
  const auto first = first_word(start);
  if (first < 0) return false;
  const std::string_view rest = std::string_view(start.data(), start.size()).substr(static_cast<std::size_t>(first));
  return lower(rest.substr(0, word.size())) == word &&
         (rest.size() == word.size() || is_blank(rest[word.size()]) || rest[word.size()] == '\n');
}

/// By the size line in this part of the text, if it is a whole one; −1 otherwise. In floating point: two sides may pass 64
/// bits.
double promised_entries(std::string_view head) {
  auto at = head.find('\n');
  while (at != std::string_view::npos) {
    const auto begin = at + 1;
    at = head.find('\n', begin);
    if (at == std::string_view::npos) break;
    const std::string line(head.substr(begin, std::min<std::size_t>(at - begin, 256)));
    double number[3] = {};
    const int count = std::sscanf(line.c_str(), "%lf %lf %lf", &number[0], &number[1], &number[2]);
    if (count == 3) return number[2];
    if (count == 2) return number[0] * number[1];
    const auto word = line.find_first_not_of(" \t\r\v\f");
    if (word != std::string::npos && line[word] != '%') break;
  }
  return -1;
}

void read_banner(const TextSource& source, LineReader& lines, Header& header) {
  // Asked before the line is looked for: it may be as long as the file.
  if (!begins_as_matrix_market(source.text())) {
    const auto first = first_word(source.text());
    refuse(
        source, 0,
        fmt::format("this is not a Matrix Market file: it starts with {} instead of \"%%MatrixMarket matrix coordinate real "
                    "general\"",
                    first < 0 ? "a blank line" : quoted_token(source, first)));
  }
  const auto banner = lines.tokens(6);
  if (banner.size() != 5) {
    refuse(source, banner[std::min<std::size_t>(banner.size() - 1, 5)].offset,
           fmt::format("the banner has {} words and needs five, as in \"%%MatrixMarket matrix coordinate real general\"",
                       banner.size() > 5 ? "more than five" : std::to_string(banner.size())));
  }
  one_of<int>(source, banner[1], "object", std::array<std::pair<const char*, int>, 1>{{{"matrix", 0}}});
  header.format = one_of<Format>(
      source, banner[2], "format",
      std::array<std::pair<const char*, Format>, 2>{{{"coordinate", Format::coordinate}, {"array", Format::array}}});
  header.field = one_of<Field>(
      source, banner[3], "field",
      std::array<std::pair<const char*, Field>, 4>{
          {{"real", Field::real}, {"double", Field::real}, {"integer", Field::integer}, {"pattern", Field::pattern}}});
  header.symmetry = one_of<Symmetry>(
      source, banner[4], "symmetry",
      std::array<std::pair<const char*, Symmetry>, 3>{
          {{"general", Symmetry::general}, {"symmetric", Symmetry::symmetric}, {"skew-symmetric", Symmetry::skew}}});
  if (header.field == Field::pattern && header.format == Format::array) {
    refuse(source, banner[3].offset, "an array file has only values, so \"pattern\" leaves nothing; use coordinate or real");
  }
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew) {
    refuse(source, banner[4].offset, "a pattern has no signs, so it cannot be skew-symmetric; use symmetric or general");
  }
}

std::int64_t whole_number(const TextSource& source, const Token& token, const char* what, std::int64_t least,
                          std::int64_t most) {
  auto digits = token.text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const bool whole =
      !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!whole) {
    refuse(source, token.offset,
           fmt::format("the number of {} is {}, which is not a whole number", what, quoted_token(source, token.offset)));
  }
  std::int64_t value = 0;
  bool overflow = false;
  for (const char c : digits) {
    overflow = overflow || __builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value);
  }
  if (negative && !overflow) value = -value;
  if (overflow || value < least || value > most) {
    refuse(source, token.offset,
           fmt::format("the number of {} is {}; legal are {} to {}{}", what, quoted_token(source, token.offset), least, most,
                       most == largest_side ? " (indices have 32 bits)" : ""));
  }
  return value;
}

void check_claim(const TextSource& source, const Header& header) {
  // The shortest lines are "1 1" and "1" with a line end that the last one may lack. A coordinate line with a value is
  // longer, but a file that forgot its values deserves a message about its first line, not about its size.
  const std::int64_t shortest = header.format == Format::array ? 2 : 4;
  const auto there = static_cast<std::int64_t>(source.text().size()) - header.body;
  const auto room = (there + 1) / shortest;
  if (header.entries > room) {
    refuse(source, header.size_line,
           fmt::format(
               "the size line promises {} entries, and the {} bytes after it can hold at most {}; the file is cut short or "
               "its size line is wrong",
               header.entries, there, room));
  }
}

}  // namespace

bool worth_reading_on(std::span<const char> start) {
  constexpr std::size_t longest_head = std::size_t{1} << 24;
  constexpr double longest_line = 4096;
  if (!begins_as_matrix_market(start)) return false;
  if (start.size() <= longest_head) return true;
  const double entries = promised_entries(std::string_view(start.data(), longest_head));
  return entries >= 0 && static_cast<double>(start.size() - longest_head) <= longest_line * entries;
}

Header read_header(const TextSource& source) {
  if (source.text().empty()) refuse(source, 0, "the file is empty; a Matrix Market file starts with %%MatrixMarket");
  Header header;
  LineReader lines(source);
  read_banner(source, lines, header);
  const std::size_t numbers = header.format == Format::coordinate ? 3 : 2;
  for (;;) {
    if (lines.at_end()) {
      refuse(source, lines.offset(),
             "the file ends before its size line (rows, columns and, in a coordinate file, entries), or is a stream without "
             "one in its first 16 MiB");
    }
    header.size_line = lines.offset();
    const auto sizes = lines.tokens(numbers + 1);
    if (sizes.empty() || sizes[0].text.starts_with('%')) continue;
    header.size_line = sizes[0].offset;
    if (sizes.size() != numbers) {
      refuse(
          source, sizes.back().offset,
          fmt::format("the size line has {}{} numbers and needs {}: {}", sizes.size() > numbers ? "more than " : "",
                      std::min(sizes.size(), numbers), numbers, numbers == 3 ? "rows, columns, entries" : "rows, columns"));
    }
    header.rows = whole_number(source, sizes[0], "rows", 1, largest_side);
    header.columns = whole_number(source, sizes[1], "columns", 1, largest_side);
    if (header.mirrored() && header.rows != header.columns) {
      refuse(source, header.size_line,
             fmt::format("a {} matrix is square, this one is {} x {}; declare it general", word(header.symmetry),
                         header.rows, header.columns),
             ErrorCode::symmetry);
    }
    const std::int64_t n = header.rows;  // products of two 31-bit numbers: no overflow
    if (header.format == Format::coordinate) {
      header.entries = whole_number(source, sizes[2], "entries", 0, std::numeric_limits<std::int64_t>::max());
    } else if (header.symmetry == Symmetry::general) {
      header.entries = n * header.columns;
    } else {
      header.entries = header.symmetry == Symmetry::symmetric ? n * (n + 1) / 2 : n * (n - 1) / 2;
    }
    break;
  }
  header.body = lines.offset();
  check_claim(source, header);
  return header;
}

const char* word(Field field) {
  switch (field) {
    case Field::real: return "real";
    case Field::integer: return "integer";
    case Field::pattern: return "pattern";
  }
  return "real";
}

const char* word(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::general: return "general";
    case Symmetry::symmetric: return "symmetric";
    case Symmetry::skew: return "skew-symmetric";
  }
  return "general";
}

}  // namespace echelon::matrix_market
