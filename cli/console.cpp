// SPDX-License-Identifier: BSD-3-Clause
#include "cli/console.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/command.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/file_output.hpp"
#include "echelon/base/utf8.hpp"

namespace echelon::cli {
namespace {

volatile std::sig_atomic_t signals_seen = 0;
volatile std::sig_atomic_t something_to_save = 0;
volatile std::sig_atomic_t silent = 0;
std::atomic<pid_t> group_that_ends_with_us{0};
static_assert(std::atomic<pid_t>::is_always_lock_free, "a signal handler reads it");

[[noreturn]] void leave(const char* sentence, std::size_t length, int status) {
  if (const pid_t group = group_that_ends_with_us; group > 0) kill(-group, SIGTERM);
  remove_unfinished_files();
  if (!silent && write(STDERR_FILENO, sentence, length) < 0) _exit(status);  // nobody listens; the status says it
  _exit(status);
}

template <std::size_t N>
[[noreturn]] void leave_at_once(const char (&sentence)[N], int status) {
  leave(sentence, N - 1, status);
}

extern "C" void note_signal(int) {
  if (signals_seen || !something_to_save) leave_at_once("echelon: interrupted\n", exit_interrupted);
  signals_seen = 1;
}

/// Comes again every second of CPU time until the hard limit: no reason to leave what is being saved.
extern "C" void note_cpu_limit(int signal) {
  std::signal(signal, SIG_IGN);
  note_signal(signal);
}

/// Input files are mapped: one that another program shortens meanwhile is gone from under the reader.
extern "C" void explain_bus_error(int) { leave_at_once("echelon: an input file became shorter while it was read\n", 2); }

}  // namespace

void keep_silent() {
  silent = 1;
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing < 0) return;
  std::fflush(stdout);
  dup2(nothing, STDOUT_FILENO);
  close(nothing);
}

bool speaks() noexcept { return silent == 0; }

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  // Interrupted reads and writes go on: the run ends in order, not in the middle of a file.
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before = {};
  if (sigaction(SIGHUP, nullptr, &before) != 0 || before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  action.sa_handler = note_cpu_limit;
  sigaction(SIGXCPU, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is a full disk: the write says so
  std::signal(SIGBUS, explain_bus_error);
}

void leave_at_once(const std::string& sentence, int status) { leave(sentence.data(), sentence.size(), status); }

void finish_when_interrupted() { something_to_save = 1; }

void end_with_us(pid_t group) noexcept { group_that_ends_with_us = group; }

bool interrupted() { return signals_seen != 0; }

void Console::say(const std::string& text) {
  if (quiet_ || silent) return;
  clear_progress();
  std::fputs(printable_lines(text).c_str(), out_);
}

void Console::complain(const std::string& text) {
  if (silent) return;
  clear_progress();
  std::fputs(printable_lines(text).c_str(), stderr);
}

bool Console::shows_progress() const { return !quiet_ && !silent && isatty(STDERR_FILENO) != 0; }

void Console::progress(const std::string& line) {
  std::fprintf(stderr, "\r\x1b[K%s", printable(line).c_str());
  std::fflush(stderr);
  progress_shown_ = true;
}

void Console::clear_progress() {
  if (!progress_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  progress_shown_ = false;
}

void finish_output() {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  // A reader that closed the pipe has what it wanted.
  if (failed && errno != EPIPE) {
    // What failed before this flush has left its mark and no reason.
    const auto reason = errno != 0 ? fmt::format(": {}", std::strerror(errno)) : std::string();
    throw Error(ErrorCode::write_failed, "standard output could not be written" + reason);
  }
}

}  // namespace echelon::cli
