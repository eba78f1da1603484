// SPDX-License-Identifier: BSD-3-Clause
// Carries out a tile schedule with threads, by the protocol of the GPU: a thread takes the next tile by a ticket, waits
// before each chunk of levels for what its neighbours must have published, runs the chunk and publishes its own progress.
// Flags count on from run to run (an epoch) instead of being cleared. Any number of threads ends, since a tile waits only
// for tiles with smaller tickets.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "echelon/base/threads.hpp"
#include "echelon/schedule/spin_wait.hpp"
#include "echelon/stencil/tiles.hpp"

namespace echelon {

/// Levels finished of each tile, a cache line apart, and the ticket. Made once for a schedule; a run allocates nothing.
class TileProgress {
 public:
  explicit TileProgress(const TileSchedule& schedule)
      : lines_(std::make_unique<Line[]>(static_cast<std::size_t>(schedule.count()))), longest_(schedule.longest()) {}

  /// Before a run, by one thread.
  void begin_epoch() {
    epoch_ += longest_;
    ticket_.store(0, std::memory_order_relaxed);
  }
  int take() { return ticket_.fetch_add(1, std::memory_order_relaxed); }
  void publish(int tile, int levels) { at(tile).store(epoch_ + levels, std::memory_order_release); }
  void wait_for(int tile, int levels) const {
    if (levels > 0) wait_until_at_least(at(tile), epoch_ + levels);
  }

 private:
  struct alignas(64) Line {
    std::atomic<std::int64_t> levels{0};
  };
  std::atomic<std::int64_t>& at(int tile) const { return lines_[static_cast<std::size_t>(tile)].levels; }
  std::unique_ptr<Line[]> lines_;
  std::atomic<int> ticket_{0};
  std::int64_t epoch_ = 0, longest_;
};

/// body(tile, begin, end): the levels begin ≤ level < end of a tile; must not throw. Publishes every `chunk` levels.
template <class Body>
void run_tiles(const TileSchedule& schedule, TileProgress& progress, int chunk, const Body& body) {
  const TileView view = schedule.view();
  progress.begin_epoch();
#pragma omp parallel num_threads(threads())
  for (int t = progress.take(); t < view.count; t = progress.take()) {
    const Tile& tile = view.tiles[t];
    for (int done = 0; done < tile.levels;) {
      const int next = std::min(done + chunk, tile.levels);
      for (int w = view.wait_start[t]; w < view.wait_start[t + 1]; ++w) {
        const TileWait& wait = view.waits[w];
        progress.wait_for(wait.tile, TileView::needed(view.tiles[wait.tile], wait.behind, tile.first_level + next - 1));
      }
      body(tile, tile.first_level + done, tile.first_level + next);
      progress.publish(t, next);
      done = next;
    }
  }
}

}  // namespace echelon
