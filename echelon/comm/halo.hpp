// SPDX-License-Identifier: BSD-3-Clause
// The layer of points, one deep, around this process's box in a grid of equal boxes: faces, edges and corners, up to 26
// pieces of as many neighbours, who stand in direction (a, b, c), each −1, 0 or 1. Values come without unpacking: the halo
// array has the pieces of the neighbours there are, c slowest and a fastest, each in the natural order of its points. An
// exchange moves 16 bytes a halo point here (read and packed) and 8 by message; it allocates nothing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "echelon/base/array.hpp"
#include "echelon/comm/communicator.hpp"
#include "echelon/comm/process_grid.hpp"

namespace echelon {

class BoxHalo {
 public:
  /// `sides`: of every process's box. The same call on every rank. Throws Error(bad_argument) for a grid of processes that
  /// is not the communicator's size, and sides that are not positive.
  BoxHalo(const Communicator& communicator, const ProcessGrid& processes, std::array<int, 3> sides);

  /// Points of the halo; 0 for a single process.
  std::int64_t size() const { return values_.size(); }
  /// Where point (i, j, k) stands in values(), each from −1 to its side, one of them outside the box; −1 where no process
  /// has that point.
  std::int64_t index(std::int64_t i, std::int64_t j, std::int64_t k) const;
  /// The rank in that direction, −1 where there is none.
  int neighbour(int a, int b, int c) const { return piece(a, b, c).rank; }

  /// Packs what neighbours need of x (natural order, i fastest) and lets it go. x may change at once; values() are no more.
  void start(const double* x);
  /// Whether all values are there, without waiting; lets messages go on while other work is done.
  bool arrived() { return exchange_->arrived(); }
  /// Waits for them, and returns them.
  std::span<const double> finish();
  /// Those that came last.
  std::span<const double> values() const { return values_.span(); }

 private:
  struct Piece {
    int rank = -1;
    std::int64_t begin = 0;               // in both arrays
    std::array<std::int64_t, 3> first{};  // of the box's points that this neighbour needs
    std::array<std::int64_t, 3> count{};  // points of the piece
  };
  static std::size_t number(int a, int b, int c) { return static_cast<std::size_t>(a + 1 + 3 * (b + 1) + 9 * (c + 1)); }
  const Piece& piece(int a, int b, int c) const { return pieces_[number(a, b, c)]; }
  void pack(const Piece& piece, const double* x);

  std::array<std::int64_t, 3> sides_;
  std::array<Piece, 27> pieces_;
  Array<double> packed_, values_;
  std::unique_ptr<Exchange> exchange_;  // after the arrays it reads and writes
};

}  // namespace echelon
