// SPDX-License-Identifier: BSD-3-Clause
// The options of `echelon bench` as plain data. Names, defaults and meanings are those of docs/guide/options.md.
#pragma once

#include <string>
#include <vector>

namespace echelon::cli {

struct BenchOptions {
  std::string kind;
  std::string backend = "host";
  std::string column = "rtx3090";  // of sizes on a GPU
  std::vector<int> threads;        // empty: one, and as many as there are
  int rounds = 0;                  // 0: by the kind
  std::string only;                // cases whose name contains this
  std::string matrices;            // folder of Matrix Market files, of block
  std::vector<std::string> peers;  // empty: all that are known
  std::string contenders;          // folder; empty: beside the program
  double contender_limit = 600;    // seconds a contender may take for one case
  bool small = false, large = false;
  std::vector<std::string> methods;  // of dbsr and hpcg; empty: all
  std::vector<int> ranks;            // of hpcg; empty: one, and as many as there are cores
  std::string xhpcg;                 // a reference program of HPCG
  double seconds = 10;               // of timed sets, of hpcg
  std::string machine, commit;
  std::string from;  // an earlier run's report: shown again, nothing is measured
  std::string json, plot;
  std::string spy;  // of trisolve
  bool quiet = false;
};

}  // namespace echelon::cli
