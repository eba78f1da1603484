// SPDX-License-Identifier: BSD-3-Clause
// A layout walked in blocks of levels and panels of lines: a panel is up to 32 neighbouring lines of one ẑ over up to 32
// levels, so small that it turns from rows into columns inside the first cache. In user order its lines are contiguous, in
// the layout its levels (pieces). Panels that follow each other continue each other's runs in the layout.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "echelon/matrix/layout_view.hpp"

namespace echelon {

inline constexpr int panel_lines = 32, panel_levels = 32;

/// Lines y … y + count − 1 of the panel (perhaps none) at a level, and where the first of them lives.
struct Piece {
  int level, y, count;
  Place place;
};

/// Lines y … end_y − 1 of ẑ = z, all inside the grid, at the levels level … end_level − 1: a piece each.
struct Panel {
  int y, end_y, z, level, end_level;
  int first_piece;
};

/// The panels of one block of levels of a part, and their pieces.
struct PanelBlock {
  std::vector<Panel> panels;
  std::vector<Piece> pieces;
  std::span<const Piece> pieces_of(const Panel& panel) const {
    return std::span<const Piece>(pieces).subspan(static_cast<std::size_t>(panel.first_piece),
                                                  static_cast<std::size_t>(panel.end_level - panel.level));
  }
};

/// Parts that may be walked at the same time: tiles, or the planes ẑ.
inline int walk_parts(const LayoutView& view) {
  return view.kind == LayoutKind::tile_contiguous ? view.tiles.count : view.front.nz;
}

/// Adds the panel of these lines; place(level, first line) tells where a piece begins.
template <class PlaceOf>
void add_panel(const LayoutView& view, Panel panel, PanelBlock& block, const PlaceOf& place) {
  panel.first_piece = static_cast<int>(block.pieces.size());
  for (int level = panel.level; level < panel.end_level; ++level) {
    const LineRange lines = view.front.lines_at(level, panel.z, {panel.y, panel.end_y});
    block.pieces.push_back({level, lines.begin, lines.count(), place(level, lines)});
  }
  block.panels.push_back(panel);
}

template <class Visit>
void walk_tile(const LayoutView& view, int part, PanelBlock& block, const Visit& visit) {
  const Tile& tile = view.tiles.tiles[part];
  const Wavefront& front = view.front;
  const int end = tile.first_level + tile.levels;
  std::int64_t rank[panel_levels];
  for (int level = tile.first_level; level < end; level += panel_levels) {
    block.panels.clear(), block.pieces.clear();
    std::fill(std::begin(rank), std::end(rank), 0);
    for (int z = tile.z; z < view.tiles.end_z(tile); ++z) {
      const int first = std::max(tile.y, front.c * z), last = std::min(tile.y + view.tiles.shape.y, front.c * z + front.ny);
      for (int y = first; y < last; y += panel_lines) {
        const Panel panel{y, std::min(y + panel_lines, last), z, level, std::min(level + panel_levels, end), 0};
        add_panel(view, panel, block, [&](int at, LineRange lines) {
          const std::int64_t run = view.first_run[part] + (at - tile.first_level), length = view.run_length(run);
          const Place place = view.from_first(view.run_start[run] + rank[at - level] * view.rows, length);
          rank[at - level] += lines.count();
          return place;
        });
      }
    }
    visit(std::as_const(block));
  }
}

template <class Visit>
void walk_plane(const LayoutView& view, int z, PanelBlock& block, const Visit& visit) {
  const Wavefront& front = view.front;
  const int first = front.c * z, last = first + front.ny;
  const int end = front.line_start(last - 1, z) + front.nx;
  for (int level = front.line_start(first, z); level < end; level += panel_levels) {
    block.panels.clear(), block.pieces.clear();
    for (int y = first; y < last;) {
      // Panels end where ŷ mod Ny starts again, so that a piece is one run.
      const Panel panel{
          y, std::min({y + panel_lines, last, y - y % front.ny + front.ny}), z, level, std::min(level + panel_levels, end),
          0};
      add_panel(view, panel, block, [&](int at, LineRange lines) {
        return view.from_first(view.skewed_rank(lines.begin, z, at) * view.rows, view.plane);
      });
      y = panel.end_y;
    }
    visit(std::as_const(block));
  }
}

/// visit(block) for every block of levels of the part; `block` is reused from call to call.
template <class Visit>
void walk_part(const LayoutView& view, int part, PanelBlock& block, const Visit& visit) {
  if (view.kind == LayoutKind::tile_contiguous) {
    walk_tile(view, part, block, visit);
  } else {
    walk_plane(view, part, block, visit);
  }
}

}  // namespace echelon
