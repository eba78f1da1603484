// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/precond/ilu/converted_ilu.hpp"

#include "echelon/factor/grid_checks.hpp"

namespace echelon {
namespace {

template <class T>
class ConvertedIlu final : public Ilu<T>::Impl {
 public:
  ConvertedIlu(const StructMatrix<T>& A, const IluOptions& options, FactorCsr<T> factor)
      : grid_(A.grid()), stencil_(A.stencil()), dof_(A.dof()), inner_(factor(to_block_csr(A), options)) {
    take_report();
  }
  void apply(const Vector<T>& r, Vector<T>& z) const override { inner_.apply(r, z); }
  void refactor(const BlockCsr<T>& A) override { Ilu<T>::Impl::refactor(A); }
  void refactor(const StructMatrix<T>& A) override {
    require_same_shape(A, grid_, stencil_, dof_);
    static_cast<void>(inner_.refactor(to_block_csr(A)));
    take_report();
  }
  BlockCsr<T> lower() const override { return inner_.lower(); }
  BlockCsr<T> upper() const override { return inner_.upper(); }
  std::span<const std::int32_t> order() const override { return inner_.order(); }
  std::span<const std::int32_t> column_order() const override { return inner_.column_order(); }
  const Triangles<T>* triangles() const override { return inner_.triangles(); }

 private:
  void take_report() {
    this->report = inner_.report();
    this->report.remarks.push_back(
        "the structured matrix was converted to block CSR: its order, fill or sweeps leave the grid's; refactor allocates "
        "the copy");
    name_grid_points(grid_, dof_, this->report);
  }

  Grid grid_;
  Stencil stencil_;
  int dof_;
  Ilu<T> inner_;
};

}  // namespace

template <class T>
std::unique_ptr<typename Ilu<T>::Impl> converted_ilu(const StructMatrix<T>& A, const IluOptions& options,
                                                     FactorCsr<T> factor) {
  return std::make_unique<ConvertedIlu<T>>(A, options, factor);
}

template std::unique_ptr<Ilu<double>::Impl> converted_ilu(const StructMatrix<double>&, const IluOptions&, FactorCsr<double>);
template std::unique_ptr<Ilu<float>::Impl> converted_ilu(const StructMatrix<float>&, const IluOptions&, FactorCsr<float>);

}  // namespace echelon
