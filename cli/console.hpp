// SPDX-License-Identifier: BSD-3-Clause
// Where the program's words go. Results on standard output (standard error when a report takes standard output), the
// progress line on a terminal's standard error only, signals turned into a question an iteration asks. Names of files may
// stand in words: what would act on a terminal is escaped here, whoever wrote the sentence.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>

namespace echelon::cli {

class Console {
 public:
  Console(bool quiet, bool output_is_taken) : quiet_(quiet), out_(output_is_taken ? stderr : stdout) {}
  ~Console() { clear_progress(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// A result; nothing when quiet.
  void say(const std::string& text);
  /// To standard error, quiet or not.
  void complain(const std::string& text);
  /// True when a progress line would be seen.
  bool shows_progress() const;
  void progress(const std::string& line);
  void clear_progress();

 private:
  bool quiet_;
  std::FILE* out_;
  bool progress_shown_ = false;
};

/// From now on another process speaks for this one: nothing of standard output leaves it, no sentence of ours, and no file
/// is written (outputs.hpp).
void keep_silent();
bool speaks() noexcept;

/// From now on SIGINT, SIGTERM, SIGHUP (unless it was switched off, as nohup does) and SIGXCPU end the process with 130 at
/// once; a closed pipe is no signal.
void catch_signals();
/// From now on there is something to save: the first signal is only noted, and the second ends the process.
void finish_when_interrupted();
bool interrupted();
/// The process group of a program that this one started: ended with it when the process ends at once. 0: none is running.
void end_with_us(pid_t group) noexcept;
/// Ends the process at once, from any thread, with a sentence on standard error; what a signal does.
[[noreturn]] void leave_at_once(const std::string& sentence, int status);

/// Throws Error(write_failed) when standard output did not take everything.
void finish_output();

}  // namespace echelon::cli
