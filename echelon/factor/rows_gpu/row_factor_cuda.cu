// SPDX-License-Identifier: BSD-3-Clause
// The table of row_factor_view.hpp: what is done before and after an attempt, how much memory a warp takes, and the kernel
// of each block size and length of rows.
#include <algorithm>

#include "echelon/base/cuda/cuda_check.cuh"
#include "echelon/base/cuda/shared_limit.cuh"
#include "echelon/factor/rows_gpu/row_bounds.cuh"
#include "echelon/factor/rows_gpu/row_factor.cuh"
#include "echelon/factor/rows_gpu/row_factor_cluster.hpp"
#include "echelon/factor/rows_gpu/row_factor_columns.cuh"
#include "echelon/factor/rows_gpu/row_factor_met.cuh"
#include "echelon/factor/rows_gpu/row_factor_staged.cuh"
#include "echelon/factor/rows_gpu/row_factor_tiles.cuh"
#include "echelon/factor/rows_gpu/row_factor_warp.cuh"
#include "echelon/factor/rows_gpu/row_meets.cuh"
#include "echelon/factor/rows_gpu/row_prepare.cuh"

namespace echelon {
namespace {

constexpr int plain_threads = 256;
/// Of a warp, so that a processor still holds a dozen of them.
constexpr std::int64_t most_shared_bytes = 17 * 1024;
constexpr std::int64_t most_scratch_bytes = std::int64_t{512} << 20;
/// Rows much longer than the others go through the scratch, so that these have more warps.
constexpr double worth_sharing = 4;
constexpr int always_shared_entries = 32;

/// Entries and rows are kept in 16 bits where blocks of two rows are brought together.
constexpr int longest_fixed_row = 65535;

using Kernel = void (*)(RowFactorView);

/// A kernel, its name in reports up to the block size, its threads, and the rows that a warp takes at a time.
struct Chosen {
  Kernel kernel = nullptr;
  const char* name = nullptr;
  int threads = 0, rows_a_warp = 1;
};

template <int G>
Chosen met_rows() {
  return {met_row_factor_kernel<G>, "met rows, b=", met_row_threads, MetRowLane<G>::rows_a_warp};
}

template <int G, int E>
Chosen staged_rows() {
  return {staged_row_factor_kernel<G, E>, "staged rows, b=", staged_row_threads, StagedRowLane<G, E>::rows_a_warp};
}

template <int E>
Chosen warp_rows() {
  return {warp_row_factor_kernel<E>, "warp rows, b=", warp_row_threads, 1};
}

/// Where it is kept how rows meet.
Chosen chosen_met(const RowFactorView& v) {
  switch (v.meets.stride) {
    case 8: return v.share_warps ? met_rows<8>() : warp_rows<1>();
    case 16: return v.share_warps ? met_rows<16>() : warp_rows<1>();
    case 32: return v.share_warps ? staged_rows<16, 2>() : warp_rows<1>();
    case 64: return warp_rows<2>();
    case 96: return warp_rows<3>();
    case 128: return warp_rows<4>();
    case 192: return warp_rows<6>();
    default: return warp_rows<8>();
  }
}

/// Rows whose columns the lanes of a group have in registers.
template <int B, class Tuning, class... Longer>
Chosen column_rows(int longest) {
  using Row = ColumnRow<B, Tuning>;
  if constexpr (sizeof...(Longer) > 0) {
    if (longest > Row::most_entries) return column_rows<B, Longer...>(longest);
  } else {
    static_assert(Row::most_entries == RowMeetsSize::longest_row(B), "rows whose meets are kept have a kernel");
  }
  return {column_row_factor_kernel<B, Tuning>, "columns, b=", column_row_threads, Row::rows_a_warp};
}

Chosen column_rows(const RowFactorView& v) {
  if (v.rows.A.block == 2) return column_rows<2, ShortRowsOfTwo, LongRowsOfTwo>(v.longest);
  return column_rows<3, ShortRowsOfThree, LongRowsOfThree>(v.longest);
}

template <int B, class Tuning>
Chosen tile_rows_with() {
  return {tile_row_factor_kernel<B, Tuning>, "tiles, b=", tile_row_threads, Tuning::rows_a_warp};
}
template <int B, bool is_dealt>
Chosen tile_rows(const RowFactorView& v) {
  return v.meets.stride == 8 ? tile_rows_with<B, ShortRowsInTiles<B, is_dealt>>() : tile_rows_with<B, LongRowsInTiles<B, is_dealt>>();
}
template <int B>
Chosen tile_rows(const RowFactorView& v) {
  return v.dealt ? tile_rows<B, true>(v) : tile_rows<B, false>(v);
}

Chosen tile_rows(const RowFactorView& v) {
  switch (v.rows.A.block) {
    case 3: return tile_rows<3>(v);
    case 4: return tile_rows<4>(v);
    case 5: return tile_rows<5>(v);
    case 6: return tile_rows<6>(v);
    case 7: return tile_rows<7>(v);
    default: return tile_rows<8>(v);
  }
}

template <int B>
Chosen block_rows() {
  return {row_factor_kernel<B>, B == 0 ? "rows, generic b=" : "rows, b=", row_factor_warps * 32, 1};
}

Chosen chosen(const RowFactorView& v) {
  if (v.in_tiles()) return tile_rows(v);
  if (v.meets.kept()) return v.rows.A.block == 1 ? chosen_met(v) : column_rows(v);
  switch (v.longest > longest_fixed_row ? 0 : v.rows.A.block) {
    case 1: return block_rows<1>();
    case 2: return block_rows<2>();
    case 3: return block_rows<3>();
    case 4: return block_rows<4>();
    case 5: return block_rows<5>();
    case 6: return block_rows<6>();
    case 7: return block_rows<7>();
    case 8: return block_rows<8>();
    default: return block_rows<0>();
  }
}

template <int G, int E>
void launch_meet(const RowFactorView& v) {
  const std::int64_t threads = v.rows.A.block_rows * G;
  row_meets_kernel<G, E>
      <<<static_cast<unsigned>((threads + row_meets_threads - 1) / row_meets_threads), row_meets_threads>>>(
          v.rows, v.tickets, v.meets);
}

void meet(int device, const RowFactorView& v) {
  if (!v.meets.kept()) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  switch (v.meets.stride) {
    case 8: launch_meet<8, 1>(v); break;
    case 16: launch_meet<16, 1>(v); break;
    case 32: launch_meet<32, 1>(v); break;
    case 64: launch_meet<32, 2>(v); break;
    case 96: launch_meet<32, 3>(v); break;
    case 128: launch_meet<32, 4>(v); break;
    case 192: launch_meet<32, 6>(v); break;
    default: launch_meet<32, 8>(v);
  }
  check_cuda(cudaGetLastError(), "how rows meet");
}

void plan_memory(const RowFactorView& v, double mean_entries, RowFactorLaunch& it) {
  const int b = v.rows.A.block;
  const bool fixed = b <= 8 && v.longest <= longest_fixed_row;
  if (fixed) {
    const int worth = std::max(always_shared_entries, static_cast<int>(worth_sharing * mean_entries));
    const auto room = static_cast<int>((most_shared_bytes - RowRoom::judge_bytes(b)) / (8 * b * b + 8));
    it.entries_in_shared = std::min({v.longest, worth, room});
    it.shared_bytes =
        static_cast<int>(row_factor_warps * (RowRoom::judge_bytes(b) + RowRoom::row_bytes(b, it.entries_in_shared)));
  }
  if (v.longest > it.entries_in_shared) {
    it.scratch_bytes = RowRoom::row_bytes(b, v.longest) + (fixed ? 0 : RowRoom::judge_bytes(b));
  }
}

RowFactorLaunch plan(int device, const RowFactorView& v, double mean_entries, std::int64_t upper_entries) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  RowFactorLaunch it;
  if (v.meets.kept() && v.rows.A.block == 1) {
    it.words = (2 * v.rows.A.block_rows + upper_entries + 1) / 2;
    if (plan_cluster(device, v, it)) {
      it.kernel = "rows of a cluster, b=1";
      return it;
    }
  } else if (!v.meets.kept()) {
    plan_memory(v, mean_entries, it);
  }
  const Chosen kernel = chosen(v);
  it.kernel = kernel.name + std::to_string(v.rows.A.block);
  if (v.in_tiles()) {
    it.shared_bytes = kernel.threads / 32 * kernel.rows_a_warp *
                      TileRoom::bytes_of_row(v.rows.A.block, v.longest, v.meets.stride, v.dealt);
  }
  raise_shared_limit(kernel.kernel, it.shared_bytes, "row factorization: shared memory");
  int processors = 0, resident = 0;
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel.kernel, kernel.threads,
                                                           static_cast<std::size_t>(it.shared_bytes)),
             "row factorization: occupancy");
  // Of few rows that wait for one another none is done sooner because more of them ask.
  const bool chains = it.words > 0 && v.tickets && v.rows.A.block_rows < RowMeetsSize::many_rows;
  if (chains) resident = std::min(resident, 2);
  const std::int64_t rows_a_block = kernel.threads / 32 * kernel.rows_a_warp;
  std::int64_t blocks =
      std::min(std::int64_t{processors} * std::max(resident, 1), (v.rows.A.block_rows + rows_a_block - 1) / rows_a_block);
  if (it.scratch_bytes > 0) blocks = std::min(blocks, most_scratch_bytes / (it.scratch_bytes * row_factor_warps));
  it.blocks = static_cast<unsigned>(std::max<std::int64_t>(blocks, 1));
  it.warps = std::int64_t{it.blocks} * row_factor_warps;
  return it;
}

/// Each block of threads has something to do, and few end in sums of all.
unsigned few_blocks(std::int64_t blocks) {
  constexpr std::int64_t most_blocks = 1056;
  return static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, most_blocks));
}
unsigned few_blocks_for(std::int64_t threads) { return few_blocks((threads + prepare_threads - 1) / prepare_threads); }

template <class Launched>
std::size_t allowed_shared(Launched* kernel, int bytes) {
  constexpr int without_asking = 48 * 1024;
  if (bytes > without_asking) raise_shared_limit(kernel, bytes, "rows: shared memory");
  return static_cast<std::size_t>(bytes);
}

void measure(int device, const BlockCsrView<double>& A, const RowMeasures& to) {
  if (A.block_rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  check_cuda(cudaMemsetAsync(to.norm, 0, sizeof(*to.norm)), "norm");
  const std::size_t shared = allowed_shared(measure_rows_kernel, measured_bytes(A.block));
  measure_rows_kernel<<<few_blocks_for(A.block_rows * A.block), prepare_threads, shared>>>(A, to);
  check_cuda(cudaGetLastError(), "row sums");
}

void begin(int device, const BlockCsrView<double>& A, FactorStatus* status) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  begin_status_kernel<<<1, prepare_threads>>>(A, status);
  check_cuda(cudaGetLastError(), "scale of rows of zeros");
}

void prepare(int device, const RowPreparation& what) {
  if (what.A.block_rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const std::int64_t most = std::max({what.A.block_rows * what.A.block, what.entries + what.A.block_rows, what.word_count});
  const std::size_t shared = what.measure ? allowed_shared(prepare_rows_kernel, measured_bytes(what.A.block)) : 0;
  prepare_rows_kernel<<<few_blocks_for(most) + 1, prepare_threads, shared>>>(what);
  check_cuda(cudaGetLastError(), "rows before their factorization");
}

void begin_again(int device, const RowPreparation& what) {
  begin(device, what.A, &what.numbers->status);
  if (what.word_count == 0) return;
  clear_words_kernel<<<few_blocks_for(what.word_count), prepare_threads>>>(what);
  check_cuda(cudaGetLastError(), "words");
}

void bound(int device, const RowFactorView& v) {
  const std::int64_t rows = v.rows.A.block_rows;
  if (rows == 0 || v.bounded_by_rows()) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  const int b = v.rows.A.block, at_once = bounds_rows(b);
  const unsigned blocks = few_blocks((rows + at_once - 1) / at_once);
  if (b == 1) {
    bound_scalars_kernel<<<blocks, bounds_threads>>>(v);
  } else {
    const std::size_t shared = allowed_shared(bound_blocks_kernel, at_once * b * static_cast<int>(sizeof(double)));
    bound_blocks_kernel<<<blocks, bounds_threads, shared>>>(v);
  }
  check_cuda(cudaGetLastError(), "bounds of rows");
}

void start(int device, const RowFactorView& v, const RowFactorLaunch& launch) {
  if (v.rows.A.block_rows == 0) return;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  if (RowRoom::is_small(v.rows.A.block) && v.longest <= longest_fixed_row) {
    clear_published_kernel<<<launch.blocks, plain_threads>>>(v);
  }
  if (launch.cluster_words > 0) {
    start_cluster(v, launch);
    return;
  }
  const Chosen kernel = chosen(v);
  const dim3 blocks(launch.blocks), threads(static_cast<unsigned>(kernel.threads));
  const auto shared_bytes = static_cast<std::size_t>(launch.shared_bytes);
  if (v.dealt) {
    // Whose rows are dealt out beforehand: none may wait for a block that has not begun.
    RowFactorView copy = v;
    void* arguments[] = {&copy};
    check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel.kernel), blocks, threads, arguments,
                                           shared_bytes, nullptr),
               "row factorization");
  } else {
    launch_behind(kernel.kernel, {blocks, threads, shared_bytes}, "row factorization", v);
  }
  check_cuda(cudaGetLastError(), "row factorization");
}

}  // namespace

const RowFactorKernels* row_factor_kernels() {
  static const RowFactorKernels table{meet, plan, measure, begin, prepare, begin_again, start, bound};
  return &table;
}

}  // namespace echelon
