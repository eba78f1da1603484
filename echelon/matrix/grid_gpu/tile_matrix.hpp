// SPDX-License-Identifier: BSD-3-Clause
// A matrix on a structured grid in tile order (tile_order.hpp), on a GPU or, for tests, on the host: y = A x and b − A x on
// vectors in the same order, so that product, sweeps and vector work need no conversions. The order of the points is that of
// the stencil grown by the level of fill of the factorization that goes with it; only A's own entries are stored.
// Every row is summed as in user order: same bits. Bytes a point: 8 b² an entry and 16 b, and 4 a ẑ of a (tile, level).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "echelon/matrix/dotted_product.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/grid_gpu/tile_convert.hpp"
#include "echelon/matrix/grid_gpu/tile_product_view.hpp"
#include "echelon/matrix/operator.hpp"
#include "echelon/matrix/row_source.hpp"
#include "echelon/stencil/tile_order.hpp"

namespace echelon {

class TileMatrix final : public Operator<double>, public DottedProduct {
 public:
  using V = Vector<double>;
  /// Throws Error(device) without such a device, will_not_fit without room on it.
  TileMatrix(const StructMatrix<double>& A, int fill, Device device);
  /// On the rows' device, without a copy of the values elsewhere. Rows that last are kept, to be written again.
  TileMatrix(std::shared_ptr<const RowSource> rows, int fill);
  TileMatrix(const TileMatrix&) = delete;
  TileMatrix& operator=(const TileMatrix&) = delete;

  /// New values, same shape (Error(structure) otherwise).
  void assign(const StructMatrix<double>& A);
  void assign(std::shared_ptr<const RowSource> rows);

  std::int64_t rows() const override { return order_.grid().points() * order_.dof(); }
  void apply(const V& x, V& y) const override;
  std::int64_t dot_parts() const override;
  void apply_and_dot(const V& x, V& y, double* parts) const override;
  void residual(const V& b, const V& x, V& r) const override { careful_residual(b, x, r); }
  void careful_residual(const V& b, const V& x, V& r) const override;
  double norm_inf() const override;
  Device device() const override { return order_.device(); }
  bool has_own_order() const override { return true; }
  std::int64_t kept_size() const override { return order_.vector_scalars(); }
  void keep(const V& natural, V& kept) const override { conversion_.vector_to_tiles(natural, kept); }
  void give_back(const V& kept, V& natural) const override { conversion_.vector_to_user(kept, natural); }

  const Grid& grid() const { return order_.grid(); }
  const Stencil& stencil() const { return order_.stencil(); }
  int dof() const { return order_.dof(); }
  int fill() const { return fill_; }
  TileShape tile_shape() const { return shape_; }
  const TileOrder& order() const { return order_; }
  /// Values for the grown stencil in the order of the same tiles, entries that A lacks as zero: what a factorization begins
  /// with, copied, or written again by rows that last, which moves half the bytes. Queued on a GPU.
  void grow(const TileOrder& grown, double* values) const;
  /// The values themselves where they stand in that order already; null when it has more entries. Throws Error(structure)
  /// for other tiles, as `grow` does.
  const double* values_in(const TileOrder& grown) const;
  /// r = (I + L) g with L the strict lower entries of `values`, which stand in this matrix' order; r is another vector.
  /// Queued on a GPU.
  void unit_lower_product(const double* values, const V& g, V& r) const;
  /// to ← the diagonal of such values, and `padding` where there is no point; one unknown a point. Queued on a GPU.
  void diagonal(const double* values, double padding, V& to) const;
  const double* values() const { return values_.data(); }
  /// Another one with every assignment of values; no two matrices have the same.
  std::uint64_t stamp() const { return stamp_; }
  std::int64_t bytes() const { return values_.bytes() + line_zero_.bytes() + order_.bytes(); }

  /// As rows are, for kernels that need where neighbours stand as well as the values.
  TileProductView matrix_view() const;

 private:
  void require_tiles_of(const TileOrder& grown) const;
  /// Order and memory: all that values need.
  TileMatrix(const Grid& grid, const Stencil& stencil, int dof, int fill, Device device);
  void make_product_tables();
  /// Of line_zero_: one a ẑ of a tile, and one behind them.
  int zero_columns() const { return order_.vector().tiles.shape.z + 1; }
  void require_same_shape(const Grid& grid, const Stencil& stencil, int dof) const;
  TileProductView view(const V& x, V& y) const;
  void check_vector(const char* what, const V& v) const;

  int fill_;
  std::shared_ptr<const RowSource> rows_;  // null unless they last
  TileShape shape_;
  TileOrder order_;
  TileConversion conversion_;
  Array<double> values_;
  std::uint64_t stamp_ = 0;
  Array<TileStretch> stretches_;
  Array<TileNeighbour> neighbours_;
  Array<TileNeighbour> lower_neighbours_;  // the others outside of every grid
  std::array<EntryStep, TileProductView::few_entries> steps_{};
  Array<unsigned> line_zero_;
  TileWindow window_;
  mutable Array<int> growth_;  // entry of A for each of the grown stencil, −1 without; as last asked for
};

}  // namespace echelon
