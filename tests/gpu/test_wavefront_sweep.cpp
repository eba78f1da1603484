// SPDX-License-Identifier: BSD-3-Clause
// The GPU's sweeps have the bits of the plain loop over points: the named stencils around tile borders, every block size and
// storage, thin grids, tuned and plain kernels, other layouts, random stencils; repeats; many more tiles than blocks that
// fit; the watchdog.
#include "echelon/sweep/grid_gpu/wavefront_sweep.hpp"

#include <fmt/format.h>

#include <cstring>

#include "echelon/problem/problems.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "tests/expect_error.hpp"
#include "tests/gpu/needs_gpu.hpp"
#include "tests/reference/random_stencil.hpp"
#include "tests/reference/tile_order_values.hpp"

namespace echelon {
namespace {

using WavefrontSweepGpu = GpuTest;
using WavefrontSweepGpuFull = GpuTest;

struct Case {
  Grid grid;
  Stencil stencil;
  int dof = 1;
  TileShape shape;
  SweepTuning tuning;
  Stored stored = Stored::fp64;
  LayoutKind kind = LayoutKind::tile_contiguous;

  std::string name() const {
    return fmt::format("{} ({} entries) b={} {}x{}x{} tiles {}x{} {} plain {} kind {}", stencil.name(), stencil.size(), dof,
                       grid.nx, grid.ny, grid.nz, shape.y, shape.z, word(stored), tuning.plain, static_cast<int>(kind));
  }
};

/// Blocks small enough that long recurrences stay bounded; neighbours outside stay zero.
template <class T>
StructMatrix<T> factors(const Case& c, std::uint64_t seed) {
  StructMatrix<T> LU(c.grid, c.stencil, c.dof);
  const double scale = 1.0 / (LU.stencil().size() * c.dof);
  LU.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int entry, std::span<T> block) {
    std::uint64_t h = seed * 0x9E3779B97F4A7C15ull +
                      static_cast<std::uint64_t>(c.grid.index(i, j, k)) * 0xD1B54A32D192ED03ull +
                      static_cast<std::uint64_t>(entry) * 0x94D049BB133111EBull;
    for (T& value : block) {
      h ^= h >> 31;
      h *= 0xBF58476D1CE4E5B9ull;
      h ^= h >> 29;
      value = static_cast<T>(scale * (static_cast<double>(h >> 11) * 0x1p-52 - 1));
    }
  });
  return LU;
}

template <class T>
Vector<T> right_hand_side(std::int64_t n) {
  Vector<T> r(n);
  for (std::int64_t i = 0; i < n; ++i) r[i] = static_cast<T>(std::sin(1.3 * static_cast<double>(i)) + 0.1);
  return r;
}

/// The values as storage keeps them, and as the reference then takes them.
template <class T>
Array<std::uint8_t> stored_values(const TileOrder& order, StructMatrix<T>& LU, Stored stored) {
  const std::int64_t n = static_cast<std::int64_t>(LU.values().size());
  if (bytes_of(stored) < static_cast<int>(sizeof(T))) {
    Array<std::uint8_t> kept(n * bytes_of(stored));
    EXPECT_EQ(narrow(LU.values().data(), n, T(1), stored, kept.data()), 0);
    for (std::int64_t i = 0; i < n; ++i)
      LU.values()[static_cast<std::size_t>(i)] = static_cast<T>(widened(kept.data(), i, stored));
  }
  const Array<T> laid = reference::in_tile_order(order, LU);
  Array<std::uint8_t> bytes(laid.size() * bytes_of(stored));
  if (bytes_of(stored) < static_cast<int>(sizeof(T))) {
    EXPECT_EQ(narrow(laid.data(), laid.size(), T(1), stored, bytes.data()), 0);
  } else {
    std::memcpy(bytes.data(), laid.data(), static_cast<std::size_t>(laid.bytes()));
  }
  return bytes;
}

template <class T>
void expect_reference_bits(const Case& c, bool in_place = false) {
  SCOPED_TRACE(c.name());
  const Device gpu = Device::cuda();
  const TileOrder order(c.grid, c.stencil, c.dof, c.shape, gpu, c.kind);
  auto LU = factors<T>(c, 7);
  const auto values = stored_values(order, LU, c.stored).to(gpu);
  const auto r = right_hand_side<T>(c.grid.points() * c.dof);
  const auto laid = reference::in_tile_order(order, r).to(gpu);
  WavefrontSweep<T> sweeps(order, {.stored = c.stored, .tuning = c.tuning, .patience_seconds = 5});
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    // The padding is copied with the rest.
    auto x = in_place ? laid.clone() : Vector<T>(order.vector_scalars(), T(0), gpu);
    const T* from = in_place ? x.data() : laid.data();
    if (triangle == Triangle::lower) {
      sweeps.lower(values.data(), from, x.data());
    } else {
      sweeps.upper(values.data(), from, x.data());
    }
    ASSERT_NO_THROW(sweeps.check()) << sweeps.describe(triangle);
    const auto got = reference::in_natural_order(order, x.to(Device::host()));
    const auto expected = reference::sweep(LU, triangle, r);
    std::int64_t wrong = 0, first = -1;
    for (std::int64_t i = 0; i < got.size(); ++i) {
      if (got[i] == expected[i]) continue;
      if (wrong++ == 0) first = i;
    }
    ASSERT_EQ(wrong, 0) << (triangle == Triangle::lower ? "lower" : "upper") << ", first at unknown " << first << ": "
                        << got[first] << " for " << expected[first] << "; " << sweeps.describe(triangle);
  }
}

const char* const named[] = {"star5", "star9", "box9", "star7", "star13", "diamond13", "diamond25", "box27"};

/// What compute-sanitizer is run on.
TEST_F(WavefrontSweepGpu, OneSmallCaseOfEachKernel) {
  for (const int dof : {1, 2, 5, 9}) expect_reference_bits<double>({{6, 9, 5}, stencils::star7(), dof, {4, 4}, {}});
  expect_reference_bits<double>({{6, 9, 5}, stencils::box27(), 1, {4, 4}, {}});
  expect_reference_bits<double>({{6, 9, 5}, stencils::star7(), 1, {4, 4}, {.plain = true}});
  expect_reference_bits<double>({{6, 9, 5}, stencils::star7(), 1, {4, 4}, {}, Stored::fp32});
  expect_reference_bits<float>({{6, 9, 5}, stencils::star7(), 4, {4, 4}, {}, Stored::fp32});
  // Kernels whose stencil is compiled in.
  for (const auto& [name, dof] : {std::pair{"star7", 1}, {"star13", 5}, {"box27", 4}, {"diamond25", 2}}) {
    const Grid grid{11, 9, 10};
    const Stencil stencil = stencils::named(name);
    expect_reference_bits<double>({grid, stencil, dof, sweep_tile_shape(grid, stencil, dof), {}});
  }
}

TEST_F(WavefrontSweepGpu, NamedStencilsAndBlocksWithTheirOwnTiles) {
  for (const char* name : named) {
    for (int dof = 1; dof <= 9; ++dof) {
      const Stencil stencil = stencils::named(name);
      const bool flat = stencil.offsets()[0].z == 0;
      const Grid grid = flat ? (dof < 3 ? Grid{45, 71, 1} : Grid{23, 40, 1}) : dof < 3 ? Grid{37, 41, 19} : Grid{15, 19, 11};
      expect_reference_bits<double>({grid, stencil, dof, sweep_tile_shape(grid, stencil, dof), {}});
    }
  }
}

TEST_F(WavefrontSweepGpu, AroundTileBorders) {
  for (const char* name : {"star7", "box27", "star13"}) {
    for (const std::int64_t side : {1, 3, 4, 5, 15, 16, 17, 31, 32, 33, 65}) {
      const Stencil stencil = stencils::named(name);
      expect_reference_bits<double>({{9, side, 18}, stencil, 1, sweep_tile_shape(Grid{9, side, 18}, stencil, 1), {}}, true);
      expect_reference_bits<double>({{side, 10, 17}, stencil, 2, sweep_tile_shape(Grid{side, 10, 17}, stencil, 2), {}});
    }
  }
}

TEST_F(WavefrontSweepGpu, ThinGrids) {
  for (const char* name : named) {
    for (const Grid grid : {Grid{1, 30, 40}, Grid{50, 1, 20}, Grid{30, 40, 1}, Grid{200, 1, 1}, Grid{1, 90, 1},
                            Grid{1, 1, 70}, Grid{1, 1, 1}}) {
      const Stencil stencil = stencils::named(name);
      for (const int dof : {1, 5})
        expect_reference_bits<double>({grid, stencil, dof, sweep_tile_shape(grid, stencil, dof), {}});
    }
  }
}

TEST_F(WavefrontSweepGpu, NarrowStorageAndSinglePrecision) {
  for (const char* name : {"star7", "diamond13", "box27"}) {
    for (const int dof : {1, 2, 3, 4, 5, 6, 7, 8, 11}) {
      const Stencil stencil = stencils::named(name);
      for (const Stored stored : {Stored::fp32, Stored::bf16, Stored::fp16}) {
        expect_reference_bits<double>(
            {{13, 19, 12}, stencil, dof, sweep_tile_shape(Grid{13, 19, 12}, stencil, dof), {}, stored});
      }
      expect_reference_bits<float>(
          {{13, 19, 12}, stencil, dof, sweep_tile_shape(Grid{13, 19, 12}, stencil, dof), {}, Stored::fp32});
    }
  }
}

TEST_F(WavefrontSweepGpu, ThePlainKernelHasTheSameBits) {
  for (const char* name : named) {
    for (const int dof : {1, 3, 8, 13}) {
      expect_reference_bits<double>({{17, 14, 11}, stencils::named(name), dof, {5, 3}, {.plain = true}});
    }
  }
}

TEST_F(WavefrontSweepGpu, OtherLayoutsHaveTheSameBits) {
  for (const LayoutKind kind : {LayoutKind::skewed, LayoutKind::user}) {
    for (const char* name : named) {
      const Stencil stencil = stencils::named(name);
      for (const int dof : {1, 2, 5, 8, 13}) {
        for (const Grid grid : {Grid{17, 14, 11}, Grid{9, 21, 6}, Grid{1, 30, 1}}) {
          expect_reference_bits<double>({grid, stencil, dof, {5, 3}, {}, Stored::fp64, kind}, dof % 2 == 0);
        }
      }
      expect_reference_bits<double>({{13, 19, 12}, stencil, 3, {8, 4}, {}, Stored::bf16, kind});
      expect_reference_bits<float>({{13, 19, 12}, stencil, 1, {8, 4}, {}, Stored::fp32, kind});
    }
  }
}

TEST_F(WavefrontSweepGpu, NamedStencilsHaveKernelsOfTheirOwn) {
  const auto expect_own = [](const Grid& grid, const Stencil& stencil, int dof) {
    const TileShape shape = sweep_tile_shape(grid, stencil, dof);
    const TileOrder order(grid, stencil, dof, shape, Device::cuda());
    for (const Stored stored : {Stored::fp64, Stored::fp32, Stored::bf16, Stored::fp16}) {
      SweepChoice choice;
      choice.stored = stored;
      const WavefrontSweep<double> sweeps(order, choice);
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        const std::string kernel = sweeps.describe(triangle);
        EXPECT_EQ(kernel.ends_with("stencil compiled in"), sweeps.plan(triangle).pieces == 1) << kernel;
        EXPECT_TRUE(sweeps.plan(triangle).pieces == 1 || (dof > 4 && stored == Stored::fp64)) << kernel;
      }
      expect_reference_bits<double>({grid, stencil, dof, shape, {}, stored});
    }
    if (dof == 1) expect_reference_bits<float>({grid, stencil, dof, shape, {}, Stored::fp32});
  };
  for (const char* name : {"star7", "star13", "diamond13", "diamond25", "box27"}) {
    expect_own({37, 41, 35}, stencils::named(name), 1);
    for (int dof = 2; dof <= 8; ++dof) expect_own({19, 23, 18}, stencils::named(name), dof);
  }
  expect_own({37, 41, 35}, grown(stencils::star7(), 1), 1);
  expect_own({5, 512, 256}, stencils::star7(), 1);
}

TEST_F(WavefrontSweepGpu, EveryTuningGivesTheSameBits) {
  for (const int lines : {1, 2, 4}) {
    for (const int groups : {1, 2, 3}) {
      for (const int stages : {3, 8}) {
        for (const int borders : {1, 4}) {
          SweepTuning tuning{.lines_a_thread = lines, .stages = stages, .groups = groups, .border_groups = borders};
          expect_reference_bits<double>({{50, 70, 40}, stencils::star7(), 1, {32, 16}, tuning});
          expect_reference_bits<double>({{30, 40, 20}, stencils::box27(), 1, {16, 8}, tuning});
          tuning.copiers = 3;
          expect_reference_bits<double>({{50, 70, 40}, stencils::star7(), 1, {32, 16}, tuning});
        }
      }
    }
  }
  for (const int piece : {1, 2, 5, 13}) {
    expect_reference_bits<double>({{30, 20, 20}, stencils::box27(), 4, {4, 4}, {.entries_a_stage = piece}});
  }
}

TEST_F(WavefrontSweepGpu, RepeatsAreTheSameBitsAndTilesMayExceedTheDevice) {
  // 66·33 tiles of 2x2 lines: many times what 132 multiprocessors hold.
  const Case c{{20, 132, 66}, stencils::star7(), 2, {2, 2}, {}};
  const Device gpu = Device::cuda();
  const TileOrder order(c.grid, c.stencil, c.dof, c.shape, gpu);
  ASSERT_GE(order.vector().tiles.count, 2000);
  auto LU = factors<double>(c, 3);
  const auto values = stored_values(order, LU, c.stored).to(gpu);
  const auto r = reference::in_tile_order(order, right_hand_side<double>(c.grid.points() * c.dof)).to(gpu);
  WavefrontSweep<double> sweeps(order);
  Vector<double> first;
  for (int repeat = 0; repeat < 30; ++repeat) {
    Vector<double> x(order.vector_scalars(), 0.0, gpu);
    sweeps.lower(values.data(), r.data(), x.data());
    sweeps.upper(values.data(), x.data(), x.data());
    sweeps.check();
    auto got = x.to(Device::host());
    if (repeat == 0) {
      first = std::move(got);
    } else {
      ASSERT_EQ(std::memcmp(first.data(), got.data(), static_cast<std::size_t>(got.bytes())), 0) << repeat;
    }
  }
}

TEST_F(WavefrontSweepGpu, TheWatchdogNamesTheTile) {
  for (const bool plain : {false, true}) {
    const Case c{{20, 64, 32}, stencils::star7(), 1, {16, 8}, {}};
    const TileOrder order(c.grid, c.stencil, c.dof, c.shape, Device::cuda());
    const Vector<double> zero(order.matrix_scalars(), 0.0, Device::cuda());
    Vector<double> x(order.vector_scalars(), 0.0, Device::cuda());
    WavefrontSweep<double> sweeps(order, {.tuning = {.plain = plain}, .patience_seconds = 0.05});
    sweeps.skip_tiles(1);
    sweeps.lower(zero.data(), x.data(), x.data());
    EXPECT_ERROR(sweeps.check(), device, "for tile 0 (lines from 0, 0)");
    sweeps.lower(zero.data(), x.data(), x.data());
    EXPECT_NO_THROW(sweeps.check());
  }
}

void random_cases(int cases, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int n = 0; n < cases && !testing::Test::HasFailure(); ++n) {
    const bool flat = random() % 4 == 0;
    const auto upto = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
    Case c{reference::random_grid(random, 14, flat),
           reference::random_stencil(random, 12, 2, flat),
           upto(9),
           {upto(12), upto(8)},
           {}};
    c.tuning = {.lines_a_thread = c.dof == 1 && random() % 2 ? 2 : 1,
                .stages = random() % 2 ? 0 : upto(8) + 1,
                .entries_a_stage = random() % 2 ? 0 : upto(6),
                .groups = random() % 2 ? 0 : upto(4),
                .border_groups = random() % 2 ? 0 : upto(4),
                .plain = random() % 8 == 0,
                .copiers = random() % 2 ? 0 : upto(3)};
    const Stored kinds[] = {Stored::fp64, Stored::fp64, Stored::fp32, Stored::bf16, Stored::fp16};
    c.stored = kinds[random() % 5];
    if (random() % 8 == 0) c.kind = random() % 4 == 0 ? LayoutKind::user : LayoutKind::skewed;
    expect_reference_bits<double>(c, random() % 2 == 0);
  }
}

TEST_F(WavefrontSweepGpu, RandomStencils) { random_cases(1000, 11); }
TEST_F(WavefrontSweepGpuFull, TenThousandRandomStencils) { random_cases(10000, 12); }

/// Offsets beyond 32 bits: two kernels that share no addressing agree.
TEST_F(WavefrontSweepGpuFull, MoreThanTwoToThe31Values) {
  const Device gpu = Device::cuda();
  const Stencil stencil = stencils::box27();
  const Grid grid{112, 112, 112};
  const TileOrder order(grid, stencil, 8, sweep_tile_shape(grid, stencil, 8), gpu);
  ASSERT_GT(order.matrix_scalars(), std::int64_t{1} << 31);
  Array<double> values(order.matrix_scalars(), gpu);
  cuda_backend()->fill(0, values.data(), values.size(), 1e-3);
  const auto r = reference::in_tile_order(order, right_hand_side<double>(grid.points() * 8)).to(gpu);
  WavefrontSweep<double> ring(order), plain(order, {.tuning = {.plain = true}});
  ASSERT_TRUE(ring.plan(Triangle::lower).pipelined);
  Vector<double> x(order.vector_scalars(), 0.0, gpu), y(order.vector_scalars(), 0.0, gpu);
  ring.lower(values.data(), r.data(), x.data());
  ring.upper(values.data(), x.data(), x.data());
  plain.lower(values.data(), r.data(), y.data());
  plain.upper(values.data(), y.data(), y.data());
  ring.check();
  plain.check();
  const auto got = x.to(Device::host()), expected = y.to(Device::host());
  EXPECT_EQ(std::memcmp(got.data(), expected.data(), static_cast<std::size_t>(got.bytes())), 0);
  EXPECT_NE(got[got.size() / 2], 0);
}

TEST(WavefrontSweep, WithoutAGpuItSaysSo) {
  const TileOrder order({4, 4, 4}, stencils::star7(), 1, {2, 2}, Device::host());
  EXPECT_ERROR(WavefrontSweep<double>{order}, device, "runs on a GPU");
}

}  // namespace
}  // namespace echelon
