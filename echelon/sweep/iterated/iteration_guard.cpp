// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/iterated/iteration_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"

namespace echelon {
namespace {

/// Rows whose sums are one up to rounding keep an error as it is, which is no divergence.
constexpr double left_over_limit = 1.001;

/// One row of v ← |G| u; the rows of a block that came before are read from v.
template <class T>
void comparison_row(const TriangleView<T>& triangle, const TrisolveOptions& options, std::int64_t s, const double* u,
                    double* v, double* sum) {
  const int b = triangle.block;
  const std::int64_t i = triangle.row_at(s), before = s % options.rows_a_block;
  std::fill_n(sum, b, 0.0);
  for_entries(triangle, s, [&](std::int64_t j, const T* block) {
    const double* from = std::abs(i - j) <= before ? v + j * b : u + j * b;
    for (int c = 0; c < b; ++c) {
      for (int r = 0; r < b; ++r) sum[r] += std::abs(static_cast<double>(block[c * b + r])) * from[c];
    }
  });
  const T* inverse = triangle.inverse_diagonal ? triangle.inverse_diagonal + i * b * b : nullptr;
  for (int r = 0; r < b; ++r) {
    double value = inverse ? 0 : sum[r];
    for (int c = 0; inverse && c < b; ++c) value += std::abs(static_cast<double>(inverse[c * b + r])) * sum[c];
    v[i * b + r] = (1 - options.damping) * u[i * b + r] + options.damping * value;
  }
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    if (std::isnan(value)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, value);
  }
  return largest;
}

}  // namespace

template <class T>
ErrorGrowth bound_of_growth(const TriangleView<T>& triangle, const TrisolveOptions& options, int sweeps, double enough) {
  const std::int64_t rows = triangle.rows(), b = triangle.block;
  const int team = threads_for(triangle.pattern->entries() * b * b);
  std::vector<double> u(static_cast<std::size_t>(rows * b), 1.0), v(u.size()), sums(static_cast<std::size_t>(team * b)),
      largest(static_cast<std::size_t>(team));
  ErrorGrowth growth;
  for (int k = 0; k < sweeps && std::isfinite(growth.last) && growth.last > enough; ++k) {
    keep_going(triangle.pattern->entries() * b * b + rows);
#pragma omp parallel for num_threads(team) schedule(static, 1)
    for (int part = 0; part < team; ++part) {
      const auto [begin, end] = share(rows, part, team, options.rows_a_block);
      for (std::int64_t s = begin; s < end; ++s) {
        comparison_row(triangle, options, s, u.data(), v.data(), sums.data() + part * b);
      }
    }
    u.swap(v);
    growth.last = largest_of(u);
    growth.largest = std::max(growth.largest, growth.last);
    growth.sweeps = k + 1;
  }
  return growth;
}

std::string objection(const ErrorGrowth& growth, const TriangleNote& note, const TrisolveOptions& options,
                      bool single_precision) {
  // Half of the range is left for the right-hand side; the root of the rounding for the error in the largest iterate.
  const double overflow = single_precision ? 1e15 : 1e150, drowned = single_precision ? 1e3 : 1e7;
  if (!(growth.largest < overflow)) return fmt::format("errors grow up to {:.1e} times: overflow", growth.largest);
  if (growth.last > left_over_limit) {
    return fmt::format("after {} sweeps {:.1e} times the first error is left", note.sweeps, growth.last);
  }
  const bool forgets = options.method != Trisolve::neumann && options.damping == 1 && growth.last == 0;
  if (!forgets && growth.largest > drowned) {
    return fmt::format("errors grow {:.1e} times before they fall, rounding with them", growth.largest);
  }
  return {};
}

template ErrorGrowth bound_of_growth(const TriangleView<double>&, const TrisolveOptions&, int, double);
template ErrorGrowth bound_of_growth(const TriangleView<float>&, const TrisolveOptions&, int, double);

}  // namespace echelon
