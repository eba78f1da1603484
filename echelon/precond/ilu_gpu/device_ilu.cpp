// SPDX-License-Identifier: BSD-3-Clause
// Checks, allocation and the order of the steps: A into the grown order, unless the factorization reads it where it is →
// factor by the policy → narrow storage → sweeps.
#include "echelon/precond/ilu_gpu/device_ilu.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/factor/grid/struct_factor.hpp"
#include "echelon/factor/grid_gpu/wavefront_factor.hpp"
#include "echelon/precond/ilu/ilu_impl.hpp"
#include "echelon/precond/ilu_gpu/tile_triangles.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "echelon/sweep/grid_gpu/wavefront_many.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep.hpp"
#include "echelon/sweep/iterated/trisolve_note.hpp"

namespace echelon {
namespace {

/// Throws where this factorization has no body.
const TileMatrix& checked(const TileMatrix& A, const IluOptions& options) {
  check_options(options);
  require_elimination(options, "ILU on a GPU");
  if (A.device().is_host()) throw Error(ErrorCode::bad_argument, "ILU on a GPU: the matrix is on the host");
  if (options.ordering != Ordering::natural) {
    throw Error(ErrorCode::bad_argument, "ILU on a GPU: a structured matrix is factored in natural order; got rcm");
  }
  if (A.fill() != options.fill) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("ILU({}) on a GPU: the matrix was put into the order of fill {}", options.fill, A.fill()));
  }
  return A;
}

/// A power of two near 1/‖A‖: U times it and D⁻¹ divided by it are of size 1, and L's right-hand side is taken times it.
double scale_for(double norm) { return norm > 0 && std::isfinite(norm) ? std::exp2(-std::round(std::log2(norm))) : 1; }

}  // namespace

struct DeviceIlu::Impl {
  IluOptions options;
  Stencil stencil;  // A's
  TileOrder order;  // of the grown one
  WavefrontFactor<double> factorization;
  Array<double> values;
  Array<std::byte> narrow;
  Stored stored = Stored::fp64;
  double r_scale = 1;
  std::unique_ptr<WavefrontSweep<double>> sweep;  // of what is stored
  std::unique_ptr<WavefrontMany> many;            // once it was asked for
  bool diagonal_only;                             // off the diagonal U is A's own, and L is A's times D⁻¹
  std::uint64_t of_values = 0;                    // stamp of what was factored
  FactorReport report;

  Impl(const TileMatrix& A, const IluOptions& options_, bool positive)
      : options(options_),
        stencil(A.stencil()),
        order(A.order(), grown(A.stencil(), options.fill)),
        factorization(order, options, positive),
        diagonal_only(A.dof() == 1 && EliminationPlan(order.stencil()).diagonal_only) {
    report.fill_ratio = static_cast<double>(neighbours_inside(A.grid(), order.stencil().offsets())) /
                        static_cast<double>(neighbours_inside(A.grid(), stencil.offsets()));
    note_exact_sweeps(options.trisolve, grid_sweeps_are_exact, report);
  }

  void factor(const TileMatrix& A) {
    const Timer timer;
    of_values = A.stamp();
    make_room();
    const double* source = factorization.reads_elsewhere() ? A.values_in(order) : nullptr;
    if (!source) A.grow(order, values.data());
    // The host makes the sweeps' tables while the GPU is at what was queued.
    if (options.precision == Stored::fp64) sweep_with(Stored::fp64);
    factorization.factor(values.data(),
                         {source, [&](double* again) { A.grow(order, again); }, [&] { return inverse_norm(A); }}, report);
    report.precision = word(Stored::fp64);
    if (report.ok && bytes_of(options.precision) < bytes_of(Stored::fp64)) store_narrow();
    if (narrow.empty()) sweep_with(Stored::fp64);
    report.bytes = values.bytes() + narrow.bytes() + order.bytes() + factorization.bytes() + sweep->bytes();
    report.numeric_seconds = timer.seconds();
  }

  void make_room() {
    narrow = Array<std::byte>();
    r_scale = 1;
    if (values.size() == order.matrix_scalars()) return;
    const std::int64_t kept =
        bytes_of(options.precision) < bytes_of(Stored::fp64) ? order.matrix_scalars() * bytes_of(options.precision) : 0;
    require_memory(order.matrix_scalars() * 8 + kept, fmt::format("ILU({})", options.fill), order.device());
    values = Array<double>(order.matrix_scalars(), order.device());
  }

  void sweep_with(Stored kind) {
    if (sweep && stored == kind) return;
    stored = kind;
    SweepChoice choice;
    choice.stored = kind;
    many.reset();
    sweep = std::make_unique<WavefrontSweep<double>>(order, choice);
  }

  const void* factors() const { return narrow.empty() ? static_cast<const void*>(values.data()) : narrow.data(); }

  void apply(const double* r, double* z) const {
    sweep->lower(factors(), r, z, r_scale);
    sweep->upper(factors(), z, z);
  }

  void apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) {
    if (!many) many = std::make_unique<WavefrontMany>(order, *sweep, stored);
    std::vector<const double*> from;
    std::vector<double*> to;
    for (const Vector<double>& one : r) from.push_back(one.data());
    for (Vector<double>& one : z) to.push_back(one.data());
    many->lower(factors(), from, to, r_scale);
    from.assign(to.begin(), to.end());
    many->upper(factors(), from, to);
  }

  void check_vectors(const Vector<double>& r, const Vector<double>& z) const {
    const Device device = order.device();
    if (r.device() != device || z.device() != device) {
      throw Error(ErrorCode::device, fmt::format("mixing places: the ILU is on {}, r on {}, z on {}", device.name(),
                                                 r.device().name(), z.device().name()));
    }
    const std::int64_t size = order.vector_scalars();
    if (r.size() != size) throw_size_mismatch("right-hand side of an ILU", r.size(), size);
    if (z.size() != size) throw_size_mismatch("result of an ILU", z.size(), size);
  }

  void require_usable() const {
    if (report.ok) return;
    throw Error(ErrorCode::bad_argument, "a failed factorization was applied: " + report.message);
  }

  /// ‖(LU)⁻¹ e‖∞ of the factors in FP64, asked for before they are narrowed.
  double inverse_norm(const TileMatrix& A) {
    sweep_with(Stored::fp64);
    const CudaBackend& gpu = *cuda_backend();
    const int index = order.device().index;
    Array<double> ones(A.rows(), order.device()), probe(A.kept_size(), order.device());
    gpu.fill(index, ones.data(), ones.size(), 1);
    A.keep(ones, probe);
    apply(probe.data(), probe.data());
    const double largest = gpu.largest(index, probe.data(), probe.size());
    return std::isfinite(largest) ? largest : std::numeric_limits<double>::infinity();
  }

  /// Keeps the factors as asked for, or in FP32 when values leave that range, and says so.
  void store_narrow() {
    const double scale = scale_for(factorization.norm());
    const PartScales scales{1, 1 / scale, scale};
    for (Stored kind = options.precision;; kind = Stored::fp32) {
      narrow = Array<std::byte>(order.matrix_scalars() * bytes_of(kind), order.device());
      const std::int64_t lost = narrow_tiles(order, values, scales, kind, narrow);
      if (lost == 0) {
        sweep_with(kind);
        r_scale = scale;
        report.precision = word(kind);
        values = Array<double>();
        report.remarks.emplace_back("refactor allocates the wide factors again while it works");
        return;
      }
      report.remarks.push_back(fmt::format("{} values of the factors leave the range of {}", lost, word(kind)));
      narrow = Array<std::byte>();
      if (kind == Stored::fp32) return;
    }
  }
};

DeviceIlu::DeviceIlu(const TileMatrix& A, const IluOptions& options, bool positive) {
  const Timer timer;
  impl_ = std::make_unique<Impl>(checked(A, options), options, positive);
  impl_->report.symbolic_seconds = timer.seconds();
  impl_->factor(A);
}
DeviceIlu::DeviceIlu(DeviceIlu&&) noexcept = default;
DeviceIlu& DeviceIlu::operator=(DeviceIlu&&) noexcept = default;
DeviceIlu::~DeviceIlu() = default;

void DeviceIlu::apply(const Vector<double>& r, Vector<double>& z) const {
  impl_->require_usable();
  impl_->check_vectors(r, z);
  impl_->apply(r.data(), z.data());
}

void DeviceIlu::apply_many(std::span<const Vector<double>> r, std::span<Vector<double>> z) const {
  impl_->require_usable();
  require_as_many(r.size(), z.size());
  for (std::size_t k = 0; k < r.size(); ++k) impl_->check_vectors(r[k], z[k]);
  impl_->apply_many(r, z);
}

void DeviceIlu::settle() const {
  if (impl_->report.ok) impl_->sweep->check();
}

std::unique_ptr<QueuedTriangles<double>> DeviceIlu::queued_triangles(const Operator<double>& A) const {
  const auto* matrix = dynamic_cast<const TileMatrix*>(&A);
  const Impl& own = *impl_;
  const bool shared = matrix && own.report.ok && own.diagonal_only && own.narrow.empty() &&
                      own.stencil.size() == own.order.stencil().size() && matrix->stamp() == own.of_values;
  return shared ? std::make_unique<TileTriangles>(*matrix, own.values.data(), *own.sweep) : nullptr;
}

const FactorReport& DeviceIlu::report() const { return impl_->report; }

const FactorReport& DeviceIlu::refactor(const TileMatrix& A) {
  const bool same = A.grid() == impl_->order.grid() && A.dof() == impl_->order.dof() && A.fill() == impl_->options.fill &&
                    A.device() == impl_->order.device() && A.stencil().size() == impl_->stencil.size();
  if (!same)
    throw Error(ErrorCode::structure, "refactor on a GPU needs the first matrix' grid, stencil, block size and place");
  impl_->report.symbolic_seconds = 0;
  impl_->factor(A);
  return impl_->report;
}

}  // namespace echelon
