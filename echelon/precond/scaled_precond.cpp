// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/scaled_precond.hpp"

#include <fmt/format.h>

#include "echelon/base/threads.hpp"
#include "echelon/matrix/vector_checks.hpp"

namespace echelon {

ScaledPreconditioner::ScaledPreconditioner(const BlockCsr<double>& A, const Make& make) {
  right_.own() = Vector<double>(A.rows());
  equilibrate(A, scaling_);
  inner_ = make(scaled(A, scaling_));
  report_ = inner_->report();
  report_.remarks.push_back(
      scaling_.converged
          ? fmt::format("A was scaled first: {} rounds, largest entries of rows and columns within {:.1e} of 1",
                        scaling_.rounds, scaling_.deviation)
          : fmt::format("A was scaled first, but {} rounds left a largest entry {:.1e} away from 1", scaling_.rounds,
                        scaling_.deviation));
  report_.bytes += scaling_.row.bytes() + scaling_.column.bytes() + right_.own().bytes();
}

void ScaledPreconditioner::apply(const Vector<double>& r, Vector<double>& z) const {
  const auto n = right_.own().size();
  if (r.size() != n) throw_size_mismatch("right-hand side of a scaled preconditioner", r.size(), n);
  auto loan = right_.take([n](Vector<double>& spare) {
    if (spare.size() != n) spare = Vector<double>(n);
  });
  Vector<double>& right = *loan;
  const int team = threads_for(n);
#pragma omp parallel for num_threads(team) if (team > 1)
  for (std::int64_t i = 0; i < n; ++i) right[i] = r[i] / scaling_.row[i];
  inner_->apply(right, z);
#pragma omp parallel for num_threads(team) if (team > 1)
  for (std::int64_t i = 0; i < n; ++i) z[i] = z[i] / scaling_.column[i];
}

}  // namespace echelon
