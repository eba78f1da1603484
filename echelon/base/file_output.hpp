// SPDX-License-Identifier: BSD-3-Clause
// A file that is either complete or not there: written to a temporary name beside it, every write checked, synced, then
// renamed over the old one. Special files (/dev/stdout, /dev/null, pipes) are written directly; a symbolic link stays a
// link and its target is replaced. An existing file keeps its permissions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace echelon {

/// Throws Error(write_failed) with the path, the system's reason, the bytes needed and the bytes free.
void write_file(const std::string& path, std::string_view content);

/// The same in pieces. Without `commit` the destructor removes the temporary file and the old one stays.
class FileOutput {
 public:
  /// `expected_bytes`, when known, is what a message calls the bytes needed.
  explicit FileOutput(const std::string& path, std::int64_t expected_bytes = 0);
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;
  ~FileOutput();

  void write(std::string_view piece);
  void commit();

 private:
  [[noreturn]] void fail(const char* step, int reason);
  void abandon() noexcept;

  std::string path_;       // as the caller wrote it
  std::string target_;     // links followed
  std::string temporary_;  // empty when there is none to remove
  bool direct_ = false;    // a special file: no temporary, no disk behind it
  std::int64_t expected_ = 0;
  bool exact_ = false;  // the caller knew the size
  std::int64_t written_ = 0;
  int descriptor_ = -1;
};

}  // namespace echelon
