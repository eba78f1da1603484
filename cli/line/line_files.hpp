// SPDX-License-Identifier: BSD-3-Clause
// The files that a command line names, and the rule that no output takes the place of an input or of another output. Files
// are compared by what they are (device and inode), through links of both kinds; those that are not there yet by where they
// would be. Asked before anything is opened for writing.
#pragma once

#include <string>
#include <vector>

namespace echelon::cli {

enum class FileRole { input, input_folder, output };

struct LineFile {
  std::string option;  // "--json", or the name of an argument without one
  std::string path;
  FileRole role;
};

/// The sentence that refuses a name of a file, or nothing: an empty one (a variable that is not set), or an option's name.
std::string check_file_name(const std::string& name);

/// The words for standard output are one: "-" for it and for its names under /dev and /proc.
std::string output_name(const std::string& name);

/// Throws Error(bad_option) for the first output that another of them would share or lose its content to.
void refuse_same_files(const std::vector<LineFile>& files);

/// Where the report of an error may be written, looked up without the parser because the line may be what is wrong: what
/// --json says, unless any other word of the line names that file too, or it is there and no report. Empty: nowhere.
std::string error_report_path(const std::vector<std::string>& arguments);

}  // namespace echelon::cli
