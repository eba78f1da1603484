// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/comm/process_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "echelon/base/error.hpp"

namespace echelon {
namespace {

struct Prime {
  int value, times;
};

std::vector<Prime> prime_factors(int n) {
  std::vector<Prime> found;
  for (int d = 2; d <= n / d; ++d) {
    int times = 0;
    for (; n % d == 0; n /= d) ++times;
    if (times > 0) found.push_back({d, times});
  }
  if (n > 1) found.push_back({n, 1});
  return found;
}

int power(int base, int exponent) {
  int value = 1;
  for (; exponent > 0; --exponent) value *= base;
  return value;
}

/// Counts through all products of the primes, exponents of the first running fastest, beginning behind 1.
class Divisors {
 public:
  explicit Divisors(std::vector<Prime> primes) : primes_(std::move(primes)), exponents_(primes_.size(), 0) {}
  /// False when all have been.
  bool next() {
    for (std::size_t i = 0; i < primes_.size(); ++i) {
      if (++exponents_[i] <= primes_[i].times) return true;
      exponents_[i] = 0;
    }
    return false;
  }
  int value() const {
    int product = 1;
    for (std::size_t i = 0; i < primes_.size(); ++i) product *= power(primes_[i].value, exponents_[i]);
    return product;
  }
  /// What is left of the primes.
  std::vector<Prime> rest() const {
    auto left = primes_;
    for (std::size_t i = 0; i < left.size(); ++i) left[i].times -= exponents_[i];
    return left;
  }

 private:
  std::vector<Prime> primes_;
  std::vector<int> exponents_;
};

std::array<int, 3> least_surface(int n, const std::vector<Prime>& primes) {
  std::array<int, 3> best{n, 1, 1};
  double least = 2.0 * n + 1;
  for (Divisors first(primes); first.next();) {
    for (Divisors second(first.rest()); second.next();) {
      const double a = first.value(), b = second.value(), c = n / first.value() / second.value();
      const double surface = a * b + b * c + a * c;
      if (surface >= least) continue;
      least = surface;
      best = {first.value(), second.value(), n / first.value() / second.value()};
    }
  }
  return best;
}

}  // namespace

std::array<int, 3> ProcessGrid::place(int rank) const {
  return {rank % sides[0], rank / sides[0] % sides[1], rank / sides[0] / sides[1]};
}

int ProcessGrid::rank(std::array<int, 3> place) const {
  for (std::size_t d = 0; d < 3; ++d) {
    if (place[d] < 0 || place[d] >= sides[d]) return -1;
  }
  return place[0] + sides[0] * (place[1] + sides[1] * place[2]);
}

std::string ProcessGrid::text() const { return fmt::format("{}x{}x{}", sides[0], sides[1], sides[2]); }

ProcessGrid hpcg_process_grid(int processes) {
  if (processes < 1) {
    throw Error(ErrorCode::bad_argument, fmt::format("a grid of processes needs at least one; got {}", processes));
  }
  const auto primes = prime_factors(processes);
  int factors = 0;
  for (const auto& prime : primes) factors += prime.times;
  if (primes.empty()) return {};
  if (primes.size() == 1) {
    const auto [p, times] = primes[0];
    return {{power(p, (times + 2) / 3), power(p, (times + 1) / 3), power(p, times / 3)}};
  }
  if (factors == 2) return {{primes[0].value, primes[1].value, 1}};
  if (factors == 3 && primes.size() == 3) return {{primes[0].value, primes[1].value, primes[2].value}};
  if (factors == 3) {
    const auto& repeated = primes[0].times == 2 ? primes[0] : primes[1];
    return {{primes[0].value, primes[1].value, repeated.value}};
  }
  return {least_surface(processes, primes)};
}

std::string too_flat(std::array<int, 3> sides, const std::string& what) {
  const auto [least, most] = std::ranges::minmax(sides);
  if (8 * std::int64_t{least} >= most) return {};
  return fmt::format("{} is {}x{}x{}, flatter than 1:8", what, sides[0], sides[1], sides[2]);
}

}  // namespace echelon
