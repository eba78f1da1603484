// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/grid_gpu/wavefront_many_view.hpp"

namespace echelon {
const WavefrontManyBackend* wavefront_many_backend() { return nullptr; }
}  // namespace echelon
