// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/cuda/small_upload.cuh"

#include <cuda_runtime.h>

#include <cstring>
#include <map>
#include <mutex>

#include "echelon/base/cuda/cuda_check.cuh"

namespace echelon {
namespace {

constexpr int halves = 2;
constexpr std::size_t half_bytes = 2 * most_small_bytes, alignment = 64;

/// Pinned memory in two halves, filled in turn: what was sent from one is waited for before it is filled again.
class UploadRing {
 public:
  UploadRing() {
    void* taken = nullptr;
    if (cudaHostAlloc(&taken, halves * half_bytes, cudaHostAllocPortable) == cudaSuccess) {
      memory_ = static_cast<std::byte*>(taken);
    } else {
      cudaGetLastError();
    }
    for (auto& one : sent_) check_cuda(cudaEventCreateWithFlags(&one, cudaEventDisableTiming), "cudaEventCreate");
  }
  bool send(void* to, const void* from, std::size_t bytes) {
    if (!memory_) return false;
    if (used_ + bytes > half_bytes) {
      check_cuda(cudaEventRecord(sent_[half_]), "cudaEventRecord");
      half_ = (half_ + 1) % halves;
      used_ = 0;
      check_cuda(cudaEventSynchronize(sent_[half_]), "small tables to the GPU");
    }
    std::byte* const stage = memory_ + static_cast<std::size_t>(half_) * half_bytes + used_;
    used_ += (bytes + alignment - 1) / alignment * alignment;
    std::memcpy(stage, from, bytes);
    check_cuda(cudaMemcpyAsync(to, stage, bytes, cudaMemcpyHostToDevice), "small tables to the GPU");
    return true;
  }

 private:
  std::byte* memory_ = nullptr;
  cudaEvent_t sent_[halves] = {};
  int half_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

/// Rings live as long as the process: the driver may end before statics do.
bool small_upload(int device, void* to, const void* from, std::size_t bytes) {
  static std::mutex& mutex = *new std::mutex;
  static auto& rings = *new std::map<int, UploadRing>;
  const std::lock_guard lock(mutex);
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  return rings[device].send(to, from, bytes);
}

}  // namespace echelon
