// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/krylov/vectors/cg_vectors.hpp"

#include "echelon/base/error.hpp"
#include "echelon/krylov/vectors/vector_ops.hpp"

namespace echelon {

struct CgVectors::Impl {
  VectorOps ops;
  std::int64_t n;
  Device device;

  void check(const V& v) const {
    if (v.device() != device) {
      throw Error(ErrorCode::device, "vector work on " + device.name() + ": a vector is on " + v.device().name());
    }
    if (v.size() != n) throw_size_mismatch("vector work", v.size(), n);
  }
};

CgVectors::CgVectors(std::int64_t n, Device device)
    : impl_(new Impl{VectorOps(n, 1, serial(), device), n, device}) {}
CgVectors::CgVectors(CgVectors&&) noexcept = default;
CgVectors& CgVectors::operator=(CgVectors&&) noexcept = default;
CgVectors::~CgVectors() = default;

double CgVectors::dot(const V& x, const V& y) {
  impl_->check(x);
  impl_->check(y);
  return impl_->ops.dot(x, y);
}

void CgVectors::turn(const V& z, double beta, V& p) {
  impl_->check(z);
  impl_->check(p);
  impl_->ops.xpay(z, beta, p);
}

double CgVectors::step(double alpha, const V& p, const V& q, V& x, V& r) {
  for (const V* v : {&p, &q, static_cast<const V*>(&x), static_cast<const V*>(&r)}) impl_->check(*v);
  return impl_->ops.cg_update(alpha, p, q, x, r);
}

void CgVectors::clear(V& x) const {
  impl_->check(x);
  if (const DeviceVectorWork* gpu = impl_->ops.on_gpu()) return gpu->clear(x.data());
  x.fill(0.0);
}

}  // namespace echelon
