// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/drawn_triangles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include "echelon/base/error.hpp"

namespace echelon::reference {
namespace {

/// Distances of a row at sweep position s, ascending.
std::vector<std::int32_t> drawn_distances(std::int64_t s, int most, std::int64_t reach, std::mt19937_64& random) {
  std::vector<std::int32_t> distances;
  for (std::int32_t d = 1; d <= std::min(s, reach); ++d) distances.push_back(d);
  std::shuffle(distances.begin(), distances.end(), random);
  distances.resize(std::min<std::size_t>(distances.size(), random() % static_cast<std::uint64_t>(most + 1)));
  std::ranges::sort(distances);
  return distances;
}

}  // namespace

Triangles<double> drawn_factors(const TriangleShape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-0.3, 0.3);
  Triangles<double> factors;
  factors.rows = shape.rows;
  factors.block = shape.block;
  const int bb = shape.block * shape.block;
  for (const bool lower : {true, false}) {
    std::vector<std::int64_t> start = {0};
    std::vector<std::int32_t> distance;
    for (std::int64_t s = 0; s < shape.rows; ++s) {
      auto row = drawn_distances(s, shape.most_entries, shape.reach, random);
      if (lower) std::ranges::reverse(row);
      distance.insert(distance.end(), row.begin(), row.end());
      start.push_back(static_cast<std::int64_t>(distance.size()));
    }
    std::vector<double> values(distance.size() * static_cast<std::size_t>(bb));
    for (auto& value : values) value = uniform(random);
    TrianglePattern& pattern = lower ? factors.lower : factors.upper;
    pattern.rows = shape.rows;
    pattern.start = Array<std::int64_t>(std::span<const std::int64_t>(start));
    pattern.distance = Array<std::int32_t>(std::span<const std::int32_t>(distance));
    (lower ? factors.lower_values : factors.upper_values) = Array<double>(std::span<const double>(values));
  }
  factors.inverse_diagonal = Array<double>(shape.rows * bb);
  for (std::int64_t n = 0; n < factors.inverse_diagonal.size(); ++n) {
    factors.inverse_diagonal[n] = (n % bb % (shape.block + 1) == 0 ? 0.8 : 0) + 0.3 * uniform(random);
  }
  return factors;
}

StoredFactors stored(const Triangles<double>& factors, const DrawnOrders& orders) {
  return {factors.rows,
          factors.block,
          {&factors.lower.start, &factors.lower.distance, &factors.lower_values},
          {&factors.upper.start, &factors.upper.distance, &factors.upper_values},
          &factors.inverse_diagonal,
          {orders.rows ? orders.rows->data() : nullptr, orders.columns ? orders.columns->data() : nullptr}};
}

Array<std::int32_t> drawn_order(std::int64_t rows, std::uint64_t seed) {
  Array<std::int32_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

Vector<double> wave(std::int64_t n) {
  Vector<double> x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::sin(1.7 * static_cast<double>(i) + 0.3);
  return x;
}

Vector<double> iterated_on_host(const Triangles<double>& factors, const TrisolveOptions& options, const Vector<double>& r,
                                const DrawnOrders& orders) {
  const std::int64_t b = factors.block;
  IteratedTriangles<double> host;
  FactorReport report;
  if (!host.prepare(factors, options, report)) throw Error(ErrorCode::internal, "the guard refused the reference");
  Vector<double> inner(r.size()), x(r.size());
  const auto place = [&](const Array<std::int32_t>* order, std::int64_t i) { return (order ? (*order)[i] : i) * b; };
  for (std::int64_t i = 0; i < factors.rows; ++i) std::copy_n(r.data() + place(orders.rows, i), b, inner.data() + i * b);
  host.apply(inner.data(), inner.data());
  for (std::int64_t i = 0; i < factors.rows; ++i) std::copy_n(inner.data() + i * b, b, x.data() + place(orders.columns, i));
  return x;
}

std::int64_t difference(const Vector<double>& a, const Vector<double>& b) {
  for (std::int64_t n = 0; n < a.size(); ++n) {
    if (std::bit_cast<std::uint64_t>(a[n]) != std::bit_cast<std::uint64_t>(b[n])) return n;
  }
  return -1;
}

std::vector<TrisolveOptions> all_kinds(int sweeps) {
  using enum Trisolve;
  using enum JacobiForm;
  std::vector<TrisolveOptions> kinds = {{jacobi, sweeps, noncompact},
                                        {jacobi, sweeps, compact},
                                        {jacobi, sweeps, noncompact, 0.7},
                                        {jacobi, sweeps, compact, 0.7},
                                        {jacobi, sweeps, compact, 1, 4},
                                        {jacobi, sweeps, compact, 1, 37},
                                        {neumann, sweeps},
                                        {jacobi, sweeps, noncompact, 1, 1, FactorScaling::both},
                                        {jacobi, sweeps, compact, 1, 4, FactorScaling::lower},
                                        {neumann, sweeps, compact, 1, 1, FactorScaling::upper}};
  for (auto& one : kinds) one.guard = false;
  return kinds;
}

}  // namespace echelon::reference
