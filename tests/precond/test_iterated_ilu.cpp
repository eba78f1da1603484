// SPDX-License-Identifier: BSD-3-Clause
// Triangular solves by iteration, as an ILU applies them: against the textbook, exact after as many sweeps as levels, the
// same iterates with and without scaling, the guard on factors that diverge and what deals with them, threads, refusals.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "echelon/echelon.hpp"
#include "echelon/precond/registry.hpp"
#include "tests/counted_new.hpp"
#include "tests/expect_error.hpp"
#include "tests/reference/plain_trisolve.hpp"
#include "tests/reference/random_matrix.hpp"

namespace echelon {
namespace {

Vector<double> test_vector(std::int64_t size) {
  Vector<double> r(size);
  for (std::int64_t i = 0; i < size; ++i) r[i] = std::sin(1.0 + 0.7 * static_cast<double>(i));
  return r;
}

Vector<double> applied(const Preconditioner<double>& M, const Vector<double>& r) {
  Vector<double> z(r.size());
  M.apply(r, z);
  return z;
}

std::vector<double> list(const Vector<double>& x) { return {x.begin(), x.end()}; }

template <class X, class Y>
double difference(const X& x, const Y& y) {
  double largest = 0, size = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    largest = std::max(largest, std::abs(x[at] - y[at]));
    size = std::max(size, std::abs(y[at]));
  }
  return largest / size;
}

IluOptions with(const TrisolveOptions& trisolve, int fill = 0) {
  IluOptions options;
  options.fill = fill;
  options.trisolve = trisolve;
  return options;
}

/// Factors as they are, however large their inverses.
IluOptions untouched(const TrisolveOptions& trisolve) {
  auto options = with(trisolve);
  options.shift = ShiftPolicy::none;
  return options;
}

const TrisolveOptions jacobi{.method = Trisolve::jacobi};

std::vector<TrisolveOptions> all_kinds(int sweeps) {
  using enum Trisolve;
  using enum JacobiForm;
  return {{jacobi, sweeps, noncompact},
          {jacobi, sweeps, compact},
          {jacobi, sweeps, noncompact, 0.7},
          {jacobi, sweeps, compact, 0.7},
          {jacobi, sweeps, compact, 1, 4},
          {jacobi, sweeps, compact, 1, 1000},
          {neumann, sweeps},
          {jacobi, sweeps, noncompact, 1, 1, FactorScaling::both},
          {neumann, sweeps, compact, 1, 1, FactorScaling::upper}};
}

TEST(IteratedIlu, SweepBySweepAsTheTextbook) {
  for (const int block : {1, 2, 3, 5}) {
    const auto A = reference::with_random_values<double>(reference::random_rows(31, 0.15, 3), block, 9, 0.6);
    const auto exact = ilu(A);
    const auto L = reference::dense(exact.lower(), true), U = reference::dense(exact.upper(), false);
    const auto r = test_vector(A.rows());
    for (const int sweeps : {1, 2, 5}) {
      for (auto options : all_kinds(sweeps)) {
        options.guard = false;  // a sweep or two may leave more than there was
        const auto M = ilu(A, with(options));
        const auto y = reference::iterate(L, true, block, options, M.report().trisolve->lower.sweeps, list(r));
        const auto z = reference::iterate(U, false, block, options, M.report().trisolve->upper.sweeps, y);
        const auto ours = applied(M, r);
        EXPECT_LT(difference(list(ours), z), 1e-13) << word(options.method) << ' ' << word(options.form) << " b=" << block
                                                    << " sweeps " << sweeps << " blocks of " << options.rows_a_block;
      }
    }
  }
}

/// Nilpotency: the compact form has the very bits of the exact sweep, the others its value.
TEST(IteratedIlu, AsManySweepsAsLevelsAreExact) {
  for (const int block : {1, 2, 4, 9}) {
    const auto A = reference::with_random_values<double>(reference::random_rows(60, 0.08, 5), block, 2, 0.9);
    const auto r = test_vector(A.rows());
    const auto exact = applied(ilu(A), r);
    for (const auto& options : all_kinds(60)) {
      const auto M = ilu(A, with(options));
      const auto& note = *M.report().trisolve;
      if (options.damping != 1) continue;
      EXPECT_EQ(note.lower.sweeps, note.lower.levels);
      EXPECT_EQ(note.lower.left_over, 0);
      const auto z = applied(M, r);
      const bool same_bits = options.method == Trisolve::jacobi && options.form == JacobiForm::compact;
      if (same_bits) {
        EXPECT_TRUE(std::ranges::equal(z, exact)) << "b=" << block << " blocks of " << options.rows_a_block;
      } else {
        EXPECT_LT(difference(z, exact), 1e-13);
      }
    }
  }
}

/// With D⁻¹ in it Jacobi is invariant under row and column scaling (put v = C w), whatever that does to dep(U).
TEST(IteratedIlu, ScalingLowersDepartureByEightOrdersAndLeavesTheIteratesAlone) {
  for (const Grid grid : {Grid{7, 7, 7}, Grid{13, 13, 13}, Grid{49, 48, 1}}) {
    const auto system = problems::projection(grid);
    const auto r = test_vector(system.A.rows());
    for (const int sweeps : {5, 40}) {
      const auto plain = ilu(system.A, with({Trisolve::jacobi, sweeps}));
      const auto scaled = ilu(system.A, with({Trisolve::jacobi, sweeps, JacobiForm::noncompact, 1, 1, FactorScaling::both}));
      const auto &before = plain.report().trisolve->upper, &after = scaled.report().trisolve->upper;
      EXPECT_EQ(scaled.report().trisolve->used, "jacobi") << scaled.report().trisolve->why;
      EXPECT_LT(difference(applied(scaled, r), applied(plain, r)), 1e-13) << sweeps;
      EXPECT_EQ(before.departure, after.departure);
      EXPECT_GT(after.departure / after.scaled_departure, 1e6);
      EXPECT_GT(after.condition / after.scaled_condition, 1e3);
      EXPECT_LE(after.scaling_deviation, 1e-6);
      EXPECT_EQ(before.growth, after.growth) << "what decides is the same";
    }
  }
}

/// I − c·(shifted identity): every sweep multiplies an error by c.
BlockCsr<double> growing(std::int32_t n, double c) {
  std::vector<Triplet<double>> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    if (i > 0) entries.push_back({i, i - 1, -c});
    entries.push_back({i, i, 1});
    if (i + 1 < n) entries.push_back({i, i + 1, 0});
  }
  return from_triplets<double>(n, n, entries);
}

TEST(IteratedIlu, TheGuardForeseesDivergenceAndExactSweepsTakeOver) {
  const auto A = growing(200, 3);
  const auto r = test_vector(200);
  const auto exact = applied(ilu(A, untouched({})), r);
  const auto guarded = ilu(A, untouched({Trisolve::jacobi, 20}));
  const auto& note = *guarded.report().trisolve;
  EXPECT_EQ(note.asked, "jacobi");
  EXPECT_EQ(note.used, "exact");
  EXPECT_NE(note.why.find("L: after 20 sweeps 3.5e+09 times the first error is left"), std::string::npos) << note.why;
  ASSERT_FALSE(guarded.report().remarks.empty());
  EXPECT_NE(guarded.report().remarks.back().find("exact sweeps take over"), std::string::npos);
  EXPECT_TRUE(std::ranges::equal(applied(guarded, r), exact));
  EXPECT_NEAR(note.lower.left_over / std::pow(3.0, 20), 1, 1e-12);

  const auto careless = ilu(A, untouched({.method = Trisolve::jacobi, .sweeps = 20, .guard = false}));
  EXPECT_EQ(careless.report().trisolve->used, "jacobi");
  EXPECT_GT(difference(applied(careless, r), exact), 0.9);

  // Solved exactly within blocks of 64 rows there are 4 levels, so 4 sweeps are exact.
  const auto blocks = ilu(A, untouched({Trisolve::jacobi, 20, JacobiForm::compact, 1, 64}));
  EXPECT_EQ(blocks.report().trisolve->used, "block jacobi") << blocks.report().trisolve->why;
  EXPECT_EQ(blocks.report().trisolve->lower.sweeps, 4);
  EXPECT_TRUE(std::ranges::equal(applied(blocks, r), exact));
}

TEST(IteratedIlu, TheGuardForeseesOverflow) {
  const auto A = growing(60, 1e4);  // ten to the 236th in the end
  const auto M = ilu(A, untouched({Trisolve::jacobi, 400}));
  EXPECT_EQ(M.report().trisolve->used, "exact");
  EXPECT_NE(M.report().trisolve->why.find("overflow"), std::string::npos) << M.report().trisolve->why;
}

/// (1 − ω)I + ωN grows by 1 − ω + ω‖N‖ at most: less, but what is left never vanishes.
TEST(IteratedIlu, DampingTamesTransients) {
  const auto A = growing(200, 1.05);
  const auto plain = ilu(A, untouched({Trisolve::jacobi, 10, JacobiForm::compact}));
  const auto damped = ilu(A, untouched({Trisolve::jacobi, 10, JacobiForm::compact, 0.5, 1, FactorScaling::none, false}));
  EXPECT_EQ(plain.report().trisolve->used, "exact");
  EXPECT_LT(damped.report().trisolve->lower.growth, plain.report().trisolve->lower.growth);
  EXPECT_NEAR(damped.report().trisolve->lower.growth, std::pow(1.025, 10), 1e-12);
}

/// Four entries of random sign a row: sums of sizes are 1.8, but what they do to an error falls like 0.9^k.
TEST(IteratedIlu, CancellationIsFoundByProbes) {
  std::mt19937 random(5);
  std::vector<Triplet<double>> entries;
  const std::int32_t n = 600;
  for (std::int32_t i = 0; i < n; ++i) {
    for (int e = 0; e < 4; ++e) {
      const auto j = i - 1 - static_cast<std::int32_t>(random() % 8) - 8 * e;
      if (j >= 0) entries.push_back({i, j, random() % 2 == 0 ? 0.4 : -0.4});
    }
    entries.push_back({i, i, 1});
  }
  const auto A = from_triplets<double>(n, n, entries);
  const auto M = ilu(A, with({Trisolve::jacobi, 40}));
  const auto& note = *M.report().trisolve;
  EXPECT_EQ(note.used, "jacobi") << note.why;
  EXPECT_TRUE(note.lower.probed);
  EXPECT_LT(note.lower.left_over, 0.5);
  const auto r = test_vector(n);
  EXPECT_LT(difference(applied(M, r), applied(ilu(A), r)), 0.5);
}

TEST(IteratedIlu, CgStaysCgAndNeedsFewMoreIterations) {
  const auto A = to_block_csr(problems::poisson({20, 20, 20}, stencils::star7()));
  const Vector<double> b(A.rows(), 1.0);
  Vector<double> x(A.rows(), 0.0);
  const auto exact = cg(A, b, x, ic(A));
  for (const auto& [method, sweeps] : {std::pair{Trisolve::jacobi, 8}, std::pair{Trisolve::neumann, 8}}) {
    x.fill(0);
    const auto M = ic(A, with({method, sweeps}));
    ASSERT_EQ(M.report().trisolve->used, word(method));
    const auto report = cg(A, b, x, M);
    EXPECT_TRUE(report.converged);
    EXPECT_LE(report.iterations, exact.iterations + 4);
  }
}

TEST(IteratedIlu, StructuredMatricesGoThroughBlockCsr) {
  const auto A = problems::poisson({9, 8, 7}, stencils::star7());
  const auto r = test_vector(A.rows());
  const auto options = with({Trisolve::jacobi, 5});
  EXPECT_TRUE(std::ranges::equal(applied(ilu(A, options), r), applied(ilu(to_block_csr(A), options), r)));
}

TEST(IteratedIlu, ThreadsAndRefactorizationsDoNotMatter) {
  auto A = to_block_csr(problems::convection_diffusion({30, 30, 30}, stencils::star7()));
  const auto r = test_vector(A.rows());
  const int before = threads();
  for (const auto& options : all_kinds(6)) {
    set_threads(1);
    const auto alone = applied(ilu(A, with(options)), r);
    set_threads(3);
    auto M = ilu(A, with(options));
    EXPECT_TRUE(std::ranges::equal(applied(M, r), alone));
    const auto bytes = M.report().bytes;
    ASSERT_TRUE(M.refactor(A).ok);
    EXPECT_EQ(M.report().bytes, bytes);
    EXPECT_TRUE(std::ranges::equal(applied(M, r), alone));
    auto z = r.clone();
    const auto allocations = allocation_count();
    M.apply(z, z);
    EXPECT_EQ(allocation_count(), allocations);
    EXPECT_TRUE(std::ranges::equal(z, alone)) << "in place";
  }
  set_threads(before);
}

TEST(IteratedIlu, RcmOrderAndFill) {
  const auto A = to_block_csr(problems::convection_diffusion({12, 11, 10}, stencils::star7()));
  auto options = with({Trisolve::jacobi, 500, JacobiForm::compact}, 1);
  options.ordering = Ordering::rcm;
  auto plain = options;
  plain.trisolve = {};
  const auto r = test_vector(A.rows());
  EXPECT_TRUE(std::ranges::equal(applied(ilu(A, options), r), applied(ilu(A, plain), r)));
}

TEST(IteratedIlu, AMatrixScaledFirst) {
  const auto system = problems::projection({9, 9, 9});
  IluOptions options;
  options.scale_matrix = true;
  const auto M = make_preconditioner("ic", &system.A, {.ilu = options});
  EXPECT_NE(M->report().remarks.back().find("A was scaled first"), std::string::npos);
  const Vector<double> ones(system.A.rows(), 1.0);
  Vector<double> x(system.A.rows(), 0.0);
  EXPECT_TRUE(cg(system.A, system.b, x, *M, {.null_space = &ones}).converged);
  // ILU of R⁻¹AC⁻¹ has the factors R⁻¹L…: the preconditioner is the same but for rounding.
  const auto r = test_vector(system.A.rows());
  EXPECT_LT(difference(applied(*M, r), applied(ic(system.A), r)), 1e-9);
}

TEST(IteratedIlu, SmallAndOddSystems) {
  const auto one = from_triplets<double>(1, 1, std::vector<Triplet<double>>{{0, 0, 4}});
  for (const auto& options : all_kinds(40)) {
    if (options.damping != 1) continue;
    EXPECT_EQ(applied(ilu(one, with(options)), {8.0})[0], 2);
  }
  // Two parts that do not know of each other.
  const auto apart = from_triplets<double>(
      4, 4,
      std::vector<Triplet<double>>{{0, 0, 2}, {0, 2, 1}, {2, 0, 1}, {2, 2, 2}, {1, 1, 3}, {1, 3, 1}, {3, 1, 1}, {3, 3, 3}});
  const auto r = test_vector(4);
  EXPECT_LT(difference(applied(ilu(apart, with(jacobi)), r), applied(ilu(apart), r)), 1e-15);
}

TEST(IteratedIlu, Refusals) {
  const auto A = growing(4, 1);
  EXPECT_ERROR((void)ilu(A, with({.method = Trisolve::jacobi, .sweeps = 0})), bad_argument, "number of sweeps is 0");
  EXPECT_ERROR((void)ilu(A, with({.method = Trisolve::jacobi, .damping = 1.5})), bad_argument, "damping is 1.5");
  EXPECT_ERROR((void)ilu(A, with({.method = Trisolve::neumann, .rows_a_block = 4})), bad_argument, "undamped Jacobi only");
  EXPECT_ERROR((void)ilu(A, with({.method = Trisolve::neumann, .damping = 0.5})), bad_argument, "no damping");
}

}  // namespace
}  // namespace echelon
