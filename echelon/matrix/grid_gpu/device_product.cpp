// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/grid_gpu/device_product.hpp"

#include <fmt/format.h>

#include "echelon/base/error.hpp"

namespace echelon {

template <class T>
DeviceProduct<T>::DeviceProduct(Grid grid, const Stencil& stencil, int dof, Device device) : device_(device) {
  if (!device_product_kernel<T>()) throw Error(ErrorCode::device, "product on a GPU: this build has no CUDA");
  if (device.is_host()) throw Error(ErrorCode::bad_argument, "product on a GPU: got the host as device, expected a GPU");
  constexpr std::int64_t most = 2147483647;
  if (grid.nx * grid.ny * dof > most || grid.nz > most) {
    throw Error(ErrorCode::bad_argument, fmt::format("product on a GPU: a plane of {}x{} points with {} unknowns has more "
                                                     "than {} scalars",
                                                     grid.nx, grid.ny, dof, most));
  }
  offsets_ = Array<Offset>(stencil.offsets()).to(device);
  view_.nx = static_cast<int>(grid.nx);
  view_.ny = static_cast<int>(grid.ny);
  view_.nz = static_cast<int>(grid.nz);
  view_.block = dof;
  view_.entries = stencil.size();
  view_.offsets = offsets_.data();
}

template <class T>
void DeviceProduct<T>::apply(const T* values, const T* x, T* y) const {
  DeviceProductView<T> view = view_;
  view.values = values;
  view.x = x;
  view.y = y;
  device_product_kernel<T>()(device_.index, view);
}

template class DeviceProduct<double>;
template class DeviceProduct<float>;

}  // namespace echelon
