// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/bench_cuda_ours.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/measure/device_measure.hpp"
#include "bench/measure/work_model.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/factor/grid/struct_factor.hpp"
#include "echelon/factor/grid_gpu/wavefront_factor.hpp"
#include "echelon/matrix/grid_gpu/device_product.hpp"
#include "echelon/matrix/grid_gpu/tile_convert.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/sweep/grid_gpu/wavefront_many.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep.hpp"

namespace echelon::cli {
namespace {

using bench::device_measure;

/// Relative error that storing factors of size 1 in so many bits may leave.
double tolerance(Stored stored) {
  return stored == Stored::fp64 ? 1e-10 : stored == Stored::fp32 ? 1e-5 : stored == Stored::fp16 ? 1e-2 : 5e-2;
}

/// The matrix of a case on the GPU in user order and in the one it is swept in, and a right-hand side.
class DeviceCase {
 public:
  DeviceCase(const bench::BenchCase& of, bench::ValueKind kind, const DevicePlan& by,
             LayoutKind layout = LayoutKind::tile_contiguous)
      : one(of),
        plan(by),
        stencil(stencils::named(one.stencil)),
        order(one.grid, stencil, one.dof, sweep_tile_shape(one.grid, stencil, one.dof), gpu, layout),
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
    return bench::device_samples(true, plan.repeats, work, before);
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

/// Throws when it is far from one in FP64 in the list that contenders call `what`.
void check_answer(const DeviceOperation& one, const std::string& what, const std::vector<DeviceOperation>& list) {
  for (const auto& known : list) {
    if (known.peers != what || agree(known.answer, one.answer, tolerance(one.precision))) continue;
    throw Error(ErrorCode::internal, fmt::format("{} in {}: norm {:.12g}, {} in fp64 {:.12g}", one.name, word(one.precision),
                                                 one.answer.norm, known.name, known.answer.norm));
  }
}

struct SweepVariant {
  std::string name;  // empty: the method as it is
  Stored stored = Stored::fp64;
  bool plain = false;
};

/// Lower and upper sweep; answers are held against those in FP64 that are in the list already.
void add_sweeps(DeviceCase& on, const SweepVariant& variant, const void* values, std::vector<DeviceOperation>& list) {
  const Timer timer;
  WavefrontSweep<double> sweep(on.order, {.stored = variant.stored, .tuning = {.plain = variant.plain}});
  const double tables_seconds = on.tables_seconds + timer.seconds();
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    const bool lower = triangle == Triangle::lower;
    const EntryRange entries = lower ? lower_entries(on.stencil) : diagonal_and_upper_entries(on.stencil);
    DeviceOperation one;
    one.name = (lower ? "lower sweep" : "upper sweep") + variant.name;
    one.peers = variant.stored != Stored::fp64 ? "" : lower ? "lower" : "upper";
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
    check_answer(one, lower ? "lower" : "upper", list);
    list.push_back(std::move(one));
  }
}

void add_narrow_sweeps(DeviceCase& on, std::vector<DeviceOperation>& list) {
  for (const Stored stored : {Stored::fp32, Stored::bf16, Stored::fp16}) {
    Array<std::byte> narrow(on.order.matrix_scalars() * bytes_of(stored), on.gpu);
    if (narrow_tiles(on.order, on.tiles, {}, stored, narrow) > 0) {
      throw Error(ErrorCode::internal, fmt::format("factors of size 1 left the range of {}", word(stored)));
    }
    add_sweeps(on, {"", stored}, narrow.data(), list);
  }
}

/// The stages of the paper's figure 8: who computes what; where the matrix lies, in the paper's form and in ours; the ring.
std::vector<DeviceOperation> sweeps_by_stage(const bench::BenchCase& one, const DevicePlan& plan) {
  struct Stage {
    const char* name;
    LayoutKind layout;
    bool plain;
  };
  std::vector<DeviceOperation> list;
  for (const auto& stage :
       {Stage{" (mapping)", LayoutKind::user, true}, Stage{" (+ modulus layout)", LayoutKind::skewed, true},
        Stage{" (+ tile layout)", LayoutKind::tile_contiguous, true},
        Stage{" (+ pipeline)", LayoutKind::tile_contiguous, false}}) {
    DeviceCase on(one, bench::ValueKind::factors_inverted, plan, stage.layout);
    add_sweeps(on, {stage.name, Stored::fp64, stage.plain}, on.tiles.data(), list);
  }
  return list;
}

/// Sweeps on several vectors at once, beside as many alone. Vectors lie apart, so none comes from a cache for another.
std::vector<DeviceOperation> sweeps_of_many(const bench::BenchCase& one, const DevicePlan& plan) {
  DeviceCase on(one, bench::ValueKind::factors_inverted, plan);
  WavefrontSweep<double> sweep(on.order);
  WavefrontMany many(on.order, sweep, Stored::fp64);
  std::vector<Vector<double>> r, x;
  std::vector<DeviceOperation> list;
  for (const int count : {1, 2, 4, 8}) {
    while (std::ssize(r) < count) {
      r.push_back(on.laid_r.clone());
      x.push_back(on.laid_x.clone());
    }
    std::vector<const double*> from;
    std::vector<double*> to;
    for (const auto& vector : r) from.push_back(vector.data());
    for (auto& vector : x) to.push_back(vector.data());
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const bool lower = triangle == Triangle::lower;
      const EntryRange entries = lower ? lower_entries(on.stencil) : diagonal_and_upper_entries(on.stencil);
      DeviceOperation made;
      made.name = fmt::format("{} sweep of {} {}", lower ? "lower" : "upper", count, count == 1 ? "vector" : "vectors");
      made.peers = count == 1 ? (lower ? "lower" : "upper") : "";
      made.bytes = on.bytes(entries, sizeof(double)) + 16.0 * (count - 1) * static_cast<double>(one.rows());
      made.flops = count * on.flops(entries);
      made.kernel = fmt::format("{} at once", std::min(count, many.most_columns()));
      const auto* values = on.tiles.data();
      made.samples = on.sampled([&] { lower ? many.lower(values, from, to) : many.upper(values, from, to); });
      sweep.check();
      on.laid_x.copy_from(x.back());
      made.answer = on.answer();
      check_answer(made, lower ? "lower" : "upper", list);
      made.one_by_one = on.sampled([&] {
        for (std::size_t k = 0; k < from.size(); ++k) {
          lower ? sweep.lower(values, from[k], to[k]) : sweep.upper(values, from[k], to[k]);
        }
      });
      sweep.check();
      list.push_back(std::move(made));
    }
  }
  return list;
}

std::vector<DeviceOperation> measure_sweeps(const bench::BenchCase& one, const DevicePlan& plan) {
  if (plan.scope == DeviceScope::stages) return sweeps_by_stage(one, plan);
  if (plan.scope == DeviceScope::many) return sweeps_of_many(one, plan);
  DeviceCase on(one, bench::ValueKind::factors_inverted, plan);
  std::vector<DeviceOperation> list;
  add_sweeps(on, {}, on.tiles.data(), list);
  if (plan.scope == DeviceScope::main) return list;
  add_narrow_sweeps(on, list);
  add_product(on, list);
  add_conversions(on, list);
  return list;
}

struct FactorVariant {
  std::string name;  // empty: the method as it is
  FactorKernel kernel = FactorKernel::best;
};

/// Stages as of the sweeps. All kernels find their neighbours by the tables of runs, so mapping and layout are one.
std::vector<FactorVariant> factor_variants(DeviceScope scope, int dof) {
  if (scope != DeviceScope::stages) return {{}};
  return {{" (mapping and layout)", FactorKernel::generic},
          {" (+ pipeline)", FactorKernel::rows},
          {dof == 1 ? " (+ compiled stencil)" : " (+ teams of lines)", FactorKernel::best}};
}

/// ILU(0); the answer is L and U applied to the right-hand side.
void add_factor(DeviceCase& on, const FactorVariant& variant, std::vector<DeviceOperation>& list) {
  const bench::BenchCase& one = on.one;
  const Timer timer;
  IluOptions options;
  options.shift = ShiftPolicy::none;
  WavefrontFactor<double> factor(on.order, options, false, variant.kernel);
  const double tables_seconds = on.tables_seconds + timer.seconds();
  PivotLog log;
  const bench::WorkShape shape{one.grid.points() * on.stencil.size() * one.dof * one.dof, one.grid.points(), one.dof};
  DeviceOperation ilu;
  ilu.name = "ilu0 factorization" + variant.name;
  ilu.peers = "factor";
  ilu.tables_seconds = tables_seconds;
  ilu.bytes = bench::factor_bytes(shape, on.stencil);
  ilu.flops = bench::factor_flops(shape, on.stencil);
  // From where A is kept, as preconditioners call it; in place where only L and the diagonal change.
  const bool apart = factor.reads_elsewhere() && !EliminationPlan(on.stencil).diagonal_only;
  Array<double> room(apart ? on.tiles.size() : 0, on.gpu);
  Array<double>& values = apart ? room : on.tiles;
  bool started = false;
  ilu.samples = on.sampled([&] { factor.start(values.data(), on.tiles.data(), {}); },
                           [&] {
                             if (started) factor.finish(log);
                             if (!started || !apart) on.convert.matrix_to_tiles(on.user, on.tiles);
                             started = true;
                           });
  factor.finish(log);
  if (log.count() > 0) throw Error(ErrorCode::structure, fmt::format("{} bad pivots", log.count()));
  WavefrontSweep<double> sweep(on.order);
  sweep.lower(values.data(), on.laid_r.data(), on.laid_x.data());
  sweep.upper(values.data(), on.laid_x.data(), on.laid_x.data());
  sweep.check();
  ilu.answer = on.answer();
  check_answer(ilu, ilu.peers, list);
  list.push_back(std::move(ilu));
}

std::vector<DeviceOperation> measure_factor(const bench::BenchCase& one, const DevicePlan& plan) {
  DeviceCase on(one, bench::ValueKind::matrix, plan);
  std::vector<DeviceOperation> list;
  for (const auto& variant : factor_variants(plan.scope, one.dof)) add_factor(on, variant, list);
  if (plan.scope == DeviceScope::everything) add_conversions(on, list);
  return list;
}

}  // namespace

std::vector<DeviceOperation> measure_on_device(const bench::BenchCase& one, const DevicePlan& plan) {
  return one.kind == "factor" ? measure_factor(one, plan) : measure_sweeps(one, plan);
}

}  // namespace echelon::cli
