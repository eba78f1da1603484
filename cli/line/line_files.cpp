// SPDX-License-Identifier: BSD-3-Clause
#include "cli/line/line_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "echelon/base/error.hpp"
#include "echelon/base/file_output.hpp"

namespace echelon::cli {
namespace {

namespace fs = std::filesystem;

bool is_standard_output(const std::string& output) { return output == "-"; }

/// What the system knows of a file, links followed. "-" is standard output, whatever that is.
std::optional<struct stat> status_of(const std::string& path, bool output) {
  struct stat status {};
  const bool known =
      output && is_standard_output(path) ? ::fstat(STDOUT_FILENO, &status) == 0 : ::stat(path.c_str(), &status) == 0;
  return known ? std::optional(status) : std::nullopt;
}

/// Where a file that is not there yet will be.
fs::path place_of(const std::string& path) {
  std::error_code unknown;
  const auto absolute = fs::absolute(link_target(path), unknown);
  const auto folder = fs::weakly_canonical(absolute.parent_path(), unknown);
  return (unknown ? absolute.parent_path() : folder) / absolute.filename();
}

/// One device may be given twice: /dev/null loses nothing. Two documents in one pipe would be none.
bool is_device(const struct stat& status) { return S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode); }

bool same_file(const std::string& output, const std::string& other, bool other_is_output) {
  const bool both_standard = is_standard_output(output) && other_is_output && is_standard_output(other);
  if (both_standard) return true;
  const auto a = status_of(output, true), b = status_of(other, other_is_output);
  if (a && b) return a->st_dev == b->st_dev && a->st_ino == b->st_ino && !is_device(*a);
  // Of two that are one either both are there or none is.
  return !a && !b && place_of(output) == place_of(other);
}

bool is_matrix_name(const std::string& path) { return path.ends_with(".mtx") || path.ends_with(".mtx.gz"); }

/// Whether an output is one of the matrices, or of the contenders' programs, that a folder is given for.
bool lies_among_inputs(const std::string& output, const std::string& folder) {
  const auto file = status_of(output, true), inside = status_of(folder, false);
  if (!file || !inside || !S_ISREG(file->st_mode) || !S_ISDIR(inside->st_mode)) return false;
  const auto target = link_target(output);
  const auto parent = fs::path(target).parent_path();
  const auto around = status_of(parent.empty() ? "." : parent.string(), false);
  constexpr mode_t runs = S_IXUSR | S_IXGRP | S_IXOTH;
  return (is_matrix_name(target) || (file->st_mode & runs)) && around && around->st_dev == inside->st_dev &&
         around->st_ino == inside->st_ino;
}

/// Whether something would be lost that is no earlier report: a wrong line may have taken a word for the wrong option's.
bool holds_something_else(const std::string& path) {
  const auto status = status_of(path, false);
  if (!status || !S_ISREG(status->st_mode) || status->st_size == 0) return false;
  return std::ifstream(path).get() != '{';
}

bool collide(const LineFile& output, const LineFile& other) {
  if (other.role == FileRole::input_folder) return lies_among_inputs(output.path, other.path);
  return same_file(output.path, other.path, other.role == FileRole::output);
}

}  // namespace

std::string check_file_name(const std::string& name) {
  if (name.empty()) return "the name of the file is empty";
  if (name.size() > 1 && name[0] == '-')
    return fmt::format("got '{}', which looks like an option; a file of that name is ./{}", name, name);
  return {};
}

std::string output_name(const std::string& name) {
  for (const char* known : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    if (name == known) return "-";
  }
  return name;
}

void refuse_same_files(const std::vector<LineFile>& files) {
  for (auto output = files.begin(); output != files.end(); ++output) {
    if (output->role != FileRole::output) continue;
    // Among outputs each pair once.
    const auto other = std::find_if(files.begin(), files.end(), [&](const LineFile& one) {
      const bool already_compared = one.role == FileRole::output && &one >= &*output;
      return !already_compared && collide(*output, one);
    });
    if (other == files.end()) continue;
    throw Error(ErrorCode::bad_option, other->role == FileRole::input_folder
                                           ? fmt::format("{} would overwrite {}, which is read from the folder of {}",
                                                         output->option, output->path, other->option)
                                           : fmt::format("{} and {} are the same file {}: the one would overwrite the other",
                                                         other->option, output->option, output->path));
  }
}

std::string error_report_path(const std::vector<std::string>& arguments) {
  const std::string name = "--json", with_value = name + "=";
  std::string path;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i].starts_with(with_value)) path = arguments[i].substr(with_value.size());
    if (arguments[i] == name) path = i + 1 < arguments.size() ? arguments[++i] : "";
  }
  path = output_name(path);
  if (!check_file_name(path).empty()) return {};
  // Any word may be an input whose option was mistyped; so may what stands behind its '='.
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == name) {
      ++i;
    } else if (!arguments[i].starts_with(with_value)) {
      others.push_back(arguments[i]);
      const auto equals = arguments[i].find('=');
      if (equals != std::string::npos) others.push_back(arguments[i].substr(equals + 1));
    }
  }
  const bool taken = std::any_of(others.begin(), others.end(), [&](const std::string& other) {
    return !other.empty() && (same_file(path, other, false) || lies_among_inputs(path, other));
  });
  return taken || (!is_standard_output(path) && holds_something_else(path)) ? "" : path;
}

}  // namespace echelon::cli
