// SPDX-License-Identifier: BSD-3-Clause
// The records of runs, the plain kernel, and the way from run-time numbers to compiled kernels.
#include "echelon/sweep/grid_gpu/wavefront_sweep_launch.cuh"
#include "echelon/sweep/grid_gpu/wavefront_sweep_plain.cuh"

namespace echelon {
namespace {

constexpr int record_threads = 128, plain_threads = 256;

__global__ void record_kernel(LayoutView vector, int record_bytes, std::uint8_t* records) {
  const TileView& tiles = vector.tiles;
  const int t = static_cast<int>(blockIdx.x);
  const Tile tile = tiles.tiles[t];
  for (int level = threadIdx.x; level < tile.levels; level += blockDim.x) {
    const std::int64_t run = vector.first_run[t] + level;
    std::uint8_t* at = records + run * record_bytes;
    const std::int64_t start = vector.run_start[run];
    *reinterpret_cast<device::RunHead*>(at) = {start, static_cast<int>(vector.run_start[run + 1] - start), 0};
    int* rank_of_zero = reinterpret_cast<int*>(at + sizeof(device::RunHead));
    int before = 0;
    for (int z = tile.z; z < tile.z + tiles.shape.z; ++z) {
      const LineRange range = z < tiles.front.nz ? tiles.lines_at(tile, tile.first_level + level, z) : LineRange{0, 0};
      rank_of_zero[z - tile.z] = before - range.begin;
      before += range.count();
    }
  }
}

void make_records(int device, const LayoutView& vector, int record_bytes, std::uint8_t* records) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  record_kernel<<<static_cast<unsigned>(vector.tiles.count), record_threads>>>(vector, record_bytes, records);
  check_cuda(cudaGetLastError(), "records of a sweep");
}

template <class V, class S>
void launch_plain(const WavefrontSweepView& v) {
  const TileShape shape = v.vector.tiles.shape;
  const std::size_t bytes =
      sizeof(V) * static_cast<std::size_t>(shape.y) * static_cast<std::size_t>(shape.z) * static_cast<std::size_t>(v.dof);
  const auto kernel = device::plain_sweep_kernel<V, S>;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
             "plain sweep: shared memory");
  kernel<<<static_cast<unsigned>(v.vector.tiles.count), plain_threads, bytes>>>(v);
  check_cuda(cudaGetLastError(), "plain sweep");
}

/// Calls with the block size as a template's argument; `other` without kernels for it.
template <class Result, class Call>
Result with_block(const WavefrontSweepView& v, Result other, const Call& call) {
  if (!v.pipelined) return other;
  switch (v.dof) {
    case 1: return call.template operator()<1>();
    case 2: return call.template operator()<2>();
    case 3: return call.template operator()<3>();
    case 4: return call.template operator()<4>();
    case 5: return call.template operator()<5>();
    case 6: return call.template operator()<6>();
    case 7: return call.template operator()<7>();
    case 8: return call.template operator()<8>();
    default: return other;
  }
}

device::SweepKernel known_kernel(const WavefrontSweepView& v, int vector_bytes, Stored stored) {
  return with_block(v, device::SweepKernel{}, [&]<int B> { return device::known_block_kernel<B>(v, vector_bytes, stored); });
}

bool known(const WavefrontSweepView& v, int vector_bytes, Stored stored) {
  return known_kernel(v, vector_bytes, stored) != nullptr;
}

void launch(int device, const WavefrontSweepView& v, int vector_bytes, Stored stored) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  if (const auto kernel = known_kernel(v, vector_bytes, stored)) return device::launch_sweep_kernel(kernel, v);
  const bool launched = with_block(v, false, [&]<int B> {
    device::launch_block_sweep<B>(v, vector_bytes, stored);
    return true;
  });
  if (launched) return;
  if (vector_bytes == 4) return launch_plain<float, float>(v);
  switch (stored) {
    case Stored::fp64: return launch_plain<double, double>(v);
    case Stored::fp32: return launch_plain<double, float>(v);
    case Stored::bf16: return launch_plain<double, __nv_bfloat16>(v);
    case Stored::fp16: return launch_plain<double, __half>(v);
  }
}

}  // namespace

const WavefrontSweepBackend* wavefront_sweep_backend() {
  static const WavefrontSweepBackend table{make_records, launch, known};
  return &table;
}

}  // namespace echelon
