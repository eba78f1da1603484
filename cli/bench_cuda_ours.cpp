// SPDX-License-Identifier: BSD-3-Clause
#include "cli/bench_cuda_ours.hpp"

#include <fmt/format.h>

#include "bench/measure/device_measure.hpp"
#include "bench/measure/work_model.hpp"
#include "echelon/base/error.hpp"
#include "echelon/factor/wavefront_factor.hpp"
#include "echelon/matrix/device_product.hpp"
#include "echelon/matrix/tile_convert.hpp"
#include "echelon/report/timer.hpp"
#include "echelon/sweep/wavefront_sweep.hpp"

namespace echelon::cli {
namespace {

using bench::device_measure;

/// Relative error that storing factors of size 1 in so many bits may leave.
double tolerance(Stored stored) {
  return stored == Stored::fp64 ? 1e-10 : stored == Stored::fp32 ? 1e-5 : stored == Stored::fp16 ? 1e-2 : 5e-2;
}

/// The matrix of a case on the GPU in both orders, and a right-hand side.
class DeviceCase {
 public:
  DeviceCase(const bench::BenchCase& of, bench::ValueKind kind, const DevicePlan& by)
      : one(of),
        plan(by),
        stencil(stencils::named(one.stencil)),
        order(one.grid, stencil, one.dof, sweep_tile_shape(one.grid, stencil, one.dof), gpu),
        tables_seconds(timer_.seconds()),
        convert(order, stencil),
        user(one.matrix_bytes() / static_cast<std::int64_t>(sizeof(double)), gpu),
        tiles(order.matrix_scalars(), gpu),
        r(one.rows(), gpu),
        x(one.rows(), gpu),
        laid_r(order.vector_scalars(), gpu),
        laid_x(order.vector_scalars(), gpu) {
    device_measure()->make_values(bench::ValueShape::of(one, kind), user.data());
    device_measure()->make_right_hand_side(r.data(), r.size());
    convert.matrix_to_tiles(user, tiles);
    convert.vector_to_tiles(r, laid_r);
  }

  /// Fingerprint of laid_x, in natural order.
  bench::Fingerprint answer() {
    convert.vector_to_user(laid_x, x);
    return device_measure()->fingerprint(x.data(), x.size());
  }
  double bytes(EntryRange entries, int value_bytes) const {
    return bench::entries_bytes(one.grid.points(), entries.count(), one.dof, value_bytes);
  }
  double flops(EntryRange entries) const {
    return 2.0 * static_cast<double>(neighbours_inside(one.grid, part(entries))) * one.dof * one.dof;
  }
  std::span<const Offset> part(EntryRange entries) const {
    return stencil.offsets().subspan(static_cast<std::size_t>(entries.begin), static_cast<std::size_t>(entries.count()));
  }
  std::vector<double> sampled(const std::function<void()>& work, const std::function<void()>& before = {}) const {
    return bench::device_samples(1, plan.repeats, work, before);
  }

 private:
  Timer timer_;

 public:
  const bench::BenchCase& one;
  const DevicePlan& plan;
  const Device gpu = Device::cuda();
  const Stencil stencil;
  const TileOrder order;
  const double tables_seconds;
  const TileConversion convert;
  Array<double> user, tiles;
  Vector<double> r, x, laid_r, laid_x;
};

void add_conversions(DeviceCase& on, std::vector<DeviceOperation>& list) {
  DeviceOperation there;
  there.name = "to tile order";
  there.bytes = 2.0 * static_cast<double>(on.user.bytes());
  DeviceOperation back = there;
  back.name = "to user order";
  there.samples = on.sampled([&] { on.convert.matrix_to_tiles(on.user, on.tiles); });
  back.samples = on.sampled([&] { on.convert.matrix_to_user(on.tiles, on.user); });
  list.push_back(std::move(there));
  list.push_back(std::move(back));
}

void add_product(DeviceCase& on, std::vector<DeviceOperation>& list) {
  const DeviceProduct<double> product(on.one.grid, on.stencil, on.one.dof, on.gpu);
  DeviceOperation one;
  one.name = "product";
  one.peers = "product";
  one.bytes = on.bytes(all_entries(on.stencil), sizeof(double));
  one.flops = on.flops(all_entries(on.stencil));
  one.samples = on.sampled([&] { product.apply(on.user.data(), on.r.data(), on.x.data()); });
  one.answer = device_measure()->fingerprint(on.x.data(), on.x.size());
  list.push_back(std::move(one));
}

struct SweepVariant {
  std::string name;  // empty: the method as it is
  Stored stored = Stored::fp64;
  SweepTuning tuning = {};
};

std::vector<SweepVariant> sweep_variants(bool breakdown) {
  std::vector<SweepVariant> list = {{"", Stored::fp64}, {"", Stored::fp32}, {"", Stored::bf16}, {"", Stored::fp16}};
  if (!breakdown) return list;
  SweepTuning plain, one_group;
  plain.plain = true;
  one_group.groups = 1;
  list.push_back({" (mapping and layout)", Stored::fp64, plain});
  list.push_back({" (+ ring, one group)", Stored::fp64, one_group});
  return list;
}

/// Lower and upper sweep; `expected` are those in FP64, once they are there.
void add_sweeps(DeviceCase& on, const SweepVariant& variant, const void* values, std::vector<DeviceOperation>& list) {
  const Timer timer;
  WavefrontSweep<double> sweep(on.order, {variant.stored, variant.tuning});
  const double tables_seconds = on.tables_seconds + timer.seconds();
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const bool lower = triangle == Triangle::lower;
    const EntryRange entries = lower ? lower_entries(on.stencil) : diagonal_and_upper_entries(on.stencil);
    DeviceOperation one;
    one.name = (lower ? "lower sweep" : "upper sweep") + variant.name;
    one.peers = !variant.name.empty() || variant.stored != Stored::fp64 ? "" : lower ? "lower" : "upper";
    one.precision = variant.stored;
    one.tables_seconds = tables_seconds;
    one.bytes = on.bytes(entries, bytes_of(variant.stored));
    one.flops = on.flops(entries);
    one.kernel = sweep.describe(triangle);
    one.samples = on.sampled([&] {
      if (lower) {
        sweep.lower(values, on.laid_r.data(), on.laid_x.data());
      } else {
        sweep.upper(values, on.laid_r.data(), on.laid_x.data());
      }
    });
    sweep.check();
    one.answer = on.answer();
    for (const auto& known : list) {
      if (known.peers != (lower ? "lower" : "upper") || agree(known.answer, one.answer, tolerance(variant.stored))) continue;
      throw Error(ErrorCode::internal, fmt::format("{} in {}: norm {:.12g}, in fp64 {:.12g}", one.name, word(variant.stored),
                                                   one.answer.norm, known.answer.norm));
    }
    list.push_back(std::move(one));
  }
}

std::vector<DeviceOperation> measure_sweeps(const bench::BenchCase& one, const DevicePlan& plan) {
  DeviceCase on(one, bench::ValueKind::factors_inverted, plan);
  std::vector<DeviceOperation> list;
  for (const auto& variant : sweep_variants(plan.breakdown)) {
    if (variant.stored == Stored::fp64) {
      add_sweeps(on, variant, on.tiles.data(), list);
      continue;
    }
    Array<std::byte> narrow(on.order.matrix_scalars() * bytes_of(variant.stored), on.gpu);
    if (narrow_tiles(on.order, on.tiles, {}, variant.stored, narrow) > 0) {
      throw Error(ErrorCode::internal, fmt::format("factors of size 1 left the range of {}", word(variant.stored)));
    }
    add_sweeps(on, variant, narrow.data(), list);
  }
  add_product(on, list);
  add_conversions(on, list);
  return list;
}

std::vector<DeviceOperation> measure_factor(const bench::BenchCase& one, const DevicePlan& plan) {
  DeviceCase on(one, bench::ValueKind::matrix, plan);
  const Timer timer;
  IluOptions options;
  options.shift = ShiftPolicy::none;
  WavefrontFactor<double> factor(on.order, options);
  const double tables_seconds = on.tables_seconds + timer.seconds();
  PivotLog log;
  const bench::WorkShape shape{one.grid.points() * on.stencil.size() * one.dof * one.dof, one.grid.points(), one.dof};
  DeviceOperation ilu;
  ilu.name = "ilu0 factorization";
  ilu.peers = "factor";
  ilu.tables_seconds = tables_seconds;
  ilu.bytes = bench::factor_bytes(shape, on.stencil);
  ilu.flops = bench::factor_flops(shape, on.stencil);
  bool started = false;
  ilu.samples = on.sampled([&] { factor.start(on.tiles.data(), {}); },
                           [&] {
                             if (started) factor.finish(log);
                             started = true;
                             on.convert.matrix_to_tiles(on.user, on.tiles);
                           });
  factor.finish(log);
  if (log.count() > 0) throw Error(ErrorCode::structure, fmt::format("{} bad pivots", log.count()));
  WavefrontSweep<double> sweep(on.order);
  sweep.lower(on.tiles.data(), on.laid_r.data(), on.laid_x.data());
  sweep.upper(on.tiles.data(), on.laid_x.data(), on.laid_x.data());
  sweep.check();
  ilu.answer = on.answer();
  std::vector<DeviceOperation> list = {std::move(ilu)};
  add_conversions(on, list);
  return list;
}

}  // namespace

std::vector<DeviceOperation> measure_on_device(const bench::BenchCase& one, const DevicePlan& plan) {
  return one.kind == "factor" ? measure_factor(one, plan) : measure_sweeps(one, plan);
}

}  // namespace echelon::cli
