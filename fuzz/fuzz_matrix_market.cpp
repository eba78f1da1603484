// SPDX-License-Identifier: BSD-3-Clause
// Any bytes at all to the Matrix Market reader, plain or gzip: a matrix that keeps the promises of BlockCsr, or an Error
// with a sentence. The first byte chooses the options, so that the policies are explored too. Memory is limited through the
// reader's own option: what the sanitizer counts above it is a fault of ours. Some inputs are the lines of a long file,
// which several threads read: matrix or sentence must be one thread's.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/io/matrix_market.hpp"

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

/// These lines again and again behind a header that counts them: the reader cuts a text of this size for three threads.
std::string long_file(std::span<const char> lines, std::uint8_t choice) {
  constexpr std::size_t bytes = 120'000;
  std::string body;
  body.reserve(bytes + lines.size());
  while (body.size() < bytes) {
    body.append(lines.begin(), lines.end());
    body.push_back('\n');
  }
  std::size_t entries = 0;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    entries += end > at && body[at] != '%';
    at = end + 1;
  }
  const char* fields[] = {"real", "integer", "pattern", "real"};
  const std::string header = std::string("%%MatrixMarket matrix coordinate ") + fields[choice >> 4 & 3] +
                             ((choice & 64) != 0 ? " symmetric" : " general") + "\n9000 9000 ";
  return header + std::to_string(entries) + "\n" + body;
}

struct Reading {
  std::string refusal;
  std::vector<double> values;
  std::vector<std::int32_t> columns;
};

Reading read_on(int threads, const std::string& text, const echelon::ReadOptions& options) {
  echelon::set_threads(threads);
  Reading reading;
  try {
    const auto file = echelon::parse_matrix_market(text, "fuzz.mtx", options);
    reading.values.assign(file.matrix.values().begin(), file.matrix.values().end());
    reading.columns.assign(file.matrix.column().begin(), file.matrix.column().end());
  } catch (const echelon::Error& error) {
    reading.refusal = error.what();
  }
  echelon::set_threads(1);
  return reading;
}

void expect_one_reading(const std::string& text, const echelon::ReadOptions& options) {
  const auto alone = read_on(1, text, options), shared = read_on(3, text, options);
  require(alone.refusal == shared.refusal && alone.columns == shared.columns && alone.values.size() == shared.values.size());
  require(alone.values.empty() ||
          std::memcmp(alone.values.data(), shared.values.data(), alone.values.size() * sizeof(double)) == 0);
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
  if ((choice & 8) != 0) {
    expect_one_reading(long_file(text, choice), options);
    return 0;
  }

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
