// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/schedule/blocks/grid_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/schedule/blocks/lattice_colours.hpp"

namespace echelon {
namespace {

constexpr std::int64_t fixed_points = 64;
constexpr int usual_bsize = 8;
/// Ways to number are compared by so many groups of a colour.
constexpr std::int64_t compared_groups = 4096;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

Grid lattice_of(const Grid& grid, const Grid& shape) {
  return {ceil_div(grid.nx, shape.nx), ceil_div(grid.ny, shape.ny), ceil_div(grid.nz, shape.nz)};
}

/// Couplings of blocks, with how many of a whole block's entries each stands for.
struct BlockCouplings {
  std::vector<Offset> offsets;
  std::vector<std::int64_t> entries;

  BlockCouplings(const Grid& shape, const Stencil& stencil) {
    for (const Offset& o : stencil.offsets()) {
      const auto pieces = [](std::int64_t side, std::int64_t by) {
        // Points [0, side) moved by `by` fall in at most two blocks.
        const std::int64_t low = floor_div(by, side), left = side - (by - low * side);
        return std::array<std::pair<std::int64_t, std::int64_t>, 2>{{{low, left}, {low + 1, side - left}}};
      };
      for (const auto& [x, nx] : pieces(shape.nx, o.x)) {
        for (const auto& [y, ny] : pieces(shape.ny, o.y)) {
          for (const auto& [z, nz] : pieces(shape.nz, o.z)) {
            add({static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)}, nx * ny * nz);
          }
        }
      }
    }
  }

 private:
  void add(const Offset& o, std::int64_t count) {
    if (count == 0) return;
    const auto at = std::ranges::find(offsets, o);
    if (at == offsets.end()) {
      offsets.push_back(o);
      entries.push_back(count);
    } else {
      entries[static_cast<std::size_t>(at - offsets.begin())] += count;
    }
  }
};

using Lanes = std::vector<std::vector<std::int32_t>>;  // by colour, bsize blocks a group, −1 for none

/// The colours' blocks along one direction, then the others.
Lanes listed(const Grid& lattice, const LatticeColours& colours, std::array<int, 3> directions) {
  Lanes all(static_cast<std::size_t>(colours.colours()));
  const std::array<std::int64_t, 3> sides = {lattice.nx, lattice.ny, lattice.nz};
  const auto side = [&](int d) { return sides[static_cast<std::size_t>(directions[static_cast<std::size_t>(d)])]; };
  std::array<std::int64_t, 3> at{};
  for (std::int64_t c = 0; c < side(2); ++c) {
    for (std::int64_t b = 0; b < side(1); ++b) {
      for (std::int64_t a = 0; a < side(0); ++a) {
        at[static_cast<std::size_t>(directions[0])] = a;
        at[static_cast<std::size_t>(directions[1])] = b;
        at[static_cast<std::size_t>(directions[2])] = c;
        all[static_cast<std::size_t>(colours.colour(at[0], at[1], at[2]))].push_back(
            static_cast<std::int32_t>(lattice.index(at[0], at[1], at[2])));
      }
    }
  }
  std::erase_if(all, [](const auto& blocks) { return blocks.empty(); });
  return all;
}

/// The blocks of one colour by places of a box that every colour fills, so that a neighbour is as far away everywhere;
/// −1 where a colour has none. Colours by sides only.
Lanes boxed(const Grid& lattice, const LatticeColours& colours) {
  const auto [a, b, c] = colours.period;
  const Grid box = {ceil_div(lattice.nx, a), ceil_div(lattice.ny, b), ceil_div(lattice.nz, c)};
  Lanes all;
  for (std::int64_t colour = 0; colour < colours.colours(); ++colour) {
    const std::int64_t i0 = colour % a, j0 = colour / a % b, k0 = colour / a / b;
    auto& blocks = all.emplace_back();
    for (std::int64_t p = 0; p < box.points(); ++p) {
      const std::int64_t i = p % box.nx * a + i0, j = p / box.nx % box.ny * b + j0, k = p / box.nx / box.ny * c + k0;
      blocks.push_back(lattice.contains(i, j, k) ? static_cast<std::int32_t>(lattice.index(i, j, k)) : -1);
    }
    if (std::ranges::all_of(blocks, [](std::int32_t block) { return block < 0; })) all.pop_back();
  }
  return all;
}

void fill_last_group(std::vector<std::int32_t>& blocks, int bsize) {
  blocks.resize(static_cast<std::size_t>(ceil_div(static_cast<std::int64_t>(blocks.size()), bsize) * bsize), -1);
}

Lanes consecutive(Lanes blocks, int bsize) {
  for (auto& colour : blocks) fill_last_group(colour, bsize);
  return blocks;
}

/// Lane l of group g is block l · groups + g.
Lanes apart(Lanes blocks, int bsize) {
  for (auto& colour : blocks) {
    fill_last_group(colour, bsize);
    const std::size_t groups = colour.size() / static_cast<std::size_t>(bsize);
    std::vector<std::int32_t> turned;
    turned.reserve(colour.size());
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t lane = 0; lane < static_cast<std::size_t>(bsize); ++lane) turned.push_back(colour[lane * groups + g]);
    }
    colour = std::move(turned);
  }
  return blocks;
}

/// Stored values a point, by whole blocks: shifted diagonals, and what vectors hold besides. Some of the groups stand for
/// all.
double stored_values(const Grid& lattice, const BlockCouplings& couplings, const Lanes& lanes, int bsize,
                     std::int64_t places) {
  std::vector<std::int64_t> slot(static_cast<std::size_t>(lattice.points()), -1);  // group · bsize + lane over all colours
  std::int64_t groups = 0;
  for (const auto& colour : lanes) {
    for (std::size_t n = 0; n < colour.size(); ++n) {
      if (colour[n] >= 0) slot[static_cast<std::size_t>(colour[n])] = groups * bsize + static_cast<std::int64_t>(n);
    }
    groups += static_cast<std::int64_t>(colour.size()) / bsize;
  }
  constexpr double vectors = 4;  // D, 1/D, r and x beside the entries
  double values = 0;
  for (const auto& colour : lanes) {
    const std::int64_t of_colour = static_cast<std::int64_t>(colour.size()) / bsize;
    const std::int64_t step = ceil_div(of_colour, compared_groups);
    double seen = 0, diagonals = 0;
    for (std::int64_t g = 0; g < of_colour; g += step, ++seen) {
      for (std::size_t e = 0; e < couplings.offsets.size(); ++e) {
        const Offset o = couplings.offsets[e];
        std::array<std::int64_t, BlockColouring::largest_bsize> shifts;
        int distinct = 0;
        for (int lane = 0; lane < bsize; ++lane) {
          const std::int64_t block = colour[static_cast<std::size_t>(g * bsize + lane)];
          if (block < 0) continue;
          const std::int64_t i = block % lattice.nx + o.x, j = block / lattice.nx % lattice.ny + o.y,
                             k = block / lattice.nx / lattice.ny + o.z;
          if (!lattice.contains(i, j, k)) continue;
          const std::int64_t to = slot[static_cast<std::size_t>(lattice.index(i, j, k))];
          const std::int64_t shift = to / bsize * (4 * bsize) + to % bsize - lane;
          if (std::find(shifts.begin(), shifts.begin() + distinct, shift) == shifts.begin() + distinct) {
            shifts[static_cast<std::size_t>(distinct++)] = shift;
          }
        }
        diagonals += static_cast<double>(distinct) * static_cast<double>(couplings.entries[e]);
      }
    }
    if (seen > 0) values += diagonals / seen * static_cast<double>(of_colour * bsize);
    values += vectors * static_cast<double>(of_colour * bsize * places);
  }
  return values;
}

struct Numbering {
  Lanes lanes;
  const char* name;
};

Numbering best_numbering(const Grid& lattice, const Grid& shape, const Stencil& stencil, const LatticeColours& colours,
                         int bsize) {
  using Directions = std::array<int, 3>;
  const Lanes along_x = listed(lattice, colours, {0, 1, 2});
  if (bsize == 1) return {along_x, "consecutive"};
  std::vector<Numbering> all;
  all.push_back({consecutive(along_x, bsize), "along x"});
  if (lattice.ny > 1) all.push_back({consecutive(listed(lattice, colours, Directions{1, 0, 2}), bsize), "along y"});
  if (lattice.nz > 1) all.push_back({consecutive(listed(lattice, colours, Directions{2, 0, 1}), bsize), "along z"});
  all.push_back({apart(along_x, bsize), "apart"});
  if (colours.modulus == 1) all.push_back({apart(boxed(lattice, colours), bsize), "apart, boxed"});
  const BlockCouplings couplings(shape, stencil);
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t n = 0; n < all.size(); ++n) {
    const double values = stored_values(lattice, couplings, all[n].lanes, bsize, shape.points());
    if (values < least) best = n, least = values;
  }
  return std::move(all[best]);
}

LatticeColours colours_of(const Grid& lattice, const Grid& shape, const Stencil& stencil) {
  return lattice_colours(lattice, BlockCouplings(shape, stencil).offsets);
}

std::int64_t fewest_blocks(const Grid& lattice, const LatticeColours& colours) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(colours.colours()), 0);
  for (std::int64_t block = 0; block < lattice.points(); ++block) {
    ++count[static_cast<std::size_t>(
        colours.colour(block % lattice.nx, block / lattice.nx % lattice.ny, block / lattice.nx / lattice.ny))];
  }
  std::erase(count, 0);
  return *std::ranges::min_element(count);
}

/// The largest block, near to a cube, whose colours all have `needed` blocks; sides that lie evenly in the grid.
Grid automatic_shape(const Grid& grid, const Stencil& stencil, std::int64_t needed) {
  for (std::int64_t edge = std::max({grid.nx, grid.ny, grid.nz}); edge > 1; --edge) {
    const auto even = [&](std::int64_t side) { return ceil_div(side, ceil_div(side, std::min(edge, side))); };
    const Grid shape = {even(grid.nx), even(grid.ny), even(grid.nz)};
    if (lattice_of(grid, shape).points() < needed) continue;
    const Grid lattice = lattice_of(grid, shape);
    if (fewest_blocks(lattice, colours_of(lattice, shape, stencil)) >= needed) return shape;
  }
  return {1, 1, 1};
}

Grid fixed_shape(const Grid& grid) {
  const int directions = (grid.nx > 1) + (grid.ny > 1) + (grid.nz > 1);
  const std::int64_t edge = directions >= 3 ? 4 : directions == 2 ? 8 : fixed_points;
  return {std::min(edge, grid.nx), std::min(edge, grid.ny), std::min(edge, grid.nz)};
}

ColouredBlocks boxes(const Grid& grid, const Grid& shape, Lanes lanes, int bsize) {
  const Grid lattice = lattice_of(grid, shape);
  const std::int64_t places = shape.points();
  ColouredBlocks all{bsize, Array<std::int64_t>(lattice.points() + 1), Array<std::int32_t>(lattice.points() * places),
                     std::move(lanes)};
#pragma omp parallel for schedule(static) num_threads(threads_for(grid.points()))
  for (std::int64_t block = 0; block <= lattice.points(); ++block) {
    all.start[block] = block * places;
    if (block == lattice.points()) continue;
    const std::int64_t i0 = block % lattice.nx * shape.nx, j0 = block / lattice.nx % lattice.ny * shape.ny,
                       k0 = block / lattice.nx / lattice.ny * shape.nz;
    std::int32_t* place = all.place.data() + block * places;
    for (std::int64_t k = k0; k < k0 + shape.nz; ++k) {
      for (std::int64_t j = j0; j < j0 + shape.ny; ++j) {
        for (std::int64_t i = i0; i < i0 + shape.nx; ++i) {
          *place++ = grid.contains(i, j, k) ? static_cast<std::int32_t>(grid.index(i, j, k)) : -1;
        }
      }
    }
  }
  return all;
}

}  // namespace

Grid block_shape(const Grid& grid, const Stencil& stencil, const BlockOptions& options) {
  if (options.choice == BlockChoice::fixed) return fixed_shape(grid);
  if (options.choice == BlockChoice::automatic) {
    const std::int64_t team = options.threads > 0 ? options.threads : threads();
    return automatic_shape(grid, stencil, team * (options.bsize > 0 ? options.bsize : usual_bsize));
  }
  const Grid& s = options.shape;
  if (s.nx < 1 || s.ny < 1 || s.nz < 1) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("blocks: got {}x{}x{}, each side must be at least 1", s.nx, s.ny, s.nz));
  }
  return {std::min(s.nx, grid.nx), std::min(s.ny, grid.ny), std::min(s.nz, grid.nz)};
}

BlockColouring grid_block_colouring(const Grid& grid, const Stencil& stencil, const BlockOptions& options) {
  if (options.bsize != 0) check_bsize(options.bsize);
  if (grid.points() > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::bad_argument, fmt::format("{} grid points: at most 2^31 − 1 can be numbered", grid.points()));
  }
  const Grid shape = block_shape(grid, stencil, options), lattice = lattice_of(grid, shape);
  const LatticeColours colours = colours_of(lattice, shape, stencil);
  int bsize = options.bsize;
  if (bsize == 0) {
    const std::int64_t fewest = fewest_blocks(lattice, colours);
    for (bsize = usual_bsize; bsize > fewest;) bsize /= 2;
  }
  Numbering numbering = best_numbering(lattice, shape, stencil, colours, bsize);
  return BlockColouring(boxes(grid, shape, std::move(numbering.lanes), bsize), grid.points(), numbering.name);
}

std::string shape_text(const Grid& grid, const Grid& shape) {
  return grid.nz > 1 ? fmt::format("{}x{}x{}", shape.nx, shape.ny, shape.nz) : fmt::format("{}x{}", shape.nx, shape.ny);
}

}  // namespace echelon
