// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/factor/rows_gpu/row_meets.hpp"

#include <algorithm>

#include "echelon/base/memory.hpp"

namespace echelon {
namespace {

constexpr std::int64_t most_index = std::int64_t{1} << 32;
constexpr std::int64_t share_of_free_memory = 4, times_the_factors = 8;
/// Asking what is free takes as long as a small analysis.
constexpr std::int64_t always_had_bytes = std::int64_t{64} << 20;

std::int64_t place_words(const RowMeetsSize& size) {
  return (RowMeetsView::first_word(size.rows, size.lower) + 1) * size.stride();
}

bool worth_keeping(const RowMeetsSize& size, Device device) {
  if (size.stride() == 0 || size.rows == 0) return false;
  const std::int64_t bytes = size.bytes(), factors = 12 * (size.lower + size.upper + size.rows);
  if (bytes <= always_had_bytes) return true;
  return bytes <= times_the_factors * factors && bytes <= available_bytes(device) / share_of_free_memory;
}

}  // namespace

int RowMeetsSize::stride() const {
  const bool in_reach = words() < most_index && lower < most_index && of_A < most_index && rows < most_index / 2;
  if (longest > longest_row(block) || !in_reach) return 0;
  const int places = longest + 1, few = places <= 128 ? 32 : 64;
  return places <= 8 ? 8 : places <= 16 ? 16 : (places + few - 1) / few * few;
}

std::int64_t RowMeetsSize::bytes() const {
  return 4 * (RowHead::words * rows + lower + place_words(*this)) + (same ? 0 : rows * stride());
}

RowMeets::RowMeets(const RowMeetsSize& size, Device device) {
  if (!worth_keeping(size, device)) return;
  stride_ = size.stride();
  heads_ = Array<unsigned>(RowHead::words * size.rows, device);
  records_ = Array<unsigned>(size.lower, device);
  places_ = Array<unsigned>(place_words(size), device);
  if (!size.same) sources_ = Array<std::uint8_t>(size.rows * stride_, device);
}

RowMeetsView RowMeets::view() {
  if (stride_ == 0) return {};
  return {stride_, heads_.data(), records_.data(), places_.data(), sources_.empty() ? nullptr : sources_.data()};
}

}  // namespace echelon
