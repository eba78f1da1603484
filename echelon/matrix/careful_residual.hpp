// SPDX-License-Identifier: BSD-3-Clause
// r = b − A x with every row summed in twice the working precision (error-free product by fma, error-free sum; Ogita, Rump
// and Oishi 2005) and rounded once. In a plain sum ‖r‖ is off by ε‖|A||x|‖, which for large x can be many times the
// tolerance of a solve. Same bits for every thread count and instruction set; a pass of the same bytes as residual.
#pragma once

#include <cstdint>

#include "echelon/matrix/spmv.hpp"

namespace echelon {

template <class T>
struct CarefulKernels {
  void (*rows)(const BlockCsrView<T>& A, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end);
  using Points = void (*)(const StructView<T>& A, const SpmvVectors<T>& v, std::int64_t begin, std::int64_t end);
  std::array<Points, shapes::largest_block + 1> points;
};

/// For this machine's instruction set, chosen once.
template <class T>
const CarefulKernels<T>& careful_kernels();

}  // namespace echelon
