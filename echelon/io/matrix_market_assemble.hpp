// SPDX-License-Identifier: BSD-3-Clause
// Triplets in file order to compressed sparse rows: a stable counting sort by row over the parts of the scan, so the order
// of duplicates, and with it their sum, is that of the file for any number of threads. Files sorted by rows or by columns
// come out with ascending columns; only other rows are sorted. Bytes a stored entry: 16 read, 12 written, 8 of positions.
#pragma once

#include <vector>

#include "echelon/io/matrix_market_scan.hpp"

namespace echelon::matrix_market {

struct Csr {
  Array<std::int64_t> row_start;
  Array<std::int32_t> column;
  Array<double> values;
};

/// Uses up the parts. Counts merged duplicates in `notes`, or refuses them, as the options say.
Csr assemble(const TextSource& source, const Header& header, std::vector<Part> parts, const ReadOptions& options,
             ReadNotes& notes);

}  // namespace echelon::matrix_market
