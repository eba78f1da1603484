// SPDX-License-Identifier: BSD-3-Clause
// How the lanes of a warp hold the blocks of a team's lines, for b = 2 and 3: a value each, the lanes of a line side by
// side, eight or three lines at once. A right factor is a column, which a lane reads whole; a left one a row, which comes by
// shuffles. Tensor cores would leave three quarters of their 8×8 values unused. Products are chains of fma over ascending
// k, as on the host; for the inverse every lane has the whole block (block_inverse.cuh).
#pragma once

#include "echelon/factor/blocks_gpu/block_inverse.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_steps.cuh"

namespace echelon {

template <int B>
struct SingleLanes {
  static constexpr int lanes_a_line = B * B;
  static constexpr int lines = 32 / lanes_a_line;
  static constexpr int values = 1, factors = B;
  static constexpr int asked_ahead = B == 2 ? 16 : 10;  // blocks on their way
  static constexpr int room = 1;

  int lane;
  bool used;  // the last lanes of b = 3 do what lane 0 does
  int line, r, row, c;

  __device__ explicit SingleLanes(int lane_)
      : lane(lane_),
        used(lane < lines * lanes_a_line),
        line(used ? lane / lanes_a_line : 0),
        r(used ? lane % B : 0),
        row(r),
        c(used ? lane / B % B : 0) {}

  __device__ bool holds(int) const { return used; }
  __device__ bool counts(int) const { return true; }
  __device__ int column(int) const { return c; }
  __device__ bool leads() const { return lane == line * lanes_a_line; }
  __device__ bool any_of_line(bool x) const {
    constexpr unsigned mask = (1u << lanes_a_line) - 1;
    return (__ballot_sync(whole_warp, x) >> (line * lanes_a_line) & mask) != 0;
  }
  __device__ __forceinline__ double sum_of_row(double x) const {
    double sum = 0;
#pragma unroll
    for (int k = 0; k < B; ++k) sum += __shfl_sync(whole_warp, x, holder(r, k));
    return sum;
  }
  __device__ __forceinline__ double largest_of_line(double x) const {
    double largest = 0;
#pragma unroll
    for (int n = 0; n < lanes_a_line; ++n) {
      const double other = __shfl_sync(whole_warp, x, line * lanes_a_line + n);
      largest = other > largest ? other : largest;
    }
    return largest;
  }

  __device__ const double* right_place(const PointValues<double>& point) const { return point.at + c * point.run; }
  __device__ __forceinline__ void ask(const double* at, double (&u)[factors]) const {
    if constexpr (B == 2) {
      load_two_shared_by_all(at, u[0], u[1]);
    } else {
#pragma unroll
      for (int k = 0; k < B; ++k) u[k] = load_shared_by_all(at + k);
    }
  }
  template <bool negative>
  __device__ __forceinline__ void left(const double (&w)[values], double (&a)[factors], double*) const {
#pragma unroll
    for (int k = 0; k < B; ++k) {
      const double value = __shfl_sync(whole_warp, w[0], holder(r, k));
      a[k] = negative ? -value : value;
    }
  }
  __device__ __forceinline__ void multiply(const double (&a)[factors], const double (&u)[factors],
                                           double (&w)[values]) const {
#pragma unroll
    for (int k = 0; k < B; ++k) w[0] = fma(a[k], u[k], w[0]);
  }

  __device__ __forceinline__ double invert(double (&d)[values], double*) const {
    double all[B][B];  // [column][row]
#pragma unroll
    for (int k = 0; k < B; ++k) {
#pragma unroll
      for (int i = 0; i < B; ++i) all[k][i] = __shfl_sync(whole_warp, d[0], holder(i, k));
    }
    const double smallest = invert_alone(all);
#pragma unroll
    for (int k = 0; k < B; ++k) {
#pragma unroll
      for (int i = 0; i < B; ++i) d[0] = chosen(k == c && i == r, all[k][i], d[0]);
    }
    return smallest;
  }

 private:
  __device__ int holder(int of_row, int of_column) const { return line * lanes_a_line + of_column * B + of_row; }
};

}  // namespace echelon
