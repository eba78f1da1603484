// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/dbsr/dbsr_sweep.hpp"

#include <omp.h>

namespace echelon {

template <class T>
void run_colours(const BlockColouring& order, ColourOrder direction, int team, typename DbsrSweepKernels<T>::Rows kernel,
                 const DbsrSweepView<T>& view) {
  const auto colours = order.colours();
#pragma omp parallel num_threads(team)
  {
    const int part = omp_get_thread_num(), parts = omp_get_num_threads();
    for (std::size_t n = 0; n < colours.size(); ++n) {
      const auto& colour = colours[direction == ColourOrder::ascending ? n : colours.size() - 1 - n];
      const auto [begin, end] = order.rows(colour, part, parts);
      kernel(view, begin, end);
#pragma omp barrier
    }
  }
}

template void run_colours<double>(const BlockColouring&, ColourOrder, int, DbsrSweepKernels<double>::Rows,
                                  const DbsrSweepView<double>&);
template void run_colours<float>(const BlockColouring&, ColourOrder, int, DbsrSweepKernels<float>::Rows,
                                 const DbsrSweepView<float>&);

}  // namespace echelon
