// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/plain_krylov.hpp"

#include <cmath>

namespace reference {
namespace {

long double dot(const LongVector& x, const LongVector& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

long double norm(const LongVector& x) { return std::sqrt(dot(x, x)); }

LongVector combined(const LongVector& x, long double a, const LongVector& y) {
  LongVector z = x;
  for (std::size_t i = 0; i < x.size(); ++i) z[i] += a * y[i];
  return z;
}

}  // namespace

PlainResult plain_cg(const Apply& A, const Apply& M, const LongVector& b, long double rtol, int max_it) {
  PlainResult out{LongVector(b.size()), {norm(b)}};
  LongVector r = b, z = M(r), p = z;
  long double rho = dot(r, z);
  while (out.residual_norms.back() > rtol * norm(b) && static_cast<int>(out.residual_norms.size()) <= max_it) {
    const LongVector q = A(p);
    const long double alpha = rho / dot(p, q);
    out.x = combined(out.x, alpha, p);
    r = combined(r, -alpha, q);
    out.residual_norms.push_back(norm(r));
    z = M(r);
    const long double next = dot(r, z);
    p = combined(z, next / rho, p);
    rho = next;
  }
  return out;
}

PlainResult plain_gmres(const Apply& A, const Apply& M, const LongVector& b, long double rtol, int max_it, int restart) {
  PlainResult out{LongVector(b.size()), {norm(b)}};
  const auto done = [&] {
    return out.residual_norms.back() <= rtol * norm(b) || static_cast<int>(out.residual_norms.size()) > max_it;
  };
  while (!done()) {
    LongVector r = combined(b, -1, A(out.x));
    std::vector<LongVector> V{combined(LongVector(b.size()), 1 / norm(r), r)}, H;
    std::vector<long double> c, s, g{norm(r)};
    while (static_cast<int>(H.size()) < restart && !done()) {
      LongVector w = A(M(V.back())), h;
      for (const LongVector& v : V) {
        h.push_back(dot(v, w));
        w = combined(w, -h.back(), v);
      }
      const long double below = norm(w);
      V.push_back(combined(LongVector(b.size()), 1 / below, w));
      for (std::size_t i = 0; i < c.size(); ++i) {
        const long double upper = h[i];
        h[i] = c[i] * upper + s[i] * h[i + 1];
        h[i + 1] = c[i] * h[i + 1] - s[i] * upper;
      }
      const long double length = std::hypot(h.back(), below);
      c.push_back(h.back() / length);
      s.push_back(below / length);
      h.back() = length;
      H.push_back(h);
      g.push_back(-s.back() * g.back());
      g[g.size() - 2] *= c.back();
      out.residual_norms.push_back(std::fabs(g.back()));
    }
    LongVector y(H.size()), u(b.size());
    for (std::size_t j = H.size(); j-- > 0;) {
      y[j] = g[j];
      for (std::size_t i = j + 1; i < H.size(); ++i) y[j] -= H[i][j] * y[i];
      y[j] /= H[j][j];
      u = combined(u, y[j], V[j]);
    }
    out.x = combined(out.x, 1, M(u));
  }
  return out;
}

}  // namespace reference
