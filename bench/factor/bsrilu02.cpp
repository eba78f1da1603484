// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's bsrilu02 on BSR, with level information; U⁻¹ L⁻¹ r by bsrsv2 is the answer.
#include "bench/cusparse/measured.hpp"
#include "bench/cusparse/triangular_solves.hpp"

namespace {

using namespace echelon::bench;
using echelon::Triangle;

constexpr auto by_columns = CUSPARSE_DIRECTION_COLUMN;
constexpr auto with_levels = CUSPARSE_SOLVE_POLICY_USE_LEVEL;

class Bsrilu02 {
 public:
  Bsrilu02(const CusparseSession& session, DeviceRows& rows) : handle_(session.handle), rows_(rows) {
    check(cusparseCreateBsrilu02Info(&plan_), "cusparseCreateBsrilu02Info");
    int bytes = 0;
    check(
        cusparseDbsrilu02_bufferSize(handle_, by_columns, rows_.rows, rows_.nonzeros, description_.get, rows_.values.data(),
                                     rows_.row_start.data(), rows_.column.data(), rows_.block, plan_, &bytes),
        "cusparseDbsrilu02_bufferSize");
    scratch_ = scratch(static_cast<std::size_t>(bytes));
  }
  ~Bsrilu02() { cusparseDestroyBsrilu02Info(plan_); }
  Bsrilu02(const Bsrilu02&) = delete;
  Bsrilu02& operator=(const Bsrilu02&) = delete;

  void analyse() {
    check(cusparseDbsrilu02_analysis(handle_, by_columns, rows_.rows, rows_.nonzeros, description_.get, rows_.values.data(),
                                     rows_.row_start.data(), rows_.column.data(), rows_.block, plan_, with_levels,
                                     scratch_.data()),
          "cusparseDbsrilu02_analysis");
  }
  void factor() {
    check(cusparseDbsrilu02(handle_, by_columns, rows_.rows, rows_.nonzeros, description_.get, rows_.values.data(),
                            rows_.row_start.data(), rows_.column.data(), rows_.block, plan_, with_levels, scratch_.data()),
          "cusparseDbsrilu02");
  }

 private:
  cusparseHandle_t handle_;
  DeviceRows& rows_;
  CusparseDescription description_;
  bsrilu02Info_t plan_ = nullptr;
  echelon::Array<char> scratch_;
};

template <class Say>
void measure(const CusparseSession& session, const BenchCase& one, const Say& say) {
  if (one.dof == 1) return say(ContenderLine::nothing(session.name, "bsrilu02 is for blocks"));
  const auto shape = ValueShape::of(one, ValueKind::matrix);
  auto rows = device_rows(shape, {0, shape.entries}, false);
  ContenderLine line;
  line.contender = session.name;
  line.method = "bsrilu02";
  line.operation = "factor";
  {
    const auto values = rows.values.clone();
    Bsrilu02 ilu(session, rows);
    line.setup_seconds = device_measure()->seconds([&] { ilu.analyse(); });
    line.seconds = cusparse_seconds([&] { ilu.factor(); }, [&] { rows.values.copy_from(values); });
  }
  CaseVectors vectors(one);
  echelon::Vector<double> y(one.rows(), echelon::Device::cuda());
  Bsrsv2Solve lower(session, rows, Triangle::lower, {vectors.r.data(), y.data()});
  Bsrsv2Solve upper(session, rows, Triangle::upper, {y.data(), vectors.x.data()});
  for (auto* solve : {&lower, &upper}) {
    solve->analyse();
    solve->solve();
  }
  line.answer = vectors.answer();
  say(line);
}

}  // namespace

int main(int argc, char** argv) {
  return cusparse_main("factor", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    measure(session, one, say);
  });
}
