// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/ordinal.hpp"

#include <atomic>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

std::atomic<int> first{0};

}  // namespace

void count_ordinals_from(int number) {
  if (number != 0 && number != 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("rows are counted from {}; legal are 0 and 1", number));
  }
  first.store(number, std::memory_order_relaxed);
}

int first_ordinal() { return first.load(std::memory_order_relaxed); }

}  // namespace echelon
