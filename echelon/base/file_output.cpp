// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/file_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"

namespace echelon {
namespace {

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Where a chain of links ends, so that a dangling or a relative link is replaced at its target.
std::string follow_links(std::string path) {
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

/// A new file beside `target`. The plain open leaves the permissions to the process's mask.
int open_beside(const std::string& target, std::string& name) {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = fmt::format("{}.{}-{}.part", target, ::getpid(), counter.fetch_add(1, std::memory_order_relaxed));
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

}  // namespace

FileOutput::FileOutput(const std::string& path, std::int64_t expected_bytes)
    : path_(path), expected_(expected_bytes), exact_(expected_bytes > 0) {
  if (path.empty()) throw Error(ErrorCode::write_failed, "the name of the file to write is empty");
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("open", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    direct_ = true;
    target_ = path;
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("open", errno);
    return;
  }
  target_ = follow_links(path);
  // A file one may not write stays as it is, though its folder would allow a rename over it.
  if (exists && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) fail("open", errno);
  std::string name;
  descriptor_ = open_beside(target_, name);
  if (descriptor_ < 0) fail("create a temporary file beside it", errno);
  temporary_ = name;
  if (exists && ::fchmod(descriptor_, status.st_mode & 07777) != 0) fail("set the permissions", errno);
}

FileOutput::~FileOutput() { abandon(); }

void FileOutput::write(std::string_view piece) {
  while (!piece.empty()) {
    const auto got = ::write(descriptor_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const int reason = got < 0 ? errno : ENOSPC;
      expected_ = std::max(expected_, written_ + static_cast<std::int64_t>(piece.size()));
      fail("write", reason);
    }
    written_ += got;
    piece.remove_prefix(static_cast<std::size_t>(got));
  }
}

void FileOutput::commit() {
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
  // The folder too, or a power cut could bring the old name back. The data is safe either way: no error from here.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
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
  throw Error(ErrorCode::write_failed, sentence + "; an old file of this name is untouched", path_);
}

void FileOutput::abandon() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void write_file(const std::string& path, std::string_view content) {
  FileOutput file(path, static_cast<std::int64_t>(content.size()));
  file.write(content);
  file.commit();
}

}  // namespace echelon
