// SPDX-License-Identifier: BSD-3-Clause
#include "bench/measure/mkl_system.hpp"

#include <fmt/format.h>
#include <mkl_rci.h>
#include <mkl_service.h>

#include "echelon/base/error.hpp"

namespace echelon::bench {
namespace {

void require(sparse_status_t status, const char* what) {
  if (status != SPARSE_STATUS_SUCCESS) {
    throw Error(ErrorCode::structure, fmt::format("oneMKL's {} returned {}", what, static_cast<int>(status)));
  }
}

}  // namespace

std::string mkl_name() {
  MKLVersion version;
  mkl_get_version(&version);
  return fmt::format("oneMKL {}.{}", version.MajorVersion, version.UpdateVersion);
}

ContenderLine mkl_line(const BenchCase& one, const std::string& method) {
  if (one.dof > 1) return ContenderLine::nothing(mkl_name(), "its ILU(0) knows no blocks");
  ContenderLine line;
  line.contender = mkl_name();
  line.method = method;
  return line;
}

MklSystem::MklSystem(const BenchCase& one) {
  // The case's matrix, its rows, the factors, and the triangles twice: ours and what oneMKL makes of them.
  require_room(one, 8, "oneMKL");
  rows_ = row_slab(one.make(), owned_points(one.grid, 0, 1));
  for (auto& start : rows_.row_start) ++start;
  for (auto& column : rows_.column) ++column;
  factors_ = Array<double>(rows_.values.size());
}

void MklSystem::factor() {
  // Its messages go to the screen unless ipar[1] says otherwise; ipar[30] = 0: a zero on the diagonal is an error.
  MKL_INT ipar[128] = {}, trouble = 0;
  const double dpar[128] = {};
  dcsrilu0(&rows_.rows, rows_.values.data(), rows_.row_start.data(), rows_.column.data(), factors_.data(), ipar, dpar,
           &trouble);
  if (trouble != 0) throw Error(ErrorCode::structure, fmt::format("oneMKL's dcsrilu0 returned {}", trouble));
}

MklTriangles::MklTriangles(const MklSystem& system)
    : lower_(part(system, true)), upper_(part(system, false)), between_(system.rows().rows, 0.0) {}

MklTriangles::~MklTriangles() {
  mkl_sparse_destroy(lower_.matrix);
  mkl_sparse_destroy(upper_.matrix);
}

MklTriangles::Triangle MklTriangles::part(const MklSystem& system, bool lower) {
  const RowSlab& A = system.rows();
  const auto belongs = [&](MKL_INT row, MKL_INT e) { return (A.column[e] - 1 < row) == lower; };
  Triangle t;
  t.form = {SPARSE_MATRIX_TYPE_TRIANGULAR, lower ? SPARSE_FILL_MODE_LOWER : SPARSE_FILL_MODE_UPPER,
            lower ? SPARSE_DIAG_UNIT : SPARSE_DIAG_NON_UNIT};
  t.start = Array<MKL_INT>(A.rows + 1, 0);
  for (MKL_INT row = 0; row < A.rows; ++row) {
    t.start[row + 1] = t.start[row];
    for (MKL_INT e = A.row_start[row] - 1; e < A.row_start[row + 1] - 1; ++e) t.start[row + 1] += belongs(row, e);
  }
  t.column = Array<MKL_INT>(t.start[A.rows]);
  t.values = Array<double>(t.start[A.rows]);
  std::int64_t at = 0;
  for (MKL_INT row = 0; row < A.rows; ++row) {
    for (MKL_INT e = A.row_start[row] - 1; e < A.row_start[row + 1] - 1; ++e) {
      if (!belongs(row, e)) continue;
      t.column[at] = A.column[e] - 1;
      t.values[at++] = system.factors()[e];
    }
  }
  require(mkl_sparse_d_create_csr(&t.matrix, SPARSE_INDEX_BASE_ZERO, A.rows, A.rows, t.start.data(), t.start.data() + 1,
                                  t.column.data(), t.values.data()),
          "mkl_sparse_d_create_csr");
  constexpr MKL_INT many_calls = 1000;
  require(mkl_sparse_set_sv_hint(t.matrix, SPARSE_OPERATION_NON_TRANSPOSE, t.form, many_calls), "mkl_sparse_set_sv_hint");
  require(mkl_sparse_optimize(t.matrix), "mkl_sparse_optimize");
  return t;
}

void MklTriangles::apply(const Vector<double>& r, Vector<double>& z) {
  constexpr auto plain = SPARSE_OPERATION_NON_TRANSPOSE;
  require(mkl_sparse_d_trsv(plain, 1.0, lower_.matrix, lower_.form, r.data(), between_.data()), "mkl_sparse_d_trsv");
  require(mkl_sparse_d_trsv(plain, 1.0, upper_.matrix, upper_.form, between_.data(), z.data()), "mkl_sparse_d_trsv");
}

}  // namespace echelon::bench
