// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/grid_transfer.hpp"

#include <omp.h>

#include <algorithm>
#include <type_traits>

#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

template <class T>
void convert(const Array<double>& from, Array<T>& to) {
  if (to.size() != from.size()) to = Array<T>(from.size());
#pragma omp parallel for num_threads(threads_for(from.size())) schedule(static)
  for (std::int64_t i = 0; i < from.size(); ++i) to[i] = static_cast<T>(from[i]);
}

}  // namespace

template <class T>
GridTransfer<T>::GridTransfer(const Grid& fine, const std::vector<DirectionStep>& steps)
    : fine_(fine), kernels_(mg_transfer_kernels<T>()) {
  for (const DirectionStep& step : steps) weights_[static_cast<std::size_t>(step.axis())].step = &step;
  const auto next = [&](const Grid& grid, Axis axis) { return along(axis).step ? coarsened(grid, axis) : grid; };
  after_z_ = next(fine_, Axis::z);
  after_y_ = next(after_z_, Axis::y);
  coarse_ = next(after_y_, Axis::x);
  between_z_ = between(fine_, Axis::z);
  between_y_ = between(after_z_, Axis::y);
  between_x_ = between(after_y_, Axis::x);
  refresh();
  fit(scratch_.own());
}

template <class T>
void GridTransfer<T>::refresh() {
  for (Weights& own : weights_) {
    if (!own.step) continue;
    if constexpr (std::is_same_v<T, double>) {
      own.left = own.step->left().data();
      own.right = own.step->right().data();
    } else {
      convert(own.step->left(), own.own_left);
      convert(own.step->right(), own.own_right);
      own.left = own.own_left.data();
      own.right = own.own_right.data();
    }
  }
}

template <class T>
std::int64_t GridTransfer<T>::bytes() const {
  std::int64_t total = 0;
  for (const Weights& own : weights_) {
    if (own.step) total += 2 * own.step->left().size() * static_cast<std::int64_t>(sizeof(T));
  }
  return total;
}

template <class T>
void GridTransfer<T>::fit(Scratch& scratch) const {
  if (!scratch.rooms.empty()) return;
  // Down: lines of z for three rows, and one of y. Up: two planes, or two lines where z is not coarsened.
  const std::int64_t most = std::max(4 * fine_.nx, along(Axis::z).step ? 2 * fine_.nx * fine_.ny : 0);
  scratch.rooms.resize(static_cast<std::size_t>(threads_for(fine_.points())));
  for (auto& room : scratch.rooms) room.resize(static_cast<std::size_t>(most));
}

/// Of row j: the three planes that plane K gathers, where z is coarsened.
template <class T>
const T* GridTransfer<T>::gathered_in_z(const T* fine, std::int64_t j, std::int64_t K, T* out) const {
  const Weights& w = along(Axis::z);
  if (!w.step) return fine + fine_.index(0, j, K);
  const bool more = 2 * K + 2 < fine_.nz;
  kernels_.gather(out, fine + fine_.index(0, j, 2 * K + 1), w.right + between_z_.index(0, j, K),
                  fine + fine_.index(0, j, 2 * K), more ? w.left + between_z_.index(0, j, K + 1) : nullptr,
                  more ? fine + fine_.index(0, j, 2 * K + 2) : nullptr, fine_.nx);
  return out;
}

template <class T>
void GridTransfer<T>::restrict_lines(const T* fine, T* coarse, std::int64_t begin, std::int64_t end,
                                     std::vector<T>& room) const {
  const Weights &wy = along(Axis::y), &wx = along(Axis::x);
  const std::int64_t nx = fine_.nx;
  T* const rows[3] = {room.data(), room.data() + nx, room.data() + 2 * nx};
  T* const own = room.data() + 3 * nx;
  const T* shared = nullptr;  // row 2J of the next line, which is row 2J + 2 of this one
  std::int64_t shared_row = -1;
  int slot = 0;
  for (std::int64_t line = begin; line < end; ++line) {
    const std::int64_t J = line % coarse_.ny, K = line / coarse_.ny;
    const T* row = nullptr;
    if (!wy.step) {
      row = gathered_in_z(fine, J, K, rows[0]);
    } else {
      const bool more = 2 * J + 2 < fine_.ny, there = shared && shared_row == 2 * J && J > 0;
      const T* lower = there ? shared : gathered_in_z(fine, 2 * J, K, rows[slot]);
      const T* middle = gathered_in_z(fine, 2 * J + 1, K, rows[2]);
      slot = 1 - slot;
      const T* upper = more ? gathered_in_z(fine, 2 * J + 2, K, rows[slot]) : nullptr;
      kernels_.gather(own, middle, wy.right + between_y_.index(0, J, K), lower,
                      more ? wy.left + between_y_.index(0, J + 1, K) : nullptr, upper, nx);
      row = own;
      shared = upper;
      shared_row = 2 * J + 2;
    }
    T* const out = coarse + line * coarse_.nx;
    if (!wx.step) {
      std::copy_n(row, nx, out);
      continue;
    }
    const T* left = wx.left + between_x_.index(0, J, K);
    const T* right = wx.right + between_x_.index(0, J, K);
    const std::int64_t inner = (nx - 1) / 2;  // coarse points with a point on either side
    for (std::int64_t I = 0; I < inner; ++I) {
      out[I] = row[2 * I + 1] + (right[I] * row[2 * I] + left[I + 1] * row[2 * I + 2]);
    }
    if (inner < coarse_.nx) out[inner] = row[nx - 1] + right[inner] * row[nx - 2];
  }
}

template <class T>
void GridTransfer<T>::restrict_to(const V& fine, V& coarse) const {
  auto scratch = scratch_.take([this](Scratch& spare) { fit(spare); });
  const std::int64_t lines = coarse_.ny * coarse_.nz;
#pragma omp parallel num_threads(std::min(threads(), static_cast <int>(scratch->rooms.size())))
  {
    const int thread = omp_get_thread_num();
    const auto [begin, end] = share(lines, thread, omp_get_num_threads());
    restrict_lines(fine.data(), coarse.data(), begin, end, scratch->rooms[static_cast<std::size_t>(thread)]);
  }
}

/// Planes where there are enough of them, else rows of every plane.
template <class T>
typename GridTransfer<T>::Strip GridTransfer<T>::strip_of(int thread, int team) const {
  if (fine_.nz >= 4 * team) {
    const auto [begin, end] = share(fine_.nz, thread, team);
    return {0, fine_.ny, begin, end};
  }
  const auto [begin, end] = share(fine_.ny, thread, team);
  return {begin, end, 0, fine_.nz};
}

/// A line of the level below, spread along x.
template <class T>
const T* GridTransfer<T>::spread_in_x(const T* coarse, std::int64_t J, std::int64_t K, T* out) const {
  const Weights& w = along(Axis::x);
  const T* e = coarse + coarse_.index(0, J, K);
  if (!w.step) return e;
  const T* left = w.left + between_x_.index(0, J, K);
  const T* right = w.right + between_x_.index(0, J, K);
  const std::int64_t nx = fine_.nx;
  out[0] = right[0] * e[0];
  for (std::int64_t I = 0; I + 1 < coarse_.nx; ++I) {
    out[2 * I + 1] = e[I];
    out[2 * I + 2] = left[I + 1] * e[I] + right[I + 1] * e[I + 1];
  }
  out[2 * coarse_.nx - 1] = e[coarse_.nx - 1];
  if (nx % 2) out[nx - 1] = left[coarse_.nx] * e[coarse_.nx - 1];
  return out;
}

/// Rows [j0, j1) of plane K with x and y done.
template <class T>
void GridTransfer<T>::spread_in_plane(const T* coarse, std::int64_t K, const Strip& strip, T* plane) const {
  const Weights& wy = along(Axis::y);
  const std::int64_t nx = fine_.nx;
  const auto line = [&](std::int64_t J, T* out) {
    const T* from = spread_in_x(coarse, J, K, out);
    if (from != out) std::copy_n(from, nx, out);
  };
  if (!wy.step) {
    for (std::int64_t j = strip.j0; j < strip.j1; ++j) line(j, plane + j * nx);
    return;
  }
  // Rows of coarse lines first, one more on either side of the strip, then those between.
  const std::int64_t first = std::max<std::int64_t>(0, strip.j0 / 2 - 1);
  for (std::int64_t J = first; J < coarse_.ny && 2 * J <= strip.j1; ++J) line(J, plane + (2 * J + 1) * nx);
  for (std::int64_t j = (strip.j0 + 1) / 2 * 2; j < strip.j1; j += 2) {
    const std::int64_t at = between_y_.index(0, j / 2, K);
    kernels_.between(plane + j * nx, wy.left + at, j > 0 ? plane + (j - 1) * nx : nullptr, wy.right + at,
                     j + 1 < fine_.ny ? plane + (j + 1) * nx : nullptr, nx);
  }
}

/// Where z is not coarsened: row by row, two lines of the level below at a time.
template <class T>
void GridTransfer<T>::correct_rows(const T* coarse, T* fine, const Strip& strip, std::vector<T>& room) const {
  const Weights& wy = along(Axis::y);
  const std::int64_t nx = fine_.nx;
  for (std::int64_t k = strip.k0; k < strip.k1; ++k) {
    const T* lines[2] = {nullptr, nullptr};
    std::int64_t held[2] = {-1, -1};
    const auto line = [&](std::int64_t J) -> const T* {
      if (J < 0 || J >= coarse_.ny) return nullptr;
      if (held[J % 2] != J) lines[J % 2] = spread_in_x(coarse, J, k, room.data() + J % 2 * nx);
      held[J % 2] = J;
      return lines[J % 2];
    };
    for (std::int64_t j = strip.j0; j < strip.j1; ++j) {
      T* const x = fine + fine_.index(0, j, k);
      if (!wy.step || j % 2 == 1) {
        kernels_.add(x, line(wy.step ? j / 2 : j), nx);
      } else {
        const std::int64_t at = between_y_.index(0, j / 2, k);
        const T *lower = line(j / 2 - 1), *upper = line(j / 2);
        kernels_.add_between(x, wy.left + at, lower, wy.right + at, upper, nx);
      }
    }
  }
}

template <class T>
void GridTransfer<T>::correct_strip(const T* coarse, T* fine, const Strip& strip, std::vector<T>& room) const {
  const Weights& wz = along(Axis::z);
  if (!wz.step) return correct_rows(coarse, fine, strip, room);
  const std::int64_t nx = fine_.nx, plane_size = nx * fine_.ny;
  T* const slots[2] = {room.data(), room.data() + plane_size};
  std::int64_t held[2] = {-1, -1};
  const auto plane = [&](std::int64_t K) -> const T* {
    if (K < 0 || K >= coarse_.nz) return nullptr;
    if (held[K % 2] != K) {
      spread_in_plane(coarse, K, strip, slots[K % 2]);
      held[K % 2] = K;
    }
    return slots[K % 2];
  };
  for (std::int64_t k = strip.k0; k < strip.k1; ++k) {
    const std::int64_t start = strip.j0 * nx, count = (strip.j1 - strip.j0) * nx;
    T* const x = fine + k * plane_size + start;
    if (k % 2 == 1) {
      kernels_.add(x, plane(k / 2) + start, count);
    } else {
      const T *lower = plane(k / 2 - 1), *upper = plane(k / 2);
      const std::int64_t at = between_z_.index(0, strip.j0, k / 2);
      kernels_.add_between(x, wz.left + at, lower ? lower + start : nullptr, wz.right + at, upper ? upper + start : nullptr,
                           count);
    }
  }
}

template <class T>
void GridTransfer<T>::correct(const V& coarse, V& fine) const {
  auto scratch = scratch_.take([this](Scratch& spare) { fit(spare); });
#pragma omp parallel num_threads(std::min(threads(), static_cast <int>(scratch->rooms.size())))
  {
    const int thread = omp_get_thread_num();
    correct_strip(coarse.data(), fine.data(), strip_of(thread, omp_get_num_threads()),
                  scratch->rooms[static_cast<std::size_t>(thread)]);
  }
}

template class GridTransfer<double>;
template class GridTransfer<float>;

}  // namespace echelon
