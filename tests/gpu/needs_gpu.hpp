// SPDX-License-Identifier: BSD-3-Clause
// Fixture of the tests that need a GPU: skipped, with the reason, where there is none.
#pragma once

#include <gtest/gtest.h>

#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/device.hpp"

namespace echelon {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_backend()) GTEST_SKIP() << "this build has no CUDA";
    if (Device::cuda_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }
};

}  // namespace echelon
