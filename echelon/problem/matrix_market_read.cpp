// SPDX-License-Identifier: BSD-3-Clause
// The way in: source, header, scan, assembly.
#include <fmt/format.h>

#include <chrono>
#include <new>
#include <stdexcept>

#include "echelon/problem/matrix_market.hpp"
#include "echelon/problem/matrix_market_assemble.hpp"

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

MatrixFile read(const TextSource& source, const ReadOptions& options, std::chrono::steady_clock::time_point start) {
  ReadNotes notes;
  const Header header = read_header(source);
  Csr csr = assemble(source, header, scan_entries(source, header, options, notes), options, notes);
  BlockCsr<double> matrix(header.rows, header.columns, 1, std::move(csr.row_start), std::move(csr.column),
                          std::move(csr.values));
  notes.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {std::move(matrix), std::move(notes)};
}

Vector<double> read_one_column(const TextSource& source, const ReadOptions& options) {
  ReadNotes notes;
  const Header header = read_header(source);
  if (header.columns != 1) {
    throw Error(ErrorCode::size_mismatch,
                fmt::format("a vector has one column, this file has {} rows and {} columns", header.rows, header.columns),
                place(source, header.size_line));
  }
  auto parts = scan_entries(source, header, options, notes);
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

}  // namespace

MatrixFile read_matrix_market(const std::string& path, const ReadOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  return guarded(path, [&] { return read(TextSource::open(path, options.memory_limit), options, start); });
}

MatrixFile parse_matrix_market(std::span<const char> text, const std::string& name, const ReadOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  return guarded(name, [&] { return read(TextSource::from_memory(text, name, options.memory_limit), options, start); });
}

Vector<double> read_vector(const std::string& path, const ReadOptions& options) {
  return guarded(path, [&] { return read_one_column(TextSource::open(path, options.memory_limit), options); });
}

Vector<double> parse_vector(std::span<const char> text, const std::string& name, const ReadOptions& options) {
  return guarded(name, [&] { return read_one_column(TextSource::from_memory(text, name, options.memory_limit), options); });
}

}  // namespace echelon
