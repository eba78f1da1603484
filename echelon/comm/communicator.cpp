// SPDX-License-Identifier: BSD-3-Clause
#include "echelon/comm/communicator.hpp"

namespace echelon {
namespace {

class Serial final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void sum(std::span<double>) const override {}
  double largest(double value) const override { return value; }
};

}  // namespace

const Communicator& serial() {
  static const Serial only;
  return only;
}

}  // namespace echelon
