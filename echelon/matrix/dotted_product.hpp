// SPDX-License-Identifier: BSD-3-Clause
// What an Operator on a GPU may be besides: a product that gives x·y on its way, so that neither vector is read again.
#pragma once

#include <cstdint>

#include "echelon/base/array.hpp"

namespace echelon {

class DottedProduct {
 public:
  /// A later kernel adds so many at once.
  static constexpr std::int64_t most_parts = 1 << 17;

  virtual ~DottedProduct() = default;
  /// How many numbers x·y comes in, at most `most_parts`; 0: it does not come.
  virtual std::int64_t dot_parts() const = 0;
  /// y = A x with the bits of `apply`, and parts[0 … dot_parts()) on the device, whose sum is x·y. A repeat gives the same
  /// bits. Queued.
  virtual void apply_and_dot(const Vector<double>& x, Vector<double>& y, double* parts) const = 0;
};

}  // namespace echelon
