// SPDX-License-Identifier: BSD-3-Clause
// New values into the factors of a block CSR matrix on a GPU: rows prepared (factor/rows_gpu/row_prepare), eliminated
// (row_factor) and bounded (row_bounds), all queued together; whatever the host asks for comes in one wait. Values of
// another pattern are found out on the device and leave the factors as they are.
#pragma once

#include <optional>
#include <string>

#include "echelon/factor/pivots/factor_bounds.hpp"
#include "echelon/factor/rows_gpu/row_factor_view.hpp"
#include "echelon/sweep/rows_gpu/row_sweeps.hpp"

namespace echelon {

/// "refactor needs the same pattern": Error(structure).
[[noreturn]] void refuse_pattern();

class DeviceBlockFactor {
 public:
  /// Of A and its factors, in blocks.
  struct Size {
    std::int64_t entries_of_A = 0, lower_entries = 0, upper_entries = 0;
    int longest = 1;          // entries of a row, the diagonal among them
    double mean_entries = 0;  // of L and of U, together
    double far_rows = 0;      // the part of all rows that wait for none that is near
    bool eliminates = true;   // or only prepares for others
  };

  DeviceBlockFactor() = default;
  /// `rows` without A; `tickets` may be null. `title` ("ILU(0)") is for messages. What is pointed to must outlive this.
  DeviceBlockFactor(const FactorView<double>& rows, const std::int32_t* tickets, const Size& size, Device device,
                    std::string title);

  /// Memory that rows pass words through, for `prepare`; empty where little is needed, which stays here.
  Array<RowSweepWord> words_to_lend() const;
  /// Before the attempts with new values, whose number of entries is that of the first. Queued where rows are eliminated,
  /// since a pattern with another fingerprint finds all tickets given away; others wait, and refuse it here.
  void prepare(const BlockCsr<double>& A, Array<RowSweepWord>& lent);
  /// The status is clear for an attempt by somebody else.
  void begin();
  /// An attempt, and what it met. Refuses another pattern; throws Error(device) when a row waited in vain.
  FactorStatus eliminate(const PivotRules& rules, RowSweeps& sweeps);
  /// The same of an attempt by somebody else.
  FactorStatus read();
  /// ‖(LU)⁻¹e‖∞·‖A‖∞ of the last elimination, or a bound on it that says enough.
  double growth(RowSweeps& sweeps);

  const FactorView<double>& rows() const { return view_.rows; }
  const RowMeasures& known() const { return view_.known; }
  FactorStatus* status() const { return view_.status; }
  /// A vector that is free between attempts; max |a| of the block rows where they do not measure themselves.
  Array<double>& vector() { return estimate_; }
  const Array<double>& scale() const { return scale_; }
  double norm() const { return norm_; }
  /// Which kernel eliminates, for reports.
  const std::string& kernel() const { return launch_.kernel; }
  std::int64_t bytes() const;

  /// For tests: nobody takes the first so many rows of the next factorization, and waits are given up after so long.
  void leave_out(int rows, double patience_seconds);

 private:
  bool stops_by_itself() const;
  /// The first time notes what the pattern is known by; later throws where it differs.
  void note_or_compare_pattern(const RowFactorNumbers& found);
  void sweep_for_growth(RowSweeps& sweeps);
  void read_growth(RowSweeps& sweeps);
  FactorStatus judged(const RowFactorNumbers& found);

  Device device_;
  Size size_;
  std::string title_;
  std::optional<std::uint64_t> fingerprint_;  // of A's pattern, once a pass has found it
  Array<double> estimate_, scale_;
  Array<std::uint8_t> nonfinite_;
  Array<unsigned long long> growth_bits_;
  Array<unsigned> finished_;
  Array<RowFactorNumbers> numbers_;
  Array<RowSweepWord> words_;
  Array<unsigned char> scratch_;
  RowMeets meets_;
  bool met_ = false;
  RowFactorView view_;
  RowFactorLaunch launch_;
  RowPreparation preparation_;
  bool prepared_ = false;  // for the attempt that comes
  double norm_ = 0;
  FactorBounds bounds_;        // of the last elimination
  double inverse_growth_ = 0;  // ‖(LU)⁻¹e‖∞, where it was swept for
  bool sweep_ahead_ = false;   // the last bound said too little
};

}  // namespace echelon
