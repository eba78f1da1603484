// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/vectors/vector_ops.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "echelon/base/reduction_tree.hpp"
#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

/// Numbers read that are an elementary operation of threads_for: four in a vector register, often from a cache.
constexpr std::int64_t reads_an_operation = 2;
/// Fewer cannot be shared out evenly.
constexpr std::int64_t least_chunks = 4;
/// A sum of squares outside this range may have lost small terms or overflowed.
constexpr double safe_square_low = 1e-280;
constexpr double safe_square_high = 1e+300;
constexpr int largest_scale_exponent = 1000;
/// Columns begin on cache lines, and not all on the same set of the cache.
constexpr std::int64_t stride_grain = 16;

std::int64_t stride_for(std::int64_t n) {
  const std::int64_t stride = (n + stride_grain - 1) / stride_grain * stride_grain;
  return stride % 512 == 0 ? stride + stride_grain : stride;
}

}  // namespace

Basis::Basis(std::int64_t n, int columns, bool single, Device device) : single_(single), stride_(stride_for(n)) {
  if (single) {
    fp32_ = Array<float>(stride_ * columns, device);
  } else {
    fp64_ = Array<double>(stride_ * columns, device);
  }
}

std::int64_t Basis::bytes(std::int64_t n, int columns, bool single) {
  return stride_for(n) * columns * static_cast<std::int64_t>(single ? sizeof(float) : sizeof(double));
}

VectorOps::VectorOps(std::int64_t n, int columns, const Communicator& communicator, Device device)
    : n_(n),
      communicator_(communicator),
      kernels_(vector_kernels()),
      columns_(2 * columns + 3),
      partial_(device.is_host() ? std::max<std::int64_t>(reduction::chunks(n), 1) * columns_ : 0),
      negated_(columns_),
      gpu_(device.is_host() ? nullptr : std::make_unique<DeviceVectorWork>(n, columns_, device)) {}

double VectorOps::gpu_sum() {
  double total = 0;
  gpu_sums(1, {&total, 1});
  return total;
}

SumPair VectorOps::gpu_pair() {
  double totals[2];
  gpu_sums(2, totals);
  return {totals[0], totals[1]};
}

void VectorOps::gpu_sums(int count, std::span<double> totals) {
  totals = totals.first(static_cast<std::size_t>(count));
  gpu_->take_totals(totals);
  communicator_.sum(totals);
}

template <class Work>
void VectorOps::for_chunks(Work work, Order order, int vectors) const {
  const std::int64_t chunks = reduction::chunks(n_);
  const auto run = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t c = order == Order::forward ? i : to - 1 - (i - from);
      const std::int64_t begin = c * reduction::chunk;
      work(c, begin, std::min(reduction::chunk, n_ - begin));
    }
  };
  const int parts = chunks >= least_chunks ? threads_for(n_ * vectors / reads_an_operation) : 1;
  if (parts <= 1) {
    run(0, chunks);
    return;
  }
#pragma omp parallel num_threads(parts)
  {
    const auto [from, to] = share(chunks, omp_get_thread_num(), omp_get_num_threads());
    run(from, to);
  }
}

void VectorOps::tree_and_reduce(int columns, std::span<double> totals) {
  const std::int64_t chunks = reduction::chunks(n_);
  double* sums = partial_.data();
  if (chunks == 0) std::fill(totals.begin(), totals.end(), 0.0);
  for (std::int64_t wide = chunks; wide > 1; wide = (wide + 1) / 2) {
    for (std::int64_t i = 0; i < wide / 2; ++i) {
      for (int j = 0; j < columns; ++j) sums[i * columns + j] = sums[2 * i * columns + j] + sums[(2 * i + 1) * columns + j];
    }
    if (wide % 2) std::copy_n(sums + (wide - 1) * columns, columns, sums + wide / 2 * columns);
  }
  if (chunks > 0) std::copy_n(sums, columns, totals.begin());
  communicator_.sum(totals);
}

template <class Work>
double VectorOps::sum_chunks(Work work, Order order, int vectors) {
  double* sums = partial_.data();
  for_chunks([&](std::int64_t c, std::int64_t begin, std::int64_t count) { sums[c] = work(begin, count); }, order, vectors);
  double total = 0;
  tree_and_reduce(1, {&total, 1});
  return total;
}

template <class Work>
SumPair VectorOps::sum_chunk_pairs(Work work, Order order, int vectors) {
  double* sums = partial_.data();
  for_chunks(
      [&](std::int64_t c, std::int64_t begin, std::int64_t count) {
        const SumPair pair = work(begin, count);
        sums[2 * c] = pair.first;
        sums[2 * c + 1] = pair.second;
      },
      order, vectors);
  double total[2];
  tree_and_reduce(2, total);
  return {total[0], total[1]};
}

double VectorOps::dot(const V& x, const V& y) {
  if (gpu_) return gpu_->run().dot(gpu_->at(), x.data(), y.data()), gpu_sum();
  return sum_chunks([&](auto at, auto n) { return kernels_.dot(x.data() + at, y.data() + at, n); });
}

SumPair VectorOps::dot_and_square(const V& x, const V& y) {
  if (gpu_) return gpu_->run().dot_and_square(gpu_->at(), x.data(), y.data()), gpu_pair();
  return sum_chunk_pairs([&](auto at, auto n) { return kernels_.dot_and_square(x.data() + at, y.data() + at, n); });
}

double VectorOps::norm(const V& x) { return norm_from_square(dot(x, x), x); }

double VectorOps::norm_from_square(double square, const V& x) {
  if (square >= safe_square_low && square <= safe_square_high) return std::sqrt(square);
  const double top = largest(x);
  if (top == 0 || !std::isfinite(top)) return top;
  const int exponent = std::clamp(std::ilogb(top), -largest_scale_exponent, largest_scale_exponent);
  const double scale = std::ldexp(1.0, -exponent);
  return std::ldexp(std::sqrt(scaled_square(scale, x)), exponent);
}

double VectorOps::scaled_square(double scale, const V& x) {
  if (gpu_) return gpu_->run().scaled_square(gpu_->at(), scale, x.data()), gpu_sum();
  return sum_chunks([&](auto at, auto n) { return kernels_.scaled_square(scale, x.data() + at, n); });
}

double VectorOps::largest(const V& x) {
  if (gpu_) return communicator_.largest(gpu_->largest(x.data()));
  double* tops = partial_.data();
  for_chunks([&](std::int64_t c, std::int64_t begin, std::int64_t count) {
    double top = 0;
    for (std::int64_t i = begin; i < begin + count; ++i) {
      const double size = std::fabs(x[i]);
      // Written so that a NaN wins and stays.
      if (!(size <= top)) top = std::isnan(top) ? top : size;
    }
    tops[c] = top;
  });
  double top = 0;
  for (std::int64_t c = 0; c < reduction::chunks(n_); ++c) {
    if (!(tops[c] <= top)) top = std::isnan(top) ? top : tops[c];
  }
  return communicator_.largest(top);
}

void VectorOps::axpy(double a, const V& x, V& y) {
  if (gpu_) return gpu_->run().axpy(gpu_->at(), a, x.data(), y.data());
  for_chunks([&](auto, auto at, auto n) { kernels_.axpy(a, x.data() + at, y.data() + at, n); });
}

void VectorOps::xpay(const V& x, double a, V& y) {
  if (gpu_) return gpu_->run().xpay(gpu_->at(), x.data(), {a}, y.data());
  for_chunks([&](auto, auto at, auto n) { kernels_.xpay(x.data() + at, a, y.data() + at, n); });
}

double VectorOps::cg_update(double a, const V& p, const V& q, V& x, V& r) {
  if (gpu_) return gpu_->run().cg_update(gpu_->at(), {a}, p.data(), q.data(), x.data(), r.data()), gpu_sum();
  return sum_chunks(
      [&](auto at, auto n) { return kernels_.cg_update(a, p.data() + at, q.data() + at, x.data() + at, r.data() + at, n); });
}

void VectorOps::bicgstab_direction(double beta, double omega, const V& r, const V& v, V& p) {
  if (gpu_) return gpu_->run().bicgstab_direction(gpu_->at(), beta, omega, r.data(), v.data(), p.data());
  for_chunks([&](auto, auto at, auto n) {
    kernels_.bicgstab_direction(beta, omega, r.data() + at, v.data() + at, p.data() + at, n);
  });
}

SumPair VectorOps::bicgstab_update(const BicgstabStep& step) {
  if (gpu_) return gpu_->run().bicgstab_update(gpu_->at(), step), gpu_pair();
  return sum_chunk_pairs([&](auto at, auto n) { return kernels_.bicgstab_update(step, at, n); });
}

double VectorOps::subtract(double a, const V& v, V& r) {
  if (gpu_) return gpu_->run().basis.fp64.subtract(gpu_->at(), {v.data(), 0, 1, nullptr}, &a, r.data()), gpu_sum();
  return sum_chunks([&](auto at, auto n) {
    return kernels_.basis.fp64.subtract({v.data() + at, 0, 1, v.data() + at + n}, &a, r.data() + at, n);
  });
}

void VectorOps::multi_dot(const Basis& basis, int count, const V& w, std::span<double> h) {
  const int columns = count + 1;
  if (gpu_) {
    if (basis.single()) {
      gpu_->run().basis.fp32.multi_dot(gpu_->at(), basis.fp32(count, 0, 0), w.data());
    } else {
      gpu_->run().basis.fp64.multi_dot(gpu_->at(), basis.fp64(count, 0, 0), w.data());
    }
    return gpu_sums(columns, h);
  }
  double* sums = partial_.data();
  for_chunks(
      [&](std::int64_t c, std::int64_t at, std::int64_t n) {
        double* out = sums + c * columns;
        if (basis.single()) {
          kernels_.basis.fp32.multi_dot(basis.fp32(count, at, at + n), w.data() + at, out, n);
        } else {
          kernels_.basis.fp64.multi_dot(basis.fp64(count, at, at + n), w.data() + at, out, n);
        }
      },
      Order::forward, columns);
  tree_and_reduce(columns, h.first(static_cast<std::size_t>(columns)));
}

double VectorOps::subtract(const Basis& basis, std::span<const double> h, V& w) {
  const int count = static_cast<int>(h.size());
  if (gpu_) {
    if (basis.single()) {
      gpu_->run().basis.fp32.subtract(gpu_->at(), basis.fp32(count, 0, 0), h.data(), w.data());
    } else {
      gpu_->run().basis.fp64.subtract(gpu_->at(), basis.fp64(count, 0, 0), h.data(), w.data());
    }
    return gpu_sum();
  }
  return sum_chunks(
      [&](auto at, auto n) {
        const std::int64_t next = std::max<std::int64_t>(at - reduction::chunk, 0);
        if (basis.single()) return kernels_.basis.fp32.subtract(basis.fp32(count, at, next), h.data(), w.data() + at, n);
        return kernels_.basis.fp64.subtract(basis.fp64(count, at, next), h.data(), w.data() + at, n);
      },
      Order::backward, count + 1);
}

double VectorOps::subtract_and_store(Basis& basis, std::span<const double> h, double scale, int to, V& w) {
  const int count = static_cast<int>(h.size());
  if (gpu_) {
    if (basis.single()) {
      gpu_->run().basis.fp32.subtract_and_store(gpu_->at(), basis.fp32(count, 0, 0), h.data(), {scale, basis.column32(to)},
                                                w.data());
    } else {
      gpu_->run().basis.fp64.subtract_and_store(gpu_->at(), basis.fp64(count, 0, 0), h.data(), {scale, basis.column64(to)},
                                                w.data());
    }
    return gpu_sum();
  }
  return sum_chunks(
      [&](auto at, auto n) {
        const std::int64_t next = std::max<std::int64_t>(at - reduction::chunk, 0);
        double* out = w.data() + at;
        if (basis.single()) {
          return kernels_.basis.fp32.subtract_and_store(basis.fp32(count, at, next), h.data(),
                                                        {scale, basis.column32(to) + at}, out, n);
        }
        return kernels_.basis.fp64.subtract_and_store(basis.fp64(count, at, next), h.data(),
                                                      {scale, basis.column64(to) + at}, out, n);
      },
      Order::backward, count + 1);
}

void VectorOps::pair_dot(const Basis& basis, int count, const V& w1, const V& w2, std::span<double> h) {
  const int columns = 2 * count + 3;
  if (gpu_) {
    gpu_->run().basis.pair_dot(gpu_->at(), basis.fp64(count, 0, 0), w1.data(), w2.data());
    return gpu_sums(columns, h);
  }
  double* sums = partial_.data();
  for_chunks(
      [&](std::int64_t c, std::int64_t at, std::int64_t n) {
        kernels_.basis.pair_dot(basis.fp64(count, at, at + n), w1.data() + at, w2.data() + at, sums + c * columns, n);
      },
      Order::forward, count + 2);
  tree_and_reduce(columns, h.first(static_cast<std::size_t>(columns)));
}

SumPair VectorOps::pair_subtract(Basis& basis, int count, std::span<const double> h, const PairScales& scales, V& w1,
                                 V& w2) {
  if (gpu_) {
    const PairStep step{h.data(),      scales.first,          scales.along,
                        scales.second, basis.column64(count), basis.column64(count + 1)};
    return gpu_->run().basis.pair_subtract(gpu_->at(), basis.fp64(count, 0, 0), step, w1.data(), w2.data()), gpu_pair();
  }
  return sum_chunk_pairs(
      [&](auto at, auto n) {
        const std::int64_t next = std::max<std::int64_t>(at - reduction::chunk, 0);
        const PairStep step{
            h.data(), scales.first, scales.along, scales.second, basis.column64(count) + at, basis.column64(count + 1) + at};
        return kernels_.basis.pair_subtract(basis.fp64(count, at, next), step, w1.data() + at, w2.data() + at, n);
      },
      Order::backward, count + 1);
}

void VectorOps::combine(const Basis& basis, std::span<const double> y, V& u) {
  for (std::size_t j = 0; j < y.size(); ++j) negated_[static_cast<std::int64_t>(j)] = -y[j];
  if (gpu_) return gpu_combine(basis, static_cast<int>(y.size()), u);
  for_chunks([&](auto, auto at, auto n) { std::memset(u.data() + at, 0, static_cast<std::size_t>(n) * sizeof(double)); });
  subtract(basis, negated_.span().first(y.size()), u);
}

void VectorOps::gpu_combine(const Basis& basis, int count, V& u) {
  gpu_->clear(u.data());
  if (basis.single()) {
    gpu_->run().basis.fp32.subtract(gpu_->unread(), basis.fp32(count, 0, 0), negated_.data(), u.data());
  } else {
    gpu_->run().basis.fp64.subtract(gpu_->unread(), basis.fp64(count, 0, 0), negated_.data(), u.data());
  }
}

void VectorOps::store(double a, V& w, Basis& basis, int j) {
  if (gpu_ && basis.single()) return gpu_->run().basis.fp32.store_scaled(gpu_->at(), a, w.data(), basis.column32(j));
  if (gpu_) return gpu_->run().basis.fp64.store_scaled(gpu_->at(), a, w.data(), basis.column64(j));
  for_chunks([&](auto, auto at, auto n) {
    if (basis.single()) {
      kernels_.basis.fp32.store_scaled(a, w.data() + at, basis.column32(j) + at, n);
    } else {
      kernels_.basis.fp64.store_scaled(a, w.data() + at, basis.column64(j) + at, n);
    }
  });
}

}  // namespace echelon
