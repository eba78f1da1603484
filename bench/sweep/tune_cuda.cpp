// SPDX-License-Identifier: BSD-3-Clause
// Times the GPU's sweeps with given tunings, to find what wavefront_plan should choose. Each line of the input is
//   stencil dof nx ny nz  ty tz  lines_a_thread history stages entries_a_stage groups border_groups poll_sleep [stored
//   [copiers]]
// with 0 for what the plan decides and star7+1 for star7 grown by ILU(1); two lines of output (lower, upper), percent of the
// copy bandwidth of the same run.
// Answers are the business of tests/gpu: the coefficients here are all alike.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "bench/measure/work_model.hpp"
#include "echelon/base/cuda/cuda_backend.hpp"
#include "echelon/base/error.hpp"
#include "echelon/stencil/stencil_fill.hpp"
#include "echelon/sweep/grid_gpu/wavefront_sweep.hpp"

namespace {

using namespace echelon;

struct Line {
  std::string stencil, stored = "fp64";
  int dof = 1;
  Grid grid;
  TileShape shape;
  SweepTuning tuning;
};

/// A stencil by its name, grown by as much fill as a `+` after it says.
Stencil stencil_of(const std::string& word) {
  const auto plus = word.find('+');
  const Stencil named = stencils::named(word.substr(0, plus));
  return plus == std::string::npos ? named : grown(named, std::stoi(word.substr(plus + 1)));
}

Line parsed(const std::string& text) {
  std::istringstream in(text);
  Line l;
  SweepTuning& t = l.tuning;
  in >> l.stencil >> l.dof >> l.grid.nx >> l.grid.ny >> l.grid.nz >> l.shape.y >> l.shape.z >> t.lines_a_thread >>
      t.history >> t.stages >> t.entries_a_stage >> t.groups >> t.border_groups >> t.poll_sleep;
  if (!in) throw Error(ErrorCode::bad_argument, "not a line of a tuning: " + text);
  std::string stored;
  if (in >> stored) l.stored = stored;
  in >> t.copiers;
  t.plain = l.shape.y < 0;
  l.shape.y = std::abs(l.shape.y);
  return l;
}

/// Kept from line to line where only the tuning differs.
struct System {
  std::string of;
  TileOrder order;
  Array<double> values;
  Vector<double> r, x;

  System(const Line& l, std::string name, TileShape shape)
      : of(std::move(name)), order(l.grid, stencil_of(l.stencil), l.dof, shape, Device::cuda()) {
    const Stored stored = stored_from_word(l.stored);
    const Device gpu = order.device();
    values = Array<double>((order.matrix_scalars() * bytes_of(stored) + 7) / 8, gpu);
    cuda_backend()->fill(0, values.data(), values.size(), stored == Stored::fp64 ? 1e-3 : 0);
    r = Vector<double>(order.vector_scalars(), gpu);
    x = Vector<double>(order.vector_scalars(), gpu);
    cuda_backend()->fill(0, r.data(), r.size(), 1.5);
  }
};

void measure(const Line& l, int repeats, double bandwidth, std::unique_ptr<System>& system) {
  const Stencil stencil = stencil_of(l.stencil);
  const TileShape shape = l.shape.y > 0 ? l.shape : sweep_tile_shape(l.grid, stencil, l.dof);
  const std::string name =
      fmt::format("{} {} {} {} {} {} {} {}", l.stencil, l.dof, l.grid.nx, l.grid.ny, l.grid.nz, shape.y, shape.z, l.stored);
  if (!system || system->of != name) {
    system.reset();
    system = std::make_unique<System>(l, name, shape);
  }
  System& on = *system;
  const Stored stored = stored_from_word(l.stored);
  const int bytes = bytes_of(stored);
  WavefrontSweep<double> sweeps(on.order, {.stored = stored, .tuning = l.tuning});
  for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
    if (!l.tuning.plain && !sweeps.plan(triangle).pipelined) {
      fmt::print("{} {}: {}\n", name, triangle == Triangle::lower ? "L" : "U", sweeps.plan(triangle).why_not);
      continue;
    }
    const auto once = [&] {
      if (triangle == Triangle::lower) {
        sweeps.lower(on.values.data(), on.r.data(), on.x.data());
      } else {
        sweeps.upper(on.values.data(), on.r.data(), on.x.data());
      }
    };
    constexpr double warm_after = 0.02;  // a GPU that was idle takes longer at first
    double spent = 0;
    while (spent < warm_after) spent += cuda_backend()->seconds(0, once);
    sweeps.check();
    std::vector<double> times;
    for (int n = 0; n < repeats; ++n) times.push_back(cuda_backend()->seconds(0, once));
    sweeps.check();
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    const int entries = triangle == Triangle::lower ? stencil.center() : stencil.size() - stencil.center();
    const double floor_bytes =
        static_cast<double>(l.grid.points()) * (static_cast<double>(entries) * l.dof * l.dof * bytes + 16.0 * l.dof);
    fmt::print("{:9} b{} {}x{}x{} {} {} {:.4f} ms (least {:.4f}) {:.1f} % of copy | {}\n", l.stencil, l.dof, l.grid.nx,
               l.grid.ny, l.grid.nz, l.stored, triangle == Triangle::lower ? "L" : "U", median * 1e3, times[0] * 1e3,
               100 * floor_bytes / median / bandwidth, sweeps.describe(triangle));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times sweeps on the GPU with given tunings");
  std::string file;
  int repeats = 9;
  app.add_option("file", file, "one tuning a line")->required()->check(CLI::ExistingFile);
  app.add_option("--repeats", repeats, "timed sweeps each")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    if (Device::cuda_count() == 0) throw Error(ErrorCode::device, "no GPU on this machine");
    const double bandwidth = cuda_backend()->copy_bandwidth(0);
    fmt::print("copy {:.0f} GB/s\n", bandwidth * 1e-9);
    std::ifstream in(file);
    std::unique_ptr<System> system;
    for (std::string text; std::getline(in, text);) {
      if (text.empty() || text[0] == '#') continue;
      try {
        measure(parsed(text), repeats, bandwidth, system);
      } catch (const Error& error) {
        fmt::print("{}: {}\n", text, error.what());
      }
    }
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  }
  return 0;
}
