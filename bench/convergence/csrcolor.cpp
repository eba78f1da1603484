// SPDX-License-Identifier: BSD-3-Clause
// Multicolour ILU(0) by cuSPARSE: csrcolor's colours, A put into their order on the host, then csrilu02, SpSV and SpMV in
// our Krylov methods. The clock of the line runs for the factorization and the iteration; the colouring and the analyses are
// its set-up, the reordering is nobody's.
#include <fmt/format.h>

#include <limits>

#include "bench/cusparse/whole_solve.hpp"
#include "echelon/schedule/orders/colouring.hpp"

namespace {

using namespace echelon;
using namespace echelon::bench;

struct Coloured {
  Colouring found;
  double seconds = 0;
};

Coloured coloured(const CusparseSession& session, const DeviceRows& rows) {
  const CusparseDescription description;
  cusparseColorInfo_t info = nullptr;
  check(cusparseCreateColorInfo(&info), "cusparseCreateColorInfo");
  Array<int> colour(rows.rows, Device::cuda());
  const double all = 1;
  Coloured made;
  int colours = 0;
  cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
  made.seconds = device_measure()->seconds([&] {
    status = cusparseDcsrcolor(session.handle, rows.rows, rows.nonzeros, description.get, rows.values.data(),
                               rows.row_start.data(), rows.column.data(), &all, &colours, colour.data(), nullptr, info);
  });
  cusparseDestroyColorInfo(info);
  check(status, "cusparseDcsrcolor");
  const Array<int> host = colour.to(Device::host());
  made.found = {Array<std::int32_t>(host.span()), 0};
  for (const int one : host) made.found.colours = std::max<std::int32_t>(made.found.colours, one + 1);
  return made;
}

/// A in block CSR of scalars as cuSPARSE takes it.
DeviceRows on_gpu(const BlockCsr<double>& A) {
  if (A.nonzeros() > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::will_not_fit, "cuSPARSE counts the values of its triangular solves in 32 bits");
  }
  DeviceRows rows;
  rows.rows = static_cast<int>(A.rows());
  rows.nonzeros = static_cast<int>(A.nonzeros());
  Array<int> start(A.rows() + 1);
  std::ranges::transform(A.row_start(), start.begin(), [](std::int64_t at) { return static_cast<int>(at); });
  rows.row_start = start.to(Device::cuda());
  rows.column = Array<int>(A.column()).to(Device::cuda());
  rows.values = Array<double>(A.values()).to(Device::cuda());
  return rows;
}

template <class Say>
void measure(const CusparseSession& session, const BenchCase& one, const Say& say) {
  const CusparseSystem system(one);
  const Coloured colours = coloured(session, system.rows(0, true));
  const Array<std::int32_t> order = order_by_colour(colours.found);
  const DeviceRows rows = on_gpu(permuted(to_block_csr(system.A), order.span()));
  DeviceRows factors{rows.rows, rows.nonzeros, rows.block, rows.row_start.clone(), rows.column.clone(), rows.values.clone()};
  const auto [factored, levels] = factor_scalars(session, factors);
  Vector<double> b(system.b.size()), x(system.b.size(), Device::cuda()), natural(system.b.size());
  for (std::int64_t i = 0; i < b.size(); ++i) b[i] = system.b[order[i]];
  ContenderLine line = run_whole_solve<SpsvSolve>(session, one, rows, factors, factored, b.to(Device::cuda()), x);
  const Vector<double> answer = x.to(Device::host());
  for (std::int64_t i = 0; i < b.size(); ++i) natural[order[i]] = answer[i];
  system.judge(natural, line);
  line.setup_seconds += colours.seconds;
  line.method = fmt::format("csrcolor ({} colours), csrilu02, SpSV, SpMV", colours.found.colours);
  say(line);
}

}  // namespace

int main(int argc, char** argv) {
  return cusparse_main("convergence", argc, argv, [](const CusparseSession& session, const BenchCase& one, const auto& say) {
    measure(session, one, say);
  });
}
