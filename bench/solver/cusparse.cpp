// SPDX-License-Identifier: BSD-3-Clause
// Our Krylov methods with cuSPARSE's products, ILU(0) and triangular solves: on blocks bsrilu02, bsrsv2 and bsrmv, on
// scalars csrilu02, SpSV and SpMV, a line each. Fill is ILU(0) of the grown pattern; of a symmetric matrix ILU is IC. The
// clock of a line runs for the numeric factorization and the iteration; all analyses are its set-up, warm.
#include <algorithm>

#include "bench/cusparse/factorizations.hpp"
#include "bench/cusparse/krylov_parts.hpp"
#include "bench/cusparse/measured.hpp"
#include "bench/measure/timed_solve.hpp"
#include "echelon/factor/stencil_fill.hpp"

namespace {

using namespace echelon;
using namespace echelon::bench;

/// The case on host and GPU.
class System {
 public:
  explicit System(const BenchCase& of)
      : one(of),
        A(one.make()),
        b(one.right_hand_side()),
        on_gpu(static_cast<std::int64_t>(A.values().size()), Device::cuda()),
        b_on_gpu(b.to(Device::cuda())) {
    copy_bytes(on_gpu.data(), Device::cuda(), A.values().data(), Device::host(), on_gpu.bytes());
  }

  /// A in the pattern of its stencil grown by `fill`.
  DeviceRows rows(int fill, bool as_scalars) const {
    const Stencil stencil = grown(A.stencil(), fill);
    auto shape = ValueShape::of(one, ValueKind::matrix);
    shape.entries = stencil.size();
    shape.center = stencil.center();
    if (stencil.size() > ValueShape::most_entries) throw Error(ErrorCode::bad_argument, "a stencil of too many entries");
    std::ranges::copy(stencil.offsets(), shape.offsets);
    GivenValues given;
    given.values = on_gpu.data();
    std::ranges::transform(stencil.offsets(), given.source, [&](const Offset& o) { return A.stencil().find(o); });
    return device_rows(shape, {0, shape.entries}, as_scalars, given);
  }
  double relative_residual(const Vector<double>& x) const {
    Vector<double> r(b.size());
    A.careful_residual(b, x, r);
    return bench::fingerprint(r).norm / bench::fingerprint(b).norm;
  }

  const BenchCase& one;
  const StructMatrix<double> A;
  const Vector<double> b;
  Array<double> on_gpu;
  Vector<double> b_on_gpu;
};

struct Factored {
  double seconds = 0, analysis = 0;
};

template <class Factorization>
Factored factor(DeviceRows& factors, Factorization&& ilu) {
  const auto values = factors.values.clone();
  Factored times;
  times.analysis = device_measure()->seconds([&] { ilu.analyse(); });
  times.seconds = cusparse_seconds([&] { ilu.factor(); }, [&] { factors.values.copy_from(values); });
  return times;
}

template <class Solve>
ContenderLine solved(const CusparseSession& session, const System& system, const DeviceRows& factors, Factored factored) {
  const auto rows = system.rows(0, factors.block == 1);
  CusparseMatrix A(session, rows);
  CusparseIlu<Solve> M(session, factors);
  const double analysis = device_measure()->seconds([&] {
    A.analyse();
    M.analyse();
  });
  Vector<double> x(system.b.size(), Device::cuda());
  const auto run = timed_solve(system.one, A, system.b_on_gpu, x, M);
  ContenderLine line;
  line.contender = session.name;
  line.operation = "solve";
  line.seconds = factored.seconds + run.seconds;
  line.setup_seconds = factored.analysis + analysis;
  line.iterations = run.report.iterations;
  line.parts = run.parts;
  line.parts.insert(line.parts.begin(), {"factorization", factored.seconds});
  const auto answer = x.to(Device::host());
  line.answer = fingerprint(answer);
  line.relative_residual = system.relative_residual(answer);
  return line;
}

template <class Say>
void measure(const CusparseSession& session, const BenchCase& one, const Say& say) {
  const System system(one);
  // Blocks first: csrilu02 faults on some sizes.
  if (one.dof > 1) {
    auto factors = system.rows(one.fill, false);
    const Factored factored = factor(factors, Bsrilu02(session, factors));
    auto line = solved<Bsrsv2Solve>(session, system, factors, factored);
    line.method = "bsrilu02, bsrsv2, bsrmv";
    say(line);
  }
  auto factors = system.rows(one.fill, true);
  const auto original = factors.values.clone();
  Factored best = factor(factors, Csrilu02(session, factors, CUSPARSE_SOLVE_POLICY_NO_LEVEL));
  factors.values.copy_from(original);
  const Factored with_levels = factor(factors, Csrilu02(session, factors, CUSPARSE_SOLVE_POLICY_USE_LEVEL));
  const bool levels = with_levels.seconds < best.seconds;
  if (levels) best = with_levels;
  auto line = solved<SpsvSolve>(session, system, factors, best);
  line.method = levels ? "csrilu02 with levels, SpSV, SpMV" : "csrilu02 without levels, SpSV, SpMV";
  say(line);
}

}  // namespace

int main(int argc, char** argv) {
  return cusparse_main("solver", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    measure(session, one, say);
  });
}
