// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/base/utf8.hpp"

#include <gtest/gtest.h>

namespace echelon {
namespace {

TEST(Utf8, WhatIsRightStays) {
  for (const char* text : {"", "plain", "Näherung", "日本", "\xf0\x9f\x99\x82", "tab\tand\nline"}) {
    EXPECT_EQ(valid_utf8(text), text);
  }
}

TEST(Utf8, EveryWrongByteBecomesTheReplacement) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a" + r + "b");
  EXPECT_EQ(valid_utf8("\xc3"), r) << "cut off";
  EXPECT_EQ(valid_utf8("\xc0\xaf"), r + r) << "longer than needed";
  EXPECT_EQ(valid_utf8("\xe0\x80\xaf"), r + r + r);
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), r + r + r) << "half of a pair of UTF-16";
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), r + r + r + r) << "beyond the last character";
  EXPECT_EQ(valid_utf8("\xef\xbf\xbf"), r) << "no character of XML";
}

TEST(Printable, NothingActsOnATerminal) {
  EXPECT_EQ(printable("A.mtx, Näherung 日本"), "A.mtx, Näherung 日本");
  EXPECT_EQ(printable("\x1b[2Jx\x07\r\n\t\x7f"), "\\x1b[2Jx\\x07\\r\\n\\t\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u{9b}31m")
      << "the same as ESC [ in two bytes";
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u{202e}") << "turns the direction of writing";
  EXPECT_EQ(printable("\x9b\xff"), "\\x9b\\xff");
  EXPECT_EQ(printable(printable("\x1b\n")), printable("\x1b\n"));
  EXPECT_EQ(printable_lines("two\nlines\x1b\r\n"), "two\nlines\\x1b\\r\n");
}

}  // namespace
}  // namespace echelon
