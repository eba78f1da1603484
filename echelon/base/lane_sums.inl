// SPDX-License-Identifier: BSD-3-Clause
// Sums of the shape of reduction_tree.hpp with SIMD, once for each target (include it inside a foreach_target file, after
// highway.h). Lane l of a sum takes elements l, l+32, …: a pack of w lanes holds w neighbours, 32/w packs make one row of
// lanes, and what is left over at the end goes to its lane one by one. So every width adds the same numbers in the same
// order. Where the instruction set has no fused multiply-add (or vectors without a fixed size) a pack is one double and fma
// is the library's.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#if defined(ECHELON_BASE_LANE_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ECHELON_BASE_LANE_SUMS_INL
#undef ECHELON_BASE_LANE_SUMS_INL
#else
#define ECHELON_BASE_LANE_SUMS_INL
#endif

#include <cstdint>

#include "echelon/base/fma.hpp"
#include "echelon/base/reduction_tree.hpp"

HWY_BEFORE_NAMESPACE();
namespace echelon {
namespace HWY_NAMESPACE {

#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
using Pack = double;
constexpr int width = 1;
HWY_INLINE Pack zero() { return 0; }
HWY_INLINE Pack all(double a) { return a; }
HWY_INLINE Pack load(const double* p) { return *p; }
HWY_INLINE Pack load(const float* p) { return *p; }
HWY_INLINE void store(Pack a, double* p) { *p = a; }
HWY_INLINE void store(Pack a, float* p) { *p = static_cast<float>(a); }
HWY_INLINE double narrowed(Pack a, const double*) { return a; }
HWY_INLINE float narrowed(Pack a, const float*) { return static_cast<float>(a); }
template <class T>
HWY_INLINE Pack widened(T a) {
  return a;
}
template <class T>
HWY_INLINE void stream(T a, T* p) {
  *p = a;
}
HWY_INLINE void end_streams() {}
HWY_INLINE Pack times(Pack a, Pack b) { return a * b; }
HWY_INLINE Pack over(Pack a, Pack b) { return a / b; }
HWY_INLINE Pack minus(Pack a, Pack b) { return a - b; }
HWY_INLINE Pack mul_add(Pack a, Pack b, Pack c) { return fma(a, b, c); }
HWY_INLINE Pack neg_mul_add(Pack a, Pack b, Pack c) { return fma(-a, b, c); }
#else
namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::CappedTag<double, 8>;
using Floats = hn::Rebind<float, Doubles>;
using Pack = hn::Vec<Doubles>;
constexpr int width = static_cast<int>(hn::MaxLanes(Doubles()));
HWY_INLINE Pack zero() { return hn::Zero(Doubles()); }
HWY_INLINE Pack all(double a) { return hn::Set(Doubles(), a); }
HWY_INLINE Pack load(const double* p) { return hn::LoadU(Doubles(), p); }
HWY_INLINE Pack load(const float* p) { return hn::PromoteTo(Doubles(), hn::LoadU(Floats(), p)); }
HWY_INLINE void store(Pack a, double* p) { hn::StoreU(a, Doubles(), p); }
HWY_INLINE void store(Pack a, float* p) { hn::StoreU(hn::DemoteTo(Floats(), a), Floats(), p); }
/// Rounded to what the pointer points to, back, and to memory past the caches (p aligned as the pack).
using NarrowPack = hn::Vec<Floats>;
HWY_INLINE Pack narrowed(Pack a, const double*) { return a; }
HWY_INLINE NarrowPack narrowed(Pack a, const float*) { return hn::DemoteTo(Floats(), a); }
HWY_INLINE Pack widened(Pack a) { return a; }
HWY_INLINE Pack widened(NarrowPack a) { return hn::PromoteTo(Doubles(), a); }
HWY_INLINE void stream(Pack a, double* p) { hn::Stream(a, Doubles(), p); }
HWY_INLINE void stream(NarrowPack a, float* p) { hn::Stream(a, Floats(), p); }
HWY_INLINE void end_streams() { hwy::FlushStream(); }
HWY_INLINE Pack times(Pack a, Pack b) { return hn::Mul(a, b); }
HWY_INLINE Pack over(Pack a, Pack b) { return hn::Div(a, b); }
HWY_INLINE Pack minus(Pack a, Pack b) { return hn::Sub(a, b); }
HWY_INLINE Pack mul_add(Pack a, Pack b, Pack c) { return hn::MulAdd(a, b, c); }
HWY_INLINE Pack neg_mul_add(Pack a, Pack b, Pack c) { return hn::NegMulAdd(a, b, c); }
#endif

constexpr int packs = reduction::lanes / width;
constexpr std::int64_t row = reduction::lanes;

/// The 32 lane sums of one chunk.
struct LaneSums {
  Pack part[packs];
  HWY_INLINE LaneSums() {
    for (int k = 0; k < packs; ++k) part[k] = zero();
  }
};

/// The lanes by halves, after `tail(lane)` has added what one lane still lacks, for the first `left` lanes.
template <class Tail>
HWY_INLINE double folded(const LaneSums& sums, std::int64_t left, Tail tail) {
  double lane[reduction::lanes];
  for (int k = 0; k < packs; ++k) store(sums.part[k], lane + k * width);
  for (std::int64_t l = 0; l < left; ++l) lane[l] = tail(l, lane[l]);
  for (int half = reduction::lanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
  }
  return lane[0];
}

}  // namespace HWY_NAMESPACE
}  // namespace echelon
HWY_AFTER_NAMESPACE();
#endif
