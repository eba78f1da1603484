// SPDX-License-Identifier: BSD-3-Clause
// Speed of the fused vector work: seconds, bytes that must move, and the percent of the copy bandwidth measured in the same
// run. Arguments: rows (default 4,000,000), basis columns (default 20), threads (default all). One JSON line.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"
#include "echelon/krylov/vectors/vector_ops.hpp"

namespace {

constexpr int repeats = 7;

template <class Work>
double median_seconds(Work work) {
  std::vector<double> seconds;
  work();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const echelon::Timer timer;
    work();
    seconds.push_back(timer.seconds());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[repeats / 2];
}

void parallel_copy(const double* from, double* to, std::int64_t n) {
#pragma omp parallel num_threads(echelon::threads())
  {
    const auto [begin, end] = echelon::share(n, omp_get_thread_num(), omp_get_num_threads());
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin) * sizeof(double));
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace echelon;
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 4000000;
  const int columns = argc > 2 ? std::atoi(argv[2]) : 20;
  set_threads(argc > 3 ? std::atoi(argv[3]) : 0);
  const double rows = static_cast<double>(n);
  Vector<double> x(n, 1.0), y(n, 0.5), p(n, 0.25), q(n, 0.125);
  VectorOps ops(n, columns);
  std::vector<double> h(static_cast<std::size_t>(columns) + 1, 1e-3);
  const double copy = 16 * rows / median_seconds([&] { parallel_copy(x.data(), y.data(), n); });

  nlohmann::json cases = nlohmann::json::array();
  const auto measure = [&](const char* operation, double bytes_a_row, auto work) {
    const double seconds = median_seconds(work);
    cases.push_back({{"operation", operation},
                     {"seconds", seconds},
                     {"bytes", bytes_a_row * rows},
                     {"percent_of_copy", 100 * bytes_a_row * rows / seconds / copy}});
  };
  measure("dot", 16, [&] { ops.dot(x, y); });
  measure("axpy", 24, [&] { ops.axpy(1e-3, x, y); });
  measure("cg_update", 48, [&] { ops.cg_update(1e-3, p, q, x, y); });
  for (const bool single : {false, true}) {
    Basis basis(n, columns, single);
    for (int j = 0; j < columns; ++j) ops.store(1.0, x, basis, j);
    const double column = single ? 4 : 8;
    const char* precision = single ? "fp32" : "fp64";
    measure(fmt::format("multi_dot {} {}", columns, precision).c_str(), column * columns + 8,
            [&] { ops.multi_dot(basis, columns, y, h); });
    std::fill(h.begin(), h.end(), 1e-3);
    measure(fmt::format("subtract {} {}", columns, precision).c_str(), column * columns + 16, [&] {
      ops.subtract(basis, {h.data(), static_cast<std::size_t>(columns)}, y);
    });
    measure(fmt::format("store {}", precision).c_str(), column + 16, [&] { ops.store(1.0, x, basis, 0); });
  }
  const nlohmann::json report{{"benchmark", "vector_speed"},
                              {"n", n},
                              {"threads", threads()},
                              {"copy_bandwidth_gbs", copy * 1e-9},
                              {"cases", cases}};
  std::printf("%s\n", report.dump().c_str());
  return 0;
}
