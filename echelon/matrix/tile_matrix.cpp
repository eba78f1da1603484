// SPDX-License-Identifier: BSD-3-Clause
// Checks, tables and the choice of who does it. The host's loops go from line to line as the GPU's threads do: they are what
// the tables and the row's mathematics are tested with.
#include "echelon/matrix/tile_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/factor/stencil_fill.hpp"
#include "echelon/matrix/tile_product.inl"
#include "echelon/sweep/wavefront_plan.hpp"

namespace echelon {
namespace {

std::vector<TileNeighbour> neighbours_of(const TileOrder& order) {
  const LayoutView& layout = order.vector();
  const Wavefront& front = layout.front;
  const TileShape shape = layout.tiles.shape;
  std::vector<TileNeighbour> list;
  for (const Offset& o : order.stencil().offsets()) {
    const int line_y = o.y + front.c * o.z, line_z = o.z;
    const int level = o.x + front.a * o.y + front.b * o.z + line_y + line_z;
    const bool far = std::abs(line_y) > shape.y || std::abs(line_z) > shape.z;
    list.push_back({o.x, o.y, o.z, line_y, line_z, level, far ? 1 : 0});
  }
  return list;
}

const TileProductKernels& kernels() {
  const TileProductKernels* found = tile_product_kernels();
  if (!found) throw Error(ErrorCode::device, "a matrix in tile order on a GPU: this build of echelon has no CUDA");
  return *found;
}

template <class Sum>
void rows_on_host(const TileProductView& view) {
  const TileView& tiles = view.vector.tiles;
  const int nx = view.vector.front.nx;
  std::vector<int> found(static_cast<std::size_t>(view.entries));
  for (int t = 0; t < tiles.count; ++t) {
    const Tile& tile = tiles.tiles[t];
    std::int64_t origins[tile_product::around];
    for (int n = 0; n < tile_product::around; ++n) origins[n] = tile_product::origin_around(view.vector, tile, n);
    for (int z = tile.z; z < tiles.end_z(tile); ++z) {
      for (int y = tile.y; y < tile.y + tiles.shape.y; ++y) {
        if (!view.vector.front.has_line(y, z)) continue;
        const auto walk = tile_product::begin_walk(view, {tile, origins, y, z}, found.data(), 1);
        for (int level = walk.start; level < walk.start + nx; ++level) {
          for (int row = 0; row < view.block; ++row) {
            if (view.block == 1) {
              tile_product::row<1, Sum>(view, walk, level, row);
            } else {
              tile_product::row<0, Sum>(view, walk, level, row);
            }
          }
        }
      }
    }
  }
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

std::int64_t matrix_bytes(const StructMatrix<double>& A) { return static_cast<std::int64_t>(A.values().size()) * 8; }

}  // namespace

TileMatrix::TileMatrix(const StructMatrix<double>& A, int fill, Device device)
    : fill_(fill),
      shape_(sweep_tile_shape(A.grid(), grown(A.stencil(), fill), A.dof())),
      order_(A.grid(), A.stencil(), grown(A.stencil(), fill), A.dof(), shape_, device),
      conversion_(order_, A.stencil()) {
  if (!device.is_host()) kernels();
  // The values pass through user order on the device.
  require_memory(matrix_bytes(A) + order_.matrix_scalars() * 8, "a matrix in tile order", device);
  values_ = Array<double>(order_.matrix_scalars(), device);
  neighbours_ = Array<TileNeighbour>(std::span<const TileNeighbour>(neighbours_of(order_))).to(device);
  const LayoutView& layout = order_.vector();
  if (order_.runs() > std::numeric_limits<int>::max() / 2 / layout.tiles.shape.z) {
    throw Error(ErrorCode::will_not_fit, "a matrix in tile order: 32 bits cannot count its lines");
  }
  line_zero_ = Array<std::int64_t>(order_.runs() * layout.tiles.shape.z, device);
  if (device.is_host()) {
    for (int t = 0; t < layout.tiles.count; ++t) {
      const Tile& tile = layout.tiles.tiles[t];
      for (int l = 0; l < tile.levels; ++l) {
        const std::int64_t run = layout.first_run[t] + l;
        tile_product::line_zeros(layout, tile, run, tile.first_level + l, line_zero_.data() + run * layout.tiles.shape.z);
      }
    }
  } else {
    kernels().line_zeros(device.index, layout, line_zero_.data());
  }
  assign(A);
}

void TileMatrix::assign(const StructMatrix<double>& A) {
  if (!(A.grid() == grid()) || A.dof() != dof() || !std::ranges::equal(A.stencil().offsets(), stencil().offsets())) {
    throw Error(ErrorCode::structure, "new values for a matrix in tile order: the grid, stencil or block size differs");
  }
  const std::span<const double> host = A.values();
  Array<double> user(static_cast<std::int64_t>(host.size()), device());
  copy_bytes(user.data(), device(), host.data(), Device::host(), user.bytes());
  conversion_.matrix_to_tiles(user, values_);
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
  v.line_zero = line_zero_.data();
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

void TileMatrix::careful_residual(const V& b, const V& x, V& r) const {
  TileProductView v = view(x, r);
  check_vector("b", b);
  v.b = b.data();
  if (device().is_host()) return rows_on_host<tile_product::CarefulSum>(v);
  kernels().careful_residual(device().index, v);
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

void TileMatrix::grow(const TileOrder& grown_order, double* values) const {
  const LayoutView &own = order_.host_vector().view(), &other = grown_order.host_vector().view();
  const bool same = grown_order.device() == device() && grown_order.dof() == dof() && grown_order.runs() == order_.runs() &&
                    own.tiles.shape.y == other.tiles.shape.y && own.tiles.shape.z == other.tiles.shape.z &&
                    own.front.a == other.front.a && own.front.b == other.front.b && own.front.c == other.front.c &&
                    grid() == grown_order.grid();
  if (!same) throw Error(ErrorCode::structure, "a matrix in tile order cannot grow into an order of other tiles");
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
