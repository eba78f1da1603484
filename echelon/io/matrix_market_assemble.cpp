// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/io/matrix_market_assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "echelon/base/parallel_parts.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::matrix_market {
namespace {

/// Row ranges for the passes over rows; small matrices are not worth a second thread.
int row_parts(std::int64_t rows) { return static_cast<int>(std::clamp<std::int64_t>(rows / 4096, 1, threads())); }

/// row_start, and in each part's counts the place of its first entry within the row.
Array<std::int64_t> place_rows(const TextSource& source, const Header& header, std::vector<Part>& parts) {
  const int ranges = row_parts(header.rows);
  std::vector<std::int64_t> before(static_cast<std::size_t>(ranges) + 1, 0);
  Array<std::int64_t> row_start(header.rows + 1);
  const auto sweep = [&](int range, bool write) {
    const auto [begin, end] = share(header.rows, range, ranges);
    std::int64_t at = write ? before[static_cast<std::size_t>(range)] : 0;
    for (std::int64_t row = begin; row < end; ++row) {
      if (write) row_start[row] = at;
      std::uint32_t within = 0;
      for (auto& part : parts) {
        const std::uint32_t count = part.row_count[row];
        if (write) part.row_count[row] = within;
        within += count;
        at += count;
      }
    }
    if (!write) before[static_cast<std::size_t>(range) + 1] = at;
  };
  for_each_part(ranges, [&](int range) { sweep(range, false); });
  for (std::size_t range = 0; range < static_cast<std::size_t>(ranges); ++range) before[range + 1] += before[range];
  for_each_part(ranges, [&](int range) { sweep(range, true); });
  const std::int64_t total = before.back();
  row_start[header.rows] = total;

  // Places within a row have 32 bits. Only a row with 2³² duplicates could wrap them, and then the total shows it.
  std::vector<std::int64_t> stored(parts.size(), 0);
  for_each_part(static_cast<int>(parts.size()), [&](int t) {
    auto& mine = stored[static_cast<std::size_t>(t)];
    const bool coordinate = header.format == Format::coordinate;
    std::int64_t sum = 0;
    if (coordinate && !header.mirrored()) {
      sum = parts[static_cast<std::size_t>(t)].entries.size();
    } else {
      parts[static_cast<std::size_t>(t)].entries.for_each([&](const Entry& entry) {
        if (coordinate || entry.value != 0) sum += header.mirrored() && entry.row != entry.column ? 2 : 1;
      });
    }
    mine = sum;
  });
  std::int64_t expected = 0;
  for (const auto one : stored) expected += one;
  if (expected != total) {
    throw Error(ErrorCode::duplicate_entry, "a row has more than 4294967295 entries, most of them duplicates",
                source.name());
  }
  return row_start;
}

template <bool mirrored, bool keep_zeros>
void scatter(const Header& header, Part& part, Csr& csr) {
  const std::int64_t* const row_start = csr.row_start.data();
  std::uint32_t* const within = part.row_count.data();
  std::int32_t* const column = csr.column.data();
  double* const values = csr.values.data();
  const double sign = header.symmetry == Symmetry::skew ? -1 : 1;
  part.entries.for_each([&](const Entry& entry) {
    if (!keep_zeros && entry.value == 0) return;
    const auto at = row_start[entry.row] + within[entry.row]++;
    column[at] = entry.column;
    values[at] = entry.value;
    if (mirrored && entry.row != entry.column) {
      const auto opposite = row_start[entry.column] + within[entry.column]++;
      column[opposite] = entry.row;
      values[opposite] = sign * entry.value;
    }
  });
}

struct RowFindings {
  std::int64_t merged_places = 0;   // stored entries that disappear
  std::int64_t merged_entries = 0;  // the same without mirror images
  std::int64_t duplicate_row = -1;  // the first
  std::int64_t duplicate_column = -1;
  std::int64_t overflows = 0;  // sums of finite duplicates beyond a double, without mirror images
  std::int64_t overflow_row = -1;
  std::int64_t overflow_column = -1;
};

/// Sorts one row stably and merges equal columns at its front; returns how many places stay in use.
class RowFinisher {
 public:
  RowFinisher(const Header& header, Duplicates policy, RowFindings& findings)
      : header_(header), policy_(policy), findings_(findings) {}

  std::int64_t finish(std::int64_t row, std::int32_t* column, double* values, std::int64_t count) {
    std::int64_t i = 1;
    while (i < count && column[i - 1] < column[i]) ++i;
    if (i >= count) return count;
    if (!std::is_sorted(column, column + count)) sort(column, values, count);
    std::int64_t last = 0;
    for (i = 1; i < count; ++i) {
      if (column[i] != column[last]) {
        ++last;
        column[last] = column[i];
        values[last] = values[i];
        continue;
      }
      merge(row, column[last], values[last], values[i]);
    }
    findings_.merged_places += count - last - 1;
    return last + 1;
  }

 private:
  void sort(std::int32_t* column, double* values, std::int64_t count) {
    row_.clear();
    for (std::int64_t i = 0; i < count; ++i) row_.push_back({column[i], values[i]});
    std::stable_sort(row_.begin(), row_.end(), [](const Place& a, const Place& b) { return a.column < b.column; });
    for (std::int64_t i = 0; i < count; ++i) {
      column[i] = row_[static_cast<std::size_t>(i)].column;
      values[i] = row_[static_cast<std::size_t>(i)].value;
    }
  }

  void merge(std::int64_t row, std::int64_t column, double& kept, double later) {
    if (!header_.mirrored() || column <= row) ++findings_.merged_entries;
    if (findings_.duplicate_row < 0) {
      findings_.duplicate_row = row;
      findings_.duplicate_column = column;
    }
    if (policy_ == Duplicates::last) {
      kept = later;
      return;
    }
    const double sum = kept + later;
    if (!std::isfinite(sum) && std::isfinite(kept) && std::isfinite(later)) {
      if (!header_.mirrored() || column <= row) ++findings_.overflows;
      if (findings_.overflow_row < 0) {
        findings_.overflow_row = row;
        findings_.overflow_column = column;
      }
    }
    kept = sum;
  }

  struct Place {
    std::int32_t column;
    double value;
  };
  const Header& header_;
  Duplicates policy_;
  RowFindings& findings_;
  std::vector<Place> row_;
};

[[noreturn]] void refuse_duplicate(const TextSource& source, const Header& header, const std::vector<Part>& parts,
                                   const RowFindings& found, std::int64_t count) {
  // A mirrored file has the entry below the diagonal.
  const auto row = header.mirrored() ? std::max(found.duplicate_row, found.duplicate_column) : found.duplicate_row;
  const auto column = header.mirrored() ? std::min(found.duplicate_row, found.duplicate_column) : found.duplicate_column;
  std::int64_t ordinal = 0, second = -1, seen = 0;
  for (const auto& part : parts) {
    part.entries.for_each([&](const Entry& entry) {
      if (entry.row == row && entry.column == column && ++seen == 2) second = ordinal;
      ++ordinal;
    });
  }
  throw Error(
      ErrorCode::duplicate_entry,
      fmt::format("entry ({}, {}) is there more than once; the file has {} duplicate{} in all, and they were to be refused; "
                  "remove them, or choose to sum them or to keep the last",
                  row + 1, column + 1, count, count == 1 ? "" : "s"),
      place(source, find_entry_line(source, header.body, second)));
}

Csr without_gaps(const Csr& csr, const Array<std::int64_t>& used) {
  const std::int64_t rows = used.size();
  Csr out{Array<std::int64_t>(rows + 1), {}, {}};
  out.row_start[0] = 0;
  for (std::int64_t row = 0; row < rows; ++row) out.row_start[row + 1] = out.row_start[row] + used[row];
  out.column = Array<std::int32_t>(out.row_start[rows]);
  out.values = Array<double>(out.row_start[rows]);
  const int ranges = row_parts(rows);
  for_each_part(ranges, [&](int range) {
    const auto [begin, end] = share(rows, range, ranges);
    for (std::int64_t row = begin; row < end; ++row) {
      std::copy_n(csr.column.data() + csr.row_start[row], used[row], out.column.data() + out.row_start[row]);
      std::copy_n(csr.values.data() + csr.row_start[row], used[row], out.values.data() + out.row_start[row]);
    }
  });
  return out;
}

}  // namespace

Csr assemble(const TextSource& source, const Header& header, std::vector<Part> parts, const ReadOptions& options,
             ReadNotes& notes) {
  Csr csr;
  csr.row_start = place_rows(source, header, parts);
  csr.column = Array<std::int32_t>(csr.row_start[header.rows]);
  csr.values = Array<double>(csr.row_start[header.rows]);
  for_each_part(static_cast<int>(parts.size()), [&](int t) {
    auto& part = parts[static_cast<std::size_t>(t)];
    const bool keep_zeros = header.format == Format::coordinate;
    if (header.mirrored())
      return keep_zeros ? scatter<true, true>(header, part, csr) : scatter<true, false>(header, part, csr);
    return keep_zeros ? scatter<false, true>(header, part, csr) : scatter<false, false>(header, part, csr);
  });
  if (options.duplicates != Duplicates::refuse) parts.clear();

  const int ranges = row_parts(header.rows);
  std::vector<RowFindings> findings(static_cast<std::size_t>(ranges));
  Array<std::int64_t> used(header.rows);
  for_each_part(ranges, [&](int range) {
    RowFinisher finisher(header, options.duplicates, findings[static_cast<std::size_t>(range)]);
    const auto [begin, end] = share(header.rows, range, ranges);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = csr.row_start[row];
      used[row] = finisher.finish(row, csr.column.data() + at, csr.values.data() + at, csr.row_start[row + 1] - at);
    }
  });

  std::int64_t gaps = 0;
  for (const auto& range : findings) {
    gaps += range.merged_places;
    notes.duplicates += range.merged_entries;
    notes.nonfinite += range.overflows;
  }
  for (const auto& range : findings) {
    if (range.duplicate_row >= 0 && options.duplicates == Duplicates::refuse) {
      refuse_duplicate(source, header, parts, range, notes.duplicates);
    }
    if (range.overflow_row >= 0 && !options.allow_nonfinite) {
      throw Error(
          ErrorCode::nonfinite_value,
          fmt::format(
              "the sum of the duplicates of entry ({}, {}) is too large for a double; correct them, or keep the last",
              range.overflow_row + 1, range.overflow_column + 1),
          source.name());
    }
  }
  return gaps > 0 ? without_gaps(csr, used) : std::move(csr);
}

}  // namespace echelon::matrix_market
