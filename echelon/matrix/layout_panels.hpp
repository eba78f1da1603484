// SPDX-License-Identifier: BSD-3-Clause
// A layout walked in panels: up to 32 neighbouring lines of one ẑ at all their levels. In user order a panel is one run of
// memory, in the layout its levels are (pieces). Panels that follow each other continue each other's runs on both sides.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "echelon/matrix/layout_view.hpp"

namespace echelon {

inline constexpr int panel_lines = 32;

/// Lines y … y + count − 1 of the panel (perhaps none) at a level, and where the first of them lives.
struct Piece {
  int level, y, count;
  Place place;
};

/// Lines y … end_y − 1 of ẑ = z, all inside the grid; they have levels from level to end_level − 1, a piece each.
struct Panel {
  int y, end_y, z, level, end_level;
  int first_piece;
};

/// The panels of a part and their pieces; kept from one part to the next for its memory.
struct PartPanels {
  std::vector<Panel> panels;
  std::vector<Piece> pieces;
  std::vector<std::int64_t> rank;  // tile_contiguous: of each level of the tile, the lines before the panel's

  std::span<const Piece> pieces_of(const Panel& panel) const {
    return std::span<const Piece>(pieces).subspan(static_cast<std::size_t>(panel.first_piece),
                                                  static_cast<std::size_t>(panel.end_level - panel.level));
  }
};

/// Parts that may be walked at the same time: tiles, or the planes ẑ.
inline int walk_parts(const LayoutView& view) {
  return view.kind == LayoutKind::tile_contiguous ? view.tiles.count : view.front.nz;
}

/// Adds the panel of these lines of ẑ = z; place(level, lines) tells where a piece begins.
template <class PlaceOf>
void add_panel(const LayoutView& view, LineRange lines, int z, PartPanels& now, const PlaceOf& place) {
  const Wavefront& front = view.front;
  const Panel panel{lines.begin,
                    lines.end,
                    z,
                    front.line_start(lines.begin, z),
                    front.line_start(lines.end - 1, z) + front.nx,
                    static_cast<int>(now.pieces.size())};
  now.panels.push_back(panel);
  for (int level = panel.level; level < panel.end_level; ++level) {
    const LineRange there = front.lines_at(level, z, lines);
    now.pieces.push_back({level, there.begin, there.count(), place(level, there)});
  }
}

inline void list_tile(const LayoutView& view, int part, PartPanels& now) {
  const Tile& tile = view.tiles.tiles[part];
  const Wavefront& front = view.front;
  now.rank.assign(static_cast<std::size_t>(tile.levels), 0);
  for (int z = tile.z; z < view.tiles.end_z(tile); ++z) {
    const int first = std::max(tile.y, front.c * z), last = std::min(tile.y + view.tiles.shape.y, front.c * z + front.ny);
    for (int y = first; y < last; y += panel_lines) {
      add_panel(view, {y, std::min(y + panel_lines, last)}, z, now, [&](int level, LineRange lines) {
        const std::int64_t run = view.first_run[part] + (level - tile.first_level), length = view.run_length(run);
        std::int64_t& rank = now.rank[static_cast<std::size_t>(level - tile.first_level)];
        const Place place = view.from_first(view.run_start[run] + rank * view.rows, length);
        rank += lines.count();
        return place;
      });
    }
  }
}

inline void list_plane(const LayoutView& view, int z, PartPanels& now) {
  const Wavefront& front = view.front;
  const int last = front.c * z + front.ny;
  for (int y = front.c * z; y < last; y = now.panels.back().end_y) {
    // Panels end where ŷ mod Ny starts again, so that a piece is one run, and begin where cache lines may.
    const int end = std::min({y - y % panel_lines + panel_lines, last, y - y % front.ny + front.ny});
    add_panel(view, {y, end}, z, now, [&](int level, LineRange lines) {
      return view.from_first(view.skewed_rank(lines.begin, z, level) * view.rows, view.plane);
    });
  }
}

/// The panels of a part, in the order of its lines.
inline void list_panels(const LayoutView& view, int part, PartPanels& now) {
  now.panels.clear(), now.pieces.clear();
  if (view.kind == LayoutKind::tile_contiguous) {
    list_tile(view, part, now);
  } else {
    list_plane(view, part, now);
  }
}

}  // namespace echelon
