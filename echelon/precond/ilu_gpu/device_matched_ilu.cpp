// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/ilu_gpu/device_matched_ilu.hpp"

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"

namespace echelon {
namespace {

Array<double> row_scales(const WeightedMatching& matching, Device device) {
  Array<double> scales(static_cast<std::int64_t>(matching.row_of_column.size()));
  for (std::int64_t j = 0; j < scales.size(); ++j) {
    scales[j] = matching.row_scale[static_cast<std::size_t>(matching.row_of_column[static_cast<std::size_t>(j)])];
  }
  return scales.to(device);
}

}  // namespace

DeviceMatchedIlu::DeviceMatchedIlu(const BlockCsr<double>& A, const Factor& factor, Device device)
    : DeviceMatchedIlu(matched_matrix(A), factor, device) {}

DeviceMatchedIlu::DeviceMatchedIlu(MatchedMatrix matched, const Factor& factor, Device device)
    : row_of_column_(Array<std::int32_t>(std::span<const std::int32_t>(matched.matching.row_of_column)).to(device)),
      row_scale_(row_scales(matched.matching, device)),
      column_scale_(Array<double>(std::span<const double>(matched.matching.column_scale)).to(device)),
      ilu_(factor(matched.matrix)),
      report_(report_of_matched(ilu_->report(), matched.matching)),
      scaled_(matched.matrix.rows(), device) {}

void DeviceMatchedIlu::apply(const Vector<double>& r, Vector<double>& z) const {
  const auto n = scaled_.size();
  if (r.size() != n) throw_size_mismatch("right-hand side of an ILU", r.size(), n);
  if (r.device() != scaled_.device()) {
    throw Error(ErrorCode::device,
                "mixing places: factors on " + scaled_.device().name() + ", the right-hand side on " + r.device().name());
  }
  const int device = scaled_.device().index;
  cuda_backend()->scaled_gather(device, {n, row_of_column_.data(), row_scale_.data(), r.data(), scaled_.data()});
  ilu_->apply(scaled_, z);
  cuda_backend()->scaled_gather(device, {n, nullptr, column_scale_.data(), z.data(), z.data()});
}

}  // namespace echelon
