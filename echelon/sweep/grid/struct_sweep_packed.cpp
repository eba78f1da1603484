// SPDX-License-Identifier: BSD-3-Clause
// Sweeps of wide scalar stencils on packs: the arithmetic of struct_sweep_scalar.cpp, its bits, with one stream of
// coefficients (box27: instead of 13). A pack of eight points: first the entries of other lines, lanes over points, then the
// recurrence along the line, point by point, which runs while the loads of the next packs are under way. Bytes a point: 8
// an entry, 8 for D⁻¹ in U, 16 for r and x. Reads are safe: entries of lines outside the grid are left out, and packs near
// the ends of a line load only the lanes that are there.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "echelon/sweep/grid/struct_sweep_packed.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "echelon/sweep/grid/packed_lines.inl"
#include "echelon/sweep/grid/struct_sweep.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

constexpr int W = pack_points<double>;
static_assert(W == 8 && sizeof(PackedOperand<double>) <= sizeof(LineEntry));

struct FactorLine {
  PackedLine<double> packs;
  const double* r;
  double* x;
  std::int64_t nx;
};

/// As in gauss_seidel_host.cpp, without D⁻¹ in L. `last` are the values before the pack (packed_lines.inl).
template <bool lower, bool edge, class Count>
HWY_INLINE void substitute_pack(const FactorLine& line, const double* pack, std::int64_t i0, Count along, double* last,
                                const double* sum) {
  double* x = line.x + i0;
  const std::int64_t here = edge ? line.nx - i0 : W;
  const PackedOperand<double>* own = line.packs.operand + line.packs.across;
  const double* inverse = pack + line.packs.diagonal;
  if constexpr (!std::is_same_v<Count, int>) {
    constexpr int count = Count::value;
    const double* factor[count + 1];
    for (int a = 0; a < count; ++a) factor[a] = pack + own[a].slot;
    for (int n = 0; n < W; ++n) {
      const int lane = lower ? n : W - 1 - n;
      double value = sum[lane];
      for (int a = 0; a < count; ++a) value = fma(-factor[a][lane], last[a], value);
      if (!lower) value *= inverse[lane];
      for (int a = 0; a + 1 < count; ++a) last[a] = last[a + 1];
      if (count > 0) last[count - 1] = value;
      if (!edge || lane < here) x[lane] = value;
    }
  } else {
    for (int n = 0; n < W; ++n) {
      const int lane = lower ? n : W - 1 - n;
      if (edge && lane >= here) continue;
      double value = sum[lane];
      for (int a = 0; a < along; ++a) {
        const std::int64_t neighbour = lane + own[a].shift;
        if (edge && (i0 + neighbour < 0 || neighbour >= here)) continue;
        value = fma(-pack[own[a].slot + lane], x[neighbour], value);
      }
      x[lane] = lower ? value : value * inverse[lane];
    }
  }
}

template <bool lower, bool edge, class Count>
HWY_INLINE void factor_pack(const FactorLine& line, std::int64_t p, Count along, double* last) {
  const Points<double> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const double* pack = line.packs.packs + p * line.packs.stride;
  ask_for(pack + (lower ? packs_ahead : -packs_ahead) * line.packs.stride, line.packs.stride);
  alignas(64) double sum[W];
  for (std::int64_t v = 0; v < W; v += lanes) {
    const std::int64_t i = p * W + v;
    const auto s = gathered<edge, true>(d, line.packs.operand, line.packs.operand + line.packs.across, pack + v, i, line.nx,
                                        load_points<edge>(d, line.r, i, line.nx));
    hn::Store(s, d, sum + v);
  }
  substitute_pack<lower, edge>(line, pack, p * W, along, last, sum);
}

template <bool lower>
void sweep_factor_line(const StructTriangle& t, const LineWork& work, const SweepVectors<double>& v, void* scratch) {
  const Grid& g = t.grid;
  const LineAt at = lower ? LineAt{work.line, work.plane} : LineAt{g.ny - 1 - work.line, g.nz - 1 - work.plane};
  const std::int64_t base = (at.k * g.ny + at.j) * g.nx;
  const PackedTriangle<double, TriangleEntry> packed{g, t.entries, static_cast<const double*>(t.packs), lower ? 0 : 1};
  const FactorLine line{packed_line(packed, at, v.x, static_cast<PackedOperand<double>*>(scratch)), v.r + base, v.x + base,
                        g.nx};
  for_swept_packs<lower>(line.packs, line.x, work, g.nx, line.packs.left, line.packs.right,
                         [&](std::int64_t pack, auto edge, auto along, double* values) {
                           factor_pack<lower, decltype(edge)::value>(line, pack, along, values);
                         });
}

void fill_line(const StructTriangle& from, bool lower, std::int64_t number, double* to) {
  const Grid& g = from.grid;
  const std::int64_t j = number % g.ny, k = number / g.ny, packs = (g.nx + W - 1) / W;
  const auto entries = static_cast<std::int64_t>(from.entries.size()), slots = entries + (lower ? 0 : 1);
  const auto* inverse = static_cast<const double*>(from.inverse_diagonal);
  double* line = to + number * packs * slots * W;
  for (std::int64_t p = 0; p < packs; ++p) {
    for (std::int64_t e = 0; e < slots; ++e) {
      double* slot = line + (p * slots + e) * W;
      const Offset o = e < entries ? from.entries[static_cast<std::size_t>(e)].offset : Offset{};
      const bool inside = j + o.y >= 0 && j + o.y < g.ny && k + o.z >= 0 && k + o.z < g.nz;
      // Lanes [first, last) have this neighbour.
      const std::int64_t first = std::clamp<std::int64_t>(-o.x - p * W, 0, W);
      const std::int64_t last = inside ? std::clamp<std::int64_t>(std::min(g.nx, g.nx - o.x) - p * W, first, W) : first;
      if (!inside || first > 0 || last < W) std::fill_n(slot, W, e < entries ? 0.0 : 1.0);
      const std::int64_t point = number * g.nx + p * W;
      const double* values =
          e < entries ? static_cast<const double*>(from.entries[static_cast<std::size_t>(e)].values) : inverse;
      const std::int64_t moved = (std::int64_t{o.z} * g.ny + o.y) * g.nx + o.x;
      for (std::int64_t lane = first; lane < last; ++lane) {
        slot[lane] =
            from.scaled && e < entries ? values[point + lane] * inverse[point + moved + lane] : values[point + lane];
      }
    }
  }
}

StructSweepKernels<double> packed_sweep_double() { return {&sweep_factor_line<true>, &sweep_factor_line<false>, {1, W}}; }
FillPacks<double> fill_packs_double() { return &fill_line; }

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace echelon {
HWY_EXPORT(packed_sweep_double);
HWY_EXPORT(fill_packs_double);

template <>
StructSweepKernels<double> packed_struct_sweep<double>() {
  return HWY_DYNAMIC_DISPATCH(packed_sweep_double)();
}
template <>
StructSweepKernels<float> packed_struct_sweep<float>() {
  return {};
}
template <>
FillPacks<double> fill_packs<double>() {
  return HWY_DYNAMIC_DISPATCH(fill_packs_double)();
}
template <>
FillPacks<float> fill_packs<float>() {
  return nullptr;
}

}  // namespace echelon
#endif
