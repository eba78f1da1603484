// SPDX-License-Identifier: BSD-3-Clause
// One panel of one stencil entry between user order and a layout, for every SIMD target.
// One value a point: squares of lanes × lanes (lines × levels) are turned in registers, masked at the ends of lines.
// A block a point: along each line a few levels at a time, so that whole blocks are read and runs of rows written in turn.
// Bytes a value: read once, written once.
#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

#include "bench/layout/layout_convert_panel.hpp"
#include "echelon/base/small_block.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/layout/layout_convert_host.cpp"
#include <hwy/cache_control.h>
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

/// Lines y … end_y − 1 and levels level … end − 1, some of their points outside the grid.
struct Corner {
  int y, end_y, level, end;
};

/// Asks for memory before it is needed.
template <class User, class Laid>
struct Ahead {
  Ahead(const LayoutView& view, const EntryPanel<User>& this_one, const EntryPanel<User>& next_one, const Laid* to)
      : one_run(next_one.panel.whole_lines),
        now(this_one),
        next(next_one),
        lines{next_one.user, view.front, next_one.panel.z, std::int64_t{view.rows} * view.columns},
        laid(to) {
    const Panel& p = next.panel;
    const int first = view.front.mirrored ? p.end_y - 1 : p.y, start = view.front.line_start(first, p.z);
    run = lines.at(first, view.front.mirrored ? start + view.front.nx - 1 : start);
    run_end = run + std::int64_t{p.end_y - p.y} * view.front.nx * lines.block;
  }
  const bool one_run;  // the next panel in user order
  const EntryPanel<User>&now, &next;
  const Lines<User> lines;
  const Laid* laid;
  const User *run, *run_end;

  static HWY_INLINE void ask(std::intptr_t place) { hwy::Prefetch(reinterpret_cast<const char*>(place)); }
  HWY_INLINE std::intptr_t place(const EntryPanel<User>& panel, int y, int level) const {
    const Piece& piece = panel.pieces[static_cast<std::size_t>(level)];
    const std::int64_t index = piece.place.at(panel.e, (y - piece.y), 0);
    return reinterpret_cast<std::intptr_t>(laid) + index * static_cast<std::intptr_t>(sizeof(Laid));
  }

  /// The next cache lines of the run.
  HWY_INLINE void user(int cache_lines) {
    constexpr std::ptrdiff_t values = 64 / sizeof(User);
    for (int n = 0; n < cache_lines && run_end - run >= values; ++n, run += values) hwy::Prefetch(run);
  }
  /// This line at a level of this panel, counted from its first; not where a whole cache line will be written unread.
  template <bool into_layout>
  HWY_INLINE void layout(int y, int level) const {
    if (level < static_cast<int>(now.pieces.size())) ask_layout<into_layout>(place(now, y, level));
  }
  template <bool into_layout>
  static HWY_INLINE void ask_layout(std::intptr_t there) {
    if (!into_layout || sizeof(Laid) != sizeof(double) || there % 64 != 0) ask(there);
  }
  /// The square of `side` lines and levels at these, counted from the next panel's first; both sides. Points outside a line
  /// are other values, or nobody's: harmless to ask for.
  template <bool into_layout, int side>
  HWY_INLINE void square(int line, int level) const {
    const Panel& p = next.panel;
    if (p.y + line + side > p.end_y || p.level + level + side > p.end_level) return;
    for (int n = 0; n < side; ++n) ask(reinterpret_cast<std::intptr_t>(lines.at(p.y + line + n, p.level + level)));
    for (int n = 0; n < side; ++n) ask_layout<into_layout>(place(next, p.y + line, level + n));
  }
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
/// Past the caches where a row is a cache line; halves of lines would be written twice.
HWY_INLINE void store_past_caches(Row values, double* to) {
  if (side == 8 && reinterpret_cast<std::uintptr_t>(to) % 64 == 0) {
    hn::Stream(values, Square(), to);
  } else {
    store(values, to);
  }
}
HWY_INLINE void store(Row values, float* to) {
  const hn::Rebind<float, Square> narrow;
  hn::StoreU(hn::DemoteTo(narrow, values), narrow, to);
}

HWY_INLINE void store_past_caches(Row values, float* to) { store(values, to); }

/// Lines y … y + side − 1 at the levels of `pieces` (the first is `level`), all with a point there.
template <bool into_layout, bool past_caches, class User, class Laid>
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
    for (int n = 0; n < side; ++n) {
      Laid* to = laid + pieces[n].place.at(e, y - pieces[n].y, 0);
      if constexpr (past_caches) {
        store_past_caches(r[n], to);
      } else {
        store(r[n], to);
      }
    }
  } else {
    for (int n = 0; n < side; ++n) r[n] = load(laid + pieces[n].place.at(e, y - pieces[n].y, 0));
    turn(r);
    for (int n = 0; n < side; ++n) {
      if (mirrored) r[n] = hn::Reverse(Square(), r[n]);
      store(r[n], first + n * stride);
    }
  }
}

/// Lanes begin … end − 1; none when end ≤ begin.
template <class D>
HWY_INLINE hn::Mask<D> lanes(D d, int begin, int end) {
  const auto within = [](int lane) { return static_cast<std::size_t>(std::clamp(lane, 0, side)); };
  return hn::AndNot(hn::FirstN(d, within(begin)), hn::FirstN(d, within(end)));
}
template <class T>
using Narrow = hn::Rebind<std::remove_const_t<T>, Square>;
template <class T>
HWY_INLINE Row load(const T* from, int begin, int end) {
  const Narrow<T> d;
  const auto values = hn::MaskedLoad(lanes(d, begin, end), d, from);
  if constexpr (sizeof(T) == sizeof(double)) {
    return values;
  } else {
    return hn::PromoteTo(Square(), values);
  }
}
template <class T>
HWY_INLINE void store(Row values, T* to, int begin, int end) {
  const Narrow<T> d;
  if constexpr (sizeof(T) == sizeof(double)) {
    hn::BlendedStore(values, lanes(d, begin, end), d, to);
  } else {
    hn::BlendedStore(hn::DemoteTo(d, values), lanes(d, begin, end), d, to);
  }
}

/// The points of the grid in a square at the ends of lines. Lanes without a point are neither read nor written.
template <bool into_layout, class User, class Laid>
HWY_INLINE void move_ragged(const Lines<User>& lines, const Corner& at, const Piece* pieces, int e, Laid* laid) {
  Row r[side];
  const bool mirrored = lines.front.mirrored;
  User* first = lines.at(at.y, mirrored ? at.level + side - 1 : at.level);
  const std::int64_t stride = lines.at(at.y + 1, at.level) - lines.at(at.y, at.level);
  // Of line n the levels begin … end − 1, counted from the square's first; in memory from its other side when mirrored.
  const auto levels_of = [&](int n) {
    const int start = lines.front.line_start(at.y + n, lines.z) - at.level;
    const int begin = std::max(start, 0);
    const int end = at.y + n < at.end_y ? std::min(start + lines.front.nx, at.end - at.level) : 0;
    return mirrored ? std::pair(side - end, side - begin) : std::pair(begin, end);
  };
  const auto lines_of = [&](int n) {
    const int begin = pieces[n].y - at.y;
    return std::pair(begin, std::min(begin + pieces[n].count, at.end_y - at.y));
  };
  const int levels = at.end - at.level;
  if constexpr (into_layout) {
    for (int n = 0; n < side; ++n) {
      const auto [begin, end] = levels_of(n);
      r[n] = load(first + n * stride, begin, end);
      if (mirrored) r[n] = hn::Reverse(Square(), r[n]);
    }
    turn(r);
    for (int n = 0; n < levels; ++n) {
      const auto [begin, end] = lines_of(n);
      store(r[n], laid + pieces[n].place.at(e, at.y - pieces[n].y, 0), begin, end);
    }
  } else {
    for (int n = 0; n < side; ++n) r[n] = hn::Zero(Square());
    for (int n = 0; n < levels; ++n) {
      const auto [begin, end] = lines_of(n);
      r[n] = load(laid + pieces[n].place.at(e, at.y - pieces[n].y, 0), begin, end);
    }
    turn(r);
    for (int n = 0; n < side; ++n) {
      const auto [begin, end] = levels_of(n);
      if (mirrored) r[n] = hn::Reverse(Square(), r[n]);
      store(r[n], first + n * stride, begin, end);
    }
  }
}
#else
constexpr int side = 0;
template <bool into_layout, bool past_caches, class User, class Laid>
void move_square(const Lines<User>&, int, int, const Piece*, int, Laid*) {}

template <bool into_layout, class User, class Laid>
void move_ragged(const Lines<User>& lines, const Corner& at, const Piece* pieces, int e, Laid* laid) {
  const std::int64_t step = lines.step();
  for (int y = at.y; y < at.end_y; ++y) {
    const int start = lines.front.line_start(y, lines.z);
    const int begin = std::max(at.level, start), end = std::min(at.end, start + lines.front.nx);
    if (begin >= end) continue;
    User* user = lines.at(y, begin);
    for (int level = begin; level < end; ++level, user += step) {
      const Piece& piece = pieces[level - at.level];
      Laid& there = laid[piece.place.at(e, y - piece.y, 0)];
      if constexpr (into_layout) {
        there = static_cast<Laid>(*user);
      } else {
        *user = static_cast<User>(there);
      }
    }
  }
}
#endif

template <bool into_layout, bool past_caches, class User, class Laid>
void move_scalars(const LayoutView& view, const EntryPanel<User>& now, const EntryPanel<User>& next, Laid* laid) {
  constexpr int levels_ahead = 48;
  const Panel& panel = now.panel;
  const Piece* pieces = now.pieces.data();
  const int e = now.e;
  const Lines<User> lines{now.user, view.front, panel.z, 1};
  Ahead<User, Laid> ahead(view, now, next, laid);
  constexpr int wide = side > 0 ? side : panel_lines;
  for (int y = panel.y; y < panel.end_y; y += wide) {
    const int end_y = std::min(y + wide, panel.end_y);
    // All of these lines have points from `from` to before `to`.
    const int from = view.front.line_start(end_y - 1, panel.z), to = view.front.line_start(y, panel.z) + view.front.nx;
    for (int level = panel.level; level < panel.end_level; level += wide) {
      const int end = std::min(level + wide, panel.end_level);
      if (past_caches) {
        if (ahead.one_run) {
          ahead.user(wide);
          for (int n = 0; n < wide; ++n) ahead.template layout<into_layout>(y, level - panel.level + levels_ahead + n);
        } else {
          ahead.template square<into_layout, wide>(y - panel.y, level - panel.level);
        }
      }
      if (end <= to - view.front.nx || level >= from + view.front.nx) continue;
      if (side > 0 && end_y - y == side && end - level == side && from <= level && end <= to) {
        move_square<into_layout, past_caches>(lines, y, level, pieces + (level - panel.level), e, laid);
      } else {
        move_ragged<into_layout>(lines, Corner{y, end_y, level, end}, pieces + (level - panel.level), e, laid);
      }
    }
  }
}

/// R > 0 fixes rows and columns at R; R = 0 takes them from the view.
template <bool into_layout, int R, class User, class Laid>
void move_blocks(const LayoutView& view, const EntryPanel<User>& now, const EntryPanel<User>& next, Laid* laid) {
  const Panel& panel = now.panel;
  const Piece* pieces = now.pieces.data();
  const int e = now.e;
  constexpr int levels_at_once = 8;
  const int rows = extent<R>(view.rows), columns = extent<R>(view.columns);
  const Lines<User> lines{now.user, view.front, panel.z, std::int64_t{rows} * columns};
  Ahead<User, Laid> ahead(view, now, next, laid);
  const int cache_lines = static_cast<int>(levels_at_once * lines.block * static_cast<int>(sizeof(User)) / 64) + 1;
  const std::int64_t step = lines.step();
  for (int from = panel.level; from < panel.end_level; from += levels_at_once) {
    for (int y = panel.y; y < panel.end_y; ++y) {
      const int start = view.front.line_start(y, panel.z);
      const int begin = std::max(from, start);
      const int end = std::min({from + levels_at_once, panel.end_level, start + view.front.nx});
      if (begin >= end) continue;
      ahead.user(cache_lines);
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
    const auto into = move_blocks<true, R, const User, Laid>;
    const auto out = move_blocks<false, R, User, const Laid>;
    return {into, into, out, out};
  };
  if (rows != columns) return both.template operator()<0>();
  switch (rows) {
    // Squares are of doubles: float to float goes point by point, as a 1 × 1 block.
    case 1:
      if constexpr (std::is_same_v<User, double>) {
        return {move_scalars<true, false, const User, Laid>, move_scalars<true, true, const User, Laid>,
                move_scalars<false, false, User, const Laid>, move_scalars<false, true, User, const Laid>};
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
