// SPDX-License-Identifier: BSD-3-Clause
// One panel of one stencil entry between user order and a layout, for every SIMD target.
// One value a point: squares of lanes × lanes (lines × levels) are turned in registers; the ragged rest goes one by one.
// A block a point: along each line a few levels at a time, so that whole blocks are read and runs of rows written in turn.
// Bytes a value: read once, written once.
#include <algorithm>
#include <type_traits>

#include "echelon/base/small_block.hpp"
#include "echelon/matrix/layout_convert_panel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/matrix/layout_convert_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The user's values of the panel's lines: at(y, level) points at those of entry e, and a level on is `step` values on.
template <class User>
struct Lines {
  User* entry;
  const Wavefront& front;
  int z;
  std::int64_t block;

  User* at(int y, int level) const {
    const Ijk p = front.on_line(y, z, level);
    return entry + ((std::int64_t{p.k} * front.ny + p.j) * front.nx + p.i) * block;
  }
  std::int64_t step() const { return front.mirrored ? -block : block; }
};

// Squares of 4 × 4 and 8 × 8 doubles; other widths and scalars go one by one.
#if HWY_TARGET != HWY_SCALAR && HWY_MAX_BYTES >= 32 && !HWY_HAVE_SCALABLE
using Square = hn::FixedTag<double, HWY_MAX_BYTES / 8 < 8 ? 4 : 8>;
constexpr int side = static_cast<int>(hn::MaxLanes(Square()));
using Row = hn::Vec<Square>;

HWY_INLINE void turn(Row (&r)[side]) {
  const Square d;
  Row even[side / 2], odd[side / 2];
  for (int p = 0; p < side / 2; ++p) {
    even[p] = hn::InterleaveLower(d, r[2 * p], r[2 * p + 1]);
    odd[p] = hn::InterleaveUpper(d, r[2 * p], r[2 * p + 1]);
  }
  // Now 128-bit blocks hold a pair of lines at one level: their square is turned in turn.
  const auto turn_blocks = [&](const Row* pair, int level) {
    if constexpr (side == 4) {
      r[level] = hn::ConcatLowerLower(d, pair[1], pair[0]);
      r[level + 2] = hn::ConcatUpperUpper(d, pair[1], pair[0]);
    } else {
      const Row u0 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(pair[1]), pair[0]);
      const Row v0 = hn::OddEvenBlocks(pair[1], hn::SwapAdjacentBlocks(pair[0]));
      const Row u1 = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(pair[3]), pair[2]);
      const Row v1 = hn::OddEvenBlocks(pair[3], hn::SwapAdjacentBlocks(pair[2]));
      r[level] = hn::ConcatLowerLower(d, u1, u0);
      r[level + 2] = hn::ConcatLowerLower(d, v1, v0);
      r[level + 4] = hn::ConcatUpperUpper(d, u1, u0);
      r[level + 6] = hn::ConcatUpperUpper(d, v1, v0);
    }
  };
  turn_blocks(even, 0);
  turn_blocks(odd, 1);
}

HWY_INLINE Row load(const double* from) { return hn::LoadU(Square(), from); }
HWY_INLINE Row load(const float* from) { return hn::PromoteTo(Square(), hn::LoadU(hn::Rebind<float, Square>(), from)); }
HWY_INLINE void store(Row values, double* to) { hn::StoreU(values, Square(), to); }
HWY_INLINE void store(Row values, float* to) {
  const hn::Rebind<float, Square> narrow;
  hn::StoreU(hn::DemoteTo(narrow, values), narrow, to);
}

/// Lines y … y + side − 1 at the levels of `pieces` (the first is `level`), all with a point there.
template <bool into_layout, class User, class Laid>
HWY_INLINE void move_square(const Lines<User>& lines, int y, int level, const Piece* pieces, int e, Laid* laid) {
  Row r[side];
  const bool mirrored = lines.front.mirrored;
  // The first in memory of a line's values is its last level's when mirrored.
  User* first = lines.at(y, mirrored ? level + side - 1 : level);
  const std::int64_t stride = lines.at(y + 1, level) - lines.at(y, level);
  if constexpr (into_layout) {
    for (int n = 0; n < side; ++n) {
      r[n] = load(first + n * stride);
      if (mirrored) r[n] = hn::Reverse(Square(), r[n]);
    }
    turn(r);
    for (int n = 0; n < side; ++n) store(r[n], laid + pieces[n].place.at(e, y - pieces[n].y, 0));
  } else {
    for (int n = 0; n < side; ++n) r[n] = load(laid + pieces[n].place.at(e, y - pieces[n].y, 0));
    turn(r);
    for (int n = 0; n < side; ++n) {
      if (mirrored) r[n] = hn::Reverse(Square(), r[n]);
      store(r[n], first + n * stride);
    }
  }
}
#else
constexpr int side = 0;
template <bool into_layout, class User, class Laid>
void move_square(const Lines<User>&, int, int, const Piece*, int, Laid*) {}
#endif

template <bool into_layout, class User, class Laid>
void move_scalar(const Lines<User>& lines, int y, const Piece* pieces, int begin, int end, int e, Laid* laid) {
  const int start = lines.front.line_start(y, lines.z), first_level = pieces[0].level;
  begin = std::max(begin, start), end = std::min(end, start + lines.front.nx);
  if (begin >= end) return;
  User* user = lines.at(y, begin);
  const std::int64_t step = lines.step();
  for (int level = begin; level < end; ++level, user += step) {
    const Piece& piece = pieces[level - first_level];
    Laid& there = laid[piece.place.at(e, y - piece.y, 0)];
    if constexpr (into_layout) {
      there = static_cast<Laid>(*user);
    } else {
      *user = static_cast<User>(there);
    }
  }
}

template <bool into_layout, class User, class Laid>
void move_scalars(const LayoutView& view, const Panel& panel, const Piece* pieces, int e, User* entry, Laid* laid) {
  const Lines<User> lines{entry, view.front, panel.z, 1};
  constexpr int wide = side > 0 ? side : panel_lines;
  for (int y = panel.y; y < panel.end_y; y += wide) {
    const int end_y = std::min(y + wide, panel.end_y);
    // All of these lines have points from `from` to before `to`.
    const int from = view.front.line_start(end_y - 1, panel.z), to = view.front.line_start(y, panel.z) + view.front.nx;
    for (int level = panel.level; level < panel.end_level; level += wide) {
      const int end = std::min(level + wide, panel.end_level);
      if (side > 0 && end_y - y == side && end - level == side && from <= level && end <= to) {
        move_square<into_layout>(lines, y, level, pieces + (level - panel.level), e, laid);
      } else {
        for (int line = y; line < end_y; ++line) move_scalar<into_layout>(lines, line, pieces, level, end, e, laid);
      }
    }
  }
}

/// R > 0 fixes rows and columns at R; R = 0 takes them from the view.
template <bool into_layout, int R, class User, class Laid>
void move_blocks(const LayoutView& view, const Panel& panel, const Piece* pieces, int e, User* entry, Laid* laid) {
  constexpr int levels_at_once = 8;
  const int rows = extent<R>(view.rows), columns = extent<R>(view.columns);
  const Lines<User> lines{entry, view.front, panel.z, std::int64_t{rows} * columns};
  const std::int64_t step = lines.step();
  for (int from = panel.level; from < panel.end_level; from += levels_at_once) {
    for (int y = panel.y; y < panel.end_y; ++y) {
      const int start = view.front.line_start(y, panel.z);
      const int begin = std::max(from, start);
      const int end = std::min({from + levels_at_once, panel.end_level, start + view.front.nx});
      if (begin >= end) continue;
      User* user = lines.at(y, begin);
      for (int level = begin; level < end; ++level, user += step) {
        const Piece& piece = pieces[level - panel.level];
        Laid* first = laid + piece.place.at(e, (y - piece.y) * rows, 0);
        for (int c = 0; c < columns; ++c) {
          Laid* HWY_RESTRICT there = first + c * piece.place.column_stride;
          User* HWY_RESTRICT here = user + c * rows;
          for (int r = 0; r < rows; ++r) {
            if constexpr (into_layout) {
              there[r] = static_cast<Laid>(here[r]);
            } else {
              here[r] = static_cast<User>(there[r]);
            }
          }
        }
      }
    }
  }
}

template <class User, class Laid>
PanelMoves<User, Laid> choose(int rows, int columns) {
  const auto both = []<int R>() -> PanelMoves<User, Laid> {
    return {move_blocks<true, R, const User, Laid>, move_blocks<false, R, User, const Laid>};
  };
  if (rows != columns) return both.template operator()<0>();
  switch (rows) {
    // Squares are of doubles: float to float goes point by point, as a 1 × 1 block.
    case 1:
      if constexpr (std::is_same_v<User, double>) {
        return {move_scalars<true, const User, Laid>, move_scalars<false, User, const Laid>};
      } else {
        return both.template operator()<1>();
      }
    case 2: return both.template operator()<2>();
    case 3: return both.template operator()<3>();
    case 4: return both.template operator()<4>();
    case 5: return both.template operator()<5>();
    case 6: return both.template operator()<6>();
    case 7: return both.template operator()<7>();
    case 8: return both.template operator()<8>();
    default: return both.template operator()<0>();
  }
}

PanelMoves<double, double> choose_double(int rows, int columns) { return choose<double, double>(rows, columns); }
PanelMoves<double, float> choose_mixed(int rows, int columns) { return choose<double, float>(rows, columns); }
PanelMoves<float, float> choose_float(int rows, int columns) { return choose<float, float>(rows, columns); }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(choose_double);
HWY_EXPORT(choose_mixed);
HWY_EXPORT(choose_float);

template <>
PanelMoves<double, double> panel_moves<double, double>(int rows, int columns) {
  return HWY_DYNAMIC_DISPATCH(choose_double)(rows, columns);
}
template <>
PanelMoves<double, float> panel_moves<double, float>(int rows, int columns) {
  return HWY_DYNAMIC_DISPATCH(choose_mixed)(rows, columns);
}
template <>
PanelMoves<float, float> panel_moves<float, float>(int rows, int columns) {
  return HWY_DYNAMIC_DISPATCH(choose_float)(rows, columns);
}

}  // namespace echelon
#endif
