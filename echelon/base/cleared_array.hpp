// SPDX-License-Identifier: BSD-3-Clause
// An array of zeros that a device writes itself; Array's own constructor would send them.
#pragma once

#include "echelon/base/array.hpp"
#include "echelon/base/cuda/cuda_backend.hpp"

namespace echelon {

/// `device` is a GPU. Every byte is zero once what is queued has run.
template <class T>
Array<T> cleared_array(std::int64_t n, Device device) {
  Array<T> made(n, device);
  cuda_backend()->clear(device.index, made.data(), static_cast<std::size_t>(made.bytes()));
  return made;
}

}  // namespace echelon
