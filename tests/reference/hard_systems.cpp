// SPDX-License-Identifier: BSD-3-Clause
#include "tests/reference/hard_systems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace reference {
namespace {

/// splitmix64: the standard distributions differ between libraries, this does not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, 1)
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t state_;
};

using Entries = std::map<std::pair<int, int>, double>;

/// A few random entries a row; diagonal only by chance.
Entries sparse_random(Dice& dice, int n, double density) {
  Entries entries;
  for (int i = 0; i < n; ++i) {
    const int count = 1 + static_cast<int>(density * dice.unit() * n);
    for (int k = 0; k < std::min(count, 12); ++k) entries[{i, dice.below(n)}] = dice.between(-1, 1);
  }
  return entries;
}

Entries with_diagonal(Entries entries, int n, double value) {
  for (int i = 0; i < n; ++i) entries[{i, i}] += value;
  return entries;
}

Entries symmetrized(const Entries& entries, double sign) {
  Entries out;
  for (const auto& [place, value] : entries) {
    if (sign < 0 && place.first == place.second) continue;
    out[place] += value;
    out[{place.second, place.first}] += sign * value;
  }
  return out;
}

Entries laplacian(int n, double lower, double diagonal, double upper) {
  Entries entries;
  for (int i = 0; i < n; ++i) {
    if (i > 0) entries[{i, i - 1}] = lower;
    entries[{i, i}] = diagonal;
    if (i + 1 < n) entries[{i, i + 1}] = upper;
  }
  return entries;
}

Entries scaled(Entries entries, int n, Dice& dice, double decades, bool columns) {
  std::vector<double> scale(static_cast<std::size_t>(n));
  for (double& s : scale) s = std::pow(10.0, dice.between(-decades, decades));
  for (auto& [place, value] : entries) value *= scale[static_cast<std::size_t>(columns ? place.second : place.first)];
  return entries;
}

Entries badly_scaled_rows(Dice& dice, int n) {
  return scaled(with_diagonal(sparse_random(dice, n, 0.1), n, 3), n, dice, dice.between(2, 150), false);
}
Entries badly_scaled_columns(Dice& dice, int n) {
  return scaled(with_diagonal(sparse_random(dice, n, 0.1), n, 3), n, dice, dice.between(2, 100), true);
}
Entries near_singular(Dice& dice, int n) {
  return with_diagonal(laplacian(n, -1, 2, -1), n, std::pow(10.0, -dice.between(3, 17)));
}
Entries neumann(Dice&, int n) {
  Entries entries = laplacian(n, -1, 2, -1);
  entries[{0, 0}] = entries[{n - 1, n - 1}] = n > 1 ? 1 : 0;
  return entries;
}
Entries indefinite(Dice& dice, int n) {
  return with_diagonal(symmetrized(sparse_random(dice, n, 0.05), 1), n, dice.between(-1, 1));
}
Entries shifted_laplacian(Dice& dice, int n) { return laplacian(n, -1, 2 - dice.between(0, 4), -1); }
Entries non_normal(Dice& dice, int n) {
  return laplacian(n, dice.between(0, 0.1), dice.between(-1, 1), dice.between(1, 100));
}
Entries zero_diagonal(Dice& dice, int n) {
  Entries entries = sparse_random(dice, n, 0.1);
  for (int i = 0; i < n; ++i) entries[{i, i}] = dice.below(3) == 0 ? 0 : dice.between(-2, 2);
  return entries;
}
Entries no_diagonal(Dice& dice, int n) { return sparse_random(dice, n, 0.1); }
Entries huge_values(Dice& dice, int n) {
  Entries entries = with_diagonal(sparse_random(dice, n, 0.1), n, 4);
  const double scale = std::pow(10.0, dice.between(100, 300));
  for (auto& [place, value] : entries) value *= scale;
  return entries;
}
Entries small_values(Dice& dice, int n) {
  Entries entries = with_diagonal(sparse_random(dice, n, 0.1), n, 4);
  const double scale = std::pow(10.0, -dice.between(100, 310));
  for (auto& [place, value] : entries) value *= scale;
  return entries;
}
Entries permuted_rows(Dice& dice, int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  for (int i = n - 1; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(dice.below(i + 1))]);
  Entries out;
  for (const auto& [place, value] : laplacian(n, -1, 3, -1))
    out[{order[static_cast<std::size_t>(place.first)], place.second}] = value;
  return out;
}
Entries duplicate_rows(Dice& dice, int n) {
  Entries entries = with_diagonal(sparse_random(dice, n, 0.1), n, 2), out;
  const int from = dice.below(n), to = dice.below(n);
  for (const auto& [place, value] : entries) {
    if (place.first != to || from == to) out[place] = value;
    if (place.first == from) out[{to, place.second}] = value;
  }
  return out;
}
Entries skew(Dice& dice, int n) { return symmetrized(sparse_random(dice, n, 0.1), -1); }
Entries hilbert(Dice& dice, int n) {
  const int m = std::min(n, 40);
  Entries entries;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) entries[{i, j}] = 1.0 / (i + j + 1);
  }
  for (int i = m; i < n; ++i) entries[{i, i}] = dice.between(0.5, 1);
  return entries;
}
Entries jordan(Dice& dice, int n) { return laplacian(n, 0, dice.below(3) == 0 ? 0 : dice.between(-1, 1), 1); }
Entries convection(Dice& dice, int n) {
  const double peclet = std::pow(10.0, dice.between(0, 6));
  return laplacian(n, -1 - peclet, 2, -1 + peclet);
}
Entries cyclic(Dice& dice, int n) {
  Entries entries;
  for (int i = 0; i < n; ++i) entries[{i, (i + 1) % n}] = 1;
  return dice.below(2) ? entries : with_diagonal(std::move(entries), n, 1e-3);
}
Entries spd_wide_spectrum(Dice& dice, int n) {
  // Dᵀ T D with a wild diagonal D: positive definite, condition up to 1e30.
  Entries entries = laplacian(n, -1, 2.1, -1);
  std::vector<double> d(static_cast<std::size_t>(n));
  const double decades = dice.between(0, 8);
  for (double& value : d) value = std::pow(10.0, dice.between(-decades, decades));
  for (auto& [place, value] : entries)
    value *= d[static_cast<std::size_t>(place.first)] * d[static_cast<std::size_t>(place.second)];
  return entries;
}
Entries empty_row(Dice& dice, int n) {
  Entries entries = with_diagonal(sparse_random(dice, n, 0.1), n, 2);
  const int gone = dice.below(n);
  std::erase_if(entries, [&](const auto& entry) { return entry.first.first == gone; });
  return entries;
}

/// An arrow: one full row and column beside a few entries. Its ILU fills or its dominant unknown hides the others.
Entries dense_row_and_column(Dice& dice, int n) {
  Entries entries = with_diagonal(sparse_random(dice, n, 0.05), n, dice.between(-3, 3));
  const int row = dice.below(n), column = dice.below(n);
  const double size = std::pow(10.0, dice.between(-3, 3));
  for (int i = 0; i < n; ++i) {
    entries[{row, i}] += size * dice.between(-1, 1);
    entries[{i, column}] += size * dice.between(-1, 1);
  }
  return entries;
}

/// Weights of a graph and minus their sums on the diagonal: 1 is its null vector to rounding. Unsymmetric in one of three,
/// so that the transposed matrix has another.
Entries graph_laplacian(Dice& dice, int n) {
  Entries weights = sparse_random(dice, n, 0.05);
  for (int i = 0; i < n; ++i) weights[{i, (i + 1) % n}] = dice.between(0.1, 1);
  if (dice.below(3) > 0) weights = symmetrized(weights, 1);
  Entries out;
  std::vector<double> sum(static_cast<std::size_t>(n));
  for (const auto& [place, value] : weights) {
    if (place.first == place.second) continue;
    out[place] = -std::abs(value);
    sum[static_cast<std::size_t>(place.first)] += std::abs(value);
  }
  for (int i = 0; i < n; ++i) out[{i, i}] = sum[static_cast<std::size_t>(i)];
  return out;
}

/// The same with a little more on its diagonal, in one row or in all: regular, and 1 is no null vector but nearly.
Entries nearly_a_laplacian(Dice& dice, int n) {
  const double more = std::pow(10.0, -dice.between(1, 17));
  const int only = dice.below(2) == 0 ? dice.below(n) : -1;
  Entries entries = graph_laplacian(dice, n);
  for (int i = 0; i < n; ++i) {
    if (only < 0 || only == i) entries[{i, i}] += more;
  }
  return entries;
}

struct Kind {
  const char* name;
  Entries (*make)(Dice&, int);
  bool constant_null_vector = false;  // is given to the solver, right or wrong
};
constexpr std::array kinds = {
    Kind{"badly scaled rows", badly_scaled_rows},
    Kind{"badly scaled columns", badly_scaled_columns},
    Kind{"near singular", near_singular},
    Kind{"neumann", neumann},
    Kind{"indefinite", indefinite},
    Kind{"shifted laplacian", shifted_laplacian},
    Kind{"non-normal", non_normal},
    Kind{"zero diagonal", zero_diagonal},
    Kind{"no diagonal", no_diagonal},
    Kind{"huge values", huge_values},
    Kind{"small values", small_values},
    Kind{"permuted rows", permuted_rows},
    Kind{"duplicate rows", duplicate_rows},
    Kind{"skew", skew},
    Kind{"hilbert", hilbert},
    Kind{"jordan", jordan},
    Kind{"convection", convection},
    Kind{"cyclic", cyclic},
    Kind{"wide spectrum", spd_wide_spectrum},
    Kind{"empty row", empty_row},
    Kind{"dense row and column", dense_row_and_column},
    Kind{"null space", graph_laplacian, true},
    Kind{"not quite a null space", nearly_a_laplacian, true},
};

}  // namespace

int hard_kinds() { return static_cast<int>(kinds.size()); }

HardSystem hard_system(std::uint64_t number) {
  Dice dice(number);
  const Kind& kind = kinds[number % kinds.size()];
  // Small sizes often: that is where the special cases are.
  const int n = dice.below(4) == 0 ? 1 + dice.below(6) : 1 + dice.below(300);
  std::vector<echelon::Triplet<double>> triplets;
  for (const auto& [place, value] : kind.make(dice, n)) triplets.push_back({place.first, place.second, value});
  HardSystem system{kind.name,
                    echelon::from_triplets<double>(n, n, triplets),
                    echelon::Vector<double>(n),
                    echelon::Vector<double>(n, 0.0),
                    {}};
  if (kind.constant_null_vector) system.null_vector = echelon::Vector<double>(n, std::pow(10.0, dice.between(-5, 5)));
  const int right_hand_side = dice.below(7);
  for (double& value : system.b) value = dice.between(-1, 1);
  if (right_hand_side == 0) {
    const auto x = std::move(system.b);
    system.b = echelon::Vector<double>(n);
    system.A.apply(x, system.b);
  } else if (right_hand_side == 1) {
    const double scale = std::pow(10.0, dice.between(-200, 200));
    for (double& value : system.b) value *= scale;
  } else if (right_hand_side == 2 || right_hand_side == 3) {
    // The ends of the range: denormal numbers with few digits, and a norm that only just is a double.
    const double decades = right_hand_side == 2 ? -dice.between(290, 323) : dice.between(280, 306);
    for (double& value : system.b) value *= std::pow(10.0, decades);
  } else if (right_hand_side == 4) {
    // Consistent, and far from 1: A x scaled by a power of two, which rounds only into denormal numbers.
    const auto x = std::move(system.b);
    system.b = echelon::Vector<double>(n);
    system.A.apply(x, system.b);
    const int power = dice.below(2) == 0 ? -dice.below(1060) : dice.below(900);
    for (double& value : system.b) value = std::ldexp(value, power);
  }
  for (double& value : system.b) {
    if (!std::isfinite(value)) value = 1;
  }
  if (dice.below(5) == 0) {
    for (double& value : system.x) value = dice.between(-10, 10);
  }
  return system;
}

}  // namespace reference
