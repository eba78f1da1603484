// SPDX-License-Identifier: BSD-3-Clause
// Block kernels on stencils against the point-by-point reference, bit for bit: every block size, stencil, thread count and
// storage, pivoting inside the blocks, and what is reported about bad ones.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "echelon/base/threads.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/sweep/grid/struct_sweep.hpp"
#include "tests/reference/drawn_stencil.hpp"

namespace ec = echelon;
namespace {

template <class T>
ec::StructMatrix<T> random_matrix(const ec::Grid& grid, const ec::Stencil& stencil, int dof, std::uint64_t seed) {
  const auto A = ec::problems::random(grid, stencil, dof, seed);
  ec::StructMatrix<T> B(grid, stencil, dof);
  std::ranges::transform(A.values(), B.values().begin(), [](double a) { return static_cast<T>(a); });
  return B;
}

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return std::ranges::equal(
      a, b, {}, [](T x) { return std::bit_cast<Bits>(x); }, [](T x) { return std::bit_cast<Bits>(x); });
}

/// The factors, and what they do to a vector, are those of the point kernels.
template <class T>
void expect_reference(const ec::StructMatrix<T>& A, ec::IluOptions options, const std::string& about) {
  options.schedule = ec::SweepSchedule::automatic;
  const auto M = ec::ilu(A, options);
  options.schedule = ec::SweepSchedule::sequential;
  const auto N = ec::ilu(A, options);
  ASSERT_EQ(N.report().kernel.substr(0, 6), "points") << about;
  ASSERT_EQ(N.report().factor_kernel, N.report().kernel) << about;
  ASSERT_EQ(M.report().ok, N.report().ok) << about;
  ASSERT_EQ(M.report().perturbed_pivots, N.report().perturbed_pivots) << about;
  ASSERT_EQ(M.report().shift, N.report().shift) << about;
  ASSERT_EQ(M.report().perturbation, N.report().perturbation) << about;
  ASSERT_EQ(M.report().message, N.report().message) << about;
  if (!N.report().ok) return;
  ASSERT_TRUE(same_bits<T>(M.lower().values(), N.lower().values())) << about;
  ASSERT_TRUE(same_bits<T>(M.upper().values(), N.upper().values())) << about;
  ec::Vector<T> r(A.rows()), z(A.rows()), w(A.rows());
  for (std::int64_t i = 0; i < A.rows(); ++i) r[i] = static_cast<T>(std::sin(static_cast<double>(i) + 0.5));
  M.apply(r, z);
  N.apply(r, w);
  ASSERT_TRUE(same_bits<T>({z.data(), static_cast<std::size_t>(z.size())}, {w.data(), static_cast<std::size_t>(w.size())}))
      << about;
}

template <class T>
class StructIluBlocks : public testing::Test {};
using Scalars = testing::Types<double, float>;
TYPED_TEST_SUITE(StructIluBlocks, Scalars);

TYPED_TEST(StructIluBlocks, EqualThePointKernels) {
  for (const auto& name : ec::stencils::names()) {
    for (const int dof : {2, 3, 4, 5, 6, 7, 8, 11}) {
      for (const ec::Grid grid : {ec::Grid{19, 5, 3}, ec::Grid{1, 7, 2}, ec::Grid{8, 1, 1}, ec::Grid{1, 1, 1}}) {
        const auto A = random_matrix<TypeParam>(grid, ec::stencils::named(name), dof, 5);
        expect_reference(A, {}, name + " dof " + std::to_string(dof));
      }
    }
  }
}

TYPED_TEST(StructIluBlocks, EqualThePointKernelsOnAnyStencil) {
  ASSERT_TRUE(rc::check("random stencils, wider than the grid too", [] {
    const ec::Grid grid{*rc::gen::inRange(1, 24), *rc::gen::inRange(1, 8), *rc::gen::inRange(1, 4)};
    const int dof = *rc::gen::inRange(2, 9), fill = *rc::gen::inRange(0, 2);
    const auto A = random_matrix<TypeParam>(grid, ec::reference::drawn_stencil(), dof, *rc::gen::arbitrary<std::uint64_t>());
    expect_reference(A, {.fill = fill}, "random stencil");
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TYPED_TEST(StructIluBlocks, EveryThreadCountGivesTheSameBits) {
  for (const auto& name : {"star7", "star13", "diamond25", "box27"}) {
    for (const int dof : {2, 4, 5}) {
      for (const ec::Grid grid : {ec::Grid{37, 9, 8}, ec::Grid{40, 23, 1}, ec::Grid{8, 3, 20}}) {
        const auto A = random_matrix<TypeParam>(grid, ec::stencils::named(name), dof, 7);
        for (const int count : {2, 3}) {
          ec::set_threads(count);
          expect_reference(A, {}, std::string(name) + " dof " + std::to_string(dof));
        }
        ec::set_threads(0);
      }
    }
  }
}

/// Rows of every diagonal block turned around: without exchanging them there is no inverse, or a bad one.
TYPED_TEST(StructIluBlocks, RowsAreExchangedInsideABlock) {
  for (const auto& name : {"star7", "box27"}) {
    for (const int dof : {2, 3, 4, 5, 6, 7, 8}) {
      auto A = random_matrix<TypeParam>({9, 4, 3}, ec::stencils::named(name), dof, 11);
      for (std::int64_t point = 0; point < A.grid().points(); ++point) {
        for (int e = 0; e < A.stencil().size(); ++e) {
          const auto block = A.block(point, e);
          for (int c = 0; c < dof; ++c) {
            const auto column = block.begin() + c * dof;  // not ranges: clang 14 cannot take a subrange of libstdc++ 12
            std::rotate(column, column + point % dof, column + dof);
          }
        }
      }
      expect_reference(A, {}, std::string(name) + " dof " + std::to_string(dof));
    }
  }
}

TYPED_TEST(StructIluBlocks, BadPivotsAreReportedTheSame) {
  for (const auto& name : {"star7", "diamond13"}) {
    for (const int dof : {2, 4, 5, 8}) {
      auto A = random_matrix<TypeParam>({6, 4, 3}, ec::stencils::named(name), dof, 21);
      std::ranges::fill(A.block(0, A.stencil().center()), TypeParam(0));
      std::ranges::fill(A.block(17, A.stencil().center()), TypeParam(1e-20));
      std::ranges::fill(A.block(71, A.stencil().center()), TypeParam(0));
      for (const auto policy : {ec::ShiftPolicy::none, ec::ShiftPolicy::automatic, ec::ShiftPolicy::value}) {
        expect_reference(A, {.shift = policy, .shift_value = 0.5}, name);
      }
      for (const TypeParam bad : {std::numeric_limits<TypeParam>::quiet_NaN(), std::numeric_limits<TypeParam>::infinity()}) {
        A.block(40, 2)[1] = bad;
        expect_reference(A, {}, std::string(name) + " not finite");
      }
    }
  }
}

/// K ⊗ S with S symmetric positive definite.
TYPED_TEST(StructIluBlocks, CholeskyOfBlocks) {
  const auto K = ec::problems::poisson({9, 5, 4}, ec::stencils::box27());
  for (const int dof : {2, 3, 4, 5, 8}) {
    ec::StructMatrix<TypeParam> A(K.grid(), K.stencil(), dof);
    A.fill([&](std::int64_t i, std::int64_t j, std::int64_t k, int e, std::span<TypeParam> block) {
      const double a = K.block(K.grid().index(i, j, k), e)[0];
      for (int s = 0; s < dof * dof; ++s) {
        block[static_cast<std::size_t>(s)] = static_cast<TypeParam>(a * (s % (dof + 1) == 0 ? 2.0 : 1.0 / dof));
      }
    });
    const auto M = ec::ic(A), N = ec::ic(A, {.schedule = ec::SweepSchedule::sequential});
    ASSERT_TRUE(M.report().ok && N.report().ok) << M.report().message;
    ASSERT_EQ(M.report().kernel, "lines, b=" + std::to_string(dof));
    ASSERT_EQ(M.report().factor_kernel, M.report().kernel);
    ASSERT_TRUE(same_bits<TypeParam>(M.lower().values(), N.lower().values())) << dof;
    ASSERT_TRUE(same_bits<TypeParam>(M.upper().values(), N.upper().values())) << dof;
  }
}

/// Coefficients as they are stored, and what they mean.
template <class T>
struct StoredValues {
  std::vector<std::uint8_t> bytes;
  std::vector<T> meaning;
};

template <class T>
StoredValues<T> draw(ec::Stored stored, std::int64_t count, std::mt19937& random) {
  StoredValues<T> values;
  std::uniform_real_distribution<double> size(-0.1, 0.1);
  const auto add = [&](auto bits, double meaning) {
    const auto* p = reinterpret_cast<const std::uint8_t*>(&bits);
    values.bytes.insert(values.bytes.end(), p, p + sizeof bits);
    values.meaning.push_back(static_cast<T>(meaning));
  };
  for (std::int64_t s = 0; s < count; ++s) {
    const double a = size(random);
    const auto half = static_cast<std::uint16_t>(random());
    switch (stored) {
      case ec::Stored::fp64: add(a, a); break;
      case ec::Stored::fp32: add(static_cast<float>(a), static_cast<float>(a)); break;
      case ec::Stored::bf16: {
        const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(a)) >> 16);
        add(bits, std::bit_cast<float>(std::uint32_t{bits} << 16));
        break;
      }
      case ec::Stored::fp16: {
        // ±(1 + m/1024)·2^(e − 15), with e of 8 … 11 for values below 0.125.
        const int exponent = 8 + ((half >> 10) & 3), mantissa = half & 1023, sign = half >> 15;
        add(static_cast<std::uint16_t>(sign << 15 | exponent << 10 | mantissa),
            std::ldexp(sign ? -(1024.0 + mantissa) : 1024.0 + mantissa, exponent - 25));
        break;
      }
    }
  }
  return values;
}

template <class T>
std::vector<T> swept(const ec::StructSweepKernels<T>& kernels, ec::StructTriangle triangle, bool lower) {
  std::vector<ec::Offset> earlier;
  for (const auto& e : triangle.entries) {
    const ec::Offset o = e.offset;
    earlier.push_back(lower ? o : ec::Offset{-o.x, -o.y, -o.z});
  }
  const ec::LineGroups groups(triangle.grid, earlier, kernels.shape, 1);
  triangle.lag = groups.lag();
  ec::GroupProgress progress(groups.groups());
  const auto entries = static_cast<std::int64_t>(triangle.entries.size());
  std::vector<double> scratch(
      static_cast<std::size_t>(ec::sweep_scratch_bytes(kernels.shape.lines, entries, triangle.block) / 8 + 1));
  std::vector<T> x(static_cast<std::size_t>(triangle.grid.points() * triangle.block));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(std::sin(static_cast<double>(i) + 0.5));
  ec::run_groups(groups, progress, [&](const ec::LineWork& work, int) {
    (lower ? kernels.lower : kernels.upper)(triangle, work, {x.data(), x.data()}, scratch.data());
  });
  return x;
}

/// Narrow storage: the arithmetic is that of the values as they are stored.
TYPED_TEST(StructIluBlocks, StoredNarrowlyTheSweepIsTheReferencesOnThoseValues) {
  using T = TypeParam;
  std::mt19937 random(3);
  const ec::Grid grid{13, 4, 3};
  for (const ec::Stored stored : {ec::Stored::fp64, ec::Stored::fp32, ec::Stored::bf16, ec::Stored::fp16}) {
    if (sizeof(T) == 4 && stored == ec::Stored::fp64) continue;
    for (const int block : {2, 3, 4, 5, 6, 7, 8}) {
      const auto kernels = ec::block_struct_sweep<T>(block, stored);
      if (!kernels.lower) GTEST_SKIP() << "no block kernels on this CPU: it has no fused multiply-add";
      for (const auto& name : {"star7", "box27", "star13"}) {
        const auto stencil = ec::stencils::named(name);
        for (const bool lower : {true, false}) {
          std::vector<StoredValues<T>> planes;
          std::vector<ec::Offset> offsets;
          for (int e = 0; e < stencil.center(); ++e) {
            offsets.push_back(stencil.offsets()[static_cast<std::size_t>(lower ? e : stencil.size() - 1 - e)]);
          }
          for (std::size_t e = 0; e <= offsets.size(); ++e) {
            planes.push_back(draw<T>(stored, grid.points() * block * block, random));
          }
          std::vector<ec::TriangleEntry> narrow, wide;
          for (std::size_t e = 0; e < offsets.size(); ++e) {
            narrow.push_back({offsets[e], planes[e].bytes.data()});
            wide.push_back({offsets[e], planes[e].meaning.data()});
          }
          for (const bool scaled : {false, true}) {
            if (scaled && !lower) continue;
            const auto x = swept<T>(kernels, {grid, narrow, planes.back().bytes.data(), scaled, block, 0}, lower);
            const auto y = swept<T>(ec::point_struct_sweep<T>(block),
                                    {grid, wide, planes.back().meaning.data(), scaled, block, 0}, lower);
            ASSERT_TRUE(same_bits<T>(x, y)) << name << " b " << block << " stored " << static_cast<int>(stored);
          }
        }
      }
    }
  }
}

TEST(StructIluBlocksLookUp, OtherSizesHaveNone) {
  for (const int block : {0, 1, 9, 11}) {
    EXPECT_EQ(ec::block_struct_sweep<double>(block, ec::Stored::fp64).lower, nullptr);
  }
  EXPECT_EQ(ec::block_struct_sweep<float>(4, ec::Stored::fp64).lower, nullptr) << "never wider than the arithmetic";
}

}  // namespace
