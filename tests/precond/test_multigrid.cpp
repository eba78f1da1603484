// SPDX-License-Identifier: BSD-3-Clause
// The pieces of structured multigrid: weights and Galerkin products against the explicit triple product, transfers against
// the same P, coarsening by direction, the symmetric cycle, the same bits for every thread count and instruction set.
#include "echelon/precond/mg/multigrid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "echelon/base/threads.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/precond/mg/coupling.hpp"
#include "echelon/precond/mg/grid_transfer.hpp"
#include "echelon/precond/mg/smoothers.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/counted_new.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/every_target.hpp"
#include "tests/reference/plain_interpolation.hpp"

namespace echelon {
namespace {

constexpr Axis every_axis[] = {Axis::x, Axis::y, Axis::z};
const Stencil line3({{-1, 0, 0}, {1, 0, 0}});

Vector<double> wavy(std::int64_t n, double phase = 0.5) {
  Vector<double> v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = std::sin(1.7 * static_cast<double>(i) + phase);
  return v;
}
double dot(const Vector<double>& a, const Vector<double>& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
bool same(const Vector<double>& a, const Vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0;
}
bool same(const StructMatrix<double>& A, const StructMatrix<double>& B) {
  return A.values().size() == B.values().size() &&
         std::memcmp(A.values().data(), B.values().data(), A.values().size_bytes()) == 0;
}

/// Diffusion with coefficients drawn at random: symmetric to the last bit.
StructMatrix<double> random_diffusion(const Grid& grid, const Stencil& stencil, unsigned seed) {
  StructMatrix<double> A(grid, stencil);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(0.1, 10);
  const int entries = stencil.size(), center = stencil.center();
  for (std::int64_t p = 0; p < A.rows(); ++p) A.block(p, center)[0] = draw(random);
  for (std::int64_t p = 0; p < A.rows(); ++p) {
    const reference::PlainPlace c(grid, p);
    for (int e = center + 1; e < entries; ++e) {
      const Offset o = stencil.offsets()[static_cast<std::size_t>(e)];
      if (!grid.contains(c.at[0] + o.x, c.at[1] + o.y, c.at[2] + o.z)) continue;
      const std::int64_t q = grid.index(c.at[0] + o.x, c.at[1] + o.y, c.at[2] + o.z);
      const double k = draw(random);
      A.block(p, e)[0] = A.block(q, entries - 1 - e)[0] = -k;
      A.block(p, center)[0] += k;
      A.block(q, center)[0] += k;
    }
  }
  return A;
}

/// Every entry of the product is the triple product's, and nothing else is there.
void expect_triple_product(const StructMatrix<double>& A, Axis axis, bool symmetric) {
  DirectionStep step(A.grid(), A.stencil(), axis);
  step.compute(A, symmetric);
  auto want = reference::plain_triple_product(reference::plain_rows(A), reference::plain_interpolation(A, axis));
  const auto got = reference::plain_rows(step.product());
  for (std::size_t I = 0; I < got.size(); ++I) {
    for (const auto& [J, value] : got[I]) {
      const auto found = want.find({static_cast<std::int64_t>(I), J});
      const double expected = found == want.end() ? 0 : found->second;
      ASSERT_NEAR(value, expected, 1e-13 * (1 + std::abs(expected))) << I << " " << J;
      if (found != want.end()) want.erase(found);
    }
  }
  for (const auto& [at, value] : want) ASSERT_EQ(value, 0) << at.first << " " << at.second;
  if (symmetric) {
    EXPECT_EQ(asymmetry(step.product()), 0);
  }
}

TEST(Multigrid, ThreePointsByHand) {
  // tridiag(−1, 2, −1): the point in the middle stays, with weight ½ to either side; ½(2·½ − 1) twice and 2 − ½ − ½ make 1.
  const auto A = [] {
    StructMatrix<double> matrix({3, 1, 1}, line3);
    matrix.fill([](auto, auto, auto, int e, std::span<double> a) { a[0] = e == 1 ? 2 : -1; });
    return matrix;
  }();
  DirectionStep step(A.grid(), A.stencil(), Axis::x);
  step.compute(A, true);
  EXPECT_TRUE(same(step.left(), {0, 0.5}));
  EXPECT_TRUE(same(step.right(), {0.5, 0}));
  EXPECT_EQ(step.product().block(0, step.product().stencil().center())[0], 1);

  // r = (1, 1, 1): forward x = ½, ¾, ⅞ and −U x = ¾, ⅞, 0; restricted ⅜ + ⅞ = 5/4, which is the correction; x + P e =
  // 9/8, 2, 3/2; backward x₂ = (1 + 2)/2, x₁ = (1 + 9/8 + 3/2)/2, x₀ = (1 + 29/16)/2.
  const auto M = multigrid(A, {.smoother = MgSmoother::gs, .coarsest = 1});
  ASSERT_TRUE(M.report().ok) << M.report().message;
  Vector<double> z(3);
  M.apply({1, 1, 1}, z);
  EXPECT_TRUE(same(z, {45.0 / 32, 29.0 / 16, 1.5}));
}

TEST(Multigrid, ProductsAreTheTripleProduct) {
  unsigned seed = 1;
  for (const Grid grid : {Grid{7, 6, 5}, {2, 3, 4}, {9, 2, 2}, {17, 8, 3}, {20, 1, 9}}) {
    for (const auto& stencil : {stencils::star7(), stencils::box27(), stencils::star13(), stencils::diamond25()}) {
      for (const Axis axis : every_axis) {
        if (side(grid, axis) < 2) continue;
        SCOPED_TRACE(sides_of(grid) + " " + stencil.name() + " along " + "xyz"[static_cast<int>(axis)]);
        expect_triple_product(random_diffusion(grid, stencil, ++seed), axis, true);
        expect_triple_product(problems::random(grid, stencil, 1, seed), axis, false);
      }
    }
  }
  const Stencil skew({{-1, -1, 0}, {2, 0, 0}, {1, 0, -1}, {0, -2, 1}});
  for (const Axis axis : every_axis) expect_triple_product(problems::random({8, 7, 6}, skew, 1, 3), axis, false);
}

/// Steps that pass on a few planes at a time have the bits of steps that are done one by one.
TEST(Multigrid, FewPlanesAtATimeChangeNothing) {
  unsigned seed = 50;
  const Stencil tall({{0, 0, -3}, {0, -1, 2}, {1, 0, -1}, {-1, 0, 0}, {0, 1, 3}});
  for (const Grid grid : {Grid{12, 11, 50}, {5, 1, 70}, {2, 3, 30}, {9, 8, 1}, {6, 7, 33}}) {
    for (const auto& stencil : {stencils::star7(), stencils::box27(), stencils::star13(), tall}) {
      for (const bool symmetric : {true, false}) {
        if (symmetric && !stencil.symmetric()) continue;
        const auto A = symmetric ? random_diffusion(grid, stencil, ++seed) : problems::random(grid, stencil, 1, ++seed);
        for (const int chosen : {7, 6, 5, 3, 1}) {
          std::vector<Axis> axes;
          for (const Axis axis : {Axis::z, Axis::y, Axis::x}) {
            if (chosen >> static_cast<int>(axis) & 1 && side(grid, axis) >= 2) axes.push_back(axis);
          }
          if (axes.empty()) continue;
          std::vector<DirectionStep> one_by_one, together;
          one_by_one.reserve(3);
          together.reserve(3);
          for (const Axis axis : axes) {
            const auto& from = one_by_one.empty() ? A : one_by_one.back().product();
            const std::int64_t kept = axis == axes.back() ? 0 : DirectionStep::planes_to_keep(from.stencil());
            together.emplace_back(from.grid(), from.stencil(), axis, kept);
            one_by_one.emplace_back(from.grid(), from.stencil(), axis);
            one_by_one.back().compute(from, symmetric);
          }
          for (int repeat = 0; repeat < 2; ++repeat) {
            DirectionStep::compute_all(together, A, symmetric);
            for (std::size_t n = 0; n < axes.size(); ++n) {
              EXPECT_TRUE(same(one_by_one[n].left(), together[n].left()) &&
                          same(one_by_one[n].right(), together[n].right()));
            }
            EXPECT_TRUE(same(one_by_one.back().product(), together.back().product())) << sides_of(grid) << stencil.name();
          }
        }
      }
    }
  }
}

TEST(Multigrid, Star7BecomesBox27InThreeSteps) {
  const auto A = problems::poisson({9, 9, 9}, stencils::star7());
  const int sizes[] = {15, 27, 27};
  const StructMatrix<double>* from = &A;
  std::vector<DirectionStep> steps;
  steps.reserve(3);
  for (int n = 0; n < 3; ++n) {
    steps.emplace_back(from->grid(), from->stencil(), every_axis[2 - n]);
    steps.back().compute(*from, true);
    from = &steps.back().product();
    EXPECT_EQ(from->stencil().size(), sizes[n]);
  }
  EXPECT_EQ(from->grid(), (Grid{4, 4, 4}));
}

TEST(Multigrid, InterpolationKeepsConstantsInside) {
  const auto A = problems::variable_poisson({21, 22, 23}, stencils::star7(), {.kappa = problems::jump_coefficient(1000)});
  std::vector<DirectionStep> steps;
  steps.reserve(3);
  const StructMatrix<double>* from = &A;
  for (const Axis axis : {Axis::z, Axis::y, Axis::x}) {
    steps.emplace_back(from->grid(), from->stencil(), axis);
    steps.back().compute(*from, true);
    from = &steps.back().product();
  }
  const GridTransfer<double> transfer(A.grid(), steps);
  const Vector<double> ones(transfer.coarse_grid().points(), 1.0);
  Vector<double> fine(A.rows(), 0.0);
  transfer.correct(ones, fine);
  // Rows next to the boundary do not sum to zero; each direction's product takes that one coarse point further.
  for (std::int64_t k = 6; k < 17; ++k) {
    for (std::int64_t j = 6; j < 16; ++j) {
      for (std::int64_t i = 6; i < 15; ++i) EXPECT_NEAR(fine[A.grid().index(i, j, k)], 1, 1e-13);
    }
  }
}

/// P and R of a level against the products of the plain P of each direction.
TEST(Multigrid, TransfersArePAndItsTranspose) {
  unsigned seed = 20;
  for (const Grid grid : {Grid{7, 6, 5}, {16, 33, 9}, {5, 4, 1}, {1, 9, 8}, {2, 2, 2}, {40, 3, 18}}) {
    for (int chosen = 1; chosen < 8; ++chosen) {
      SCOPED_TRACE(sides_of(grid) + " " + std::to_string(chosen));
      const auto A = random_diffusion(grid, stencils::box27(), ++seed);
      std::vector<DirectionStep> steps;
      steps.reserve(3);
      std::vector<reference::PlainRows> plain;
      const StructMatrix<double>* from = &A;
      bool possible = true;
      for (const Axis axis : {Axis::z, Axis::y, Axis::x}) {
        if (!(chosen >> static_cast<int>(axis) & 1)) continue;
        possible = possible && side(grid, axis) >= 2;
        if (!possible) break;
        plain.push_back(reference::plain_interpolation(*from, axis));
        steps.emplace_back(from->grid(), from->stencil(), axis);
        steps.back().compute(*from, true);
        from = &steps.back().product();
      }
      if (!possible) continue;
      const GridTransfer<double> transfer(grid, steps);
      ASSERT_EQ(transfer.coarse_grid(), from->grid());
      const auto coarse = wavy(from->rows()), fine = wavy(A.rows(), 2);
      auto spread = std::vector<double>(coarse.begin(), coarse.end());
      for (std::size_t n = plain.size(); n-- > 0;) {
        std::vector<double> next(plain[n].size(), 0.0);
        for (std::size_t i = 0; i < next.size(); ++i) {
          for (const auto& [I, weight] : plain[n][i]) next[i] += weight * spread[static_cast<std::size_t>(I)];
        }
        spread = std::move(next);
      }
      Vector<double> up(A.rows(), 0.0), down(from->rows());
      transfer.correct(coarse, up);
      for (std::int64_t i = 0; i < up.size(); ++i) ASSERT_NEAR(up[i], spread[static_cast<std::size_t>(i)], 1e-13);
      transfer.restrict_to(fine, down);
      EXPECT_NEAR(dot(down, coarse), dot(fine, up), 1e-12 * std::sqrt(dot(fine, fine) * dot(up, up)));
      std::vector<double> gathered(fine.begin(), fine.end());
      for (const auto& P : plain) {
        std::size_t coarse_points = 0;
        for (const auto& row : P) {
          for (const auto& one : row) coarse_points = std::max(coarse_points, static_cast<std::size_t>(one.first) + 1);
        }
        std::vector<double> next(coarse_points, 0.0);
        for (std::size_t i = 0; i < P.size(); ++i) {
          for (const auto& [I, weight] : P[i]) next[static_cast<std::size_t>(I)] += weight * gathered[i];
        }
        gathered = std::move(next);
      }
      for (std::int64_t i = 0; i < down.size(); ++i) ASSERT_NEAR(down[i], gathered[static_cast<std::size_t>(i)], 1e-12);
    }
  }
}

TEST(Multigrid, CoarsensTheDirectionsThatCoupleStrongly) {
  const auto axes = [](double x, double y, double z) {
    problems::VarPoissonOptions options;
    options.kappa = problems::smooth_coefficient(1);
    options.anisotropy[0] = x;
    options.anisotropy[1] = y;
    options.anisotropy[2] = z;
    return directions_to_coarsen(problems::variable_poisson({16, 16, 16}, stencils::star7(), options), 0.3);
  };
  using List = std::vector<Axis>;
  EXPECT_EQ(axes(1, 1, 1), (List{Axis::z, Axis::y, Axis::x}));
  EXPECT_EQ(axes(1, 0.31, 1), (List{Axis::z, Axis::y, Axis::x}));
  EXPECT_EQ(axes(1, 0.29, 1), (List{Axis::z, Axis::x}));
  EXPECT_EQ(axes(1, 1, 100), (List{Axis::z}));
  EXPECT_EQ(directions_to_coarsen(problems::poisson({8, 1, 1}, line3), 0.3), (List{Axis::x}));
  EXPECT_EQ(directions_to_coarsen(StructMatrix<double>({4, 1, 3}, stencils::star7()), 0.3), (List{Axis::z, Axis::x}));
  // Of a slab with one cube's spacings a side of two points couples as the others.
  StructMatrix<double> slab({40, 40, 2}, stencils::star7());
  slab.fill([](auto, auto, auto, int e, std::span<double> a) { a[0] = e == 3 ? 6 : -1; });
  EXPECT_EQ(directions_to_coarsen(slab, 0.3), (List{Axis::z, Axis::y, Axis::x}));
}

constexpr MgSmoother every_smoother[] = {MgSmoother::automatic, MgSmoother::gs,   MgSmoother::symgs,
                                         MgSmoother::ilu,       MgSmoother::dbsr, MgSmoother::jacobi,
                                         MgSmoother::chebyshev, MgSmoother::lines};

TEST(Multigrid, VAndWCyclesAreSymmetric) {
  const auto A = random_diffusion({21, 18, 13}, stencils::star7(), 5);
  const auto x = wavy(A.rows()), y = wavy(A.rows(), 2);
  Vector<double> Mx(A.rows()), My(A.rows());
  using Kind = std::pair<int, MgPrecision>;
  for (const MgSmoother smoother : every_smoother) {
    for (const CycleShape cycle : {CycleShape::v, CycleShape::w}) {
      for (const auto& [sweeps, precision] : {Kind{1, MgPrecision::fp64}, {2, MgPrecision::fp64}, {1, MgPrecision::fp32}}) {
        SCOPED_TRACE(std::string(word(smoother)) + " " + word(cycle) + " " + std::to_string(sweeps));
        const auto M =
            multigrid(A, {.smoother = smoother, .cycle = cycle, .precision = precision, .sweeps = sweeps, .coarsest = 50});
        ASSERT_TRUE(M.report().ok) << M.report().message;
        EXPECT_TRUE(M.report().symmetric);
        EXPECT_EQ(M.report().precision, precision == MgPrecision::fp64 ? "fp64" : "fp32");
        M.apply(x, Mx);
        M.apply(y, My);
        const double rounding = precision == MgPrecision::fp64 ? 1e-12 : 1e-5;
        EXPECT_NEAR(dot(y, Mx), dot(x, My), rounding * std::sqrt(dot(y, y) * dot(Mx, Mx)));
        EXPECT_GT(dot(x, Mx), 0);
      }
    }
  }
}

/// A cycle of any shape is a contraction in the norm of A: twice the iteration, half the error and less.
TEST(Multigrid, EveryCycleContracts) {
  const auto A = problems::poisson({30, 21, 17}, stencils::star7());
  Vector<double> r(A.rows()), d(A.rows());
  for (const MgSmoother smoother : every_smoother) {
    for (const CycleShape cycle : {CycleShape::v, CycleShape::f, CycleShape::w}) {
      for (const int sweeps : {1, 3}) {
        SCOPED_TRACE(std::string(word(smoother)) + " " + word(cycle) + " " + std::to_string(sweeps));
        const auto M = multigrid(A, {.smoother = smoother, .cycle = cycle, .sweeps = sweeps, .coarsest = 30});
        auto e = wavy(A.rows());
        const double before = dot(e, e);
        for (int n = 0; n < 3; ++n) {
          A.apply(e, r);
          M.apply(r, d);
          for (std::int64_t i = 0; i < e.size(); ++i) e[i] -= d[i];
        }
        EXPECT_LT(dot(e, e), 0.05 * before);
      }
    }
  }
}

TEST(Multigrid, SameBitsForEveryThreadCountAndTarget) {
  for (const MgSmoother smoother : every_smoother) {
    for (const Grid grid : {Grid{37, 50, 23}, {130, 70, 1}, {61, 5, 40}}) {
      SCOPED_TRACE(std::string(word(smoother)) + " " + sides_of(grid));
      const auto A =
          grid.nz > 1 ? random_diffusion(grid, stencils::star7(), 9) : problems::random(grid, stencils::box9(), 1, 4);
      const auto r = wavy(A.rows());
      const MgOptions options{
          .smoother = smoother, .precision = grid.nz == 40 ? MgPrecision::fp64 : MgPrecision::fp32, .coarsest = 60};
      Vector<double> want(A.rows()), got(A.rows());
      set_threads(1);
      multigrid(A, options).apply(r, want);
      for (const int count : {2, 3, 4}) {
        set_threads(count);
        const auto M = multigrid(A, options);
        for (int repeat = 0; repeat < 2; ++repeat) {
          M.apply(r, got);
          EXPECT_TRUE(same(got, want)) << count << " threads";
        }
      }
      set_threads(0);
    }
  }
  const auto A = random_diffusion({37, 20, 23}, stencils::star7(), 9);
  Vector<double> want(A.rows()), got(A.rows());
  for (const MgPrecision precision : {MgPrecision::fp64, MgPrecision::fp32}) {
    const MgOptions options{.smoother = MgSmoother::gs, .precision = precision};
    multigrid(A, options).apply(wavy(A.rows()), want);
    reference::on_every_target([&] {
      multigrid(A, options).apply(wavy(A.rows()), got);
      EXPECT_TRUE(same(got, want));
    });
  }
}

TEST(Multigrid, NewValuesAreThoseOfAFreshOne) {
  const auto A = random_diffusion({24, 31, 15}, stencils::star7(), 2),
             B = random_diffusion({24, 31, 15}, stencils::star7(), 3);
  for (const MgSmoother smoother : every_smoother) {
    SCOPED_TRACE(word(smoother));
    auto M = multigrid(A, {.smoother = smoother});
    const auto fresh = multigrid(B, {.smoother = smoother});
    ASSERT_TRUE(M.refactor(B).ok);
    EXPECT_TRUE(same(M.matrix(1), fresh.matrix(1)));
    Vector<double> got(A.rows()), want(A.rows());
    M.apply(wavy(A.rows()), got);
    fresh.apply(wavy(A.rows()), want);
    EXPECT_TRUE(same(got, want));
  }
  auto M = multigrid(A);
  EXPECT_ERROR((void)M.refactor(random_diffusion({24, 30, 15}, stencils::star7(), 2)), structure, "24x30x15");
  EXPECT_ERROR((void)M.refactor(random_diffusion({24, 31, 15}, stencils::box27(), 2)), structure, "27 entries");
}

TEST(Multigrid, NewValuesAllocateNothing) {
  const auto A = random_diffusion({40, 31, 22}, stencils::star7(), 2),
             B = random_diffusion({40, 31, 22}, stencils::star7(), 3);
  // ILU shares the values of a level of star7, which are then written elsewhere; dbsr's refactor keeps no such promise.
  for (const MgSmoother smoother :
       {MgSmoother::gs, MgSmoother::symgs, MgSmoother::jacobi, MgSmoother::chebyshev, MgSmoother::lines}) {
    for (const MgPrecision precision : {MgPrecision::fp64, MgPrecision::fp32}) {
      SCOPED_TRACE(word(smoother));
      auto M = multigrid(A, {.smoother = smoother, .precision = precision});
      ASSERT_TRUE(M.refactor(B).ok);
      const auto arrays = allocation_count();
      const long others = new_calls;
      const bool ok = M.refactor(A).ok;
      EXPECT_EQ(new_calls - others, 0);
      EXPECT_EQ(allocation_count() - arrays, 0);
      EXPECT_TRUE(ok);
      Vector<double> r(A.rows(), 1.0), z(A.rows());
      M.apply(r, z);
      const auto before = allocation_count();
      const long news = new_calls;
      M.apply(r, z);
      EXPECT_EQ(new_calls - news, 0);
      EXPECT_EQ(allocation_count() - before, 0);
    }
  }
}

TEST(Multigrid, ReportsItsLevels) {
  const auto M = multigrid(problems::poisson({64, 33, 20}, stencils::star7()), {.smoother = MgSmoother::gs});
  const auto& note = *M.report().multilevel;
  ASSERT_EQ(note.levels.size(), static_cast<std::size_t>(M.report().levels));
  EXPECT_EQ(note.levels[0].grid, "64x33x20");
  EXPECT_EQ(note.levels[0].smoother, "gs");
  EXPECT_EQ(note.levels[0].coarsened, "x");  // spacings 1/65, 1/34, 1/21: couplings 1, 0.27, 0.10
  EXPECT_EQ(note.levels.back().smoother, "direct");
  EXPECT_LE(note.levels.back().rows, 500);
  double entries = 0;
  for (const auto& level : note.levels) entries += static_cast<double>(level.nonzeros);
  EXPECT_DOUBLE_EQ(note.operator_complexity, entries / static_cast<double>(note.levels[0].nonzeros));
  EXPECT_LE(note.operator_complexity, 4);
  EXPECT_EQ(note.null_vectors, 0);
  EXPECT_GT(M.report().bytes, 0);
}

TEST(Multigrid, RefusesWhatItCannotTake) {
  EXPECT_ERROR(multigrid(problems::random({4, 4, 4}, stencils::star7(), 2, 1)), bad_argument, "2 unknowns a point");
  const auto A = problems::poisson({8, 8, 8}, stencils::star7());
  EXPECT_ERROR(multigrid(A, {.sweeps = 0}), bad_argument, "0 sweeps");
  EXPECT_ERROR(multigrid(A, {.strong = 0}), bad_argument, "strong is 0");
  EXPECT_ERROR(multigrid(A, {.coarsest = 0}), bad_argument, "0 unknowns");
  const auto M = multigrid(A);
  Vector<double> r(A.rows(), 1.0), shorter(7);
  EXPECT_ERROR(M.apply(shorter, r), size_mismatch, "512");
  EXPECT_ERROR(M.apply(r, r), bad_argument, "same vector");
}

}  // namespace
}  // namespace echelon
