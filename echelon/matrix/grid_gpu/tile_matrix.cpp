// SPDX-License-Identifier: BSD-3-Clause
// Checks, tables and the choice of who does it. The host's loops go from line to line as the GPU's threads do: they are what
// the tables and the row's mathematics are tested with.
#include "echelon/matrix/grid_gpu/tile_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/matrix/grid_gpu/tile_product.inl"
#include "echelon/stencil/stencil_fill.hpp"
#include "echelon/stencil/sweep_tile_shape.hpp"

namespace echelon {
namespace {

std::vector<TileNeighbour> neighbours_of(const TileOrder& order) {
  const Wavefront& front = order.vector().front;
  std::vector<TileNeighbour> list;
  for (const Offset& o : order.stencil().offsets()) {
    const int line_y = o.y + front.c * o.z, line_z = o.z;
    const int level = o.x + front.a * o.y + front.b * o.z + line_y + line_z;
    list.push_back({o.x, o.y, o.z, line_y, line_z, level});
  }
  return list;
}

constexpr int levels_without_window = 32;

/// As many levels as give every GPU enough walks, within what a block of threads should take of the memory they share.
TileWindow window_of(const TileOrder& order, std::span<const TileNeighbour> neighbours) {
  constexpr std::int64_t enough_walks = 4096, most_bytes = 20 * 1024;
  constexpr int least_levels = 8, most_levels = 64;
  const TileShape shape = order.vector().tiles.shape;
  // Offsets as long as the grid reach from no point of it to another.
  const Grid& grid = order.grid();
  TileWindow window;
  int reach_y = 0;
  for (const TileNeighbour& to : neighbours) {
    if (std::abs(to.x) >= grid.nx || std::abs(to.y) >= grid.ny || std::abs(to.z) >= grid.nz) continue;
    reach_y = std::max(reach_y, std::abs(to.line_y));
    window.reach_z = std::max(window.reach_z, std::abs(to.line_z));
    window.reach_level = std::max(window.reach_level, std::abs(to.level));
  }
  window.sides = (reach_y + shape.y - 1) / shape.y;
  const std::int64_t a_row = std::int64_t{4} * window.columns(shape);
  const std::int64_t room = most_bytes / a_row - 2 * std::int64_t{window.reach_level} - 1;
  const std::int64_t wanted = std::clamp<std::int64_t>(order.runs() / enough_walks, least_levels, most_levels);
  window.levels = room < least_levels ? 0 : static_cast<int>(std::min(room, wanted));
  return window;
}

/// Every level of every tile once: pieces of `levels` levels, cut where the wavefront's levels are, those of the same
/// levels one behind the other.
Array<TileStretch> stretches_of(std::span<const Tile> tiles, int levels) {
  const auto first_cut = [=](const Tile& tile) { return tile.first_level / levels; };
  const auto last_cut = [=](const Tile& tile) { return (tile.first_level + tile.levels - 1) / levels; };
  int last = 0;
  for (const Tile& tile : tiles) last = std::max(last, last_cut(tile));
  // Changes of the number of tiles, then the number, then where the next one of a cut goes.
  std::vector<std::int64_t> next(static_cast<std::size_t>(last) + 2, 0);
  for (const Tile& tile : tiles) {
    ++next[static_cast<std::size_t>(first_cut(tile))];
    --next[static_cast<std::size_t>(last_cut(tile)) + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::exclusive_scan(next.begin(), next.end(), next.begin(), std::int64_t{0});
  Array<TileStretch> list(next.back());
  for (int t = 0; const Tile& tile : tiles) {
    const int begin = tile.first_level, end = begin + tile.levels, stop = last_cut(tile);
    for (int cut = first_cut(tile); cut <= stop; ++cut) {
      list[next[static_cast<std::size_t>(cut)]++] = {t, std::max(begin, cut * levels) - begin,
                                                     std::min(end, (cut + 1) * levels) - begin};
    }
    ++t;
  }
  return list;
}

const TileProductKernels& kernels() {
  const TileProductKernels* found = tile_product_kernels();
  if (!found) throw Error(ErrorCode::device, "a matrix in tile order on a GPU: this build of echelon has no CUDA");
  return *found;
}

/// What the threads of a block do, one after another.
template <class Sum>
class HostRows {
 public:
  explicit HostRows(const TileProductView& view)
      : v(view), constants(static_cast<std::size_t>(view.entries)), steps(static_cast<std::size_t>(view.entries)) {
    for (int e = 0; e < v.entries; ++e) steps[static_cast<std::size_t>(e)] = tile_product::step_of(v, e);
  }

  void run() {
    for (int n = 0; n < v.stretch_count; ++n) {
      const TileStretch& stretch = v.stretches[n];
      const Tile& tile = v.vector.tiles.tiles[stretch.tile];
      begin = tile.first_level + stretch.first;
      end = tile.first_level + stretch.last;
      if (v.window.levels > 0) fill(stretch.tile);
      lines(stretch.tile);
    }
  }

 private:
  void fill(int t) {
    std::vector<tile_product::TableColumn> columns;
    for (int c = 0; c < v.window.columns(v.vector.tiles.shape); ++c) {
      columns.push_back(tile_product::window_column(v, t, c));
    }
    zeros.clear();
    for (int level = begin - v.window.reach_level; level <= end + v.window.reach_level; ++level) {
      for (const auto& column : columns) zeros.push_back(tile_product::window_value(v, column, level));
    }
  }

  void lines(int t) {
    const TileView& tiles = v.vector.tiles;
    const Tile& tile = tiles.tiles[t];
    const int first_level = begin - v.window.reach_level;
    const unsigned* const near = v.window.levels > 0 ? zeros.data() : v.line_zero;
    for (int z = tile.z; z < tiles.end_z(tile); ++z) {
      for (int y = tile.y; y < tile.y + tiles.shape.y; ++y) {
        if (!tiles.front.has_line(y, z)) continue;
        const auto walk = tile_product::walk_of(v, {t, y, z}, near, first_level);
        for (int e = 0; e < v.entries; ++e) {
          constants[static_cast<std::size_t>(e)] = tile_product::neighbour_constant(v, {t, y, z}, e, first_level);
        }
        for (int level = std::max(begin, walk.start); level < std::min(end, walk.start + tiles.front.nx); ++level) {
          for (int n = 0; n < v.block; ++n) row(walk, level, n);
        }
      }
    }
  }

  /// The sizes whose batches differ; the GPU has more.
  void row(const tile_product::Walk& walk, int level, int n) {
    const tile_product::Places places{constants.data(), 1, steps.data()};
    switch (v.block) {
      case 1: return tile_product::row<1, Sum>(v, walk, places, level, n);
      case 2: return tile_product::row<2, Sum>(v, walk, places, level, n);
      case 3: return tile_product::row<3, Sum>(v, walk, places, level, n);
      case 5: return tile_product::row<5, Sum>(v, walk, places, level, n);
      default: return tile_product::row<0, Sum>(v, walk, places, level, n);
    }
  }

  const TileProductView& v;
  std::vector<unsigned> zeros;
  std::vector<int> constants;
  std::vector<EntryStep> steps;
  int begin = 0, end = 0;  // levels of the walk
};

template <class Sum>
void rows_on_host(const TileProductView& view) {
  HostRows<Sum>(view).run();
}

void grow_on_host(const TileProductView& from, const int* source, int entries, double* to) {
  for (std::int64_t run = 0; run < from.runs; ++run) {
    const std::int64_t start = from.vector.run_start[run] * from.block;
    const std::int64_t an_entry = from.vector.run_start[run + 1] * from.block - start;
    for (int e = 0; e < entries; ++e) {
      double* out = to + start * entries + e * an_entry;
      if (source[e] < 0) {
        std::fill_n(out, an_entry, 0.0);
      } else {
        std::copy_n(from.values + start * from.entries + source[e] * an_entry, an_entry, out);
      }
    }
  }
}

void entry_on_host(const TileProductView& from, int entry, double padding, double* to) {
  for (int t = 0; t < from.vector.tiles.count; ++t) {
    const Tile& tile = from.vector.tiles.tiles[t];
    for (int l = 0; l < tile.levels; ++l) {
      const auto run = tile_product::entry_run(from, t, tile.first_level + l, entry);
      std::copy_n(from.values + run.from, run.points, to + run.to);
      std::fill_n(to + run.to + run.points, run.length - run.points, padding);
    }
  }
}

std::uint64_t next_stamp() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

TileMatrix::TileMatrix(const Grid& grid, const Stencil& stencil, int dof, int fill, Device device)
    : fill_(fill),
      shape_(sweep_tile_shape(grid, grown(stencil, fill), dof)),
      order_(grid, stencil, grown(stencil, fill), dof, shape_, device),
      conversion_(order_, stencil) {
  if (!device.is_host()) kernels();
  if (order_.runs() > std::numeric_limits<int>::max() / 2 / zero_columns() ||
      order_.vector_scalars() > std::numeric_limits<unsigned>::max()) {
    throw Error(ErrorCode::will_not_fit, "a matrix in tile order: 32 bits cannot count its lines or rows");
  }
  require_memory(order_.matrix_scalars() * 8, "a matrix in tile order", device);
  values_ = Array<double>(order_.matrix_scalars(), device);
}

void TileMatrix::make_product_tables() {
  const std::vector<TileNeighbour> neighbours = neighbours_of(order_);
  neighbours_ = Array<TileNeighbour>(std::span<const TileNeighbour>(neighbours)).to(device());
  for (std::size_t e = 0; e < std::min(neighbours.size(), steps_.size()); ++e) {
    steps_[e] = {neighbours[e].x, neighbours[e].line_y * dof()};
  }
  std::vector<TileNeighbour> lower = neighbours;
  for (std::size_t e = static_cast<std::size_t>(stencil().center()); e < lower.size(); ++e)
    lower[e].y = order_.vector().front.ny;
  lower_neighbours_ = Array<TileNeighbour>(std::span<const TileNeighbour>(lower)).to(device());
  window_ = window_of(order_, neighbours);
  stretches_ =
      stretches_of(order_.host_vector().tiles().tiles(), window_.levels > 0 ? window_.levels : levels_without_window);
  if (!device().is_host()) stretches_ = stretches_.to(device());
  const LayoutView& layout = order_.vector();
  line_zero_ = Array<unsigned>((order_.runs() + 1) * zero_columns(), device());
  if (!device().is_host()) return kernels().line_zeros(device().index, layout, order_.runs(), line_zero_.data());
  for (int t = 0; t < layout.tiles.count; ++t) {
    const Tile& tile = layout.tiles.tiles[t];
    for (int l = 0; l < tile.levels; ++l) {
      const std::int64_t run = layout.first_run[t] + l;
      tile_product::line_zeros(layout, tile, run, tile.first_level + l, line_zero_.data() + run * zero_columns());
    }
  }
  tile_product::table_end(layout, order_.runs(), line_zero_.data());
}

// A GPU writes the values while the host makes the tables that only products need.
TileMatrix::TileMatrix(const StructMatrix<double>& A, int fill, Device device)
    : TileMatrix(A.grid(), A.stencil(), A.dof(), fill, device) {
  assign(A);
  make_product_tables();
}

TileMatrix::TileMatrix(std::shared_ptr<const RowSource> rows, int fill)
    : TileMatrix(rows->grid(), rows->stencil(), rows->dof(), fill, rows->device()) {
  assign(std::move(rows));
  make_product_tables();
}

void TileMatrix::require_same_shape(const Grid& of_grid, const Stencil& of_stencil, int of_dof) const {
  if (of_grid == grid() && of_dof == dof() && std::ranges::equal(of_stencil.offsets(), stencil().offsets())) return;
  throw Error(ErrorCode::structure, "new values for a matrix in tile order: the grid, stencil or block size differs");
}

void TileMatrix::assign(std::shared_ptr<const RowSource> rows) {
  require_same_shape(rows->grid(), rows->stencil(), rows->dof());
  rows->write(order_, values_.data());
  stamp_ = next_stamp();
  rows_ = rows->lasting() ? std::move(rows) : nullptr;
}

void TileMatrix::assign(const StructMatrix<double>& A) {
  require_same_shape(A.grid(), A.stencil(), A.dof());
  rows_.reset();
  const std::span<const double> host = A.values();
  // The values pass through user order on the device.
  require_memory(static_cast<std::int64_t>(host.size()) * 8, "a matrix in user order", device());
  Array<double> user(static_cast<std::int64_t>(host.size()), device());
  copy_bytes(user.data(), device(), host.data(), Device::host(), user.bytes());
  conversion_.matrix_to_tiles(user, values_);
  stamp_ = next_stamp();
}

void TileMatrix::check_vector(const char* what, const V& v) const {
  if (v.device() != device()) {
    throw Error(ErrorCode::device, fmt::format("product in tile order: the matrix is on {}, {} on {}", device().name(), what,
                                               v.device().name()));
  }
  if (v.size() != kept_size()) throw_size_mismatch(what, v.size(), kept_size());
}

TileProductView TileMatrix::matrix_view() const {
  TileProductView v{};
  v.vector = order_.vector();
  v.neighbours = neighbours_.data();
  v.entries = stencil().size();
  v.block = dof();
  v.longest = order_.host_vector().tiles().longest();
  v.runs = order_.runs();
  v.stretches = stretches_.data();
  v.stretch_count = static_cast<int>(stretches_.size());
  v.line_zero = line_zero_.data();
  v.window = window_;
  std::ranges::copy(steps_, v.steps);
  v.values = values_.data();
  return v;
}

TileProductView TileMatrix::view(const V& x, V& y) const {
  check_vector("x", x);
  check_vector("y", y);
  TileProductView v = matrix_view();
  v.x = x.data();
  v.y = y.data();
  return v;
}

void TileMatrix::apply(const V& x, V& y) const {
  const TileProductView v = view(x, y);
  if (device().is_host()) return rows_on_host<tile_product::PlainSum>(v);
  kernels().product(device().index, v);
}

std::int64_t TileMatrix::dot_parts() const {
  const std::int64_t parts = device().is_host() ? 0 : kernels().parts(matrix_view());
  return parts <= most_parts ? parts : 0;
}

void TileMatrix::apply_and_dot(const V& x, V& y, double* parts) const {
  if (dot_parts() == 0)
    throw Error(ErrorCode::bad_argument, "x·Ax with the product in tile order: this one does not give it");
  TileProductView v = view(x, y);
  v.parts = parts;
  kernels().product_and_dot(device().index, v);
}

void TileMatrix::careful_residual(const V& b, const V& x, V& r) const {
  TileProductView v = view(x, r);
  check_vector("b", b);
  v.b = b.data();
  if (device().is_host()) return rows_on_host<tile_product::CarefulSum>(v);
  kernels().careful_residual(device().index, v);
}

void TileMatrix::unit_lower_product(const double* values, const V& g, V& r) const {
  TileProductView v = view(g, r);
  v.neighbours = lower_neighbours_.data();
  v.values = values;
  v.b = g.data();
  if (device().is_host()) return rows_on_host<tile_product::AddedSum>(v);
  kernels().added(device().index, v);
}

void TileMatrix::diagonal(const double* values, double padding, V& to) const {
  check_vector("the diagonal", to);
  if (dof() != 1) throw Error(ErrorCode::bad_argument, fmt::format("a diagonal of blocks of {}", dof()));
  TileProductView from = matrix_view();
  from.values = values;
  if (device().is_host()) return entry_on_host(from, stencil().center(), padding, to.data());
  kernels().entry(device().index, from, stencil().center(), padding, to.data());
}

double TileMatrix::norm_inf() const {
  V sums(kept_size(), device());
  const TileProductView v = view(sums, sums);
  if (!device().is_host()) {
    cuda_backend()->fill(device().index, sums.data(), sums.size(), 0);
    kernels().row_sums(device().index, v);
    return cuda_backend()->largest(device().index, sums.data(), sums.size());
  }
  sums.fill(0);
  rows_on_host<tile_product::SizeSum>(v);
  double top = 0;
  for (const double sum : sums) {
    if (!(sum <= top)) top = std::isnan(top) ? top : sum;
  }
  return top;
}

void TileMatrix::require_tiles_of(const TileOrder& grown_order) const {
  const LayoutView &own = order_.host_vector().outline(), &other = grown_order.host_vector().outline();
  const bool same = grown_order.device() == device() && grown_order.dof() == dof() && grown_order.runs() == order_.runs() &&
                    own.tiles.shape.y == other.tiles.shape.y && own.tiles.shape.z == other.tiles.shape.z &&
                    own.front.a == other.front.a && own.front.b == other.front.b && own.front.c == other.front.c &&
                    grid() == grown_order.grid();
  if (!same) throw Error(ErrorCode::structure, "a matrix in tile order cannot grow into an order of other tiles");
}

const double* TileMatrix::values_in(const TileOrder& grown_order) const {
  require_tiles_of(grown_order);
  return std::ranges::equal(stencil().offsets(), grown_order.stencil().offsets()) ? values_.data() : nullptr;
}

void TileMatrix::grow(const TileOrder& grown_order, double* values) const {
  require_tiles_of(grown_order);
  // Scalar rows are made with half the bytes of a copy; blocks take longer to make than to copy.
  if (rows_ && dof() == 1) return rows_->write(grown_order, values);
  std::vector<int> source;
  for (const Offset& o : grown_order.stencil().offsets()) source.push_back(stencil().find(o));
  if (growth_.size() != static_cast<std::int64_t>(source.size())) {
    growth_ = Array<int>(std::span<const int>(source)).to(device());
  }
  const int entries = grown_order.stencil().size();
  const TileProductView from = matrix_view();
  if (device().is_host()) return grow_on_host(from, growth_.data(), entries, values);
  kernels().grow(device().index, from, growth_.data(), entries, values);
}

}  // namespace echelon
