// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/rows/triangle_measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "echelon/base/work_watch.hpp"

namespace echelon {
namespace {

/// Σ x² without overflow: the root is scale · sqrt(sum).
class SumOfSquares {
 public:
  void add(double value) {
    const double size = std::abs(value);
    if (size == 0) return;
    if (size > scale_) {
      sum_ = 1 + sum_ * (scale_ / size) * (scale_ / size);
      scale_ = size;
    } else {
      sum_ += (size / scale_) * (size / scale_);
    }
  }
  double root() const { return scale_ * std::sqrt(sum_); }

 private:
  double scale_ = 0, sum_ = 0;
};

using Vector1 = std::vector<double>;

/// x ← D_i⁻¹ x or its transpose, for one row.
template <class T>
void divide(const TriangleView<T>& triangle, std::int64_t row, bool transposed, double* x) {
  if (!triangle.inverse_diagonal) return;
  const int b = triangle.block;
  const T* inverse = triangle.inverse_diagonal + row * b * b;
  if (b == 1) {
    *x *= static_cast<double>(*inverse);
    return;
  }
  Vector1 sum(static_cast<std::size_t>(b), 0);
  for (int r = 0; r < b; ++r) {
    for (int c = 0; c < b; ++c) {
      sum[static_cast<std::size_t>(r)] += static_cast<double>(transposed ? inverse[r * b + c] : inverse[c * b + r]) * x[c];
    }
  }
  std::copy(sum.begin(), sum.end(), x);
}

/// x ← T⁻¹ x
template <class T>
void solve(const TriangleView<T>& triangle, Vector1& x) {
  const int b = triangle.block;
  keep_going(triangle.pattern->entries() * b * b);
  for (std::int64_t s = 0; s < triangle.rows(); ++s) {
    double* x_i = x.data() + triangle.row_at(s) * b;
    for_entries(triangle, s, [&](std::int64_t j, const T* block) {
      for (int c = 0; c < b; ++c) {
        for (int r = 0; r < b; ++r) x_i[r] -= static_cast<double>(block[c * b + r]) * x[static_cast<std::size_t>(j * b + c)];
      }
    });
    divide(triangle, triangle.row_at(s), false, x_i);
  }
}

/// x ← T⁻ᵀ x
template <class T>
void solve_transposed(const TriangleView<T>& triangle, Vector1& x) {
  const int b = triangle.block;
  keep_going(triangle.pattern->entries() * b * b);
  for (std::int64_t s = triangle.rows() - 1; s >= 0; --s) {
    double* x_i = x.data() + triangle.row_at(s) * b;
    divide(triangle, triangle.row_at(s), true, x_i);
    for_entries(triangle, s, [&](std::int64_t j, const T* block) {
      for (int c = 0; c < b; ++c) {
        for (int r = 0; r < b; ++r) x[static_cast<std::size_t>(j * b + c)] -= static_cast<double>(block[c * b + r]) * x_i[r];
      }
    });
  }
}

double norm_1(const Vector1& x) {
  return std::accumulate(x.begin(), x.end(), 0.0, [](double sum, double value) { return sum + std::abs(value); });
}

/// Higham's algorithm (ACM TOMS 674) for ‖T⁻¹‖₁, with his second lower bound.
template <class T>
double inverse_norm_1(const TriangleView<T>& triangle) {
  constexpr int most_rounds = 5;
  const auto n = static_cast<std::size_t>(triangle.rows() * triangle.block);
  Vector1 x(n, 1 / static_cast<double>(n)), sign(n, 0), z;
  double estimate = 0;
  std::size_t last = n;
  for (int round = 0; round < most_rounds; ++round) {
    solve(triangle, x);
    const double norm = norm_1(x);
    if (!std::isfinite(norm)) return std::numeric_limits<double>::infinity();
    if (round > 0 && norm <= estimate) break;
    estimate = norm;
    bool same = true;
    for (std::size_t i = 0; i < n; ++i) {
      const double now = x[i] >= 0 ? 1 : -1;
      same = same && now == sign[i];
      sign[i] = now;
    }
    if (same) break;
    z = sign;
    solve_transposed(triangle, z);
    const auto best = static_cast<std::size_t>(
        std::max_element(z.begin(), z.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }) - z.begin());
    if (best == last) break;
    last = best;
    std::fill(x.begin(), x.end(), 0.0);
    x[best] = 1;
  }
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = (i % 2 == 0 ? 1 : -1) * (1 + (n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0));
  }
  solve(triangle, x);
  const double second = 2 * norm_1(x) / (3 * static_cast<double>(n));
  return std::isfinite(second) ? std::max(estimate, second) : std::numeric_limits<double>::infinity();
}

template <class T, class Visit>
void for_off_diagonal(const TriangleView<T>& triangle, const Visit& visit) {
  for (std::int64_t s = 0; s < triangle.rows(); ++s) {
    for_entries(triangle, s, [&](std::int64_t j, const T* block) { visit(triangle.row_at(s), j, block); });
  }
}

/// visit(row, column, value) of the scalars of the diagonal blocks.
template <class T, class Visit>
void for_diagonal(const TriangleView<T>& triangle, const Visit& visit) {
  const int b = triangle.block;
  const Array<T> blocks = diagonal_blocks(triangle);
  for (std::int64_t i = 0; i < triangle.rows(); ++i) {
    for (int c = 0; c < b; ++c) {
      for (int r = 0; r < b; ++r) {
        const double value = blocks.empty() ? (r == c ? 1.0 : 0.0) : static_cast<double>(blocks[(i * b + c) * b + r]);
        visit(i * b + r, i * b + c, value);
      }
    }
  }
}

}  // namespace

template <class T>
double departure(const TriangleView<T>& triangle) {
  SumOfSquares squares;
  const int size = triangle.block * triangle.block;
  for_off_diagonal(triangle, [&](std::int64_t, std::int64_t, const T* block) {
    for (int e = 0; e < size; ++e) squares.add(static_cast<double>(block[e]));
  });
  return squares.root();
}

template <class T>
double normalised_departure(const TriangleView<T>& triangle) {
  SumOfSquares squares;
  const int b = triangle.block;
  std::vector<double> column(static_cast<std::size_t>(b));
  for_off_diagonal(triangle, [&](std::int64_t i, std::int64_t, const T* block) {
    for (int c = 0; c < b; ++c) {
      for (int r = 0; r < b; ++r) column[static_cast<std::size_t>(r)] = static_cast<double>(block[c * b + r]);
      divide(triangle, i, false, column.data());
      for (const double value : column) squares.add(value);
    }
  });
  return squares.root();
}

template <class T>
double condition_1(const TriangleView<T>& triangle) {
  if (triangle.rows() == 0) return 1;
  const int b = triangle.block;
  Vector1 sums(static_cast<std::size_t>(triangle.rows() * b), 0);
  const auto add = [&](std::int64_t column, double value) { sums[static_cast<std::size_t>(column)] += std::abs(value); };
  for_off_diagonal(triangle, [&](std::int64_t, std::int64_t j, const T* block) {
    for (int c = 0; c < b; ++c) {
      for (int r = 0; r < b; ++r) add(j * b + c, static_cast<double>(block[c * b + r]));
    }
  });
  for_diagonal(triangle, [&](std::int64_t, std::int64_t column, double value) { add(column, value); });
  return *std::max_element(sums.begin(), sums.end()) * inverse_norm_1(triangle);
}

double condition_2(std::int64_t n, Array<double>& dense) {
  constexpr int most_rounds = 40;
  constexpr double orthogonal = 1e-14;
  const auto column = [&](std::int64_t j) { return dense.data() + j * n; };
  const auto dot = [n](const double* x, const double* y) { return std::inner_product(x, x + n, y, 0.0); };
  bool rotated = n > 1;
  for (int round = 0; rotated && round < most_rounds; ++round) {
    rotated = false;
    for (std::int64_t p = 0; p < n; ++p) {
      keep_going(4 * n * n);
      for (std::int64_t q = p + 1; q < n; ++q) {
        double *x = column(p), *y = column(q);
        const double a = dot(x, x), c = dot(y, y), mixed = dot(x, y);
        if (std::abs(mixed) <= orthogonal * std::sqrt(a) * std::sqrt(c)) continue;
        rotated = true;
        const double zeta = (c - a) / (2 * mixed);
        const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
        const double cosine = 1 / std::sqrt(1 + t * t), sine = cosine * t;
        for (std::int64_t i = 0; i < n; ++i) {
          const double kept = x[i];
          x[i] = cosine * kept - sine * y[i];
          y[i] = sine * kept + cosine * y[i];
        }
      }
    }
  }
  double largest = 0, smallest = std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < n; ++j) {
    const double size = std::sqrt(dot(column(j), column(j)));
    largest = std::max(largest, size);
    smallest = std::min(smallest, size);
  }
  return n == 0 ? 1 : smallest > 0 ? largest / smallest : std::numeric_limits<double>::infinity();
}

template <class T>
Array<double> dense(const TriangleView<T>& triangle) {
  const std::int64_t b = triangle.block, n = triangle.rows() * b;
  Array<double> full(n * n, 0.0);
  for_off_diagonal(triangle, [&](std::int64_t i, std::int64_t j, const T* block) {
    for (int c = 0; c < b; ++c) {
      for (int r = 0; r < b; ++r) full[(j * b + c) * n + i * b + r] = static_cast<double>(block[c * b + r]);
    }
  });
  for_diagonal(triangle, [&](std::int64_t row, std::int64_t column, double value) { full[column * n + row] = value; });
  return full;
}

std::int64_t level_count(const TrianglePattern& triangle, std::int64_t rows_a_block) {
  const std::int64_t blocks = (triangle.rows + rows_a_block - 1) / rows_a_block;
  std::vector<std::int32_t> depth(static_cast<std::size_t>(blocks), 0);
  std::int32_t deepest = 0;
  with_distances(triangle, [&](const auto* distance) {
    for (std::int64_t s = 0; s < triangle.rows; ++s) {
      const std::int64_t own = s / rows_a_block;
      auto& level = depth[static_cast<std::size_t>(own)];
      level = std::max(level, 1);
      for (auto p = triangle.start[s]; p < triangle.start[s + 1]; ++p) {
        const std::int64_t other = (s - std::int64_t{distance[p]}) / rows_a_block;
        if (other != own) level = std::max(level, depth[static_cast<std::size_t>(other)] + 1);
      }
      deepest = std::max(deepest, level);
    }
  });
  return deepest;
}

template <class T>
Array<T> diagonal_blocks(const TriangleView<T>& triangle) {
  if (!triangle.inverse_diagonal) return {};
  const int b = triangle.block;
  const std::int64_t size = std::int64_t{b} * b;
  Array<T> blocks(triangle.rows() * size);
  std::copy_n(triangle.inverse_diagonal, blocks.size(), blocks.data());
  std::vector<int> swaps(static_cast<std::size_t>(b));
  for (std::int64_t i = 0; i < triangle.rows(); ++i) {
    static_cast<void>(invert<0>(b, blocks.data() + i * size, swaps.data()));
  }
  return blocks;
}

template double departure(const TriangleView<double>&);
template double departure(const TriangleView<float>&);
template double normalised_departure(const TriangleView<double>&);
template double normalised_departure(const TriangleView<float>&);
template double condition_1(const TriangleView<double>&);
template double condition_1(const TriangleView<float>&);
template Array<double> dense(const TriangleView<double>&);
template Array<double> dense(const TriangleView<float>&);
template Array<double> diagonal_blocks(const TriangleView<double>&);
template Array<float> diagonal_blocks(const TriangleView<float>&);

}  // namespace echelon
