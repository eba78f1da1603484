// SPDX-License-Identifier: BSD-3-Clause
// Checks and the choice of who does it. The host's loops ask the layout for every point: they are what the GPU is compared
// with, not what the host's own kernels use (layout_convert.hpp is).
#include "echelon/matrix/grid_gpu/tile_convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "echelon/base/error.hpp"
#include "echelon/matrix/grid_gpu/tile_convert_view.hpp"

namespace echelon {
namespace {

template <class T>
constexpr Stored own_stored = sizeof(T) == 8 ? Stored::fp64 : Stored::fp32;

/// Each point of the grid and where its values lie.
template <class Visit>
void each_point(const LayoutView& view, const Visit& visit) {
  std::int64_t point = 0;
  for (int k = 0; k < view.front.nz; ++k) {
    for (int j = 0; j < view.front.ny; ++j) {
      for (int i = 0; i < view.front.nx; ++i, ++point) visit(point, view.place({i, j, k}));
    }
  }
}

/// visit(index in user order, index in tile order, entry) for every column of a block that the user has: `rows` values.
template <class Visit>
void each_column(const TileConvertView& view, const Visit& visit) {
  const LayoutView& layout = view.layout;
  const std::int64_t block = std::int64_t{layout.rows} * layout.columns;
  each_point(layout, [&](std::int64_t point, const Place& place) {
    for (int e = 0; e < layout.entries.end; ++e) {
      const int source = view.source ? view.source[e] : e;
      if (source < 0) continue;
      const std::int64_t first = (source * layout.points + point) * block;
      for (int c = 0; c < layout.columns; ++c) visit(first + c * layout.rows, place.at(e, 0, c), e);
    }
  });
}

double scale_of(const TileConvertView& view, int entry) {
  return entry < view.center ? view.scales.lower : entry > view.center ? view.scales.upper : view.scales.diagonal;
}

template <class T>
void to_tiles_on_host(const TileConvertView& view, std::int64_t scalars) {
  auto* to = static_cast<std::byte*>(view.to);
  const int bytes = bytes_of(view.stored);
  std::fill_n(to, scalars * bytes, std::byte{0});
  each_column(view, [&](std::int64_t user, std::int64_t laid, int entry) {
    const auto scale = static_cast<T>(scale_of(view, entry));
    const auto lost =
        narrow(static_cast<const T*>(view.from) + user, view.layout.rows, scale, view.stored, to + laid * bytes);
    if (view.lost) *view.lost += static_cast<unsigned long long>(lost);
  });
}

template <class T>
void to_user_on_host(const TileConvertView& view) {
  each_column(view, [&](std::int64_t user, std::int64_t laid, int) {
    std::copy_n(static_cast<const T*>(view.from) + laid, view.layout.rows, static_cast<T*>(view.to) + user);
  });
}

template <class T>
void narrow_on_host(const TileConvertView& view) {
  const LayoutView& layout = view.layout;
  for (std::int64_t run = 0; run < view.runs; ++run) {
    const std::int64_t an_entry = layout.run_length(run) * layout.columns;
    for (int e = 0; e < layout.entries.end; ++e) {
      const std::int64_t first = layout.run_start[run] + e * an_entry;
      *view.lost += static_cast<unsigned long long>(
          narrow(static_cast<const T*>(view.from) + first, an_entry, static_cast<T>(scale_of(view, e)), view.stored,
                 static_cast<std::byte*>(view.to) + first * bytes_of(view.stored)));
    }
  }
}

void check_place(const Device& order, const Device& from, const Device& to) {
  if (from == order && to == order) return;
  throw Error(ErrorCode::device,
              fmt::format("conversion: the tile order is on {}, what is read on {}, what is written on {}", order.name(),
                          from.name(), to.name()));
}

void check_size(const char* what, std::int64_t got, std::int64_t expected) {
  if (got != expected) throw_size_mismatch(what, got, expected);
}

template <class T>
const TileConvertKernels<T>& kernels() {
  const auto* table = tile_convert_cuda<T>();
  if (!table) throw Error(ErrorCode::device, "conversion on a GPU: this build of echelon has no CUDA");
  return *table;
}

enum class Direction { to_tiles, to_user };

/// As measured on an H200. A walk finds its places once, which is most of a vector's work, and much of a matrix' with few
/// entries. Where user order is written, blocks side by side on the same lines do better than one that walks along them, and
/// so do longer pieces of a line when neighbouring lines begin at levels that differ by more than one.
ConvertAim aim_of(const LayoutView& layout, Direction direction) {
  constexpr int rows = 64, walk_of_vector = 16, few_entries = 20;
  if (layout.entries.count() == 1) return {rows, walk_of_vector};
  if (direction == Direction::to_tiles) return {rows, layout.entries.count() < few_entries ? 2 : 1};
  return {layout.front.a > 0 ? rows / 2 : rows, 1};
}

template <class T>
TileConvertView view_of(const TileOrder& order, bool matrix, Direction direction, const void* from, void* to) {
  TileConvertView view;
  view.layout = matrix ? order.matrix() : order.vector();
  if (order.kind() == LayoutKind::tile_contiguous) {
    view.cut = convert_cut(view.layout, order.host_tiles().longest(), sizeof(T), aim_of(view.layout, direction));
    view.runs = order.runs();
  }
  view.center = matrix ? order.stencil().center() : 0;
  view.from = from;
  view.to = to;
  view.stored = own_stored<T>;
  return view;
}

/// Runs `count(lost)` with a counter on the device and returns what it holds afterwards.
template <class Count>
std::int64_t counted(const Device& device, const Count& count) {
  const Array<unsigned long long> zero{0};
  auto lost = zero.to(device);
  count(lost.data());
  return static_cast<std::int64_t>(lost.to(Device::host())[0]);
}

}  // namespace

ConvertCut convert_cut(const LayoutView& layout, int longest_tile, int scalar_bytes, ConvertAim aim) {
  if (layout.rows > ConvertCut::most_elements) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("conversion of blocks of {} rows on a GPU: at most {}", layout.rows, ConvertCut::most_elements));
  }
  // Runs of 512 bytes on either side where there is room; shapes beyond that keep at least one line, level and column.
  constexpr int least_lines = 8, most_levels = 64;
  constexpr int room = ConvertCut::most_elements;
  // Places inside a box are counted in 32 bits, one of which says that there is none.
  constexpr std::int64_t most_distance = std::numeric_limits<int>::max();
  const TileShape tile = layout.tiles.shape;
  ConvertCut cut;
  cut.columns = std::min(layout.columns, std::max(1, room / layout.rows));
  while (layout.columns % cut.columns != 0) --cut.columns;
  cut.chunks = layout.columns / cut.columns;
  const int a_point = cut.columns * layout.rows;
  const int most_lines = std::clamp(room / a_point, 1, std::max(least_lines, aim.rows / layout.rows));
  const std::int64_t line = std::int64_t{layout.front.nx} * layout.rows * layout.columns, plane = line * layout.front.ny;
  const auto within = [&](std::int64_t each) {
    return static_cast<int>(std::clamp<std::int64_t>(most_distance / each, 1, room));
  };
  cut.lines_y = std::min({tile.y, most_lines, within(line)});
  const int most_z = std::min({tile.z, std::max(1, most_lines / cut.lines_y), within(plane)});
  cut.boxes_z = (tile.z + most_z - 1) / most_z;
  cut.lines_z = (tile.z + cut.boxes_z - 1) / cut.boxes_z;
  const std::int64_t a_level =
      std::int64_t{layout.entries.count()} * layout.columns * ((std::int64_t{tile.y} * tile.z * layout.rows + 7) / 8 * 8);
  if (a_level > most_distance || line > most_distance) {
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("conversion of tiles of {}x{} lines on a GPU: a level or a line has 2^31 values", tile.y, tile.z));
  }
  cut.levels = std::min({std::max(1, room / (cut.lines() * a_point)), most_levels, longest_tile, within(a_level)});
  // Neighbours in natural order (rows, then columns and levels) fall into neighbouring banks.
  const int banks = 128 / scalar_bytes;
  const int least = cut.lines() * layout.rows;
  cut.row_pitch = least + (layout.rows % banks - least % banks + banks) % banks;
  cut.boxes_y = (tile.y + cut.lines_y - 1) / cut.lines_y;
  const int windows = (longest_tile + cut.levels - 1) / cut.levels;
  cut.windows_a_walk = std::min(aim.windows, windows);
  cut.walks = (windows + cut.windows_a_walk - 1) / cut.windows_a_walk;
  return cut;
}

TileConversion::TileConversion(const TileOrder& order, const Stencil& user) : order_(order) {
  for (const Offset& o : user.offsets()) {
    if (order.stencil().find(o) >= 0) continue;
    throw Error(ErrorCode::structure,
                fmt::format("the tile order's stencil has no entry ({},{},{}), which the matrix has", o.x, o.y, o.z));
  }
  for (const Offset& o : order.stencil().offsets()) source_.push_back(user.find(o));
  // Kernels ask nothing where the stencils are the same.
  if (user.size() < order.stencil().size()) device_source_ = Array<int>(std::span<const int>(source_)).to(order.device());
  user_scalars_ = order.grid().points() * user.size() * order.dof() * order.dof();
}

template <class T>
void TileConversion::matrix_to_tiles(const Array<T>& user, Array<T>& tiles) const {
  check_place(order_.device(), user.device(), tiles.device());
  check_size("conversion of a matrix: tile order", tiles.size(), order_.matrix_scalars());
  matrix_to_tiles(user.span(), tiles.data());
}

template <class T>
void TileConversion::matrix_to_tiles(std::span<const T> user, T* tiles) const {
  check_size("conversion of a matrix: user order", static_cast<std::int64_t>(user.size()), user_scalars_);
  auto view = view_of<T>(order_, true, Direction::to_tiles, user.data(), tiles);
  view.source = device_source_.data();
  if (order_.device().is_host()) return to_tiles_on_host<T>(view, order_.matrix_scalars());
  kernels<T>().to_tiles(order_.device().index, view);
}

template <class T>
void TileConversion::matrix_to_user(const Array<T>& tiles, Array<T>& user) const {
  check_place(order_.device(), tiles.device(), user.device());
  check_size("conversion of a matrix: user order", user.size(), user_scalars_);
  check_size("conversion of a matrix: tile order", tiles.size(), order_.matrix_scalars());
  auto view = view_of<T>(order_, true, Direction::to_user, tiles.data(), user.data());
  view.source = device_source_.data();
  if (order_.device().is_host()) return to_user_on_host<T>(view);
  kernels<T>().to_user(order_.device().index, view);
}

template <class T>
void TileConversion::vector_to_tiles(const Array<T>& user, Array<T>& tiles) const {
  check_place(order_.device(), user.device(), tiles.device());
  check_size("conversion of a vector: natural order", user.size(), order_.grid().points() * order_.dof());
  check_size("conversion of a vector: tile order", tiles.size(), order_.vector_scalars());
  const auto view = view_of<T>(order_, false, Direction::to_tiles, user.data(), tiles.data());
  if (order_.device().is_host()) return to_tiles_on_host<T>(view, tiles.size());
  kernels<T>().to_tiles(order_.device().index, view);
}

template <class T>
void TileConversion::vector_to_user(const Array<T>& tiles, Array<T>& user) const {
  check_place(order_.device(), tiles.device(), user.device());
  check_size("conversion of a vector: natural order", user.size(), order_.grid().points() * order_.dof());
  check_size("conversion of a vector: tile order", tiles.size(), order_.vector_scalars());
  const auto view = view_of<T>(order_, false, Direction::to_user, tiles.data(), user.data());
  if (order_.device().is_host()) return to_user_on_host<T>(view);
  kernels<T>().to_user(order_.device().index, view);
}

template <class T>
std::int64_t TileConversion::narrow_to_tiles(const Array<T>& user, const PartScales& scales, Stored stored,
                                             Array<std::byte>& tiles) const {
  check_place(order_.device(), user.device(), tiles.device());
  check_size("conversion of a matrix: user order", user.size(), user_scalars_);
  check_size("conversion of a matrix: bytes in tile order", tiles.size(), order_.matrix_scalars() * bytes_of(stored));
  auto view = view_of<T>(order_, true, Direction::to_tiles, user.data(), tiles.data());
  view.source = device_source_.data();
  view.stored = stored;
  view.scales = scales;
  return counted(order_.device(), [&](unsigned long long* lost) {
    view.lost = lost;
    if (order_.device().is_host()) return to_tiles_on_host<T>(view, order_.matrix_scalars());
    kernels<T>().to_tiles(order_.device().index, view);
  });
}

template <class T>
std::int64_t narrow_tiles(const TileOrder& order, const Array<T>& tiles, const PartScales& scales, Stored stored,
                          Array<std::byte>& narrow) {
  check_place(order.device(), tiles.device(), narrow.device());
  if (order.kind() != LayoutKind::tile_contiguous) {
    throw Error(ErrorCode::bad_argument,
                "narrowing of a matrix that is not in tile order: narrow_to_tiles takes user order");
  }
  check_size("narrowing of a matrix: tile order", tiles.size(), order.matrix_scalars());
  check_size("narrowing of a matrix: bytes", narrow.size(), order.matrix_scalars() * bytes_of(stored));
  auto view = view_of<T>(order, true, Direction::to_tiles, tiles.data(), narrow.data());
  view.stored = stored;
  view.scales = scales;
  return counted(order.device(), [&](unsigned long long* lost) {
    view.lost = lost;
    if (order.device().is_host()) return narrow_on_host<T>(view);
    kernels<T>().narrow(order.device().index, view);
  });
}

#define ECHELON_CONVERT(T)                                                                                             \
  template void TileConversion::matrix_to_tiles(const Array<T>&, Array<T>&) const;                                     \
  template void TileConversion::matrix_to_tiles(std::span<const T>, T*) const;                                         \
  template void TileConversion::matrix_to_user(const Array<T>&, Array<T>&) const;                                      \
  template void TileConversion::vector_to_tiles(const Array<T>&, Array<T>&) const;                                     \
  template void TileConversion::vector_to_user(const Array<T>&, Array<T>&) const;                                      \
  template std::int64_t TileConversion::narrow_to_tiles(const Array<T>&, const PartScales&, Stored, Array<std::byte>&) \
      const;                                                                                                           \
  template std::int64_t narrow_tiles(const TileOrder&, const Array<T>&, const PartScales&, Stored, Array<std::byte>&);
ECHELON_CONVERT(double)
ECHELON_CONVERT(float)
#undef ECHELON_CONVERT

}  // namespace echelon
