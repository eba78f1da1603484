// SPDX-License-Identifier: BSD-3-Clause
// A loop over few large parts, one thread each. No exception may leave an OpenMP region: the one of the lowest part is kept
// and thrown again afterwards, so what the caller sees does not depend on timing.
#pragma once

#include <exception>
#include <vector>

#include "echelon/base/threads.hpp"

namespace echelon {

template <class Body>
void for_each_part(int parts, const Body& body) {
  if (parts < 1) return;
  if (parts == 1) return body(0);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(parts));
#pragma omp parallel for schedule(static, 1) num_threads(threads())
  for (int part = 0; part < parts; ++part) {
    try {
      body(part);
    } catch (...) {
      failures[static_cast<std::size_t>(part)] = std::current_exception();
    }
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace echelon
