// SPDX-License-Identifier: BSD-3-Clause
// Hard random systems by number: the same number is the same system on every machine. Kinds take turns; the size, the
// entries and the right-hand side follow from the number. Grows with every bug.
#pragma once

#include <cstdint>
#include <string>

#include "echelon/matrix/rows/block_csr.hpp"

namespace reference {

struct HardSystem {
  std::string kind;
  echelon::BlockCsr<double> A;
  echelon::Vector<double> b, x;         // x is the initial guess
  echelon::Vector<double> null_vector;  // to be given to the solver; empty: none
};

int hard_kinds();
HardSystem hard_system(std::uint64_t number);

}  // namespace reference
