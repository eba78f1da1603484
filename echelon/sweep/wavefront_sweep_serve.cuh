// SPDX-License-Identifier: BSD-3-Clause
// The warps that serve a sweeping block: one copies the runs of coming levels into the ring, some fetch x on the borders
// from the words that neighbouring tiles publish. Reads are safe: a stage is filled only when it is empty, and a level of
// the history is overwritten only after the last step that reads it.
#pragma once

#include "echelon/sweep/wavefront_sweep_places.cuh"

namespace echelon::device {

/// Copies run after run into the ring: the record, r of the K vectors and the first piece of a level, then its other pieces.
/// r_of(k) is where vector k begins.
template <int B, int K, class V, class S, class Vectors>
__device__ __forceinline__ void copy_ahead(const WavefrontSweepView& v, const OwnTile& own, int lane, const Vectors& r_of) {
  const SweepBlock& plan = v.plan;
  const int n = own.levels, direction = v.lower ? 1 : -1;
  const std::int64_t run = own.first_run + (v.lower ? 0 : n - 1);
  const std::int64_t* starts = v.vector.run_start + run;
  const std::uint8_t* record = v.records + run * plan.record_bytes;
  const int unit = v.matrix.entries.count() * B;
  const auto* values = static_cast<const S*>(v.values);
  int slot = 0;
  unsigned phase = 1;
  // 32 heads at a time through shared memory, the next 32 on their way: a load a level would be the slowest part.
  const auto start_of = [&](int s, int more) { return __ldg(starts + direction * min(s, n - 1) + more); };
  std::int64_t next_start = start_of(lane, 0);
  int next_length = static_cast<int>(start_of(lane, 1) - next_start);
  for (int s0 = 0; s0 < n; s0 += warp_size) {
    store(own.base + place::starts + lane * 8, next_start);
    store(own.base + place::lengths + lane * 4, next_length);
    next_start = start_of(s0 + warp_size + lane, 0);
    next_length = static_cast<int>(start_of(s0 + warp_size + lane, 1) - next_start);
    __syncwarp();
    if (lane == 0) {
      for (int s = s0; s < min(n, s0 + warp_size); ++s) {
        std::int64_t start;
        int length;
        load(own.base + place::starts + (s - s0) * 8, start);
        load(own.base + place::lengths + (s - s0) * 4, length);
        const S* from = values + start * unit + std::int64_t{v.first_entry} * B * length;
        for (int p = 0; p < plan.pieces; ++p) {
          // Entries in sweep order; U is stored from the diagonal on and swept from its far end.
          const int q0 = p * plan.entries_a_stage, q1 = min(v.held, q0 + plan.entries_a_stage);
          const int e0 = v.lower ? q0 : v.held - q1;
          const Address to = own.ring + slot * plan.stage_bytes, barrier = own.base + place::full + 8 * slot;
          const unsigned bytes = static_cast<unsigned>((q1 - q0) * B * length * static_cast<int>(sizeof(S)));
          const unsigned r_bytes = static_cast<unsigned>(length * static_cast<int>(sizeof(V)));
          barrier_wait_idle(own.base + place::empty + 8 * slot, phase);
          barrier_expect(barrier, bytes + (p == 0 ? K * r_bytes + static_cast<unsigned>(plan.record_bytes) : 0));
          if (p == 0) {
            bulk_copy(to, record + std::int64_t{direction} * s * plan.record_bytes, static_cast<unsigned>(plan.record_bytes),
                      barrier);
            for (int k = 0; k < K; ++k) {
              bulk_copy(to + plan.r_offset + static_cast<unsigned>(k) * r_bytes, r_of(k) + start, r_bytes, barrier);
            }
          }
          if (bytes > 0) bulk_copy(to + plan.values_offset, from + std::int64_t{e0} * B * length, bytes, barrier);
          if (++slot == plan.stages) {
            slot = 0;
            phase ^= 1;
          }
        }
      }
    }
    __syncwarp();
  }
}

/// A lane owns a place of the border; groups of warps take the steps in turn, so that several polls are under way.
template <int B, class V>
__device__ __forceinline__ void fetch_borders(const WavefrontSweepView& v, const OwnTile& own, int warp, int lane) {
  const SweepBlock& plan = v.plan;
  const int mask = plan.history - 1, n = own.levels, nx = v.vector.front.nx;
  const BorderPlace<B, 1, V> mine(v, own, warp % plan.border_warps * warp_size + lane);
  const int turn = plan.border_groups;
  const auto wanted = [&](int s) { return s < n - 1 && static_cast<unsigned>(s - mine.first) < static_cast<unsigned>(nx); };
  int s = warp / plan.border_warps - v.deepest;
  V value = 0, next = 0;
  bool here = !wanted(s), next_here = !wanted(s + turn);
  unsigned polls = 0;
  unsigned long long begun = 0;
  while (s < n - 1) {
    // This step's word and that of the warp's next step are asked for together.
    unsigned __int128 word_now = 0, word_next = 0;
    if (!here) word_now = load_word(mine.word + s * mine.step);
    if (!next_here) word_next = load_word(mine.word + (s + turn) * mine.step);
    if (!here && tag_of(word_now) == own.epoch) {
      here = true;
      from_bits(value_of(word_now), value);
    }
    if (!next_here && tag_of(word_next) == own.epoch) {
      next_here = true;
      from_bits(value_of(word_next), next);
    }
    if (!__all_sync(all_lanes, here)) {
      if (++polls == 1) begun = nanoseconds();
      if (polls >= polls_before_sleep) __nanosleep(static_cast<unsigned>(plan.poll_sleep));
      if (!here && polls % polls_a_look == 0 && give_up(v.state, begun, {own.number, mine.other, v.lower})) here = true;
      continue;
    }
    // One step after the last that reads what this overwrites: a wait two steps back would be ambiguous.
    const int last = s - plan.history + v.deepest + 1;
    if (last >= 0) {
      barrier_wait_idle(own.base + place::done + 8 * (last & mask), static_cast<unsigned>(last >> v.log_history) & 1);
    }
    if (mine.inside) store(mine.at + (s & mask) * plan.plane_bytes, value);
    warp_arrives(own.base + place::border + 8 * (s & mask), lane);
    s += turn;
    value = next;
    here = next_here;
    next = 0;
    next_here = !wanted(s + turn);
    polls = 0;
  }
}

}  // namespace echelon::device
