// SPDX-License-Identifier: BSD-3-Clause
// Functions of space evaluated once at every grid point, so that rows may read their neighbours' coefficients without
// calling them again. Nodes lie at (i + 1)/(N + 1), with the boundary one point outside; cells at (i + ½)/N.
// A sampler is `bool operator()(x, y, z, values)`, false where the problem is not defined, with the number of `components`
// and `refuse(x, y, z)`, which throws. Built-in ones are plain data and evaluated where the samples are wanted; those with a
// user's function inside are called on the host, from several threads, and their values copied. What the time step asks for,
// the largest of a speed over all points, is found on the way, so that a GPU is waited for once.
#pragma once

#include <cmath>
#include <type_traits>

#include "echelon/base/array.hpp"
#include "echelon/problem/assembly/point_loop.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon::problems {

enum class Place { nodes, cells };

ECHELON_FN double coordinate(std::int64_t i, std::int64_t n, Place place) {
  const auto count = static_cast<double>(n), at = static_cast<double>(i);
  return place == Place::nodes ? (at + 1) / (count + 1) : (at + 0.5) / count;
}

/// Where is sampled: a grid and `halo` points more on every side.
struct SamplePoints {
  Grid grid;
  Place place;
  int halo;

  Grid with_halo() const { return {grid.nx + 2 * halo, grid.ny + 2 * halo, grid.nz + 2 * halo}; }
};

/// The samples as rows read them, on host or GPU.
template <int components>
struct SampleView {
  const double* values = nullptr;
  std::int64_t nx = 0, ny = 0;  // with the halo
  int halo = 0;

  ECHELON_FN const double* at(int i, int j, int k) const {
    return values + (((k + halo) * ny + (j + halo)) * nx + (i + halo)) * components;
  }
};

/// A speed is a function of a point's samples. For problems that ask for none:
struct NoSpeed {
  ECHELON_FN double operator()(const double*) const { return 0; }
};

/// What sampling found.
struct SampleFindings {
  unsigned long long first_bad = ~0ull;  // the smallest number of a point without finite values
  double fastest = 0;                    // the largest speed above
};

template <class Sampler, class Speed>
struct SamplerKernels {
  /// Fills the samples; `found`, on the device, is as above before.
  void (*sample)(int device, const SamplePoints& points, const Sampler& sampler, const Speed& speed, double* values,
                 SampleFindings* found);
};
/// Null without CUDA. For the built-in samplers.
template <class Sampler, class Speed>
const SamplerKernels<Sampler, Speed>* sampler_kernels();

namespace sampling {
/// Throws Error(bad_argument) naming `what` and the place when a value is not finite.
void require_finite(const char* what, const double (&at)[3], std::span<const double> values);
/// Throws Error(will_not_fit).
void require_room(const char* what, std::int64_t scalars, Device device);
[[noreturn]] void throw_no_cuda();

template <class Sampler>
void checked(const char* what, const SamplePoints& points, const Sampler& sampler, const std::int64_t (&n)[3], double* at) {
  const double place[3] = {coordinate(n[0] - points.halo, points.grid.nx, points.place),
                           coordinate(n[1] - points.halo, points.grid.ny, points.place),
                           coordinate(n[2] - points.halo, points.grid.nz, points.place)};
  if (!sampler(place[0], place[1], place[2], at)) sampler.refuse(place[0], place[1], place[2]);
  require_finite(what, place, {at, Sampler::components});
}

/// The largest speed.
template <class Sampler, class Speed>
double on_gpu(const char* what, const SamplePoints& points, const Sampler& sampler, const Speed& speed,
              Array<double>& values) {
  const auto* kernels = sampler_kernels<Sampler, Speed>();
  if (!kernels) throw_no_cuda();
  const Array<SampleFindings> start{SampleFindings{}};
  auto on_device = start.to(values.device());
  kernels->sample(values.device().index, points, sampler, speed, values.data(), on_device.data());
  const SampleFindings found = on_device.to(Device::host())[0];
  if (found.first_bad != start[0].first_bad) {
    const Grid grid = points.with_halo();
    const auto point = static_cast<std::int64_t>(found.first_bad);
    double at[Sampler::components];
    checked(what, points, sampler, {point % grid.nx, point / grid.nx % grid.ny, point / grid.nx / grid.ny}, at);
  }
  return found.fastest;
}
}  // namespace sampling

template <int components>
class PointSamples {
 public:
  /// Throws Error(bad_argument) naming `what` and the place for values that are not finite or not the sampler's to have.
  template <class Sampler, class Speed = NoSpeed>
  PointSamples(const char* what, const SamplePoints& points, const Sampler& sampler, Device device, const Speed& speed = {})
      : points_(points) {
    static_assert(Sampler::components == components);
    const Grid grid = points.with_halo();
    const std::int64_t scalars = grid.points() * components;
    sampling::require_room(what, scalars, device);
    constexpr bool is_formula = std::is_trivially_copyable_v<Sampler>;
    values_ = Array<double>(scalars, is_formula ? device : Device::host());
    if constexpr (is_formula) {
      if (!device.is_host()) {
        fastest_ = sampling::on_gpu(what, points, sampler, speed, values_);
        return;
      }
    }
    constexpr std::int64_t operations_a_call = 100;
    for_each_point(grid, operations_a_call, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t point) {
      sampling::checked(what, points, sampler, {i, j, k}, values_.data() + point * components);
    });
    for (std::int64_t s = 0; s < scalars; s += components) fastest_ = std::fmax(fastest_, speed(values_.data() + s));
    if (!device.is_host()) values_ = values_.to(device);
  }

  Array<double> values() && { return std::move(values_); }
  /// Lives as long as the samples, or the values taken of them.
  SampleView<components> view() const {
    const Grid grid = points_.with_halo();
    return {values_.data(), grid.nx, grid.ny, points_.halo};
  }

  /// Largest speed of a sample, or 0.
  double fastest() const { return fastest_; }

 private:
  SamplePoints points_;
  Array<double> values_;
  double fastest_ = 0;
};

}  // namespace echelon::problems
