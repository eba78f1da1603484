// SPDX-License-Identifier: BSD-3-Clause
// The files that a command writes. They are opened before the work whose results they take, so that one that cannot be
// written costs nothing; what is not finished leaves the old file and no litter. "-" is standard output. In a process that
// is silent (console.hpp) every output is one that nobody asked for.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "echelon/base/file_output.hpp"

namespace echelon::cli {

/// What messages call it.
inline constexpr const char* standard_output_name = "standard output";

class Output {
 public:
  /// An empty path is an output that nobody asked for. Throws Error(write_failed).
  explicit Output(const std::string& path);

  bool asked_for() const { return file_.has_value(); }
  const std::string& path() const { return path_; }
  FileOutput& file() { return *file_; }
  /// True when a signal ended the waiting for a reader of a pipe.
  bool given_up() const { return file_ && file_->given_up(); }
  /// All of it at once; nothing when it was not asked for. Throws Error(write_failed).
  void write(const std::function<std::string()>& content);

 private:
  std::string path_;
  std::optional<FileOutput> file_;
};

/// Opened, written and closed.
void write_report(const std::string& path, const std::string& content);

/// Throws Error(write_failed) where write_report would, and writes nothing.
void require_writable(const std::string& path);

}  // namespace echelon::cli
