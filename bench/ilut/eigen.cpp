// SPDX-License-Identifier: BSD-3-Clause
// Eigen's IncompleteLUT as it is (it orders by AMD first), or with --schedule sequential in natural order, so that both
// factor the same rows. Its fill factor is a multiple of A's nonzeros a row, half of it a triangle: the one nearest to lfil.
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/ilu/measure.hpp"

namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

class Thresholds : public Eigen::IncompleteLUT<double> {
 public:
  void order_naturally(Eigen::Index n) {
    m_P.resize(n);
    m_P.setIdentity();
    m_Pinv.resize(n);
    m_Pinv.setIdentity();
    m_analysisIsOk = m_isInitialized = true;
  }
  std::int64_t nonzeros() const { return m_lu.nonZeros(); }
};

Matrix to_eigen(const echelon::BlockCsr<double>& A) {
  std::vector<Eigen::Triplet<double>> entries;
  const int b = A.block();
  for (std::int64_t i = 0; i < A.block_rows(); ++i) {
    for (auto p = A.row_start()[i]; p < A.row_start()[i + 1]; ++p) {
      for (int e = 0; e < b * b; ++e) {
        entries.emplace_back(static_cast<int>(i * b + e % b), A.column()[p] * b + e / b, A.values()[p * b * b + e]);
      }
    }
  }
  Matrix out(A.rows(), A.columns());
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const auto c = bench::IluCase::from_command_line(argc, argv);
  const auto A = c.make();
  const Matrix E = to_eigen(A);
  const double a_row = static_cast<double>(A.nonzeros()) / static_cast<double>(A.rows());
  const int factor = std::max(1, static_cast<int>(std::lround(2.0 * c.lfil * c.block / a_row)));
  const bool natural = c.schedule == "sequential";
  const auto set_up = [&](Thresholds& ilut) {
    ilut.setDroptol(c.drop);
    ilut.setFillfactor(factor);
    if (natural) {
      ilut.order_naturally(E.rows());
      ilut.factorize(E);
    } else {
      ilut.compute(E);
    }
  };
  const double setup = bench::median_seconds(c.repeats, [&] {
    Thresholds ilut;
    set_up(ilut);
  });
  Thresholds ilut;
  set_up(ilut);
  if (ilut.info() != Eigen::Success) {
    fprintf(stderr, "IncompleteLUT failed\n");
    return 1;
  }
  const auto r = bench::IluCase::right_hand_side(A.rows());
  const Eigen::VectorXd right = Eigen::Map<const Eigen::VectorXd>(r.data(), r.size());
  Eigen::VectorXd z;
  const double apply = bench::median_seconds(c.repeats, [&] { z = ilut.solve(right); });
  echelon::Vector<double> answer(A.rows());
  std::copy_n(z.data(), z.size(), answer.data());
  bench::print_result(natural ? "eigen natural" : "eigen", c, A.rows(), A.nonzeros(), setup, apply, answer, ilut.nonzeros());
}
