//===- Tsne.h - t-SNE -------------------------------------------*- C++ -*-===//
//
// Lays out rows in a plane such that similar rows are close together (van der
// Maaten and Hinton, "Visualizing data using t-SNE", JMLR 2008). Uses the
// learning rates of Belkina et al. ("Automated optimized parameters for t-SNE",
// 2019) and starts from the principal components.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/embedding/Affinities.h"
#include "extras/embedding/Repulsion.h"

#include <functional>

namespace brew::embedding {

/// The Kullback-Leibler divergence between the affinities of the rows and of a
/// layout, and its gradient.
class Divergence {
public:
  Divergence(const Affinities &affinities, double theta,
             const runtime::Threads &threads)
      : affinities(affinities), repulsion(theta, threads), threads(threads) {}

  /// Computes a quarter of the gradient, with the attraction multiplied by
  /// `exaggeration`. Returns the divergence without exaggeration if
  /// `computeDivergence` is set, else 0.
  double compute(const Points &points, double exaggeration,
                 bool computeDivergence, Points &gradient);

private:
  const Affinities &affinities;
  Repulsion repulsion;
  const runtime::Threads &threads;
  std::vector<float> coordinates;     ///< interleaved x and y
  std::vector<double> rowDivergences; ///< the divergence of each row
};

/// The defaults are those of openTSNE.
struct TsneOptions {
  double perplexity = 30;
  double exaggeration = 12;
  int exaggeratedIterations = 250, iterations = 500;
  double momentum = 0.8;
  double learningRate = 0; ///< 0: rows / current exaggeration
  double theta = 0.5;
  /// Up to this number of rows, all pairs of rows and of points are exact.
  std::int64_t exactRows = 1000;
  std::uint64_t seed = 0;
};

struct TsneProgress {
  int iteration, iterations; ///< done, total
  double divergence;
  const Points *points;
};

struct Layout {
  Points points;
  double divergence; ///< after the last iteration
};

/// Lays out rows with mean 0. Calls `progress` with the state at the beginning,
/// every 50 iterations and at the end, and with null in between; it may throw.
/// The result is bitwise identical for any number of threads. Throws Error: (1)
/// if there are too few rows for the perplexity, (3) if the neighbours need
/// more memory than the machine has.
Layout tsne(const Matrix &centredRows, const TsneOptions &options,
            const runtime::Threads &threads,
            const std::function<void(const TsneProgress *)> &progress);

} // namespace brew::embedding
