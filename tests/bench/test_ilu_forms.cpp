// SPDX-License-Identifier: BSD-3-Clause
// The strategies that `bench dbsr` compares: those of one order are one method, bit for bit whatever the format and number
// of threads, to rounding whatever the bsize; natural order is the library's ILU(0), block Jacobi that of each slab.
#include <gtest/gtest.h>

#include <cmath>

#include "bench/program/dbsr/four_levels.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/problem/problems.hpp"

namespace echelon::bench {
namespace {

using enum Elimination;

template <class T>
StructMatrix<T> matrix(const char* stencil, Grid grid) {
  const auto A = problems::variable_poisson(grid, stencils::named(stencil));
  StructMatrix<T> B(grid, A.stencil());
  for (std::size_t n = 0; n < A.values().size(); ++n) B.values()[n] = static_cast<T>(A.values()[n]);
  return B;
}

/// M⁻¹ b in natural order.
template <class T>
std::vector<double> applied(const StructMatrix<T>& A, const Strategy& strategy) {
  const auto form = make_form(A, strategy);
  std::vector<double> b(static_cast<std::size_t>(A.rows())), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(static_cast<float>(std::sin(double(i))));
  Vector<T> own_b(form->length(), T(0)), own_x(form->length(), T(0));
  form->permute(b, own_b);
  form->factor();  // again: the same factors
  form->sweep(own_b, own_x);
  form->permute_back(own_x, x);
  return x;
}

template <class T>
class IluForms : public testing::Test {
 protected:
  void TearDown() override { set_threads(0); }
};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(IluForms, Precisions);

TYPED_TEST(IluForms, FormatsOfOneOrderHaveTheSameBits) {
  using T = TypeParam;
  for (const char* stencil : {"star7", "box27"}) {
    const auto A = matrix<T>(stencil, {13, 9, 10});
    for (const auto order : {fixed_blocks, auto_blocks}) {
      for (const int team : {1, 2, 3}) {
        set_threads(team);
        const auto csr = applied(A, {"csr", order, Format::csr, 1});
        EXPECT_EQ(applied(A, {"dbsr", order, Format::dbsr, 1}), csr) << stencil << ", threads " << team;
        for (const int bsize : {1, 2, 8, 16}) {
          // Lanes number the blocks of a colour anew: sums have another order, the method is the same.
          const auto simd = applied(A, {"simd", order, Format::dbsr, bsize});
          for (std::size_t i = 0; i < simd.size(); ++i) {
            ASSERT_NEAR(simd[i], csr[i], sizeof(T) == 8 ? 1e-13 : 1e-5) << stencil << " bsize " << bsize << " point " << i;
          }
          for (const auto format : {Format::dbsr_plain, Format::dbsr_gather, Format::sell, Format::sell_plain}) {
            EXPECT_EQ(applied(A, {"other", order, format, bsize}), simd)
                << stencil << " format " << static_cast<int>(format) << " bsize " << bsize << " threads " << team;
          }
        }
      }
    }
  }
}

TYPED_TEST(IluForms, NaturalOrderIsTheLibrarysIlu) {
  using T = TypeParam;
  const auto A = matrix<T>("box27", {7, 8, 6});
  const auto csr = applied(A, {"serial", natural, Format::csr, 1, true}),
             lines = applied(A, {"lines", natural, Format::lines, 1});
  ASSERT_EQ(csr.size(), lines.size());
  for (std::size_t i = 0; i < csr.size(); ++i) EXPECT_NEAR(csr[i], lines[i], sizeof(T) == 8 ? 1e-13 : 1e-5) << i;
}

TYPED_TEST(IluForms, BlockJacobiIsTheIluOfEachSlab) {
  using T = TypeParam;
  const Grid whole{5, 4, 6}, half{5, 4, 3};
  const auto wide = matrix<T>("star7", whole);
  StructMatrix<T> slab(half, wide.stencil());
  for (std::int64_t point = 0; point < half.points(); ++point) {
    for (int e = 0; e < static_cast<int>(wide.stencil().size()); ++e) slab.block(point, e)[0] = wide.block(point, e)[0];
  }
  set_threads(2);
  const auto both = applied(wide, {"bj", slabs, Format::csr, 1});
  set_threads(1);
  // The first slab alone has the first half of b.
  const auto first = applied(slab, {"serial", natural, Format::csr, 1, true});
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(both[i], first[i]) << i;
  const auto one = applied(wide, {"bj", slabs, Format::csr, 1});
  EXPECT_EQ(one, applied(wide, {"serial", natural, Format::csr, 1, true}));
  EXPECT_NE(one, both);
}

TEST(IluForm, StorageCountsEveryValueOnce) {
  const auto A = problems::poisson({13, 13, 13}, stencils::named("box27"));
  const auto csr = make_form(A, {"csr", fixed_blocks, Format::csr, 1})->storage();
  EXPECT_EQ(csr.nonzeros, 8.0 * 37 * 37 * 37);
  EXPECT_EQ(csr.columns, 4.0 * 37 * 37 * 37);
  EXPECT_EQ(csr.padding, 0);
  const auto blocks = make_form(A, {"dbsr", fixed_blocks, Format::dbsr, 8})->storage();
  EXPECT_EQ(blocks.nonzeros, csr.nonzeros);
  EXPECT_GT(blocks.padding, 0);
  EXPECT_EQ(blocks.columns, 4 * blocks.offsets);
  EXPECT_LT(blocks.columns + blocks.rows + blocks.offsets, csr.columns / 2);
}

TEST(IluForm, AStepIsResidualSweepsAndUpdate) {
  const std::vector<StructMatrix<double>> A = [] {
    std::vector<StructMatrix<double>> all;
    all.push_back(problems::poisson({8, 8, 8}, stencils::named("star7")));
    return all;
  }();
  FourLevels<double> method(A, {"simd", fixed_blocks, Format::dbsr, 8});
  std::vector<double> ones(512, 1.0), back(512);
  auto& form = method.form();
  Vector<double> b(form.length(), 0.0), x(form.length(), 0.0), z(form.length(), 0.0);
  form.permute(ones, b);
  form.sweep(b, z);
  method.smoothing_step(b, x);  // from zero: the sweeps alone
  for (std::int64_t p = 0; p < x.size(); ++p) EXPECT_EQ(x[p], z[p]);
  for (int step = 0; step < 200; ++step) method.smoothing_step(b, x);
  form.permute_back(x, back);
  Vector<double> answer(std::span<const double>{back}), rest(512), right(std::span<const double>{ones});
  A.front().residual(right, answer, rest);
  for (std::int64_t i = 0; i < 512; ++i) EXPECT_NEAR(rest[i], 0, 1e-6);
}

TEST(IluForm, FourLevelsNeedFewerIterationsAndReachTheResidual) {
  std::vector<StructMatrix<double>> A;
  for (const std::int64_t side : {32, 16, 8, 4})
    A.push_back(problems::poisson({side, side, side}, stencils::named("box27")));
  std::vector<StructMatrix<double>> fine;
  fine.push_back(problems::poisson({32, 32, 32}, stencils::named("box27")));
  std::int64_t alone = 0, serial = 0;
  for (const auto& strategy : solve_strategies()) {
    FourLevels<double> one(fine, strategy), four(A, strategy);
    Vector<double> b(one.form().length(), 0.0), x(one.form().length(), 0.0);
    std::vector<double> ones(32 * 32 * 32, 1.0), back(ones.size());
    one.form().permute(ones, b);
    const auto single = one.solve(b, x, 1e-8, 500), cycles = four.solve(b, x, 1e-8, 500);
    EXPECT_TRUE(single.converged && cycles.converged) << strategy.name;
    EXPECT_LT(2 * cycles.iterations, single.iterations * 2 + single.iterations) << strategy.name;
    EXPECT_LT(cycles.iterations, single.iterations) << strategy.name;
    if (strategy.name == "serial") alone = single.iterations, serial = cycles.iterations;
    if (strategy.name == "lines") {
      EXPECT_EQ(single.iterations, alone);
      EXPECT_EQ(cycles.iterations, serial);
    }
    four.form().permute_back(x, back);
    Vector<double> answer(std::span<const double>{back}), right(std::span<const double>{ones}), rest(answer.size());
    fine.front().residual(right, answer, rest);
    double norm = 0;
    for (const double value : rest) norm += value * value;
    EXPECT_LT(std::sqrt(norm / static_cast<double>(rest.size())), 2e-8) << strategy.name;
  }
}

}  // namespace
}  // namespace echelon::bench
