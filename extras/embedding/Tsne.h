//===- Tsne.h - t-SNE -------------------------------------------*- C++ -*-===//
//
// Layouts of a plane in which alike rows lie close together (van der Maaten and
// Hinton, "Visualizing data using t-SNE", JMLR 2008), with the rates of Belkina
// et al. ("Automated optimized parameters for t-SNE", 2019) and a start from
// the principal components.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "extras/embedding/Affinities.h"
#include "extras/embedding/Repulsion.h"

#include <functional>

namespace brew::embedding {

/// The Kullback-Leibler divergence of a layout's likenesses from those of the
/// rows, and its gradient.
class Divergence {
public:
  Divergence(const Affinities &affinities, double theta,
             const runtime::Threads &threads)
      : affinities(affinities), repulsion(theta, threads), threads(threads) {}

  /// A quarter of the gradient, with the attraction multiplied by
  /// `exaggeration`. Returns the divergence (not exaggerated) if it is wanted,
  /// else 0.
  double compute(const Points &points, double exaggeration, bool wanted,
                 Points &gradient);

private:
  const Affinities &affinities;
  Repulsion repulsion;
  const runtime::Threads &threads;
  std::vector<float> coordinates; ///< x and y by turns
  std::vector<double> rowDivergences; ///< of the divergence, of each row
};

/// What t-SNE does by default is what openTSNE does.
struct TsneOptions {
  double perplexity = 30;
  double exaggeration = 12;
  int exaggeratedIterations = 250, iterations = 500;
  double momentum = 0.8;
  double learningRate = 0; ///< 0: rows / exaggeration of the phase
  double theta = 0.5;
  /// Up to so many rows all pairs count, among the rows as in the layout.
  std::int64_t exactRows = 1000;
  std::uint64_t seed = 0;
};

struct TsneProgress {
  int iteration, iterations; ///< done, of
  double divergence;
  const Points *points;
};

struct Layout {
  Points points;
  double divergence; ///< at the end
};

/// Lays out rows that have their mean at 0. `progress` is called at the
/// beginning, every 50 iterations and at the end, and between times with
/// nothing to tell (null); it may throw. The same bits for any number of
/// threads. Error (1) where there are too few rows for the perplexity, (3)
/// where the neighbours of all rows need more memory than the machine has.
Layout tsne(const Matrix &centredRows, const TsneOptions &options,
            const runtime::Threads &threads,
            const std::function<void(const TsneProgress *)> &progress);

} // namespace brew::embedding
