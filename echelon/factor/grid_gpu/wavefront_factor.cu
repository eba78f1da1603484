// SPDX-License-Identifier: BSD-3-Clause
// The table of wavefront_factor_view.hpp: the records of where points live, the scale that stands for a row of zeros, and
// the choice between the kernels for small blocks and the generic one.
#include <algorithm>

#include "echelon/factor/grid_gpu/wavefront_factor_generic.cuh"
#include "echelon/factor/grid_gpu/wavefront_factor_launch.cuh"
#include "echelon/stencil/static_plan.hpp"

namespace echelon {
namespace {

constexpr int table_threads = 128;
constexpr int scan_threads = 1024;
constexpr std::int64_t most_scratch_bytes = std::int64_t{256} << 20;
constexpr int generic_blocks_a_processor = 2;

__global__ void record_kernel(const __grid_constant__ LayoutView vector, unsigned char* records, int record_bytes) {
  const TileView& tiles = vector.tiles;
  const Tile tile = tiles.tiles[blockIdx.x];
  for (int l = threadIdx.x; l < tile.levels; l += blockDim.x) {
    const std::int64_t run = vector.first_run[blockIdx.x] + l;
    unsigned char* at = records + run * record_bytes;
    const std::int64_t first = vector.run_start[run];
    int* offset = reinterpret_cast<int*>(at + sizeof(FactorRecord));
    int before = 0;
    for (int z = 0; z < tiles.shape.z; ++z) {
      const bool inside = tile.z + z < tiles.front.nz;
      const LineRange lines = inside ? tiles.lines_at(tile, tile.first_level + l, tile.z + z) : LineRange{0, 0};
      offset[z] = before - lines.begin;
      before += lines.count();
    }
    *reinterpret_cast<FactorRecord*>(at) = {first, static_cast<int>(vector.run_start[run + 1] - first),
                                            before * vector.rows};
    // Records are copied whole, padding too.
    const int ints = (record_bytes - static_cast<int>(sizeof(FactorRecord))) / 4;
    for (int z = tiles.shape.z; z < ints; ++z) offset[z] = 0;
  }
}

/// What runs have behind their points becomes zero: the factorization writes points only. A warp a run.
template <class T>
__global__ void padding_kernel(const __grid_constant__ WavefrontFactorView<T> v) {
  const std::int64_t run = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (run >= v.runs) return;
  const auto record = *reinterpret_cast<const FactorRecord*>(v.records + run * v.record_bytes);
  const int columns = v.entry_count * v.block, padding = record.run - record.used;
  for (int n = static_cast<int>(threadIdx.x % 32); n < columns * padding; n += 32) {
    v.values[record.first * columns + std::int64_t{n / padding} * record.run + record.used + n % padding] = T(0);
  }
}

/// The size of the first value of A, in natural order, that is finite and not zero; 1 without one. One block of threads
/// looks at as many points at a time as it has threads; mostly the first point answers.
template <class T>
__global__ void zero_row_scale_kernel(const __grid_constant__ WavefrontFactorView<T> v) {
  __shared__ int first;
  const Wavefront& front = v.vector.front;
  LayoutView layout = v.vector;
  layout.columns = 1;
  const std::int64_t points = std::int64_t{front.nx} * front.ny * front.nz;
  for (std::int64_t begin = 0; begin < points; begin += blockDim.x) {
    if (threadIdx.x == 0) first = blockDim.x;
    __syncthreads();
    const std::int64_t point = begin + threadIdx.x;
    double found = 0;
    if (point < points) {
      const Ijk p{static_cast<int>(point % front.nx), static_cast<int>(point / front.nx % front.ny),
                  static_cast<int>(point / front.nx / front.ny)};
      const Place place = layout.place(p);
      const std::int64_t run = place.column_stride;
      // The vector's place counts scalars of a run from its beginning; the matrix has entries·b such runs.
      const SkewedPoint s = front.map(p);
      const int t = layout.tiles.tile_of_line(s.y, s.z);
      const std::int64_t start = layout.run_start[layout.first_run[t] + s.x + s.y + s.z - layout.tiles.tiles[t].first_level];
      const T* values = v.source + start * (v.entry_count * v.block) + (place.first - start);
      for (int e = 0; e < v.entry_count && found == 0; ++e) {
        const FactorEntry o = v.entries[e];
        if (p.i + o.x < 0 || p.i + o.x >= front.nx || p.j + o.y < 0 || p.j + o.y >= front.ny || p.k + o.z < 0 ||
            p.k + o.z >= front.nz) {
          continue;
        }
        for (int s2 = 0; s2 < v.block * v.block && found == 0; ++s2) {
          const T size = magnitude(values[(std::int64_t{e} * v.block + s2 / v.block) * run + s2 % v.block]);
          if (size > 0 && repair::is_finite(size)) found = static_cast<double>(size);
        }
      }
    }
    if (found > 0) atomicMin(&first, static_cast<int>(threadIdx.x));
    __syncthreads();
    if (first == static_cast<int>(threadIdx.x)) v.status->zero_row_scale = found;
    if (first < static_cast<int>(blockDim.x)) return;
    __syncthreads();
  }
  if (threadIdx.x == 0) v.status->zero_row_scale = 1;
}

/// The kernel of the first of the stencils that are known at compile time and the matrix' own; empty without one.
template <class T, class... Statics>
FactorRowsKernel<T> static_kernel(const WavefrontFactorView<T>& view) {
  const std::span<const Offset> offsets(view.host_offsets, static_cast<std::size_t>(view.entry_count));
  FactorRowsKernel<T> found{};
  const auto take = [&]<class Static>() {
    if (!Static::plan.matches(offsets)) return false;
    if (view.block == 1) {
      found = factor_scalars_kernel<Static, T>();
    } else if constexpr (sizeof(T) == sizeof(double)) {
      found = factor_team_kernel<Static>(view.block);
    }
    return true;
  };
  (take.template operator()<Statics>() || ...);
  return found;
}

template <class T>
FactorRowsKernel<T> list_kernel(int block) {
  switch (block) {
    case 1: return factor_rows_kernel<1, T>();
    case 2: return factor_rows_kernel<2, T>();
    case 3: return factor_rows_kernel<3, T>();
    case 4: return factor_rows_kernel<4, T>();
    case 5: return factor_rows_kernel<5, T>();
    case 6: return factor_rows_kernel<6, T>();
    case 7: return factor_rows_kernel<7, T>();
    case 8: return factor_rows_kernel<8, T>();
    default: return {};
  }
}

template <class T>
FactorRowsKernel<T> rows_kernel(const WavefrontFactorView<T>& view) {
  using namespace static_plans;
  if (view.kernel == FactorKernel::generic) return {};
  if (view.kernel == FactorKernel::best) {
    const auto known = static_kernel<T, Star5, Star7, Star9, Box9, Star13, Diamond13, Diamond25, Box27>(view);
    if (known.plan) return known;
  }
  return list_kernel<T>(view.block);
}

template <class T>
FactorLaunch plan(int device, const WavefrontFactorView<T>& view) {
  const auto rows = rows_kernel(view);
  int processors = 1;
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  FactorLaunch launch;
  launch.generic = true;
  if (rows.plan) launch = rows.plan(view, processors);
  if (!launch.generic) return launch;
  launch.kernel = "plain";
  launch.shared_bytes = FactorShared(view).end;
  if (launch.shared_bytes > most_shared_bytes) {
    throw Error(ErrorCode::will_not_fit, "factorization on the GPU: the tables of a tile take " +
                                             std::to_string(launch.shared_bytes) + " bytes of shared memory, there are " +
                                             std::to_string(most_shared_bytes) + ": wider tiles need fewer");
  }
  const TileShape shape = view.vector.tiles.shape;
  const std::int64_t lines = std::int64_t{shape.y} * shape.z;
  launch.scratch_bytes = (lines * GenericScratch<T>::line_bytes(view.block) + 127) / 128 * 128;
  const std::int64_t fitting = std::max<std::int64_t>(1, most_scratch_bytes / launch.scratch_bytes);
  launch.blocks = static_cast<int>(std::min<std::int64_t>(
      {fitting, std::int64_t{processors} * generic_blocks_a_processor, std::int64_t{view.vector.tiles.count}}));
  return launch;
}

void make_records(int device, const LayoutView& vector, unsigned char* records, int record_bytes) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  record_kernel<<<vector.tiles.count, table_threads>>>(vector, records, record_bytes);
  check_cuda(cudaGetLastError(), "the records of a factorization");
}

template <class T>
void start(int device, const WavefrontFactorView<T>& view, const FactorLaunch& launch) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  check_cuda(cudaMemsetAsync(view.status, 0, sizeof(FactorStatus)), "cudaMemsetAsync");
  check_cuda(cudaMemsetAsync(view.progress, 0, static_cast<std::size_t>(view.progress_count) * sizeof(unsigned)),
             "cudaMemsetAsync");
  if (view.first_ticket > 0) {
    check_cuda(cudaMemcpy(&view.status->ticket, &view.first_ticket, sizeof(unsigned), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  if (view.source != view.values) {
    const std::int64_t threads = 32 * view.runs;
    padding_kernel<<<static_cast<unsigned>((threads + table_threads - 1) / table_threads), table_threads>>>(view);
  }
  zero_row_scale_kernel<<<1, scan_threads>>>(view);
  check_cuda(cudaGetLastError(), "the scale of a factorization");
  if (!launch.generic) {
    rows_kernel(view).start(view, launch);
  } else {
    allow_shared(factor_anything<T>, launch.shared_bytes);
    factor_anything<T><<<launch.blocks, (generic_warps + serving_warps) * 32, launch.shared_bytes>>>(view);
  }
  check_cuda(cudaGetLastError(), "the factorization");
}

FactorStatus finish(int device, const FactorStatus* status) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  FactorStatus found;
  check_cuda(cudaMemcpy(&found, status, sizeof(found), cudaMemcpyDeviceToHost), "the factorization");
  return found;
}

}  // namespace

template <>
const WavefrontFactorKernels<double>* wavefront_factor_kernels<double>() {
  static const WavefrontFactorKernels<double> table{plan<double>, make_records, start<double>, finish};
  return &table;
}
template <>
const WavefrontFactorKernels<float>* wavefront_factor_kernels<float>() {
  static const WavefrontFactorKernels<float> table{plan<float>, make_records, start<float>, finish};
  return &table;
}

}  // namespace echelon
