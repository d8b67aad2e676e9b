//===- Embedding.cpp - Bindings of embeddings -----------------------------===//
#include "ExitGuard.h"
#include "Module.h"

#include <brew/brew.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Rows =
    nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutputRows =
    nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
/// Arguments: iteration, iterations, divergence.
using ProgressCallback = std::function<void(int, int, double)>;

brew::api::FeatureRows rowsOf(const Rows &rows) {
  return {rows.data(), static_cast<std::int64_t>(rows.shape(0)),
          static_cast<std::int64_t>(rows.shape(1))};
}

/// Fills `scores` (rows x components). Returns the variance of each component,
/// followed by the total variance.
std::vector<double> pca(const Rows &rows, const OutputRows &scores,
                        std::uint64_t seed, int threads) {
  const brew::python::GilRelease released;
  brew::api::Pca result = brew::api::pca(
      rowsOf(rows), static_cast<std::int64_t>(scores.shape(1)), seed, threads);
  std::copy(result.scores.begin(), result.scores.end(), scores.data());
  result.variances.push_back(result.variance);
  return result.variances;
}

/// Fills `layout` (rows x 2) and returns the divergence. Ctrl-C aborts it.
double tsne(const Rows &rows, const OutputRows &layout, double perplexity,
            double exaggeration, int exaggeratedIterations, int iterations,
            double learningRate, double theta, std::int64_t exact,
            std::uint64_t seed, int threads, const ProgressCallback &progress) {
  auto options = brew::api::makeStruct<brew_tsne_options>();
  options.perplexity = perplexity;
  options.exaggeration = exaggeration;
  // In the library, 0 selects the default.
  options.exaggerated_iterations =
      exaggeratedIterations ? exaggeratedIterations : -1;
  options.iterations = iterations ? iterations : -1;
  options.learning_rate = learningRate;
  options.theta = theta;
  options.exact_rows = exact;
  options.seed = seed;
  options.threads = threads;
  const brew::python::GilRelease released;
  const brew::api::Tsne result = brew::api::tsne(
      rowsOf(rows), options, [&](const brew_tsne_progress *state) {
        const nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals() != 0)
          throw nb::python_error();
        if (state && progress)
          progress(state->iteration, state->iterations, state->divergence);
      });
  std::copy(result.embedding.begin(), result.embedding.end(), layout.data());
  return result.divergence;
}

void scatter(const std::string &path, const Rows &points,
             std::vector<std::int32_t> classes, std::vector<std::string> names,
             std::string title, int width, int height) {
  const brew::python::GilRelease released;
  brew::api::writeScatter(
      path, {points.data(), points.data() + points.size()},
      {std::move(classes), std::move(names), std::move(title), width, height});
}

} // namespace

namespace brew::python {

void bindEmbedding(nb::module_ &module) {
  module.def("pca", &pca, "rows"_a, "scores"_a, "seed"_a, "threads"_a);
  module.def("tsne", &tsne, "rows"_a, "layout"_a, "perplexity"_a,
             "exaggeration"_a, "exaggerated_iterations"_a, "iterations"_a,
             "learning_rate"_a, "theta"_a, "exact"_a, "seed"_a, "threads"_a,
             "progress"_a.none());
  module.def("scatter", &scatter, "path"_a, "points"_a, "classes"_a, "names"_a,
             "title"_a, "width"_a, "height"_a);
}

} // namespace brew::python
