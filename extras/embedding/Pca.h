//===- Pca.h - Principal components -----------------------------*- C++ -*-===//
//
// By a block Krylov method (Musco and Musco, "Randomized block Krylov methods
// for stronger and faster approximate singular value decomposition", NIPS
// 2015), begun anew from the best vectors until they are eigenvectors of the
// covariance to the accuracy of floats. It needs the features twice per step
// and never the covariance itself, so that blobs of many values do.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/embedding/MatrixProducts.h"

namespace brew::embedding {

struct PrincipalComponents {
  Matrix directions;             ///< a row each, of length 1, best first
  Matrix scores;                 ///< the features' rows x components
  std::vector<double> variances; ///< along each, with rows - 1
  double variance = 0;           ///< of all columns together
};

/// Of each direction the entry that is largest (the first of several) is
/// positive. Beyond the dimensions that the rows lie in variances and scores
/// are 0, but for rounding. `seed`: of the vectors to begin with. 1 <=
/// components <= columns, and two rows at least. Scores and variances are those
/// of the rows as they are scaled (Matrix::scale).
PrincipalComponents principalComponents(const Matrix &centredRows,
                               std::int64_t components, std::uint64_t seed,
                               const runtime::Threads &threads);
/// Likewise with products of these rows that are done elsewhere.
PrincipalComponents principalComponents(const Matrix &centredRows,
                               std::int64_t components, std::uint64_t seed,
                               RowProducts &products);

} // namespace brew::embedding
