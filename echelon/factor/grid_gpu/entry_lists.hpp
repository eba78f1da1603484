// SPDX-License-Identifier: BSD-3-Clause
// A row's elimination as lists for groups of threads that share it: each entry of the stencil goes to one group, which
// begins with A's block, subtracts its products in the plan's order, and scales or stores it. Entries stand by how long the
// chain of lower entries before them is, which is an order in which none waits for a later one; the next goes to the group
// with the least to do. The diagonal is the last of its group.
#pragma once

#include <cstdint>
#include <vector>

#include "echelon/factor/grid/struct_factor.hpp"

namespace echelon {

struct RowItem {
  enum Kind : std::int16_t { begin, subtract, scale, store };
  Kind kind;
  std::int16_t target;  // the entry it is about
  std::int16_t lower;   // subtract: the entry whose L is multiplied; scale: the target; otherwise −1
  std::int16_t loaded;  // entry that is loaded, of the point itself (begin) or of the neighbour `lower`; −1: none
};

struct RowSchedule {
  std::vector<RowItem> items;
  std::vector<int> first;  // of each group, and the end
  int center_group = 0;
};

RowSchedule schedule_row(const EliminationPlan& plan, int groups);

}  // namespace echelon
