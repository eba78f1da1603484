// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/report/json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "echelon/base/version.hpp"

namespace echelon {
namespace {

TEST(Json, NonfiniteNumbersBecomeNull) {
  RunReport run;
  run.command = "solve";
  run.result.relative_residual = std::numeric_limits<double>::quiet_NaN();
  run.result.nrbe = std::numeric_limits<double>::infinity();
  run.result.history = {1, std::numeric_limits<double>::quiet_NaN()};
  const auto json = nlohmann::json::parse(to_json(run));
  EXPECT_TRUE(json["relative_residual"].is_null());
  EXPECT_TRUE(json["nrbe"].is_null());
  EXPECT_EQ(json["history"][0], 1);
  EXPECT_TRUE(json["history"][1].is_null());
  EXPECT_EQ(json["echelon_version"], version());
}

TEST(Json, NumbersReadBackToTheSameBits) {
  RunReport run;
  run.result.relative_residual = 1.0 / 3;
  run.result.history = {5e-324, 1.7976931348623157e308};
  const auto json = nlohmann::json::parse(to_json(run));
  EXPECT_EQ(json["relative_residual"].get<double>(), 1.0 / 3);
  EXPECT_EQ(json["history"][0].get<double>(), 5e-324);
  EXPECT_EQ(json["history"][1].get<double>(), 1.7976931348623157e308);
}

TEST(Json, PivotsCountRowsFromOne) {
  RunReport run;
  PivotNote note;
  note.row = 56;
  run.result.preconditioner.bad_pivots = {note};
  EXPECT_EQ(nlohmann::json::parse(to_json(run))["preconditioner"]["bad_pivots"][0]["row"], 57);
}

TEST(Json, SaysWhichKernelFactored) {
  RunReport run;
  EXPECT_TRUE(nlohmann::json::parse(to_json(run))["preconditioner"]["factor_kernel"].is_null());
  run.result.preconditioner.factor_kernel = "tiles, b=4";
  EXPECT_EQ(nlohmann::json::parse(to_json(run))["preconditioner"]["factor_kernel"], "tiles, b=4");
}

TEST(Json, AnErrorHasCodeMessageAndPlace) {
  const auto json = nlohmann::json::parse(
      error_json("solve", {"solve", "--x"}, Error(ErrorCode::file_format, "not a number", "A.mtx:3:1")));
  EXPECT_EQ(json["error"]["code"], "file_format");
  EXPECT_EQ(json["error"]["where"], "A.mtx:3:1");
  EXPECT_EQ(json["converged"], false);
  EXPECT_EQ(json["arguments"].size(), 2u);
}

TEST(Json, PathsThatAreNotUtf8AreReplaced) {
  RunReport run;
  run.problem.name = "bad\xff.mtx";
  EXPECT_EQ(nlohmann::json::parse(to_json(run))["problem"]["name"], "bad\xef\xbf\xbd.mtx");
}

}  // namespace
}  // namespace echelon
