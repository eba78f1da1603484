// SPDX-License-Identifier: BSD-3-Clause
// A layout walked in panels: up to 32 neighbouring lines of one ẑ at all their levels, or in tiles at 32 of them.
// In the layout the levels of a panel are runs of memory (pieces), which the panels that follow continue; in user order the
// lines are, and a panel of all levels is one run. Panels come in groups, to be moved entry after entry: in a tile an entry
// of a group is so little memory that all its pieces are complete before any leaves the second-level cache.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "echelon/stencil/layout_view.hpp"

namespace echelon {

inline constexpr int panel_lines = 32, tile_levels_together = 32;

/// Lines y … y + count − 1 of the panel (perhaps none) at a level, and where the first of them lives.
struct Piece {
  int level, y, count;
  Place place;
};

/// Lines y … end_y − 1 of ẑ = z, all inside the grid, at the levels from level to end_level − 1, a piece each.
struct Panel {
  int y, end_y, z, level, end_level;
  bool whole_lines;  // all their levels: in user order one run
  int first_piece;
};

/// The panels of a part and their pieces; kept from one part to the next for its memory.
struct PartPanels {
  std::vector<Panel> panels;
  std::vector<int> group_end;  // of each group of panels
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

/// Levels begin … end − 1.
struct LevelRange {
  int begin, end;
};

inline LevelRange levels_of(const Wavefront& front, LineRange lines, int z) {
  return {front.line_start(lines.begin, z), front.line_start(lines.end - 1, z) + front.nx};
}

/// Adds the panel of these lines of ẑ = z at those of these levels that they have; place(level, lines) tells where a piece
/// begins.
template <class PlaceOf>
void add_panel(const LayoutView& view, LineRange lines, int z, LevelRange levels, PartPanels& now, const PlaceOf& place) {
  const Wavefront& front = view.front;
  const LevelRange all = levels_of(front, lines, z);
  const bool whole = levels.begin <= all.begin && levels.end >= all.end;
  const Panel panel{lines.begin,
                    lines.end,
                    z,
                    std::max(levels.begin, all.begin),
                    std::min(levels.end, all.end),
                    whole,
                    static_cast<int>(now.pieces.size())};
  if (panel.level >= panel.end_level) return;
  now.panels.push_back(panel);
  for (int level = panel.level; level < panel.end_level; ++level) {
    const LineRange there = front.lines_at(level, z, lines);
    now.pieces.push_back({level, there.begin, there.count(), place(level, there)});
  }
}

/// Groups of few levels. Measured: scalars of box27 gain a quarter to a half, into tiles and back; star7 and blocks lose.
inline bool in_short_groups(const LayoutView& view) {
  constexpr int many_entries = 16;
  return view.rows * view.columns == 1 && view.entries.count() > many_entries;
}

inline void list_tile(const LayoutView& view, int part, PartPanels& now) {
  const Tile& tile = view.tiles.tiles[part];
  const Wavefront& front = view.front;
  now.rank.assign(static_cast<std::size_t>(tile.levels), 0);
  const auto place_of = [&](int level, LineRange lines) {
    const std::int64_t run = view.first_run[part] + (level - tile.first_level), length = view.run_length(run);
    std::int64_t& rank = now.rank[static_cast<std::size_t>(level - tile.first_level)];
    const Place place = view.from_first(view.run_start[run] + rank * view.rows, length);
    rank += lines.count();
    return place;
  };
  const int together = in_short_groups(view) ? tile_levels_together : tile.levels;
  for (int begin = tile.first_level; begin < tile.first_level + tile.levels; begin += together) {
    for (int z = tile.z; z < view.tiles.end_z(tile); ++z) {
      const int first = std::max(tile.y, front.c * z), last = std::min(tile.y + view.tiles.shape.y, front.c * z + front.ny);
      for (int y = first; y < last; y += panel_lines) {
        add_panel(view, {y, std::min(y + panel_lines, last)}, z, {begin, begin + together}, now, place_of);
      }
    }
    now.group_end.push_back(static_cast<int>(now.panels.size()));
  }
}

inline void list_plane(const LayoutView& view, int z, PartPanels& now) {
  const Wavefront& front = view.front;
  const int last = front.c * z + front.ny;
  for (int y = front.c * z; y < last; y = now.panels.back().end_y) {
    // Panels end where ŷ mod Ny starts again, so that a piece is one run, and begin where cache lines may.
    const int end = std::min({y - y % panel_lines + panel_lines, last, y - y % front.ny + front.ny});
    add_panel(view, {y, end}, z, levels_of(front, {y, end}, z), now, [&](int level, LineRange lines) {
      return view.from_first(view.skewed_rank(lines.begin, z, level) * view.rows, view.plane);
    });
  }
  now.group_end.push_back(static_cast<int>(now.panels.size()));
}

/// The panels of a part, in the order of its lines.
inline void list_panels(const LayoutView& view, int part, PartPanels& now) {
  now.panels.clear(), now.group_end.clear(), now.pieces.clear();
  if (view.kind == LayoutKind::tile_contiguous) {
    list_tile(view, part, now);
  } else {
    list_plane(view, part, now);
  }
}

}  // namespace echelon
