// SPDX-License-Identifier: BSD-3-Clause
// Prints the bits (FNV-1a) of what every DBSR kernel computes of one drawn matrix, for each bsize. tests/cross/run-aarch64
// compiles it for this machine, for NEON and for SVE, and compares the lines.
#include <cstdio>
#include <cstring>
#include <random>

#include "echelon/factor/dbsr/dbsr_factors.hpp"
#include "echelon/schedule/blocks/grid_blocks.hpp"
#include "echelon/sweep/dbsr/dbsr_gauss_seidel.hpp"

namespace echelon {
namespace {

class Bits {
 public:
  template <class T>
  void add(const T* values, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const T value = values[i] + T(0);  // one zero
      unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, &value, sizeof(T));
      for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 0x100000001b3u;
    }
  }
  unsigned long long value() const { return hash_; }

 private:
  unsigned long long hash_ = 0xcbf29ce484222325u;
};

template <class T>
BlockCsr<T> drawn(const Grid& grid, const Stencil& stencil) {
  std::mt19937_64 random(24);
  Array<std::int64_t> start(grid.points() + 1);
  std::vector<std::int32_t> column;
  std::vector<T> values;
  start[0] = 0;
  for (std::int64_t p = 0; p < grid.points(); ++p) {
    const std::int64_t i = p % grid.nx, j = p / grid.nx % grid.ny, k = p / grid.nx / grid.ny;
    for (const Offset& o : stencil.offsets()) {
      if (!grid.contains(i + o.x, j + o.y, k + o.z)) continue;
      column.push_back(static_cast<std::int32_t>(grid.index(i + o.x, j + o.y, k + o.z)));
      // Integers over a power of two: no library's rounding is in them.
      const auto part = static_cast<double>(static_cast<std::int64_t>(random() >> 44)) / 1048576 - 0.5;
      values.push_back(static_cast<T>(part + (o == Offset{} ? stencil.size() : 0)));
    }
    start[p + 1] = static_cast<std::int64_t>(column.size());
  }
  return BlockCsr<T>(grid.points(), grid.points(), 1, std::move(start),
                     Array<std::int32_t>(std::span<const std::int32_t>(column)), Array<T>(std::span<const T>(values)));
}

template <class T>
void print(int bsize) {
  const Grid grid{13, 11, 9};
  const Stencil stencil = stencils::box27();
  const auto A = drawn<T>(grid, stencil);
  const auto order =
      std::make_shared<BlockColouring>(grid_block_colouring(grid, stencil, {BlockChoice::given, {3, 4, 2}, bsize, 1}));
  const DbsrGaussSeidel<T> gs(A, order);
  const std::int64_t n = order->positions();
  Vector<T> natural(A.rows()), r(n), half(n, T(0)), x(n, T(0)), y(n);
  for (std::int64_t i = 0; i < A.rows(); ++i) natural[i] = static_cast<T>(1 + i % 7) / 4;
  gs.matrix().permute(natural, r);
  Bits bits;
  gs.from_zero(r, half, x);
  bits.add(x.data(), n);
  gs.from_guess(r, half, x);
  bits.add(x.data(), n);
  gs.from_zero(r, half, x);
  gs.residual_after_zero(r, half, x);
  bits.add(half.data(), n);
  gs.multiply(x, y);
  bits.add(y.data(), n);
  DbsrFactors<T> factors(order, gs.matrix().share_pattern());
  PivotLog log;
  factors.attempt(gs.matrix(), {0, 0, false, false, 1, &log});
  bits.add(static_cast<const T*>(factors.lower().values), gs.matrix().pattern().lower.blocks() * bsize);
  bits.add(static_cast<const T*>(factors.upper().values), gs.matrix().pattern().upper.blocks() * bsize);
  bits.add(static_cast<const T*>(factors.inverse()), n);
  if (sizeof(T) == 8) {
    factors.narrow();
    const auto kernels = dbsr_sweep_kernels<T>(bsize, Stored::fp32);
    const DbsrSweepView<T> view{factors.lower(), factors.upper(), factors.inverse(), r.data(), r.data(), nullptr};
    run_colours(*order, ColourOrder::ascending, 1, kernels.lower, view);
    run_colours(*order, ColourOrder::descending, 1, kernels.upper, view);
    bits.add(r.data(), n);
  }
  std::printf("%s bsize %d: %016llx\n", sizeof(T) == 8 ? "fp64" : "fp32", bsize, bits.value());
}

}  // namespace
}  // namespace echelon

int main() {
  echelon::set_threads(1);
  for (const int bsize : {1, 2, 4, 8, 16, 32, 64}) {
    echelon::print<double>(bsize);
    echelon::print<float>(bsize);
  }
}
