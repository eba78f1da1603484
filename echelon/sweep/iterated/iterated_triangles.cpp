// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/sweep/iterated/iterated_triangles.hpp"

#include <fmt/format.h>

#include "echelon/base/timer.hpp"

namespace echelon {

template <class T>
bool IteratedTriangles<T>::prepare(const Triangles<T>& factors, const TrisolveOptions& options, FactorReport& report) {
  const Timer timer;
  TrisolveNote& note = report.trisolve.emplace();
  const bool blocks = options.rows_a_block > 1;
  note.asked = word(options.method);
  note.sweeps = options.sweeps;
  if (options.method == Trisolve::jacobi) note.form = word(blocks ? JacobiForm::compact : options.form);
  note.damping = options.damping;
  note.rows_a_block = options.rows_a_block;
  note.scaling = word(options.scaling);
  const auto scales = [&](FactorScaling one) { return options.scaling == one || options.scaling == FactorScaling::both; };
  lower_.prepare(lower_view(factors), options, scales(FactorScaling::lower), scratch_.own().lower);
  upper_.prepare(upper_view(factors), options, scales(FactorScaling::upper), scratch_.own().upper);
  size_ = factors.rows * factors.block;
  fit_between(scratch_.own());
  note.lower = lower_.note();
  note.upper = upper_.note();
  note.used = blocks ? "block jacobi" : word(options.method);
  for (const bool lower : {true, false}) {
    const std::string& objection = (lower ? lower_ : upper_).objection();
    if (!objection.empty()) note.why += fmt::format("{}{}: {}", note.why.empty() ? "" : "; ", lower ? 'L' : 'U', objection);
  }
  const bool taken_over = !note.why.empty() && options.guard;
  if (taken_over) {
    report.remarks.push_back(fmt::format("{} would not converge ({}): exact sweeps take over", note.used, note.why));
    note.used = "exact";
  } else if (!note.why.empty()) {
    report.remarks.push_back(fmt::format("{} is not expected to converge ({}), and the guard is off", note.used, note.why));
  }
  note.seconds = timer.seconds();
  return !taken_over;
}

template <class T>
void IteratedTriangles<T>::fit_between(Scratch& scratch) const {
  if (lower_.is_scaled() && scratch.between.size() != size_) scratch.between = Array<T>(size_);
}

template <class T>
void IteratedTriangles<T>::apply(const T* r, T* x) const {
  auto scratch = scratch_.take([this](Scratch& spare) {
    lower_.fit(spare.lower);
    upper_.fit(spare.upper);
    fit_between(spare);
  });
  const T* y = lower_.run(r, scratch->lower);
  if (lower_.is_scaled()) {
    lower_.finish(y, scratch->between.data());
    y = scratch->between.data();
  }
  upper_.finish(upper_.run(y, scratch->upper), x);
}

template class IteratedTriangles<double>;
template class IteratedTriangles<float>;

}  // namespace echelon
