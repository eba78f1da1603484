// SPDX-License-Identifier: BSD-3-Clause
#include "cli/machine_info.hpp"

#include <fmt/format.h>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/machine.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::cli {

BackendInfo host_backend(bool with_bandwidth) {
  BackendInfo backend;
  backend.name = cpu_name();
  backend.threads = threads();
  backend.simd = simd_target();
  if (with_bandwidth) backend.copy_bandwidth = measure_copy_bandwidth();
  return backend;
}

std::string fewer_threads_remark() {
  if (threads() >= threads_asked_for()) return {};
  return fmt::format(
      "{} of the {} threads asked for could be created: processes or memory are limited (ulimit -u, ulimit -v)", threads(),
      threads_asked_for());
}

BackendInfo cuda_backend_info(bool with_bandwidth) {
  BackendInfo backend = host_backend(false);
  backend.kind = "cuda";
  backend.name = cuda_backend()->device_name(0);
  if (with_bandwidth) backend.copy_bandwidth = cuda_backend()->copy_bandwidth(0);
  return backend;
}

}  // namespace echelon::cli
