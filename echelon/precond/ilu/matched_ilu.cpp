// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/ilu/matched_ilu.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"
#include "echelon/base/ordinal.hpp"
#include "echelon/schedule/orders/matching.hpp"

namespace echelon {
namespace {

WeightedMatching match(const BlockCsr<double>& A) {
  auto matching = maximum_product_matching(A);
  if (!matching) {
    const auto rows = maximum_matching(A).unmatched_rows;
    // Entries that are not finite are edges there and none here.
    const std::string which = rows.empty() ? std::string("entries that are not finite cannot be taken")
                                           : fmt::format("{} rows cannot be matched with a column, the first is row {}",
                                                         rows.size(), Ordinal{rows.front()});
    throw Error(ErrorCode::structure,
                fmt::format("no row permutation gives a full diagonal: structurally singular, {}", which));
  }
  return std::move(*matching);
}

/// B = P R A C: row j of B is the scaled row of A matched with column j.
BlockCsr<double> permuted_and_scaled(const BlockCsr<double>& A, const WeightedMatching& matching) {
  const auto n = A.rows();
  Array<std::int64_t> start(n + 1);
  Array<std::int32_t> column(A.nonzeros());
  Array<double> values(A.nonzeros());
  start[0] = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const auto row = matching.row_of_column[static_cast<std::size_t>(j)];
    auto to = start[j];
    for (auto e = A.row_start()[row]; e < A.row_start()[row + 1]; ++e, ++to) {
      column[to] = A.column()[e];
      values[to] = A.values()[e] * matching.row_scale[static_cast<std::size_t>(row)] *
                   matching.column_scale[static_cast<std::size_t>(column[to])];
    }
    start[j + 1] = to;
  }
  return {n, n, 1, std::move(start), std::move(column), std::move(values)};
}

}  // namespace

MatchedMatrix matched_matrix(const BlockCsr<double>& A) {
  auto matching = match(A);
  auto matrix = permuted_and_scaled(A, matching);
  return {std::move(matching), std::move(matrix)};
}

FactorReport report_of_matched(FactorReport report, const WeightedMatching& matching) {
  report.ordering = "matched, " + report.ordering;
  for (auto& pivot : report.bad_pivots) pivot.row = matching.row_of_column[static_cast<std::size_t>(pivot.row)];
  if (!report.ok && !report.bad_pivots.empty()) {
    const auto& pivot = report.bad_pivots.front();
    report.message = fmt::format("{} after row matching: {} pivot at row {} (value {:.6g} after scaling)", title(report),
                                 word(pivot.kind), Ordinal{pivot.row}, pivot.value);
  }
  return report;
}

MatchedIlu::MatchedIlu(const BlockCsr<double>& A, const IluOptions& options, Factor factor)
    : MatchedIlu(matched_matrix(A), options, factor) {}

MatchedIlu::MatchedIlu(MatchedMatrix matched, const IluOptions& options, Factor factor)
    : matching_(std::move(matched.matching)),
      ilu_(factor(matched.matrix, options)),
      report_(report_of_matched(ilu_.report(), matching_)) {
  scaled_.own() = Vector<double>(matched.matrix.rows());
}

void MatchedIlu::apply(const Vector<double>& r, Vector<double>& z) const {
  const auto n = static_cast<std::int64_t>(matching_.row_of_column.size());
  if (r.size() != n) throw_size_mismatch("right-hand side of an ILU", r.size(), n);
  auto loan = scaled_.take([n](Vector<double>& spare) {
    if (spare.size() != n) spare = Vector<double>(n);
  });
  Vector<double>& scaled = *loan;
  for (std::int64_t j = 0; j < n; ++j) {
    const auto row = matching_.row_of_column[static_cast<std::size_t>(j)];
    scaled[j] = matching_.row_scale[static_cast<std::size_t>(row)] * r[row];
  }
  ilu_.apply(scaled, z);
  for (std::int64_t j = 0; j < n; ++j) z[j] *= matching_.column_scale[static_cast<std::size_t>(j)];
}

}  // namespace echelon
