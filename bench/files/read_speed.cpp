// SPDX-License-Identifier: BSD-3-Clause
// How fast a Matrix Market text becomes a matrix: GB of text a second from a warm page cache, the whole way to CSR, for one
// and more threads, beside the memory's copy bandwidth. Two files: the 7-point Laplacian, whose values are short, and the
// same pattern with 17-digit values. Both are checked against the matrix they were written from. Prints one JSON line.
// usage: read_speed [megabytes of text, default 300] [repeats, default 5]
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/io/matrix_market.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> list) {
  std::sort(list.begin(), list.end());
  return list[list.size() / 2];
}

/// The 7-point stencil on N³ points; `digits` replaces the values by random ones that need 17.
echelon::BlockCsr<double> laplacian(std::int64_t N, bool digits) {
  const std::int64_t n = N * N * N;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<double> values;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (std::int64_t row = 0; row < n; ++row) {
    const std::int64_t i = row % N, j = row / N % N, k = row / (N * N);
    const auto add = [&](bool inside, std::int64_t to, double value) {
      if (!inside) return;
      column.push_back(static_cast<std::int32_t>(to));
      values.push_back(digits ? uniform(random) : value);
    };
    add(k > 0, row - N * N, -1), add(j > 0, row - N, -1), add(i > 0, row - 1, -1), add(true, row, 6);
    add(i + 1 < N, row + 1, -1), add(j + 1 < N, row + N, -1), add(k + 1 < N, row + N * N, -1);
    start.push_back(static_cast<std::int64_t>(column.size()));
  }
  const auto array = [](const auto& from) {
    using T = typename std::decay_t<decltype(from)>::value_type;
    return echelon::Array<T>(std::span<const T>(from));
  };
  return {n, n, 1, array(start), array(column), array(values)};
}

bool same(const echelon::BlockCsr<double>& a, const echelon::BlockCsr<double>& b) {
  const auto equal = [](auto x, auto y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
  };
  return equal(a.row_start(), b.row_start()) && equal(a.column(), b.column()) && equal(a.values(), b.values());
}

double copy_bandwidth(int repeats) {
  std::vector<char> from(std::size_t{256} << 20, 1), to(from.size(), 2);
  std::vector<double> rates;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    std::memcpy(to.data(), from.data(), from.size());
    rates.push_back(2e-9 * static_cast<double>(from.size()) / seconds_since(start));
    from[static_cast<std::size_t>(i)] = to[to.size() - 1];
  }
  return median(rates);
}

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("echelon-read-speed-{}", ::getpid());
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

int measure(double megabytes, int repeats) {
  nlohmann::ordered_json out{{"operation", "read_matrix_market"}, {"copy_bandwidth_gbs", copy_bandwidth(repeats)}};
  const Folder folder;
  for (const bool digits : {false, true}) {
    const double bytes_a_line = digits ? 36 : 18;
    const auto A =
        laplacian(std::max<std::int64_t>(4, std::llround(std::cbrt(megabytes * 1e6 / (7 * bytes_a_line)))), digits);
    const auto file = (folder.path / "a.mtx").string();
    auto start = Clock::now();
    echelon::write_matrix_market(file, A);
    const double write_seconds = seconds_since(start);
    const auto bytes = static_cast<double>(std::filesystem::file_size(file));
    for (int threads = 1; threads <= echelon::hardware_threads(); threads *= 2) {
      echelon::set_threads(threads);
      std::vector<double> seconds;
      for (int i = 0; i < repeats; ++i) {
        start = Clock::now();
        const auto read = echelon::read_matrix_market(file);
        seconds.push_back(seconds_since(start));
        if (!same(read.matrix, A)) {
          std::cerr << "read_speed: the matrix read is not the matrix written\n";
          return 1;
        }
      }
      const double middle = median(seconds);
      out["cases"].push_back({{"values", digits ? "17 digits" : "short"},
                              {"n", A.rows()},
                              {"nnz", A.nonzeros()},
                              {"bytes", bytes},
                              {"threads", threads},
                              {"seconds", middle},
                              {"fastest", *std::min_element(seconds.begin(), seconds.end())},
                              {"slowest", *std::max_element(seconds.begin(), seconds.end())},
                              {"text_gbs", bytes * 1e-9 / middle},
                              {"write_gbs", bytes * 1e-9 / write_seconds}});
    }
    echelon::set_threads(0);
  }
  std::cout << out.dump() << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc > 1 ? std::atof(argv[1]) : 300, argc > 2 ? std::max(1, std::atoi(argv[2])) : 5);
  } catch (const std::exception& error) {
    std::cerr << "read_speed: " << error.what() << "\n";
    return 2;
  }
}
