// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/io/matrix_market_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "echelon/base/memory.hpp"
#include "echelon/base/parallel_parts.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/io/decimal_number.hpp"

namespace echelon::matrix_market {

std::span<Entry> EntryList::add_block() {
  // Small files get small blocks.
  const std::int64_t entries = std::min(block_entries, std::max<std::int64_t>(256, 4 * room_));
  blocks_.emplace_back(entries);
  room_ += entries;
  return blocks_.back().span();
}

namespace {

constexpr std::int64_t least_part_bytes = std::int64_t{1} << 15;

/// Whole lines: the last byte is a line end, which stops every loop over characters below.
struct Lines {
  const char* begin;
  const char* end;
  const char* safe_end;  // eight bytes may be read from here
  std::int64_t offset;   // of `begin` in the file
};

struct Cursor {
  const char* p;
  Fault fault = Fault::none;
  const char* fault_at = nullptr;

  bool refuse(Fault what, const char* at) {
    fault = what;
    fault_at = at;
    return false;
  }
  [[gnu::always_inline]] void skip_blanks() {
    if (*p == ' ') ++p;  // nearly always all there is
    while (is_blank(*p)) [[unlikely]]++ p;
  }
};

/// A row or column index, zero-based. Digits, perhaps with a sign, then a blank or the line's end.
[[gnu::always_inline]] inline bool read_index(Cursor& at, const Lines& lines, std::int64_t most, Fault malformed,
                                              Fault range, std::int32_t& index) {
  const char* const start = at.p;
  decimal::DigitRun run;
  if (at.p <= lines.safe_end) [[likely]] {
    const auto eight = decimal::eight_digits(at.p);
    run = {eight.value, eight.count};
    at.p += eight.count;
  }
  bool negative = false;
  if (run.digits == 0 || run.digits == 8) [[unlikely]] {
    at.p = start;
    negative = *at.p == '-';
    if (negative || *at.p == '+') ++at.p;
    while (*at.p == '0' && decimal::is_digit(at.p[1])) ++at.p;
    run = decimal::digit_run(at.p, lines.safe_end);
  }
  if (run.digits == 0 || !(is_blank(*at.p) || *at.p == '\n')) return at.refuse(malformed, start);
  // The subtraction turns 0 into the largest number, so one comparison sees both ends.
  if (run.digits > 18 || negative || run.value - 1 >= static_cast<std::uint64_t>(most)) return at.refuse(range, start);
  index = static_cast<std::int32_t>(run.value - 1);
  return true;
}

template <Format format, Field field>
class PartScanner {
 public:
  PartScanner(const Header& header, const Lines& lines, Part& part)
      : lines_(lines),
        part_(part),
        row_count_(part.row_count.data()),
        rows_(header.rows),
        columns_(header.columns),
        promised_(header.entries),
        mirrored_(header.mirrored()),
        skew_(header.symmetry == Symmetry::skew) {}

  void run() {
    Cursor at{lines_.begin};
    while (at.p < lines_.end) {
      at.skip_blanks();
      if (*at.p == '\n') {
        ++at.p;
      } else if (*at.p == '%') {
        at.p = static_cast<const char*>(std::memchr(at.p, '\n', static_cast<std::size_t>(lines_.end - at.p))) + 1;
      } else if (!line(at)) {
        if (at.fault != Fault::none) {
          part_.fault = at.fault;
          part_.fault_offset = lines_.offset + (at.fault_at - lines_.begin);
        }
        break;
      }
    }
    part_.entries.filled_to(next_);
    part_.by_rows = by_rows_;
    part_.by_columns = by_columns_;
  }

 private:
  [[gnu::always_inline]] bool line(Cursor& at) {
    const char* const start = at.p;
    Entry entry{0, 0, 1.0};
    if constexpr (format == Format::coordinate) {
      if (!read_index(at, lines_, rows_, Fault::row_malformed, Fault::row_range, entry.row)) return false;
      at.skip_blanks();
      if (*at.p == '\n') return at.refuse(Fault::column_missing, at.p);
      if (!read_index(at, lines_, columns_, Fault::column_malformed, Fault::column_range, entry.column)) return false;
      if (mirrored_ && entry.column > entry.row) return at.refuse(Fault::above_diagonal, start);
    }
    if constexpr (field != Field::pattern) {
      at.skip_blanks();
      if (*at.p == '\n') return at.refuse(Fault::value_missing, at.p);
      if (!value(at, entry)) return false;
    }
    at.skip_blanks();
    if (*at.p != '\n') return at.refuse(Fault::trailing, at.p);
    ++at.p;
    return keep(entry);
  }

  [[gnu::always_inline]] bool value(Cursor& at, Entry& entry) {
    const char* const start = at.p;
    const auto number = decimal::parse(at.p, lines_.safe_end, lines_.end);
    entry.value = number.value;
    if (number.shape == decimal::Shape::malformed || !(is_blank(*at.p) || *at.p == '\n')) {
      return at.refuse(Fault::value_malformed, start);
    }
    if (field == Field::integer && number.shape == decimal::Shape::real) return at.refuse(Fault::value_not_whole, start);
    if (number.shape == decimal::Shape::nonfinite) [[unlikely]] {
      if (++part_.nonfinite <= 5) {
        const std::int64_t ordinal = part_.entries.room() - (block_end_ - next_);
        part_.first_nonfinite.push_back({lines_.offset + (start - lines_.begin), ordinal});
      }
    } else if (std::abs(entry.value) < std::numeric_limits<double>::min()) [[unlikely]] {
      ++(entry.value == 0 ? part_.explicit_zeros : part_.denormals);
    }
    if (format == Format::coordinate && skew_ && entry.row == entry.column && entry.value != 0) {
      return at.refuse(Fault::skew_diagonal, start);
    }
    return true;
  }

  /// False when the part alone has more entries than were promised: no use reading on.
  [[gnu::always_inline]] bool keep(const Entry& entry) {
    if (next_ == block_end_) [[unlikely]] {
      const auto block = part_.entries.add_block();
      next_ = block.data();
      block_end_ = next_ + block.size();
    }
    *next_++ = entry;
    if constexpr (format == Format::coordinate) {
      const auto row = static_cast<std::uint64_t>(entry.row), column = static_cast<std::uint64_t>(entry.column);
      const std::uint64_t row_key = row << 32 | column, column_key = column << 32 | row;
      by_rows_ &= row_key >= row_key_;
      by_columns_ &= column_key >= column_key_;
      row_key_ = row_key;
      column_key_ = column_key;
      ++row_count_[entry.row];
      if (mirrored_ && entry.row != entry.column) ++row_count_[entry.column];
    }
    return next_ != block_end_ || part_.entries.room() <= promised_;
  }

  const Lines lines_;
  Part& part_;
  std::uint32_t* const row_count_;
  const std::int64_t rows_, columns_, promised_;
  const bool mirrored_, skew_;
  Entry* next_ = nullptr;
  Entry* block_end_ = nullptr;
  std::uint64_t row_key_ = 0, column_key_ = 0;
  bool by_rows_ = true, by_columns_ = true;
};

void scan_part(const Header& header, const Lines& lines, Part& part) {
  part.row_count = Array<std::uint32_t>(header.rows, 0u);
  if (header.format == Format::array) {
    if (header.field == Field::integer) return PartScanner<Format::array, Field::integer>(header, lines, part).run();
    return PartScanner<Format::array, Field::real>(header, lines, part).run();
  }
  switch (header.field) {
    case Field::real: return PartScanner<Format::coordinate, Field::real>(header, lines, part).run();
    case Field::integer: return PartScanner<Format::coordinate, Field::integer>(header, lines, part).run();
    case Field::pattern: return PartScanner<Format::coordinate, Field::pattern>(header, lines, part).run();
  }
}

/// Array values come column by column; a mirrored file has the lower triangle only (the strict one when skew).
void place_array_values(const Header& header, std::int64_t before, Part& part) {
  std::int64_t column = 0, row = 0;
  const std::int64_t first = header.symmetry == Symmetry::skew ? 1 : 0;
  const auto top = [&](std::int64_t c) { return header.mirrored() ? c + first : 0; };
  if (!header.mirrored()) {
    column = before / header.rows;
    row = before % header.rows;
  } else {
    std::int64_t left = before;
    while (left >= header.rows - top(column)) {
      if (column + 1 == header.columns) break;
      left -= header.rows - top(column++);
    }
    row = top(column) + left;
  }
  part.entries.for_each([&](Entry& entry) {
    while (row >= header.rows) row = top(++column);
    entry.row = static_cast<std::int32_t>(row++);
    entry.column = static_cast<std::int32_t>(column);
    if (entry.value == 0) return;  // not stored
    ++part.row_count[entry.row];
    if (header.mirrored() && entry.row != entry.column) ++part.row_count[entry.column];
  });
}

/// Cuts the body at line ends. An unfinished last line is copied to `tail` with a line end.
std::vector<Lines> cut(const TextSource& source, const Header& header, std::string& tail) {
  const auto text = source.text();
  const char* const begin = text.data() + header.body;
  const char* const end = text.data() + text.size();
  const char* const safe_end = end - 8;
  const char* whole = end;
  while (whole > begin && whole[-1] != '\n') --whole;

  // The counts of all parts together stay below the size of the text, for a matrix with more rows than entries.
  const std::int64_t bytes = whole - begin;
  const std::int64_t most = std::min(bytes / least_part_bytes, 1 + bytes / (4 * header.rows));
  const int parts = static_cast<int>(std::clamp<std::int64_t>(most, 1, threads()));
  std::vector<Lines> list;
  const char* at = begin;
  for (int part = 0; part < parts; ++part) {
    const char* stop = begin + share(bytes, part, parts).second;
    if (stop < at) stop = at;  // one line may be longer than a share
    while (stop > at && stop < whole && stop[-1] != '\n') ++stop;
    if (stop > at) list.push_back({at, stop, safe_end, at - text.data()});
    at = stop;
  }
  if (whole < end) {
    tail.assign(whole, end);
    tail.append(8, '\n');  // the line's end, and blank lines to make eight bytes readable
    list.push_back({tail.data(), tail.data() + tail.size(), tail.data() + tail.size() - 8, whole - text.data()});
  }
  return list;
}

void refuse_what_will_not_fit(const TextSource& source, const Header& header, const ReadOptions& options,
                              std::int64_t parts) {
  const std::int64_t stored = header.mirrored() ? 2 * header.entries : header.entries;
  // Triplets and counts while the rows are filled; then, where duplicates leave gaps, the matrix twice.
  const std::int64_t filling = header.entries * static_cast<std::int64_t>(sizeof(Entry)) + parts * header.rows * 4;
  const std::int64_t matrix = (header.rows + 1) * 8 + stored * 12, places = header.rows * 8;
  const std::int64_t bytes = matrix + places + std::max(filling, matrix);
  const auto what =
      fmt::format("the {} x {} matrix with {} entries of {}", header.rows, header.columns, header.entries, source.name());
  if (options.memory_limit > 0 && bytes > options.memory_limit) {
    throw Error(
        ErrorCode::will_not_fit,
        fmt::format("{} needs {} and the limit given is {}", what, human_bytes(bytes), human_bytes(options.memory_limit)),
        place(source, header.size_line));
  }
  require_memory(bytes, what);
}

/// The first bad line, as a reader from top to bottom would meet it.
void refuse_first_fault(const TextSource& source, const Header& header, const std::vector<Part>& parts) {
  std::int64_t found = 0;
  for (const auto& part : parts) {
    found += part.entries.size();
    const bool complete = found >= header.entries && part.fault != Fault::none;  // then the bad line is one too many
    if (found > header.entries || complete) {
      refuse_surplus(source, header, find_entry_line(source, header.body, header.entries));
    }
    if (part.fault != Fault::none) refuse_entry(source, header, part.fault, part.fault_offset);
  }
  if (found < header.entries) refuse_truncated(source, header, found);
}

void refuse_nonfinite(const TextSource& source, const std::vector<Part>& parts, std::int64_t count) {
  std::string list;
  std::int64_t listed = 0, first = -1;
  for (const auto& part : parts) {
    for (const auto& one : part.first_nonfinite) {
      if (listed++ == 5) break;
      if (first < 0) first = one.offset;
      std::int64_t ordinal = 0;
      part.entries.for_each([&](const Entry& entry) {
        if (ordinal++ != one.ordinal) return;
        list += fmt::format("{}{} at ({}, {})", list.empty() ? "" : ", ", quoted_token(source, one.offset), entry.row + 1,
                            entry.column + 1);
      });
    }
    if (listed >= 5) break;
  }
  throw Error(ErrorCode::nonfinite_value,
              fmt::format("{} value{} not finite as a double: {}{}; correct the file, or allow non-finite values for study",
                          count, count == 1 ? " is" : "s are", list, count > 5 ? ", ..." : ""),
              place(source, first));
}

}  // namespace

std::vector<Part> scan_entries(const TextSource& source, const Header& header, const ReadOptions& options,
                               ReadNotes& notes) {
  std::string tail;
  const auto lines = cut(source, header, tail);
  const int count = static_cast<int>(lines.size());
  refuse_what_will_not_fit(source, header, options, count);
  std::vector<Part> parts(lines.size());
  for_each_part(count,
                [&](int t) { scan_part(header, lines[static_cast<std::size_t>(t)], parts[static_cast<std::size_t>(t)]); });
  refuse_first_fault(source, header, parts);
  if (header.format == Format::array) {
    std::vector<std::int64_t> before(parts.size(), 0);
    for (std::size_t t = 1; t < parts.size(); ++t) before[t] = before[t - 1] + parts[t - 1].entries.size();
    for_each_part(count, [&](int t) {
      place_array_values(header, before[static_cast<std::size_t>(t)], parts[static_cast<std::size_t>(t)]);
    });
  }

  notes.bytes = static_cast<std::int64_t>(source.text().size());
  notes.symmetry = word(header.symmetry);
  notes.field = word(header.field);
  bool by_rows = true, by_columns = true;
  std::int64_t last_row_key = 0, last_column_key = 0;
  for (const auto& part : parts) {
    notes.entries += part.entries.size();
    notes.explicit_zeros += part.explicit_zeros;
    notes.denormals += part.denormals;
    notes.nonfinite += part.nonfinite;
    by_rows = by_rows && part.by_rows;
    by_columns = by_columns && part.by_columns;
    const auto ends = part.entries.ends();
    const auto row_key = [](const Entry& e) { return std::int64_t{e.row} << 32 | e.column; };
    const auto column_key = [](const Entry& e) { return std::int64_t{e.column} << 32 | e.row; };
    if (!ends) continue;
    by_rows = by_rows && row_key(ends->first) >= last_row_key;
    by_columns = by_columns && column_key(ends->first) >= last_column_key;
    last_row_key = row_key(ends->second);
    last_column_key = column_key(ends->second);
  }
  notes.sorted = header.format == Format::array || by_rows || by_columns;
  if (notes.nonfinite > 0 && !options.allow_nonfinite) refuse_nonfinite(source, parts, notes.nonfinite);
  return parts;
}

}  // namespace echelon::matrix_market
