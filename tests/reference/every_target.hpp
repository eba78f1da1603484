// SPDX-License-Identifier: BSD-3-Clause
// Runs a test body once for every instruction set that this build has kernels for and this machine can run.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace echelon::reference {

template <class Body>
void on_every_target(const Body& body) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (std::int64_t left = supported; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace echelon::reference
