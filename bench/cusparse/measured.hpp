// SPDX-License-Identifier: BSD-3-Clause
// How cuSPARSE's routines are timed: the first call of a kind in a process loads its kernels, so a tiny case goes first and
// analyses are warm; slow routines are repeated less.
#pragma once

#include <algorithm>
#include <functional>

#include "bench/cusparse/session.hpp"
#include "bench/measure/contender_main.hpp"
#include "bench/measure/device_measure.hpp"
#include "bench/measure/sampling.hpp"

namespace echelon::bench {

/// measure(session, case, say) is called for a tiny case of the same shape, whose lines are dropped, and then for the case.
template <class Measure>
int cusparse_main(const char* kind, int argc, char** argv, const Measure& measure) {
  return contender_lines_main(kind, argc, argv, [&](const BenchCase& one, const auto& say) {
    const CusparseSession session;
    constexpr std::int64_t tiny_side = 8;
    BenchCase tiny = one.file.empty() ? one : BenchCase{.kind = one.kind, .dof = one.dof};
    tiny.grid = {std::min(tiny.grid.nx, tiny_side), std::min(tiny.grid.ny, tiny_side), std::min(tiny.grid.nz, tiny_side)};
    measure(session, tiny, [](const ContenderLine&) {});
    measure(session, one, say);
  });
}

inline double cusparse_seconds(const std::function<void()>& work, const std::function<void()>& before = {}) {
  return median(device_samples_for_a_while(work, before));
}

/// Right-hand side and answer of a case on the GPU.
struct CaseVectors {
  Vector<double> r, x;

  explicit CaseVectors(const BenchCase& one) : CaseVectors(one.rows()) {}
  explicit CaseVectors(std::int64_t rows) : r(rows, Device::cuda()), x(rows, Device::cuda()) {
    device_measure()->make_right_hand_side(r.data(), r.size());
  }
  Fingerprint answer() const { return device_measure()->fingerprint(x.data(), x.size()); }
};

}  // namespace echelon::bench
