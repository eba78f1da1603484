// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/multilevel/dense_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace echelon {
namespace {

// Plain products and sums, not the library's fma: without the instruction that is a call, and contraction is off.
constexpr double smallest_pivot = 1e-12;  // of the first one

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// Vectors of length n one after the other, made orthonormal (twice is enough).
void orthonormalise(std::vector<double>& vectors, std::int64_t n) {
  const std::int64_t count = n > 0 ? static_cast<std::int64_t>(vectors.size()) / n : 0;
  for (std::int64_t v = 0; v < count; ++v) {
    double* own = vectors.data() + v * n;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t w = 0; w < v; ++w) {
        const double* other = vectors.data() + w * n;
        const double along = dot(own, other, n);
        for (std::int64_t i = 0; i < n; ++i) own[i] -= along * other[i];
      }
    }
    const double length = std::sqrt(dot(own, own, n));
    for (std::int64_t i = 0; i < n; ++i) own[i] /= length;
  }
}

void project_out(const std::vector<double>& vectors, std::int64_t n, double* x) {
  for (std::size_t at = 0; at < vectors.size(); at += static_cast<std::size_t>(n)) {
    const double along = dot(vectors.data() + at, x, n);
    for (std::int64_t i = 0; i < n; ++i) x[i] -= along * vectors[at + static_cast<std::size_t>(i)];
  }
}

}  // namespace

std::string DenseFactors::factor(std::int64_t n, const std::vector<double>& A) {
  n_ = rank_ = n;
  lu_ = A;
  scale_.resize(static_cast<std::size_t>(n));
  row_.resize(static_cast<std::size_t>(n));
  column_.resize(static_cast<std::size_t>(n));
  std::iota(row_.begin(), row_.end(), 0);
  std::iota(column_.begin(), column_.end(), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const double diagonal = std::abs(A[static_cast<std::size_t>(i * n + i)]);
    const bool usable = diagonal > 0 && std::isfinite(diagonal);
    scale_[static_cast<std::size_t>(i)] = usable ? std::ldexp(1.0, -(std::ilogb(diagonal) / 2)) : 1;
  }
  double* a = lu_.data();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      a[i * n + j] *= scale_[static_cast<std::size_t>(i)] * scale_[static_cast<std::size_t>(j)];
      if (!std::isfinite(a[i * n + j])) {
        return fmt::format("the entry of row {} and column {} is {}", i, j, A[static_cast<std::size_t>(i * n + j)]);
      }
    }
  }
  double first = 0;
  for (std::int64_t p = 0; p < n; ++p) {
    std::int64_t r = p, c = p;
    double largest = -1;
    for (std::int64_t i = p; i < n; ++i) {
      for (std::int64_t j = p; j < n; ++j) {
        if (std::abs(a[i * n + j]) > largest) {
          largest = std::abs(a[i * n + j]);
          r = i;
          c = j;
        }
      }
    }
    if (p == 0) first = largest;
    if (!(largest > smallest_pivot * first)) {
      rank_ = p;
      break;
    }
    if (r != p) {
      std::swap_ranges(a + p * n, a + (p + 1) * n, a + r * n);
      std::swap(row_[static_cast<std::size_t>(p)], row_[static_cast<std::size_t>(r)]);
    }
    if (c != p) {
      for (std::int64_t i = 0; i < n; ++i) std::swap(a[i * n + p], a[i * n + c]);
      std::swap(column_[static_cast<std::size_t>(p)], column_[static_cast<std::size_t>(c)]);
    }
    const double inverse = 1 / a[p * n + p];
    for (std::int64_t i = p + 1; i < n; ++i) {
      const double factor = a[i * n + p] * inverse;
      a[i * n + p] = factor;
      if (factor == 0) continue;
      for (std::int64_t j = p + 1; j < n; ++j) a[i * n + j] -= factor * a[p * n + j];
    }
  }
  find_null_spaces();
  return rank_ == 0 && n > 0 ? "all of it is zero" : "";
}

/// With [L₁; L₂] [U₁ U₂] of rank k: the columns of [−U₁⁻¹U₂; I], and those of [−L₁⁻ᵀL₂ᵀ; I].
void DenseFactors::find_null_spaces() {
  const std::int64_t n = n_, k = rank_;
  const double* a = lu_.data();
  left_.assign(static_cast<std::size_t>((n - k) * n), 0);
  right_.assign(static_cast<std::size_t>((n - k) * n), 0);
  for (std::int64_t v = k; v < n; ++v) {
    double* right = right_.data() + (v - k) * n;
    double* left = left_.data() + (v - k) * n;
    std::vector<double> in_order(static_cast<std::size_t>(n), 0.0);
    double* y = in_order.data();
    y[v] = 1;
    for (std::int64_t i = k - 1; i >= 0; --i) {
      double sum = -a[i * n + v];
      for (std::int64_t j = i + 1; j < k; ++j) sum -= a[i * n + j] * y[j];
      y[i] = sum / a[i * n + i];
    }
    for (std::int64_t i = 0; i < n; ++i) right[column_[static_cast<std::size_t>(i)]] = y[i];
    std::fill(in_order.begin(), in_order.end(), 0.0);
    y[v] = 1;
    for (std::int64_t i = k - 1; i >= 0; --i) {
      double sum = -a[v * n + i];
      for (std::int64_t j = i + 1; j < k; ++j) sum -= a[j * n + i] * y[j];
      y[i] = sum;
    }
    for (std::int64_t i = 0; i < n; ++i) left[row_[static_cast<std::size_t>(i)]] = y[i];
  }
  orthonormalise(left_, n);
  orthonormalise(right_, n);
}

void DenseFactors::solve(double* x, double* work) const {
  const std::int64_t n = n_, k = rank_;
  const double* a = lu_.data();
  for (std::int64_t i = 0; i < n; ++i) x[i] *= scale_[static_cast<std::size_t>(i)];
  project_out(left_, n, x);
  for (std::int64_t i = 0; i < k; ++i) {
    double sum = x[row_[static_cast<std::size_t>(i)]];
    for (std::int64_t j = 0; j < i; ++j) sum -= a[i * n + j] * work[j];
    work[i] = sum;
  }
  for (std::int64_t i = k - 1; i >= 0; --i) {
    double sum = work[i];
    for (std::int64_t j = i + 1; j < k; ++j) sum -= a[i * n + j] * work[j];
    work[i] = sum / a[i * n + i];
  }
  for (std::int64_t i = 0; i < n; ++i) x[column_[static_cast<std::size_t>(i)]] = i < k ? work[i] : 0;
  project_out(right_, n, x);
  for (std::int64_t i = 0; i < n; ++i) x[i] *= scale_[static_cast<std::size_t>(i)];
}

std::int64_t DenseFactors::bytes() const {
  return static_cast<std::int64_t>((lu_.size() + scale_.size() + left_.size() + right_.size()) * sizeof(double) +
                                   (row_.size() + column_.size()) * sizeof(std::int32_t));
}

template <class T>
DenseSolve<T>::DenseSolve(const DenseFactors& factors) : factors_(&factors) {
  scratch_.own().resize(static_cast<std::size_t>(2 * factors.rows()));
}

template <class T>
void DenseSolve<T>::solve(const Vector<T>& r, Vector<T>& x) const {
  const std::int64_t n = rows();
  auto scratch = scratch_.take([n](std::vector<double>& spare) { spare.resize(static_cast<std::size_t>(2 * n)); });
  double* own = scratch->data();
  for (std::int64_t i = 0; i < n; ++i) own[i] = static_cast<double>(r[i]);
  factors_->solve(own, own + n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(own[i]);
}

template class DenseSolve<double>;
template class DenseSolve<float>;

}  // namespace echelon
