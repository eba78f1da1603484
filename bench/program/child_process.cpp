// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>

#include "cli/console.hpp"
#include "echelon/base/error.hpp"

namespace echelon::cli {
namespace {

/// Both ends are closed in programs we start; dup2 makes the one copy that is not.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw Error(ErrorCode::internal, fmt::format("no pipe: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int operator[](std::size_t end) const { return ends_[end]; }
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (auto& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> with_ours(const std::vector<std::string>& additions) {
  std::vector<std::string> all;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string line = *entry;
    const auto name = line.substr(0, line.find('=') + 1);
    bool replaced = false;
    for (const auto& addition : additions) replaced = replaced || addition.rfind(name, 0) == 0;
    if (!replaced) all.push_back(line);
  }
  all.insert(all.end(), additions.begin(), additions.end());
  return all;
}

using Clock = std::chrono::steady_clock;

/// A child in a process group of its own, which is ended as a whole: a launcher's ranks with it.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) { end_with_us(id); }
  ~Child() { end_with_us(0); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void end() {
    kill(-id_, SIGTERM);
    // A launcher takes its ranks down by itself; what does not listen is killed.
    for (int wait = 0; wait < 40 && !over(); ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(-id_, SIGKILL);
  }
  int wait() {
    while (!over_ && waitpid(id_, &raw_, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(raw_) ? WEXITSTATUS(raw_) : -WTERMSIG(raw_);
  }

 private:
  bool over() {
    over_ = over_ || waitpid(id_, &raw_, WNOHANG) == id_;
    return over_;
  }

  pid_t id_;
  int raw_ = 0;
  bool over_ = false;
};

/// Reads both to their ends, because one alone could fill up while we wait for the other. Returns which limit was passed.
std::string drain(Pipe& out, Pipe& err, ChildOutcome& outcome, const ChildLimits& limits) {
  std::array<pollfd, 2> watched{{{out[0], POLLIN, 0}, {err[0], POLLIN, 0}}};
  std::array<std::string*, 2> kept{&outcome.out, &outcome.err};
  std::array<char, 4096> buffer;
  const auto begin = Clock::now();
  for (int open = 2; open > 0;) {
    const double left = limits.seconds - std::chrono::duration<double>(Clock::now() - begin).count();
    if (left <= 0) return fmt::format("it took longer than {:g} s and was ended", limits.seconds);
    if (poll(watched.data(), watched.size(), static_cast<int>(std::min(left, 3600.0) * 1e3) + 1) < 0 && errno != EINTR) {
      return fmt::format("its words could not be waited for: {}", std::strerror(errno));
    }
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) continue;
      const auto got = read(watched[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        kept[i]->append(buffer.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        watched[i].fd = -1;
        --open;
      }
      watched[i].revents = 0;
    }
    if (static_cast<std::int64_t>(outcome.out.size() + outcome.err.size()) > limits.bytes) {
      return fmt::format("it said more than {} bytes and was ended", limits.bytes);
    }
  }
  return {};
}

/// Between fork and exec only what is safe there: no allocation, no exception.
[[noreturn]] void become(char* const* words, char* const* variables, const Pipe& out, const Pipe& err, int trouble,
                         pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int nothing = open("/dev/null", O_RDONLY);
  // Our handlers are gone with exec, but what we ignore would stay ignored.
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  const bool ready = getppid() == parent && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
                     dup2(out[1], STDOUT_FILENO) >= 0 && dup2(err[1], STDERR_FILENO) >= 0;
  if (ready) execvpe(words[0], words, variables);
  const int why = errno;
  if (write(trouble, &why, sizeof why) < 0) _exit(126);
  _exit(127);
}

}  // namespace

ChildOutcome run_child(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                       const ChildLimits& limits) {
  Pipe out, err, trouble;
  std::vector<std::string> words = command, variables = with_ours(environment);
  const auto word_list = pointers(words), variable_list = pointers(variables);
  const pid_t parent = getpid(), id = fork();
  if (id < 0) throw Error(ErrorCode::file_missing, fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
  if (id == 0) become(word_list.data(), variable_list.data(), out, err, trouble[1], parent);
  setpgid(id, id);  // whichever of the two comes first
  Child child(id);
  for (auto* pipe : {&out, &err, &trouble}) pipe->close_end(1);
  int why = 0;
  if (read(trouble[0], &why, sizeof why) == sizeof why) {
    child.wait();
    throw Error(ErrorCode::file_missing, fmt::format("{} cannot be started: {}", words[0], std::strerror(why)));
  }
  ChildOutcome outcome;
  outcome.stopped = drain(out, err, outcome, limits);
  if (!outcome.stopped.empty()) child.end();
  outcome.status = child.wait();
  return outcome;
}

bool in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((std::filesystem::path(folder) / name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace echelon::cli
