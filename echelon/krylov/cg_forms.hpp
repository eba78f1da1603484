// SPDX-License-Identifier: BSD-3-Clause
// What the forms of CG share. Private to krylov/.
#pragma once

#include "echelon/krylov/solve_frame.hpp"

namespace echelon {

/// Says why r'M⁻¹r or p'Ap is not positive: the numbers underflowed, or the preconditioner or matrix is not definite.
void end_not_positive(SolveFrame& s, bool preconditioner, double value);

/// CG by two sweeps and no product an iteration, until the frame has ended.
void run_eisenstat_cg(SolveFrame& s, SharedTriangles<double>& shared);

/// The same on a GPU, with one look of the host an iteration and a second where the norm is formed.
void run_queued_eisenstat_cg(SolveFrame& s, QueuedTriangles<double>& triangles);

/// Plain CG on a GPU, with one look of the host an iteration, until the frame has ended. Without a communicator.
void run_queued_cg(SolveFrame& s);

}  // namespace echelon
