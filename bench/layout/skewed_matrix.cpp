// SPDX-License-Identifier: BSD-3-Clause
#include "bench/layout/skewed_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "bench/layout/layout_convert.hpp"
#include "bench/layout/layout_panels.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

Layout make_layout(const Grid& grid, const Stencil& stencil, const StoredBlocks& stored, const LayoutChoice& choice) {
  if (stored.entries.end > stencil.size()) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("entries {} to {} of the stencil '{}', which has {}", stored.entries.begin, stored.entries.end,
                            stencil.name(), stencil.size()));
  }
  const Wavefront front = wavefront(grid, stencil, choice.triangle);
  switch (choice.kind) {
    case LayoutKind::skewed: return Layout::skewed(front, stored);
    case LayoutKind::tile_contiguous: return Layout::tile_contiguous(front, stencil, choice.shape, stored);
    default: throw Error(ErrorCode::bad_argument, "a skewed matrix in user order: that is what StructMatrix is");
  }
}

Layout checked(Layout layout) {
  const Grid grid = layout.grid();
  require_memory(layout.bytes(),
                 fmt::format("a skewed matrix on the grid {}x{}x{} with {} entries and {} unknowns a point", grid.nx,
                             grid.ny, grid.nz, layout.stored().entries.count(), layout.stored().rows));
  return layout;
}

}  // namespace

template <class T>
SkewedMatrix<T>::SkewedMatrix(Grid grid, Stencil stencil, int dof, EntryRange entries, const LayoutChoice& choice)
    : stencil_(std::move(stencil)),
      layout_(checked(make_layout(grid, stencil_, StoredBlocks::matrix(entries, dof, sizeof(T)), choice))),
      values_(layout_.size()) {}

template <class T>
void SkewedMatrix<T>::fill(const Fill& function) {
  const LayoutView& view = layout_.view();
  const Grid grid = layout_.grid();
  const int b = dof(), parts = walk_parts(view);
  std::exception_ptr failure;
  int failed = parts;
#pragma omp parallel for num_threads(threads_for(layout_.size())) schedule(dynamic)
  for (int part = 0; part < parts; ++part) {
    try {
      std::vector<T> block(static_cast<std::size_t>(b) * b);
      PartPanels panels;
      const auto set_point = [&](Ijk p, const Place& place, int n) {
        for (int e = view.entries.begin; e < view.entries.end; ++e) {
          const Offset o = stencil_.offsets()[e];
          std::fill(block.begin(), block.end(), T(0));
          if (grid.contains(p.i + o.x, p.j + o.y, p.k + o.z)) function(p.i, p.j, p.k, e, block);
          for (int c = 0; c < b; ++c) std::copy_n(block.data() + c * b, b, values_.data() + place.at(e, n * b, c));
        }
      };
      list_panels(view, part, panels);
      for (const Panel& panel : panels.panels) {
        for (const Piece& piece : panels.pieces_of(panel)) {
          for (int n = 0; n < piece.count; ++n) {
            set_point(view.front.on_line(piece.y + n, panel.z, piece.level), piece.place, n);
          }
        }
      }
    } catch (...) {
#pragma omp critical(echelon_skewed_fill_failure)
      if (part < failed) {
        failed = part;
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  clear_padding(layout_, values());
}

template <class T>
template <class User>
void SkewedMatrix<T>::check_same(const StructMatrix<User>& A) const {
  const auto same = [](std::span<const Offset> s, std::span<const Offset> t) {
    return std::equal(s.begin(), s.end(), t.begin(), t.end());
  };
  const Grid here = layout_.grid(), there = A.grid();
  if (here == there && dof() == A.dof() && same(stencil_.offsets(), A.stencil().offsets())) return;
  throw Error(ErrorCode::size_mismatch,
              fmt::format("got a matrix on the grid {}x{}x{} with the {} entries of '{}' and {} unknowns a point, expected "
                          "{}x{}x{}, the {} entries of '{}' and {}",
                          there.nx, there.ny, there.nz, A.stencil().size(), A.stencil().name(), A.dof(), here.nx, here.ny,
                          here.nz, stencil_.size(), stencil_.name(), dof()));
}

template <class T>
template <class User>
void SkewedMatrix<T>::assign(const StructMatrix<User>& A) {
  check_same(A);
  to_layout(layout_, A.values(), values());
}

template <class T>
template <class User>
void SkewedMatrix<T>::copy_to(StructMatrix<User>& A) const {
  check_same(A);
  to_user(layout_, values(), A.values());
}

template class SkewedMatrix<double>;
template class SkewedMatrix<float>;
template void SkewedMatrix<double>::assign(const StructMatrix<double>&);
template void SkewedMatrix<float>::assign(const StructMatrix<double>&);
template void SkewedMatrix<float>::assign(const StructMatrix<float>&);
template void SkewedMatrix<double>::copy_to(StructMatrix<double>&) const;
template void SkewedMatrix<float>::copy_to(StructMatrix<double>&) const;
template void SkewedMatrix<float>::copy_to(StructMatrix<float>&) const;

}  // namespace echelon
