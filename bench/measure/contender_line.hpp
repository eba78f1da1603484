// SPDX-License-Identifier: BSD-3-Clause
// What a contender says: a line of JSON on its standard output, on a GPU one for each operation it was asked. A vector is
// told by two numbers, ‖z‖ and Σ z_i cos(0.7 i), which the program compares with its own before the times count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "echelon/base/array.hpp"
#include "echelon/report/bench_report.hpp"

namespace echelon::bench {

struct Fingerprint {
  double norm = 0, probe = 0;
};
Fingerprint fingerprint(const Vector<double>& z);
/// Norms within `tolerance` of each other, probes within ten times that of the norm.
bool agree(const Fingerprint& a, const Fingerprint& b, double tolerance);

struct ContenderLine {
  std::string operation;       // on a GPU: "lower", "upper", "product" or "factor"; of mg "default", "best" or "smg"
  std::string contender;       // "PETSc 3.18.5"
  std::string method;          // "SEQAIJ ILU(0)"
  std::string not_applicable;  // why this contender has nothing for the case; then nothing else counts
  bool same_method = true;     // false: another preconditioner, whose answer is compared only roughly
  int ranks = 1;
  double seconds = 0;        // of the kind: an application, a set-up, or set-up and iteration together
  double setup_seconds = 0;  // on a GPU: the analysis of the pattern, warm
  std::int64_t iterations = 0;
  double relative_residual = 0;  // of a solve: ‖b − A x‖/‖b‖ recomputed with our matrix from the contender's x
  Fingerprint answer;
  std::vector<TimePart> parts;  // of a solve on a GPU: what `seconds` is made of
  ResidualHistory history;      // of mg

  static ContenderLine nothing(const std::string& contender, const std::string& why);
};

std::string to_line(const ContenderLine& line);
/// Reads the last line of a contender's output; throws Error(file_format) with what was there instead.
ContenderLine from_line(const std::string& output);
/// Every line that is one, in order: what a contender said before it died counts.
std::vector<ContenderLine> from_lines(const std::string& output);

}  // namespace echelon::bench
