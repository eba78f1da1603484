// SPDX-License-Identifier: BSD-3-Clause
// What a run of conjugate gradients is asked and says, by the reference's kernels or by ours.
#pragma once

#include <functional>
#include <vector>

#include "echelon/base/work_watch.hpp"

namespace echelon::hpcg {

struct CgRequest {
  int iterations = 50;
  double tolerance = 0;  // of the residual over the first one
  bool preconditioned = true;
  std::function<Verdict()> ask = {};       // once an iteration; a 'no' ends the run by WorkStopped
  std::vector<double>* history = nullptr;  // takes the scaled residual of every iteration
};

/// By HPCG's parts of an iteration; what is fused counts where its largest part belongs.
struct CgSeconds {
  double total = 0, ddot = 0, waxpby = 0, spmv = 0, mg = 0, allreduce = 0;
};

struct CgResult {
  int iterations = 0;
  double first_residual = 0, residual = 0;
  double scaled() const { return residual / first_residual; }
};

inline void ask_whether_to_go_on(const std::function<Verdict()>& ask) {
  const Verdict verdict = ask ? ask() : Verdict::proceed;
  if (verdict != Verdict::proceed) throw WorkStopped(verdict);
}

}  // namespace echelon::hpcg
