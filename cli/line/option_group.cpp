// SPDX-License-Identifier: BSD-3-Clause
#include "cli/line/option_group.hpp"

#include <CLI/CLI.hpp>

#include "cli/line/option_checks.hpp"

namespace echelon::cli {
namespace {

constexpr auto take_all = CLI::MultiOptionPolicy::TakeAll;

CLI::Validator file_name(FileRole role) {
  return CLI::Validator(
      [role](std::string& name) {
        auto sentence = check_file_name(name);
        if (role == FileRole::output) name = output_name(name);
        return sentence;
      },
      "");
}
CLI::Validator words(const Words& have, const Words& later = {}) {
  return CLI::Validator([=](std::string& text) { return check_word(text, have, later); }, "");
}
CLI::Validator number(double smallest, double largest) {
  return CLI::Validator([=](std::string& text) { return check_number(text, smallest, largest); }, "");
}
CLI::Validator integer(std::int64_t smallest, std::int64_t largest) {
  return CLI::Validator([=](std::string& text) { return check_integer(text, smallest, largest); }, "");
}

}  // namespace

void OptionGroup::word(const char* name, std::string& value, const std::string& help, const Words& have,
                       const Words& later) {
  text(name, value, help, "WORD")->check(words(have, later));
}

void OptionGroup::name(const char* name, std::string& value, const std::string& help, const Words& have,
                       const Words& later) {
  text(name, value, help, "NAME")->check(words(have, later));
}

void OptionGroup::names(const char* name, Words& values, const std::string& help, const Words& have, int most) {
  text(name, values, help, "NAME ...")->check(words(have))->multi_option_policy(take_all)->expected(1, most);
}

CLI::Option* OptionGroup::file(const char* name, std::string& value, const std::string& help, FileRole role) {
  auto* option = text(name, value, help, role == FileRole::input_folder ? "DIR" : "FILE")->transform(file_name(role));
  files_.push_back({option, role});
  return option;
}

void OptionGroup::file_that_is_there(const char* name, std::string& value, const std::string& help, FileRole role) {
  auto* option = file(name, value, help, role);
  if (role == FileRole::input_folder) {
    option->check(CLI::ExistingDirectory);
  } else {
    option->check(CLI::ExistingFile);
  }
}

void OptionGroup::flag(const char* name, bool& value, const std::string& help) {
  app_.add_flag(name, value, help)->group(title_);
}

template <class Value>
CLI::Option* OptionGroup::text(const char* name, Value& value, const std::string& help, const char* type) {
  return app_.add_option(name, value, help)->group(title_)->type_name(type);
}
template CLI::Option* OptionGroup::text(const char*, std::string&, const std::string&, const char*);
template CLI::Option* OptionGroup::text(const char*, double&, const std::string&, const char*);
template CLI::Option* OptionGroup::text(const char*, int&, const std::string&, const char*);
template CLI::Option* OptionGroup::text(const char*, std::int64_t&, const std::string&, const char*);
template CLI::Option* OptionGroup::text(const char*, std::uint64_t&, const std::string&, const char*);
template CLI::Option* OptionGroup::text(const char*, Words&, const std::string&, const char*);
template CLI::Option* OptionGroup::text(const char*, std::vector<int>&, const std::string&, const char*);

void OptionGroup::real(const char* name, double& value, const std::string& help, double smallest, double largest,
                       const char* type) {
  text(name, value, help, type)->check(number(smallest, largest));
}

template <class Value>
void OptionGroup::count(const char* name, Value& value, const std::string& help, std::int64_t smallest, std::int64_t largest,
                        const char* type) {
  text(name, value, help, type)->check(integer(smallest, largest));
}
template void OptionGroup::count(const char*, int&, const std::string&, std::int64_t, std::int64_t, const char*);
template void OptionGroup::count(const char*, std::int64_t&, const std::string&, std::int64_t, std::int64_t, const char*);
template void OptionGroup::count(const char*, std::uint64_t&, const std::string&, std::int64_t, std::int64_t, const char*);

void OptionGroup::counts(const char* name, std::vector<int>& values, const std::string& help, std::int64_t smallest,
                         std::int64_t largest, const char* type, int most) {
  text(name, values, help, type)->check(integer(smallest, largest))->multi_option_policy(take_all)->expected(1, most);
}

void OptionGroup::meant_text(const char* name, const std::function<void(const std::string&)>& take, const std::string& shown,
                             const std::string& help, const char* type,
                             const std::function<std::string(const std::string&)>& check) {
  const auto take_last = [take](const CLI::results_t& given) {
    take(given.back());
    return true;
  };
  app_.add_option(name, take_last, help, false, [shown] { return shown; })
      ->group(title_)
      ->type_name(type)
      ->check(CLI::Validator([check](std::string& text) { return check(text); }, ""));
}

void OptionGroup::show_default(const char* name, const char* value) { app_.get_option(name)->default_str(value); }

void OptionGroup::required_word(const char* name, std::string& value, const std::string& help, const Words& have,
                                const Words& later, const char* type) {
  text(name, value, help, type)->check(words(have, later))->required();
}

void OptionGroup::required_file(const char* name, std::string& value, const std::string& help, FileRole role) {
  file(name, value, help, role)->required();
}

std::vector<LineFile> named_files(const FileOptions& files) {
  std::vector<LineFile> named;
  for (const auto& [option, role] : files) {
    const auto names = option->count() > 0 ? option->results() : Words();
    for (std::size_t i = role == FileRole::output && !names.empty() ? names.size() - 1 : 0; i < names.size(); ++i)
      named.push_back({option->get_name(), names[i], role});
  }
  return named;
}

}  // namespace echelon::cli
