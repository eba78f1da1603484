// SPDX-License-Identifier: BSD-3-Clause
// A sweep of an iterated triangular solve as threads of a GPU share it, a thread a scalar row: the chain that this component
// of the row has on the host (iterated_row.inl), so the bits are the same. A block of rows is gone through row by row.
// A Machine runs it: each(f) calls f(Worker) for the calling thread, or, where a test emulates a GPU, for one after the
// other; memory(cta) is the CTA's shared memory. What is read between two barriers was written before the first. Bytes a
// row: those of the exact sweep, 8 b more, and 8 b² for D in the non-compact form.
#pragma once

#include "echelon/sweep/iterated/device_iteration_view.hpp"

namespace echelon {

struct Worker {
  int cta, thread;
};

constexpr int iteration_threads = 256;

/// Blocks of rows a CTA takes.
ECHELON_FN constexpr int row_blocks_a_cta(int b) { return b < iteration_threads ? iteration_threads / b : 1; }

/// Component r of y − A x alone, the chain of subtract_product; x_c is load(c).
template <int B, class T, class Load>
ECHELON_FN T subtract_component(int b, const T* A, int r, const Load& load, T y) {
  const int n = extent<B>(b);
  for (int c = 0; c < n; ++c) y = fma(-A[c * n + r], load(c), y);
  return y;
}

/// Component r of A x alone, the chain of product.
template <int B, class T>
ECHELON_FN T product_component(int b, const T* A, int r, const T* x) {
  const int n = extent<B>(b);
  T y = A[r] * x[0];
  for (int c = 1; c < n; ++c) y = fma(A[c * n + r], x[c], y);
  return y;
}

/// sum − Σ T_j x_j over the entries [e, e + N) of a row; all loads are under way before the first is used.
template <int B, int N, class Row>
ECHELON_FN double chain_part(const Row& row, int e, int r, double sum) {
  double a[N][B], x[N][B];
#pragma unroll
  for (int u = 0; u < N; ++u) {
    const double* block = row.block(e + u);
#pragma unroll
    for (int c = 0; c < B; ++c) {
      a[u][c] = block[c * B + r];
      x[u][c] = row.x(e + u, c);
    }
  }
#pragma unroll
  for (int u = 0; u < N; ++u) {
#pragma unroll
    for (int c = 0; c < B; ++c) sum = fma(-a[u][c], x[u][c], sum);
  }
  return sum;
}

/// The same over all entries, the farthest column first.
template <int B, class Row>
ECHELON_FN double chain(const Row& row, int r, double sum) {
  const int n = row.entries();
  int e = 0;
  if constexpr (B == 0) {
    for (; e < n; ++e) {
      sum = subtract_component<B>(
          row.size(), row.block(e), r, [&](int c) { return row.x(e, c); }, sum);
    }
  } else {
    constexpr int at_once = B <= 4 ? 4 / B : 1;
#pragma unroll 1
    for (; e + at_once <= n; e += at_once) sum = chain_part<B, at_once>(row, e, r, sum);
#pragma unroll 1
    for (; at_once > 1 && e < n; ++e) sum = chain_part<B, 1>(row, e, r, sum);
  }
  return sum;
}

/// What D⁻¹ is applied to: r − Σ T x (Neumann: −Σ T x), less D x of the row itself in the non-compact form.
template <int B, class Row>
ECHELON_FN double undivided(const Row& row, IterationKind kind, int r) {
  const double sum = chain<B>(row, r, kind == IterationKind::neumann ? 0.0 : row.right(r));
  if (kind != IterationKind::noncompact) return sum;
  if (!row.diagonal()) return sum - row.old(r);
  return subtract_component<B>(
      row.size(), row.diagonal(), r, [&](int c) { return row.old(c); }, sum);
}

/// A row of factors in device memory, at position s of the sweep, the `within`-th of its block of rows.
template <int B>
class StoredRow {
 public:
  ECHELON_FN StoredRow(const IterationSweep& v, std::int64_t s, std::int64_t within)
      : v_(v), within_(within), i_(v.lower ? s : v.rows.rows - 1 - s) {
    const std::int64_t begin = v.rows.start[s], end = v.rows.start[s + 1];
    first_ = v.lower ? begin : end - 1;
    entries_ = static_cast<int>(end - begin);
  }
  ECHELON_FN int size() const { return extent<B>(v_.rows.block); }
  ECHELON_FN int entries() const { return entries_; }
  ECHELON_FN std::int64_t entry(int e) const { return v_.lower ? first_ + e : first_ - e; }
  ECHELON_FN const double* block(int e) const { return v_.rows.values + entry(e) * size() * size(); }
  ECHELON_FN double x(int e, int c) const {
    const std::int64_t distance = static_cast<const std::int32_t*>(v_.rows.distance)[entry(e)];
    const double* iterate = distance <= within_ ? v_.rows.to : v_.rows.from;
    return iterate[(v_.lower ? i_ - distance : i_ + distance) * size() + c];
  }
  ECHELON_FN double right(int r) const { return v_.rows.r[at(r)]; }
  ECHELON_FN double old(int c) const { return v_.rows.from[at(c)]; }
  ECHELON_FN const double* diagonal() const { return v_.rows.diagonal ? v_.rows.diagonal + square() : nullptr; }
  ECHELON_FN const double* inverse_diagonal() const { return v_.rows.inverse_diagonal + square(); }
  ECHELON_FN void finish(int r, double z) const {
    const bool neumann = v_.kind == IterationKind::neumann;
    if (neumann) v_.rows.total[at(r)] = v_.first ? z : v_.rows.total[at(r)] + z;
    v_.rows.to[at(r)] = v_.first ? v_.rows.damping * z : next_scalar(v_.kind, v_.rows.damping, z, old(r));
  }

 private:
  ECHELON_FN std::int64_t at(int r) const { return i_ * size() + r; }
  ECHELON_FN std::int64_t square() const { return i_ * size() * size(); }

  const IterationSweep& v_;
  std::int64_t within_, i_, first_;
  int entries_;
};

/// visit(position, component, slot) over the scalar rows of a thread that are the `step`-th of their block of rows.
template <int B, class Visit>
ECHELON_FN void for_stored_rows(const IterationSweep& v, Worker w, std::int64_t step, const Visit& visit) {
  const int b = extent<B>(v.rows.block), blocks = row_blocks_a_cta(b);
  for (int slot = w.thread; slot < blocks * b; slot += iteration_threads) {
    const std::int64_t s = (std::int64_t{w.cta} * blocks + slot / b) * v.rows.rows_a_block + step;
    if (s < v.rows.rows) visit(s, slot % b, slot);
  }
}

/// One sweep. Shared memory holds row_blocks_a_cta · b sums unless b = 1.
template <int B, class Machine>
ECHELON_FN void sweep_stored_rows(const IterationSweep& v, Machine& machine) {
  const bool divides = v.rows.inverse_diagonal != nullptr, together = B != 1 && divides;
  for (std::int64_t step = 0; step < v.rows.rows_a_block; ++step) {
    machine.each([&](Worker w) {
      double* sums = reinterpret_cast<double*>(machine.memory(w.cta));
      for_stored_rows<B>(v, w, step, [&](std::int64_t s, int r, int slot) {
        const StoredRow<B> row(v, s, step);
        const double sum = v.first ? row.right(r) : undivided<B>(row, v.kind, r);
        if (together) {
          sums[slot] = sum;
        } else {
          row.finish(r, divides ? row.inverse_diagonal()[0] * sum : sum);
        }
      });
    });
    if (together) {
      machine.cta_barrier();
      machine.each([&](Worker w) {
        const double* sums = reinterpret_cast<const double*>(machine.memory(w.cta));
        for_stored_rows<B>(v, w, step, [&](std::int64_t s, int r, int slot) {
          const StoredRow<B> row(v, s, step);
          row.finish(r, product_component<B>(row.size(), row.inverse_diagonal(), r, sums + slot - r));
        });
      });
    }
    if (B != 1 && step + 1 < v.rows.rows_a_block) machine.cta_barrier();
  }
}

/// to = from / scale for one scalar, in order or out of it.
ECHELON_FN void copy_scalar(const IterationCopy& v, std::int64_t n) {
  const std::int64_t i = n / v.block;
  const std::int64_t there = v.order ? v.order[i] * std::int64_t{v.block} + n % v.block : n;
  const double value = v.from[v.scatters ? n : there];
  v.to[v.scatters ? there : n] = v.scale ? value / v.scale[n] : value;
}

}  // namespace echelon
