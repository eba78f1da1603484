// SPDX-License-Identifier: BSD-3-Clause
// HPCG on several ranks, here threads of one process under the code that runs over MPI: published residuals and iteration
// counts, the product and the sweeps beside those of the reference with its halo, and ranks that end together.
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "apps/hpcg/benchmark.hpp"
#include "apps/hpcg/optimised.hpp"
#include "apps/hpcg/reference.hpp"
#include "apps/hpcg/report_text.hpp"
#include "apps/hpcg/validation.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/comm/agreement.hpp"
#include "echelon/problem/problems.hpp"
#include "tests/reference/plain_smoother.hpp"
#include "tests/reference/threaded_ranks.hpp"

namespace echelon::hpcg {
namespace {

using test::run_ranks;

Geometry geometry_on(const Communicator& communicator, const Grid& box) {
  return {box, hpcg_process_grid(communicator.size()), communicator.rank()};
}

Optimised optimised_on(const Communicator& communicator, const Geometry& finest, bool separate = false) {
  const auto levels = levels_of(finest);
  std::vector<StructMatrix<double>> matrices;
  for (const auto& level : levels) matrices.push_back(problems::poisson(level.local, stencils::box27()));
  return {levels, std::move(matrices), {smoother_kinds().front().make, separate}, communicator};
}

class HpcgRanks : public testing::Test {
 protected:
  HpcgRanks() : before_(threads_asked_for()) { set_threads(1); }
  ~HpcgRanks() override { set_threads(before_); }

  /// Of rank 0, which all must share.
  static Outcome run(int ranks, const Grid& box, const MakeSmoother& make, bool separate = false) {
    Outcome first;
    std::mutex lock;
    run_ranks(ranks, [&](const Communicator& communicator) {
      Plan plan = make_plan(geometry_on(communicator, box), smoother_kinds().front(), separate);
      plan.make = make;
      plan.seconds = 1e-3;
      plan.reference_calls = 1;
      Outcome outcome = run_benchmark(plan, {}, communicator);
      const bool valid_somewhere = communicator.largest(outcome.valid()) > 0;
      const std::lock_guard hold(lock);
      EXPECT_EQ(outcome.valid(), valid_somewhere) << "one verdict for all";
      if (communicator.rank() == 0) first = std::move(outcome);
    });
    return first;
  }

  static double reference_residual(int ranks, std::int64_t side) {
    double residual = 0;
    run_ranks(ranks, [&](const Communicator& communicator) {
      const auto levels = levels_of(geometry_on(communicator, {side, side, side}));
      Reference reference(levels, communicator);
      Vector<double> x(reference.rows());
      CgSeconds seconds;
      const auto result = reference.solve(right_hand_side(levels.front()), x, {}, seconds);
      if (communicator.rank() == 0) residual = result.scaled();
    });
    return residual;
  }

 private:
  int before_;
};

TEST_F(HpcgRanks, EveryNumberOfRanksIsValid) {
  for (const int ranks : {2, 3, 4}) {
    const Outcome outcome = run(ranks, {16, 16, 16}, smoother_kinds().front().make);
    EXPECT_TRUE(outcome.valid()) << ranks << "\n" << summary_text(outcome);
    EXPECT_EQ(outcome.geometry.size(), ranks);
    EXPECT_EQ(outcome.spectral.unpreconditioned, 11);
    EXPECT_LE(outcome.spectral.preconditioned, 2);
    EXPECT_NE(report_text(outcome).find("DDOT Timing Variations::Min DDOT MPI_Allreduce time="), std::string::npos);
  }
}

TEST_F(HpcgRanks, EightHaveThePublishedIterations) {
  // 32³ on 2×2×2 processes: 11 iterations without and 2 with the preconditioner, whose halo lags behind.
  const Outcome outcome = run(8, {16, 16, 16}, smoother_kinds().front().make);
  EXPECT_EQ(outcome.geometry.equations(), 32768);
  EXPECT_EQ(outcome.geometry.nonzeros(), 830584);
  EXPECT_EQ(outcome.spectral.unpreconditioned, 11);
  EXPECT_EQ(outcome.spectral.preconditioned, 2);
  EXPECT_TRUE(outcome.valid()) << summary_text(outcome);
}

TEST_F(HpcgRanks, ABoxThatIsNoCubeAndTheSeparateResidual) {
  const Outcome outcome = run(2, {16, 32, 24}, smoother_kinds().front().make, true);
  EXPECT_TRUE(outcome.valid()) << summary_text(outcome);
  EXPECT_TRUE(outcome.separate);
}

TEST_F(HpcgRanks, AnUnsymmetricSmootherIsInvalidOnAll) {
  const auto spoilt = test::PlainSmoother::maker(test::PlainSmoother::Kind::forward_only);
  const Outcome outcome = run(2, {16, 16, 16}, spoilt);
  EXPECT_FALSE(outcome.symmetry.passed());
  EXPECT_FALSE(outcome.valid());
}

TEST_F(HpcgRanks, ProductAndPreconditionerAreTheReferences) {
  for (const int ranks : {2, 6, 8}) {
    run_ranks(ranks, [&](const Communicator& communicator) {
      const Geometry finest = geometry_on(communicator, {16, 24, 16});
      Reference reference(levels_of(finest), communicator);
      const auto drawn = drawn_vector(finest, 7);
      Vector<double> wide(reference.columns(), 0.0), expected(reference.rows());
      std::copy(drawn.begin(), drawn.end(), wide.begin());
      reference.multiply(wide, expected);
      for (const bool separate : {false, true}) {
        Optimised ours = optimised_on(communicator, finest, separate);
        Vector<double> r = ours.in_own_order(drawn), image(ours.length());
        const double dot = ours.multiply(r, image);
        EXPECT_NEAR(dot, ours.dot(r, image), 1e-9 * std::fabs(dot)) << "the product's own sum";
        for (std::int64_t i = 0; i < image.size(); ++i) ASSERT_NEAR(image[i], expected[i], 1e-12) << ranks << ", " << i;
        ours.precondition(r, image);
        Vector<double> smoothed(reference.columns(), 0.0);
        reference.precondition(drawn, smoothed);
        for (std::int64_t i = 0; i < image.size(); ++i) ASSERT_NEAR(image[i], smoothed[i], 1e-13) << ranks << ", " << i;
        for (std::int64_t i = 0; i < r.size(); ++i) ASSERT_EQ(r[i], drawn[i]) << "r is back";
      }
    });
  }
}

TEST_F(HpcgRanks, TheRightHandSideDoesNotDependOnThem) {
  // ‖b‖ of 32×16×16 on one process and on two.
  const Geometry whole{{32, 16, 16}};
  const auto b = right_hand_side(whole);
  double expected = 0;
  for (const double value : b) expected += value * value;
  run_ranks(2, [&](const Communicator& communicator) {
    const Geometry box = geometry_on(communicator, {16, 16, 16});
    double sum = 0;
    for (const double value : right_hand_side(box)) sum += value * value;
    communicator.sum({&sum, 1});
    EXPECT_EQ(sum, expected);
  });
}

TEST_F(HpcgRanks, OneThatIsToldToStopStopsAll) {
  run_ranks(2, [&](const Communicator& communicator) {
    Plan plan = make_plan(geometry_on(communicator, {16, 16, 16}), smoother_kinds().front(), false);
    plan.seconds = 1e6;
    int questions = 0;
    const Monitor monitor{[&] {
                            const bool told = communicator.rank() == 1 && ++questions > 200;
                            return told ? Verdict::interrupt : Verdict::proceed;
                          },
                          {}};
    const Outcome outcome = run_benchmark(plan, monitor, communicator);
    EXPECT_EQ(outcome.ended, Verdict::interrupt) << "rank " << communicator.rank();
    EXPECT_FALSE(outcome.valid());
  });
}

TEST_F(HpcgRanks, OneThatCannotMakeItsSmootherEndsAllWithItsSentence) {
  run_ranks(2, [&](const Communicator& communicator) {
    Plan plan = make_plan(geometry_on(communicator, {16, 16, 16}), smoother_kinds().front(), false);
    plan.reference_calls = 1;
    plan.make = [&](const StructMatrix<double>& A) -> std::unique_ptr<Smoother> {
      if (communicator.rank() == 1) throw Error(ErrorCode::out_of_memory, "no room for a layout");
      return smoother_kinds().front().make(A);
    };
    try {
      (void)run_benchmark(plan, {}, communicator);
      ADD_FAILURE() << "rank " << communicator.rank() << " went on";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("no room for a layout"), std::string::npos) << error.what();
    }
  });
}

class HpcgRanksFull : public HpcgRanks {};

TEST_F(HpcgRanksFull, TheReferenceHasThePublishedResiduals) {
  EXPECT_NEAR(reference_residual(2, 64), 7.76155e-09, 7.76155e-12);
  EXPECT_NEAR(reference_residual(2, 104), 3.36952e-06, 3.36952e-09);
}

TEST_F(HpcgRanksFull, OursNeedsAsManyIterations) {
  const Outcome outcome = run(2, {64, 64, 64}, smoother_kinds().front().make);
  EXPECT_TRUE(outcome.valid()) << summary_text(outcome);
  EXPECT_EQ(outcome.optimized_iterations, 50);
  EXPECT_NEAR(outcome.residual, 7.76155e-09, 7.76155e-12);
}

}  // namespace
}  // namespace echelon::hpcg
