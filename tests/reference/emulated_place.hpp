// SPDX-License-Identifier: BSD-3-Clause
// The host as the place where steps made for a GPU run (factor/fixed_point/*_steps.inl): their threads one after the other,
// from the first to the last and from the last to the first in turn, so that a step whose threads depend on each other is
// found out.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "echelon/factor/fixed_point/device_fixed_point_view.hpp"
#include "echelon/factor/fixed_point/kth_largest.hpp"

namespace echelon::reference {

/// All lanes of a row, one after the other.
struct EmulatedGroup {
  static constexpr int lanes = 3;
  template <class T>
  using PerLane = std::array<T, lanes>;

  template <class Function>
  int least(const Function& function) const {
    int found = function(0);
    for (int lane = 1; lane < lanes; ++lane) found = std::min<int>(found, function(lane));
    return found;
  }
  template <class Function>
  void first(const Function& function) const {
    function();
  }
};

struct EmulatedPlace {
  struct Log {
    FactorStatus* status;
    void add(std::int64_t position, const PivotNote& note) const {
      ++status->notes.count;
      status->notes.note_kind(note.kind);
      status->notes.keep(position, note);
    }
  };

  static void raise(unsigned long long* largest, double size) {
    *largest = std::max(*largest, std::bit_cast<unsigned long long>(size));
  }
  static void set(int* flag) { *flag = 1; }

  template <class Body>
  static void each(int, std::int64_t n, const Body& body, const char*) {
    static bool backwards = false;
    backwards = !backwards;
    for (std::int64_t t = 0; t < n; ++t) body(backwards ? n - 1 - t : t);
  }
  template <class Body>
  static void rows(int device, std::int64_t n, const Body& body, const char* what) {
    each(
        device, n, [&](std::int64_t row) { body(EmulatedGroup{}, row); }, what);
  }
  static void scan(int, std::int64_t* x, std::int64_t n) {
    for (std::int64_t k = 1; k < n; ++k) x[k] += x[k - 1];
  }
  template <class DigitOf>
  static SelectionCounts histogram(int, std::int64_t n, const DigitOf& digit_of) {
    SelectionCounts counts{};
    for (std::int64_t t = 0; t < n; ++t) {
      const int digit = digit_of(t);
      if (digit >= 0) ++counts[static_cast<std::size_t>(digit)];
    }
    return counts;
  }
};

}  // namespace echelon::reference
