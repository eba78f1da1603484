// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/work_model.hpp"

namespace echelon::bench {
namespace {

/// Products l·u of the stencil's lower and upper part that fall on a stencil point.
struct Products {
  int on_diagonal = 0, off_diagonal = 0;
};

Products products_of(const Stencil& stencil) {
  Products count;
  const auto offsets = stencil.offsets();
  for (int l = 0; l < stencil.center(); ++l) {
    for (int u = stencil.center() + 1; u < stencil.size(); ++u) {
      const int meets =
          stencil.find({offsets[l].x + offsets[u].x, offsets[l].y + offsets[u].y, offsets[l].z + offsets[u].z});
      if (meets == stencil.center()) ++count.on_diagonal;
      if (meets >= 0 && meets != stencil.center()) ++count.off_diagonal;
    }
  }
  return count;
}

}  // namespace

double sweep_bytes(const WorkShape& shape, int value_bytes) {
  return static_cast<double>(value_bytes) * static_cast<double>(shape.nonzeros) +
         32.0 * static_cast<double>(shape.points * shape.dof);
}

double entries_bytes(std::int64_t points, int entries, int dof, int value_bytes) {
  return static_cast<double>(points) * (static_cast<double>(value_bytes) * entries * dof * dof + 16.0 * dof);
}

double sweep_flops(const WorkShape& shape) { return 2.0 * static_cast<double>(shape.nonzeros); }

double factor_bytes(const WorkShape& shape, const Stencil& stencil) {
  const double passes = only_diagonal_changes(stencil) ? 1 : 2;
  return 8.0 * (passes * static_cast<double>(shape.nonzeros) + static_cast<double>(shape.points) * shape.dof * shape.dof);
}

double factor_flops(const WorkShape& shape, const Stencil& stencil) {
  const auto products = products_of(stencil);
  const double block = 2.0 * shape.dof * shape.dof * shape.dof;
  const double a_point = block * (stencil.center() + products.on_diagonal + products.off_diagonal + 1);
  return a_point * static_cast<double>(shape.points);
}

bool only_diagonal_changes(const Stencil& stencil) { return products_of(stencil).off_diagonal == 0; }

}  // namespace echelon::bench
