// SPDX-License-Identifier: BSD-3-Clause
// The way in: source, header, scan, assembly.
#include <fmt/format.h>

#include <chrono>
#include <new>
#include <stdexcept>

#include "echelon/base/memory.hpp"
#include "echelon/io/matrix_market.hpp"
#include "echelon/io/matrix_market_assemble.hpp"

namespace echelon {
namespace {

using namespace matrix_market;

/// Every way of running out of memory is an Error to the caller.
template <class Work>
auto guarded(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "memory ran out while the file was read", name);
  } catch (const std::length_error&) {
    throw Error(ErrorCode::out_of_memory, "memory ran out while the file was read", name);
  }
}

using Clock = std::chrono::steady_clock;

MatrixFile read_matrix(const TextSource& source, const Header& header, const ReadOptions& options, Clock::time_point start) {
  ReadNotes notes;
  Csr csr = assemble(source, header, scan_entries(source, header, options, notes), options, notes);
  BlockCsr<double> matrix(header.rows, header.columns, 1, std::move(csr.row_start), std::move(csr.column),
                          std::move(csr.values));
  notes.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return {std::move(matrix), std::move(notes)};
}

Vector<double> read_one_column(const TextSource& source, const Header& header, const ReadOptions& options) {
  ReadNotes notes;
  if (header.columns != 1) {
    throw Error(ErrorCode::size_mismatch,
                fmt::format("a vector has one column, this file has {} rows and {} columns", header.rows, header.columns),
                place(source, header.size_line));
  }
  auto parts = scan_entries(source, header, options, notes);
  require_memory(8 * header.rows, fmt::format("the vector in {}", source.name()));
  Vector<double> x(header.rows, 0.0);
  if (header.format == Format::array) {  // straight over, so that even the sign of a zero stays
    for (const auto& part : parts) {
      part.entries.for_each([&](const Entry& entry) { x[entry.row] = entry.value; });
    }
    return x;
  }
  const Csr csr = assemble(source, header, std::move(parts), options, notes);
  for (std::int64_t row = 0; row < header.rows; ++row) {
    if (csr.row_start[row] < csr.row_start[row + 1]) x[row] = csr.values[csr.row_start[row]];
  }
  return x;
}

MatrixSizes sizes_of(const std::string& name, const Header& header) {
  MatrixSizes sizes;
  sizes.name = name;
  sizes.rows = header.rows;
  sizes.columns = header.columns;
  sizes.entries = header.entries;
  sizes.most_stored = header.mirrored() ? 2 * header.entries : header.entries;
  sizes.coordinate = header.format == Format::coordinate;
  sizes.symmetry = word(header.symmetry);
  sizes.field = word(header.field);
  return sizes;
}

}  // namespace

struct MatrixMarketFile::Opened {
  Clock::time_point start;
  ReadOptions options;
  TextSource source;
  Header header;
};

MatrixMarketFile::MatrixMarketFile(const std::string& path, const ReadOptions& options) {
  const auto start = Clock::now();
  guarded(path, [&] {
    auto source = TextSource::open(path, options.memory_limit, worth_reading_on);
    const Header header = read_header(source);
    sizes_ = sizes_of(path, header);
    opened_ = std::make_unique<Opened>(Opened{start, options, std::move(source), header});
  });
}

MatrixMarketFile::MatrixMarketFile(MatrixMarketFile&&) noexcept = default;
MatrixMarketFile::~MatrixMarketFile() = default;

MatrixFile MatrixMarketFile::matrix() {
  const auto file = std::move(opened_);  // the text goes with it
  return guarded(sizes_.name, [&] { return read_matrix(file->source, file->header, file->options, file->start); });
}

Vector<double> MatrixMarketFile::vector() {
  const auto file = std::move(opened_);
  return guarded(sizes_.name, [&] { return read_one_column(file->source, file->header, file->options); });
}

MatrixFile read_matrix_market(const std::string& path, const ReadOptions& options) {
  return MatrixMarketFile(path, options).matrix();
}

MatrixFile parse_matrix_market(std::span<const char> text, const std::string& name, const ReadOptions& options) {
  const auto start = Clock::now();
  return guarded(name, [&] {
    const auto source = TextSource::from_memory(text, name, options.memory_limit, worth_reading_on);
    return read_matrix(source, read_header(source), options, start);
  });
}

Vector<double> read_vector(const std::string& path, const ReadOptions& options) {
  return MatrixMarketFile(path, options).vector();
}

Vector<double> parse_vector(std::span<const char> text, const std::string& name, const ReadOptions& options) {
  return guarded(name, [&] {
    const auto source = TextSource::from_memory(text, name, options.memory_limit, worth_reading_on);
    return read_one_column(source, read_header(source), options);
  });
}

}  // namespace echelon
