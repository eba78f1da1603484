// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market files: coordinate and array; real, integer, pattern; general, symmetric, skew-symmetric; plain or gzip.
// The text is parsed in parallel, chunk by chunk at line ends; memory is bounded by the bytes read, never by what a header
// claims. Refusals carry file:line:column of the first bad line, whatever the number of threads. Lines and columns count
// from one. One entry a line; comment (%) and blank lines anywhere, CRLF, '+' signs and Fortran's D exponents are taken.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/matrix/rows/block_csr.hpp"

namespace echelon {

enum class Duplicates { sum, last, refuse };

struct ReadOptions {
  Duplicates duplicates = Duplicates::sum;
  bool allow_nonfinite = false;
  std::int64_t memory_limit = 0;  // bytes the reader may take before it refuses with will_not_fit; 0: what the machine has
};

/// What was noticed on the way; none of it is an error.
struct ReadNotes {
  std::int64_t bytes = 0;           // of text, after decompression
  std::int64_t entries = 0;         // as in the file, before symmetric expansion
  std::int64_t duplicates = 0;      // entries merged into an earlier one
  std::int64_t explicit_zeros = 0;  // kept in a coordinate file; an array file has no pattern, there they are dropped
  std::int64_t denormals = 0;
  std::int64_t nonfinite = 0;  // only with allow_nonfinite; sums of duplicates that overflow among them
  bool sorted = true;          // the entries came in row or column order
  std::string symmetry = "general";
  std::string field = "real";
  double seconds = 0;
};

struct MatrixFile {
  BlockCsr<double> matrix;  // block size 1; symmetric files are expanded
  ReadNotes notes;
};

/// What the banner and the size line say, before anything is allocated for it.
struct MatrixSizes {
  std::string name;  // of the file
  std::int64_t rows = 0, columns = 0;
  std::int64_t entries = 0;      // promised; of an array file, the values
  std::int64_t most_stored = 0;  // with the mirror images of a symmetric file
  bool coordinate = true;
  std::string symmetry, field;
};

/// A file whose header was read and nothing else: the sizes can be looked at before their price is paid. `matrix` or
/// `vector` is called once.
class MatrixMarketFile {
 public:
  explicit MatrixMarketFile(const std::string& path, const ReadOptions& options = {});
  MatrixMarketFile(MatrixMarketFile&&) noexcept;
  ~MatrixMarketFile();
  const MatrixSizes& sizes() const { return sizes_; }
  MatrixFile matrix();
  Vector<double> vector();

 private:
  struct Opened;
  std::unique_ptr<Opened> opened_;
  MatrixSizes sizes_;
};

MatrixFile read_matrix_market(const std::string& path, const ReadOptions& options = {});
/// From memory, as if it were a file of that name (the fuzzer's way in).
MatrixFile parse_matrix_market(std::span<const char> text, const std::string& name, const ReadOptions& options = {});
/// A vector: an array file with one column, or a coordinate file n×1.
Vector<double> read_vector(const std::string& path, const ReadOptions& options = {});
Vector<double> parse_vector(std::span<const char> text, const std::string& name, const ReadOptions& options = {});

/// Shortest decimal text that reads back to the same bits. The old file stays untouched until the new one is complete
/// (temporary file, fsync, rename). Names ending in .gz are compressed. Throws Error(write_failed) with bytes needed, free.
void write_vector(const std::string& path, const Vector<double>& x);
void write_matrix_market(const std::string& path, const BlockCsr<double>& A);

}  // namespace echelon
