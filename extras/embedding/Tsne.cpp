//===- Tsne.cpp - t-SNE ---------------------------------------------------===//

#include "extras/embedding/Tsne.h"

#include "caffe/RandomStream.h"
#include "extras/embedding/Pca.h"
#include "runtime/cpu/Arena.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <algorithm>
#include <cmath>

namespace brew::embedding {
namespace {

constexpr std::int64_t kGrain = 128;     ///< rows of one task
constexpr int kReportInterval = 50;      ///< iterations between two reports
constexpr double kStartDeviation = 1e-4; ///< of the first coordinate
/// Noise relative to kStartDeviation, so that equal rows separate.
constexpr double kJitter = 0.01;
constexpr double kMinGain = 0.01, kGainIncrement = 0.2, kGainDecay = 0.8;
constexpr double kMaxStep = 5;

/// Computes force = sum over j of p(ij) q(ij) (y(i) - y(j)).
BREW_EMBED_INLINE void attractBody(const float *coordinates, std::int64_t row,
                                   const std::int32_t *columns,
                                   const float *values, std::int64_t count,
                                   float *force) {
  const float x = coordinates[2 * row], y = coordinates[2 * row + 1];
  Lanes forceX = {}, forceY = {};
  for (std::int64_t i = 0; i < count; i += kLanes) {
    Lanes otherX, otherY;
    for (int lane = 0; lane < kLanes; ++lane) {
      otherX[lane] = coordinates[2 * std::int64_t(columns[i + lane])];
      otherY[lane] = coordinates[2 * std::int64_t(columns[i + lane]) + 1];
    }
    const Lanes dx = x - otherX, dy = y - otherY;
    const Lanes pull = BREW_EMBED_LOAD(values + i) / (1 + dx * dx + dy * dy);
    forceX += pull * dx;
    forceY += pull * dy;
  }
  force[0] = sumOf(forceX);
  force[1] = sumOf(forceY);
}
BREW_EMBED_FOR_PROCESSORS(void, attract,
                          (const float *coordinates, std::int64_t row,
                           const std::int32_t *columns, const float *values,
                           std::int64_t count, float *force),
                          attractBody,
                          (coordinates, row, columns, values, count, force))

/// Returns the first two principal components, scaled to kStartDeviation.
Points initialLayout(const Matrix &rows, std::uint64_t seed,
                     const runtime::Threads &threads) {
  const PrincipalComponents components = principalComponents(
      rows, std::min<std::int64_t>(2, rows.columns), seed, threads);
  const std::int64_t count = components.scores.columns;
  const double deviation =
      std::sqrt(components.variances[0] * static_cast<double>(rows.rows - 1) /
                static_cast<double>(rows.rows));
  const double scale = deviation > 0 ? kStartDeviation / deviation : 0;
  const caffe::RandomStream random(seed, "embedding");
  Points points;
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    const float *score = components.scores.row(i);
    auto coordinate = [&](std::int64_t axis) {
      const double value = axis < count ? score[axis] * scale : 0;
      return static_cast<float>(
          value +
          kJitter * kStartDeviation *
              random.gaussian(static_cast<std::uint64_t>(2 * i + axis)));
    };
    points.x.push_back(coordinate(0));
    points.y.push_back(coordinate(1));
  }
  return points;
}

/// One coordinate of all points, with the state of gradient descent.
struct Coordinate {
  std::vector<float> &coordinates;
  std::vector<float> gradient;
  std::vector<double> step, gain, exact;

  explicit Coordinate(std::vector<float> &values)
      : coordinates(values), gradient(values.size()), step(values.size()),
        gain(values.size(), 1), exact(values.begin(), values.end()) {}

  /// Computes the gain and the step of point i.
  void updateStep(std::size_t i, double momentum, double rate) {
    const double slope = gradient[i];
    const bool haveSameSign =
        (step[i] > 0) == (slope > 0) && (step[i] < 0) == (slope < 0);
    gain[i] = haveSameSign ? gain[i] * kGainDecay + kMinGain
                           : gain[i] + kGainIncrement;
    step[i] = momentum * step[i] - rate * gain[i] * slope;
  }
  /// Moves all points and subtracts their mean.
  void move() {
    double mean = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      mean += exact[i] += step[i];
    mean /= static_cast<double>(exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i)
      coordinates[i] = static_cast<float>(exact[i] -= mean);
  }
};

void checkRows(std::int64_t rows, double perplexity) {
  // t-SNE customarily uses 3 * perplexity neighbours.
  const double maxPerplexity = static_cast<double>(rows - 1) / 3;
  if (perplexity <= maxPerplexity)
    return;
  constexpr int kDigits = 12; // digits of rows, and a fraction
  const std::string perplexityText = shortestText(perplexity, 6);
  // The perplexity is more than 1, so 5 rows are always needed.
  if (rows < 5)
    throw badInput("t-SNE needs at least 5 samples; there are " +
                   std::to_string(rows));
  throw badInput("there are " + std::to_string(rows) + " samples; perplexity " +
                 perplexityText + " needs at least " +
                 shortestText(std::ceil(3 * perplexity) + 1, kDigits) +
                 ", so choose a perplexity of " +
                 shortestText(std::floor(maxPerplexity * 100) / 100, kDigits) +
                 " or less");
}

/// Checks the memory in advance: the system overcommits memory and kills the
/// process when it is used.
void checkMemory(std::int64_t rows, std::int64_t neighbours) {
  // Bytes per pair: row and distance, probability, transposed column and
  // probability, and at least one column and value of the affinities.
  constexpr double kPairBytes = 8 + 4 + 8 + 8;
  const double bytes =
      static_cast<double>(rows) * static_cast<double>(neighbours) * kPairBytes;
  if (bytes <= static_cast<double>(runtime::machineMemory()))
    return;
  constexpr double kMaxBytes = 18e18; // fits in 64 bits
  throw unavailable(
      "t-SNE of " + std::to_string(rows) + " samples with " +
      std::to_string(neighbours) + " neighbours each needs " +
      runtime::describeBytes(
          static_cast<std::uint64_t>(std::min(bytes, kMaxBytes))) +
      " of memory, this machine has " +
      runtime::describeBytes(runtime::machineMemory()) +
      "; use a smaller perplexity, or a lower limit for exact pairs");
}

} // namespace

double Divergence::compute(const Points &points, double exaggeration,
                           bool computeDivergence, Points &gradient) {
  const double sum = repulsion.compute(points, gradient);
  const std::int64_t rows = points.size();
  coordinates.resize(static_cast<std::size_t>(2 * rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    coordinates[2 * i] = points.x[i];
    coordinates[2 * i + 1] = points.y[i];
  }
  rowDivergences.assign(computeDivergence ? static_cast<std::size_t>(rows) : 0,
                        0);
  parallelForBlocks(
      threads, rows, kGrain,
      [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t from = affinities.begins[i];
          const std::int64_t count = affinities.begins[i + 1] - from;
          const std::int32_t *columns = &affinities.columns[from];
          const float *values = &affinities.values[from];
          float force[2];
          attract(coordinates.data(), i, columns, values, count, force);
          gradient.x[i] =
              static_cast<float>(exaggeration * force[0] - gradient.x[i] / sum);
          gradient.y[i] =
              static_cast<float>(exaggeration * force[1] - gradient.y[i] / sum);
          if (!computeDivergence)
            continue;
          for (std::int64_t j = 0; j < count; ++j) {
            const double p = values[j];
            if (p <= 0) // lim p log p = 0; padding too
              continue;
            const double dx = double(points.x[i]) - points.x[columns[j]];
            const double dy = double(points.y[i]) - points.y[columns[j]];
            rowDivergences[i] +=
                p * std::log(p * sum * (1 + dx * dx + dy * dy));
          }
        }
      });
  double divergence = 0;
  for (double rowDivergence : rowDivergences)
    divergence += rowDivergence;
  return divergence;
}

Layout tsne(const Matrix &rows, const TsneOptions &options,
            const runtime::Threads &threads,
            const std::function<void(const TsneProgress *)> &progress) {
  checkRows(rows.rows, options.perplexity);
  const bool exact = rows.rows <= options.exactRows;
  const std::int64_t neighbours =
      exact ? rows.rows - 1
            : std::min(
                  static_cast<std::int64_t>(std::ceil(3 * options.perplexity)),
                  rows.rows - 1);
  checkMemory(rows.rows, neighbours);
  const Affinities pairAffinities = computeAffinities(
      nearestNeighbours(rows, neighbours, threads, [&] { progress(nullptr); }),
      options.perplexity, threads);
  Layout layout{initialLayout(rows, options.seed, threads), 0};
  Divergence divergence(pairAffinities, exact ? 0 : options.theta, threads);

  Coordinate x(layout.points.x), y(layout.points.y);
  Points gradient;
  const int total = options.exaggeratedIterations + options.iterations;
  for (int iteration = 0; iteration <= total; ++iteration) {
    const bool isReported =
        iteration % kReportInterval == 0 || iteration == total;
    const double exaggeration =
        iteration < options.exaggeratedIterations ? options.exaggeration : 1;
    const double value =
        divergence.compute(layout.points, exaggeration, isReported, gradient);
    const TsneProgress state{iteration, total, value, &layout.points};
    progress(isReported ? &state : nullptr);
    layout.divergence = value;
    if (iteration == total)
      break;
    const double rate = options.learningRate > 0
                            ? options.learningRate
                            : static_cast<double>(rows.rows) / exaggeration;
    x.gradient.swap(gradient.x);
    y.gradient.swap(gradient.y);
    for (std::size_t i = 0; i < x.step.size(); ++i) {
      x.updateStep(i, options.momentum, rate);
      y.updateStep(i, options.momentum, rate);
      const double length = std::hypot(x.step[i], y.step[i]);
      if (length > kMaxStep) {
        x.step[i] *= kMaxStep / length;
        y.step[i] *= kMaxStep / length;
      }
    }
    x.move();
    y.move();
  }
  return layout;
}

} // namespace brew::embedding
