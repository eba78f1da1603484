// SPDX-License-Identifier: BSD-3-Clause
// What multigrid does on one line of n neighbouring points, lanes over points: sums and products of its set-up, and the
// transfers of a cycle. Every number is the same for each instruction set. Null weights or neighbours are not there.
#pragma once

#include <cstdint>

namespace echelon {

/// Of the set-up, in FP64.
struct MgSetupKernels {
  /// sum += a
  void (*add)(double* sum, const double* a, std::int64_t n);
  /// sum += (p q) a; p and q may be null, and are then 1
  void (*add_product)(double* sum, const double* p, const double* q, const double* a, std::int64_t n);
  bool (*equal)(const double* a, const double* b, std::int64_t n);
  /// Weights of points between two coarse ones, of the sums of their rows' entries by the step in the direction.
  void (*weights)(const double* before, const double* behind, const double* still, const double* diagonal, double* left,
                  double* right, std::int64_t n);
};
const MgSetupKernels& mg_setup_kernels();

/// Of a cycle.
template <class T>
struct MgTransferKernels {
  /// out = middle + wl·lower + wr·upper
  void (*gather)(T* out, const T* middle, const T* wl, const T* lower, const T* wr, const T* upper, std::int64_t n);
  /// out = wl·lower + wr·upper
  void (*between)(T* out, const T* wl, const T* lower, const T* wr, const T* upper, std::int64_t n);
  /// x += wl·lower + wr·upper
  void (*add_between)(T* x, const T* wl, const T* lower, const T* wr, const T* upper, std::int64_t n);
  /// x += e
  void (*add)(T* x, const T* e, std::int64_t n);
  /// x = r − x
  void (*subtract_from)(T* x, const T* r, std::int64_t n);
};
template <class T>
MgTransferKernels<T> mg_transfer_kernels();

}  // namespace echelon
