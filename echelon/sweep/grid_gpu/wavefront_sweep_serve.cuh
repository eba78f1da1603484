// SPDX-License-Identifier: BSD-3-Clause
// The warps that serve a sweeping block: one or two copy the runs of coming levels into the ring, some fetch x on the
// borders from the words that neighbouring tiles publish. Reads are safe: a stage is filled only when it is empty, and a
// level of the history is overwritten only after the last step that reads it.
#pragma once

#include "echelon/sweep/grid_gpu/wavefront_sweep_places.cuh"

namespace echelon::device {

/// Copies run after run into the ring: the record, r of the K vectors and the first piece of a level, then its other pieces.
/// r_of(k) is where vector k begins. Each of `copiers` warps has every so many-th level and a lane of it every 32nd of
/// these: all find out where their runs are at once, then one lane after the other copies. What a lane does there alone
/// costs four cycles an instruction and bounds the levels a second of the whole block, so it is little.
template <int B, int K, class V, class S, class Vectors>
__device__ __forceinline__ void copy_ahead(const WavefrontSweepView& v, const OwnTile& own, int copier, int lane,
                                           const Vectors& r_of) {
  const SweepBlock& plan = v.plan;
  const int n = own.levels, direction = v.lower ? 1 : -1, turn = plan.copiers, batch = warp_size * turn;
  const std::int64_t run = own.first_run + (v.lower ? 0 : n - 1);
  const std::int64_t* starts = v.vector.run_start + run;
  const std::uint8_t* records = v.records + run * plan.record_bytes;
  const int unit = v.matrix.entries.count() * B, entries = plan.entries_a_stage, held = v.held, stages = plan.stages;
  const unsigned record_bytes = static_cast<unsigned>(plan.record_bytes);
  const Address full = own.base + place::full, empty = own.base + place::empty;
  const auto start_of = [&](int s, int more) { return __ldg(starts + direction * min(s, n - 1) + more); };
  std::int64_t next_start = start_of(copier + turn * lane, 0), next_end = start_of(copier + turn * lane, 1);
  for (int s0 = copier; s0 < n; s0 += batch) {
    const int s = s0 + turn * lane;
    const std::int64_t start = next_start;
    const int length = static_cast<int>(next_end - next_start);
    next_start = start_of(s + batch, 0);
    next_end = start_of(s + batch, 1);
    const auto column = static_cast<unsigned>(B * length * static_cast<int>(sizeof(S)));
    const auto r_bytes = static_cast<unsigned>(length * static_cast<int>(sizeof(V)));
    // Entries in sweep order; U is stored from the diagonal on and swept from its far end.
    const auto* from = reinterpret_cast<const std::uint8_t*>(static_cast<const S*>(v.values) + start * unit) +
                       static_cast<std::int64_t>(v.first_entry) * column;
    const std::uint8_t* record = records + static_cast<std::int64_t>(direction) * s * plan.record_bytes;
    int slot = s * plan.pieces % stages;
    unsigned phase = (static_cast<unsigned>(s * plan.pieces / stages) & 1) ^ 1;
    const int lanes = min(warp_size, (n - s0 + turn - 1) / turn);
    for (int j = 0; j < lanes; ++j) {
      if (lane == j) {
        int q0 = 0;
        do {
          const int count = min(held - q0, entries), e0 = v.lower ? q0 : held - q0 - count;
          const Address to = own.ring + slot * plan.stage_bytes, barrier = full + 8 * slot;
          const unsigned bytes = static_cast<unsigned>(count) * column;
          barrier_wait_idle(empty + 8 * slot, phase);
          barrier_expect(barrier, bytes + (q0 == 0 ? K * r_bytes + record_bytes : 0));
          if (q0 == 0) {
            bulk_copy(to, record, record_bytes, barrier);
            for (int k = 0; k < K; ++k) {
              bulk_copy(to + plan.r_offset + static_cast<unsigned>(k) * r_bytes, r_of(k) + start, r_bytes, barrier);
            }
          }
          if (bytes > 0) bulk_copy(to + plan.values_offset, from + static_cast<std::int64_t>(e0) * column, bytes, barrier);
          if (++slot == stages) {
            slot = 0;
            phase ^= 1;
          }
          q0 += entries;
        } while (q0 < held);
      }
      __syncwarp();
    }
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
