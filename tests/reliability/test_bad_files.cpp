// SPDX-License-Identifier: BSD-3-Clause
// Files that must be refused: the error's code and the line and column it points at, for files kept in tests/data/bad; then
// one test for each row of the list of failures that concerns files, named after it.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "echelon/base/error.hpp"
#include "echelon/base/threads.hpp"
#include "echelon/io/matrix_market.hpp"
#include "tests/sanitized.hpp"

namespace echelon {
namespace {

const std::string data = std::string(ECHELON_SOURCE_DIR) + "/tests/data/";

struct BadFile {
  const char* name;
  ErrorCode code;
  int line, column;
};

const BadFile bad_files[] = {
    {"claims_huge_nnz.mtx", ErrorCode::file_format, 2, 1},
    {"claims_nnz_beyond_int64.mtx", ErrorCode::file_format, 2, 5},
    {"claims_rows_beyond_int32.mtx", ErrorCode::file_format, 2, 1},
    {"claims_columns_beyond_int64.mtx", ErrorCode::file_format, 2, 3},
    {"claims_huge_array.mtx", ErrorCode::file_format, 2, 1},
    {"index_overflows_int32.mtx", ErrorCode::index_range, 4, 1},
    {"index_overflows_int64.mtx", ErrorCode::index_range, 4, 3},
    {"index_zero.mtx", ErrorCode::index_range, 3, 1},
    {"index_negative.mtx", ErrorCode::index_range, 4, 3},
    {"index_above_n.mtx", ErrorCode::index_range, 4, 3},
    {"index_is_float.mtx", ErrorCode::file_format, 4, 1},
    {"index_with_exponent.mtx", ErrorCode::file_format, 4, 3},
    {"index_is_hexadecimal.mtx", ErrorCode::file_format, 4, 1},
    {"truncated.mtx", ErrorCode::file_format, 5, 1},
    {"truncated_in_a_line.mtx", ErrorCode::file_format, 4, 4},
    {"surplus_entry.mtx", ErrorCode::file_format, 6, 1},
    {"surplus_words.mtx", ErrorCode::file_format, 5, 1},
    {"value_not_numeric.mtx", ErrorCode::file_format, 4, 5},
    {"value_half_numeric.mtx", ErrorCode::file_format, 4, 5},
    {"value_two_points.mtx", ErrorCode::file_format, 4, 5},
    {"value_two_signs.mtx", ErrorCode::file_format, 4, 5},
    {"value_empty_exponent.mtx", ErrorCode::file_format, 4, 5},
    {"value_decimal_comma.mtx", ErrorCode::file_format, 4, 5},
    {"value_missing.mtx", ErrorCode::file_format, 4, 4},
    {"column_missing.mtx", ErrorCode::file_format, 4, 2},
    {"value_not_whole.mtx", ErrorCode::file_format, 4, 5},
    {"pattern_with_value.mtx", ErrorCode::file_format, 4, 5},
    {"trailing_garbage.mtx", ErrorCode::file_format, 4, 7},
    {"nul_byte.mtx", ErrorCode::file_format, 4, 3},
    {"nul_after_number.mtx", ErrorCode::file_format, 4, 5},
    {"nan.mtx", ErrorCode::nonfinite_value, 4, 5},
    {"infinity.mtx", ErrorCode::nonfinite_value, 4, 5},
    {"too_large_for_double.mtx", ErrorCode::nonfinite_value, 4, 5},
    {"symmetric_with_upper_entry.mtx", ErrorCode::symmetry, 4, 1},
    {"symmetric_not_square.mtx", ErrorCode::symmetry, 2, 1},
    {"skew_with_diagonal.mtx", ErrorCode::symmetry, 4, 5},
    {"skew_pattern.mtx", ErrorCode::file_format, 1, 42},
    {"pattern_array.mtx", ErrorCode::file_format, 1, 29},
    {"complex.mtx", ErrorCode::file_format, 1, 34},
    {"hermitian.mtx", ErrorCode::file_format, 1, 39},
    {"object_is_vector.mtx", ErrorCode::file_format, 1, 16},
    {"wrong_banner.mtx", ErrorCode::file_format, 1, 1},
    {"banner_cut_short.mtx", ErrorCode::file_format, 1, 34},
    {"banner_only.mtx", ErrorCode::file_format, 2, 1},
    {"empty.mtx", ErrorCode::file_format, 1, 1},
    {"binary.mtx", ErrorCode::file_format, 1, 1},
    {"sizes_missing.mtx", ErrorCode::file_format, 3, 1},
    {"sizes_two_of_three.mtx", ErrorCode::file_format, 2, 3},
    {"sizes_not_numeric.mtx", ErrorCode::file_format, 2, 3},
    {"sizes_zero.mtx", ErrorCode::file_format, 2, 1},
    {"sizes_negative.mtx", ErrorCode::file_format, 2, 5},
    {"array_truncated.mtx", ErrorCode::file_format, 6, 1},
    {"array_two_on_a_line.mtx", ErrorCode::file_format, 3, 3},
};

/// The error of reading a text, or of a file when `text` is null.
Error refusal(const std::string& name, const std::string* text = nullptr, const ReadOptions& options = {}) {
  try {
    if (text) {
      parse_matrix_market(*text, name, options);
    } else {
      read_matrix_market(name, options);
    }
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::internal, name + " was accepted");
}
Error refusal_of(const std::string& text, const ReadOptions& options = {}) { return refusal("a.mtx", &text, options); }

bool says(const Error& error, const std::string& words) {
  return std::string(error.what()).find(words) != std::string::npos;
}

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

class BadFiles : public testing::TestWithParam<BadFile> {};

TEST_P(BadFiles, AreRefusedWithTheirPlace) {
  const auto& file = GetParam();
  const auto path = data + "bad/" + file.name;
  const auto error = refusal(path);
  EXPECT_STREQ(word(error.code()), word(file.code)) << error.what();
  EXPECT_EQ(error.where(), path + ":" + std::to_string(file.line) + ":" + std::to_string(file.column)) << error.what();
  EXPECT_GT(std::string(error.what()).size(), error.where().size() + 20) << "a sentence is missing";
}

INSTANTIATE_TEST_SUITE_P(Named, BadFiles, testing::ValuesIn(bad_files), [](const auto& chosen) {
  const std::string name = chosen.param.name;
  return name.substr(0, name.find('.'));
});

TEST(FileFailures, HeaderClaimsHugeNnzOrRows) {
  const auto nnz = refusal(data + "bad/claims_huge_nnz.mtx");
  EXPECT_TRUE(says(nnz, "promises 4000000000000 entries, and the 6 bytes after it can hold at most 1")) << nnz.what();
  // A legal claim of rows is still refused before allocation when it does not fit.
  ReadOptions small;
  small.memory_limit = 1 << 20;
  const auto rows = refusal_of(banner + "2000000000 2000000000 1\n1 1 1\n", small);
  EXPECT_EQ(rows.code(), ErrorCode::will_not_fit) << rows.what();
  EXPECT_EQ(rows.where(), "a.mtx:2:1");
  const auto within = parse_matrix_market(banner + "20000 5 1\n20000 5 1\n", "a.mtx", small);
  EXPECT_EQ(within.matrix.rows(), 20000);
}

TEST(FileFailures, Int32OverflowOfNnzOrIndex) {
  const auto error = refusal(data + "bad/index_overflows_int32.mtx");
  EXPECT_EQ(error.code(), ErrorCode::index_range);
  EXPECT_TRUE(says(error, "'4294967297'; legal are 1 to 3")) << error.what();
}

TEST(FileFailures, IndexZeroNegativeOrAboveN) {
  EXPECT_TRUE(says(refusal(data + "bad/index_zero.mtx"), "looks 0-based"));
  EXPECT_FALSE(says(refusal(data + "bad/index_negative.mtx"), "looks 0-based"));
  EXPECT_TRUE(says(refusal(data + "bad/index_above_n.mtx"), "column index is '4'; legal are 1 to 3"));
}

TEST(FileFailures, TruncatedSurplusNonNumericMissingValueNulFloatIndex) {
  EXPECT_TRUE(says(refusal(data + "bad/truncated.mtx"), "after 2 of the 3 entries"));
  EXPECT_TRUE(says(refusal(data + "bad/surplus_words.mtx"), "'end' comes after the last"));
  EXPECT_TRUE(says(refusal(data + "bad/value_not_numeric.mtx"), "'abc' is not a number"));
  EXPECT_TRUE(says(refusal(data + "bad/value_missing.mtx"), "ends before its value"));
  EXPECT_TRUE(says(refusal(data + "bad/nul_byte.mtx"), "NUL byte"));
  EXPECT_TRUE(says(refusal(data + "bad/index_is_float.mtx"), "'2.0' is not a whole number"));
}

TEST(FileFailures, NanInf1e400AreNamedByEntryAndDenormalsCounted) {
  std::string text = banner + "9 9 9\n";
  for (int i = 1; i <= 9; ++i)
    text += std::to_string(i) + " " + std::to_string(i) + (i < 3 ? " 1e-310\n" : i == 4 ? " 1e400\n" : " NaN\n");
  const auto error = refusal_of(text);
  EXPECT_EQ(error.code(), ErrorCode::nonfinite_value);
  EXPECT_EQ(error.where(), "a.mtx:5:5");
  EXPECT_TRUE(says(error, "7 values are not finite")) << error.what();
  EXPECT_TRUE(says(error, "'NaN' at (3, 3), '1e400' at (4, 4), 'NaN' at (5, 5), 'NaN' at (6, 6), 'NaN' at (7, 7), ..."))
      << error.what();
  ReadOptions options;
  options.allow_nonfinite = true;
  const auto file = parse_matrix_market(text, "a.mtx", options);
  EXPECT_EQ(file.notes.nonfinite, 7);
  EXPECT_EQ(file.notes.denormals, 2);
  EXPECT_EQ(file.matrix.at(3, 3), std::numeric_limits<double>::infinity());
}

TEST(FileFailures, Duplicates) {
  const auto path = data + "good/duplicates.mtx";
  const auto summed = read_matrix_market(path);
  EXPECT_EQ(summed.notes.duplicates, 1);
  EXPECT_EQ(summed.notes.explicit_zeros, 1);
  EXPECT_EQ(summed.matrix.at(1, 1), 4);
  ReadOptions options;
  options.duplicates = Duplicates::last;
  EXPECT_EQ(read_matrix_market(path, options).matrix.at(1, 1), 3);
  options.duplicates = Duplicates::refuse;
  const auto error = refusal(path, nullptr, options);
  EXPECT_EQ(error.code(), ErrorCode::duplicate_entry);
  EXPECT_EQ(error.where(), path + ":5:1");
  const auto overflow = refusal_of(banner + "1 1 2\n1 1 1e308\n1 1 1e308\n");
  EXPECT_EQ(overflow.code(), ErrorCode::nonfinite_value) << overflow.what();
}

TEST(FileFailures, SymmetricWithUpperEntrySkewWithDiagonalSymmetricNonSquare) {
  for (const auto* name : {"symmetric_with_upper_entry", "skew_with_diagonal", "symmetric_not_square"}) {
    EXPECT_EQ(refusal(data + "bad/" + name + ".mtx").code(), ErrorCode::symmetry) << name;
  }
}

TEST(FileFailures, UnsortedColumnsExplicitZerosAreSortedAndReported) {
  const auto file = parse_matrix_market(banner + "2 3 4\n2 3 1\n1 3 0\n2 1 2\n1 2 5\n", "a.mtx");
  EXPECT_FALSE(file.notes.sorted);
  EXPECT_EQ(file.notes.explicit_zeros, 1);
  EXPECT_EQ(file.matrix.nonzeros(), 4);
  EXPECT_EQ(file.matrix.column()[2], 0);
  EXPECT_EQ(file.matrix.at(1, 2), 1);
  EXPECT_TRUE(parse_matrix_market(banner + "2 2 2\n2 1 1\n1 2 1\n", "a.mtx").notes.sorted) << "column order is an order";
}

TEST(FileFailures, GzipTruncatedOrCorrupt) {
  for (const auto* name : {"gzip_truncated", "gzip_corrupt", "gzip_with_garbage_after"}) {
    const auto error = refusal(data + "bad/" + name + ".mtx.gz");
    EXPECT_EQ(error.code(), ErrorCode::file_format) << name << ": " << error.what();
    EXPECT_TRUE(says(error, "gzip")) << error.what();
  }
}

TEST(FileFailures, MissingDirectoryOrUnreadableFile) {
  const auto missing = refusal(data + "bad/there_is_no_such_file.mtx");
  EXPECT_EQ(missing.code(), ErrorCode::file_missing);
  EXPECT_TRUE(says(missing, "No such file"));
  const auto folder = refusal(data + "bad");
  EXPECT_EQ(folder.code(), ErrorCode::file_missing);
  EXPECT_TRUE(says(folder, "is a directory"));
  const auto path = testing::TempDir() + "echelon_unreadable_" + std::to_string(::getpid()) + ".mtx";
  std::ofstream(path) << banner;
  ::chmod(path.c_str(), 0);
  const auto child = ::fork();
  if (child == 0) {  // root may read every file, nobody may not
    if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(7);
    ::_exit(refusal(path).code() == ErrorCode::file_missing ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::unlink(path.c_str());
}

// The place does not depend on how the text was cut for threads: two bad lines, the first one is named.
TEST(FileFailures, FirstBadLineWhateverTheThreads) {
  constexpr int n = 40000;
  for (const int first : {10, 15000, 25000, 39990}) {
    for (const char* how : {"malformed", "surplus", "nan"}) {
      std::string text = banner + "40000 40000 " + std::to_string(how[0] == 's' ? first : n) + "\n";
      for (int i = 0; i < n; ++i) {
        const bool bad = how[0] == 'm' && (i == first || i == n - 5), nan = how[0] == 'n' && i >= first;
        text += std::to_string(i + 1) + " 1 " + (bad ? "oops" : nan ? "nan" : "1.25") + "\n";
      }
      for (const int count : {1, 2, 3, 7}) {
        set_threads(count);
        const auto error = refusal_of(text);
        const int column = how[0] == 's' ? 1 : static_cast<int>(std::to_string(first + 1).size()) + 4;
        EXPECT_EQ(error.where(), "a.mtx:" + std::to_string(first + 3) + ":" + std::to_string(column))
            << how << " " << error.what();
      }
    }
  }
  set_threads(0);
}

// In a child with ever less address space the reader must end in an Error, never in a crash.
TEST(FileFailures, AllocationFailureIsAnError) {
  if (echelon::test::sanitized()) GTEST_SKIP() << "sanitizers need the address space themselves";
  const auto path = testing::TempDir() + "echelon_allocation_failure_" + std::to_string(::getpid()) + ".mtx";
  {
    std::ofstream out(path);
    out << banner << "300000 300000 300000\n";
    for (int i = 1; i <= 300000; ++i) out << i << ' ' << i << " 1.5\n";
  }
  int failed = 0, succeeded = 0;
  for (rlim_t extra = 0; extra <= (rlim_t{64} << 20); extra += rlim_t{2} << 20) {
    const auto child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      set_threads(1);
      std::ifstream statm("/proc/self/statm");
      rlim_t pages = 0;
      statm >> pages;
      const rlim_t room = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + extra;
      const rlimit limit{room, room};
      ::setrlimit(RLIMIT_AS, &limit);
      const auto code = refusal(path).code();
      ::_exit(code == ErrorCode::internal ? 0 : code == ErrorCode::out_of_memory || code == ErrorCode::will_not_fit ? 3 : 9);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " with " << extra << " bytes more";
    EXPECT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3) << WEXITSTATUS(status);
    ++(WEXITSTATUS(status) == 0 ? succeeded : failed);
  }
  ::unlink(path.c_str());
  EXPECT_GT(failed, 2);
  EXPECT_GT(succeeded, 2);
}

}  // namespace
}  // namespace echelon
