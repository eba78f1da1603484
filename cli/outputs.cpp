// SPDX-License-Identifier: BSD-3-Clause
#include "cli/outputs.hpp"

#include <unistd.h>

#include <cstdio>

#include "cli/console.hpp"

namespace echelon::cli {

Output::Output(const std::string& path) : path_(path) {
  if (!speaks()) return;
  if (path == "-") {
    file_.emplace(STDOUT_FILENO, standard_output_name, interrupted);
  } else if (!path.empty()) {
    file_.emplace(path, 0, interrupted);
  }
}

void Output::write(const std::function<std::string()>& content) {
  if (!file_) return;
  if (path_ == "-") std::fflush(stdout);
  file_->write(content());
  file_->commit();
}

void write_report(const std::string& path, const std::string& content) {
  Output(path).write([&] { return content; });
}

void require_writable(const std::string& path) { const Output opened_and_left(path); }

}  // namespace echelon::cli
