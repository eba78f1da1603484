// SPDX-License-Identifier: BSD-3-Clause
#include "apps/hpcg/cg_run.hpp"

namespace echelon::hpcg {

void stop_together(const Communicator& communicator, Verdict verdict) {
  const auto gravest = static_cast<Verdict>(static_cast<int>(communicator.largest(static_cast<int>(verdict))));
  if (gravest != Verdict::proceed) throw WorkStopped(gravest);
}

}  // namespace echelon::hpcg
