// SPDX-License-Identifier: BSD-3-Clause
// The vector work of the Krylov methods, fused so that each vector is read once. Every sum has the shape of
// reduction_tree.hpp and goes through the communicator: the same bits for every thread count and SIMD width.
// Threads share whole chunks; short vectors stay on one thread. A VectorOps owns its scratch, so no call allocates.
// Vectors are of the length and in the place given at construction; on a GPU a call that returns a number waits for it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "echelon/base/array.hpp"
#include "echelon/comm/communicator.hpp"
#include "echelon/krylov/vectors/device_vector_work.hpp"
#include "echelon/krylov/vectors/vector_kernels.hpp"

namespace echelon {

/// Columns of length n kept in FP64 or FP32; arithmetic with them is FP64.
class Basis {
 public:
  Basis() = default;
  Basis(std::int64_t n, int columns, bool single, Device device = Device::host());
  static std::int64_t bytes(std::int64_t n, int columns, bool single);
  bool single() const { return single_; }
  /// The first `count` columns from row `at` on; the rows from `next` on will be read after them.
  ColumnsView<double> fp64(int count, std::int64_t at, std::int64_t next) const {
    return {fp64_.data() + at, stride_, count, fp64_.data() + next};
  }
  ColumnsView<float> fp32(int count, std::int64_t at, std::int64_t next) const {
    return {fp32_.data() + at, stride_, count, fp32_.data() + next};
  }
  double* column64(int j) { return fp64_.data() + j * stride_; }
  float* column32(int j) { return fp32_.data() + j * stride_; }

 private:
  bool single_ = false;
  std::int64_t stride_ = 0;
  Array<double> fp64_;
  Array<float> fp32_;
};

class VectorOps {
 public:
  using V = Vector<double>;

  /// `columns`: the most basis columns one call will see.
  VectorOps(std::int64_t n, int columns, const Communicator& communicator = serial(), Device device = Device::host());

  /// What the vectors' GPU is given; null for vectors on the host.
  const DeviceVectorWork* on_gpu() const { return gpu_.get(); }

  double dot(const V& x, const V& y);
  /// {x·y, x·x}
  SumPair dot_and_square(const V& x, const V& y);
  /// ‖x‖₂, right also where the plain sum of squares would overflow or underflow.
  double norm(const V& x);
  /// sqrt(square) where that is safe, and norm(x) where the sum of squares left the range.
  double norm_from_square(double square, const V& x);
  /// Largest |x_i|; NaN when one is NaN.
  double largest(const V& x);

  void axpy(double a, const V& x, V& y);
  void xpay(const V& x, double a, V& y);
  /// x ← x + a p, r ← r − a q; returns r·r.
  double cg_update(double a, const V& p, const V& q, V& x, V& r);
  void bicgstab_direction(double beta, double omega, const V& r, const V& v, V& p);
  /// {shadow·r, r·r}
  SumPair bicgstab_update(const BicgstabStep& step);
  /// r ← r − a v; returns r·r.
  double subtract(double a, const V& v, V& r);

  /// h[j] = column j · w for j < count, and h[count] = w·w, in one pass over w.
  void multi_dot(const Basis& basis, int count, const V& w, std::span<double> h);
  /// w ← w − Σ h[j] column j; returns w·w.
  double subtract(const Basis& basis, std::span<const double> h, V& w);
  /// The same, then column `to` ← scale w rounded to the basis' precision, w ← column `to`; returns w·w as it was before
  /// scaling. The column must not be one of those subtracted.
  double subtract_and_store(Basis& basis, std::span<const double> h, double scale, int to, V& w);
  /// The same for two vectors and one read of the columns (an FP64 basis): h[2j], h[2j + 1] = column j · w₁, · w₂ for
  /// j < count, behind them w₁·w₁, w₁·w₂ and w₂·w₂.
  void pair_dot(const Basis& basis, int count, const V& w1, const V& w2, std::span<double> h);
  /// The two steps of vector_kernels.hpp on the first `count` columns, into the two columns behind them.
  struct PairScales {
    double first, along, second;
  };
  SumPair pair_subtract(Basis& basis, int count, std::span<const double> h, const PairScales& scales, V& w1, V& w2);
  /// u ← Σ y[j] column j
  void combine(const Basis& basis, std::span<const double> y, V& u);
  /// column j ← a w rounded to the basis' precision, and w ← column j
  void store(double a, V& w, Basis& basis, int j);

 private:
  enum class Order { forward, backward };
  /// `vectors`: how many of length n are read, for the number of threads.
  template <class Work>
  void for_chunks(Work work, Order order = Order::forward, int vectors = 2) const;
  template <class Work>
  double sum_chunks(Work work, Order order = Order::forward, int vectors = 2);
  template <class Work>
  SumPair sum_chunk_pairs(Work work, Order order = Order::forward, int vectors = 2);
  /// Totals of the GPU's last reduction, and the communicator's.
  double gpu_sum();
  SumPair gpu_pair();
  void gpu_sums(int count, std::span<double> totals);
  /// u ← −Σ negated[j] column j
  void gpu_combine(const Basis& basis, int count, V& u);
  double scaled_square(double scale, const V& x);
  /// The tree over chunks of `columns` sums a chunk; the totals end in totals[0 … columns).
  void tree_and_reduce(int columns, std::span<double> totals);

  std::int64_t n_;
  const Communicator& communicator_;
  const VectorKernels& kernels_;
  int columns_;
  Array<double> partial_;
  Array<double> negated_;
  std::unique_ptr<DeviceVectorWork> gpu_;  // null: vectors are on the host
};

}  // namespace echelon
