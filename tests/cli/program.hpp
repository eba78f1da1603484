// SPDX-License-Identifier: BSD-3-Clause
// Runs the real program as a user does: a command line in a shell, its exit status, what it printed, and files in a folder
// that goes away with the test.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/sanitized.hpp"

namespace echelon::test {

struct Outcome {
  int status = -1;  // −signal when it was killed
  std::string out, err;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class Program : public testing::Test {
 protected:
  Program() {
    std::string name = (std::filesystem::temp_directory_path() / "echelon-test-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Program() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  std::string text(const std::string& name) const { return read_text(file(name)); }
  nlohmann::json json(const std::string& name) const { return nlohmann::json::parse(text(name)); }

  /// `line` is what follows "echelon"; `before` goes in front of the program ("ulimit -v 1000000;").
  Outcome run(const std::string& line, const std::string& before = "") const {
    const std::string command =
        before + " exec " ECHELON_PROGRAM " " + line + " >" + file(".out") + " 2>" + file(".err") + " </dev/null";
    const int raw = std::system(("cd " + folder_.string() + " && ( " + command + " )").c_str());
    Outcome outcome;
    outcome.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : -WTERMSIG(raw);
    outcome.out = text(".out");
    outcome.err = text(".err");
    return outcome;
  }

  std::filesystem::path folder_;
};

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The matrix [4 1; 2 5], whose solution for b = A·1 is 1.
inline const char* small_matrix = "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 4\n1 2 1\n2 1 2\n2 2 5\n";

}  // namespace echelon::test
