// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/version.hpp"

#include "echelon/base/cuda/cuda_backend.hpp"

namespace echelon {

const char* version() noexcept { return ECHELON_VERSION; }

bool built_with_cuda() noexcept { return cuda_backend() != nullptr; }

}  // namespace echelon
