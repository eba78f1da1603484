// SPDX-License-Identifier: BSD-3-Clause
#include "bench/program/dbsr/ilu_form.hpp"

#include "bench/measure/work_model.hpp"
#include "echelon/base/error.hpp"
#include "echelon/precond/ilu/ilu.hpp"

namespace echelon::bench {
namespace {

/// The library's exact sweeps on the grid, threads along lines.
template <class T>
class LinesForm final : public IluForm<T> {
 public:
  explicit LinesForm(const StructMatrix<T>& A) : A_(A), M_(ilu(A_, options())) { require(M_.report()); }
  void factor() override { require(M_.refactor(A_)); }
  void sweep(const Vector<T>& r, Vector<T>& x) const override { M_.apply(r, x); }
  void multiply(const Vector<T>& x, Vector<T>& y) const override { A_.apply(x, y); }
  std::int64_t length() const override { return A_.rows(); }
  double sweep_bytes() const override {
    const double value = sizeof(T), points = static_cast<double>(A_.rows());
    return value * (static_cast<double>(A_.nonzeros()) + 4 * points);
  }
  StorageSplit storage() const override {
    const double value = sizeof(T), nonzeros = value * static_cast<double>(A_.nonzeros());
    return {nonzeros, value * static_cast<double>(A_.values().size()) - nonzeros, 0, 0, 0};
  }
  std::string description() const override { return M_.report().kernel + ", " + M_.report().schedule; }

 private:
  static IluOptions options() {
    IluOptions o;
    o.shift = ShiftPolicy::none;
    o.precision = sizeof(T) == 8 ? Stored::fp64 : Stored::fp32;
    return o;
  }
  static void require(const FactorReport& report) {
    if (!report.ok) throw Error(ErrorCode::structure, report.message);
  }
  const StructMatrix<T>& A_;
  Ilu<T> M_;
};

}  // namespace

std::vector<Strategy> solve_strategies() {
  using enum Elimination;
  return {{"serial", natural, Format::csr, 1, true},
          {"bj", slabs, Format::csr, 1},
          {"mc", points, Format::csr, 1},
          {"bmc-fix", fixed_blocks, Format::csr, 1},
          {"bmc-auto", auto_blocks, Format::csr, 1},
          {"dbsr-fix", fixed_blocks, Format::dbsr_plain},
          {"dbsr-auto", auto_blocks, Format::dbsr_plain},
          {"simd-fix", fixed_blocks, Format::dbsr},
          {"simd-auto", auto_blocks, Format::dbsr},
          {"lines", natural, Format::lines}};
}

std::string same_answer(const Strategy& strategy) {
  switch (strategy.order) {
    case Elimination::natural: return "natural order";
    case Elimination::fixed_blocks: return "fixed blocks";
    case Elimination::auto_blocks: return "automatic blocks";
    default: return "";
  }
}

template <class T>
void IluForm<T>::permute(std::span<const double> natural, Vector<T>& own) const {
  const auto places = this->places();
  for (std::int64_t p = 0; p < own.size(); ++p) own[p] = 0;
  for (std::size_t n = 0; n < natural.size(); ++n) {
    own[places.empty() ? static_cast<std::int64_t>(n) : places[n]] = static_cast<T>(natural[n]);
  }
}

template <class T>
void IluForm<T>::permute_back(const Vector<T>& own, std::span<double> natural) const {
  const auto places = this->places();
  for (std::size_t n = 0; n < natural.size(); ++n) {
    natural[n] = static_cast<double>(own[places.empty() ? static_cast<std::int64_t>(n) : places[n]]);
  }
}

template <class T>
std::unique_ptr<IluForm<T>> make_form(const StructMatrix<T>& A, const Strategy& strategy) {
  if (strategy.format == Format::lines) return std::make_unique<LinesForm<T>>(A);
  return strategy.format == Format::csr ? make_csr_form(A, strategy) : make_dbsr_form(A, strategy);
}

template class IluForm<double>;
template class IluForm<float>;
template std::unique_ptr<IluForm<double>> make_form(const StructMatrix<double>&, const Strategy&);
template std::unique_ptr<IluForm<float>> make_form(const StructMatrix<float>&, const Strategy&);

}  // namespace echelon::bench
