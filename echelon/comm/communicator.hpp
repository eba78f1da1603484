// SPDX-License-Identifier: BSD-3-Clause
// The seam between one process and many: every reduction of the library goes through it. Serial here; MPI stands beside it
// in a library of its own.
#pragma once

#include <span>

namespace echelon {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Sums each element over all ranks in a fixed order, the same bits on every rank.
  virtual void sum(std::span<double> values) const = 0;
  /// The largest value over all ranks; NaN when one of them is NaN.
  virtual double largest(double value) const = 0;
};

/// The communicator of a single process: sums are what they are.
const Communicator& serial();

}  // namespace echelon
