// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/error.hpp"

namespace echelon {

const char* word(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_argument: return "bad_argument";
    case ErrorCode::bad_option: return "bad_option";
    case ErrorCode::size_mismatch: return "size_mismatch";
    case ErrorCode::not_square: return "not_square";
    case ErrorCode::file_missing: return "file_missing";
    case ErrorCode::file_format: return "file_format";
    case ErrorCode::index_range: return "index_range";
    case ErrorCode::nonfinite_value: return "nonfinite_value";
    case ErrorCode::symmetry: return "symmetry";
    case ErrorCode::duplicate_entry: return "duplicate_entry";
    case ErrorCode::structure: return "structure";
    case ErrorCode::repair_forbidden: return "repair_forbidden";
    case ErrorCode::write_failed: return "write_failed";
    case ErrorCode::will_not_fit: return "will_not_fit";
    case ErrorCode::out_of_memory: return "out_of_memory";
    case ErrorCode::device: return "device";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::will_not_fit:
    case ErrorCode::out_of_memory:
    case ErrorCode::device: return 3;
    default: return 2;
  }
}

Error::Error(ErrorCode code, const std::string& sentence, std::string where)
    : std::runtime_error(where.empty() ? sentence : where + ": " + sentence), code_(code), where_(std::move(where)) {}

}  // namespace echelon
