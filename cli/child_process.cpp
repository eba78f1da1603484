// SPDX-License-Identifier: BSD-3-Clause
#include "cli/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "echelon/base/error.hpp"

namespace echelon::cli {
namespace {

/// Both ends are closed in programs we start; spawn's dup2 makes the one copy that is not.
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

/// Reads both to their ends; one alone could fill up while we wait for the other.
void drain(Pipe& out, Pipe& err, ChildOutcome& outcome) {
  std::array<pollfd, 2> watched{{{out[0], POLLIN, 0}, {err[0], POLLIN, 0}}};
  std::array<std::string*, 2> kept{&outcome.out, &outcome.err};
  std::array<char, 4096> buffer;
  for (int open = 2; open > 0;) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].fd < 0 || watched[i].revents == 0) continue;
      const auto got = read(watched[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        kept[i]->append(buffer.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        watched[i].fd = -1;
        --open;
      }
    }
  }
}

}  // namespace

ChildOutcome run_child(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  Pipe out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  std::vector<std::string> words = command, variables = with_ours(environment);
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw Error(ErrorCode::file_missing, fmt::format("{} cannot be started: {}", words[0], std::strerror(failure)));
  }
  out.close_end(1);
  err.close_end(1);
  ChildOutcome outcome;
  drain(out, err, outcome);
  int raw = 0;
  while (waitpid(child, &raw, 0) < 0 && errno == EINTR) {
  }
  outcome.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : -WTERMSIG(raw);
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
