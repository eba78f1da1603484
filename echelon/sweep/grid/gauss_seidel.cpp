// SPDX-License-Identifier: BSD-3-Clause
// Checks, allocation, schedules and look-up of gauss_seidel.hpp; lines are the business of gauss_seidel_host.cpp.
#include "echelon/sweep/grid/gauss_seidel.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/lent_scratch.hpp"
#include "echelon/base/memory.hpp"
#include "echelon/base/reduction_tree.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/schedule/grid/line_groups.hpp"
#include "echelon/sweep/grid/gauss_seidel_kernels.hpp"

namespace echelon {
namespace {

template <class T>
struct NamedVector {
  const char* name;
  const Vector<T>* vector;
  std::int64_t size;
};

template <class T>
void check_vectors(const char* call, std::initializer_list<NamedVector<T>> vectors) {
  for (const auto& one : vectors) {
    if (one.vector->size() != one.size) {
      throw_size_mismatch(fmt::format("{}: {}", call, one.name).c_str(), one.vector->size(), one.size);
    }
    if (!one.vector->device().is_host()) {
      throw Error(ErrorCode::device,
                  fmt::format("{}: {} is on {}, the matrix on the host", call, one.name, one.vector->device().name()));
    }
    for (const auto& other : vectors) {
      if (&other == &one) break;
      if (other.vector->data() == one.vector->data() && one.size > 0) {
        throw Error(ErrorCode::bad_argument, fmt::format("{}: {} and {} are the same vector", call, other.name, one.name));
      }
    }
  }
}

/// The first point whose diagonal cannot be divided by, or −1.
template <class T, class S>
std::int64_t first_bad_diagonal(const S* diagonal, std::int64_t n) {
  std::int64_t first = n;
#pragma omp parallel for num_threads(threads_for(n)) schedule(static) reduction(min : first)
  for (std::int64_t p = 0; p < n; ++p) {
    const T rounded = static_cast<T>(diagonal[p]);
    if (rounded == 0 || !std::isfinite(rounded)) first = std::min(first, p);
  }
  return first < n ? first : -1;
}

std::vector<Offset> mirrored(std::span<const Offset> offsets) {
  std::vector<Offset> result;
  for (const Offset& o : offsets) result.push_back({-o.x, -o.y, -o.z});
  return result;
}

}  // namespace

template <class T>
struct GaussSeidel<T>::Impl {
  /// What one call at a time works with.
  struct Scratch {
    GroupProgress forward, guess, backward, guess_back;
    std::vector<PackedOperand<T>> operands;  // all entries for every thread
    std::vector<double> partial;             // of a dotted product
  };

  Stencil stencil;
  std::vector<Offset> lower, upper;  // the farthest first
  Array<T> values;
  T *L = nullptr, *U = nullptr;
  PackedMatrix<T> A{};
  GaussSeidelKernels<T> kernels = gauss_seidel_kernels<T>();
  LineGroups forward, guess, backward, guess_back;
  int team = 1;
  LentScratch<Scratch> scratch;

  template <class S>
  explicit Impl(const StructMatrix<S>& matrix) : stencil(matrix.stencil()) {
    constexpr std::int64_t W = PackedMatrix<T>::width;
    const Grid g = matrix.grid();
    const auto offsets = stencil.offsets();
    const auto center = static_cast<std::size_t>(stencil.center());
    lower.assign(offsets.begin(), offsets.begin() + stencil.center());
    upper.assign(offsets.rbegin(), offsets.rend() - stencil.center() - 1);
    const std::int64_t packs = g.ny * g.nz * PackedMatrix<T>::packs_of(g) * W;
    // Both triangles side by side in memory, a few cache lines more than multiples of 4 KiB apart: their streams would
    // otherwise want the same few places of the cache.
    const std::int64_t spread = 37 * W, page = 4096 / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t lower_size = (packs * static_cast<std::int64_t>(center + 1) + page - 1) / page * page + spread;
    const std::int64_t size = lower_size + packs * static_cast<std::int64_t>(offsets.size() - center);
    require_memory(size * static_cast<std::int64_t>(sizeof(T)), "Gauss-Seidel's copy of the matrix");
    values = Array<T>(size);
    L = values.data();
    U = L + lower_size;
    A = {g, PackedMatrix<T>::packs_of(g), lower, upper, L, U};
    team = threads_for(g.points() * static_cast<std::int64_t>(offsets.size()) / 2);
    const LineGroups::Shape shape{1, PackedMatrix<T>::width};
    // From a guess a point is overwritten only when those that read its old value have done so.
    auto both = lower;
    for (const Offset& o : mirrored(upper)) both.push_back(o);
    forward = LineGroups(g, lower, shape, team);
    guess = LineGroups(g, both, shape, team);
    const auto above = mirrored(upper);  // in the coordinates of the sweep back
    backward = LineGroups(g, above, shape, team);
    both = above;
    both.insert(both.end(), lower.begin(), lower.end());
    guess_back = LineGroups(g, both, shape, team);
    fit(scratch.own());
  }

  void fit(Scratch& s) const {
    if (s.forward.groups() != forward.groups()) {
      s.forward = GroupProgress(forward.groups());
      s.guess = GroupProgress(guess.groups());
      s.backward = GroupProgress(backward.groups());
      s.guess_back = GroupProgress(guess_back.groups());
    }
    s.operands.resize(static_cast<std::size_t>(team * stencil.size()));
    s.partial.resize(static_cast<std::size_t>(reduction::chunks(points())));
  }
  auto borrow() const {
    return scratch.take([this](Scratch& spare) { fit(spare); });
  }
  std::int64_t points() const { return A.grid.points(); }
  PackedOperand<T>* space(Scratch& s, int thread) const { return s.operands.data() + thread * stencil.size(); }

  template <class S>
  void store(const StructMatrix<S>& matrix) {
    const S* from = matrix.values().data();
    const S* diagonal = from + stencil.center() * points();
    if (const std::int64_t bad = first_bad_diagonal<T>(diagonal, points()); bad >= 0) {
      const Grid& g = A.grid;
      throw Error(ErrorCode::structure, fmt::format("Gauss-Seidel: the diagonal is {}", static_cast<double>(diagonal[bad])),
                  fmt::format("grid point ({},{},{}), row {}", bad % g.nx, bad / g.nx % g.ny, bad / g.nx / g.ny, bad));
    }
    for_lines([&](std::int64_t line, int) {
      const PackSource<S> source{stencil.offsets(), stencil.center(), from};
      if constexpr (std::is_same_v<S, T>) {
        kernels.store(A, source, line, L, U);
      } else {
        kernels.store_rounded(A, source, line, L, U);
      }
    });
  }

  /// body(line, thread) for every line, in no order.
  template <class Body>
  void for_lines(const Body& body) const {
    const std::int64_t lines = A.grid.ny * A.grid.nz;
#pragma omp parallel num_threads(std::min(team, threads()))
    {
      const int thread = omp_get_thread_num();
      const auto [begin, end] = share(lines, thread, omp_get_num_threads());
      for (std::int64_t line = begin; line < end; ++line) body(line, thread);
    }
  }

  void sweep(typename GaussSeidelKernels<T>::Sweep kernel, const LineGroups& groups, GroupProgress& progress,
             const GaussSeidelVectors<T>& v, Scratch& s) const {
    run_groups(groups, progress, [&](const LineWork& work, int thread) { kernel(A, work, v, space(s, thread)); });
  }
};

template <class T>
template <class S>
GaussSeidel<T>::GaussSeidel(const StructMatrix<S>& A) {
  if (A.dof() != 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("Gauss-Seidel on a stencil: {} unknowns a point, expected 1", A.dof()));
  }
  impl_ = std::make_unique<Impl>(A);
  impl_->store(A);
}
template <class T>
GaussSeidel<T>::GaussSeidel(GaussSeidel&&) noexcept = default;
template <class T>
GaussSeidel<T>& GaussSeidel<T>::operator=(GaussSeidel&&) noexcept = default;
template <class T>
GaussSeidel<T>::~GaussSeidel() = default;

template <class T>
template <class S>
void GaussSeidel<T>::refresh(const StructMatrix<S>& A) {
  if (A.dof() != 1 || !(A.grid() == grid()) || !std::ranges::equal(A.stencil().offsets(), impl_->stencil.offsets())) {
    const Grid &got = A.grid(), &own = grid();
    throw Error(
        ErrorCode::structure,
        fmt::format("new values for Gauss-Seidel: got the grid {}x{}x{} with {} entries and {} unknowns a point, "
                    "expected {}x{}x{} with the same {} entries and 1",
                    got.nx, got.ny, got.nz, A.stencil().size(), A.dof(), own.nx, own.ny, own.nz, impl_->stencil.size()));
  }
  impl_->store(A);
}

template <class T>
std::int64_t GaussSeidel<T>::rows() const {
  return impl_->points();
}
template <class T>
const Grid& GaussSeidel<T>::grid() const {
  return impl_->A.grid;
}

template <class T>
void GaussSeidel<T>::from_zero(const Vector<T>& r, Vector<T>& half, Vector<T>& x) const {
  check_vectors<T>("Gauss-Seidel from zero", {{"r", &r, rows()}, {"half", &half, rows()}, {"x", &x, rows()}});
  const GaussSeidelVectors<T> v{r.data(), half.data(), x.data(), nullptr};
  auto s = impl_->borrow();
  impl_->sweep(impl_->kernels.forward_from_zero, impl_->forward, s->forward, v, *s);
  impl_->sweep(impl_->kernels.backward, impl_->backward, s->backward, v, *s);
}

template <class T>
void GaussSeidel<T>::from_guess(const Vector<T>& r, Vector<T>& half, Vector<T>& x) const {
  check_vectors<T>("Gauss-Seidel from a guess", {{"r", &r, rows()}, {"half", &half, rows()}, {"x", &x, rows()}});
  const GaussSeidelVectors<T> v{r.data(), half.data(), x.data(), nullptr};
  auto s = impl_->borrow();
  impl_->sweep(impl_->kernels.forward_from_guess, impl_->guess, s->guess, v, *s);
  impl_->sweep(impl_->kernels.backward, impl_->backward, s->backward, v, *s);
}

template <class T>
void GaussSeidel<T>::residual_after_zero(const Vector<T>& r, const Vector<T>& half, const Vector<T>& x,
                                         Vector<T>& out) const {
  check_vectors<T>("residual after Gauss-Seidel",
                   {{"r", &r, rows()}, {"half", &half, rows()}, {"x", &x, rows()}, {"the result", &out, rows()}});
  const GaussSeidelVectors<T> v{r.data(), const_cast<T*>(half.data()), const_cast<T*>(x.data()), out.data()};
  auto s = impl_->borrow();
  impl_->for_lines(
      [&](std::int64_t line, int thread) { impl_->kernels.residual(impl_->A, line, v, impl_->space(*s, thread)); });
}

template <class T>
void GaussSeidel<T>::coarse_residual_after_zero(const Vector<T>& r, const Vector<T>& half, const Vector<T>& x,
                                                Vector<T>& coarse) const {
  const Grid& g = grid();
  const std::int64_t points = ((g.nx + 1) / 2) * ((g.ny + 1) / 2) * ((g.nz + 1) / 2);
  check_vectors<T>("coarse residual after Gauss-Seidel",
                   {{"r", &r, rows()}, {"half", &half, rows()}, {"x", &x, rows()}, {"the result", &coarse, points}});
  const GaussSeidelVectors<T> v{r.data(), const_cast<T*>(half.data()), const_cast<T*>(x.data()), coarse.data()};
  auto s = impl_->borrow();
  impl_->for_lines([&](std::int64_t line, int thread) {
    if (line % g.ny % 2 || line / g.ny % 2) return;
    impl_->kernels.coarse_residual(impl_->A, line, v, impl_->space(*s, thread));
  });
}

template <class T>
void GaussSeidel<T>::forward(const Vector<T>& r, Vector<T>& x) const {
  check_vectors<T>("a sweep of Gauss-Seidel", {{"r", &r, rows()}, {"x", &x, rows()}});
  auto s = impl_->borrow();
  impl_->sweep(impl_->kernels.forward, impl_->forward, s->forward, {r.data(), nullptr, x.data(), nullptr}, *s);
}

template <class T>
void GaussSeidel<T>::residual_after_forward(const Vector<T>& x, Vector<T>& out) const {
  check_vectors<T>("residual after a sweep", {{"x", &x, rows()}, {"the result", &out, rows()}});
  const GaussSeidelVectors<T> v{nullptr, nullptr, const_cast<T*>(x.data()), out.data()};
  auto s = impl_->borrow();
  impl_->for_lines(
      [&](std::int64_t line, int thread) { impl_->kernels.upper_residual(impl_->A, line, v, impl_->space(*s, thread)); });
}

template <class T>
void GaussSeidel<T>::backward(const Vector<T>& r, Vector<T>& x) const {
  check_vectors<T>("a sweep of Gauss-Seidel back", {{"r", &r, rows()}, {"x", &x, rows()}});
  auto s = impl_->borrow();
  impl_->sweep(impl_->kernels.backward_from_guess, impl_->guess_back, s->guess_back, {r.data(), nullptr, x.data(), nullptr},
               *s);
}

template <class T>
void GaussSeidel<T>::multiply(const Vector<T>& x, Vector<T>& y) const {
  check_vectors<T>("Gauss-Seidel's product", {{"x", &x, rows()}, {"the result", &y, rows()}});
  const GaussSeidelVectors<T> v{nullptr, nullptr, const_cast<T*>(x.data()), y.data()};
  auto s = impl_->borrow();
  impl_->for_lines(
      [&](std::int64_t line, int thread) { impl_->kernels.multiply(impl_->A, line, v, impl_->space(*s, thread)); });
}

/// A chunk is added up by the thread that has made all of it, as soon as it is there; those that two threads made follow.
template <class T>
double GaussSeidel<T>::multiply_dotted(const Vector<T>& x, Vector<T>& y) const {
  check_vectors<T>("Gauss-Seidel's product", {{"x", &x, rows()}, {"the result", &y, rows()}});
  const GaussSeidelVectors<T> v{nullptr, nullptr, const_cast<T*>(x.data()), y.data()};
  const std::int64_t n = rows(), nx = grid().nx, lines = grid().ny * grid().nz, chunks = reduction::chunks(n);
  auto s = impl_->borrow();
  const auto add_up = [&](std::int64_t c) {
    const std::int64_t begin = c * reduction::chunk;
    s->partial[static_cast<std::size_t>(c)] =
        impl_->kernels.dot(x.data() + begin, y.data() + begin, std::min(reduction::chunk, n - begin));
  };
#pragma omp parallel num_threads(std::min(impl_->team, threads()))
  {
    const int thread = omp_get_thread_num(), team = omp_get_num_threads();
    const auto [begin, end] = share(lines, thread, team);
    std::int64_t next = (begin * nx + reduction::chunk - 1) / reduction::chunk;
    for (std::int64_t line = begin; line < end; ++line) {
      impl_->kernels.multiply(impl_->A, line, v, impl_->space(*s, thread));
      for (; next < chunks && std::min((next + 1) * reduction::chunk, n) <= (line + 1) * nx; ++next) add_up(next);
    }
#pragma omp barrier
#pragma omp single
    for (int other = 1; other < team; ++other) {
      const std::int64_t cut = share(lines, other, team).first * nx;
      if (cut % reduction::chunk && cut < n) add_up(cut / reduction::chunk);
    }
  }
  return reduction::tree_sum(s->partial.data(), chunks);
}

template <class T>
std::int64_t GaussSeidel<T>::bytes() const {
  return impl_->values.bytes() + impl_->forward.bytes() + impl_->guess.bytes() + impl_->backward.bytes();
}

template <class T>
typename GaussSeidel<T>::Bytes GaussSeidel<T>::traffic() const {
  const Grid& g = grid();
  const auto scalar = static_cast<double>(sizeof(T)), n = static_cast<double>(g.points());
  const auto lower = static_cast<double>(neighbours_inside(g, impl_->lower));
  const auto upper = static_cast<double>(neighbours_inside(g, impl_->upper));
  const double lines = static_cast<double>(g.ny * g.nz);
  const auto even_lines = static_cast<double>(((g.ny + 1) / 2) * ((g.nz + 1) / 2));
  const double coarse = even_lines * static_cast<double>((g.nx + 1) / 2);
  Bytes b{};
  b.zero = scalar * (lower + upper + 2 * n + 4 * n);
  b.guess = scalar * (lower + upper + n + upper + n + 6 * n);  // both, D⁻¹; U, D; r, x twice, half twice, x
  b.residual = scalar * (lower + 4 * n);
  b.coarse_residual = scalar * (even_lines / lines * (lower + 2 * n) + n + coarse);
  b.multiply = scalar * (lower + upper + n + 2 * n);
  return b;
}

template class GaussSeidel<double>;
template class GaussSeidel<float>;
template GaussSeidel<double>::GaussSeidel(const StructMatrix<double>&);
template GaussSeidel<float>::GaussSeidel(const StructMatrix<float>&);
template GaussSeidel<float>::GaussSeidel(const StructMatrix<double>&);
template void GaussSeidel<double>::refresh(const StructMatrix<double>&);
template void GaussSeidel<float>::refresh(const StructMatrix<float>&);
template void GaussSeidel<float>::refresh(const StructMatrix<double>&);

}  // namespace echelon
