// SPDX-License-Identifier: BSD-3-Clause
// How far each group of a schedule has come: one counter a group, a cache line apart. Counters only grow: a run counts from
// `base`, so that nothing has to be reset between runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "echelon/schedule/spin_wait.hpp"

namespace echelon {

class GroupProgress {
 public:
  explicit GroupProgress(std::int64_t groups = 0)
      : lines_(std::make_unique<Line[]>(static_cast<std::size_t>(groups))), groups_(groups) {}
  std::int64_t groups() const { return groups_; }
  std::int64_t base() const { return base_; }
  /// After a run in which every counter reached base + amount.
  void advance(std::int64_t amount) { base_ += amount; }
  void publish(std::int64_t group, std::int64_t count) {
    lines_[static_cast<std::size_t>(group)].count.store(count, std::memory_order_release);
  }
  void wait_for(std::int64_t group, std::int64_t count) const {
    wait_until_at_least(lines_[static_cast<std::size_t>(group)].count, count);
  }

 private:
  struct alignas(64) Line {
    std::atomic<std::int64_t> count{0};
  };
  std::unique_ptr<Line[]> lines_;
  std::int64_t groups_, base_ = 0;
};

}  // namespace echelon
