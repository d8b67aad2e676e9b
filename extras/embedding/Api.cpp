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
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (rows > kMost)
    throw usage("there are more than " + std::to_string(kMost) + " rows");
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
                                            const brew_pca_options &given) {
  const auto *plan = given.plan ? given.plan->file.get() : nullptr;
  if (!plan || plan->manifest().target().kind() != plan::Target::CUDA)
    return embedding::principalComponents(rows, components, given.seed,
                                          Threads(given.threads));
  embedding::GpuRowProducts products(
      cuda::chooseLibraryPaths(plan->manifest().target(), plan->path()),
      given.gpu, rows);
  return embedding::principalComponents(rows, components, given.seed, products);
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

/// Sets an option unless the caller left it at 0, which is the default.
template <typename Value> void choose(Value &option, Value given) {
  if (given != 0)
    option = given;
}

embedding::TsneOptions optionsOf(const brew_tsne_options &given) {
  embedding::TsneOptions options;
  choose(options.perplexity, given.perplexity);
  choose(options.exaggeration, given.exaggeration);
  choose(options.exactRows, given.exact_rows);
  choose(options.theta, given.theta);
  choose(options.learningRate, given.learning_rate);
  choose(options.exaggeratedIterations, given.exaggerated_iterations);
  choose(options.iterations, given.iterations);
  options.exaggeratedIterations = std::max(0, options.exaggeratedIterations);
  options.iterations = std::max(0, options.iterations);
  options.seed = given.seed;
  // Comparisons that NaN fails.
  if (!(options.perplexity > 1))
    throw usage("the perplexity must be more than 1");
  if (!(options.exaggeration >= 1) || std::isinf(options.exaggeration))
    throw usage("the exaggeration must be at least 1");
  if (!(options.theta > 0 && options.theta <= 1))
    throw usage("theta must be more than 0 and at most 1");
  if (!(options.learningRate >= 0) || std::isinf(options.learningRate))
    throw usage("the learning rate must be more than 0");
  constexpr int kMost = 1000000;
  if (options.exaggeratedIterations > kMost || options.iterations > kMost)
    throw usage("there are more than " + std::to_string(kMost) + " iterations");
  return options;
}

/// Calls the caller's progress function and throws if it fails.
class ProgressReporter {
public:
  explicit ProgressReporter(const brew_tsne_options &options)
      : function(options.progress), user(options.user) {}

  void operator()(const embedding::TsneProgress *now) const {
    if (!function)
      return;
    brew_tsne_progress progress{};
    std::vector<float> points;
    if (now) {
      progress.struct_size = sizeof progress;
      progress.iteration = now->iteration;
      progress.iterations = now->iterations;
      progress.divergence = now->divergence;
      points = interleaved(*now->points);
      progress.embedding = points.data();
    }
    const brew_status status = function(now ? &progress : nullptr, user);
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
    const brew_pca_options given = copyFromCaller(options);
    const brew_pca_result to = copyFromCaller(result);
    const std::int64_t components = given.components ? given.components : 2;
    if (components < 1 || components > columns)
      throw usage("the number of components must be 1 to " +
                  std::to_string(columns) + ", the columns of the features");
    const embedding::Matrix matrix = checkedRows(features, rows, columns);
    if (rows < 2)
      throw badInput("principal components need at least 2 samples; there " +
                     std::string(rows ? "is 1" : "are none"));
    embedding::PrincipalComponents found =
        componentsOf(matrix, components, given);
    undoScale(found, matrix.scale);
    copyTo(to.scores, found.scores.values);
    copyTo(to.directions, found.directions.values);
    copyTo(to.variances, found.variances);
    if (to.variance)
      *to.variance = found.variance;
  });
}

brew_status brew_tsne(const float *features, int64_t rows, int64_t columns,
                      const brew_tsne_options *options, float *embedding,
                      double *divergence, char *message, size_t size) {
  return guardedInto(message, size, [&] {
    const brew_tsne_options given = copyFromCaller(options);
    const embedding::TsneOptions chosen = optionsOf(given);
    if (!embedding)
      throw usage("the embedding is NULL");
    const embedding::Layout layout =
        embedding::tsne(checkedRows(features, rows, columns), chosen,
                        Threads(given.threads), ProgressReporter(given));
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
    const brew_scatter_options given = copyFromCaller(options);
    const std::string file = text(path, "the path");
    std::string extension = std::filesystem::path(file).extension();
    for (char &c : extension)
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool png =
        formats::imageFormatOf(extension) == formats::ImageFormat::Png;
    if (!png && extension != ".svg")
      throw usage(file + ": a scatter plot is written as .svg or .png");
    if (rows < 0 || (!points && rows > 0))
      throw usage("the points are NULL");
    for (std::int64_t i = 0; i < 2 * rows; ++i)
      if (!std::isfinite(points[i]))
        throw badInput("point " + std::to_string(i / 2) + " is not finite");
    embedding::ScatterData data{points, rows, given.classes, {}, {}, 0, 0};
    for (std::size_t i = 0; given.class_names && i < given.class_count; ++i)
      data.classNames.push_back(text(given.class_names[i], "a class's name"));
    data.title = given.title ? given.title : "";
    data.width = given.width ? given.width : 1000;
    data.height = given.height ? given.height : 800;
    constexpr int kLeast = 200, kMost = 8192;
    if (std::min(data.width, data.height) < kLeast ||
        std::max(data.width, data.height) > kMost)
      throw usage("a scatter plot has " + std::to_string(kLeast) + " to " +
                  std::to_string(kMost) + " pixels along each side");
    const embedding::ScatterLayout layout = embedding::layoutScatter(data);
    writeFileAtomically(file, png ? embedding::scatterPng(layout)
                                  : embedding::scatterSvg(layout));
  });
}
