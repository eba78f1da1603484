// SPDX-License-Identifier: BSD-3-Clause
// The same system on the host and on a GPU: the matrix goes there once, is factored and solved there, and x comes back. A
// machine without a GPU says so in one line and has nothing to show.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "echelon/echelon.hpp"

namespace ec = echelon;

int main() {
  if (ec::Device::cuda_count() == 0) {
    std::printf("no GPU here: everything else of the library runs on the host\n");
    return 0;
  }
  const ec::Device gpu = ec::Device::cuda();
  const auto A = ec::problems::poisson({96, 96, 96}, ec::stencils::star7());
  const ec::Vector<double> b(A.rows(), 1.0);

  const auto M = ec::ic(A);
  ec::Vector<double> x(A.rows(), 0.0);
  const ec::Report host = ec::cg(A, b, x, M, {.rtol = 1e-8});

  const ec::TileMatrix A_there(A, /*fill=*/0, gpu);
  const ec::DeviceIlu M_there(A_there, {}, /*positive=*/true);
  const ec::Vector<double> b_there = b.to(gpu);
  ec::Vector<double> x_there(A.rows(), 0.0, gpu);
  const ec::Report there = ec::cg(A_there, b_there, x_there, M_there, {.rtol = 1e-8});

  const ec::Vector<double> back = x_there.to(ec::Device::host());
  double apart = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) apart = std::max(apart, std::abs(back[i] - x[i]));
  std::printf("%s: %lld iterations; host: %lld; largest difference of x %.1e\n", gpu.name().c_str(),
              static_cast<long long>(there.iterations), static_cast<long long>(host.iterations), apart);
  return there.converged && host.converged ? 0 : 1;
}
