// SPDX-License-Identifier: BSD-3-Clause
// How a command names its options to the parser: a group of its help, and a line or two an option. CLI11 is behind it; an
// option's text is judged by option_checks.hpp, and one that names a file is known to be that (line_files.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/line/line_files.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace echelon::cli {

using Words = std::vector<std::string>;

/// An option that names a file; after parsing it knows the name.
struct FileOption {
  const CLI::Option* option;
  FileRole role;
};
using FileOptions = std::vector<FileOption>;

/// Where the options of a command go.
struct OptionList {
  CLI::App& app;
  FileOptions& files;
};

inline constexpr const char* json_help = "write the report; - is standard output";

class OptionGroup {
 public:
  explicit OptionGroup(const OptionList& options, const char* title = "Options")
      : OptionGroup(options.app, title, options.files) {}
  OptionGroup(CLI::App& app, const char* title, FileOptions& files) : app_(app), title_(title), files_(files) {}

  /// One of the words in `have`; those in `later` are words of the interface whose method this version does not have yet.
  void word(const char* name, std::string& value, const std::string& help, const Words& have, const Words& later = {});
  void name(const char* name, std::string& value, const std::string& help, const Words& have, const Words& later = {});
  /// Several of them.
  void names(const char* name, Words& values, const std::string& help, const Words& have, int most);
  CLI::Option* file(const char* name, std::string& value, const std::string& help, FileRole role);
  /// It is an error of the line that the file or the folder is not there.
  void file_that_is_there(const char* name, std::string& value, const std::string& help, FileRole role);
  void flag(const char* name, bool& value, const std::string& help);
  /// Of a string, a number, or a list of one of them.
  template <class Value>
  CLI::Option* text(const char* name, Value& value, const std::string& help, const char* type);
  void real(const char* name, double& value, const std::string& help, double smallest, double largest, const char* type);
  /// Of any whole number.
  template <class Value>
  void count(const char* name, Value& value, const std::string& help, std::int64_t smallest, std::int64_t largest,
             const char* type);
  /// A text of which only the meaning is kept, by `take`; `check` says what is wrong with it, as option_checks.hpp does.
  void meant_text(const char* name, const std::function<void(const std::string&)>& take, const std::string& shown,
                  const std::string& help, const char* type, const std::function<std::string(const std::string&)>& check);
  /// What the help says the default is, where the variable holds something else.
  void show_default(const char* name, const char* value);
  /// Several of them.
  void counts(const char* name, std::vector<int>& values, const std::string& help, std::int64_t smallest,
              std::int64_t largest, const char* type, int most);

  /// What a command cannot do without stands on the line by itself, its name only in the help.
  void required_word(const char* name, std::string& value, const std::string& help, const Words& have, const Words& later,
                     const char* type);
  void required_file(const char* name, std::string& value, const std::string& help, FileRole role);

 private:
  CLI::App& app_;
  const char* title_;
  FileOptions& files_;
};

/// Every input that was named, also where a later one counts, and each output that will be written.
std::vector<LineFile> named_files(const FileOptions& files);

}  // namespace echelon::cli
