// SPDX-License-Identifier: BSD-3-Clause
// The one exception type of the library. A code a program can test, a sentence a user can act on, and the place.
// Misuse and bad input throw; numerical outcomes (a bad pivot, no convergence) are returned in reports.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace echelon {

enum class ErrorCode {
  bad_argument,      // a value outside its legal range, or objects that do not belong together
  bad_option,        // the program's options
  size_mismatch,     // shapes that do not fit: both are in the message
  not_square,        // a square matrix was needed
  file_missing,      // cannot be opened or read
  file_format,       // not what its format says: where() has file:line:column
  index_range,       // an index outside the matrix
  nonfinite_value,   // NaN or Inf in input
  symmetry,          // an entry or a matrix that contradicts the declared or needed symmetry
  duplicate_entry,   // duplicates and the policy was to refuse them
  structure,         // structurally singular, or a pattern that does not fit the stencil
  repair_forbidden,  // --strict met something that would have to be repaired
  write_failed,      // disk full, no permission, short write
  will_not_fit,      // refused before allocation: bytes needed and bytes there are in the message
  out_of_memory,     // an allocation failed
  device,            // no GPU, wrong place, or a CUDA error
  internal           // a broken promise of ours
};

/// The stable word of a code, as in the JSON report ("file_format").
const char* word(ErrorCode code);
/// The program's exit status for a code: 2 for bad usage or input, 3 for memory and device trouble.
int exit_status(ErrorCode code);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& sentence, std::string where = {});

  ErrorCode code() const noexcept { return code_; }
  /// "file:line:column", or "grid point (i,j,k), component c, row r"; empty when there is no place.
  const std::string& where() const noexcept { return where_; }

 private:
  ErrorCode code_;
  std::string where_;
};

}  // namespace echelon
