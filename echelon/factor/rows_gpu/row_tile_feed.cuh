// SPDX-License-Identifier: BSD-3-Clause
// How rows come to a warp that factors them in tiles (row_factor_tiles.cuh): which they are, and all that is known of them
// beforehand, w among it, into shared memory without passing registers. Where rows wait for none that is near they are dealt
// out to warps in turn, and the next one comes while one is worked on; elsewhere a warp draws a ticket when it waits for
// nothing more, since rows that a waiting warp held back would make others wait. A lane copies its own places of w and
// nobody else's, so nothing needs to be synchronized for them.
#pragma once

#include "echelon/base/cuda/cuda_copies.cuh"
#include "echelon/factor/rows_gpu/row_factor_view.hpp"
#include "echelon/factor/rows_gpu/row_tile_lane.cuh"

namespace echelon {

constexpr int tile_row_threads = 64;

/// Of a lower entry, as the row's lanes read it: row k and its number in A, which block of U the diagonal needs, and which
/// of the other entries it meets.
struct TileStep {
  static constexpr unsigned no_block = ~0u;
  int k, user;
  unsigned diagonal, others;
};

/// Shared memory of a row: w; the steps; its head; then as row_meets.hpp has them the records, how far the k are, and the
/// places.
struct TileRoom {
  int first_step, head, records, distances, places, bytes;  // where they begin, w at 0; all of it

  ECHELON_FN TileRoom(int block, int longest, int stride) {
    constexpr int steps = RowMeetsView::steps_a_word;
    first_step = (8 * block * block * longest + 15) / 16 * 16;
    head = first_step + 16 * stride;
    records = head + 32;
    distances = records + 4 * stride;
    places = distances + 4 * stride;
    bytes = places + 4 * stride * ((longest + steps - 1) / steps);
  }
  /// Of a warp's row before its rooms: what bounds the growth and the largest sum, three for each row of a block; then an
  /// inverse, a block to try, the block itself, and the swaps.
  static constexpr int bounds_bytes = 24 * 8;
  ECHELON_FN static constexpr int judge_bytes(int block) { return (8 * 3 * block * block + 4 * block + 15) / 16 * 16; }
  ECHELON_FN static int bytes_of_row(int block, int longest, int stride, bool dealt) {
    return bounds_bytes + judge_bytes(block) + TileRoom(block, longest, stride).bytes * (dealt ? 2 : 1);
  }
};

template <int B, int Rows, bool Dealt>
class TileRowFeed {
 public:
  using Lane = TileLane<B, Rows>;
  static constexpr int bb = B * B, halves = Lane::halves, steps = RowMeetsView::steps_a_word;

  __device__ explicit TileRowFeed(const RowFactorView& view)
      : v_(view),
        f_(view.rows),
        last_(static_cast<unsigned>(view.rows.A.block_rows - 1)),
        stride_(view.meets.stride),
        ticket_(view.first_ticket + (blockIdx.x * (tile_row_threads / 32) + threadIdx.x / 32) * Rows) {
    here_ = device::shared_address(memory()) + TileRoom::bounds_bytes + TileRoom::judge_bytes(B);
    there_ = here_ + (Dealt ? layout().bytes : 0);
  }

  /// All lanes: asks for the next ticket of all, and takes it.
  __device__ void ask_ticket() {
    if (at_.lane == 0) drawn_ = atomicAdd(&v_.status->ticket, 1u);
  }
  __device__ void draw_ticket() { ticket_ = __shfl_sync(~0u, drawn_, 0) * Rows + v_.first_ticket; }

  /// Into the room at hand, which the row after the next one will have. Rows beyond the last have a head of zeros.
  __device__ void ask_head() {
    const unsigned ticket = ticket_ + (Rows == 2 ? at_.s : 0);
    ticket_ += gridDim.x * (tile_row_threads / 32) * Rows;
    if (at_.rank() >= RowHead::words) return;
    const device::Address to = here_ + layout().head + 4 * at_.rank();
    if (ticket <= last_) {
      device::copy_async<4>(to, v_.meets.heads + std::size_t{ticket} * RowHead::words + at_.rank());
    } else {
      device::store(to, 0);
    }
  }
  /// Where nothing was done meanwhile.
  __device__ void wait_for_head() const {
    device::wait_for_copies();
    __syncwarp();
  }
  /// The room at hand and the next one change places.
  __device__ void change_rooms() {
    const device::Address free = here_;
    here_ = there_;
    there_ = free;
  }

  /// All of the row whose head has come begins to move into the next room. All lanes.
  __device__ void fetch_row() {
    const TileRoom room = layout();
    const Head head = head_at(there_ + room.head);
#pragma unroll 1
    for (int n = at_.rank(); n < head.counts.below; n += Lane::lanes) {
      device::copy_async<4>(there_ + room.records + 4 * n, v_.meets.records + head.lower + n);
      device::copy_async<4>(there_ + room.distances + 4 * n,
                            static_cast<const std::int32_t*>(f_.lower_distance) + head.lower + n);
    }
    const unsigned* places = v_.meets.places + RowMeetsView::first_word(head.row, head.lower) * stride_;
    const int words = (head.counts.below + steps - 1) / steps * stride_;
#pragma unroll 1
    for (int n = 4 * at_.rank(); n < words; n += 4 * Lane::lanes) {
      device::copy_async<16>(there_ + room.places + 4 * n, places + n);
    }
    const double* from = f_.A.values + std::size_t{head.of_A} * bb + at_.own();
    if (v_.meets.sources) {
      copy_entries(head.counts.count, v_.meets.sources + std::size_t{head.row} * static_cast<unsigned>(stride_), from);
      return;
    }
    device::Address to = there_ + 8 * at_.own();
    const device::Address end = to + 8 * head.counts.count * bb;
#pragma unroll 2
    for (; to < end; to += 8 * bb, from += bb) copy_entry(from, to);
  }

  /// The row that was fetched is the one at hand. All lanes; into how many parts its work falls, 0 when there is none.
  __device__ int take() {
    device::wait_for_copies();
    __syncwarp();
    change_rooms();
    const Head head = head_at(here_ + layout().head);
    row = static_cast<std::int32_t>(head.row);
    user = static_cast<std::int32_t>(head.user);
    lower = head.lower;
    upper = head.upper;
    below = head.counts.below;
    count = head.counts.count;
    const bool needs_first = list_steps(__shfl_sync(~0u, row, 0));
    __syncwarp();
    most_below = Rows == 2 ? __reduce_max_sync(~0u, below) : below;
    if (!__any_sync(~0u, count > 0)) return 0;
    return Rows == 2 && __any_sync(~0u, needs_first) ? 2 : 1;
  }

  __device__ TileStep step(int t) const {
    int words[4];
    device::load4(here_ + layout().first_step + 16 * t, words);
    return {words[0], words[1], static_cast<unsigned>(words[2]), static_cast<unsigned>(words[3])};
  }
  /// Where U(k) of step t begins, less what comes before it in a record.
  __device__ unsigned begin_of(int t) const {
    int begin;
    device::load(here_ + layout().records + 4 * t, begin);
    return static_cast<unsigned>(begin);
  }
  /// Which word of the t-th k an entry needs.
  __device__ unsigned place(unsigned t, int entry) const {
    std::uint8_t byte;
    device::load(here_ + layout().places + 4 * (t / steps * stride_ + entry) + t % steps, byte);
    return byte;
  }
  /// Three for each row of a block, and room to judge one in.
  __device__ double* bounds() const { return reinterpret_cast<double*>(memory()); }
  __device__ double* judge_room() const { return reinterpret_cast<double*>(memory() + TileRoom::bounds_bytes); }
  /// Where an entry of w begins.
  __device__ device::Address entry(int e) const { return here_ + 8 * e * bb; }
  /// The lane's first place of an entry of w; the second is `half` further on.
  __device__ device::Address own(int e) const { return here_ + 8 * (e * bb + at_.own()); }
  static constexpr int half = 8 * Lane::own_step;

  // The row at hand; of a warp's two, the lower parts' longer.
  std::int32_t row = 0, user = 0;
  unsigned lower = 0, upper = 0;
  int below = 0, count = 0, most_below = 0;

 protected:
  const RowFactorView& v_;
  const FactorView<double>& f_;
  const Lane at_;

 private:
  /// Of the row's lanes.
  __device__ unsigned char* memory() const {
    extern __shared__ __align__(16) unsigned char tile_rooms[];
    return tile_rooms + (static_cast<int>(threadIdx.x) / 32 * Rows + at_.s % Rows) *
                            TileRoom::bytes_of_row(B, v_.longest, v_.meets.stride, Dealt);
  }
  __device__ TileRoom layout() const { return {B, v_.longest, v_.meets.stride}; }

  struct Head {
    unsigned row, user, lower, upper, of_A;
    RowHead counts;
  };
  __device__ static Head head_at(device::Address from) {
    static_assert(RowHead::row == 0 && RowHead::user == 1 && RowHead::lower == 2 && RowHead::upper == 3);
    int first[4], of_A, counts;
    device::load4(from, first);
    device::load(from + 4 * RowHead::of_A, of_A);
    device::load(from + 4 * RowHead::counts, counts);
    return {static_cast<unsigned>(first[0]), static_cast<unsigned>(first[1]),
            static_cast<unsigned>(first[2]), static_cast<unsigned>(first[3]),
            static_cast<unsigned>(of_A),     RowHead::unpacked(static_cast<unsigned>(counts))};
  }

  /// Whether row `first` is among them.
  __device__ bool list_steps(std::int32_t first) const {
    const TileRoom room = layout();
    bool found = false;
#pragma unroll 1
    for (int n = at_.rank(); n < below; n += Lane::lanes) {
      int distance, record;
      device::load(here_ + room.distances + 4 * n, distance);
      device::load(here_ + room.records + 4 * n, record);
      const std::int32_t k = row - distance;
      const unsigned begin =
          RowMeetsView::upper_start(last_, k, static_cast<unsigned>(record)) - RowMeetsView::place_of_upper;
      unsigned others = 0, diagonal = TileStep::no_block;
#pragma unroll 2
      for (int e = n + 1; e < count; ++e) {
        const unsigned its = place(static_cast<unsigned>(n), e);
        if (its != RowMeetsView::no_place && e == below) diagonal = begin + its;
        if (its != RowMeetsView::no_place && e != below) others |= 1u << e;
      }
      device::store(here_ + room.records + 4 * n, static_cast<int>(begin));
      device::store4(here_ + room.first_step + 16 * n,
                     {k, f_.order ? f_.order[k] : k, static_cast<int>(diagonal), static_cast<int>(others)});
      found = found || k == first;
    }
    return found;
  }

  __device__ void copy_entry(const double* from, device::Address to) const {
#pragma unroll
    for (int h = 0; h < halves; ++h) {
      if (at_.has(h)) device::copy_async<8>(to + h * half, from + h * Lane::own_step);
    }
  }

  /// The entries of a row that does not stand as A's does. All lanes; a few say at a time where the entries come from.
  __device__ void copy_entries(int entries, const std::uint8_t* sources, const double* from) const {
    constexpr int some = 8;
    const int most = Rows == 2 ? __reduce_max_sync(~0u, entries) : entries;
#pragma unroll 1
    for (int base = 0; base < most; base += some) {
      const int mine = base + at_.rank();
      unsigned source = RowMeetsView::no_place;
      if (at_.rank() < some && mine < entries) source = sources[mine];
#pragma unroll 1
      for (int e = base; e < base + some && e < most; ++e) {
        const unsigned its = __shfl_sync(~0u, source, at_.of_rank(e - base));
        const device::Address to = there_ + 8 * (e * bb + at_.own());
        if (its != RowMeetsView::no_place) copy_entry(from + its * bb, to);
#pragma unroll
        for (int h = 0; h < halves; ++h) {
          if (its == RowMeetsView::no_place && e < entries && at_.has(h)) device::store(to + h * half, 0.0);
        }
      }
    }
  }

  const unsigned last_;
  const int stride_;
  device::Address here_, there_;  // rooms: of the row at hand, and of the next one
  unsigned ticket_, drawn_ = 0;   // of the head that is asked for next
};

}  // namespace echelon
