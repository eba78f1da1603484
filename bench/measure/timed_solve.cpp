// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/timed_solve.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/measure/device_measure.hpp"
#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/matrix/dotted_product.hpp"
#include "echelon/sweep/queued_triangles.hpp"

namespace echelon::bench {
namespace {

/// Seconds of all calls on the device's clock; nothing is waited for until they are asked for.
class Stopwatch {
 public:
  template <class Work>
  void time(const Work& work) {
    set_next();
    work();
    set_next();
  }
  double seconds() const {
    double sum = 0;
    for (std::size_t m = 0; m + 1 < used_; m += 2) sum += device_measure()->between(marks_[m].get(), marks_[m + 1].get());
    return sum;
  }

 private:
  struct Release {
    void operator()(void* mark) const { device_measure()->release_mark(mark); }
  };
  void set_next() {
    if (used_ == marks_.size()) marks_.emplace_back(device_measure()->make_mark());
    device_measure()->set_mark(marks_[used_++].get());
  }

  std::vector<std::unique_ptr<void, Release>> marks_;
  std::size_t used_ = 0;
};

class TimedOperator final : public Operator<double>, public DottedProduct {
 public:
  using V = Vector<double>;
  TimedOperator(const Operator<double>& of, Stopwatch& watch)
      : of_(of), dotted_(dynamic_cast<const DottedProduct*>(&of)), watch_(watch) {}
  std::int64_t rows() const override { return of_.rows(); }
  void apply(const V& x, V& y) const override {
    watch_.time([&] { of_.apply(x, y); });
  }
  std::int64_t dot_parts() const override { return dotted_ ? dotted_->dot_parts() : 0; }
  void apply_and_dot(const V& x, V& y, double* parts) const override {
    watch_.time([&] { dotted_->apply_and_dot(x, y, parts); });
  }
  void residual(const V& b, const V& x, V& r) const override {
    watch_.time([&] { of_.residual(b, x, r); });
  }
  void careful_residual(const V& b, const V& x, V& r) const override {
    watch_.time([&] { of_.careful_residual(b, x, r); });
  }
  double norm_inf() const override { return of_.norm_inf(); }
  Device device() const override { return of_.device(); }
  bool has_own_order() const override { return of_.has_own_order(); }
  std::int64_t kept_size() const override { return of_.kept_size(); }
  void keep(const V& natural, V& kept) const override { of_.keep(natural, kept); }
  void give_back(const V& kept, V& natural) const override { of_.give_back(kept, natural); }

 private:
  const Operator<double>& of_;
  const DottedProduct* dotted_;
  Stopwatch& watch_;
};

class TimedTriangles final : public QueuedTriangles<double> {
 public:
  TimedTriangles(std::unique_ptr<QueuedTriangles<double>> of, Stopwatch& sweeps, Stopwatch& products)
      : of_(std::move(of)), sweeps_(sweeps), products_(products) {}
  void lower(const V& r, V& x) override {
    sweeps_.time([&] { of_->lower(r, x); });
  }
  void upper(const V& r, V& x) override {
    sweeps_.time([&] { of_->upper(r, x); });
  }
  void lower_product(const V& g, V& r) override {
    products_.time([&] { of_->lower_product(g, r); });
  }
  void diagonals(V& inverse, V& of_matrix) override { of_->diagonals(inverse, of_matrix); }

 private:
  std::unique_ptr<QueuedTriangles<double>> of_;
  Stopwatch &sweeps_, &products_;
};

/// What M can do together with A it is asked with the A that it knows.
class TimedPreconditioner final : public Preconditioner<double> {
 public:
  TimedPreconditioner(const Preconditioner<double>& of, const Operator<double>& A, Stopwatch& sweeps, Stopwatch& products)
      : of_(of), A_(A), sweeps_(sweeps), products_(products) {}
  void apply(const Vector<double>& r, Vector<double>& z) const override {
    sweeps_.time([&] { of_.apply(r, z); });
  }
  void settle() const override { of_.settle(); }
  const FactorReport& report() const override { return of_.report(); }
  std::unique_ptr<QueuedTriangles<double>> queued_triangles(const Operator<double>&) const override {
    auto found = of_.queued_triangles(A_);
    return found ? std::make_unique<TimedTriangles>(std::move(found), sweeps_, products_) : nullptr;
  }

 private:
  const Preconditioner<double>& of_;
  const Operator<double>& A_;
  Stopwatch &sweeps_, &products_;
};

}  // namespace

TimedSolve timed_solve(const BenchCase& one, const Operator<double>& A, const Vector<double>& b, Vector<double>& x,
                       const Preconditioner<double>& M) {
  KrylovOptions options;
  options.rtol = one.rtol;
  options.restart = one.restart;
  options.max_it = 10000;
  cuda_backend()->fill(x.device().index, x.data(), x.size(), 0);
  Stopwatch products, sweeps;
  const TimedOperator timed_A(A, products);
  const TimedPreconditioner timed_M(M, A, sweeps, products);
  TimedSolve result;
  result.seconds = device_measure()->seconds([&] { result.report = solve(one.solver, timed_A, b, x, timed_M, options); });
  if (!result.report.converged) {
    throw Error(ErrorCode::structure, fmt::format("{}: {}", one.solver, result.report.message));
  }
  const double in_sweeps = sweeps.seconds(), in_products = products.seconds();
  result.parts = {{"sweeps", in_sweeps},
                  {"products", in_products},
                  {"vector work", std::max(0.0, result.seconds - in_sweeps - in_products)}};
  return result;
}

}  // namespace echelon::bench
