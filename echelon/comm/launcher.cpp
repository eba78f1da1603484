// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/comm/launcher.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "echelon/base/error.hpp"
#include "echelon/comm/message_table.hpp"

namespace echelon {
namespace {

/// −1 where the variable is not there or is no number.
int number_in(const char* variable) {
  const char* value = std::getenv(variable);
  if (!value) return -1;
  const std::string_view text(value);
  int number = -1;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
  return trouble == std::errc() && end == text.data() + text.size() ? number : -1;
}

template <std::size_t N>
int first_number_in(const std::array<const char*, N>& variables) {
  for (const char* variable : variables) {
    if (const int number = number_in(variable); number >= 0) return number;
  }
  return 0;
}

std::string folder_of_program() {
  char program[PATH_MAX + 1];
  const auto length = readlink("/proc/self/exe", program, PATH_MAX);
  if (length <= 0) return {};
  const std::string_view path(program, static_cast<std::size_t>(length));
  return std::string(path.substr(0, path.rfind('/')));
}

constexpr const char* module_file = "libechelon_mpi.so";
constexpr const char* module_symbol = "echelon_mpi";

const MpiModule* of_this_version(void* symbol, const std::string& where) {
  const auto* found = static_cast<const MpiModule*>(symbol);
  if (found->version == message_table_version) return found;
  throw Error(ErrorCode::device, fmt::format("{} is of version {}, not of this program's {}: build both together", where,
                                             found->version, message_table_version));
}

}  // namespace

Launch launched() {
  constexpr std::array says_so = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"};
  constexpr std::array sizes = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
  constexpr std::array ranks = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  for (const char* variable : says_so) {
    if (std::getenv(variable)) return {variable, first_number_in(sizes), first_number_in(ranks)};
  }
  return {};
}

std::string mpi_module_path() {
  const auto folder = folder_of_program();
  for (const char* from_there : {"", "../lib/", "../bin/"}) {
    const auto path = fmt::format("{}/{}{}", folder, from_there, module_file);
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return {};
}

const MpiModule* mpi_module() {
  if (void* linked = dlsym(RTLD_DEFAULT, module_symbol)) return of_this_version(linked, "the program's libechelon_mpi");
  const auto path = mpi_module_path();
  if (path.empty()) return nullptr;
  // Global: MPI loads parts of its own later, which look for its symbols. Never unloaded, as they stay, too.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* symbol = library ? dlsym(library, module_symbol) : nullptr;
  if (symbol) return of_this_version(symbol, path);
  const char* why = dlerror();
  throw Error(ErrorCode::device, fmt::format("MPI cannot be loaded: {}", why ? why : path));
}

}  // namespace echelon
