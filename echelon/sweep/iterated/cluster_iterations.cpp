// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/iterated/cluster_iterations.hpp"

#include <algorithm>
#include <bit>

#include "echelon/sweep/iterated/iteration_upload.hpp"

namespace echelon {
namespace {

constexpr int warp = 32;
/// So many load the pieces, though blocks of rows give work to fewer.
constexpr int least_threads = 256;
constexpr int held_widths[] = {4, 8, 10, 13, 16};

int whole_warps(std::int64_t threads) { return static_cast<int>((threads + warp - 1) / warp * warp); }

std::int64_t longest_row(const TrianglePattern& triangle) {
  std::int64_t longest = 0;
  for (std::int64_t s = 0; s < triangle.rows; ++s) longest = std::max(longest, triangle.start[s + 1] - triangle.start[s]);
  return longest;
}

}  // namespace

bool ClusterIterations::plan(const Triangles<double>& factors, const TrisolveOptions& options, Device device,
                             const IterationLaunches& launches) {
  options_ = options;
  device_ = device;
  launches_ = &launches;
  view_ = {};
  for (Side& side : sides_) side.tables = {}, side.held = {};
  view_.rows = factors.rows;
  view_.block = factors.block;
  view_.rows_a_block = options.rows_a_block;
  view_.kind = iteration_kind(options);
  view_.damping = options.damping;
  if (factors.rows == 0) return false;
  // The iterates of the largest cluster decide at once about a large factor; nothing is cut for it.
  const auto piece = [&](int ctas) {
    const std::int64_t blocks = (factors.rows + options.rows_a_block - 1) / options.rows_a_block;
    return (blocks + ctas - 1) / ctas * options.rows_a_block;
  };
  int most = ClusterView::most_ctas;
  const auto has_room = [&](int ctas) {
    if (piece(ctas) * factors.block > static_cast<std::int64_t>(ClusterSend::index_mask)) return false;
    set_sizes(ClusterForm::streamed, ctas, static_cast<int>(piece(ctas)));
    return launches.can_cluster(device.index, view_);
  };
  while (most > 1 && !has_room(most)) most /= 2;
  if (!has_room(most)) return false;
  longest_row_ = std::max(longest_row(factors.lower), longest_row(factors.upper));
  const std::int64_t threads = ClusterView::most_threads(factors.block);
  const std::int64_t rows_at_once = (factors.rows + options.rows_a_block - 1) / options.rows_a_block * factors.block;
  const auto ctas_of_threads = static_cast<unsigned>((rows_at_once + threads - 1) / threads);
  const int first = std::min(most, static_cast<int>(std::bit_ceil(ctas_of_threads)));
  for (const ClusterForm form : {ClusterForm::held, ClusterForm::resident}) {
    for (int ctas = first; ctas <= most; ctas *= 2) {
      if (form == ClusterForm::held && piece(ctas) > ClusterView::most_threads(1)) continue;
      cut(factors, ctas);
      if (fits(form, ctas)) return true;
    }
  }
  cut(factors, most);
  return fits(ClusterForm::streamed, most);
}

void ClusterIterations::cut(const Triangles<double>& factors, int ctas) {
  if (sides_[0].tables.first_entry.size() == ctas + 1) return;
  sides_[0].tables = ClusterTables(lower_view(factors), ctas, options_.rows_a_block);
  sides_[1].tables = ClusterTables(upper_view(factors), ctas, options_.rows_a_block);
}

bool ClusterIterations::fits(ClusterForm form, int ctas) {
  if (form == ClusterForm::held) {
    const auto* width =
        std::find_if(std::begin(held_widths), std::end(held_widths), [&](int w) { return w >= longest_row_; });
    if (view_.block > 1 || view_.rows_a_block > 1 || width == std::end(held_widths)) return false;
    view_.held_entries = *width;
  }
  set_sizes(form, ctas, sides_[0].tables.piece);
  if (form == ClusterForm::held && !can_be_held(view_.layout.zero)) return false;
  return view_.threads <= threads_at_most(view_) && launches_->can_cluster(device_.index, view_);
}

void ClusterIterations::set_sizes(ClusterForm form, int ctas, int piece) {
  const bool noncompact = view_.kind == IterationKind::noncompact;
  const auto &lower = sides_[0].tables, &upper = sides_[1].tables;
  ClusterNeeds needs;
  needs.block = view_.block;
  needs.piece = piece;
  needs.slices_a_piece = lower.slices_a_piece;
  needs.entries = std::max(lower.longest_piece(), upper.longest_piece());
  needs.borrowed = std::max(lower.most_borrowed, upper.most_borrowed);
  needs.sends = std::max(lower.most_sends(), upper.most_sends());
  needs.sums = view_.block > 1;
  needs.total = view_.kind == IterationKind::neumann;
  needs.inverse_diagonal = true;  // of U
  needs.diagonal = noncompact;
  needs.form = form;
  view_.form = form;
  view_.ctas = ctas;
  view_.layout = cluster_layout(needs);
  const std::int64_t work = (piece + view_.rows_a_block - 1) / view_.rows_a_block * std::int64_t{view_.block};
  view_.threads = form == ClusterForm::held
                      ? whole_warps(piece)
                      : whole_warps(std::clamp<std::int64_t>(work, least_threads, ClusterView::most_threads(view_.block)));
}

void ClusterIterations::load(const IteratedTriangles<double>& prepared, const SweepOrders& orders) {
  const std::int64_t n = view_.rows * view_.block;
  if (between_.size() != n) between_ = Array<double>(n, device_);
  view_.between = between_.data();
  view_.row_order = orders.rows;
  view_.column_order = orders.columns;
  load(prepared.lower(), sides_[0], view_.triangle[0]);
  load(prepared.upper(), sides_[1], view_.triangle[1]);
}

void ClusterIterations::load(const IteratedTriangle<double>& prepared, Side& side, ClusterTriangle& triangle) {
  const TriangleView<double> swept = prepared.swept();
  const std::int64_t size = std::int64_t{swept.block} * swept.block;
  triangle.piece = side.tables.piece;
  triangle.slices_a_piece = side.tables.slices_a_piece;
  triangle.sweeps = prepared.note().sweeps;
  triangle.first_entry = put(side.first_entry, side.tables.first_entry, device_);
  triangle.slices = put(side.slices, side.tables.slices, device_);
  triangle.entries = put(side.entries, side.tables.entries, device_);
  triangle.send_start = put(side.send_start, side.tables.send_start, device_);
  triangle.sends = put(side.sends, side.tables.sends, device_);
  if (view_.form == ClusterForm::held) {
    if (side.held.places.empty()) side.held = HeldPlaces(side.tables, view_.held_entries, view_.layout.zero);
    triangle.places = put(side.places, side.held.places, device_);
    triangle.first_send = put(side.first_send, side.held.first_send, device_);
    constexpr int slice = ClusterTriangle::rows_a_slice(1);
    set_size(side.packed, std::int64_t{view_.ctas} * triangle.slices_a_piece * slice * view_.held_entries, Device::host());
    pack_held_values(side.tables, view_.held_entries, swept.values, side.packed);
  } else {
    triangle.places = put(side.places, side.tables.places, device_);
    set_size(side.packed, side.tables.source.size() * size, Device::host());
    pack_values(side.tables, swept.block, swept.values, side.packed);
  }
  triangle.values = put(side.values, side.packed, device_);
  const auto put_diagonal = [&](const double* blocks, Array<double>& there) -> const double* {
    if (!blocks) return nullptr;
    set_size(side.packed, swept.rows() * size, Device::host());
    pack_diagonal(swept.rows(), swept.block, swept.lower, blocks, side.packed);
    return put(there, side.packed, device_);
  };
  triangle.inverse_diagonal = put_diagonal(swept.inverse_diagonal, side.inverse_diagonal);
  const bool noncompact = view_.kind == IterationKind::noncompact;
  triangle.diagonal = put_diagonal(noncompact ? prepared.diagonal() : nullptr, side.diagonal);
  triangle.row_scale = prepared.is_scaled() ? put(side.row_scale, prepared.scaling().row, device_) : nullptr;
  triangle.column_scale = prepared.is_scaled() ? put(side.column_scale, prepared.scaling().column, device_) : nullptr;
}

void ClusterIterations::apply(const double* r, double* x) {
  view_.r = r;
  view_.x = x;
  launches_->cluster(device_.index, view_);
}

std::int64_t ClusterIterations::bytes() const {
  std::int64_t sum = between_.bytes();
  for (const Side& side : sides_) {
    sum += side.first_entry.bytes() + side.slices.bytes() + side.entries.bytes() + side.places.bytes() +
           side.send_start.bytes() + side.sends.bytes() + side.first_send.bytes() + side.values.bytes() +
           side.inverse_diagonal.bytes() + side.diagonal.bytes() + side.row_scale.bytes() + side.column_scale.bytes();
  }
  return sum;
}

}  // namespace echelon
