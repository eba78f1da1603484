// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/layout_convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "echelon/base/error.hpp"
#include "echelon/base/small_block.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/matrix/layout_panels.hpp"

namespace echelon {
namespace {

/// One value a point: lines become columns of a small square, whose rows are the pieces.
template <bool into_layout, class User, class Laid>
struct ScalarPanel {
  alignas(64) std::remove_const_t<Laid> square[panel_levels][panel_lines];

  void move(const LayoutView& view, const Panel& panel, std::span<const Piece> pieces, int e, User* entry, Laid* laid) {
    if constexpr (into_layout) {
      lines(view, panel, entry);
      for (const Piece& piece : pieces) {
        const auto* from = square[piece.level - panel.level] + (piece.y - panel.y);
        std::copy_n(from, piece.count, laid + piece.place.at(e, 0, 0));
      }
    } else {
      for (const Piece& piece : pieces) {
        std::copy_n(laid + piece.place.at(e, 0, 0), piece.count, square[piece.level - panel.level] + (piece.y - panel.y));
      }
      lines(view, panel, entry);
    }
  }

 private:
  void lines(const LayoutView& view, const Panel& panel, User* entry) {
    const Wavefront& front = view.front;
    const int step = front.mirrored ? -1 : 1;
    for (int y = panel.y; y < panel.end_y; ++y) {
      const int start = front.line_start(y, panel.z);
      const int begin = std::max(panel.level, start), end = std::min(panel.end_level, start + front.nx);
      if (begin >= end) continue;
      const Ijk p = front.on_line(y, panel.z, begin);
      User* user = entry + ((std::int64_t{p.k} * front.ny + p.j) * front.nx + p.i);
      auto* column = &square[begin - panel.level][y - panel.y];
      for (int n = 0; n < end - begin; ++n) {
        if constexpr (into_layout) {
          column[n * panel_lines] = static_cast<Laid>(user[n * step]);
        } else {
          user[n * step] = static_cast<User>(column[n * panel_lines]);
        }
      }
    }
  }
};

/// One piece of one entry, a block a point. R > 0 fixes rows and columns at R; R = 0 takes them from the view.
template <bool into_layout, int R, class User, class Laid>
ECHELON_FN void move_blocks(const LayoutView& view, const Panel& panel, const Piece& piece, int e, User* entry, Laid* laid) {
  const Wavefront& front = view.front;
  const int rows = extent<R>(view.rows), columns = extent<R>(view.columns);
  const std::int64_t block = std::int64_t{rows} * columns;
  // From a line to its neighbour at the same level: j one up, i a + 1 down.
  const std::int64_t stride = (front.nx - (front.a + 1)) * block * (front.mirrored ? -1 : 1);
  const Ijk p = front.on_line(piece.y, panel.z, piece.level);
  User* user = entry + ((std::int64_t{p.k} * front.ny + p.j) * front.nx + p.i) * block;
  laid += piece.place.at(e, 0, 0);
  for (int n = 0; n < piece.count; ++n) {
    for (int c = 0; c < columns; ++c) {
      for (int r = 0; r < rows; ++r) {
        if constexpr (into_layout) {
          laid[c * piece.place.column_stride + n * rows + r] = static_cast<Laid>(user[n * stride + c * rows + r]);
        } else {
          user[n * stride + c * rows + r] = static_cast<User>(laid[c * piece.place.column_stride + n * rows + r]);
        }
      }
    }
  }
}

template <bool into_layout, int R, class User, class Laid>
void move_part(const LayoutView& view, int part, User* user, Laid* laid) {
  const std::int64_t block = std::int64_t{view.rows} * view.columns;
  PanelBlock panels;
  ScalarPanel<into_layout, User, Laid> scalars;
  walk_part(view, part, panels, [&](const PanelBlock& now) {
    for (int e = view.entries.begin; e < view.entries.end; ++e) {
      User* entry = user + e * view.points * block;
      for (const Panel& panel : now.panels) {
        if constexpr (R == 1) {
          scalars.move(view, panel, now.pieces_of(panel), e, entry, laid);
        } else {
          for (const Piece& piece : now.pieces_of(panel)) {
            move_blocks<into_layout, R>(view, panel, piece, e, entry, laid);
          }
        }
      }
    }
  });
}

template <bool into_layout, class User, class Laid>
void move_all(const Layout& layout, User* user, Laid* laid) {
  const LayoutView& view = layout.view();
  const auto kernel = [&]() -> void (*)(const LayoutView&, int, User*, Laid*) {
    if (view.rows != view.columns) return move_part<into_layout, 0, User, Laid>;
    switch (view.rows) {
      case 1: return move_part<into_layout, 1, User, Laid>;
      case 2: return move_part<into_layout, 2, User, Laid>;
      case 3: return move_part<into_layout, 3, User, Laid>;
      case 4: return move_part<into_layout, 4, User, Laid>;
      case 5: return move_part<into_layout, 5, User, Laid>;
      case 6: return move_part<into_layout, 6, User, Laid>;
      case 7: return move_part<into_layout, 7, User, Laid>;
      case 8: return move_part<into_layout, 8, User, Laid>;
      default: return move_part<into_layout, 0, User, Laid>;
    }
  }();
#pragma omp parallel for num_threads(threads_for(layout.size())) schedule(dynamic)
  for (int part = 0; part < walk_parts(view); ++part) kernel(view, part, user, laid);
}

void check(const Layout& layout, std::int64_t user, std::int64_t laid, int laid_bytes) {
  if (layout.kind() == LayoutKind::user) {
    throw Error(ErrorCode::bad_argument, "conversion: the layout is user order itself");
  }
  if (laid_bytes != layout.stored().scalar_bytes) {
    throw Error(ErrorCode::bad_argument, fmt::format("conversion: scalars of {} bytes in a layout made for {} bytes",
                                                     laid_bytes, layout.stored().scalar_bytes));
  }
  const auto& stored = layout.stored();
  const std::int64_t needed = layout.view().points * stored.entries.end * stored.rows * stored.columns;
  if (user < needed) throw_size_mismatch("values in user order", user, needed);
  if (laid != layout.size()) throw_size_mismatch("values in layout order", laid, layout.size());
}

template <class Laid>
void clear_tails(const LayoutView& view, int part, Laid* laid) {
  const auto runs = std::int64_t{view.entries.count()} * view.columns;
  if (view.kind == LayoutKind::skewed) {
    if (part > 0) return;
    for (std::int64_t n = 0; n < runs; ++n) {
      std::fill(laid + n * view.plane + view.points * view.rows, laid + (n + 1) * view.plane, Laid(0));
    }
    return;
  }
  const Tile& tile = view.tiles.tiles[part];
  for (int n = 0; n < tile.levels && runs > 0; ++n) {
    const std::int64_t run = view.first_run[part] + n, length = view.run_length(run);
    const std::int64_t used =
        std::int64_t{view.tiles.lines_before(tile, tile.first_level + n, view.tiles.end_z(tile))} * view.rows;
    for (std::int64_t m = 0; m < runs; ++m) {
      Laid* begin = laid + view.run_start[run] + m * length;
      std::fill(begin + used, begin + length, Laid(0));
    }
  }
}

}  // namespace

template <class Laid>
void clear_padding(const Layout& layout, std::span<Laid> laid) {
  const LayoutView& view = layout.view();
#pragma omp parallel for num_threads(threads_for(layout.size())) schedule(dynamic)
  for (int part = 0; part < walk_parts(view); ++part) clear_tails(view, part, laid.data());
}

template <class User, class Laid>
void to_layout(const Layout& layout, std::span<const User> user, std::span<Laid> laid) {
  check(layout, static_cast<std::int64_t>(user.size()), static_cast<std::int64_t>(laid.size()), sizeof(Laid));
  if (layout.size() == 0) return;
  move_all<true>(layout, user.data(), laid.data());
  clear_padding(layout, laid);
}

template <class User, class Laid>
void to_user(const Layout& layout, std::span<const Laid> laid, std::span<User> user) {
  check(layout, static_cast<std::int64_t>(user.size()), static_cast<std::int64_t>(laid.size()), sizeof(Laid));
  if (layout.size() == 0) return;
  move_all<false>(layout, user.data(), laid.data());
}

template void clear_padding<double>(const Layout&, std::span<double>);
template void clear_padding<float>(const Layout&, std::span<float>);
template void to_layout<double, double>(const Layout&, std::span<const double>, std::span<double>);
template void to_layout<double, float>(const Layout&, std::span<const double>, std::span<float>);
template void to_layout<float, float>(const Layout&, std::span<const float>, std::span<float>);
template void to_user<double, double>(const Layout&, std::span<const double>, std::span<double>);
template void to_user<double, float>(const Layout&, std::span<const float>, std::span<double>);
template void to_user<float, float>(const Layout&, std::span<const float>, std::span<float>);

}  // namespace echelon
