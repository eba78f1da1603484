// SPDX-License-Identifier: BSD-3-Clause
// An array that knows where it lives. 64-byte aligned, 64-bit size, moved cheaply, copied only when asked (`clone`, `to`).
// Element access is for host arrays; a transfer between places is a call one can see.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "echelon/base/device.hpp"

namespace echelon {

/// Allocation behind every Array. `allocation_count` lets a test prove that a loop allocates nothing, the bytes how much a
/// solve takes at once: those alive now, and the most there were since `restart_peak_bytes` (all places together).
void* allocate_bytes(std::int64_t bytes, Device device);
void release_bytes(void* pointer, std::int64_t bytes, Device device) noexcept;
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::int64_t bytes);
std::int64_t allocation_count() noexcept;
std::int64_t live_bytes() noexcept;
std::int64_t peak_bytes() noexcept;
void restart_peak_bytes() noexcept;

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  /// `n` elements, uninitialised.
  explicit Array(std::int64_t n, Device device = Device::host())
      : data_(static_cast<T*>(allocate_bytes(n * static_cast<std::int64_t>(sizeof(T)), device))),
        size_(n),
        device_(device) {}
  /// `n` elements, each `value`.
  Array(std::int64_t n, T value, Device device = Device::host()) : Array(n, device) { fill(value); }
  Array(std::initializer_list<T> list) : Array(static_cast<std::int64_t>(list.size())) {
    std::copy(list.begin(), list.end(), data_);
  }
  explicit Array(std::span<const T> from) : Array(static_cast<std::int64_t>(from.size())) {
    std::copy(from.begin(), from.end(), data_);
  }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array taken(std::move(other));
    swap(taken);
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { release_bytes(data_, bytes(), device_); }

  std::int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Device device() const { return device_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::int64_t i) { return data_[i]; }
  const T& operator[](std::int64_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data_, static_cast<std::size_t>(size_)}; }
  std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }

  void fill(T value) {
    if (device_.is_host()) {
      std::fill(begin(), end(), value);
    } else {
      Array host(size_, value);
      copy_from(host);
    }
  }
  /// Same size needed; the places may differ.
  void copy_from(const Array& other);
  Array to(Device device) const {
    Array copy(size_, device);
    copy.copy_from(*this);
    return copy;
  }
  Array clone() const { return to(device_); }
  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(device_, other.device_);
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
  Device device_;
};

void throw_size_mismatch(const char* what, std::int64_t got, std::int64_t expected);

template <class T>
void Array<T>::copy_from(const Array& other) {
  if (other.size() != size_) throw_size_mismatch("copy of an array", other.size(), size_);
  copy_bytes(data_, device_, other.data(), other.device(), bytes());
}

template <class T>
using Vector = Array<T>;

}  // namespace echelon
