// SPDX-License-Identifier: BSD-3-Clause
// The GPU seen from the host code: a table of functions, or null. cuda_backend.cu fills it; a build without CUDA links
// cuda_absent.cpp, which returns null. No other host file knows about CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace echelon {

enum class CopyKind { host_to_device, device_to_host, device_to_device };

/// to_i = scale_i · from_index(i); without an index from_i, and `to` may be `from`.
struct ScaledGather {
  std::int64_t n = 0;
  const std::int32_t* index = nullptr;
  const double *scale = nullptr, *from = nullptr;
  double* to = nullptr;
};

struct CudaBackend {
  int (*device_count)();
  std::string (*device_name)(int device);
  int (*capability)(int device);  // 90 for 9.0
  std::int64_t (*free_bytes)(int device);
  /// Whether so many are free; asks the driver, which takes its time, only when our pool has fewer.
  bool (*has_free)(int device, std::int64_t bytes);
  void* (*allocate)(int device, std::size_t bytes);  // null when memory is out
  void (*release)(int device, void* pointer);
  void (*copy)(int device, void* to, const void* from, std::size_t bytes, CopyKind kind);
  void (*clear)(int device, void* pointer, std::size_t bytes);  // zeros, queued
  void (*fill)(int device, double* x, std::int64_t n, double value);
  /// Fixed-tree dot product: the same bits as the host's.
  double (*dot)(int device, const double* x, const double* y, std::int64_t n);
  /// Largest |x_i|; NaN when one is NaN.
  double (*largest)(int device, const double* x, std::int64_t n);
  void (*axpy)(int device, double a, const double* x, double* y, std::int64_t n);
  void (*scaled_gather)(int device, const ScaledGather& what);
  double (*copy_bandwidth)(int device);  // bytes read and written a second, measured
  /// Of what `launches` puts on the device, by its own clock.
  double (*seconds)(int device, const std::function<void()>& launches);
};

/// Kernels copy in bulk, wait at barriers that count bytes and run in clusters: Hopper and later. Throws Error(device)
/// naming a GPU that cannot.
void require_capability(int capability, const std::string& name);

/// Null when the build has no CUDA. Every function throws Error(device) naming the call that failed.
const CudaBackend* cuda_backend();

}  // namespace echelon
