// SPDX-License-Identifier: BSD-3-Clause
// What measuring on a GPU needs of it: the case's values and right-hand side made there, a vector's fingerprint, and times
// between two events. A table of functions on the first GPU, or null in a build without CUDA.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/measure/contender_line.hpp"
#include "bench/measure/device_values.hpp"

namespace echelon::bench {

struct DeviceMeasure {
  /// values[entry][point][column][row], zero where the neighbour lies outside.
  void (*make_values)(const ValueShape& shape, double* values);
  /// b[i] = sin i, as BenchCase::right_hand_side.
  void (*make_right_hand_side)(double* b, std::int64_t n);
  Fingerprint (*fingerprint)(const double* z, std::int64_t n);
  /// Of what `work` puts on the default stream.
  double (*seconds)(const std::function<void()>& work);

  /// A mark on the default stream, which a later one may be put in the place of; seconds between two waits for both.
  void* (*make_mark)();
  void (*set_mark)(void* mark);
  double (*between)(void* first, void* second);
  void (*release_mark)(void* mark);
};

/// Null without CUDA. Every function throws Error(device) naming the call that failed.
const DeviceMeasure* device_measure();

/// Times of `repeats` calls; `before` is called before each, outside the time. `warm`: after calls for a fiftieth of a
/// second that do not count, since a GPU that was idle takes 5 to 8 % longer at first.
std::vector<double> device_samples(bool warm, int repeats, const std::function<void()>& work,
                                   const std::function<void()>& before = {});

/// Warm ones for about a fifth of a second, at most ten, unless one alone takes as long: then that one.
std::vector<double> device_samples_for_a_while(const std::function<void()>& work, const std::function<void()>& before = {});

}  // namespace echelon::bench
