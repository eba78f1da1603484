// SPDX-License-Identifier: BSD-3-Clause
// Values as the shortest decimal text that reads back to the same bits (std::to_chars), formatted by all threads in batches
// of rows and written in order. Matrix Market has no NaN or infinity: such a value is refused before the file is touched.
#include "echelon/io/matrix_market_write.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/parallel_parts.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/io/matrix_market.hpp"

namespace echelon {
namespace {

constexpr std::int64_t batch_values = std::int64_t{1} << 18;  // a thread; a few MB of text

/// Text to a file, through gzip when the name asks for it.
class TextSink {
 public:
  explicit TextSink(FileOutput& file) : file_(file) {
    if (!file.path().ends_with(".gz")) return;
    stream_.emplace();
    if (deflateInit2(&*stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      stream_.reset();
      throw Error(ErrorCode::out_of_memory, "zlib could not start for lack of memory", file.path());
    }
  }
  ~TextSink() {
    if (stream_) deflateEnd(&*stream_);
  }
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;

  void write(std::string_view text) {
    if (!stream_) return file_.write(text);
    constexpr std::size_t largest_piece = std::numeric_limits<int>::max();
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), largest_piece)))
      deflate_piece(text.substr(0, largest_piece), Z_NO_FLUSH);
  }
  void commit() {
    if (stream_) deflate_piece({}, Z_FINISH);
    file_.commit();
  }

 private:
  void deflate_piece(std::string_view text, int flush) {
    std::array<char, 1 << 16> out;
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_->avail_in = static_cast<uInt>(text.size());
    do {
      stream_->next_out = reinterpret_cast<Bytef*>(out.data());
      stream_->avail_out = static_cast<uInt>(out.size());
      if (deflate(&*stream_, flush) == Z_STREAM_ERROR) throw Error(ErrorCode::internal, "zlib lost its state", file_.path());
      file_.write({out.data(), out.size() - stream_->avail_out});
    } while (stream_->avail_out == 0);
  }

  FileOutput& file_;
  std::optional<z_stream> stream_;
};

template <class Number>
void append(std::string& text, Number number, char end) {
  char digits[32];
  const auto outcome = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, outcome.ptr);
  text += end;
}

[[noreturn]] void refuse_nonfinite(const std::string& path, std::int64_t row, std::int64_t column, double value) {
  throw Error(ErrorCode::nonfinite_value,
              fmt::format("entry ({}, {}) is {}, which a Matrix Market file cannot hold; nothing was written", row + 1,
                          column + 1, value),
              path);
}

void require_finite(const std::string& path, const Vector<double>& x) {
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) refuse_nonfinite(path, i, 0, x[i]);
  }
}

/// Batches [begin, end) of `items`, each formatted by a thread of its own, written in order.
template <class Format>
void write_batches(TextSink& sink, std::int64_t items, std::int64_t batch, const Format& format) {
  std::vector<std::string> text(static_cast<std::size_t>(threads()));
  for (std::int64_t at = 0; at < items;) {
    const auto ready = std::min<std::int64_t>(threads(), (items - at + batch - 1) / batch);
    for_each_part(static_cast<int>(ready), [&](int t) {
      auto& mine = text[static_cast<std::size_t>(t)];
      mine.clear();
      const std::int64_t begin = at + t * batch;
      format(mine, begin, std::min(items, begin + batch));
    });
    for (std::int64_t t = 0; t < ready; ++t) sink.write(text[static_cast<std::size_t>(t)]);
    at = std::min(items, at + ready * batch);
  }
}

}  // namespace

void write_vector(const std::string& path, const Vector<double>& x) {
  if (!x.device().is_host()) return write_vector(path, x.to(Device::host()));
  require_finite(path, x);
  FileOutput file(path);
  write_vector(file, x);
}

void write_vector(FileOutput& file, const Vector<double>& x) {
  if (!x.device().is_host()) return write_vector(file, x.to(Device::host()));
  require_finite(file.path(), x);
  TextSink sink(file);
  sink.write(fmt::format("%%MatrixMarket matrix array real general\n{} 1\n", x.size()));
  write_batches(sink, x.size(), batch_values, [&](std::string& text, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) append(text, x[i], '\n');
  });
  sink.commit();
}

void write_matrix_market(const std::string& path, const BlockCsr<double>& A) {
  if (!A.device().is_host()) return write_matrix_market(path, A.to(Device::host()));
  const std::int64_t b = A.block();
  const auto row_start = A.row_start();
  const auto column = A.column();
  const auto values = std::span<const double>(A.values());
  const auto visit_row = [&](std::int64_t row, const auto& entry) {
    const std::int64_t block_row = row / b, inside = row % b;
    for (auto e = row_start[static_cast<std::size_t>(block_row)]; e < row_start[static_cast<std::size_t>(block_row) + 1];
         ++e) {
      for (std::int64_t c = 0; c < b; ++c) {
        entry(column[static_cast<std::size_t>(e)] * b + c, values[static_cast<std::size_t>(e * b * b + c * b + inside)]);
      }
    }
  };
  for (std::int64_t row = 0; row < A.rows(); ++row) {
    visit_row(row, [&](std::int64_t c, double value) {
      if (!std::isfinite(value)) refuse_nonfinite(path, row, c, value);
    });
  }
  FileOutput file(path);
  TextSink sink(file);
  sink.write(fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", A.rows(), A.columns(), A.nonzeros()));
  const std::int64_t entries_a_row = 1 + A.nonzeros() / std::max<std::int64_t>(1, A.rows());
  const std::int64_t batch = std::max<std::int64_t>(1, batch_values / entries_a_row);
  write_batches(sink, A.rows(), batch, [&](std::string& text, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      visit_row(row, [&](std::int64_t c, double value) {
        append(text, row + 1, ' ');
        append(text, c + 1, ' ');
        append(text, value, '\n');
      });
    }
  });
  sink.commit();
}

}  // namespace echelon
