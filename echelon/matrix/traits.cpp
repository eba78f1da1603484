// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/traits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace echelon {
namespace {

/// What one scalar row shows, gathered entry by entry.
struct RowScan {
  bool has_diagonal = false;
  double diagonal = 0, largest = 0, off_diagonal_sum = 0;

  void see(bool on_diagonal, double value) {
    largest = std::max(largest, std::abs(value));
    if (on_diagonal) {
      has_diagonal = true;
      diagonal = value;
    } else {
      off_diagonal_sum += std::abs(value);
    }
  }

  void add_to(MatrixTraits& traits, std::int64_t row) const {
    if (!has_diagonal) ++traits.missing_diagonals;
    if (has_diagonal && diagonal == 0) ++traits.zero_diagonals;
    if (diagonal < 0) ++traits.negative_diagonals;
    if (std::abs(diagonal) < 1e-3 * largest || diagonal == 0) {
      if (traits.weak_diagonals++ == 0) traits.first_weak_row = row;
    }
    if (std::abs(diagonal) >= off_diagonal_sum) ++traits.dominant_rows;
  }
};

}  // namespace

MatrixTraits traits_of(const BlockCsr<double>& A) {
  MatrixTraits traits;
  traits.rows = A.rows();
  traits.block = A.block();
  traits.asymmetry = A.square() ? asymmetry(A) : std::numeric_limits<double>::infinity();
  const int b = A.block();
  const auto start = A.row_start();
  const auto column = A.column();
  const auto values = A.values();
  for (std::int64_t block_row = 0; block_row < A.block_rows(); ++block_row) {
    for (int r = 0; r < b; ++r) {
      RowScan scan;
      for (auto e = start[block_row]; e < start[block_row + 1]; ++e) {
        for (int c = 0; c < b; ++c) scan.see(column[e] == block_row && c == r, values[(e * b + c) * b + r]);
      }
      scan.add_to(traits, block_row * b + r);
    }
  }
  return traits;
}

MatrixTraits traits_of(const StructMatrix<double>& A) {
  MatrixTraits traits;
  traits.rows = A.rows();
  traits.block = A.dof();
  traits.asymmetry = asymmetry(A);
  const auto& grid = A.grid();
  const int b = A.dof();
  for (std::int64_t k = 0; k < grid.nz; ++k) {
    for (std::int64_t j = 0; j < grid.ny; ++j) {
      for (std::int64_t i = 0; i < grid.nx; ++i) {
        const auto point = grid.index(i, j, k);
        for (int r = 0; r < b; ++r) {
          RowScan scan;
          for (int entry = 0; entry < A.stencil().size(); ++entry) {
            const Offset o = A.stencil().offsets()[static_cast<std::size_t>(entry)];
            if (!grid.contains(i + o.x, j + o.y, k + o.z)) continue;
            const auto block = A.block(point, entry);
            for (int c = 0; c < b; ++c) {
              scan.see(entry == A.stencil().center() && c == r, block[static_cast<std::size_t>(c * b + r)]);
            }
          }
          scan.add_to(traits, point * b + r);
        }
      }
    }
  }
  return traits;
}

}  // namespace echelon
