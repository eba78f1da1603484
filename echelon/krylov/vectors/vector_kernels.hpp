// SPDX-License-Identifier: BSD-3-Clause
// The vector work of one chunk (at most reduction::chunk elements) on one thread, as functions chosen once for the CPU at
// hand. Every sum inside a chunk has the shape of reduction_tree.hpp, so the choice does not change a bit. Private to
// vector_ops.
#pragma once

#include <cstdint>

namespace echelon {

/// Columns of a basis: column j starts at data + j·stride. Stored in T, read as double.
template <class T>
struct ColumnsView {
  const T* data;
  std::int64_t stride;
  int count;
  const T* next;  // where the caller will read after this chunk: memory that is asked for early, never read
};

/// A column of a basis, aligned to 64 bytes (fp32: 32), and by what a vector is scaled into it.
template <class T>
struct StoredColumn {
  double scale;
  T* column;
};

/// Two sums that share their reads.
struct SumPair {
  double first, second;
};

/// The second half of a BiCGStab iteration.
struct BicgstabStep {
  double alpha, omega;
  const double *p_hat, *s_hat, *t, *shadow;
  double *x, *r;  // r holds s on entry
};

template <class T>
struct BasisKernels {
  /// sums[j] = column j · w for j < count, sums[count] = w·w
  void (*multi_dot)(ColumnsView<T> V, const double* w, double* sums, std::int64_t n);
  /// w ← w − V h; returns w·w
  double (*subtract)(ColumnsView<T> V, const double* h, double* w, std::int64_t n);
  /// The same, and then column ← scale w rounded to T, w ← column; returns w·w as it was before scaling
  double (*subtract_and_store)(ColumnsView<T> V, const double* h, StoredColumn<T> to, double* w, std::int64_t n);
  /// v ← a w rounded to T, and w ← v
  void (*store_scaled)(double a, double* w, T* v, std::int64_t n);
};

/// Two steps of Gram-Schmidt at once: u₁ = w₁ − V h₁, v₁ = scale₁ u₁, u₂ = w₂ − V h₂ − along v₁, v₂ = scale₂ u₂.
struct PairStep {
  const double* h;  // of column j: h₁ at 2j, h₂ at 2j + 1
  double scale1, along, scale2;
  double *column1, *column2;  // v₁ and v₂ go here, aligned to 64 bytes
};

/// The work on a basis.
struct BasisTable {
  BasisKernels<double> fp64;
  BasisKernels<float> fp32;
  /// sums[2j], sums[2j + 1] = column j · w₁, · w₂ for j < count; behind them w₁·w₁, w₁·w₂, w₂·w₂
  void (*pair_dot)(ColumnsView<double> V, const double* w1, const double* w2, double* sums, std::int64_t n);
  /// The step; w₂ ← v₂, and w₁ may hold anything; returns {u₁·u₁, u₂·u₂}
  SumPair (*pair_subtract)(ColumnsView<double> V, const PairStep& step, double* w1, double* w2, std::int64_t n);
};

struct VectorKernels {
  double (*dot)(const double* x, const double* y, std::int64_t n);
  /// {x·y, x·x}
  SumPair (*dot_and_square)(const double* x, const double* y, std::int64_t n);
  /// (a x)·(a x)
  double (*scaled_square)(double a, const double* x, std::int64_t n);
  /// y ← y + a x
  void (*axpy)(double a, const double* x, double* y, std::int64_t n);
  /// y ← x + a y
  void (*xpay)(const double* x, double a, double* y, std::int64_t n);
  /// x ← x + a p, r ← r − a q; returns r·r
  double (*cg_update)(double a, const double* p, const double* q, double* x, double* r, std::int64_t n);
  /// p ← r + beta (p − omega v)
  void (*bicgstab_direction)(double beta, double omega, const double* r, const double* v, double* p, std::int64_t n);
  /// x ← x + alpha p̂ + omega ŝ, r ← s − omega t; returns {shadow·r, r·r}
  SumPair (*bicgstab_update)(const BicgstabStep& step, std::int64_t begin, std::int64_t n);
  BasisTable basis;
};

/// The kernels of the best instruction set this CPU has; asked afresh, so that a test can look at each set.
VectorKernels choose_vector_kernels();
/// Its part on bases.
BasisTable choose_basis_kernels();
/// All of them, chosen once.
const VectorKernels& vector_kernels();

}  // namespace echelon
