// SPDX-License-Identifier: BSD-3-Clause
// How coefficients are stored; arithmetic is that of the vectors. Widening is exact; narrowing rounds to nearest, ties to
// even. FP32: 24 bits of mantissa; BF16: 8, with FP32's range; FP16: 11, at most 65504.
#pragma once

#include <cstdint>
#include <string>

namespace echelon {

enum class Stored { fp64, fp32, bf16, fp16 };

const char* word(Stored stored);
/// Throws Error(bad_argument) that lists the words.
Stored stored_from_word(const std::string& word);
int bytes_of(Stored stored);

/// to[i] ← scale·from[i]; returns how many finite values left the range. `to` has n values of the narrower kind.
template <class T>
std::int64_t narrow(const T* from, std::int64_t n, T scale, Stored stored, void* to);
/// The i-th value behind `values`.
double widened(const void* values, std::int64_t i, Stored stored);

}  // namespace echelon
