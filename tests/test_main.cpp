// SPDX-License-Identifier: BSD-3-Clause
// Work is shared from less of it on than users have it: the small cases of tests must run on several threads, too.
#include <gtest/gtest.h>

#include "echelon/base/worth_sharing.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  echelon::share_work_from(8'000);
  return RUN_ALL_TESTS();
}
