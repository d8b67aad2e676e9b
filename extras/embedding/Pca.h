//===- Pca.h - Principal components -----------------------------*- C++ -*-===//
//
// Uses a block Krylov method (Musco and Musco, "Randomized block Krylov methods
// for stronger and faster approximate singular value decomposition", NIPS 2015)
// and restarts it from the best vectors until these are eigenvectors of the
// covariance to float accuracy. Each step reads the features twice and never
// forms the covariance matrix, so rows may have many values.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/embedding/MatrixProducts.h"

namespace brew::embedding {

struct PrincipalComponents {
  Matrix directions; ///< one unit row per component, by descending variance
  Matrix scores;     ///< rows of the features x components
  std::vector<double> variances; ///< by component; the divisor is rows - 1
  double variance = 0;           ///< total variance of all columns
};

/// Computes the first principal components. The entry of largest magnitude in
/// each direction (the first of several) is positive. Variances and scores
/// beyond the rank of the rows are 0 up to rounding. `seed` determines the
/// initial vectors. Requires 1 <= components <= columns and at least two rows.
/// Scores and variances refer to the scaled rows (Matrix::scale).
PrincipalComponents principalComponents(const Matrix &centredRows,
                                        std::int64_t components,
                                        std::uint64_t seed,
                                        const runtime::Threads &threads);
/// The same with the given implementation of products of the rows.
PrincipalComponents principalComponents(const Matrix &centredRows,
                                        std::int64_t components,
                                        std::uint64_t seed,
                                        RowProducts &products);

} // namespace brew::embedding
