// SPDX-License-Identifier: BSD-3-Clause
// ILU(0) of a matrix on a grid by one of the strategies that `bench dbsr` compares: an elimination order and a format. All
// offer the same calls, on vectors in an order of their own, so that CG, V-cycles and clocks are one code for all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"

namespace echelon::bench {

enum class Elimination { natural, slabs, points, fixed_blocks, auto_blocks };
enum class Format { csr, dbsr_plain, dbsr_gather, dbsr, sell_plain, sell, lines };

struct Strategy {
  std::string name;
  Elimination order = Elimination::natural;
  Format format = Format::csr;
  int bsize = 8;  // of DBSR and SELL; 0: 8, less where a colour has too few blocks
  bool one_thread = false;
};
/// The paper's figure 9: "serial" first, then block Jacobi, multicolour, block multicolour in CSR and DBSR, without and with
/// SIMD; and "lines", exact sweeps in natural order by the library's ILU on grids.
std::vector<Strategy> solve_strategies();
/// Which words strategies of one order have the same answers under; empty for one that stands alone.
std::string same_answer(const Strategy& strategy);

/// Bytes of a stored matrix, as figure 11 splits them.
struct StorageSplit {
  double nonzeros = 0, padding = 0, columns = 0, rows = 0, offsets = 0;
  double total() const { return nonzeros + padding + columns + rows + offsets; }
};

template <class T>
class IluForm {
 public:
  virtual ~IluForm() = default;
  /// The numeric factorization, as often as asked; once is done when it is made. Takes no part of a conversion.
  virtual void factor() = 0;
  /// x = U⁻¹ L⁻¹ r; x may be r.
  virtual void sweep(const Vector<T>& r, Vector<T>& x) const = 0;
  virtual void multiply(const Vector<T>& x, Vector<T>& y) const = 0;
  /// Of vectors; places that belong to no point are zero and stay zero.
  virtual std::int64_t length() const = 0;
  /// The place of each point of the grid; empty: natural order.
  virtual std::span<const std::int32_t> places() const { return {}; }
  /// That both sweeps must move.
  virtual double sweep_bytes() const = 0;
  virtual StorageSplit storage() const = 0;
  virtual std::string description() const = 0;

  /// From natural order, and back.
  void permute(std::span<const double> natural, Vector<T>& own) const;
  void permute_back(const Vector<T>& own, std::span<double> natural) const;
};

/// For threads() threads. Throws Error(structure) when a pivot is zero or not finite.
template <class T>
std::unique_ptr<IluForm<T>> make_form(const StructMatrix<T>& A, const Strategy& strategy);

/// Of the two formats, for make_form.
template <class T>
std::unique_ptr<IluForm<T>> make_csr_form(const StructMatrix<T>& A, const Strategy& strategy);
template <class T>
std::unique_ptr<IluForm<T>> make_dbsr_form(const StructMatrix<T>& A, const Strategy& strategy);

}  // namespace echelon::bench
