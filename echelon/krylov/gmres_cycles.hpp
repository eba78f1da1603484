// SPDX-License-Identifier: BSD-3-Clause
// GMRES cycles on a solve in progress: what gmres, fgmres and BiCGStab's last resort share. Private to krylov/.
#pragma once

#include "echelon/krylov/solve_frame.hpp"

namespace echelon {

/// Columns of one basis after clipping the restart to the size of the system.
int gmres_columns(std::int64_t n, const KrylovOptions& options);
/// Bytes that `run_gmres` will allocate.
std::int64_t gmres_bytes(std::int64_t n, const KrylovOptions& options, bool flexible);
/// Cycles until the frame has ended. The frame's residual must be that of its x, its VectorOps wide enough.
void run_gmres(SolveFrame& s, bool flexible);

}  // namespace echelon
