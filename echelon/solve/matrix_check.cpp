// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/solve/matrix_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/matrix/traits.hpp"
#include "echelon/schedule/orders/matching.hpp"

namespace echelon {
namespace {

constexpr std::size_t rows_named = 10;
/// Rows and columns that cost nothing to speak of.
constexpr std::int64_t always_read = std::int64_t{1} << 16;

std::string size_sentence(const MatrixSizes& sizes) {
  return fmt::format("{} rows and columns with at most {} entries: structurally singular, rank n-{} or less", sizes.rows,
                     sizes.most_stored, sizes.rows - sizes.most_stored);
}

/// "rows 57, 91 cannot be matched: structurally singular, rank n-2"
std::string deficiency_sentence(const Matching& matching) {
  const auto& rows = matching.unmatched_rows;
  std::string list;
  for (std::size_t i = 0; i < std::min(rows.size(), rows_named); ++i)
    list += fmt::format("{}{}", i ? ", " : "", rows[i] + 1);
  if (rows.size() > rows_named) list += fmt::format(", … ({} in all)", rows.size());
  return fmt::format("{} {} cannot be matched with a column: structurally singular, rank n-{}",
                     rows.size() == 1 ? "row" : "rows", list, rows.size());
}

/// Blocks of size b that hold at least one stored scalar.
std::int64_t touched_blocks(const BlockCsr<double>& A, int b) {
  std::vector<std::int64_t> seen_by(static_cast<std::size_t>(A.columns() / b), -1);
  std::int64_t count = 0;
  const auto start = A.row_start();
  for (std::int64_t row = 0; row < A.rows(); ++row) {
    for (auto e = start[row]; e < start[row + 1]; ++e) {
      auto& last = seen_by[static_cast<std::size_t>(A.column()[e] / b)];
      if (last == row / b) continue;
      last = row / b;
      ++count;
    }
  }
  return count;
}

void look_at_emptiness(const BlockCsr<double>& A, CheckReport& report) {
  std::vector<char> used(static_cast<std::size_t>(A.columns()), 0);
  const auto start = A.row_start();
  for (std::int64_t row = 0; row < A.rows(); ++row) {
    bool empty = true;
    for (auto e = start[row]; e < start[row + 1]; ++e) {
      if (A.values()[e] == 0) continue;
      empty = false;
      used[static_cast<std::size_t>(A.column()[e])] = 1;
    }
    report.empty_rows += empty;
  }
  report.empty_columns = std::count(used.begin(), used.end(), 0);
}

void advise_on_defects(const CheckReport& report, const BlockCsr<double>& A, const Matching& matching,
                       std::vector<std::string>& advice) {
  if (report.rows != report.columns) {
    advice.push_back(fmt::format("the matrix is {} x {}: solve needs a square one", report.rows, report.columns));
  }
  if (report.nonfinite > 0) {
    const auto scan = scan_nonfinite(A);
    advice.push_back(fmt::format("{} entries are NaN or infinite, the first at row {}, column {}: correct the file",
                                 scan.count, scan.row[0] + 1, scan.column[0] + 1));
  }
  if (!matching.unmatched_rows.empty()) {
    advice.push_back(deficiency_sentence(matching) +
                     "; correct these equations, or pass --null-space constant when the system is singular on purpose");
  }
}

void advise_on_method(const CheckReport& report, std::vector<std::string>& advice) {
  if (report.missing_diagonals + report.zero_diagonals > 0) {
    advice.push_back(
        fmt::format("{} diagonal entries are missing or zero: ILU without pivoting repairs such pivots and reports it; "
                    "--pc auto climbs its ladder when that is not enough",
                    report.missing_diagonals + report.zero_diagonals));
  }
  if (report.block_guess > 1) {
    advice.push_back(fmt::format("blocks of {0}x{0} are {1:.0f} % full: try --block {0}", report.block_guess,
                                 100 * report.block_density));
  }
  if (report.symmetric && report.missing_diagonals + report.zero_diagonals + report.negative_diagonals == 0) {
    advice.emplace_back("symmetric with a positive diagonal: --solver cg --pc ic is tried first by --pc auto");
  } else {
    advice.push_back(fmt::format("{}: --solver gmres --pc ilu is tried first by --pc auto",
                                 report.symmetric ? "symmetric, but the diagonal is not positive" : "not symmetric"));
  }
}

}  // namespace

int guess_block_size(const BlockCsr<double>& A, double* density) {
  constexpr double full_enough = 0.8;
  if (density) *density = 1;
  for (int b = 8; b >= 2; --b) {
    if (A.rows() % b != 0 || A.columns() % b != 0 || A.rows() <= b || A.nonzeros() == 0) continue;
    const double share = static_cast<double>(A.nonzeros()) / (static_cast<double>(touched_blocks(A, b)) * b * b);
    if (share < full_enough) continue;
    if (density) *density = share;
    return b;
  }
  return 1;
}

namespace {

/// Then the diagonal is a matching, and nobody needs to look for another.
bool has_full_diagonal(const BlockCsr<double>& A) {
  const auto start = A.row_start();
  for (std::int64_t row = 0; row < A.rows(); ++row) {
    const auto* begin = A.column().data() + start[row];
    const auto* end = A.column().data() + start[row + 1];
    const auto* at = std::lower_bound(begin, end, static_cast<std::int32_t>(row));
    if (at == end || *at != row || A.values()[at - A.column().data()] == 0) return false;
  }
  return true;
}

}  // namespace

void require_structural_rank(const BlockCsr<double>& A) {
  if (!A.square()) {
    throw Error(ErrorCode::not_square,
                fmt::format("the matrix is {} x {}; a linear system needs a square one", A.rows(), A.columns()));
  }
  if (A.block() == 1 && has_full_diagonal(A)) return;
  const auto matching = maximum_matching(A);
  if (!matching.unmatched_rows.empty()) throw Error(ErrorCode::structure, deficiency_sentence(matching));
}

std::int64_t ilu0_memory(std::int64_t rows, std::int64_t nonzeros, std::int64_t vectors) {
  // Values and columns of L and U, their row starts, the order and the schedule, and the vectors.
  return nonzeros * 12 + rows * (16 + 8 + 8) + vectors * rows * 8;
}

bool condemned_by_sizes(const MatrixSizes& sizes) {
  const auto longest = std::max(sizes.rows, sizes.columns);
  return sizes.coordinate && longest > always_read && sizes.most_stored < longest;
}

CheckReport check_sizes(const MatrixSizes& sizes) {
  CheckReport report;
  report.path = sizes.name;
  report.symmetry_in_file = sizes.symmetry;
  report.field = sizes.field;
  report.rows = sizes.rows;
  report.columns = sizes.columns;
  report.entries_promised = sizes.entries;
  report.sizes_only = true;
  report.structural_rank = std::min({sizes.rows, sizes.columns, sizes.most_stored});
  report.advice.push_back(sizes.rows != sizes.columns
                              ? fmt::format("the matrix is {} x {}: solve needs a square one", sizes.rows, sizes.columns)
                              : size_sentence(sizes) + "; correct the file: its entries were not looked at");
  return report;
}

void require_solvable_sizes(const MatrixSizes& sizes, bool full_rank) {
  if (sizes.rows != sizes.columns) {
    throw Error(ErrorCode::not_square,
                fmt::format("{} is {} x {}; a linear system needs a square matrix", sizes.name, sizes.rows, sizes.columns));
  }
  if (full_rank && condemned_by_sizes(sizes)) throw Error(ErrorCode::structure, size_sentence(sizes), sizes.name);
}

CheckReport check_matrix(const MatrixFile& file, const std::string& path) {
  const auto& A = file.matrix;
  // By row or column: blocks seen, columns used, and the way through the transposed pattern.
  require_memory(9 * A.columns() + 8 * A.rows(), fmt::format("a look at {}", path));
  CheckReport report;
  report.path = path;
  report.symmetry_in_file = file.notes.symmetry;
  report.field = file.notes.field;
  report.rows = A.rows();
  report.columns = A.columns();
  report.nnz = A.nonzeros();
  report.duplicates = file.notes.duplicates;
  report.explicit_zeros = file.notes.explicit_zeros;
  report.nonfinite = std::max(file.notes.nonfinite, scan_nonfinite(A).count);
  report.block_guess = guess_block_size(A, &report.block_density);
  look_at_emptiness(A, report);
  const auto traits = traits_of(A);
  report.asymmetry = traits.asymmetry;
  report.pattern_symmetric = std::isfinite(traits.asymmetry);
  report.symmetric = traits.symmetric();
  report.missing_diagonals = traits.missing_diagonals;
  report.zero_diagonals = traits.zero_diagonals;
  report.negative_diagonals = traits.negative_diagonals;
  report.weak_diagonals = traits.weak_diagonals;
  report.dominant_rows = traits.dominant_rows;
  const auto matching = maximum_matching(A);
  report.structural_rank = matching.rank;
  for (std::size_t i = 0; i < std::min(matching.unmatched_rows.size(), rows_named); ++i) {
    report.unmatched_rows.push_back(matching.unmatched_rows[i] + 1);
  }
  report.ilu0_bytes = ilu0_memory(A.rows(), A.nonzeros(), 0);
  advise_on_defects(report, A, matching, report.advice);
  report.solvable = report.advice.empty();
  if (report.solvable) advise_on_method(report, report.advice);
  return report;
}

}  // namespace echelon
