// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/mg/smoothers.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/dbsr/dbsr.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/mg/level_matrix.hpp"
#include "echelon/precond/mg/line_kernels.hpp"
#include "echelon/precond/mg/zebra_lines.hpp"
#include "echelon/sweep/grid/gauss_seidel.hpp"

namespace echelon {
namespace {

/// kernel(x, d) in parts.
template <class T>
void in_parts(void (*kernel)(T*, const T*, std::int64_t), const Vector<T>& d, Vector<T>& x) {
#pragma omp parallel num_threads(threads_for(x.size()))
  {
    const auto [begin, end] = share(x.size(), omp_get_thread_num(), omp_get_num_threads(), 64);
    if (begin < end) kernel(x.data() + begin, d.data() + begin, end - begin);
  }
}

template <class T>
void add(const Vector<T>& d, Vector<T>& x) {
  in_parts(mg_transfer_kernels<T>().add, d, x);
}

template <class T>
class GaussSeidelSmoother final : public GridSmoother<T> {
 public:
  using V = Vector<T>;
  GaussSeidelSmoother(const StructMatrix<double>& A, int sweeps) : sweep_(A), sweeps_(sweeps) {}
  void refresh(const StructMatrix<double>& A) override { sweep_.refresh(A); }
  void before(const V& r, V& x, V& rest, V& spare) const override {
    sweep_.forward(r, x);
    if (sweeps_ == 1) return sweep_.residual_after_forward(x, rest);
    more(sweeps_ - 1, r, x, rest, spare);
  }
  void before_again(const V& r, V& x, V& rest, V& spare) const override { more(sweeps_, r, x, rest, spare); }
  void after(const V& r, V& x, V&, V&) const override {
    for (int s = 0; s < sweeps_; ++s) sweep_.backward(r, x);
  }
  std::int64_t bytes() const override { return sweep_.bytes(); }
  std::string name() const override { return word(MgSmoother::gs); }

 private:
  void more(int sweeps, const V& r, V& x, V& rest, V& spare) const {
    for (int s = 0; s < sweeps; ++s) {
      residual(r, x, rest);
      sweep_.forward(rest, spare);
      add(spare, x);
    }
    residual(r, x, rest);
  }
  void residual(const V& r, const V& x, V& rest) const {
    sweep_.multiply(x, rest);
    in_parts(mg_transfer_kernels<T>().subtract_from, r, rest);
  }
  GaussSeidel<T> sweep_;
  int sweeps_;
};

template <class T>
class SymmetricStepSmoother final : public GridSmoother<T> {
 public:
  using V = Vector<T>;
  SymmetricStepSmoother(const StructMatrix<double>& A, int sweeps) : step_(A), sweeps_(sweeps) {}
  void refresh(const StructMatrix<double>& A) override { step_.refresh(A); }
  void before(const V& r, V& x, V& rest, V& spare) const override {
    step_.from_zero(r, spare, x);
    for (int s = 1; s < sweeps_; ++s) step_.from_guess(r, spare, x);
    step_.residual_after_zero(r, spare, x, rest);
  }
  void before_again(const V& r, V& x, V& rest, V& spare) const override {
    after(r, x, rest, spare);
    step_.residual_after_zero(r, spare, x, rest);
  }
  void after(const V& r, V& x, V&, V& spare) const override {
    for (int s = 0; s < sweeps_; ++s) step_.from_guess(r, spare, x);
  }
  std::int64_t bytes() const override { return step_.bytes(); }
  std::string name() const override { return word(MgSmoother::symgs); }

 private:
  GaussSeidel<T> step_;
  int sweeps_;
};

/// x ← x + M⁻¹(r − A x) for a preconditioner M of the level.
template <class T, class M>
class InverseSmoother final : public GridSmoother<T> {
 public:
  using V = Vector<T>;
  /// make(matrix) is M.
  template <class Make>
  InverseSmoother(const StructMatrix<double>& A, int sweeps, const Make& make)
      : A_(A), inverse_(make(*A_)), sweeps_(sweeps) {
    check(inverse_.report());
  }
  void refresh(const StructMatrix<double>& A) override {
    A_.set(A);
    check(inverse_.refactor(*A_));
  }
  void before(const V& r, V& x, V& rest, V& spare) const override {
    inverse_.apply(r, x);
    A_->residual(r, x, rest);
    more(sweeps_ - 1, r, x, rest, spare);
  }
  void before_again(const V& r, V& x, V& rest, V& spare) const override {
    A_->residual(r, x, rest);
    more(sweeps_, r, x, rest, spare);
  }
  void after(const V& r, V& x, V& rest, V& spare) const override {
    for (int s = 0; s < sweeps_; ++s) {
      A_->residual(r, x, rest);
      inverse_.apply(rest, spare);
      add(spare, x);
    }
  }
  std::int64_t bytes() const override { return inverse_.report().bytes + A_.bytes(); }
  std::string name() const override { return title(inverse_.report()); }
  const FactorReport* factors() const override { return &inverse_.report(); }

 private:
  void check(const FactorReport& report) const {
    if (!report.ok) throw Error(ErrorCode::structure, report.message);
  }
  void more(int sweeps, const V& r, V& x, V& rest, V& spare) const {
    for (int s = 0; s < sweeps; ++s) {
      inverse_.apply(rest, spare);
      add(spare, x);
      A_->residual(r, x, rest);
    }
  }
  LevelMatrix<T> A_;
  M inverse_;
  int sweeps_;
};

/// Degree 1 is damped Jacobi.
template <class T>
class PolynomialSmoother final : public GridSmoother<T> {
 public:
  using V = Vector<T>;
  PolynomialSmoother(const StructMatrix<double>& A, int degree, int sweeps)
      : A_(A), degree_(degree), sweeps_(sweeps), inverse_(A.rows()) {
    invert_diagonal();
  }
  void refresh(const StructMatrix<double>& A) override {
    A_.set(A);
    invert_diagonal();
  }
  void before(const V& r, V& x, V& rest, V& spare) const override {
    x.fill(0);
    rest.copy_from(r);
    run(r, x, rest, spare);
  }
  void before_again(const V& r, V& x, V& rest, V& spare) const override {
    A_->residual(r, x, rest);
    run(r, x, rest, spare);
  }
  void after(const V& r, V& x, V& rest, V& spare) const override { before_again(r, x, rest, spare); }
  std::int64_t bytes() const override { return inverse_.bytes() + A_.bytes(); }
  std::string name() const override { return word(degree_ == 1 ? MgSmoother::jacobi : MgSmoother::chebyshev); }

 private:
  void invert_diagonal();
  /// rest = r − A x on the way in and out; d ← step of the recurrence.
  void run(const V& r, V& x, V& rest, V& d) const;

  LevelMatrix<T> A_;
  int degree_, sweeps_;
  double bound_ = 2;
  Array<T> inverse_;
};

template <class T>
void PolynomialSmoother<T>::invert_diagonal() {
  const StructMatrix<T>& A = *A_;
  const std::int64_t n = A.rows();
  const int entries = A.stencil().size(), center = A.stencil().center();
  const T* values = A.values().data();
  double bound = 0;
  std::int64_t bad = n;
#pragma omp parallel for num_threads(threads_for(n* entries)) schedule(static) reduction(max : bound) reduction(min : bad)
  for (std::int64_t p = 0; p < n; ++p) {
    double sum = 0;
    for (int e = 0; e < entries; ++e) sum += std::abs(static_cast<double>(values[e * n + p]));
    const T diagonal = values[center * n + p];
    if (diagonal == 0 || !std::isfinite(sum)) {
      bad = std::min(bad, p);
    } else {
      inverse_[p] = T(1) / diagonal;
      bound = std::max(bound, sum / std::abs(static_cast<double>(diagonal)));
    }
  }
  if (bad < n) {
    const Grid& g = A.grid();
    throw Error(ErrorCode::structure,
                fmt::format("{}: the diagonal is {}", name(), static_cast<double>(values[center * n + bad])),
                fmt::format("grid point ({},{},{}), row {}", bad % g.nx, bad / g.nx % g.ny, bad / g.nx / g.ny, bad));
  }
  bound_ = bound;
}

template <class T>
void PolynomialSmoother<T>::run(const V& r, V& x, V& rest, V& d) const {
  const double low = degree_ == 1 ? bound_ / 2 : bound_ / 4;
  const double middle = (bound_ + low) / 2, radius = (bound_ - low) / 2, sigma = middle / radius;
  const std::int64_t n = x.size();
  for (int s = 0; s < sweeps_; ++s) {
    double rho = 1 / sigma;
    for (int k = 0; k < degree_; ++k) {
      const double next = 1 / (2 * sigma - rho);
      const T keep = static_cast<T>(k == 0 ? 0 : next * rho), take = static_cast<T>(k == 0 ? 1 / middle : 2 * next / radius);
      if (k > 0) rho = next;
#pragma omp parallel for num_threads(threads_for(n)) schedule(static)
      for (std::int64_t i = 0; i < n; ++i) {
        d[i] = (k == 0 ? T(0) : keep * d[i]) + take * (inverse_[i] * rest[i]);
        x[i] += d[i];
      }
      A_->residual(r, x, rest);
    }
  }
}

}  // namespace

const char* word(MgSmoother smoother) {
  switch (smoother) {
    case MgSmoother::automatic: return "auto";
    case MgSmoother::gs: return "gs";
    case MgSmoother::symgs: return "symgs";
    case MgSmoother::ilu: return "ilu";
    case MgSmoother::dbsr: return "dbsr";
    case MgSmoother::jacobi: return "jacobi";
    case MgSmoother::chebyshev: return "chebyshev";
    case MgSmoother::lines: return "lines";
  }
  return "auto";
}

template <class T>
std::unique_ptr<GridSmoother<T>> make_smoother(MgSmoother kind, const StructMatrix<double>& A, const std::vector<Axis>& axes,
                                               const MgOptions& options) {
  const int sweeps = options.sweeps;
  const auto inverse = [&]<class M>(const auto& make, std::type_identity<M>) {
    return std::make_unique<InverseSmoother<T, M>>(A, sweeps, make);
  };
  const auto with_ilu = [&](const StructMatrix<T>& matrix) { return ilu(matrix, options.ilu); };
  const auto with_dbsr = [&](const StructMatrix<T>& matrix) { return dbsr(matrix, {{}, options.ilu}); };
  switch (kind) {
    case MgSmoother::symgs: return std::make_unique<SymmetricStepSmoother<T>>(A, sweeps);
    case MgSmoother::ilu: return inverse(with_ilu, std::type_identity<Ilu<T>>());
    case MgSmoother::dbsr: return inverse(with_dbsr, std::type_identity<Dbsr<T>>());
    case MgSmoother::jacobi: return std::make_unique<PolynomialSmoother<T>>(A, 1, sweeps);
    case MgSmoother::chebyshev: return std::make_unique<PolynomialSmoother<T>>(A, 2, sweeps);
    case MgSmoother::lines: return make_zebra_lines<T>(A, axes, sweeps);
    default: return std::make_unique<GaussSeidelSmoother<T>>(A, sweeps);
  }
}

template std::unique_ptr<GridSmoother<double>> make_smoother(MgSmoother, const StructMatrix<double>&,
                                                             const std::vector<Axis>&, const MgOptions&);
template std::unique_ptr<GridSmoother<float>> make_smoother(MgSmoother, const StructMatrix<double>&,
                                                            const std::vector<Axis>&, const MgOptions&);

}  // namespace echelon
