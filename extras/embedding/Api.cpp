//===- Api.cpp - C API of embeddings --------------------------------------===//

#include "runtime/api/Api.h"
#include "extras/embedding/GpuRowProducts.h"
#include "extras/embedding/Pca.h"
#include "extras/embedding/Scatter.h"
#include "extras/embedding/Tsne.h"
#include "formats/image/ImageEncode.h"
#include "runtime/api/Handles.h"
#include "support/AtomicFile.h"

#include <cmath>
#include <filesystem>
#include <limits>

using namespace brew;
using namespace brew::api;
using namespace brew::runtime;

namespace {

/// Checks the features and returns the rows minus their mean.
embedding::Matrix checkedRows(const float *features, std::int64_t rows,
                              std::int64_t columns) {
  if (!features && rows > 0)
    throw usage("the features are NULL");
  if (rows < 0 || columns < 1)
    throw usage("features need at least one column");
  constexpr std::int64_t kMaxRows = std::numeric_limits<std::int32_t>::max();
  if (rows > kMaxRows)
    throw usage("there are more than " + std::to_string(kMaxRows) + " rows");
  for (std::int64_t i = 0; i < rows * columns; ++i)
    if (!std::isfinite(features[i]))
      throw badInput("the features are not all finite: " +
                     std::string(std::isnan(features[i]) ? "nan" : "inf") +
                     " in row " + std::to_string(i / columns) + ", column " +
                     std::to_string(i % columns));
  return embedding::centred(features, rows, columns);
}

embedding::PrincipalComponents componentsOf(const embedding::Matrix &rows,
                                            std::int64_t components,
                                            const brew_pca_options &options) {
  const auto *plan = options.plan ? options.plan->file.get() : nullptr;
  if (!plan || plan->manifest().target().kind() != plan::Target::CUDA)
    return embedding::principalComponents(rows, components, options.seed,
                                          Threads(options.threads));
  embedding::GpuRowProducts products(
      cuda::chooseLibraryPaths(plan->manifest().target(), plan->path()),
      options.gpu, rows);
  return embedding::principalComponents(rows, components, options.seed,
                                        products);
}

/// Converts scores and variances to the scale of the caller's features.
void undoScale(embedding::PrincipalComponents &found, double scale) {
  if (scale == 1)
    return;
  for (float &score : found.scores.values) {
    const double value = score / scale;
    if (std::abs(value) > std::numeric_limits<float>::max())
      throw badInput("the features are too large: their principal components "
                     "do not fit in floats");
    score = static_cast<float>(value);
  }
  for (double &variance : found.variances)
    variance /= scale * scale;
  found.variance /= scale * scale;
}

template <typename Value>
void copyTo(Value *to, const std::vector<Value> &from) {
  if (to)
    std::copy(from.begin(), from.end(), to);
}

/// Sets an option, unless `value` is 0, which stands for the default.
template <typename Value> void setUnlessZero(Value &option, Value value) {
  if (value != 0)
    option = value;
}

embedding::TsneOptions optionsOf(const brew_tsne_options &callerOptions) {
  embedding::TsneOptions options;
  setUnlessZero(options.perplexity, callerOptions.perplexity);
  setUnlessZero(options.exaggeration, callerOptions.exaggeration);
  setUnlessZero(options.exactRows, callerOptions.exact_rows);
  setUnlessZero(options.theta, callerOptions.theta);
  setUnlessZero(options.learningRate, callerOptions.learning_rate);
  setUnlessZero(options.exaggeratedIterations,
                callerOptions.exaggerated_iterations);
  setUnlessZero(options.iterations, callerOptions.iterations);
  options.exaggeratedIterations = std::max(0, options.exaggeratedIterations);
  options.iterations = std::max(0, options.iterations);
  options.seed = callerOptions.seed;
  // These comparisons also reject NaN.
  if (!(options.perplexity > 1))
    throw usage("the perplexity must be more than 1");
  if (!(options.exaggeration >= 1) || std::isinf(options.exaggeration))
    throw usage("the exaggeration must be at least 1");
  if (!(options.theta > 0 && options.theta <= 1))
    throw usage("theta must be more than 0 and at most 1");
  if (!(options.learningRate >= 0) || std::isinf(options.learningRate))
    throw usage("the learning rate must be more than 0");
  constexpr int kMaxIterations = 1000000;
  if (options.exaggeratedIterations > kMaxIterations ||
      options.iterations > kMaxIterations)
    throw usage("there are more than " + std::to_string(kMaxIterations) +
                " iterations");
  return options;
}

/// Calls the caller's progress function and throws if it fails.
class ProgressReporter {
public:
  explicit ProgressReporter(const brew_tsne_options &options)
      : function(options.progress), user(options.user) {}

  void operator()(const embedding::TsneProgress *state) const {
    if (!function)
      return;
    brew_tsne_progress progress{};
    std::vector<float> points;
    if (state) {
      progress.struct_size = sizeof progress;
      progress.iteration = state->iteration;
      progress.iterations = state->iterations;
      progress.divergence = state->divergence;
      points = interleaved(*state->points);
      progress.embedding = points.data();
    }
    const brew_status status = function(state ? &progress : nullptr, user);
    if (status != BREW_OK)
      throw Error(static_cast<ExitStatus>(status),
                  "the progress function ended t-SNE");
  }

  static std::vector<float> interleaved(const embedding::Points &points) {
    std::vector<float> result;
    result.reserve(2 * points.x.size());
    for (std::size_t i = 0; i < points.x.size(); ++i) {
      result.push_back(points.x[i]);
      result.push_back(points.y[i]);
    }
    return result;
  }

private:
  brew_tsne_function function;
  void *user;
};

} // namespace

brew_status brew_pca(const float *features, int64_t rows, int64_t columns,
                     const brew_pca_options *options,
                     const brew_pca_result *result, char *message,
                     size_t size) {
  return guardedInto(message, size, [&] {
    const brew_pca_options pcaOptions = copyFromCaller(options);
    const brew_pca_result target = copyFromCaller(result);
    const std::int64_t components =
        pcaOptions.components ? pcaOptions.components : 2;
    if (components < 1 || components > columns)
      throw usage("the number of components must be 1 to " +
                  std::to_string(columns) + ", the columns of the features");
    const embedding::Matrix matrix = checkedRows(features, rows, columns);
    if (rows < 2)
      throw badInput("principal components need at least 2 samples; there " +
                     std::string(rows ? "is 1" : "are none"));
    embedding::PrincipalComponents found =
        componentsOf(matrix, components, pcaOptions);
    undoScale(found, matrix.scale);
    copyTo(target.scores, found.scores.values);
    copyTo(target.directions, found.directions.values);
    copyTo(target.variances, found.variances);
    if (target.variance)
      *target.variance = found.variance;
  });
}

brew_status brew_tsne(const float *features, int64_t rows, int64_t columns,
                      const brew_tsne_options *options, float *embedding,
                      double *divergence, char *message, size_t size) {
  return guardedInto(message, size, [&] {
    const brew_tsne_options callerOptions = copyFromCaller(options);
    const embedding::TsneOptions tsneOptions = optionsOf(callerOptions);
    if (!embedding)
      throw usage("the embedding is NULL");
    const embedding::Layout layout = embedding::tsne(
        checkedRows(features, rows, columns), tsneOptions,
        Threads(callerOptions.threads), ProgressReporter(callerOptions));
    const std::vector<float> points =
        ProgressReporter::interleaved(layout.points);
    std::copy(points.begin(), points.end(), embedding);
    if (divergence)
      *divergence = layout.divergence;
  });
}

brew_status brew_scatter_write(const char *path, const float *points,
                               int64_t rows,
                               const brew_scatter_options *options,
                               char *message, size_t size) {
  return guardedInto(message, size, [&] {
    const brew_scatter_options plotOptions = copyFromCaller(options);
    const std::string file = text(path, "the path");
    std::string extension = std::filesystem::path(file).extension();
    for (char &c : extension)
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool isPng =
        formats::imageFormatOf(extension) == formats::ImageFormat::Png;
    if (!isPng && extension != ".svg")
      throw usage(file + ": a scatter plot is written as .svg or .png");
    if (rows < 0 || (!points && rows > 0))
      throw usage("the points are NULL");
    for (std::int64_t i = 0; i < 2 * rows; ++i)
      if (!std::isfinite(points[i]))
        throw badInput("point " + std::to_string(i / 2) + " is not finite");
    embedding::ScatterData data{points, rows, plotOptions.classes, {}, {},
                                0,      0};
    for (std::size_t i = 0;
         plotOptions.class_names && i < plotOptions.class_count; ++i)
      data.classNames.push_back(
          text(plotOptions.class_names[i], "a class's name"));
    data.title = plotOptions.title ? plotOptions.title : "";
    data.width = plotOptions.width ? plotOptions.width : 1000;
    data.height = plotOptions.height ? plotOptions.height : 800;
    constexpr int kMinSide = 200, kMaxSide = 8192;
    if (std::min(data.width, data.height) < kMinSide ||
        std::max(data.width, data.height) > kMaxSide)
      throw usage("a scatter plot has " + std::to_string(kMinSide) + " to " +
                  std::to_string(kMaxSide) + " pixels along each side");
    const embedding::ScatterLayout layout = embedding::layoutScatter(data);
    writeFileAtomically(file, isPng ? embedding::scatterPng(layout)
                                    : embedding::scatterSvg(layout));
  });
}
