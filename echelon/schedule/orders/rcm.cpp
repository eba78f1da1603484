// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/orders/rcm.hpp"

#include <algorithm>
#include <vector>

#include "echelon/base/work_watch.hpp"

namespace echelon {
namespace {

/// Neighbours in A + Aᵀ without the diagonal, ascending and unique.
struct Graph {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> neighbour;
  std::int64_t degree(std::int32_t v) const {
    return start[static_cast<std::size_t>(v) + 1] - start[static_cast<std::size_t>(v)];
  }
};

Graph symmetrised(const PatternView& A) {
  const auto n = static_cast<std::size_t>(A.rows);
  std::vector<std::int64_t> count(n + 1, 0);
  const auto for_each_edge = [&](auto&& visit) {
    for (std::int64_t i = 0; i < A.rows; ++i) {
      for (auto p = A.start[i]; p < A.start[i + 1]; ++p) {
        if (A.column[p] != i) visit(static_cast<std::size_t>(i), static_cast<std::size_t>(A.column[p]));
      }
    }
  };
  for_each_edge([&](std::size_t i, std::size_t j) { ++count[i + 1], ++count[j + 1]; });
  for (std::size_t i = 0; i < n; ++i) count[i + 1] += count[i];
  std::vector<std::int32_t> both(static_cast<std::size_t>(count[n]));
  auto next = count;
  for_each_edge([&](std::size_t i, std::size_t j) {
    both[static_cast<std::size_t>(next[i]++)] = static_cast<std::int32_t>(j);
    both[static_cast<std::size_t>(next[j]++)] = static_cast<std::int32_t>(i);
  });
  Graph graph;
  graph.start.assign(n + 1, 0);
  auto to = both.begin();
  for (std::size_t i = 0; i < n; ++i) {
    const auto first = both.begin() + count[i], end = both.begin() + count[i + 1];
    std::sort(first, end);
    to = std::unique_copy(first, end, to);
    graph.start[i + 1] = to - both.begin();
  }
  both.resize(static_cast<std::size_t>(graph.start[n]));
  graph.neighbour = std::move(both);
  return graph;
}

class Search {
 public:
  explicit Search(const Graph& graph) : graph_(graph), seen_(graph.start.size() - 1, -1) {}

  /// Breadth-first from `root` over rows not numbered yet; returns the depth. `reached()` has the rows by distance.
  int from(std::int32_t root) {
    reached_.assign(1, root);
    seen_[static_cast<std::size_t>(root)] = ++stamp_;
    int depth = 0;
    last_level_ = 0;
    for (std::size_t head = 0, level_end = 1; head < reached_.size(); ++head) {
      if (head == level_end) {
        ++depth;
        last_level_ = head;
        level_end = reached_.size();
      }
      visit_neighbours(reached_[head], [&](std::int32_t w) { reached_.push_back(w); });
    }
    return depth;
  }

  std::int32_t pseudo_peripheral(std::int32_t root) {
    int depth = from(root);
    while (true) {
      std::int32_t best = reached_[last_level_];
      for (std::size_t q = last_level_; q < reached_.size(); ++q) {
        if (graph_.degree(reached_[q]) < graph_.degree(best)) best = reached_[q];
      }
      const int deeper = from(best);
      if (deeper <= depth) return best;
      depth = deeper;
    }
  }

  void append_cuthill_mckee(std::int32_t root, std::vector<std::int32_t>& order) {
    auto head = order.size();
    order.push_back(root);
    seen_[static_cast<std::size_t>(root)] = ++stamp_;
    for (; head < order.size(); ++head) {
      const auto first = order.size();
      visit_neighbours(order[head], [&](std::int32_t w) { order.push_back(w); });
      std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
                       [&](std::int32_t a, std::int32_t b) { return graph_.degree(a) < graph_.degree(b); });
    }
  }

  bool untouched(std::int32_t v) const { return seen_[static_cast<std::size_t>(v)] < 0; }

 private:
  template <class Visit>
  void visit_neighbours(std::int32_t v, Visit&& visit) {
    keep_going(2 * graph_.degree(v) + 1);
    for (auto p = graph_.start[static_cast<std::size_t>(v)]; p < graph_.start[static_cast<std::size_t>(v) + 1]; ++p) {
      const auto w = graph_.neighbour[static_cast<std::size_t>(p)];
      if (seen_[static_cast<std::size_t>(w)] == stamp_) continue;
      seen_[static_cast<std::size_t>(w)] = stamp_;
      visit(w);
    }
  }

  const Graph& graph_;
  std::vector<std::int64_t> seen_;
  std::int64_t stamp_ = -1;
  std::vector<std::int32_t> reached_;
  std::size_t last_level_ = 0;
};

}  // namespace

Array<std::int32_t> reverse_cuthill_mckee(const PatternView& A) {
  const auto graph = symmetrised(A);
  Search search(graph);
  std::vector<std::int32_t> order;
  order.reserve(static_cast<std::size_t>(A.rows));
  for (std::int32_t v = 0; v < A.rows; ++v) {
    if (search.untouched(v)) search.append_cuthill_mckee(search.pseudo_peripheral(v), order);
  }
  std::reverse(order.begin(), order.end());
  return Array<std::int32_t>(std::span<const std::int32_t>(order));
}

}  // namespace echelon
