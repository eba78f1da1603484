// SPDX-License-Identifier: BSD-3-Clause
// Is a block CSR pattern that of a stencil on a grid of two or three dimensions, numbered naturally (x fastest)?
// An entry (p, q) has the offset q − p in grid coordinates. With S the set of offsets met, the pattern is the stencil's when
// it has all (p, o), o ∈ S, whose neighbour is inside: entries are unique, so comparing counts decides. Every row has its
// diagonal, and no offset reaches farther than 4. Only when all offsets are of length one (star5, star7 and parts of them:
// elimination fills nothing in there) may entries be absent, each offset's at no more than half of the points.
// Two passes over the columns, 4 bytes an entry each; other patterns are given up after a few rows.
#pragma once

#include <optional>

#include "echelon/matrix/grid/struct_matrix.hpp"
#include "echelon/matrix/rows/block_csr.hpp"
#include "echelon/stencil/stencil.hpp"

namespace echelon {

struct RecognisedStencil {
  Grid grid;
  Stencil stencil;
  std::int64_t absent = 0;  // (point, offset) with a neighbour inside that the pattern lacks
};

/// Of several that explain the pattern, the one with the fewest absent entries, then with the fewest offsets. Nothing for
/// a matrix that is not square or not on the host, and for one line of points.
template <class T>
std::optional<RecognisedStencil> recognise_stencil(const BlockCsr<T>& A);

/// The same matrix on that grid; what is absent becomes zero. `found` is what `recognise_stencil` made of this pattern.
template <class T>
StructMatrix<T> to_struct(const BlockCsr<T>& A, const RecognisedStencil& found);

/// "star7 on 20x20x20"; a stencil without a name is "11 offsets".
std::string describe(const RecognisedStencil& found);

}  // namespace echelon
