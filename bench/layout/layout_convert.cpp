// SPDX-License-Identifier: BSD-3-Clause
#include "bench/layout/layout_convert.hpp"

#include <fmt/format.h>
#include <hwy/cache_control.h>

#include <algorithm>

#include "bench/layout/layout_convert_panel.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

/// Above so many bytes what was written has left the caches before anybody reads it.
bool past_caches(std::size_t bytes) { return bytes > std::size_t{32} << 20; }

/// move(view, panel of an entry, the one that comes next) for all panels and entries.
template <class User, class Move>
void for_each_panel(const Layout& layout, User* user, const Move& move) {
  const LayoutView& view = layout.view();
  const std::int64_t entry_size = view.points * view.rows * view.columns;
#pragma omp parallel num_threads(threads_for(layout.size()))
  {
    PartPanels now;
#pragma omp for schedule(dynamic)
    for (int part = 0; part < walk_parts(view); ++part) {
      list_panels(view, part, now);
      const auto of_entry = [&](int e, int panel) {
        const Panel& p = now.panels[static_cast<std::size_t>(panel)];
        return EntryPanel<User>{p, now.pieces_of(p), e, user + e * entry_size};
      };
      int begin = 0;
      for (const int end : now.group_end) {
        for (int e = view.entries.begin; e < view.entries.end; ++e) {
          for (int panel = begin; panel < end; ++panel) {
            const bool last = panel + 1 == end;
            // Behind the last entry nothing is asked for: its own first panel is in the caches.
            move(view, of_entry(e, panel), of_entry(last && e + 1 < view.entries.end ? e + 1 : e, last ? begin : panel + 1));
          }
        }
        begin = end;
      }
    }
    // Streamed stores are ordered by nothing else.
    hwy::FlushStream();
  }
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
  const auto moves = panel_moves<User, Laid>(layout.view().rows, layout.view().columns);
  const auto into = past_caches(laid.size_bytes()) ? moves.into_past_caches : moves.into;
  for_each_panel(layout, user.data(),
                 [&](const LayoutView& view, const auto& now, const auto& next) { into(view, now, next, laid.data()); });
  clear_padding(layout, laid);
}

template <class User, class Laid>
void to_user(const Layout& layout, std::span<const Laid> laid, std::span<User> user) {
  check(layout, static_cast<std::int64_t>(user.size()), static_cast<std::int64_t>(laid.size()), sizeof(Laid));
  if (layout.size() == 0) return;
  const auto moves = panel_moves<User, Laid>(layout.view().rows, layout.view().columns);
  const auto out = past_caches(laid.size_bytes()) ? moves.out_past_caches : moves.out;
  for_each_panel(layout, user.data(),
                 [&](const LayoutView& view, const auto& now, const auto& next) { out(view, now, next, laid.data()); });
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
