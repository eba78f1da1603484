// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's SpMV on CSR of scalars, y = T x with T = L + D⁻¹ + U as our sweeps store them.
#include "bench/cusparse/measured.hpp"
#include "bench/cusparse/rows.hpp"

namespace {

using namespace echelon::bench;

constexpr double unit = 1, zero = 0;
constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto algorithm = CUSPARSE_SPMV_ALG_DEFAULT;

template <class Say>
void measure(const CusparseSession& session, const BenchCase& one, const Say& say) {
  const auto shape = ValueShape::of(one, ValueKind::factors_inverted);
  auto rows = device_rows(shape, {0, shape.entries}, true);
  CaseVectors vectors(one);
  cusparseSpMatDescr_t A = nullptr;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
  check(cusparseCreateCsr(&A, rows.rows, rows.rows, rows.nonzeros, rows.row_start.data(), rows.column.data(),
                          rows.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
        "cusparseCreateCsr");
  check(cusparseCreateDnVec(&x, rows.rows, vectors.r.data(), CUDA_R_64F), "cusparseCreateDnVec");
  check(cusparseCreateDnVec(&y, rows.rows, vectors.x.data(), CUDA_R_64F), "cusparseCreateDnVec");
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(session.handle, plain, &unit, A, x, &zero, y, CUDA_R_64F, algorithm, &bytes),
        "cusparseSpMV_bufferSize");
  auto memory = scratch(bytes);
  ContenderLine line;
  line.contender = session.name;
  line.method = "SpMV";
  line.operation = "product";
  line.setup_seconds = device_measure()->seconds([&] {
    check(cusparseSpMV_preprocess(session.handle, plain, &unit, A, x, &zero, y, CUDA_R_64F, algorithm, memory.data()),
          "cusparseSpMV_preprocess");
  });
  line.seconds = cusparse_seconds([&] {
    check(cusparseSpMV(session.handle, plain, &unit, A, x, &zero, y, CUDA_R_64F, algorithm, memory.data()), "cusparseSpMV");
  });
  line.answer = vectors.answer();
  cusparseDestroyDnVec(y);
  cusparseDestroyDnVec(x);
  cusparseDestroySpMat(A);
  say(line);
}

}  // namespace

int main(int argc, char** argv) {
  return cusparse_main("trsv", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    measure(session, one, say);
  });
}
