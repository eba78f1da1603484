// SPDX-License-Identifier: BSD-3-Clause
// Any bytes at all to the Matrix Market reader, plain or gzip: a matrix that keeps the promises of BlockCsr, or an Error
// with a sentence. The first byte chooses the options, so that the policies are explored too. Memory is limited through the
// reader's own option: what the sanitizer counts above it is a fault of ours.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/problem/matrix_market.hpp"

namespace {

void require(bool kept) {
  if (!kept) std::abort();
}

template <class Read>
void expect_result_or_error(const Read& read) {
  try {
    read();
  } catch (const echelon::Error& error) {
    require(error.code() != echelon::ErrorCode::internal && error.what()[0] != '\0');
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choice = bytes[0];
  const std::span<const char> text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  echelon::ReadOptions options;
  options.duplicates = static_cast<echelon::Duplicates>(choice % 3);
  options.allow_nonfinite = (choice & 4) != 0;
  options.memory_limit = std::int64_t{64} << 20;
  echelon::set_threads(1);

  expect_result_or_error([&] {
    const auto file = echelon::parse_matrix_market(text, "fuzz.mtx", options);
    require(file.matrix.rows() >= 1 && file.matrix.columns() >= 1);
    for (const double value : file.matrix.values()) require(options.allow_nonfinite || std::isfinite(value));
  });
  expect_result_or_error([&] {
    const auto x = echelon::parse_vector(text, "fuzz.mtx", options);
    require(x.size() >= 1);
  });
  return 0;
}
