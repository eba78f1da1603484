// SPDX-License-Identifier: BSD-3-Clause
// Eisenstat's form of CG between the sweeps. Bytes an element: weighted_square 16, right_side 32, update 40, with four steps
// of x 80, excess 24 (once a solve). With the direction's 24 and 88 of the sweeps an iteration on star7 moves 194 bytes a
// point; plain CG 234.
#include "echelon/krylov/vectors/device_scalar_cuda.cuh"
#include "echelon/krylov/vectors/map_cuda.cuh"
#include "echelon/krylov/vectors/reduction_cuda.cuh"

namespace echelon {
namespace {

using device::Nothing;
using device::Step;

/// Σ g D⁻¹ g
struct WeightedSquare {
  static constexpr int sums = 1;
  const double *inverse, *g;
  struct Loaded {
    double inverse, g;
  };
  __device__ Nothing start() const { return {}; }
  __device__ Loaded load(std::int64_t i) const { return {inverse[i], g[i]}; }
  __device__ void use(std::int64_t, const Loaded& in, Nothing, double (&sum)[sums]) const {
    sum[0] = fma(in.inverse * in.g, in.g, sum[0]);
  }
};

/// y ← p − excess t; Σ t (p + y), which is t'A t: with A = (D + L) + (D + U) − excess, t'L t = t'U t and (D + U) t = p.
struct RightSide {
  static constexpr int sums = 1;
  EisenstatImage image;
  struct Loaded {
    double excess, p, t;
  };
  __device__ Nothing start() const { return {}; }
  __device__ Loaded load(std::int64_t i) const { return {image.excess[i], image.p[i], image.t[i]}; }
  __device__ void use(std::int64_t i, const Loaded& in, Nothing, double (&sum)[sums]) const {
    const double y = fma(-in.excess, in.t, in.p);
    image.y[i] = y;
    sum[0] = fma(in.t, in.p + y, sum[0]);
  }
};

/// g ← g − alpha (D t + y); Σ g D⁻¹ g
struct Update {
  static constexpr int sums = 1;
  DeviceScalar alpha;
  EisenstatUpdate to;
  struct Loaded {
    double inverse, t, y, g;
  };
  __device__ Step start() const { return device::step_of(alpha); }
  __device__ Loaded load(std::int64_t i) const { return {to.inverse[i], to.t[i], to.y[i], to.g[i]}; }
  __device__ void use(std::int64_t i, const Loaded& in, const Step& by, double (&sum)[sums]) const {
    const double image = fma(1 / in.inverse, in.t, in.y);
    const double left = by.valid ? fma(-by.alpha, image, in.g) : in.g;
    if (by.valid) to.g[i] = left;
    sum[0] = fma(in.inverse * left, left, sum[0]);
  }
};

/// Before it x takes the steps, and then the one along t, if that may be taken.
struct UpdateAll {
  static constexpr int sums = 1, together = 4, before = LaggingSteps::most - 1;
  Update update;
  LaggingSteps steps;
  double* x;
  struct Loaded {
    Update::Loaded own;
    double x, d[before];
  };
  struct Shared {
    Step own;
    double alpha[before];
  };
  __device__ Shared start() const {
    Shared by;
    by.own = update.start();
#pragma unroll
    for (int k = 0; k < before; ++k) by.alpha[k] = device::value_of(steps.alpha[k]);
    return by;
  }
  __device__ Loaded load(std::int64_t i) const {
    Loaded in;
    in.own = update.load(i);
    in.x = x[i];
#pragma unroll
    for (int k = 0; k < before; ++k) in.d[k] = steps.d[k][i];
    return in;
  }
  __device__ void use(std::int64_t i, const Loaded& in, const Shared& by, double (&sum)[sums]) const {
    double taken = in.x;
#pragma unroll
    for (int k = 0; k < before; ++k) taken = fma(by.alpha[k], in.d[k], taken);
    x[i] = by.own.valid ? fma(by.own.alpha, in.own.t, taken) : taken;
    update.use(i, in.own, by.own, sum);
  }
};

/// diagonal ← 2 / inverse − diagonal
struct Excess {
  const double* inverse;
  double* diagonal;
  struct Loaded {
    double inverse, diagonal;
  };
  __device__ Nothing start() const { return {}; }
  __device__ Loaded load(std::int64_t i) const { return {inverse[i], diagonal[i]}; }
  __device__ void use(std::int64_t i, const Loaded& in, Nothing) const { diagonal[i] = 2 / in.inverse - in.diagonal; }
};

void weighted_square(const DeviceSums& at, const double* inverse, const double* g) {
  device::reduce(at, WeightedSquare{inverse, g}, "weighted_square");
}
void right_side(const DeviceSums& at, const EisenstatImage& image) { device::reduce(at, RightSide{image}, "right_side"); }
void update(const DeviceSums& at, DeviceScalar alpha, const EisenstatUpdate& to) {
  device::reduce(at, Update{alpha, to}, "update");
}
void update_all(const DeviceSums& at, DeviceScalar alpha, const EisenstatUpdate& to, const LaggingSteps& steps, double* x) {
  device::reduce(at, UpdateAll{{alpha, to}, steps, x}, "update_all");
}
void excess(const DeviceSums& at, const double* inverse, double* diagonal) {
  device::map(at, Excess{inverse, diagonal}, "excess");
}

}  // namespace

DeviceEisenstatKernels device_eisenstat_kernels() { return {weighted_square, right_side, update, update_all, excess}; }

}  // namespace echelon
