// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/block_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "bench/measure/device_values.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/io/matrix_market.hpp"
#include "echelon/problem/projection.hpp"
#include "echelon/schedule/orders/rcm.hpp"
#include "echelon/solve/matrix_check.hpp"

namespace echelon::bench {
namespace {

constexpr double reach_of_mesh = 1.5;  // cells

/// A neighbour of a point: its row in the matrix and its entry of the stencil.
struct Coupling {
  std::int32_t column;
  int entry;
};
using Couplings = std::array<Coupling, ValueShape::most_entries>;

class Generated {
 public:
  explicit Generated(const BenchCase& one) : mesh_(one.problem == "mesh"), shape_(ValueShape::of(one, ValueKind::matrix)) {
    to_point_ = Array<std::int32_t>(shape_.points());
    std::iota(to_point_.begin(), to_point_.end(), 0);
    to_row_ = to_point_.clone();
    if (mesh_) draw_places();
    if (one.numbering == "random") shuffle();
    if (one.numbering == "rcm") number_by(reverse_cuthill_mckee(pattern().view()));
  }

  BlockCsr<double> matrix() const {
    Pattern found = pattern();
    const std::int64_t b = shape_.dof, bb = b * b;
    Array<double> values(found.column.size() * bb);
#pragma omp parallel for num_threads(threads_for(values.bytes())) schedule(static)
    for (std::int64_t row = 0; row < shape_.points(); ++row) {
      const Ijk p = shape_.at(to_point_[row]);
      Couplings of_row;
      const int count = couplings(row, of_row);
      for (int n = 0; n < count; ++n) {
        double* block = values.data() + (found.start[row] + n) * bb;
        for (int c = 0; c < b; ++c) {
          for (int r = 0; r < b; ++r) block[c * b + r] = shape_.value(p, of_row[n].entry, r, c);
        }
      }
    }
    return {shape_.points(),        shape_.points(),         shape_.dof,
            std::move(found.start), std::move(found.column), std::move(values)};
  }

 private:
  void shuffle() {
    Array<std::int32_t> order = to_point_.clone();
    for (std::int64_t i = order.size() - 1; i > 0; --i) {
      const auto drawn = problems::mixed_bits(BenchCase::seed + static_cast<std::uint64_t>(i));
      std::swap(order[i], order[static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(i + 1))]);
    }
    number_by(order);
  }

  void number_by(const Array<std::int32_t>& order) {
    to_point_ = order.clone();
    for (std::int64_t row = 0; row < order.size(); ++row) to_row_[order[row]] = static_cast<std::int32_t>(row);
  }

  /// Each coordinate within its cell, −0.5 to 0.5.
  void draw_places() {
    places_ = Array<double>(3 * shape_.points());
#pragma omp parallel for num_threads(threads_for(places_.bytes())) schedule(static)
    for (std::int64_t p = 0; p < shape_.points(); ++p) {
      const std::uint64_t drawn = shape_.generator.block(p, shape_.entries);
      for (int axis = 0; axis < 3; ++axis) places_[3 * p + axis] = 0.5 * problems::RandomValues::value(drawn, axis);
    }
  }

  bool coupled(Ijk p, int entry) const {
    if (!shape_.inside(p, entry)) return false;
    if (!mesh_) return true;
    const Offset o = shape_.offsets[entry];
    const double *here = places_.data() + 3 * shape_.index(p), *there = places_.data() + 3 * shape_.neighbour(p, entry);
    const double x = o.x + there[0] - here[0], y = o.y + there[1] - here[1], z = o.z + there[2] - here[2];
    return x * x + y * y + z * z < reach_of_mesh * reach_of_mesh;
  }

  /// Of a row, by ascending column; how many.
  int couplings(std::int64_t row, Couplings& list) const {
    const Ijk p = shape_.at(to_point_[row]);
    int count = 0;
    for (int e = 0; e < shape_.entries; ++e) {
      if (coupled(p, e)) list[count++] = {to_row_[shape_.neighbour(p, e)], e};
    }
    std::sort(list.begin(), list.begin() + count, [](const Coupling& a, const Coupling& b) { return a.column < b.column; });
    return count;
  }

  Pattern pattern() const {
    const std::int64_t rows = shape_.points();
    Pattern found;
    found.start = Array<std::int64_t>(rows + 1, 0);
#pragma omp parallel for num_threads(threads_for(rows* shape_.entries)) schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
      Couplings of_row;
      found.start[row + 1] = couplings(row, of_row);
    }
    std::partial_sum(found.start.begin(), found.start.end(), found.start.begin());
    found.column = Array<std::int32_t>(found.start[rows]);
#pragma omp parallel for num_threads(threads_for(rows* shape_.entries)) schedule(static)
    for (std::int64_t row = 0; row < rows; ++row) {
      Couplings of_row;
      const int count = couplings(row, of_row);
      for (int n = 0; n < count; ++n) found.column[found.start[row] + n] = of_row[n].column;
    }
    return found;
  }

  bool mesh_;
  ValueShape shape_;
  Array<std::int32_t> to_point_, to_row_;  // of a row: its point; of a point: its row
  Array<double> places_;                   // of a mesh
};

/// Each diagonal value becomes the sum of its row's sizes and as much again, or one.
void make_dominant(BlockCsr<double>& A) {
  const std::int64_t b = A.block();
  std::vector<double> sums(static_cast<std::size_t>(b));
  for (std::int64_t row = 0; row < A.block_rows(); ++row) {
    std::ranges::fill(sums, 0.0);
    double* diagonal = nullptr;
    for (std::int64_t n = A.row_start()[row]; n < A.row_start()[row + 1]; ++n) {
      double* block = A.values().data() + n * b * b;
      if (A.column()[n] == row) diagonal = block;
      for (std::int64_t s = 0; s < b * b; ++s) sums[s % b] += std::abs(block[s]);
    }
    for (std::int64_t r = 0; r < b; ++r) diagonal[r * b + r] = sums[r] > 0 ? 2 * sums[r] : 1;
  }
}

BlockCsr<double> from_file(const BenchCase& one) {
  auto read = read_matrix_market(one.file).matrix;
  if (!read.square()) {
    throw Error(ErrorCode::not_square, fmt::format("{}: {}×{} is not square", one.file, read.rows(), read.columns()));
  }
  auto A = with_full_diagonal(one.dof > 1 ? reblock(read, one.dof) : std::move(read));
  make_dominant(A);
  return A;
}

struct BlockShape {
  const char* problem;
  const char* stencil;
  const char* numbering;
  int dof, side;
};
constexpr BlockShape generated[] = {
    {"random", "star7", "random", 1, 126}, {"random", "star7", "rcm", 1, 126},   {"random", "star7", "random", 2, 100},
    {"random", "star7", "rcm", 2, 100},    {"random", "star7", "random", 3, 80}, {"random", "star7", "rcm", 3, 80},
    {"random", "star7", "random", 4, 64},  {"random", "star7", "rcm", 4, 64},    {"random", "star7", "random", 5, 56},
    {"random", "star7", "rcm", 5, 56},     {"random", "star7", "random", 8, 47}, {"random", "star7", "rcm", 8, 47},
    {"random", "box27", "random", 1, 80},  {"random", "box27", "rcm", 1, 80},    {"random", "box27", "rcm", 2, 64},
    {"random", "box27", "rcm", 3, 52},     {"random", "box27", "rcm", 4, 47},    {"random", "box27", "rcm", 5, 47},
    {"random", "box27", "rcm", 8, 47},     {"mesh", "box27", "natural", 1, 80},  {"mesh", "box27", "random", 1, 80},
    {"mesh", "box27", "rcm", 1, 80},       {"mesh", "box27", "rcm", 3, 64},      {"mesh", "box27", "rcm", 4, 56},
    {"mesh", "box27", "random", 4, 56},    {"mesh", "box27", "rcm", 5, 50},
};

}  // namespace

BlockCsr<double> block_matrix(const BenchCase& one) {
  if (!one.file.empty()) return from_file(one);
  if (one.problem == "projection") return std::move(problems::projection(one.grid).A);
  if (one.problem == "random" || one.problem == "mesh") return Generated(one).matrix();
  return to_block_csr(one.make());
}

std::vector<BenchCase> block_shapes(bool small) {
  std::vector<BenchCase> list;
  for (const auto& shape : generated) {
    BenchCase one;
    one.kind = "block";
    one.problem = shape.problem;
    one.stencil = shape.stencil;
    one.numbering = shape.numbering;
    one.dof = shape.dof;
    const std::int64_t side = small ? 7 : shape.side;
    one.grid = {side, small ? side + 2 : side, small ? side - 1 : side};
    list.push_back(std::move(one));
  }
  return list;
}

std::vector<BenchCase> block_files(const std::string& folder, std::int64_t least_nonzeros) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  std::error_code unknown;
  for (const auto& file : fs::directory_iterator(folder, unknown)) {
    const std::string name = file.path().filename().string();
    const bool ours = name.ends_with(".mtx") || name.ends_with(".mtx.gz");
    if (ours && name.find("_rhs.") == std::string::npos) paths.push_back(file.path().string());
  }
  if (paths.empty()) throw Error(ErrorCode::file_missing, fmt::format("{}: no folder with Matrix Market files", folder));
  std::ranges::sort(paths);
  std::vector<BenchCase> list;
  for (const auto& path : paths) {
    BenchCase one;
    one.kind = "block";
    one.problem = "matrix";
    one.stencil = "";
    one.grid = {0, 0, 0};
    one.file = path;
    const auto read = read_matrix_market(path).matrix;
    if (read.nonzeros() < least_nonzeros) continue;
    list.push_back(one);
    one.dof = guess_block_size(read);
    if (one.dof > 1) list.push_back(std::move(one));
  }
  return list;
}

}  // namespace echelon::bench
