// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/vectors/device_vector_work.hpp"

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/transfers.hpp"

namespace echelon {
namespace {

const DeviceVectorKernels& kernels() {
  const DeviceVectorKernels* found = device_vector_kernels();
  if (!found) throw Error(ErrorCode::device, "vectors on a GPU: this build of echelon has no CUDA");
  return *found;
}

}  // namespace

DeviceVectorWork::DeviceVectorWork(std::int64_t n, int sums, Device device)
    : kernels_(kernels()),
      partial_(kernels_.parts(n) * sums, device),
      totals_(kernels_.allocate_totals(device.index, sums + 1), kernels_.release_totals),
      at_{device.index, n, partial_.data(), totals_.get(), nullptr},
      unread_{device.index, n, partial_.data(), totals_.get() + sums, nullptr} {}

void DeviceVectorWork::take_totals(std::span<double> to) const {
  kernels_.await_totals(at_.device, totals_.get(), to);
  count_wait(static_cast<int>(to.size()));
}

double DeviceVectorWork::largest(const double* x) const {
  count_wait(1);
  return cuda_backend()->largest(at_.device, x, at_.n);
}

QueuedSums::QueuedSums(const DeviceVectorWork& work, int slots)
    : work_(work),
      totals_(work.run().allocate_totals(work.at().device, slots), work.run().release_totals),
      kept_(slots, Device{Device::Kind::cuda, work.at().device}),
      mark_(work.run().make_mark(work.at().device), work.run().release_mark) {}

DeviceSums QueuedSums::into(int slot) const {
  DeviceSums at = work_.at();
  at.totals = totals_.get() + slot;
  at.kept = const_cast<double*>(kept_.data()) + slot;
  return at;
}

void QueuedSums::dot(const Vector<double>& x, const Vector<double>& y, int slot) const {
  work_.run().dot(into(slot), x.data(), y.data());
}

void QueuedSums::add_parts(const Array<double>& parts, int slot) const {
  work_.run().add_parts(into(slot), parts.data(), parts.size());
}

void QueuedSums::xpay(const Vector<double>& x, Quotient a, Vector<double>& y) const {
  work_.run().xpay(work_.at(), x.data(), scalar(a), y.data());
}

void QueuedSums::cg_residual(Quotient a, const Vector<double>& q, Vector<double>& r, int slot) const {
  work_.run().cg_residual(into(slot), scalar(a), q.data(), r.data());
}

void QueuedSums::cg_solution(Lagging steps, Vector<double>& x) const {
  work_.run().cg_solution(work_.at(), on_device(steps), x.data());
}

void QueuedSums::cg_direction(Quotient beta, const Vector<double>& z, const Vector<double>& p,
                              Vector<double>& p_next) const {
  work_.run().cg_direction(work_.at(), {scalar(beta), z.data(), p.data(), p_next.data()});
}

void QueuedSums::cg_direction(Quotient beta, const Vector<double>& z, Vector<double>& p_next, Lagging steps,
                              Vector<double>& x) const {
  work_.run().cg_direction_all(work_.at(), {scalar(beta), z.data(), steps.back().direction, p_next.data()}, on_device(steps),
                               x.data());
}

void QueuedSums::weighted_square(const Vector<double>& inverse, const Vector<double>& g, int slot) const {
  work_.run().eisenstat.weighted_square(into(slot), inverse.data(), g.data());
}

void QueuedSums::excess(const Vector<double>& inverse, Vector<double>& diagonal) const {
  work_.run().eisenstat.excess(work_.at(), inverse.data(), diagonal.data());
}

void QueuedSums::eisenstat_right_side(const EisenstatImage& image, int slot) const {
  work_.run().eisenstat.right_side(into(slot), image);
}

void QueuedSums::eisenstat_update(Quotient alpha, const EisenstatUpdate& to, int slot) const {
  work_.run().eisenstat.update(into(slot), scalar(alpha), to);
}

void QueuedSums::eisenstat_update(Quotient alpha, const EisenstatUpdate& to, Lagging steps, Vector<double>& x,
                                  int slot) const {
  work_.run().eisenstat.update_all(into(slot), scalar(alpha), to, on_device(steps), x.data());
}

LaggingSteps QueuedSums::on_device(Lagging steps) const {
  LaggingSteps list;
  for (const LaggingStep& step : steps) {
    list.alpha[list.count] = scalar(step.alpha);
    list.d[list.count++] = step.direction;
  }
  return list;
}

DeviceScalar QueuedSums::scalar(Quotient a) const { return {0, kept_.data() + a.over, kept_.data() + a.under}; }

void QueuedSums::set_mark() const { work_.run().set_mark(work_.at().device, mark_.get()); }

void QueuedSums::await_mark(int scalars) const {
  work_.run().await_mark(mark_.get());
  count_wait(scalars);
}

void DeviceVectorWork::clear(double* x) const { cuda_backend()->fill(at_.device, x, at_.n, 0); }

}  // namespace echelon
