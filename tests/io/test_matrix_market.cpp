// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market by hand-made cases, against a plain reference parser on random matrices, and written and read back bit by
// bit, for several numbers of threads.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/io/matrix_market.hpp"

namespace echelon {
namespace {

const std::string data = std::string(ECHELON_SOURCE_DIR) + "/tests/data/good/";

BlockCsr<double> parsed(const std::string& text) { return parse_matrix_market(text, "a.mtx").matrix; }

bool same_bits(const BlockCsr<double>& a, const BlockCsr<double>& b) {
  const auto equal = [](auto x, auto y) {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
  };
  return a.rows() == b.rows() && a.columns() == b.columns() && equal(a.row_start(), b.row_start()) &&
         equal(a.column(), b.column()) && equal(a.values(), b.values());
}

/// Line by line with the C library: what the parallel reader must agree with.
std::map<std::pair<long, long>, double> reference(const std::string& text) {
  std::istringstream in(text);
  std::string line, value;
  std::getline(in, line);
  const bool pattern = line.find("pattern") != std::string::npos;
  const double mirror = line.find("skew") != std::string::npos ? -1 : line.find("symmetric") != std::string::npos ? 1 : 0;
  long rows = 0, columns = 0, entries = 0, row = 0, column = 0;
  in >> rows >> columns >> entries;
  std::map<std::pair<long, long>, double> matrix;
  for (long k = 0; k < entries; ++k) {
    in >> row >> column;
    double v = 1;
    if (!pattern) {
      in >> value;
      v = std::strtod(value.c_str(), nullptr);
    }
    const auto add = [&](long i, long j, double x) {
      const auto [at, fresh] = matrix.try_emplace({i - 1, j - 1}, x);
      if (!fresh) at->second += x;
    };
    add(row, column, v);
    if (mirror != 0 && row != column) add(column, row, mirror * v);
  }
  return matrix;
}

void expect_equal(const BlockCsr<double>& A, const std::map<std::pair<long, long>, double>& expected) {
  ASSERT_EQ(A.nonzeros(), static_cast<std::int64_t>(expected.size()));
  std::size_t at = 0;
  long row = 0;
  for (const auto& [place, value] : expected) {
    while (static_cast<std::int64_t>(at) >= A.row_start()[static_cast<std::size_t>(row) + 1]) ++row;
    ASSERT_EQ(row, place.first);
    ASSERT_EQ(A.column()[at], place.second);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(A.values()[at]), std::bit_cast<std::uint64_t>(value))
        << row << " " << place.second;
    ++at;
  }
}

TEST(MatrixMarket, BlanksSignsCasesCommentsCrlfAndDExponents) {
  const auto file = read_matrix_market(data + "crlf_tabs_signs.mtx");
  EXPECT_EQ(file.matrix.at(0, 0), 1.5);
  EXPECT_EQ(file.matrix.at(1, 1), -25);
  EXPECT_EQ(file.matrix.at(2, 2), 0.5);
  EXPECT_EQ(file.notes.entries, 3);
  EXPECT_TRUE(file.notes.sorted);
}

TEST(MatrixMarket, SymmetricSkewPatternAndArray) {
  const auto A = read_matrix_market(data + "integer_symmetric.mtx");
  EXPECT_EQ(A.matrix.nonzeros(), 5);
  EXPECT_EQ(A.matrix.at(0, 1), -1);
  EXPECT_EQ(A.notes.symmetry, "symmetric");
  EXPECT_EQ(A.notes.field, "integer");
  const auto skew = read_matrix_market(data + "skew.mtx").matrix;
  EXPECT_EQ(skew.at(0, 1), -1.5);
  EXPECT_EQ(skew.at(1, 2), 2);
  EXPECT_EQ(read_matrix_market(data + "pattern_symmetric.mtx").matrix.at(0, 1), 1);
  const auto array = read_matrix_market(data + "array_symmetric.mtx").matrix;
  EXPECT_EQ(array.at(0, 1), 2);
  EXPECT_EQ(array.at(1, 1), 3);
  const auto dense = parsed("%%MatrixMarket matrix array real general\n2 3\n1\n0\n3\n4\n5\n6\n");
  EXPECT_EQ(dense.nonzeros(), 5) << "an array's zeros are not stored";
  EXPECT_EQ(dense.at(1, 2), 6);
  EXPECT_EQ(dense.at(0, 1), 3);
  const auto skew_array = parsed("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n");
  EXPECT_EQ(skew_array.at(2, 1), 3);
  EXPECT_EQ(skew_array.at(0, 2), -2);
}

TEST(MatrixMarket, OneByOneEmptyAndNonSquare) {
  EXPECT_EQ(parsed("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7").at(0, 0), 7);
  const auto empty = parsed("%%MatrixMarket matrix coordinate real general\n3 2 0");
  EXPECT_EQ(empty.rows(), 3);
  EXPECT_EQ(empty.columns(), 2);
  EXPECT_EQ(empty.nonzeros(), 0);
}

TEST(MatrixMarket, Vectors) {
  const auto x = read_vector(data + "vector.mtx");
  ASSERT_EQ(x.size(), 3);
  EXPECT_EQ(x[0], 1e-3);
  EXPECT_TRUE(std::signbit(x[1]));
  EXPECT_EQ(x[2], 0x0.fffffffffffffp-1022);
  const std::string sparse = "%%MatrixMarket matrix coordinate real general\n4 1 3\n3 1 2\n1 1 5\n3 1 1\n";
  const auto y = parse_vector(sparse, "b.mtx");
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 3);
  const std::string wide = "%%MatrixMarket matrix array real general\n1 2\n1\n2\n";
  try {
    parse_vector(wide, "b.mtx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::size_mismatch);
    EXPECT_EQ(error.where(), "b.mtx:2:1");
  }
}

// Values near every trouble of decimal conversion, against the C library.
TEST(MatrixMarket, ValuesAreCorrectlyRounded) {
  std::vector<std::string> words = {"9007199254740993",
                                    "9007199254740992e22",
                                    "9007199254740991e-22",
                                    "9007199254740993.0000000000000000001",
                                    "1e22",
                                    "1e23",
                                    "1e-22",
                                    "1e-23",
                                    "4.9e-324",
                                    "2.4703282292062327e-324",
                                    "2.4703282292062328e-324",
                                    "1e-400",
                                    "2.2250738585072011e-308",
                                    "1.7976931348623157e308",
                                    "0.1",
                                    ".5",
                                    "5.",
                                    "-0",
                                    "-0.0e-5",
                                    "00000000000000000000000000000001.5",
                                    "123456789012345678901234567890",
                                    "0.000000000000000000000000000000123456789",
                                    "1E+5",
                                    "1e00000000000000000005",
                                    "8.41e21",
                                    "18446744073709551615",
                                    "18446744073709551616",
                                    "99999999",
                                    "12345678.12345678"};
  std::mt19937_64 random(11);
  for (int i = 0; i < 20000; ++i) {
    const auto bits = std::bit_cast<double>(random());
    char text[64];
    if (std::isfinite(bits))
      words.push_back((std::snprintf(text, sizeof text, "%.*g", static_cast<int>(random() % 25), bits), text));
    words.push_back((std::snprintf(text, sizeof text, "%.*f", static_cast<int>(random() % 20),
                                   static_cast<double>(random() % 1000003) / 997.0),
                     text));
  }
  std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(words.size()) + " 1\n";
  for (const auto& word : words) text += word + "\n";
  const auto x = parse_vector(text, "x.mtx");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double expected = std::strtod(words[i].c_str(), nullptr);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(x[static_cast<std::int64_t>(i)]), std::bit_cast<std::uint64_t>(expected))
        << words[i];
  }
}

TEST(MatrixMarket, RandomMatricesEqualTheReferenceForAllThreadCounts) {
  std::mt19937_64 random(5);
  for (const char* kind :
       {"real general", "real symmetric", "real skew-symmetric", "integer general", "pattern symmetric"}) {
    for (const long n : {1L, 2L, 37L, 5000L}) {
      const long entries = n == 5000 ? 30000 : n * 3;
      const bool mirrored = std::strstr(kind, "symmetric"), skew = std::strstr(kind, "skew");
      if (skew && n == 1) continue;
      std::ostringstream text;
      text << "%%MatrixMarket matrix coordinate " << kind << "\n" << n << " " << n << " " << entries << "\n";
      for (long k = 0; k < entries; ++k) {
        long i = 1 + static_cast<long>(random() % static_cast<unsigned long>(n)),
             j = 1 + static_cast<long>(random() % static_cast<unsigned long>(n));
        if (mirrored && i < j) std::swap(i, j);
        if (skew && i == j) i == n ? --j : ++i;
        text << i << " " << j;
        if (kind[0] == 'r')
          text << " " << std::setprecision(static_cast<int>(1 + random() % 17)) << static_cast<double>(random()) / 1e18 - 9;
        if (kind[0] == 'i') text << " " << static_cast<long>(random() % 2001) - 1000;
        text << "\n";
      }
      const auto expected = reference(text.str());
      for (const int count : {1, 2, 5}) {
        set_threads(count);
        const auto file = parse_matrix_market(text.str(), "a.mtx");
        expect_equal(file.matrix, expected);
        const auto stored = static_cast<std::int64_t>(expected.size());
        EXPECT_EQ(mirrored ? file.notes.duplicates > 0 : file.notes.duplicates == entries - stored, true);
      }
    }
  }
  set_threads(0);
}

class RoundTrip : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path()), std::filesystem::remove(path() + ".gz"); }
  static std::string path() { return testing::TempDir() + "echelon_round_trip_" + std::to_string(::getpid()) + ".mtx"; }
};

TEST_F(RoundTrip, MatrixPlainAndGzipAndBlocks) {
  std::mt19937_64 random(3);
  std::vector<Triplet<double>> list;
  for (int k = 0; k < 60000; ++k) {
    double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) value = -0.0;
    list.push_back({static_cast<std::int32_t>(random() % 4000), static_cast<std::int32_t>(random() % 4000), value});
  }
  auto A = from_triplets<double>(4000, 4000, list);
  for (auto& value : A.values()) {
    if (!std::isfinite(value)) value = 1;  // a sum of duplicates
  }
  for (const int count : {1, 3}) {
    set_threads(count);
    for (const std::string end : {"", ".gz"}) {
      write_matrix_market(path() + end, A);
      EXPECT_TRUE(same_bits(read_matrix_market(path() + end).matrix, A)) << end;
    }
  }
  set_threads(0);
  EXPECT_LT(std::filesystem::file_size(path() + ".gz"), std::filesystem::file_size(path()));
  const auto B = reblock(A, 4);
  write_matrix_market(path(), B);
  EXPECT_TRUE(same_bits(reblock(read_matrix_market(path()).matrix, 4), B));
}

TEST_F(RoundTrip, VectorPlainAndGzip) {
  Vector<double> x(100000);
  std::mt19937_64 random(4);
  for (auto& value : x) {
    value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) value = -0.0;
  }
  for (const std::string end : {"", ".gz"}) {
    write_vector(path() + end, x);
    const auto y = read_vector(path() + end);
    ASSERT_EQ(y.size(), x.size());
    EXPECT_EQ(std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.bytes())), 0);
  }
  x[7] = std::numeric_limits<double>::quiet_NaN();
  try {
    write_vector(path(), x);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::nonfinite_value);
  }
  EXPECT_EQ(read_vector(path()).size(), x.size()) << "the old file is still there";
}

TEST_F(RoundTrip, GzipMembersInARow) {
  const std::string first = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1", second = " 5\n2 2 6\n";
  for (const auto* mode : {"wb", "ab"}) {
    const auto& text = mode[0] == 'w' ? first : second;
    const gzFile out = gzopen(path().c_str(), mode);
    ASSERT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    gzclose(out);
  }
  EXPECT_EQ(read_matrix_market(path()).matrix.at(0, 0), 5) << "known by its bytes, not by its name";
}

}  // namespace
}  // namespace echelon
