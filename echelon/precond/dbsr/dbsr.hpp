// SPDX-License-Identifier: BSD-3-Clause
// ILU(0) in a block multicolour order on diagonal block rows, z = U⁻¹ L⁻¹ r; IC(0) for symmetric matrices with a positive
// diagonal: the same factors, kept only when every pivot is positive, so that CG may be used. Vectors are in the user's
// order, the permutation is inside: an application writes r into one vector of positions, sweeps it twice in place, and
// writes z. Matrices on a grid are cut in boxes, others in blocks of their graph. Fixed blocks have the same bits for every
// thread count and instruction set; automatic ones depend on the number of threads. docs/method/dbsr.md
#pragma once

#include <memory>

#include "echelon/factor/ilu_options.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/preconditioner.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"

namespace echelon {

struct DbsrOptions {
  /// A graph has blocks of 64 rows where a grid has boxes of 64 points, of the given shape's number of points, or automatic
  /// ones; its bsize is 1 unless one is asked for.
  BlockOptions blocks = {};
  /// Of these: the shift and what goes with it, pivot_tolerance, and the precision fp64 or fp32.
  IluOptions ilu = {};
};

template <class T>
class Dbsr final : public Preconditioner<T> {
 public:
  Dbsr(Dbsr&&) noexcept;
  Dbsr& operator=(Dbsr&&) noexcept;
  ~Dbsr() override;

  void apply(const Vector<T>& r, Vector<T>& z) const override;
  const FactorReport& report() const override;
  /// New values of the same pattern (Error(structure) otherwise), while nobody applies: order, pattern and products are used
  /// again.
  [[nodiscard]] const FactorReport& refactor(const StructMatrix<T>& A);
  [[nodiscard]] const FactorReport& refactor(const BlockCsr<T>& A);
  /// The elimination order and where it has its points.
  const BlockColouring& order() const;
  double stored_a_nonzero() const;

  struct Impl;
  explicit Dbsr(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

/// Throws Error(bad_argument) for options out of range, several unknowns a point, blocks of size above 1.
template <class T>
Dbsr<T> dbsr(const StructMatrix<T>& A, const DbsrOptions& options = {});
template <class T>
Dbsr<T> dbsr(const BlockCsr<T>& A, const DbsrOptions& options = {});

}  // namespace echelon
