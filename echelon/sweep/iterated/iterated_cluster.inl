// SPDX-License-Identifier: BSD-3-Clause
// U⁻¹ L⁻¹ r by iteration in one launch of one cluster: each CTA has a piece of consecutive positions of a sweep, its
// iterates in shared memory twice, and beside them the x that it borrows: whoever computes one puts it where it is read,
// since reading another's memory takes many times as long. Sweep k reads the iterate k mod 2 and writes the other, so one
// cluster barrier a sweep is enough. Where the pieces of the factor fit, they are loaded once. Row mathematics and Machine
// are those of iterated_threads.inl; put(cta, offset, x) writes to another CTA's memory, cluster_barrier() waits for all and
// shows all that was written, device memory included.
#pragma once

#include "echelon/sweep/iterated/iterated_threads.inl"

namespace echelon {

template <class S>
ECHELON_FN S* in_memory(unsigned char* memory, int offset) {
  return reinterpret_cast<S*>(memory + offset);
}

/// What a CTA reads of its piece.
struct ClusterPiece {
  const double *values, *inverse_diagonal, *diagonal;
  const std::uint32_t *places, *entries, *slices, *send_start, *sends;
  std::uint32_t first_send;  // where `sends` begins
};

ECHELON_FN std::int64_t piece_begin(const ClusterTriangle& T, int cta) { return std::int64_t{cta} * T.piece; }
ECHELON_FN int piece_rows(const ClusterView& v, const ClusterTriangle& T, int cta) {
  const std::int64_t left = v.rows - piece_begin(T, cta);
  return left <= 0 ? 0 : left < T.piece ? static_cast<int>(left) : T.piece;
}

/// In device memory.
template <int B>
ECHELON_FN ClusterPiece stored_piece(const ClusterView& v, const ClusterTriangle& T, int cta) {
  const std::int64_t bb = std::int64_t{extent<B>(v.block)} * extent<B>(v.block), begin = piece_begin(T, cta);
  const std::int64_t first = T.first_entry[cta];
  return {T.values + first * bb,
          T.inverse_diagonal ? T.inverse_diagonal + begin * bb : nullptr,
          T.diagonal ? T.diagonal + begin * bb : nullptr,
          T.places + first,
          T.entries + begin,
          T.slices + std::int64_t{cta} * (T.slices_a_piece + 1),
          T.send_start + begin,
          T.sends,
          0};
}

template <int B, bool resident>
ECHELON_FN ClusterPiece piece_of(const ClusterView& v, const ClusterTriangle& T, int cta, unsigned char* memory) {
  if constexpr (resident) {
    const ClusterLayout& at = v.layout;
    return {in_memory<double>(memory, at.values),
            T.inverse_diagonal ? in_memory<double>(memory, at.inverse_diagonal) : nullptr,
            T.diagonal ? in_memory<double>(memory, at.diagonal) : nullptr,
            in_memory<std::uint32_t>(memory, at.places),
            in_memory<std::uint32_t>(memory, at.entries),
            in_memory<std::uint32_t>(memory, at.slices),
            in_memory<std::uint32_t>(memory, at.send_start),
            in_memory<std::uint32_t>(memory, at.sends),
            *in_memory<std::uint32_t>(memory, at.send_start)};
  } else {
    return stored_piece<B>(v, T, cta);
  }
}

template <class S>
ECHELON_FN void copy_shared(const ClusterView& v, Worker w, const S* from, std::int64_t n, S* to) {
  if (!from) return;
  for (std::int64_t i = w.thread; i < n; i += v.threads) to[i] = from[i];
}

template <int B>
ECHELON_FN void take_piece(const ClusterView& v, const ClusterTriangle& T, Worker w, unsigned char* memory) {
  const std::int64_t bb = std::int64_t{extent<B>(v.block)} * extent<B>(v.block), rows = piece_rows(v, T, w.cta);
  const std::int64_t entries = T.first_entry[w.cta + 1] - T.first_entry[w.cta];
  const ClusterPiece from = stored_piece<B>(v, T, w.cta);
  const ClusterLayout& at = v.layout;
  copy_shared(v, w, from.values, entries * bb, in_memory<double>(memory, at.values));
  copy_shared(v, w, from.inverse_diagonal, rows * bb, in_memory<double>(memory, at.inverse_diagonal));
  copy_shared(v, w, from.diagonal, rows * bb, in_memory<double>(memory, at.diagonal));
  copy_shared(v, w, from.places, entries, in_memory<std::uint32_t>(memory, at.places));
  copy_shared(v, w, from.entries, rows, in_memory<std::uint32_t>(memory, at.entries));
  copy_shared(v, w, from.slices, T.slices_a_piece + 1, in_memory<std::uint32_t>(memory, at.slices));
  if (rows == 0) return;
  const std::uint32_t first = from.send_start[0], sends = from.send_start[rows] - first;
  copy_shared(v, w, from.send_start, rows + 1, in_memory<std::uint32_t>(memory, at.send_start));
  copy_shared(v, w, from.sends + first, sends, in_memory<std::uint32_t>(memory, at.sends));
}

/// Row of the factorization at a piece's row l.
ECHELON_FN std::int64_t cluster_row(const ClusterView& v, bool lower, const ClusterTriangle& T, int cta, int l) {
  const std::int64_t s = piece_begin(T, cta) + l;
  return lower ? s : v.rows - 1 - s;
}

ECHELON_FN double over_scale(const double* scale, std::int64_t at, double value) {
  return scale ? value / scale[at] : value;
}

/// r at component c of row i over the row scale, from where the triangle before has left it.
ECHELON_FN double right_scalar(const ClusterView& v, bool lower, const ClusterTriangle& T, std::int64_t i, int b, int c) {
  const double value = lower ? v.r[(v.row_order ? v.row_order[i] : i) * b + c] : v.between[i * b + c];
  return over_scale(T.row_scale, i * b + c, value);
}

ECHELON_FN void give_scalar(const ClusterView& v, bool lower, const ClusterTriangle& T, std::int64_t i, int b, int c,
                            double result) {
  const double value = over_scale(T.column_scale, i * b + c, result);
  if (lower) {
    v.between[i * b + c] = value;
  } else {
    v.x[(v.column_order ? v.column_order[i] : i) * b + c] = value;
  }
}

/// Zeros where blocks of rows begin, which read what nobody has written yet.
template <int B>
ECHELON_FN void take_right(const ClusterView& v, bool lower, const ClusterTriangle& T, Worker w, unsigned char* memory) {
  const int b = extent<B>(v.block), scalars = piece_rows(v, T, w.cta) * b;
  double *right = in_memory<double>(memory, v.layout.right), *first = in_memory<double>(memory, v.layout.iterates[0]);
  for (int n = w.thread; n < scalars; n += v.threads) {
    right[n] = right_scalar(v, lower, T, cluster_row(v, lower, T, w.cta, n / b), b, n % b);
  }
  if (v.rows_a_block == 1) return;
  for (int n = w.thread; n < v.layout.zero * b; n += v.threads) first[n] = 0;
}

/// The iterate after the last sweep (Neumann: the sum of all).
template <int B>
ECHELON_FN void give_result(const ClusterView& v, bool lower, const ClusterTriangle& T, Worker w, unsigned char* memory) {
  const int b = extent<B>(v.block), scalars = piece_rows(v, T, w.cta) * b;
  const bool neumann = v.kind == IterationKind::neumann;
  const double* result = in_memory<double>(memory, neumann ? v.layout.total : v.layout.iterates[T.sweeps & 1]);
  for (int n = w.thread; n < scalars; n += v.threads) {
    give_scalar(v, lower, T, cluster_row(v, lower, T, w.cta, n / b), b, n % b, result[n]);
  }
}

/// Row l of a CTA's piece in sweep k.
template <int B, class Machine>
class ClusterRow {
  static constexpr int slice = ClusterTriangle::rows_a_slice(B);

 public:
  ECHELON_FN ClusterRow(const ClusterView& v, const ClusterPiece& piece, const Machine& machine, int cta, int k, int l)
      : v_(v),
        piece_(piece),
        machine_(machine),
        memory_(machine.memory(cta)),
        from_(v.layout.iterates[k & 1]),
        to_(v.layout.iterates[1 - (k & 1)]),
        l_(l) {
    first_ = piece.slices[l / slice] + static_cast<unsigned>(l % slice);
  }
  ECHELON_FN int size() const { return extent<B>(v_.block); }
  ECHELON_FN int entries() const { return static_cast<int>(piece_.entries[l_]); }
  ECHELON_FN unsigned entry(int e) const { return first_ + static_cast<unsigned>(e * slice); }
  ECHELON_FN const double* block(int e) const { return piece_.values + std::int64_t{entry(e)} * (size() * size()); }
  ECHELON_FN double x(int e, int c) const {
    const std::uint32_t place = piece_.places[entry(e)];
    const int index = static_cast<int>(place & ClusterPlace::index_mask);
    return in_memory<double>(memory_, (place & ClusterPlace::current) != 0 ? to_ : from_)[index * size() + c];
  }
  ECHELON_FN double right(int r) const { return in_memory<double>(memory_, v_.layout.right)[at(r)]; }
  ECHELON_FN double old(int c) const { return in_memory<double>(memory_, from_)[at(c)]; }
  ECHELON_FN const double* diagonal() const { return piece_.diagonal ? piece_.diagonal + square() : nullptr; }
  ECHELON_FN const double* inverse_diagonal() const { return piece_.inverse_diagonal + square(); }
  ECHELON_FN void finish(bool first, int r, double z) const {
    if (v_.kind == IterationKind::neumann) {
      double* total = in_memory<double>(memory_, v_.layout.total);
      total[at(r)] = first ? z : total[at(r)] + z;
    }
    const double next = first ? v_.damping * z : next_scalar(v_.kind, v_.damping, z, old(r));
    in_memory<double>(memory_, to_)[at(r)] = next;
    for (std::uint32_t n = piece_.send_start[l_]; n < piece_.send_start[l_ + 1]; ++n) {
      const std::uint32_t send = piece_.sends[n - piece_.first_send];
      const int index = static_cast<int>(send & ClusterSend::index_mask);
      machine_.put(static_cast<int>(send >> ClusterSend::cta_shift), to_ + 8 * (index * size() + r), next);
    }
  }

 private:
  ECHELON_FN int at(int r) const { return l_ * size() + r; }
  ECHELON_FN std::int64_t square() const { return std::int64_t{l_} * size() * size(); }

  const ClusterView& v_;
  const ClusterPiece& piece_;
  const Machine& machine_;
  unsigned char* memory_;
  int from_, to_, l_;
  unsigned first_;
};

/// visit(row, component, slot) over the scalar rows of a thread that are the `step`-th of their block of rows.
template <int B, class Visit>
ECHELON_FN void for_piece_rows(const ClusterView& v, const ClusterTriangle& T, Worker w, int step, const Visit& visit) {
  const int b = extent<B>(v.block), rows = piece_rows(v, T, w.cta);
  const int scalars = (rows + v.rows_a_block - 1) / v.rows_a_block * b;
  for (int slot = w.thread; slot < scalars; slot += v.threads) {
    const int l = slot / b * v.rows_a_block + step;
    if (l < rows) visit(l, slot % b, slot);
  }
}

template <int B, bool resident, class Machine>
ECHELON_FN void sweep_pieces(const ClusterView& v, const ClusterTriangle& T, int k, Machine& machine) {
  const bool divides = T.inverse_diagonal != nullptr, together = B != 1 && divides;
  const bool first = k == 0 && v.rows_a_block == 1;
  for (int step = 0; step < v.rows_a_block; ++step) {
    machine.each([&](Worker w) {
      unsigned char* memory = machine.memory(w.cta);
      const ClusterPiece piece = piece_of<B, resident>(v, T, w.cta, memory);
      for_piece_rows<B>(v, T, w, step, [&](int l, int r, int slot) {
        const ClusterRow<B, Machine> row(v, piece, machine, w.cta, k, l);
        const double sum = first ? row.right(r) : undivided<B>(row, v.kind, r);
        if (together) {
          in_memory<double>(memory, v.layout.sums)[slot] = sum;
        } else {
          row.finish(first, r, divides ? row.inverse_diagonal()[0] * sum : sum);
        }
      });
    });
    if (together) {
      machine.cta_barrier();
      machine.each([&](Worker w) {
        unsigned char* memory = machine.memory(w.cta);
        const ClusterPiece piece = piece_of<B, resident>(v, T, w.cta, memory);
        const double* sums = in_memory<double>(memory, v.layout.sums);
        for_piece_rows<B>(v, T, w, step, [&](int l, int r, int slot) {
          const ClusterRow<B, Machine> row(v, piece, machine, w.cta, k, l);
          row.finish(first, r, product_component<B>(row.size(), row.inverse_diagonal(), r, sums + slot - r));
        });
      });
    }
    if (B != 1 && step + 1 < v.rows_a_block) machine.cta_barrier();
  }
}

/// The whole application.
template <int B, bool resident, class Machine>
ECHELON_FN void iterate_in_cluster(const ClusterView& v, Machine& machine) {
#pragma unroll 1
  for (int side = 0; side < 2; ++side) {
    const bool lower = side == 0;
    const ClusterTriangle& T = v.triangle[side];
    machine.each([&](Worker w) {
      unsigned char* memory = machine.memory(w.cta);
      if constexpr (resident) take_piece<B>(v, T, w, memory);
      take_right<B>(v, lower, T, w, memory);
    });
    machine.cluster_barrier();
    for (int k = 0; k < T.sweeps; ++k) {
      sweep_pieces<B, resident>(v, T, k, machine);
      machine.cluster_barrier();
    }
    machine.each([&](Worker w) { give_result<B>(v, lower, T, w, machine.memory(w.cta)); });
    if (lower) machine.cluster_barrier();  // L⁻¹ r, rows of which another may have
  }
}

}  // namespace echelon
