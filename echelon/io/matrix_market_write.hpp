// SPDX-License-Identifier: BSD-3-Clause
// Writing to a file that is open already, for programs that want to know before a long computation that they may write.
#pragma once

#include "echelon/base/array.hpp"
#include "echelon/base/file_output.hpp"

namespace echelon {

/// As write_vector of matrix_market.hpp; commits. The name the file was opened by says whether it is compressed.
void write_vector(FileOutput& file, const Vector<double>& x);

}  // namespace echelon
