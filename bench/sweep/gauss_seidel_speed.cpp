// SPDX-License-Identifier: BSD-3-Clause
// Speed of exact Gauss-Seidel on a stencil (echelon/sweep/grid/gauss_seidel.hpp) and of ILU(0)'s two sweeps there: seconds,
// bytes that must move, and the percent of the triad bandwidth measured in the same run. Arguments: stencil (default box27),
// points a side (default 104), threads (default all). The residual is checked first. One JSON line; status 1 when it is
// wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/measure/bandwidth.hpp"
#include "bench/measure/sampling.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/sweep/grid/gauss_seidel.hpp"

namespace {

using namespace echelon;

constexpr int repeats = 9;

struct Measured {
  nlohmann::json cases = nlohmann::json::array();
  double triad;

  template <class Work>
  void add(const char* operation, const char* precision, double bytes, const Work& work) {
    const double seconds = bench::median_seconds(repeats, work);
    cases.push_back({{"operation", operation},
                     {"precision", precision},
                     {"seconds", seconds},
                     {"bytes", bytes},
                     {"percent_of_triad", 100 * bytes / seconds / triad}});
  }
};

/// The largest |r − A x| from the identity and from A, apart.
template <class T>
double departure(const StructMatrix<T>& A, const Vector<T>& r, const Vector<T>& x, const Vector<T>& out) {
  Vector<T> exact(A.rows());
  A.residual(r, x, exact);
  double largest = 0;
  for (std::int64_t p = 0; p < A.rows(); ++p) largest = std::max<double>(largest, std::abs(exact[p] - out[p]));
  return largest;
}

template <class T>
bool measure(const StructMatrix<double>& given, Measured& to) {
  StructMatrix<T> A(given.grid(), given.stencil());
  std::ranges::transform(given.values(), A.values().begin(), [](double a) { return static_cast<T>(a); });
  const char* precision = sizeof(T) == 8 ? "fp64" : "fp32";
  GaussSeidel<T> S(A);
  const std::int64_t n = A.rows();
  const auto half_of = [](std::int64_t side) { return (side + 1) / 2; };
  const Grid g = A.grid();
  Vector<T> r(n, T(1)), half(n), x(n), out(n), coarse(half_of(g.nx) * half_of(g.ny) * half_of(g.nz));
  S.from_zero(r, half, x);
  S.residual_after_zero(r, half, x, out);
  if (!(departure(A, r, x, out) <= (sizeof(T) == 8 ? 1e-11 : 1e-3))) return false;
  const auto bytes = S.traffic();
  to.add("sgs from zero", precision, bytes.zero, [&] { S.from_zero(r, half, x); });
  to.add("sgs from a guess", precision, bytes.guess, [&] { S.from_guess(r, half, x); });
  S.from_zero(r, half, x);
  to.add("residual", precision, bytes.residual, [&] { S.residual_after_zero(r, half, x, out); });
  to.add("residual at coarse points", precision, bytes.coarse_residual,
         [&] { S.coarse_residual_after_zero(r, half, x, coarse); });
  to.add("product", precision, bytes.multiply, [&] { S.multiply(x, out); });
  to.add("new values", precision, static_cast<double>(A.values().size_bytes() + static_cast<std::size_t>(S.bytes())),
         [&] { S.refresh(A); });
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string stencil = argc > 1 ? argv[1] : "box27";
  const std::int64_t side = argc > 2 ? std::atoll(argv[2]) : 104;
  set_threads(argc > 3 ? std::atoi(argv[3]) : 0);
  const auto A = problems::poisson({side, side, side}, stencils::named(stencil));
  const auto scalars = static_cast<double>(A.nonzeros()), n = static_cast<double>(A.rows());
  Measured measured;
  measured.triad = bench::BandwidthProbe(static_cast<std::int64_t>(8 * scalars)).measure().triad;
  if (!measure<double>(A, measured) || !measure<float>(A, measured)) {
    std::fprintf(stderr, "the residual is wrong\n");
    return 1;
  }
  const auto M = ilu(A);
  Vector<double> r(A.rows(), 1.0), z(A.rows());
  measured.add("ilu(0) sweeps", "fp64", 8 * scalars + 32 * n, [&] { M.apply(r, z); });
  const nlohmann::json report{{"benchmark", "gauss_seidel_speed"},
                              {"stencil", stencil},
                              {"points_a_side", side},
                              {"threads", threads()},
                              {"triad_bandwidth_gbs", measured.triad * 1e-9},
                              {"ilu_kernel", M.report().kernel},
                              {"cases", measured.cases}};
  std::printf("%s\n", report.dump().c_str());
  return 0;
}
