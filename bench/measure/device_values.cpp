// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/device_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "echelon/base/error.hpp"

namespace echelon::bench {

ValueShape ValueShape::of(const BenchCase& one, ValueKind kind) {
  const Stencil stencil = stencils::named(one.stencil);
  if (stencil.size() > most_entries) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("a stencil of {} entries: at most {} are made on a GPU", stencil.size(), most_entries));
  }
  constexpr double weight = 0.9;
  ValueShape shape;
  shape.kind = kind;
  shape.nx = static_cast<int>(one.grid.nx);
  shape.ny = static_cast<int>(one.grid.ny);
  shape.nz = static_cast<int>(one.grid.nz);
  shape.dof = one.dof;
  shape.entries = stencil.size();
  shape.center = stencil.center();
  shape.lower_weight = weight / (std::max(1, stencil.center()) * one.dof);
  shape.upper_weight = weight / (std::max(1, stencil.size() - stencil.center() - 1) * one.dof);
  shape.generator = {problems::mixed_bits(BenchCase::seed), stencil.size()};
  std::ranges::copy(stencil.offsets(), shape.offsets);
  return shape;
}

}  // namespace echelon::bench
