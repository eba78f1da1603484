// SPDX-License-Identifier: BSD-3-Clause
// iterated_cluster.inl for scalar rows of few entries, a thread a row: each keeps its row in registers from the first sweep
// to the last, so that a sweep moves the x it reads, 8 bytes an entry, and 8 for its own. A shorter row ends in products of
// a zero that is stored and one that is read, which change no bit. states<S>()[worker] of a Machine is what a thread keeps
// between barriers; load(cta, offset) and store(cta, offset, x) are of the thread's own CTA, get(cta, offset) of any.
#pragma once

#include "echelon/sweep/iterated/iterated_cluster.inl"

namespace echelon {

template <int E>
class HeldRow {
 public:
  template <class Machine>
  ECHELON_FN void take(const ClusterView& v, bool lower, const ClusterTriangle& T, Worker w, const Machine& machine) {
    constexpr int slice = ClusterTriangle::rows_a_slice(1), words = (E + 1) / 2;
    const int l = w.thread, lane = l % slice;
    if (l == 0) {
      for (const int iterate : v.layout.iterates) machine.store(w.cta, iterate + 8 * v.layout.zero, 0.0);
    }
    has_row_ = l < piece_rows(v, T, w.cta);
    if (!has_row_) return;
    const std::int64_t at = std::int64_t{w.cta} * T.slices_a_piece + l / slice, s = piece_begin(T, w.cta) + l;
#pragma unroll
    for (int n = 0; n < words; ++n) places_[n] = T.places[(at * words + n) * slice + lane];
#pragma unroll
    for (int e = 0; e < E; ++e) value_[e] = T.values[(at * E + e) * slice + lane];
    inverse_ = T.inverse_diagonal ? T.inverse_diagonal[s] : 1.0;
    diagonal_ = T.diagonal ? T.diagonal[s] : 1.0;
    send_ = T.first_send[s];
    const std::int64_t i = cluster_row(v, lower, T, w.cta, l);
    right_ =
        lower ? right_scalar(v, true, T, i, 1, 0) : over_scale(T.row_scale, i, given(v, T, static_cast<int>(i), machine));
    old_ = total_ = 0;
  }

  template <class Machine>
  ECHELON_FN void sweep(const ClusterView& v, const ClusterTriangle& T, Worker w, int k, const Machine& machine) {
    if (!has_row_) return;
    const int from = k % 2 == 0 ? v.layout.iterates[0] : v.layout.iterates[1];
    const int to = v.layout.iterates[0] + v.layout.iterates[1] - from;
    const double z = inverse_ * (k == 0 ? right_ : undivided(v.kind, w.cta, from, machine));
    if (v.kind == IterationKind::neumann) total_ = k == 0 ? z : total_ + z;
    old_ = k == 0 ? v.damping * z : next_scalar(v.kind, v.damping, z, old_);
    machine.store(w.cta, to + 8 * w.thread, old_);
    if (send_ == ClusterSend::nobody || k + 1 == T.sweeps) return;
    put(machine, send_, to);
    if ((send_ & ClusterSend::more) == 0) return;
    const std::uint32_t* start = T.send_start + piece_begin(T, w.cta) + w.thread;
    for (std::uint32_t n = start[0] + 1; n < start[1]; ++n) put(machine, T.sends[n], to);
  }

  /// L⁻¹ r stays in shared memory, where no iterate is needed any more.
  template <class Machine>
  ECHELON_FN void give(const ClusterView& v, bool lower, const ClusterTriangle& T, Worker w, const Machine& machine) const {
    if (!has_row_) return;
    const std::int64_t i = cluster_row(v, lower, T, w.cta, w.thread);
    const double result = v.kind == IterationKind::neumann ? total_ : old_;
    if (lower) {
      machine.store(w.cta, v.layout.iterates[0] + 8 * w.thread, over_scale(T.column_scale, i, result));
    } else {
      give_scalar(v, false, T, i, 1, 0, result);
    }
  }

 private:
  /// What L's owner of row i gave. Both triangles are cut into pieces of the same size.
  template <class Machine>
  ECHELON_FN static double given(const ClusterView& v, const ClusterTriangle& T, int i, const Machine& machine) {
    return machine.get(i / T.piece, v.layout.iterates[0] + 8 * (i % T.piece));
  }

  /// As the function of this name of iterated_threads.inl, the loads of several x under way at once.
  template <class Machine>
  ECHELON_FN double undivided(IterationKind kind, int cta, int from, const Machine& machine) const {
    double sum = kind == IterationKind::neumann ? 0.0 : right_;
#pragma unroll
    for (int begin = 0; begin < E; begin += at_once) {
      double x[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int e = begin + u;
        if (e < E) x[u] = machine.load(cta, from + static_cast<int>(places_[e / 2] >> e % 2 * 16 & 0xffff));
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        if (begin + u < E) sum = fma(-value_[begin + u], x[u], sum);
      }
    }
    return kind == IterationKind::noncompact ? fma(-diagonal_, old_, sum) : sum;
  }

  template <class Machine>
  ECHELON_FN void put(const Machine& machine, std::uint32_t send, int to) const {
    const int index = static_cast<int>(send & ClusterSend::index_mask);
    machine.put(static_cast<int>(send >> ClusterSend::cta_shift & ClusterSend::cta_mask), to + 8 * index, old_);
  }

  static constexpr int at_once = E == 13 ? 7 : E;  // registers for more are not there
  bool has_row_;
  std::uint32_t send_;
  std::uint32_t places_[(E + 1) / 2];  // two each
  double value_[E], inverse_, diagonal_, right_, old_, total_;
};

/// The whole application. A CTA has a thread for each of its rows.
template <int E, class Machine>
ECHELON_FN void iterate_held_rows(const ClusterView& v, Machine& machine) {
  auto&& rows = machine.template states<HeldRow<E>>();
#pragma unroll 1
  for (int side = 0; side < 2; ++side) {
    const bool lower = side == 0;
    const ClusterTriangle& T = v.triangle[side];
    machine.each([&](Worker w) { rows[w].take(v, lower, T, w, machine); });
    machine.cluster_barrier();
    for (int k = 0; k < T.sweeps; ++k) {
      machine.each([&](Worker w) { rows[w].sweep(v, T, w, k, machine); });
      machine.cluster_barrier();
    }
    machine.each([&](Worker w) { rows[w].give(v, lower, T, w, machine); });
    if (lower) machine.cluster_barrier();
  }
}

}  // namespace echelon
