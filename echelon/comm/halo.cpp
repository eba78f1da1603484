// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/comm/halo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

void require_shapes(const Communicator& communicator, const ProcessGrid& processes, const std::array<int, 3>& sides) {
  if (std::ranges::min(processes.sides) < 1 || processes.size() != communicator.size()) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("a grid of {} processes for {} ranks", processes.text(), communicator.size()));
  }
  if (std::ranges::min(sides) < 1) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("a box of {}x{}x{} points; each side needs one", sides[0], sides[1], sides[2]));
  }
}

/// −1, 0 or 1: before, inside or behind a side.
int direction(std::int64_t at, std::int64_t side) { return at < 0 ? -1 : at >= side ? 1 : 0; }

}  // namespace

BoxHalo::BoxHalo(const Communicator& communicator, const ProcessGrid& processes, std::array<int, 3> sides)
    : sides_{sides[0], sides[1], sides[2]} {
  require_shapes(communicator, processes, sides);
  const auto place = processes.place(communicator.rank());
  std::int64_t points = 0;
  for (int c = -1; c <= 1; ++c) {
    for (int b = -1; b <= 1; ++b) {
      for (int a = -1; a <= 1; ++a) {
        auto& p = pieces_[number(a, b, c)];
        const std::array<int, 3> towards{a, b, c};
        if (a == 0 && b == 0 && c == 0) continue;
        p.rank = processes.rank({place[0] + a, place[1] + b, place[2] + c});
        p.begin = points;
        std::int64_t size = 1;
        for (std::size_t d = 0; d < 3; ++d) {
          p.first[d] = towards[d] > 0 ? sides_[d] - 1 : 0;
          p.count[d] = towards[d] == 0 ? sides_[d] : 1;
          size *= p.count[d];
        }
        if (p.rank >= 0) points += size;
      }
    }
  }
  packed_ = Array<double>(points, 0.0);
  values_ = Array<double>(points, 0.0);
  std::vector<SentPart> sends;
  std::vector<ReceivedPart> receives;
  for (const auto& p : pieces_) {
    if (p.rank < 0) continue;
    const auto begin = static_cast<std::size_t>(p.begin);
    const auto size = static_cast<std::size_t>(p.count[0] * p.count[1] * p.count[2]);
    // No two pieces have the same neighbour, so their order is of no matter.
    sends.push_back({p.rank, std::as_bytes(packed_.span().subspan(begin, size))});
    receives.push_back({p.rank, std::as_writable_bytes(values_.span().subspan(begin, size))});
  }
  exchange_ = communicator.exchange(sends, receives);
}

std::int64_t BoxHalo::index(std::int64_t i, std::int64_t j, std::int64_t k) const {
  const std::array<std::int64_t, 3> at{i, j, k};
  const auto& p = piece(direction(i, sides_[0]), direction(j, sides_[1]), direction(k, sides_[2]));
  if (p.rank < 0) return -1;
  std::array<std::int64_t, 3> inside{};
  for (std::size_t d = 0; d < 3; ++d) inside[d] = p.count[d] == 1 ? 0 : at[d];
  return p.begin + inside[0] + p.count[0] * (inside[1] + p.count[1] * inside[2]);
}

void BoxHalo::pack(const Piece& p, const double* x) {
  double* to = packed_.data() + p.begin;
  for (std::int64_t k = 0; k < p.count[2]; ++k) {
    for (std::int64_t j = 0; j < p.count[1]; ++j) {
      const double* line = x + p.first[0] + sides_[0] * (p.first[1] + j + sides_[1] * (p.first[2] + k));
      to = std::copy(line, line + p.count[0], to);
    }
  }
}

void BoxHalo::start(const double* x) {
  for (const auto& p : pieces_) {
    if (p.rank >= 0) pack(p, x);
  }
  exchange_->start();
}

std::span<const double> BoxHalo::finish() {
  exchange_->finish();
  return values();
}

}  // namespace echelon
