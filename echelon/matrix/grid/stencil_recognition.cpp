// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/matrix/grid/stencil_recognition.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <vector>

#include "echelon/base/threads.hpp"
#include "echelon/base/work_watch.hpp"

namespace echelon {
namespace {

constexpr int farthest = 4;
constexpr std::size_t most_distances = 128;

/// Columns and rows of a pattern; distances q − p ascend within a row.
struct Rows {
  std::int64_t count;
  const std::int64_t* start;
  const std::int32_t* column;
};

/// Whether row p has the distances of the row before it.
bool repeats(const Rows& rows, std::int64_t p) {
  const std::int64_t length = rows.start[p + 1] - rows.start[p];
  if (length != rows.start[p] - rows.start[p - 1]) return false;
  const std::int32_t* own = rows.column + rows.start[p];
  const std::int32_t* before = own - length;
  std::int32_t differ = 0;
  for (std::int64_t e = 0; e < length; ++e) differ |= own[e] - before[e] - 1;
  return differ == 0;
}

template <class Function>
void for_shares(const Rows& rows, const Function& function) {
#pragma omp parallel num_threads(threads_for(rows.start[rows.count]))
  {
    const auto [begin, end] = share(rows.count, omp_get_thread_num(), omp_get_num_threads());
    if (begin < end) function(begin, end);
  }
}

/// The distances of a share of the rows, ascending. False when there are too many, or a row has no diagonal.
bool collect(const Rows& rows, std::int64_t begin, std::int64_t end, std::vector<std::int64_t>& distances) {
  for (std::int64_t p = begin; p < end; ++p) {
    if (p > begin && repeats(rows, p)) continue;
    std::size_t at = 0;
    bool diagonal = false;
    for (auto e = rows.start[p]; e < rows.start[p + 1]; ++e) {
      const std::int64_t d = rows.column[e] - p;
      diagonal = diagonal || d == 0;
      while (at < distances.size() && distances[at] < d) ++at;
      if (at < distances.size() && distances[at] == d) continue;
      if (distances.size() == most_distances) return false;
      distances.insert(distances.begin() + static_cast<std::ptrdiff_t>(at), d);
    }
    if (!diagonal) return false;
  }
  return true;
}

/// All distances, ascending; none when this cannot be a stencil's pattern.
std::vector<std::int64_t> distances_of(const Rows& rows) {
  std::vector<std::int64_t> all;
  bool possible = true;
  for_shares(rows, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> own;
    const bool fine = collect(rows, begin, end, own);
#pragma omp critical(echelon_distances)
    {
      possible = possible && fine;
      all.insert(all.end(), own.begin(), own.end());
    }
  });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (!possible || all.size() > most_distances) all.clear();
  return all;
}

/// What a distance means on a grid. d = (z·ny + y)·nx + x with 0 ≤ x < nx, 0 ≤ y < ny; from point (i, j, k) it crosses the
/// end of a line when i + x ≥ nx, and then the end of a plane when j + y + 1 ≥ ny (else when j + y ≥ ny): four offsets.
class GridDistances {
 public:
  struct Meaning {
    std::int64_t distance, x, y;
    Offset offset[2][2];  // by line crossed, plane crossed
  };

  GridDistances(const Grid& grid, const std::vector<std::int64_t>& distances) : grid_(grid) {
    const auto down = [](std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); };
    for (const std::int64_t d : distances) {
      const std::int64_t line = down(d, grid.nx), x = d - line * grid.nx, z = down(line, grid.ny), y = line - z * grid.ny;
      Meaning one{d, x, y, {}};
      for (int over_line = 0; over_line < 2; ++over_line) {
        for (int over_plane = 0; over_plane < 2; ++over_plane) {
          one.offset[over_line][over_plane] = {static_cast<int>(x - over_line * grid.nx),
                                               static_cast<int>(y + over_line - over_plane * grid.ny),
                                               static_cast<int>(z + over_plane)};
        }
      }
      meanings_.push_back(one);
      crossings_.push_back(grid.nx - x);
    }
    crossings_.push_back(grid.nx);
    std::sort(crossings_.begin(), crossings_.end());
  }

  const Grid& grid() const { return grid_; }
  std::size_t size() const { return meanings_.size(); }
  const Meaning& operator[](std::size_t at) const { return meanings_[at]; }

  static bool near(const Offset& o) {
    return std::abs(o.x) <= farthest && std::abs(o.y) <= farthest && std::abs(o.z) <= farthest;
  }

  /// Whether each distance has an offset that does not reach too far.
  bool plausible() const {
    return std::all_of(meanings_.begin(), meanings_.end(), [](const Meaning& m) {
      return near(m.offset[0][0]) || near(m.offset[0][1]) || near(m.offset[1][0]) || near(m.offset[1][1]);
    });
  }

  /// What an entry of a row is.
  struct Entry {
    std::size_t at;  // its distance
    bool over_line, over_plane;
  };
  /// Rows of the same entries, one after the other on a line.
  struct Run {
    std::int64_t first, length;
    std::vector<Entry> entries;
  };

  /// function(run) for all rows of a share, until it says false.
  template <class Function>
  void walk(const Rows& rows, std::int64_t begin, std::int64_t end, const Function& function) const {
    Run run;
    for (std::int64_t p = begin; p < end; p += run.length) {
      const std::int64_t i = p % grid_.nx, j = p / grid_.nx % grid_.ny;
      run.first = p;
      run.entries.clear();
      std::size_t at = 0;
      for (auto e = rows.start[p]; e < rows.start[p + 1]; ++e, ++at) {
        while (meanings_[at].distance != rows.column[e] - p) ++at;
        const bool over_line = i + meanings_[at].x >= grid_.nx;
        run.entries.push_back({at, over_line, j + meanings_[at].y + over_line >= grid_.ny});
      }
      // Up to here an entry stays on its side of a line's end.
      const std::int64_t most = std::min(*std::upper_bound(crossings_.begin(), crossings_.end(), i) - i, end - p);
      for (run.length = 1; run.length < most && repeats(rows, p + run.length);) ++run.length;
      if (!function(run)) return;
    }
  }

 private:
  Grid grid_;
  std::vector<Meaning> meanings_;
  std::vector<std::int64_t> crossings_;  // where on a line a distance begins to cross its end, ascending; its end
};

/// How often each offset of each distance is met.
struct Counts {
  std::int64_t of[most_distances][2][2] = {};
};

/// Nothing when an entry reaches too far.
std::optional<Counts> count_offsets(const Rows& rows, const GridDistances& distances) {
  bool near[most_distances][2][2];
  for (std::size_t at = 0; at < distances.size(); ++at) {
    for (int over = 0; over < 4; ++over) {
      near[at][over >> 1][over & 1] = GridDistances::near(distances[at].offset[over >> 1][over & 1]);
    }
  }
  Counts all;
  std::atomic<bool> good = true;
  for_shares(rows, [&](std::int64_t begin, std::int64_t end) {
    Counts own;
    distances.walk(rows, begin, end, [&](const GridDistances::Run& run) {
      for (const auto& [at, over_line, over_plane] : run.entries) {
        own.of[at][over_line][over_plane] += run.length;
        if (!near[at][over_line][over_plane]) good.store(false, std::memory_order_relaxed);
      }
      return good.load(std::memory_order_relaxed);
    });
#pragma omp critical(echelon_offset_counts)
    for (std::size_t at = 0; at < distances.size(); ++at) {
      for (int over = 0; over < 4; ++over) all.of[at][over >> 1][over & 1] += own.of[at][over >> 1][over & 1];
    }
  });
  if (!good) return std::nullopt;
  return all;
}

/// The name among those that have one.
std::string name_of(const Stencil& stencil) {
  for (const auto& name : stencils::names()) {
    const Stencil known = stencils::named(name);
    if (std::ranges::equal(known.offsets(), stencil.offsets())) return name;
  }
  return "custom";
}

/// The next point along an axis.
bool is_unit(const Offset& o) { return std::abs(o.x) + std::abs(o.y) + std::abs(o.z) <= 1; }

std::optional<RecognisedStencil> explain(const Rows& rows, const GridDistances& distances) {
  if (!distances.plausible()) return std::nullopt;
  keep_going(4 * rows.start[rows.count]);
  const auto counts = count_offsets(rows, distances);
  if (!counts) return std::nullopt;
  std::vector<Offset> offsets;
  for (std::size_t at = 0; at < distances.size(); ++at) {
    for (int over = 0; over < 4; ++over) {
      const std::int64_t met = counts->of[at][over >> 1][over & 1];
      if (met == 0) continue;
      const Offset offset = distances[at].offset[over >> 1][over & 1];
      if (2 * met < neighbours_inside(distances.grid(), {&offset, 1})) return std::nullopt;
      offsets.push_back(offset);
    }
  }
  Stencil stencil(std::move(offsets));
  const std::int64_t absent = neighbours_inside(distances.grid(), stencil.offsets()) - rows.start[rows.count];
  if (absent > 0 && !std::ranges::all_of(stencil.offsets(), is_unit)) return std::nullopt;
  return RecognisedStencil{distances.grid(), Stencil({stencil.offsets().begin(), stencil.offsets().end()}, name_of(stencil)),
                           absent};
}

/// Sides that a distance suggests: those that divide `points`, at least two of them, and are no farther than `reach` from
/// `unit` times them.
void suggest(const std::vector<std::int64_t>& distances, std::int64_t points, std::int64_t unit, std::int64_t reach,
             std::vector<std::int64_t>& sides) {
  for (const std::int64_t d : distances) {
    for (std::int64_t side = std::max<std::int64_t>(2, (d - reach) / unit); side <= (d + reach) / unit; ++side) {
      if (std::abs(d - side * unit) > reach || 2 * side > points || points % side != 0) continue;
      if (std::find(sides.begin(), sides.end(), side) == sides.end()) sides.push_back(side);
    }
  }
  std::sort(sides.begin(), sides.end(), std::greater<>());
}

std::optional<RecognisedStencil> recognise(const Rows& rows) {
  const auto distances = distances_of(rows);
  std::optional<RecognisedStencil> best;
  std::vector<std::int64_t> along_x;
  suggest(distances, rows.count, 1, farthest, along_x);
  for (const std::int64_t nx : along_x) {
    const std::int64_t lines = rows.count / nx;
    std::vector<std::int64_t> along_y{lines};
    suggest(distances, lines, nx, farthest * (nx + 1), along_y);
    for (const std::int64_t ny : along_y) {
      auto found = explain(rows, GridDistances({nx, ny, lines / ny}, distances));
      if (!found) continue;
      const auto worth = [](const RecognisedStencil& one) { return std::pair(one.absent, one.stencil.size()); };
      if (!best || worth(*found) < worth(*best)) best = std::move(found);
      // Distances are one offset each at least.
      if (best->absent == 0 && best->stencil.size() == static_cast<int>(distances.size())) return best;
    }
  }
  return best;
}

}  // namespace

template <class T>
std::optional<RecognisedStencil> recognise_stencil(const BlockCsr<T>& A) {
  if (!A.square() || !A.device().is_host() || A.block_rows() == 0) return std::nullopt;
  return recognise({A.block_rows(), A.row_start().data(), A.column().data()});
}

template <class T>
StructMatrix<T> to_struct(const BlockCsr<T>& A, const RecognisedStencil& found) {
  StructMatrix<T> result(found.grid, found.stencil, A.block());
  const auto offsets = found.stencil.offsets();
  std::vector<std::int64_t> distances;
  for (const Offset& o : offsets) distances.push_back(found.grid.index(o.x, o.y, o.z));
  std::sort(distances.begin(), distances.end());
  distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
  const GridDistances meaning(found.grid, distances);
  int entry[most_distances][2][2];
  for (std::size_t at = 0; at < meaning.size(); ++at) {
    for (int over = 0; over < 4; ++over) {
      entry[at][over >> 1][over & 1] = found.stencil.find(meaning[at].offset[over >> 1][over & 1]);
    }
  }
  const T* from = A.values().data();
  T* to = result.values().data();
  const auto& layout = result.layout();
  const std::int64_t scalars = std::int64_t{A.block()} * A.block();
  const Rows rows{A.block_rows(), A.row_start().data(), A.column().data()};
  for_shares(rows, [&](std::int64_t begin, std::int64_t end) {
    meaning.walk(rows, begin, end, [&](const GridDistances::Run& run) {
      const std::int64_t first = rows.start[run.first], entries = static_cast<std::int64_t>(run.entries.size());
      for (std::int64_t e = 0; e < entries; ++e) {
        const auto& [at, over_line, over_plane] = run.entries[static_cast<std::size_t>(e)];
        const T* block = from + (first + e) * scalars;
        T* place = to + layout.at(run.first, entry[at][over_line][over_plane]) * scalars;
        for (std::int64_t p = 0; p < run.length; ++p, block += entries * scalars, place += scalars) {
          if (scalars == 1) {
            *place = *block;
          } else {
            std::copy_n(block, scalars, place);
          }
        }
      }
      return true;
    });
  });
  return result;
}

std::string describe(const RecognisedStencil& found) {
  const Grid& g = found.grid;
  const std::string name =
      found.stencil.name() == "custom" ? fmt::format("{} offsets", found.stencil.size()) : found.stencil.name();
  return g.nz > 1 ? fmt::format("{} on {}x{}x{}", name, g.nx, g.ny, g.nz) : fmt::format("{} on {}x{}", name, g.nx, g.ny);
}

template std::optional<RecognisedStencil> recognise_stencil(const BlockCsr<double>&);
template std::optional<RecognisedStencil> recognise_stencil(const BlockCsr<float>&);
template StructMatrix<double> to_struct(const BlockCsr<double>&, const RecognisedStencil&);
template StructMatrix<float> to_struct(const BlockCsr<float>&, const RecognisedStencil&);

}  // namespace echelon
