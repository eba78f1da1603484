// SPDX-License-Identifier: BSD-3-Clause
// A file that is either complete or not there: written to a temporary name beside it, every write checked, synced, then
// renamed over the old one. Special files (/dev/stdout, /dev/null, pipes) are written directly; a symbolic link stays a
// link and its target is replaced. An existing file keeps its permissions. A limit on file sizes is a full disk, no signal;
// a reader of a pipe that went away has what it wanted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace echelon {

/// Throws Error(write_failed) with the path, the system's reason, the bytes needed and the bytes free.
void write_file(const std::string& path, std::string_view content);

/// Where a chain of links ends, whether or not something is there: what writing to `path` would replace.
std::string link_target(std::string path);

/// For a signal handler that leaves: removes what this process has not finished writing. Safe at any moment.
void remove_unfinished_files() noexcept;

/// The same in pieces. Without `commit` the destructor removes the temporary file and the old one stays. A pipe by name is
/// opened at the first write, because that waits for a reader.
class FileOutput {
 public:
  /// Asked while a pipe lets us wait; true ends the waiting, a second after it began, with Error(write_failed).
  using GiveUp = std::function<bool()>;

  /// `expected_bytes`, when known, is what a message calls the bytes needed.
  explicit FileOutput(const std::string& path, std::int64_t expected_bytes = 0, GiveUp give_up = {});
  /// An open descriptor, which stays open; `name` is for messages.
  FileOutput(int descriptor, const std::string& name, GiveUp give_up = {});
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;
  ~FileOutput();

  const std::string& path() const { return path_; }
  /// True when the waiting was ended by GiveUp: nothing is wrong with the file.
  bool given_up() const { return given_up_; }
  void write(std::string_view piece);
  void commit();

 private:
  [[noreturn]] void fail(const char* step, int reason);
  [[noreturn]] void give_up(const char* what);
  void abandon() noexcept;
  void open_pipe();
  /// Whether waiting goes on after `milliseconds` of it without progress.
  void count_waiting(int milliseconds, const char* what);
  void wait_until_taken();

  std::string path_;       // as the caller wrote it
  std::string target_;     // links followed
  std::string temporary_;  // empty when there is none to remove
  int slot_ = -1;          // of the temporary among those a signal handler removes
  bool direct_ = false;    // a special file: no temporary, no disk behind it
  bool waits_ = false;     // one that may let us wait: a pipe, a terminal
  bool unopened_ = false;  // a pipe by name before the first write
  bool reader_left_ = false, given_up_ = false;
  int waited_ = 0;  // milliseconds since a byte was taken
  GiveUp give_up_;
  std::int64_t expected_ = 0;
  bool exact_ = false;  // the caller knew the size
  std::int64_t written_ = 0;
  int descriptor_ = -1;
};

}  // namespace echelon
