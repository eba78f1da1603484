// SPDX-License-Identifier: BSD-3-Clause
// Speed of conversion between user order and the layouts of wavefront kernels: median seconds of each way, against copying
// the same matrix in the same run. One JSON line.
#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/layout/layout_convert.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/base/timer.hpp"

namespace {

using namespace echelon;

struct Case {
  const char* stencil;
  int side, dof;
};
constexpr Case cases[] = {{"star7", 192, 1}, {"box27", 96, 1}, {"box27", 48, 4}};

struct Wanted {
  int threads = 0, repeats = 7;
  std::string stencil;
};

template <class Work>
double median_seconds(int repeats, Work work) {
  std::vector<double> seconds;
  work();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const Timer timer;
    work();
    seconds.push_back(timer.seconds());
  }
  const auto middle = seconds.begin() + repeats / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

void parallel_copy(const Array<double>& from, Array<double>& to) {
#pragma omp parallel num_threads(threads())
  {
    const auto [begin, end] = share(from.size(), omp_get_thread_num(), omp_get_num_threads());
    std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin) * sizeof(double));
  }
}

template <class Laid>
nlohmann::json measure(const Layout& layout, Array<double>& user, int repeats, double copy_seconds) {
  Array<Laid> laid(layout.size(), Laid(0));
  const std::span<const double> in = user.span();
  const std::span<const Laid> out = laid.span();
  const double to = median_seconds(repeats, [&] { to_layout<double, Laid>(layout, in, laid.span()); });
  const double back = median_seconds(repeats, [&] { to_user<double, Laid>(layout, out, user.span()); });
  return {{"layout", layout.kind() == LayoutKind::skewed ? "skewed" : "tile_contiguous"},
          {"stored", sizeof(Laid) == 8 ? "fp64" : "fp32"},
          {"to_layout_seconds", to},
          {"to_user_seconds", back},
          {"to_layout_over_copy", to / copy_seconds},
          {"to_user_over_copy", back / copy_seconds}};
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted;
  CLI::App app("Speed of conversion between user order and layouts");
  app.add_option("--threads", wanted.threads, "0: all")->check(CLI::Range(0, most_threads()));
  app.add_option("--repeats", wanted.repeats, "of each conversion")->check(CLI::Range(1, 1000));
  app.add_option("--stencil", wanted.stencil, "only cases with this one")->check(CLI::IsMember({"star7", "box27"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  set_threads(wanted.threads);
  nlohmann::json results = nlohmann::json::array();
  for (const Case& c : cases) {
    if (!wanted.stencil.empty() && wanted.stencil != c.stencil) continue;
    const Stencil stencil = stencils::named(c.stencil);
    const Wavefront front = wavefront({c.side, c.side, c.side}, stencil);
    const std::int64_t scalars = std::int64_t{c.side} * c.side * c.side * stencil.size() * c.dof * c.dof;
    Array<double> user(scalars), copy(scalars, 0.0);
    for (std::int64_t n = 0; n < scalars; ++n) user[n] = static_cast<double>(n);
    const double copy_seconds = median_seconds(wanted.repeats, [&] { parallel_copy(user, copy); });
    copy = Array<double>();
    nlohmann::json conversions = nlohmann::json::array();
    for (const int bytes : {8, 4}) {
      const auto stored = StoredBlocks::matrix(all_entries(stencil), c.dof, bytes);
      for (const Layout& layout :
           {Layout::skewed(front, stored), Layout::tile_contiguous(front, stencil, TileShape{}, stored)}) {
        conversions.push_back(bytes == 8 ? measure<double>(layout, user, wanted.repeats, copy_seconds)
                                         : measure<float>(layout, user, wanted.repeats, copy_seconds));
      }
    }
    results.push_back({{"stencil", c.stencil},
                       {"grid", c.side},
                       {"dof", c.dof},
                       {"matrix_bytes", scalars * 8},
                       {"copy_seconds", copy_seconds},
                       {"conversions", conversions}});
  }
  const nlohmann::json report{{"benchmark", "convert_speed"}, {"threads", threads()}, {"cases", results}};
  std::printf("%s\n", report.dump().c_str());
  return 0;
}
