// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/file_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <utility>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"

namespace echelon {
namespace {

/// Waiting for a pipe is done in such pieces, so that somebody can be asked whether to go on.
constexpr int wait_milliseconds = 50, patience_milliseconds = 1000;

/// The temporary files of this process, where a signal handler finds them: no allocation, no lock.
struct Unfinished {
  std::atomic<pid_t> owner{0};  // 0: free; a child that was forked owns none of them
  char name[PATH_MAX];
};
std::array<Unfinished, 16> unfinished;
static_assert(std::atomic<pid_t>::is_always_lock_free, "a signal handler reads it");

/// Before the file is made, so that no moment is left out. -1 when all are taken: that file a signal leaves behind.
int note_unfinished(const std::string& name) {
  constexpr pid_t being_filled = -1;
  if (name.size() >= PATH_MAX) return -1;
  for (std::size_t slot = 0; slot < unfinished.size(); ++slot) {
    pid_t free = 0;
    if (!unfinished[slot].owner.compare_exchange_strong(free, being_filled)) continue;
    std::memcpy(unfinished[slot].name, name.c_str(), name.size() + 1);
    unfinished[slot].owner = ::getpid();
    return static_cast<int>(slot);
  }
  return -1;
}

void forget_unfinished(int slot) noexcept {
  if (slot >= 0) unfinished[static_cast<std::size_t>(slot)].owner = 0;
}

/// While it lives, a write beyond a limit on file sizes is an error of this thread and no signal.
class SizeLimitIsNoSignal {
 public:
  SizeLimitIsNoSignal() {
    sigemptyset(&it_);
    sigaddset(&it_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &it_, &before_);
  }
  ~SizeLimitIsNoSignal() {
    const int reason = errno;
    const timespec at_once{};
    while (raised_ && ::sigtimedwait(&it_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = reason;
  }
  SizeLimitIsNoSignal(const SizeLimitIsNoSignal&) = delete;
  SizeLimitIsNoSignal& operator=(const SizeLimitIsNoSignal&) = delete;

  ssize_t write(int descriptor, const char* data, std::size_t size) {
    const auto got = ::write(descriptor, data, size);
    raised_ = got < 0 && errno == EFBIG;
    return got;
  }

 private:
  sigset_t it_, before_;
  bool raised_ = false;
};

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A new file beside `target`, known to signal handlers. The plain open leaves the permissions to the process's mask.
int open_beside(const std::string& target, std::string& name, int& slot) {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = fmt::format("{}.{}-{}.part", target, ::getpid(), counter.fetch_add(1, std::memory_order_relaxed));
    slot = note_unfinished(name);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    const int reason = errno;
    forget_unfinished(std::exchange(slot, -1));
    errno = reason;
    if (reason != EEXIST) return -1;
  }
  return -1;
}

bool may_wait(mode_t mode) { return S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISCHR(mode); }

}  // namespace

std::string link_target(std::string path) {
  constexpr int longest_chain = 40;  // the kernel's own limit
  char buffer[4096];
  for (int i = 0; i < longest_chain; ++i) {
    const auto length = ::readlink(path.c_str(), buffer, sizeof buffer);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof buffer) break;
    const std::string target(buffer, static_cast<std::size_t>(length));
    path = target.starts_with('/') ? target : folder_of(path) + "/" + target;
  }
  return path;
}

void remove_unfinished_files() noexcept {
  const pid_t self = ::getpid();
  for (const auto& one : unfinished) {
    if (one.owner == self) ::unlink(one.name);
  }
}

FileOutput::FileOutput(const std::string& path, std::int64_t expected_bytes, GiveUp give_up)
    : path_(path), give_up_(std::move(give_up)), expected_(expected_bytes), exact_(expected_bytes > 0) {
  if (path.empty()) throw Error(ErrorCode::write_failed, "the name of the file to write is empty");
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("open", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    direct_ = true;
    target_ = path;
    waits_ = may_wait(status.st_mode);
    unopened_ = S_ISFIFO(status.st_mode);
    if (unopened_) {
      if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) fail("open", errno);
      return;
    }
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor_ < 0) fail("open", errno);
    return;
  }
  target_ = link_target(path);
  // A file one may not write stays as it is, though its folder would allow a rename over it.
  if (exists && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) fail("open", errno);
  std::string name;
  descriptor_ = open_beside(target_, name, slot_);
  if (descriptor_ < 0) fail("create a temporary file beside it", errno);
  temporary_ = name;
  if (exists && ::fchmod(descriptor_, status.st_mode & 07777) != 0) fail("set the permissions", errno);
}

FileOutput::FileOutput(int descriptor, const std::string& name, GiveUp give_up)
    : path_(name), direct_(true), give_up_(std::move(give_up)) {
  descriptor_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (descriptor_ < 0) fail("open", errno);
  struct stat status {};
  waits_ = ::fstat(descriptor_, &status) == 0 && may_wait(status.st_mode);
}

FileOutput::~FileOutput() { abandon(); }

void FileOutput::open_pipe() {
  if (!std::exchange(unopened_, false)) return;
  // The plain open would wait for a reader where nobody can be asked.
  while ((descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)) < 0) {
    if (errno == EINTR) continue;
    if (errno != ENXIO) fail("open", errno);
    ::poll(nullptr, 0, wait_milliseconds);
    count_waiting(wait_milliseconds, "nobody opened it to read");
  }
}

void FileOutput::count_waiting(int milliseconds, const char* what) {
  waited_ = std::min(waited_ + milliseconds, patience_milliseconds);
  if (give_up_ && waited_ >= patience_milliseconds && give_up_()) give_up(what);
}

void FileOutput::wait_until_taken() {
  for (pollfd look{descriptor_, POLLOUT, 0};;) {
    const int ready = ::poll(&look, 1, wait_milliseconds);
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) return;  // write will say why
    count_waiting(wait_milliseconds, "its reader took nothing more");
  }
}

void FileOutput::write(std::string_view piece) {
  open_pipe();
  // A pipe that has room at all takes so much without waiting.
  const std::size_t largest = waits_ ? PIPE_BUF : piece.size();
  while (!piece.empty() && !reader_left_) {
    if (waits_) wait_until_taken();
    const auto got = SizeLimitIsNoSignal().write(descriptor_, piece.data(), std::min(piece.size(), largest));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0 && errno == EPIPE && direct_) {
      reader_left_ = true;
      return;
    }
    if (got <= 0) {
      const int reason = got < 0 ? errno : ENOSPC;
      expected_ = std::max(expected_, written_ + static_cast<std::int64_t>(piece.size()));
      fail("write", reason);
    }
    waited_ = 0;
    written_ += got;
    piece.remove_prefix(static_cast<std::size_t>(got));
  }
}

void FileOutput::commit() {
  open_pipe();  // whoever reads it shall see its end
  if (direct_) {
    // Pipes and terminals cannot be synced and say so.
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP) fail("sync", errno);
  } else if (::fsync(descriptor_) != 0) {
    fail("sync", errno);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("close", errno);
  if (direct_) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename", errno);
  temporary_.clear();
  forget_unfinished(std::exchange(slot_, -1));
  // The folder too, or a power cut could bring the old name back. The data is safe either way: no error from here.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
}

void FileOutput::give_up(const char* what) {
  given_up_ = true;
  abandon();
  throw Error(ErrorCode::write_failed, fmt::format("not written: {}, and the run was interrupted", what), path_);
}

void FileOutput::fail(const char* step, int reason) {
  abandon();  // first, so that what the half-written file took counts as free
  struct statvfs space {};
  const bool known = !direct_ && ::statvfs(folder_of(target_.empty() ? path_ : target_).c_str(), &space) == 0;
  const auto free = known ? static_cast<std::int64_t>(space.f_bavail) * static_cast<std::int64_t>(space.f_frsize) : 0;
  std::string sentence = fmt::format("could not {}: {}", step, std::strerror(reason));
  if (const auto needed = std::max(expected_, written_); needed > 0) {
    sentence += fmt::format("; {}{} bytes are needed", exact_ ? "" : "at least ", needed);
  }
  if (known) sentence += fmt::format("; {} bytes ({}) are free there", free, human_bytes(free));
  if (reason == EFBIG) sentence += "; a limit on file sizes may be set (ulimit -f)";
  throw Error(ErrorCode::write_failed, sentence + (direct_ ? "" : "; an old file of this name is untouched"), path_);
}

void FileOutput::abandon() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  forget_unfinished(std::exchange(slot_, -1));
}

void write_file(const std::string& path, std::string_view content) {
  FileOutput file(path, static_cast<std::int64_t>(content.size()));
  file.write(content);
  file.commit();
}

}  // namespace echelon
