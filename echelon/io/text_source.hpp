// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a text file in memory: a plain file is mapped, a pipe is read, gzip data (known by its first two bytes, also
// several members in a row) is inflated. Growth is by what is really there, never by what a header or a trailer claims, and
// text that is not what its reader wants is not read further: a stream may have no end, 6 MB of gzip may be 8 GB.
// A mapped file must not be shortened by another program while it is read.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "echelon/base/array.hpp"

namespace echelon {

class TextSource {
 public:
  /// Asked of the first 64 KiB of text that is read or inflated, and again whenever it has doubled: false says that the rest
  /// is not worth reading, and what was looked at is all the text then.
  using Look = bool (*)(std::span<const char> start);

  /// Throws Error: file_missing (not there, a directory, unreadable), file_format (broken gzip), will_not_fit (more than
  /// `memory_limit` bytes of inflated text; 0: what the machine has).
  static TextSource open(const std::string& path, std::int64_t memory_limit = 0, Look look = nullptr);
  /// Bytes already in memory; plain text is not copied and must outlive this object.
  static TextSource from_memory(std::span<const char> bytes, const std::string& name, std::int64_t memory_limit = 0,
                                Look look = nullptr);

  TextSource(TextSource&& other) noexcept;
  TextSource& operator=(TextSource&&) = delete;
  ~TextSource();

  std::span<const char> text() const { return text_; }
  const std::string& name() const { return name_; }

 private:
  TextSource(std::string name, Look look) : name_(std::move(name)), look_(look) {}
  /// Whether what begins like this, plain or compressed, is to be read on.
  bool worth_reading_on(std::span<const char> start) const;
  void read_all(int descriptor, std::int64_t memory_limit);
  void inflate_if_compressed(std::int64_t memory_limit);

  std::string name_;
  Look look_;
  std::span<const char> text_;
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  Array<char> buffer_;
};

}  // namespace echelon
