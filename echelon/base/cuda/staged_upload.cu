// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/cuda/staged_upload.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/threads.hpp"

namespace echelon {
namespace {

constexpr std::size_t piece = std::size_t{4} << 20;
/// More do not fill the bus better.
constexpr int most_workers = 8, pieces_a_worker = 2;

/// Pinned memory, taken once: pinning costs more than a copy. Never given back, because the driver may end before statics.
class PinnedPieces {
 public:
  static PinnedPieces& all() {
    static auto* const one = new PinnedPieces;
    return *one;
  }
  /// At most one upload at a time. Null when there is none to be had.
  std::byte* get(int workers) {
    if (workers > workers_) {
      cudaFreeHost(memory_);
      void* taken = nullptr;
      const auto bytes = static_cast<std::size_t>(workers * pieces_a_worker) * piece;
      workers_ = cudaHostAlloc(&taken, bytes, cudaHostAllocPortable) == cudaSuccess ? workers : 0;
      if (workers_ == 0) cudaGetLastError();
      memory_ = workers_ > 0 ? static_cast<std::byte*>(taken) : nullptr;
    }
    return memory_;
  }
  std::mutex mutex;

 private:
  std::byte* memory_ = nullptr;
  int workers_ = 0;
};

struct Upload {
  int device;
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
  std::byte* pinned;
  std::atomic<std::size_t> next{0};
  std::atomic<int> failure{cudaSuccess};

  /// The first trouble of any worker ends all of them.
  bool done(cudaError_t status) {
    int fine = cudaSuccess;
    if (status != cudaSuccess) failure.compare_exchange_strong(fine, status);
    return failure.load() == cudaSuccess;
  }

  /// Streams that wait for the default one, a piece of pinned memory each.
  void work(int worker) {
    cudaStream_t stream[pieces_a_worker] = {};
    bool fine = done(cudaSetDevice(device));
    for (auto& one : stream) fine = fine && done(cudaStreamCreate(&one));
    for (int turn = 0; fine; turn = (turn + 1) % pieces_a_worker) {
      const std::size_t begin = next.fetch_add(piece);
      if (begin >= bytes) break;
      const std::size_t count = std::min(piece, bytes - begin);
      std::byte* const stage = pinned + static_cast<std::size_t>(worker * pieces_a_worker + turn) * piece;
      fine = done(cudaStreamSynchronize(stream[turn]));
      if (!fine) break;
      std::memcpy(stage, from + begin, count);
      fine = done(cudaMemcpyAsync(to + begin, stage, count, cudaMemcpyHostToDevice, stream[turn]));
    }
    for (auto one : stream) {
      if (!one) continue;
      done(cudaStreamSynchronize(one));
      cudaStreamDestroy(one);
    }
  }
};

}  // namespace

void staged_upload(int device, void* to, const void* from, std::size_t bytes) {
  const int workers = std::clamp(threads(), 1, most_workers);
  auto& pieces = PinnedPieces::all();
  const std::lock_guard lock(pieces.mutex);
  std::byte* const pinned = pieces.get(workers);
  if (!pinned) return check_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  Upload upload{device, static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes, pinned};
  std::vector<std::jthread> team;
  for (int worker = 1; worker < workers; ++worker) team.emplace_back([&upload, worker] { upload.work(worker); });
  upload.work(0);
  team.clear();
  check_cuda(static_cast<cudaError_t>(upload.failure.load()), "copying to the GPU");
}

}  // namespace echelon
