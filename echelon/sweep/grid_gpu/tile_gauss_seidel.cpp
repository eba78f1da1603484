// SPDX-License-Identifier: BSD-3-Clause
// Checks, and the order of the steps: values to the device in user order → A in tile order → there, in place, L D⁻¹ and D⁻¹ →
// the sweeps' values in tile order. The host's loop goes point by point: it is what tests of whole methods run on.
#include "echelon/sweep/grid_gpu/tile_gauss_seidel.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/fma.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/factor/grid_gpu/unit_triangles_row.inl"
#include "echelon/matrix/given_rows.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep.hpp"

namespace echelon {
namespace {

void make_unit_triangles(Device device, const unit_triangles::View& view) {
  if (!device.is_host()) return unit_triangles::launch()(device.index, view);
  const std::int64_t points = view.grid.points();
  for (int e = 0; e < view.center; ++e) {
    for (std::int64_t point = 0; point < points; ++point) unit_triangles::lower(view, e, point);
  }
  for (std::int64_t point = 0; point < points; ++point) unit_triangles::diagonal(view, point);
}

/// x ← L̃⁻¹ x or U⁻¹ x: a row's entries from the farthest inwards, as in the sequential sweep.
void sweep_on_host(const TileOrder& order, const double* values, Triangle triangle, double* x) {
  const LayoutView &matrix = order.host_matrix().view(), &vector = order.host_vector().view();
  const Grid& grid = order.grid();
  const auto offsets = order.stencil().offsets();
  const bool lower = triangle == Triangle::lower;
  const int center = order.stencil().center(), last = order.stencil().size() - 1;
  const std::int64_t points = grid.points();
  const auto at = [](std::int64_t i, std::int64_t j, std::int64_t k) {
    return Ijk{static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)};
  };
  for (std::int64_t n = 0; n < points; ++n) {
    const std::int64_t p = lower ? n : points - 1 - n, i = p % grid.nx, j = p / grid.nx % grid.ny, k = p / grid.nx / grid.ny;
    const Place row = matrix.place(at(i, j, k));
    double& own = x[vector.place(at(i, j, k)).first];
    double sum = own;
    for (int q = 0; q < (lower ? center : last - center); ++q) {
      const int e = lower ? q : last - q;
      const Offset o = offsets[static_cast<std::size_t>(e)];
      if (!grid.contains(i + o.x, j + o.y, k + o.z)) continue;
      sum = fma(-values[row.at(e, 0, 0)], x[vector.place(at(i + o.x, j + o.y, k + o.z)).first], sum);
    }
    own = lower ? sum : values[row.at(center, 0, 0)] * sum;
  }
}

/// Throws where Gauss-Seidel has no meaning.
const StructMatrix<double>& checked(const StructMatrix<double>& A) {
  if (A.dof() != 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("Gauss-Seidel on a stencil: {} unknowns a point, expected 1", A.dof()));
  }
  const Grid& g = A.grid();
  for (std::int64_t point = 0; point < g.points(); ++point) {
    const double d = A.block(point, A.stencil().center())[0];
    if (d != 0 && std::isfinite(d)) continue;
    throw Error(
        ErrorCode::structure, fmt::format("Gauss-Seidel: the diagonal is {}", d),
        fmt::format("grid point ({},{},{}), row {}", point % g.nx, point / g.nx % g.ny, point / g.nx / g.ny, point));
  }
  return A;
}

/// The values in user order on the device.
Array<double> sent(const StructMatrix<double>& A, Device device) {
  const std::span<const double> host = A.values();
  require_memory(static_cast<std::int64_t>(host.size_bytes()), "a matrix in user order", device);
  Array<double> user(static_cast<std::int64_t>(host.size()), device);
  copy_bytes(user.data(), device, host.data(), Device::host(), user.bytes());
  return user;
}

}  // namespace

struct TileGaussSeidel::Impl {
  TileMatrix A;
  TileConversion conversion;
  Array<Offset> offsets;
  Array<double> values;  // L D⁻¹, D⁻¹ and U, in A's order
  std::optional<WavefrontSweep<double>> sweeps;
  V correction;

  /// `user` becomes the triangles.
  Impl(const StructMatrix<double>& of, Array<double> user, Device device)
      : A(given_rows(of.grid(), of.stencil(), 1, user.data(), device), 0),
        conversion(A.order(), of.stencil()),
        offsets(Array<Offset>(of.stencil().offsets()).to(device)) {
    require_memory(A.order().matrix_scalars() * 8, "the triangles of Gauss-Seidel", device);
    values = Array<double>(A.order().matrix_scalars(), device);
    make_triangles(user);
    if (!device.is_host()) sweeps.emplace(A.order());
    correction = V(A.kept_size(), 0.0, device);
  }

  void make_triangles(Array<double>& user) {
    make_unit_triangles(A.device(), {A.grid(), offsets.data(), A.stencil().center(), user.data()});
    conversion.matrix_to_tiles(user, values);
  }

  void check(const char* what, const V& v) const {
    if (v.device() != A.device()) {
      throw Error(ErrorCode::device, fmt::format("Gauss-Seidel in tile order: the matrix is on {}, {} on {}",
                                                 A.device().name(), what, v.device().name()));
    }
    if (v.size() != A.kept_size()) throw_size_mismatch(what, v.size(), A.kept_size());
  }

  void solve(const V& r, V& x) {
    if (sweeps) {
      sweeps->lower(values.data(), r.data(), x.data());
      sweeps->upper(values.data(), x.data(), x.data());
      return;
    }
    if (r.data() != x.data()) x.copy_from(r);
    sweep_on_host(A.order(), values.data(), Triangle::lower, x.data());
    sweep_on_host(A.order(), values.data(), Triangle::upper, x.data());
  }

  void add(const V& y, V& x) const {
    if (!x.device().is_host()) return cuda_backend()->axpy(x.device().index, 1.0, y.data(), x.data(), x.size());
    for (std::int64_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }
};

TileGaussSeidel::TileGaussSeidel(const StructMatrix<double>& A, Device device)
    : impl_(std::make_unique<Impl>(checked(A), sent(A, device), device)) {}
TileGaussSeidel::TileGaussSeidel(TileGaussSeidel&&) noexcept = default;
TileGaussSeidel& TileGaussSeidel::operator=(TileGaussSeidel&&) noexcept = default;
TileGaussSeidel::~TileGaussSeidel() = default;

void TileGaussSeidel::refresh(const StructMatrix<double>& A) {
  Array<double> user = sent(checked(A), impl_->A.device());
  impl_->A.assign(given_rows(A.grid(), A.stencil(), 1, user.data(), impl_->A.device()));
  impl_->make_triangles(user);
}

const TileMatrix& TileGaussSeidel::matrix() const { return impl_->A; }

void TileGaussSeidel::from_zero(const V& r, V& x) const {
  impl_->check("r", r);
  impl_->check("x", x);
  impl_->solve(r, x);
}

void TileGaussSeidel::from_guess(const V& r, V& x) const {
  impl_->check("r", r);
  impl_->check("x", x);
  impl_->A.residual(r, x, impl_->correction);
  impl_->solve(impl_->correction, impl_->correction);
  impl_->add(impl_->correction, x);
}

void TileGaussSeidel::settle() const {
  if (impl_->sweeps) impl_->sweeps->check();
}

std::int64_t TileGaussSeidel::bytes() const {
  const Impl& own = *impl_;
  return own.A.bytes() + own.offsets.bytes() + own.values.bytes() + own.correction.bytes() +
         (own.sweeps ? own.sweeps->bytes() : 0);
}

TileGaussSeidel::Bytes TileGaussSeidel::traffic() const {
  constexpr double number = sizeof(double);
  const double matrix = number * static_cast<double>(impl_->A.order().matrix_scalars());
  const double vector = number * static_cast<double>(impl_->A.kept_size());
  const double zero = matrix + 4 * vector;
  return {.zero = zero, .guess = matrix + 3 * vector + zero + 3 * vector, .multiply = matrix + 2 * vector};
}

}  // namespace echelon
