// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/fma.hpp"
#include "echelon/factor/fixed_point/threshold_row.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/factor/fixed_point/threshold_row_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

template <class T>
std::int64_t threshold_row_of(const ThresholdView<T>& given, std::int64_t i, ThresholdWorkspace<T>& work) {
  const ThresholdView<T> view = given;
  const auto stamp = static_cast<std::int32_t>(i + 1);
  T* w = work.dense;
  std::int32_t* mark = work.mark;
  std::int64_t count = 0;
  for (std::int64_t p = view.start[i]; p < view.start[i + 1]; ++p) {
    const std::int32_t j = view.column[p];
    work.column[count++] = j;
    mark[j] = stamp;
    w[j] = 0;
  }
  for (std::int64_t p = view.A.row_start[i]; p < view.A.row_start[i + 1]; ++p) {
    const std::int32_t j = view.A.column[p];
    if (mark[j] != stamp) {
      if (!view.grow) continue;
      work.column[count++] = j;
      mark[j] = stamp;
    }
    w[j] = view.A.values[p];
  }
  for (std::int64_t p = view.start[i]; p < view.diagonal[i]; ++p) {
    const std::int64_t k = view.column[p];
    const T l = view.value[p] * view.inverse_diagonal[k];
    for (std::int64_t q = view.diagonal[k] + 1; q < view.start[k + 1]; ++q) {
      const std::int32_t j = view.column[q];
      if (mark[j] != stamp) {
        if (!view.grow) continue;
        work.column[count++] = j;
        mark[j] = stamp;
        w[j] = 0;
      }
      w[j] = fma(-l, view.value[q], w[j]);
    }
  }
  return count;
}

ThresholdRow<double> threshold_row_double() { return threshold_row_of<double>; }
ThresholdRow<float> threshold_row_float() { return threshold_row_of<float>; }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {

HWY_EXPORT(threshold_row_double);
HWY_EXPORT(threshold_row_float);

template <>
ThresholdRow<double> threshold_row<double>() {
  return HWY_DYNAMIC_DISPATCH(threshold_row_double)();
}
template <>
ThresholdRow<float> threshold_row<float>() {
  return HWY_DYNAMIC_DISPATCH(threshold_row_float)();
}

}  // namespace echelon
#endif
