// SPDX-License-Identifier: BSD-3-Clause
// The table of device_vector_kernels.hpp; what works on a basis is in basis_kernels_cuda.cu.
// Bytes an element: dot 16, axpy 24, cg_update 48, cg_residual 24, cg_direction 24, with four steps of x 64.
#include <algorithm>
#include <atomic>

#include "echelon/base/cuda/host_watch.cuh"
#include "echelon/krylov/vectors/device_scalar_cuda.cuh"
#include "echelon/krylov/vectors/map_cuda.cuh"
#include "echelon/krylov/vectors/reduction_cuda.cuh"
#include "echelon/matrix/dotted_product.hpp"

namespace echelon {
namespace {

using device::map;
using device::Nothing;
using device::reduce;
using device::Step;
using device::value_of;

struct Dot {
  static constexpr int sums = 1;
  const double *x, *y;
  struct Loaded {
    double x, y;
  };
  __device__ Nothing start() const { return {}; }
  __device__ Loaded load(std::int64_t i) const { return {x[i], y[i]}; }
  __device__ void use(std::int64_t, const Loaded& in, Nothing, double (&sum)[sums]) const {
    sum[0] = fma(in.x, in.y, sum[0]);
  }
};

/// {x·y, x·x}
struct DotAndSquare {
  static constexpr int sums = 2;
  const double *x, *y;
  using Loaded = Dot::Loaded;
  __device__ Nothing start() const { return {}; }
  __device__ Loaded load(std::int64_t i) const { return {x[i], y[i]}; }
  __device__ void use(std::int64_t, const Loaded& in, Nothing, double (&sum)[sums]) const {
    sum[0] = fma(in.x, in.y, sum[0]);
    sum[1] = fma(in.x, in.x, sum[1]);
  }
};

struct ScaledSquare {
  static constexpr int sums = 1;
  double a;
  const double* x;
  using Loaded = double;
  __device__ Nothing start() const { return {}; }
  __device__ double load(std::int64_t i) const { return x[i]; }
  __device__ void use(std::int64_t, double in, Nothing, double (&sum)[sums]) const {
    const double scaled = a * in;
    sum[0] = fma(scaled, scaled, sum[0]);
  }
};

struct CgUpdate {
  static constexpr int sums = 1;
  DeviceScalar a;
  const double *p, *q;
  double *x, *r;
  struct Loaded {
    double p, q, x, r;
  };
  __device__ Step start() const { return device::step_of(a); }
  __device__ Loaded load(std::int64_t i) const { return {p[i], q[i], x[i], r[i]}; }
  __device__ void use(std::int64_t i, const Loaded& in, const Step& by, double (&sum)[sums]) const {
    const double left = by.valid ? fma(-by.alpha, in.q, in.r) : in.r;
    if (by.valid) {
      x[i] = fma(by.alpha, in.p, in.x);
      r[i] = left;
    }
    sum[0] = fma(left, left, sum[0]);
  }
};

struct CgResidual {
  static constexpr int sums = 1;
  DeviceScalar a;
  const double* q;
  double* r;
  struct Loaded {
    double q, r;
  };
  __device__ Step start() const { return device::step_of(a); }
  __device__ Loaded load(std::int64_t i) const { return {q[i], r[i]}; }
  __device__ void use(std::int64_t i, const Loaded& in, const Step& by, double (&sum)[sums]) const {
    const double left = by.valid ? fma(-by.alpha, in.q, in.r) : in.r;
    if (by.valid) r[i] = left;
    sum[0] = fma(left, left, sum[0]);
  }
};

/// {shadow·r, r·r}
struct BicgstabUpdate {
  static constexpr int sums = 2;
  BicgstabStep step;
  struct Loaded {
    double p_hat, s_hat, t, shadow, x, r;
  };
  __device__ Nothing start() const { return {}; }
  __device__ Loaded load(std::int64_t i) const {
    return {step.p_hat[i], step.s_hat[i], step.t[i], step.shadow[i], step.x[i], step.r[i]};
  }
  __device__ void use(std::int64_t i, const Loaded& in, Nothing, double (&sum)[sums]) const {
    step.x[i] = fma(step.omega, in.s_hat, fma(step.alpha, in.p_hat, in.x));
    const double left = fma(-step.omega, in.t, in.r);
    step.r[i] = left;
    sum[0] = fma(in.shadow, left, sum[0]);
    sum[1] = fma(left, left, sum[1]);
  }
};

/// y ← y + a x
struct Axpy {
  double a;
  const double* x;
  double* y;
  using Loaded = Dot::Loaded;
  __device__ Nothing start() const { return {}; }
  __device__ Loaded load(std::int64_t i) const { return {x[i], y[i]}; }
  __device__ void use(std::int64_t i, const Loaded& in, Nothing) const { y[i] = fma(a, in.x, in.y); }
};

/// y ← x + a y
struct Xpay {
  DeviceScalar a;
  const double* x;
  double* y;
  using Loaded = Dot::Loaded;
  __device__ double start() const { return value_of(a); }
  __device__ Loaded load(std::int64_t i) const { return {x[i], y[i]}; }
  __device__ void use(std::int64_t i, const Loaded& in, double by) const { y[i] = fma(by, in.y, in.x); }
};

struct CgSolution {
  LaggingSteps steps;
  double* x;
  struct Loaded {
    double d[LaggingSteps::most], x;
  };
  struct Shared {
    Step by[LaggingSteps::most];
  };
  __device__ Shared start() const {
    Shared shared;
#pragma unroll
    for (int k = 0; k < LaggingSteps::most; ++k) {
      shared.by[k] = k < steps.count ? device::step_of(steps.alpha[k]) : Step{0, false};
    }
    return shared;
  }
  __device__ Loaded load(std::int64_t i) const {
    Loaded in;
#pragma unroll
    for (int k = 0; k < LaggingSteps::most; ++k) in.d[k] = k < steps.count ? steps.d[k][i] : 0.0;
    in.x = x[i];
    return in;
  }
  __device__ void use(std::int64_t i, const Loaded& in, const Shared& shared) const {
    double sum = in.x;
#pragma unroll
    for (int k = 0; k < LaggingSteps::most; ++k) {
      if (shared.by[k].valid) sum = fma(shared.by[k].alpha, in.d[k], sum);
    }
    x[i] = sum;
  }
};

struct CgDirection {
  CgTurn turn;
  using Loaded = Dot::Loaded;
  __device__ double start() const { return value_of(turn.beta); }
  __device__ Loaded load(std::int64_t i) const { return {turn.z[i], turn.p[i]}; }
  __device__ void use(std::int64_t i, const Loaded& in, double beta) const { turn.p_next[i] = fma(beta, in.y, in.x); }
};

/// With as many steps as there can be; the last one's direction is p.
struct CgDirectionAll {
  static constexpr int steps_count = LaggingSteps::most;
  CgTurn turn;
  LaggingSteps steps;
  double* x;
  struct Loaded {
    double z, x, d[steps_count];
  };
  struct Shared {
    double beta, alpha[steps_count];
  };
  __device__ Shared start() const {
    Shared by;
    by.beta = value_of(turn.beta);
#pragma unroll
    for (int k = 0; k < steps_count; ++k) by.alpha[k] = value_of(steps.alpha[k]);
    return by;
  }
  __device__ Loaded load(std::int64_t i) const {
    Loaded in;
    in.z = turn.z[i];
    in.x = x[i];
#pragma unroll
    for (int k = 0; k < steps_count; ++k) in.d[k] = steps.d[k][i];
    return in;
  }
  __device__ void use(std::int64_t i, const Loaded& in, const Shared& by) const {
    double sum = in.x;
#pragma unroll
    for (int k = 0; k < steps_count; ++k) sum = fma(by.alpha[k], in.d[k], sum);
    x[i] = sum;
    turn.p_next[i] = fma(by.beta, in.d[steps_count - 1], in.z);
  }
};

/// p ← r + beta (p − omega v)
struct BicgstabDirection {
  double beta, omega;
  const double *r, *v;
  double* p;
  struct Loaded {
    double r, v, p;
  };
  __device__ Nothing start() const { return {}; }
  __device__ Loaded load(std::int64_t i) const { return {r[i], v[i], p[i]}; }
  __device__ void use(std::int64_t i, const Loaded& in, Nothing) const { p[i] = fma(beta, fma(-omega, in.v, in.p), in.r); }
};

void dot(const DeviceSums& at, const double* x, const double* y) { reduce(at, Dot{x, y}, "dot"); }
void add_parts(const DeviceSums& at, const double* parts, std::int64_t count) {
  static_assert(std::int64_t{device::largest_group} * device::finish_threads >= DottedProduct::most_parts);
  device::select(at);
  device::add_parts(at, parts, count, 1);
  check_cuda(cudaGetLastError(), "add_parts");
}
void dot_and_square(const DeviceSums& at, const double* x, const double* y) {
  reduce(at, DotAndSquare{x, y}, "dot_and_square");
}
void scaled_square(const DeviceSums& at, double a, const double* x) { reduce(at, ScaledSquare{a, x}, "scaled_square"); }
void axpy(const DeviceSums& at, double a, const double* x, double* y) { map(at, Axpy{a, x, y}, "axpy"); }
void xpay(const DeviceSums& at, const double* x, DeviceScalar a, double* y) { map(at, Xpay{a, x, y}, "xpay"); }
void cg_update(const DeviceSums& at, DeviceScalar a, const double* p, const double* q, double* x, double* r) {
  reduce(at, CgUpdate{a, p, q, x, r}, "cg_update");
}
void cg_residual(const DeviceSums& at, DeviceScalar a, const double* q, double* r) {
  reduce(at, CgResidual{a, q, r}, "cg_residual");
}
void cg_solution(const DeviceSums& at, const LaggingSteps& steps, double* x) {
  map(at, CgSolution{steps, x}, "cg_solution");
}
void cg_direction(const DeviceSums& at, const CgTurn& turn) { map(at, CgDirection{turn}, "cg_direction"); }
void cg_direction_all(const DeviceSums& at, const CgTurn& turn, const LaggingSteps& steps, double* x) {
  map(at, CgDirectionAll{turn, steps, x}, "cg_direction_all");
}
void bicgstab_direction(const DeviceSums& at, double beta, double omega, const double* r, const double* v, double* p) {
  map(at, BicgstabDirection{beta, omega, r, v, p}, "bicgstab_direction");
}
void bicgstab_update(const DeviceSums& at, const BicgstabStep& step) { reduce(at, BicgstabUpdate{step}, "bicgstab_update"); }

std::int64_t parts(std::int64_t n) { return device::blocks_of(n); }

double* allocate_totals(int device, std::int64_t count) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  void* memory = nullptr;
  check_cuda(cudaHostAlloc(&memory, static_cast<std::size_t>(count) * sizeof(double), cudaHostAllocDefault),
             "cudaHostAlloc");
  auto* totals = static_cast<double*>(memory);
  std::fill_n(totals, count, absent_value);
  return totals;
}

void release_totals(double* totals) { cudaFreeHost(totals); }

void await_totals(int device, double* totals, std::span<double> to) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  for (std::size_t k = 0; k < to.size(); ++k) {
    const std::atomic_ref total(totals[k]);
    watch_for([&] { return !is_absent(to[k] = total.load(std::memory_order_acquire)); }, "totals of vector work");
    total.store(absent_value, std::memory_order_relaxed);
  }
}

void* make_mark(int device) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  return event;
}

void set_mark(int device, void* mark) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  check_cuda(cudaEventRecord(static_cast<cudaEvent_t>(mark)), "cudaEventRecord");
}

void await_mark(void* mark) { check_cuda(cudaEventSynchronize(static_cast<cudaEvent_t>(mark)), "the vector work"); }

void release_mark(void* mark) { cudaEventDestroy(static_cast<cudaEvent_t>(mark)); }

}  // namespace

const DeviceVectorKernels* device_vector_kernels() {
  static const DeviceVectorKernels table{dot,
                                         add_parts,
                                         dot_and_square,
                                         scaled_square,
                                         axpy,
                                         xpay,
                                         cg_update,
                                         cg_residual,
                                         cg_solution,
                                         cg_direction,
                                         cg_direction_all,
                                         bicgstab_direction,
                                         bicgstab_update,
                                         device_basis_kernels(),
                                         device_eisenstat_kernels(),
                                         parts,
                                         allocate_totals,
                                         release_totals,
                                         await_totals,
                                         make_mark,
                                         set_mark,
                                         await_mark,
                                         release_mark};
  return &table;
}

}  // namespace echelon
