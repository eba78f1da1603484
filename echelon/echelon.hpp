// SPDX-License-Identifier: BSD-3-Clause
// Everything a user of the library includes.
#pragma once

#include "echelon/base/array.hpp"
#include "echelon/base/device.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/io/matrix_market.hpp"
#include "echelon/krylov/krylov.hpp"
#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/precond/ilu/ilu.hpp"
#include "echelon/precond/jacobi.hpp"
#include "echelon/problem/problems.hpp"
#include "echelon/problem/projection.hpp"
#include "echelon/report/report.hpp"
#include "echelon/stencil/stencil.hpp"
