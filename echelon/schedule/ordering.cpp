// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/ordering.hpp"

namespace echelon {

const char* word(Ordering ordering) {
  switch (ordering) {
    case Ordering::natural: return "natural";
    case Ordering::rcm: return "rcm";
    case Ordering::colours: return "colours";
    case Ordering::random_colours: return "random-colours";
  }
  return "natural";
}

}  // namespace echelon
