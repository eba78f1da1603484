// SPDX-License-Identifier: BSD-3-Clause
// Whole solves with cuSPARSE's parts: the case on host and GPU, its factorizations timed, our Krylov methods on top.
#pragma once

#include <algorithm>
#include <utility>

#include "bench/cusparse/factorizations.hpp"
#include "bench/cusparse/krylov_parts.hpp"
#include "bench/cusparse/measured.hpp"
#include "bench/measure/timed_solve.hpp"
#include "echelon/stencil/stencil_fill.hpp"

namespace echelon::bench {

/// The case on host and GPU.
class CusparseSystem {
 public:
  explicit CusparseSystem(const BenchCase& of)
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
  /// What is said of an answer, which is on the host.
  void judge(const Vector<double>& x, ContenderLine& line) const {
    Vector<double> r(b.size());
    A.careful_residual(b, x, r);
    line.answer = fingerprint(x);
    line.relative_residual = fingerprint(r).norm / fingerprint(b).norm;
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

/// csrilu02, the faster of its two ways, and whether that is the one with levels.
inline std::pair<Factored, bool> factor_scalars(const CusparseSession& session, DeviceRows& factors) {
  const auto original = factors.values.clone();
  const Factored plain = factor(factors, Csrilu02(session, factors, CUSPARSE_SOLVE_POLICY_NO_LEVEL));
  factors.values.copy_from(original);
  const Factored levels = factor(factors, Csrilu02(session, factors, CUSPARSE_SOLVE_POLICY_USE_LEVEL));
  return {levels.seconds < plain.seconds ? levels : plain, levels.seconds < plain.seconds};
}

/// Our Krylov method on `rows` with M made of `factors`; the answer stays on the GPU, the line lacks the method and what is
/// said of the answer.
template <class Solve>
ContenderLine run_whole_solve(const CusparseSession& session, const BenchCase& one, const DeviceRows& rows,
                              const DeviceRows& factors, Factored factored, const Vector<double>& b, Vector<double>& x) {
  CusparseMatrix A(session, rows);
  CusparseIlu<Solve> M(session, factors);
  const double analysis = device_measure()->seconds([&] {
    A.analyse();
    M.analyse();
  });
  const auto run = timed_solve(one, A, b, x, M);
  ContenderLine line;
  line.contender = session.name;
  line.operation = "solve";
  line.seconds = factored.seconds + run.seconds;
  line.setup_seconds = factored.analysis + analysis;
  line.iterations = run.report.iterations;
  line.parts = run.parts;
  line.parts.insert(line.parts.begin(), {"factorization", factored.seconds});
  return line;
}

}  // namespace echelon::bench
