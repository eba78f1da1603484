// SPDX-License-Identifier: BSD-3-Clause
// Triangles with drawn patterns and values, and what the host's iteration makes of them: what iterations on a GPU are held
// against, emulated or not.
#pragma once

#include <vector>

#include "echelon/sweep/iterated/device_iterations.hpp"

namespace echelon::reference {

struct TriangleShape {
  std::int64_t rows;
  int block = 1;
  int most_entries = 4;
  std::int64_t reach = 1000;  // of a row's entries
};

/// Entries anywhere within reach; N is small enough that nothing overflows.
Triangles<double> drawn_factors(const TriangleShape& shape, std::uint64_t seed);
Array<std::int32_t> drawn_order(std::int64_t rows, std::uint64_t seed = 9);
/// Null orders are natural, here and below.
struct DrawnOrders {
  const Array<std::int32_t>*rows = nullptr, *columns = nullptr;
};
StoredFactors stored(const Triangles<double>& factors, const DrawnOrders& orders = {});
Vector<double> wave(std::int64_t n);

/// Each form, damping, blocks of rows and scaling once, the guard off.
std::vector<TrisolveOptions> all_kinds(int sweeps);

/// r and x in the order of the user.
Vector<double> iterated_on_host(const Triangles<double>& factors, const TrisolveOptions& options, const Vector<double>& r,
                                const DrawnOrders& orders = {});

/// The first place where the bits differ, −1 without one.
std::int64_t difference(const Vector<double>& a, const Vector<double>& b);

}  // namespace echelon::reference
