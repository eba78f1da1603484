// SPDX-License-Identifier: BSD-3-Clause
// iterated_cluster.inl for scalar rows of few entries, a thread a row: each keeps its row in registers from the first sweep
// to the last, so that a sweep moves the x it reads, 8 bytes an entry, and 8 for its own. states<S>()[worker] of a Machine
// is what a thread keeps between barriers.
#pragma once

#include "echelon/sweep/iterated_cluster.inl"

namespace echelon {

template <int E>
class HeldRow {
 public:
  ECHELON_FN void take(const ClusterView& v, bool lower, const ClusterTriangle& T, Worker w) {
    constexpr int slice = ClusterTriangle::rows_a_slice(1);
    const int l = w.thread;
    entries_ = -1;
    if (l >= piece_rows(v, T, w.cta)) return;
    const ClusterPiece piece = stored_piece<1>(v, T, w.cta);
    const std::uint32_t first = piece.slices[l / slice] + static_cast<unsigned>(l % slice);
    entries_ = static_cast<int>(piece.entries[l]);
#pragma unroll
    for (int e = 0; e < E; ++e) {
      value_[e] = e < entries_ ? piece.values[first + static_cast<unsigned>(e * slice)] : 0.0;
      place_[e] = e < entries_ ? piece.places[first + static_cast<unsigned>(e * slice)] : 0u;
    }
    inverse_ = piece.inverse_diagonal ? piece.inverse_diagonal[l] : 1.0;
    diagonal_ = piece.diagonal ? piece.diagonal[l] : 1.0;
    right_ = right_scalar(v, lower, T, cluster_row(v, lower, T, w.cta, l), 1, 0);
    old_ = total_ = 0;
  }

  template <class Machine>
  ECHELON_FN void sweep(const ClusterView& v, const ClusterTriangle& T, Worker w, int k, const Machine& machine) {
    if (entries_ < 0) return;
    unsigned char* memory = machine.memory(w.cta);
    const double sum = k == 0 ? right_ : undivided(v, T, memory, k, machine);
    const double z = T.inverse_diagonal ? inverse_ * sum : sum;
    if (v.kind == IterationKind::neumann) total_ = k == 0 ? z : total_ + z;
    old_ = k == 0 ? v.damping * z : next_scalar(v.kind, v.damping, z, old_);
    in_memory<double>(memory, v.layout.iterates[1 - (k & 1)])[w.thread] = old_;
  }

  ECHELON_FN void give(const ClusterView& v, bool lower, const ClusterTriangle& T, Worker w) const {
    if (entries_ < 0) return;
    const double result = v.kind == IterationKind::neumann ? total_ : old_;
    give_scalar(v, lower, T, cluster_row(v, lower, T, w.cta, w.thread), 1, 0, result);
  }

 private:
  /// As the function of this name of iterated_threads.inl, the loads of several x under way at once.
  template <class Machine>
  ECHELON_FN double undivided(const ClusterView& v, const ClusterTriangle& T, unsigned char* memory, int k,
                              const Machine& machine) const {
    const int from = v.layout.iterates[k & 1];
    double sum = v.kind == IterationKind::neumann ? 0.0 : right_;
#pragma unroll
    for (int begin = 0; begin < E; begin += at_once) {
      double x[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int e = begin + u;
        x[u] = e < entries_ ? placed(machine, memory, place_[e], from, from, 1, 0) : 0.0;
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        if (begin + u < entries_) sum = fma(-value_[begin + u], x[u], sum);
      }
    }
    if (v.kind != IterationKind::noncompact) return sum;
    return T.diagonal ? fma(-diagonal_, old_, sum) : sum - old_;
  }

  static constexpr int at_once = E == 10 ? 5 : E > 8 ? 8 : E;  // registers for more are not there
  int entries_;                                                // negative: no row
  std::uint32_t place_[E];
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
    machine.each([&](Worker w) { rows[w].take(v, lower, T, w); });
    machine.cluster_barrier();
    for (int k = 0; k < T.sweeps; ++k) {
      machine.each([&](Worker w) { rows[w].sweep(v, T, w, k, machine); });
      machine.cluster_barrier();
    }
    machine.each([&](Worker w) { rows[w].give(v, lower, T, w); });
    if (lower) machine.cluster_barrier();
  }
}

}  // namespace echelon
