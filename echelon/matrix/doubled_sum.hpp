// SPDX-License-Identifier: BSD-3-Clause
// A sum in twice the working precision: products by fma and sums without error (Ogita, Rump and Oishi 2005), their errors
// gathered beside it. What the careful residual of host and GPU share.
#pragma once

#include "echelon/base/fma.hpp"

namespace echelon {

/// high + low is the sum so far.
struct DoubledSum {
  double high, low;

  ECHELON_FN void subtract_product(double a, double x) {
    const double product = a * x;
    const double product_error = fma(a, x, -product);
    const double sum = high - product;
    const double taken = sum - high;
    low += ((high - (sum - taken)) - (product + taken)) - product_error;
    high = sum;
  }
};

}  // namespace echelon
