// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/ilu_gpu/device_block_factor.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "echelon/base/cleared_array.hpp"
#include "echelon/base/cuda/device_numbers.hpp"
#include "echelon/base/error.hpp"
#include "echelon/base/ordinal.hpp"

namespace echelon {
namespace {

/// What is waited for takes microseconds; a GPU that is shared or stopped by a debugger may take seconds.
constexpr double patience_seconds = 20;
/// Tickets are counted in 32 bits, up to four rows each.
constexpr std::int64_t most_stopped_rows = std::int64_t{1} << 29;
/// To take memory costs as much as to launch a kernel.
constexpr std::int64_t most_kept_words = std::int64_t{1} << 16;

template <std::size_t N>
void fetch(Device device, const DeviceNumbers (&pieces)[N]) {
  number_kernels()->fetch(device.index, std::span(pieces));
}

}  // namespace

void refuse_pattern() {
  throw Error(ErrorCode::structure, "refactor on a GPU needs the place, block size and pattern of the first factorization");
}

DeviceBlockFactor::DeviceBlockFactor(const FactorView<double>& rows, const std::int32_t* tickets, const Size& size,
                                     Device device, std::string title)
    : device_(device), size_(size), title_(std::move(title)) {
  const std::int64_t n = rows.A.block_rows;
  estimate_ = Array<double>(n * rows.A.block, device);
  scale_ = Array<double>(n, device);
  nonfinite_ = Array<std::uint8_t>(n, device);
  growth_bits_ = cleared_array<unsigned long long>(1, device);
  finished_ = cleared_array<unsigned>(n, device);
  numbers_ = cleared_array<RowFactorNumbers>(1, device);
  RowFactorView& v = view_;
  v.rows = rows;
  v.longest = size.longest;
  v.known = {scale_.data(), nonfinite_.data(), nullptr};
  v.tickets = tickets;
  v.finished = finished_.data();
  v.status = &numbers_.data()->status;
  v.patience = static_cast<std::int64_t>(patience_seconds * 1e9);
  v.estimate = estimate_.data();
  preparation_.entries = size.entries_of_A;
  preparation_.numbers = numbers_.data();
  if (!size.eliminates) return;
  meets_ = RowMeets(
      {n, size.lower_entries, size.upper_entries, size.entries_of_A, rows.A.block, v.longest, !rows.grown && !rows.order},
      device);
  v.meets = meets_.view();
  const bool met_scalars = v.meets.kept() && rows.A.block == 1;
  v.share_warps = met_scalars && RowMeetsSize::share_warps(n, v.meets.stride, size.far_rows);
  v.dealt = 2 * size.far_rows > 1 && (v.in_tiles() || (met_scalars && RowMeetsSize::deal_out(n, v.meets.stride)));
  launch_ = row_factor_kernels()->plan(device.index, v, size.mean_entries + 1, size.upper_entries);
  scratch_ = Array<unsigned char>(launch_.scratch_bytes * launch_.warps, device);
  v.entries_in_shared = launch_.entries_in_shared;
  v.scratch = scratch_.data();
  v.scratch_bytes = launch_.scratch_bytes;
  if (launch_.words <= most_kept_words) words_ = Array<RowSweepWord>(launch_.words, device);
}

std::int64_t DeviceBlockFactor::bytes() const {
  return estimate_.bytes() + scale_.bytes() + nonfinite_.bytes() + finished_.bytes() + numbers_.bytes() + words_.bytes() +
         scratch_.bytes() + meets_.bytes();
}

Array<RowSweepWord> DeviceBlockFactor::words_to_lend() const {
  return words_.size() < launch_.words ? Array<RowSweepWord>(launch_.words, device_) : Array<RowSweepWord>();
}

bool DeviceBlockFactor::stops_by_itself() const { return size_.eliminates && view_.rows.A.block_rows < most_stopped_rows; }

void DeviceBlockFactor::prepare(const BlockCsr<double>& A, Array<RowSweepWord>& lent) {
  if (A.block_rows() == 0) return;
  view_.rows.A = A.view();
  view_.words = launch_.words > 0 ? (lent.empty() ? words_ : lent).data() : nullptr;
  RowPreparation& p = preparation_;
  p.A = A.view();
  p.turn = 1 - p.turn;
  view_.known.norm = &numbers_.data()->found[p.turn].norm;
  p.known = view_.known;
  p.measure = !view_.measured_by_rows();
  p.compare = fingerprint_.has_value();
  p.expected = fingerprint_.value_or(0);
  p.words = view_.words;
  p.word_count = launch_.words;
  row_factor_kernels()->prepare(device_.index, p);
  prepared_ = true;
  if (!p.compare || stops_by_itself()) return;
  RowFactorNumbers found;
  fetch(device_, {{numbers_.data(), &found, sizeof found}});
  note_or_compare_pattern(found);
}

void DeviceBlockFactor::note_or_compare_pattern(const RowFactorNumbers& found) {
  const std::uint64_t now = found.found[preparation_.turn].fingerprint;
  if (!fingerprint_) fingerprint_ = now;
  if (now != *fingerprint_) refuse_pattern();
}

void DeviceBlockFactor::begin() {
  if (!std::exchange(prepared_, false)) row_factor_kernels()->begin_again(device_.index, preparation_);
}

FactorStatus DeviceBlockFactor::eliminate(const PivotRules& rules, RowSweeps& sweeps) {
  begin();
  // How rows meet is found once; its time is the first factorization's.
  if (!std::exchange(met_, true)) row_factor_kernels()->meet(device_.index, view_);
  view_.rows.rules = rules;
  ++view_.epoch;
  row_factor_kernels()->start(device_.index, view_, launch_);
  view_.first_ticket = 0;
  row_factor_kernels()->bound(device_.index, view_);
  if (sweep_ahead_) sweep_for_growth(sweeps);
  RowFactorNumbers found;
  if (sweep_ahead_) {
    RowSweepState after;
    fetch(device_, {{numbers_.data(), &found, sizeof found},
                    {growth_bits_.data(), &inverse_growth_, sizeof inverse_growth_},
                    {sweeps.state(), &after, sizeof after}});
    const FactorStatus status = judged(found);
    sweeps.check(after);
    return status;
  }
  return read();
}

FactorStatus DeviceBlockFactor::read() {
  RowFactorNumbers found;
  fetch(device_, {{numbers_.data(), &found, sizeof found}});
  return judged(found);
}

FactorStatus DeviceBlockFactor::judged(const RowFactorNumbers& found) {
  note_or_compare_pattern(found);
  const FactorStatus& status = found.status;
  if (status.stuck_tile != 0) {
    throw Error(ErrorCode::device, fmt::format("{} on {}: row {} waited more than {} s for row {}, which never came", title_,
                                               device_.name(), Ordinal{status.stuck_tile - 1},
                                               static_cast<double>(view_.patience) * 1e-9, Ordinal{status.stuck_level}));
  }
  norm_ = std::bit_cast<double>(found.found[preparation_.turn].norm);
  bounds_ = bounds_in(status);
  return status;
}

/// An elimination leaves L⁻¹e: the other half. Queued.
void DeviceBlockFactor::sweep_for_growth(RowSweeps& sweeps) {
  sweeps.upper(estimate_.data(), estimate_.data());
  number_kernels()->largest(device_.index, estimate_.data(), estimate_.size(), growth_bits_.data());
}

void DeviceBlockFactor::read_growth(RowSweeps& sweeps) {
  RowSweepState after;
  fetch(device_, {{growth_bits_.data(), &inverse_growth_, sizeof inverse_growth_}, {sweeps.state(), &after, sizeof after}});
  sweeps.check(after);
}

double DeviceBlockFactor::growth(RowSweeps& sweeps) {
  const bool swept = std::exchange(sweep_ahead_, false);
  return growth_by(bounds_.of_inverse(), norm_, [&] {
    // Values that come next are likely to be alike: then nothing is waited for twice.
    sweep_ahead_ = true;
    if (!swept) {
      sweep_for_growth(sweeps);
      read_growth(sweeps);
    }
    return std::isfinite(inverse_growth_) ? inverse_growth_ : std::numeric_limits<double>::infinity();
  });
}

void DeviceBlockFactor::leave_out(int rows, double patience) {
  view_.first_ticket = static_cast<unsigned>(rows);
  view_.patience = static_cast<std::int64_t>(patience * 1e9);
}

}  // namespace echelon
