// SPDX-License-Identifier: BSD-3-Clause
// EXPECT_ERROR(statement, code, "part of the sentence"): the statement throws echelon::Error with that code, and the
// sentence (with its place) contains the words.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "echelon/base/error.hpp"

#define EXPECT_ERROR(statement, expected_code, words)                                                          \
  do {                                                                                                         \
    bool thrown = false;                                                                                       \
    try {                                                                                                      \
      statement;                                                                                               \
    } catch (const echelon::Error& error) {                                                                    \
      thrown = true;                                                                                           \
      EXPECT_STREQ(echelon::word(error.code()), echelon::word(echelon::ErrorCode::expected_code));             \
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << "the sentence: " << error.what(); \
    }                                                                                                          \
    EXPECT_TRUE(thrown) << #statement " threw nothing";                                                        \
  } while (false)
