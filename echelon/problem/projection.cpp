// SPDX-License-Identifier: BSD-3-Clause
// Gathered row by row: entry (i, j) is Σ over the cells that hold both nodes, in ascending order, of θ_c/ρ_c · k(i − j), so
// that (j, i) has the same bits and threads need no agreement. k(o) = h⁻² Σ_d (±1) Π_{c≠d} m(o_c), + for o_d = 0, m(0) =
// 1/3, m(±1) = 1/6; θ is a cell's share of fluid. The diagonal is minus the sum of the row's others.
#include "echelon/problem/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "echelon/base/elementary.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"

namespace echelon::problems {
namespace {

constexpr double largest_radius = 0.45;

struct FlameDensity {
  double log_ratio;
  double operator()(double x, double y, double z) const {
    constexpr double steepness = 60;
    const double front = 0.5 + 0.1 * elementary::cos_turns(x) * elementary::cos_turns(z);
    return elementary::exp(-log_ratio / (1 + elementary::exp(std::clamp(steepness * (y - front), -500.0, 500.0))));
  }
};

class Nodes {
 public:
  Nodes(const Grid& grid, double radius)
      : side_{grid.nx, grid.ny, grid.nz},
        flat_(grid.nz == 1),
        spacing_(1.0 / static_cast<double>(std::max({grid.nx, grid.ny, grid.nz}) - 1)) {
    double smallest = 1;
    for (int d = 0; d < 3; ++d) {
      middle_[d] = 0.5 * spacing_ * static_cast<double>(side_[d] - 1);
      if (d < dimensions()) smallest = std::min(smallest, 2 * middle_[d]);
    }
    radius_ = radius * smallest;
  }

  int dimensions() const { return flat_ ? 2 : 3; }
  double spacing() const { return spacing_; }
  std::int64_t count() const { return side_[0] * side_[1] * side_[2]; }
  std::int64_t cells(int d) const { return d == 2 && flat_ ? 1 : side_[d] - 1; }
  std::int64_t cell_count() const { return cells(0) * cells(1) * cells(2); }
  std::int64_t side(int d) const { return side_[d]; }

  std::array<double, 3> cell_centre(const std::int64_t (&cell)[3]) const {
    std::array<double, 3> at{};
    for (int d = 0; d < dimensions(); ++d) at[static_cast<std::size_t>(d)] = spacing_ * (static_cast<double>(cell[d]) + 0.5);
    return at;
  }

  /// A cell's share of fluid.
  double fluid(const std::array<double, 3>& centre) const {
    const double half_diagonal = 0.5 * spacing_ * std::sqrt(static_cast<double>(dimensions()));
    const double away = distance(centre);
    if (radius_ == 0 || away >= radius_ + half_diagonal) return 1;
    if (away <= radius_ - half_diagonal) return 0;
    return sampled_fluid(centre);
  }

 private:
  double distance(const std::array<double, 3>& at) const {
    double squares = 0;
    for (int d = 0; d < dimensions(); ++d) {
      const double along = at[static_cast<std::size_t>(d)] - middle_[d];
      squares += along * along;
    }
    return std::sqrt(squares);
  }

  double sampled_fluid(const std::array<double, 3>& centre) const {
    const int samples = flat_ ? 16 : 8, layers = flat_ ? 1 : samples;
    const auto place = [&](int d, int s) {
      return centre[static_cast<std::size_t>(d)] + spacing_ * ((s + 0.5) / samples - 0.5);
    };
    int inside = 0;
    for (int k = 0; k < layers; ++k) {
      for (int j = 0; j < samples; ++j) {
        for (int i = 0; i < samples; ++i) {
          inside += distance({place(0, i), place(1, j), flat_ ? 0.0 : place(2, k)}) < radius_ ? 1 : 0;
        }
      }
    }
    return 1 - static_cast<double>(inside) / (samples * samples * layers);
  }

  std::int64_t side_[3];
  bool flat_;
  double spacing_, radius_ = 0;
  double middle_[3];
};

/// By cell: θ/ρ, and θ u*.
struct CellFields {
  Array<double> conductivity;
  Array<double> flow[3];
};

CellFields sampled(const Nodes& nodes, const ProjectionOptions& options) {
  CellFields fields{Array<double>(nodes.cell_count()), {}};
  for (auto& component : fields.flow) component = Array<double>(nodes.cell_count());
  std::int64_t at = 0;
  std::int64_t cell[3];
  for (cell[2] = 0; cell[2] < nodes.cells(2); ++cell[2]) {
    for (cell[1] = 0; cell[1] < nodes.cells(1); ++cell[1]) {
      for (cell[0] = 0; cell[0] < nodes.cells(0); ++cell[0], ++at) {
        const auto centre = nodes.cell_centre(cell);
        const double share = nodes.fluid(centre), density = options.density(centre[0], centre[1], centre[2]);
        if (!(density > 0) || !std::isfinite(1 / density)) {
          throw Error(ErrorCode::bad_argument,
                      fmt::format("projection: the density must be positive and finite; at ({}, {}, {}) it is {}", centre[0],
                                  centre[1], centre[2], density));
        }
        const auto velocity = options.velocity(centre[0], centre[1], centre[2]);
        fields.conductivity[at] = share / density;
        for (std::size_t d = 0; d < 3; ++d) fields.flow[d][at] = share * velocity[d];
      }
    }
  }
  return fields;
}

/// k(o) for |o| along each axis, without h⁻²; exact zeros where it vanishes.
double element_coupling(const int (&o)[3], int dimensions) {
  double sum = 0;
  for (int d = 0; d < dimensions; ++d) {
    double term = o[d] == 0 ? 1 : -1;
    for (int c = 0; c < dimensions; ++c) {
      if (c != d) term *= o[c] == 0 ? 1.0 / 3 : 1.0 / 6;
    }
    sum += term;
  }
  return std::abs(sum) < 1e-12 ? 0 : sum;
}

class Assembly {
 public:
  Assembly(const Nodes& nodes, const CellFields& fields) : nodes_(nodes), fields_(fields), row_(nodes.count()) {
    const int d = nodes.dimensions(), reach = d == 3 ? 1 : 0;
    for (int z = -reach; z <= reach; ++z) {
      for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
          const double coupling = element_coupling({x, y, z}, d) / (nodes.spacing() * nodes.spacing());
          neighbours_.push_back({{x, y, z}, coupling});
        }
      }
    }
    number_nodes();
  }

  ProjectionSystem system() const {
    const auto rows = node_.size();
    Array<std::int64_t> start(rows + 1);
    start[0] = 0;
    for (std::int64_t r = 0; r < rows; ++r) start[r + 1] = start[r] + row(r, nullptr, nullptr);
    Array<std::int32_t> column(start[rows]);
    Array<double> values(start[rows]);
    Vector<double> b(rows);
    const int team = threads_for(rows * 200);
#pragma omp parallel for num_threads(team) schedule(static)
    for (std::int64_t r = 0; r < rows; ++r) {
      row(r, column.data() + start[r], values.data() + start[r]);
      b[r] = divergence(r);
    }
    return {BlockCsr<double>(rows, rows, 1, std::move(start), std::move(column), std::move(values)), std::move(b),
            node_.clone()};
  }

 private:
  struct Neighbour {
    int offset[3];
    double coupling;
  };
  struct Place {
    std::int64_t at[3];
  };

  Place place(std::int64_t node) const {
    return {{node % nodes_.side(0), node / nodes_.side(0) % nodes_.side(1), node / (nodes_.side(0) * nodes_.side(1))}};
  }

  /// visit(cell's number, on which side of the node it lies: 0 below, 1 above) over the cells with fluid that hold the node
  /// and its neighbour, ascending.
  template <class Visit>
  void for_cells(const Place& node, const int (&offset)[3], const Visit& visit) const {
    std::int64_t first[3], last[3];
    for (int d = 0; d < 3; ++d) {
      const bool flat = d >= nodes_.dimensions();
      first[d] = flat ? 0 : std::max<std::int64_t>(0, node.at[d] + std::max(offset[d] - 1, -1));
      last[d] = flat ? 0 : std::min(nodes_.cells(d) - 1, node.at[d] + std::min(offset[d], 0));
    }
    for (auto k = first[2]; k <= last[2]; ++k) {
      for (auto j = first[1]; j <= last[1]; ++j) {
        for (auto i = first[0]; i <= last[0]; ++i) {
          const auto cell = i + nodes_.cells(0) * (j + nodes_.cells(1) * k);
          const int side[3] = {i == node.at[0], j == node.at[1], k == node.at[2]};
          if (fields_.conductivity[cell] > 0) visit(cell, side);
        }
      }
    }
  }

  void number_nodes() {
    std::int64_t rows = 0;
    for (std::int64_t node = 0; node < nodes_.count(); ++node) {
      bool wet = false;
      for_cells(place(node), {0, 0, 0}, [&](std::int64_t, const int(&)[3]) { wet = true; });
      row_[node] = wet ? static_cast<std::int32_t>(rows++) : -1;
    }
    node_ = Array<std::int32_t>(rows);
    for (std::int64_t node = 0; node < nodes_.count(); ++node) {
      if (row_[node] >= 0) node_[row_[node]] = static_cast<std::int32_t>(node);
    }
  }

  /// Writes the row's columns and values, or only counts them.
  std::int64_t row(std::int64_t r, std::int32_t* column, double* value) const {
    const Place node = place(node_[r]);
    std::int64_t entries = 0, diagonal = -1;
    double sum = 0;
    for (const auto& neighbour : neighbours_) {
      const auto& o = neighbour.offset;
      const bool centre = o[0] == 0 && o[1] == 0 && o[2] == 0;
      double conductivity = 0;
      if (neighbour.coupling != 0) {
        for_cells(node, o, [&](std::int64_t cell, const int(&)[3]) { conductivity += fields_.conductivity[cell]; });
      }
      if (conductivity == 0) continue;
      if (column) {
        const auto at = node_[r] + o[0] + nodes_.side(0) * (o[1] + nodes_.side(1) * o[2]);
        column[entries] = row_[at];
        value[entries] = neighbour.coupling * conductivity;
        if (!centre) sum += value[entries];
      }
      if (centre) diagonal = entries;
      ++entries;
    }
    if (column) value[diagonal] = -sum;
    return entries;
  }

  /// ∫ ∇φ·u* over the cells around a node, divided by the volume of a cell: ± u*_d / (h 2^{dimensions−1}) from each.
  double divergence(std::int64_t r) const {
    const double weight = 1 / (nodes_.spacing() * (nodes_.dimensions() == 3 ? 4 : 2));
    double sum = 0;
    for_cells(place(node_[r]), {0, 0, 0}, [&](std::int64_t cell, const int(&side)[3]) {
      for (int d = 0; d < nodes_.dimensions(); ++d) sum += (side[d] == 0 ? weight : -weight) * fields_.flow[d][cell];
    });
    return sum;
  }

  const Nodes& nodes_;
  const CellFields& fields_;
  std::vector<Neighbour> neighbours_;
  Array<std::int32_t> row_;   // by node; −1: no fluid around it
  Array<std::int32_t> node_;  // its inverse
};

void check(const Grid& grid, const ProjectionOptions& options) {
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCode::bad_argument, "projection: " + sentence); };
  if (grid.nx < 2 || grid.ny < 2 || grid.nz < 1) {
    refuse(fmt::format("cells need at least 2 nodes a direction; got {}x{}x{}", grid.nx, grid.ny, grid.nz));
  }
  if (grid.points() > std::numeric_limits<std::int32_t>::max()) {
    refuse(fmt::format("{} nodes: local indices have 32 bits", grid.points()));
  }
  if (!(options.radius >= 0 && options.radius <= largest_radius)) {
    refuse(fmt::format("the radius of the obstacle is {}; legal are 0 to {}", options.radius, largest_radius));
  }
}

}  // namespace

Coefficient flame_density(double ratio) {
  if (!(ratio >= 1) || !std::isfinite(ratio))
    throw Error(ErrorCode::bad_argument, fmt::format("a density ratio is at least 1 and finite; got {}", ratio));
  return FlameDensity{std::log(ratio)};
}

VectorField waved_velocity() {
  return [](double x, double y, double z) -> std::array<double, 3> {
    using elementary::cos_turns, elementary::sin_turns;
    return {1 + 0.5 * sin_turns(x) * cos_turns(y), 0.5 * sin_turns(y) * cos_turns(z), 0.5 * sin_turns(z) * cos_turns(x)};
  };
}

ProjectionSystem projection(const Grid& grid, const ProjectionOptions& options) {
  check(grid, options);
  const Nodes nodes(grid, options.radius);
  const CellFields fields = sampled(nodes, options);
  return Assembly(nodes, fields).system();
}

}  // namespace echelon::problems
