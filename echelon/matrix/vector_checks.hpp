// SPDX-License-Identifier: BSD-3-Clause
// What a product's vectors must satisfy, the same for every kind of matrix: sizes, one place, no overlap.
#pragma once

#include <fmt/format.h>

#include "echelon/base/array.hpp"
#include "echelon/base/error.hpp"

namespace echelon {

struct ProductShape {
  std::int64_t rows, columns;
  Device device;
};

template <class T>
void check_product(const ProductShape& A, const Vector<T>& x, const Vector<T>& y) {
  if (x.size() != A.columns) throw_size_mismatch("matrix times vector: x", x.size(), A.columns);
  if (y.size() != A.rows) throw_size_mismatch("matrix times vector: the result", y.size(), A.rows);
  if (!(x.device() == A.device) || !(y.device() == A.device)) {
    throw Error(ErrorCode::device, fmt::format("mixing places: the matrix is on {}, x on {}, the result on {}",
                                               A.device.name(), x.device().name(), y.device().name()));
  }
  if (x.data() == y.data() && !x.empty()) {
    throw Error(ErrorCode::bad_argument, "matrix times vector: x and the result are the same vector");
  }
}

template <class T>
void check_right_side(const Vector<T>& b, const Vector<T>& r) {
  if (b.size() != r.size()) throw_size_mismatch("residual: b", b.size(), r.size());
  if (!(b.device() == r.device())) {
    throw Error(ErrorCode::device,
                fmt::format("mixing places: b is on {}, the residual on {}", b.device().name(), r.device().name()));
  }
  if (b.data() == r.data() && !b.empty()) throw Error(ErrorCode::bad_argument, "residual: b and r are the same vector");
}

}  // namespace echelon
