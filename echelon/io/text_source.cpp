// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/io/text_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "echelon/base/error.hpp"
#include "echelon/base/memory.hpp"

namespace echelon {
namespace {

constexpr std::int64_t first_piece = std::int64_t{1} << 16;

bool is_compressed(std::span<const char> bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

[[noreturn]] void refuse_unreadable(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::file_missing, fmt::format("cannot read the file: {}; check the path and its permissions", why),
              path);
}

/// Room for more than `used` bytes; doubling keeps the copies linear.
void grow(Array<char>& buffer, std::int64_t used, std::int64_t memory_limit, const std::string& name) {
  if (used < buffer.size()) return;
  const std::int64_t wanted = buffer.empty() ? first_piece : 2 * buffer.size();
  if (memory_limit > 0 && wanted > memory_limit) {
    throw Error(ErrorCode::will_not_fit,
                fmt::format("the text is longer than {} bytes and the limit given is {}", used, human_bytes(memory_limit)),
                name);
  }
  require_memory(wanted, fmt::format("the text of {}", name));
  Array<char> larger(wanted);
  if (used > 0) std::memcpy(larger.data(), buffer.data(), static_cast<std::size_t>(used));
  buffer = std::move(larger);
}

class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK)
      throw Error(ErrorCode::out_of_memory, "zlib could not start for lack of memory");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Returns the bytes of text; those of the look that says no.
  std::int64_t run(std::span<const char> from, Array<char>& to, std::int64_t memory_limit, const std::string& name,
                   TextSource::Look look) {
    constexpr std::int64_t largest_piece = std::numeric_limits<int>::max();
    const auto size = static_cast<std::int64_t>(from.size());
    std::int64_t used = 0, read = 0;
    for (;;) {
      if (look && used > 0 && used == to.size() && !look(to.span())) return used;
      grow(to, used, memory_limit, name);
      const auto in = static_cast<uInt>(std::min(largest_piece, size - read));
      const auto out = static_cast<uInt>(std::min(largest_piece, to.size() - used));
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data())) + read;
      stream_.avail_in = in;
      stream_.next_out = reinterpret_cast<Bytef*>(to.data()) + used;
      stream_.avail_out = out;
      const int outcome = inflate(&stream_, Z_NO_FLUSH);
      read += in - stream_.avail_in;
      used += out - stream_.avail_out;
      if (outcome == Z_STREAM_END) {
        if (rest_is_padding(from.subspan(static_cast<std::size_t>(read)))) return used;
        inflateReset(&stream_);
      } else if (outcome == Z_MEM_ERROR) {
        throw Error(ErrorCode::out_of_memory, "zlib ran out of memory", name);
      } else if (outcome == Z_BUF_ERROR || (outcome == Z_OK && read == size && stream_.avail_out > 0)) {
        refuse(name, fmt::format("the gzip data ends after {} compressed bytes, in the middle of the stream", read));
      } else if (outcome != Z_OK) {
        refuse(name, fmt::format("the gzip data is corrupt near compressed byte {} ({})", read,
                                 stream_.msg ? stream_.msg : "not a gzip member"));
      }
    }
  }

 private:
  static bool rest_is_padding(std::span<const char> rest) {
    for (const char c : rest) {
      if (c != 0) return false;
    }
    return true;
  }
  [[noreturn]] static void refuse(const std::string& name, const std::string& what) {
    throw Error(ErrorCode::file_format, what + "; fetch or compress the file again", name);
  }

  z_stream stream_{};
};

}  // namespace

TextSource::TextSource(TextSource&& other) noexcept
    : name_(std::move(other.name_)),
      look_(other.look_),
      text_(std::exchange(other.text_, {})),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      buffer_(std::move(other.buffer_)) {}

TextSource::~TextSource() {
  if (mapping_) ::munmap(mapping_, mapped_bytes_);
}

TextSource TextSource::open(const std::string& path, std::int64_t memory_limit, Look look) {
  TextSource source(path, look);
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) refuse_unreadable(path, std::strerror(errno));
  struct stat status {};
  if (::fstat(file.number, &status) != 0) refuse_unreadable(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse_unreadable(path, "it is a directory");
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* mapping = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (mapping == MAP_FAILED) {
      if (errno == ENOMEM)
        throw Error(ErrorCode::out_of_memory, fmt::format("{} could not be mapped", human_bytes(status.st_size)), path);
      refuse_unreadable(path, std::strerror(errno));
    }
    source.mapping_ = mapping;
    source.mapped_bytes_ = bytes;
    source.text_ = {static_cast<const char*>(mapping), bytes};
  } else {
    source.read_all(file.number, memory_limit);  // a pipe; also files of /proc, which claim to be empty
  }
  source.inflate_if_compressed(memory_limit);
  return source;
}

TextSource TextSource::from_memory(std::span<const char> bytes, const std::string& name, std::int64_t memory_limit,
                                   Look look) {
  TextSource source(name, look);
  source.text_ = bytes;
  source.inflate_if_compressed(memory_limit);
  return source;
}

bool TextSource::worth_reading_on(std::span<const char> start) const {
  if (!look_) return true;
  if (!is_compressed(start)) return look_(start);
  // Of a compressed stream the beginning says enough: what it holds is looked at again when all of it is inflated.
  if (static_cast<std::int64_t>(start.size()) > first_piece) return true;
  bool worth = true;
  try {
    Array<char> inflated;
    const auto bytes = Inflater().run(start, inflated, 0, name_, look_);
    worth = bytes < first_piece || look_(inflated.span().first(static_cast<std::size_t>(bytes)));
  } catch (const Error&) {
    // A piece of a stream ends in its middle; what it is will be said when all of it is there.
  }
  return worth;
}

void TextSource::read_all(int descriptor, std::int64_t memory_limit) {
  std::int64_t used = 0;
  for (;;) {
    if (used > 0 && used == buffer_.size() && !worth_reading_on(buffer_.span())) break;
    grow(buffer_, used, memory_limit, name_);
    const auto got = ::read(descriptor, buffer_.data() + used, static_cast<std::size_t>(buffer_.size() - used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_unreadable(name_, std::strerror(errno));
    if (got == 0) break;
    used += got;
  }
  text_ = buffer_.span().first(static_cast<std::size_t>(used));
}

void TextSource::inflate_if_compressed(std::int64_t memory_limit) {
  if (!is_compressed(text_)) return;
  Array<char> inflated;
  const auto bytes = Inflater().run(text_, inflated, memory_limit, name_, look_);
  buffer_ = std::move(inflated);
  text_ = buffer_.span().first(static_cast<std::size_t>(bytes));
  if (mapping_) ::munmap(std::exchange(mapping_, nullptr), mapped_bytes_);
}

}  // namespace echelon
