// SPDX-License-Identifier: BSD-3-Clause
// Scalar sweeps on grids, a line at a time and two side by side: both have the bits of the point-by-point reference on the
// values as they are stored, for every instruction set, kind of storage, thread count and shape of the grid.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "echelon/base/stored.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/schedule/grid/group_progress.hpp"
#include "echelon/stencil/stencil.hpp"
#include "echelon/sweep/grid/struct_sweep.hpp"
#include "tests/reference/every_target.hpp"

namespace echelon::test {
namespace {

/// Coefficients as they are stored, and what they mean.
template <class T>
struct StoredValues {
  std::vector<double> memory;
  std::vector<T> meaning;
};

template <class T>
StoredValues<T> draw(Stored stored, std::int64_t count, std::mt19937& random) {
  std::uniform_real_distribution<double> size(-0.4, 0.4);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& a : values) a = size(random);
  StoredValues<T> kept;
  kept.memory.resize(values.size());
  if (stored == Stored::fp64) {
    kept.memory = values;
  } else {
    EXPECT_EQ(narrow(values.data(), count, 1.0, stored, kept.memory.data()), 0);
  }
  for (std::int64_t i = 0; i < count; ++i) kept.meaning.push_back(static_cast<T>(widened(kept.memory.data(), i, stored)));
  return kept;
}

template <class T>
std::vector<T> swept(const StructSweepKernels<T>& kernels, StructTriangle triangle, bool lower, int team) {
  std::vector<Offset> earlier;
  for (const auto& e : triangle.entries) {
    const Offset o = e.offset;
    earlier.push_back(lower ? o : Offset{-o.x, -o.y, -o.z});
  }
  const LineGroups groups(triangle.grid, earlier, kernels.shape, team);
  triangle.lag = groups.lag();
  GroupProgress progress(groups.groups());
  const auto entries = static_cast<std::int64_t>(triangle.entries.size());
  const std::int64_t bytes = sweep_scratch_bytes(kernels.shape.lines, entries, 1) / 8 + 1;
  std::vector<double> scratch(static_cast<std::size_t>(team * bytes));
  std::vector<T> x(static_cast<std::size_t>(triangle.grid.points()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(std::sin(static_cast<double>(i) + 0.5));
  set_threads(team);
  run_groups(groups, progress, [&](const LineWork& work, int thread) {
    (lower ? kernels.lower : kernels.upper)(triangle, work, {x.data(), x.data()}, scratch.data() + thread * bytes);
  });
  set_threads(0);
  return x;
}

template <class T>
void expect_the_references_bits(Stored stored, const char* name, const Grid& grid, bool lower) {
  std::mt19937 random(5);
  const auto stencil = stencils::named(name);
  std::vector<TriangleEntry> kept, wide;
  std::vector<StoredValues<T>> planes;
  for (int e = 0; e <= stencil.center(); ++e) planes.push_back(draw<T>(stored, grid.points(), random));
  for (int e = 0; e < stencil.center(); ++e) {
    const auto offset = stencil.offsets()[static_cast<std::size_t>(lower ? e : stencil.size() - 1 - e)];
    kept.push_back({offset, planes[static_cast<std::size_t>(e)].memory.data()});
    wide.push_back({offset, planes[static_cast<std::size_t>(e)].meaning.data()});
  }
  const std::vector<int> teams = stored == Stored::fp32 && sizeof(T) == 8 ? std::vector{1, 2, 3, 4} : std::vector{1};
  for (const bool scaled : {false, true}) {
    if (scaled && !lower) continue;
    const auto expected =
        swept<T>(point_struct_sweep<T>(1), {grid, wide, planes.back().meaning.data(), scaled, 1, 0}, lower, 1);
    for (const int lines : {1, 2}) {
      for (const int team : teams) {
        const auto x = swept<T>(scalar_struct_sweep<T>(stored, lines),
                                {grid, kept, planes.back().memory.data(), scaled, 1, 0}, lower, team);
        const auto at = std::ranges::mismatch(x, expected).in1 - x.begin();
        ASSERT_EQ(at, grid.points()) << std::hexfloat << x[at] << " " << expected[at] << " " << name << " " << grid.nx << "x"
                                     << grid.ny << "x" << grid.nz << " stored " << word(stored) << (scaled ? " scaled" : "")
                                     << (lower ? " L " : " U ") << lines << " lines, " << team << " threads";
      }
    }
  }
}

TEST(LinePairs, AreTheReferencesBits) {
  const Grid grids[] = {{9, 1, 3}, {24, 4, 2}, {41, 5, 2}, {67, 6, 1}, {5, 3, 2}, {1, 2, 3}};
  reference::on_every_target([&] {
    for (const auto& grid : grids) {
      for (const char* name : {"star7", "box9", "star5", "star13"}) {
        for (const bool lower : {true, false}) {
          for (const Stored stored : {Stored::fp64, Stored::fp32, Stored::bf16, Stored::fp16}) {
            expect_the_references_bits<double>(stored, name, grid, lower);
            if (stored != Stored::fp64) expect_the_references_bits<float>(stored, name, grid, lower);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  });
}

/// x_i = r_i + x_{i−1}, with x_{−1} = 0 and all r = 1: the numbers 1, 2, 3 … on every line.
TEST(LinePairs, CountAlongTheirLines) {
  const Grid grid{40, 3, 1};
  const std::vector<float> minus(static_cast<std::size_t>(grid.points()), -1.0F);
  const std::vector<TriangleEntry> entry = {{{-1, 0, 0}, minus.data()}};
  const auto kernels = scalar_struct_sweep<double>(Stored::fp32, 2);
  const LineGroups groups(grid, std::vector<Offset>{{-1, 0, 0}}, kernels.shape, 1);
  EXPECT_GE(groups.lag(), 1);
  std::vector<double> scratch(64), x(static_cast<std::size_t>(grid.points()), 1.0);
  for (std::int64_t g = 0; g < groups.groups(); ++g) {
    kernels.lower({grid, entry, nullptr, false, 1, groups.lag()}, groups.work(0, g, 0, groups.steps()), {x.data(), x.data()},
                  scratch.data());
  }
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], static_cast<double>(i % 40 + 1));
}

}  // namespace
}  // namespace echelon::test
