//===- embedding.hpp - Two-dimensional views of feature vectors -*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/embedding.h>
#include <brew/plan.hpp>
#include <brew/support.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace brew::api {

/// Features, one row per sample.
struct FeatureRows {
  const float *values;
  std::int64_t rows, columns;
};

struct Pca {
  std::vector<float> scores;     ///< rows x components
  std::vector<float> directions; ///< components x columns
  std::vector<double> variances;
  double variance; ///< of all columns together
};

inline Pca pca(const FeatureRows &features, std::int64_t components = 2,
               std::uint64_t seed = 0, int threads = 0,
               const Plan *plan = nullptr, int gpu = 0) {
  auto options = makeStruct<brew_pca_options>();
  options.plan = plan ? plan->get() : nullptr;
  options.gpu = gpu;
  options.components = components;
  options.seed = seed;
  options.threads = threads;
  if (components < 1 || components > features.columns || features.rows < 0)
    throw Error(BREW_USAGE, "the number of components must be 1 to " +
                                std::to_string(features.columns));
  Pca pca;
  pca.scores.resize(static_cast<std::size_t>(features.rows * components));
  pca.directions.resize(
      static_cast<std::size_t>(features.columns * components));
  pca.variances.resize(static_cast<std::size_t>(components));
  auto result = makeStruct<brew_pca_result>();
  result.scores = pca.scores.data();
  result.directions = pca.directions.data();
  result.variances = pca.variances.data();
  result.variance = &pca.variance;
  char message[1024];
  detail::check(brew_pca(features.values, features.rows, features.columns,
                         &options, &result, message, sizeof message),
                message);
  return pca;
}

struct Tsne {
  std::vector<float> embedding; ///< rows x 2
  double divergence;
};

/// `options`: makeStruct<brew_tsne_options>() with changed fields; its progress
/// and user are set here. Rethrows the exception of `progress`.
inline Tsne
tsne(const FeatureRows &features, brew_tsne_options options,
     const std::function<void(const brew_tsne_progress *)> &progress = {}) {
  if (features.rows < 0)
    throw Error(BREW_USAGE, "the number of rows is negative");
  Tsne tsne;
  tsne.embedding.resize(static_cast<std::size_t>(features.rows * 2));
  struct Call {
    const std::function<void(const brew_tsne_progress *)> &function;
    detail::CallbackError thrown;
  } call{progress, {}};
  if (progress) {
    options.user = &call;
    options.progress = [](const brew_tsne_progress *now, void *user) {
      auto &to = *static_cast<Call *>(user);
      return to.thrown.capture([&] { to.function(now); }) ? BREW_OK
                                                          : BREW_USAGE;
    };
  }
  char message[1024];
  const brew_status status = brew_tsne(
      features.values, features.rows, features.columns, &options,
      tsne.embedding.data(), &tsne.divergence, message, sizeof message);
  call.thrown.rethrow();
  detail::check(status, message);
  return tsne;
}

struct ScatterOptions {
  std::vector<std::int32_t> classes; ///< of each point, or empty
  std::vector<std::string> classNames;
  std::string title;
  int width = 0, height = 0; ///< 0: the library's default
};

inline void writeScatter(const std::string &path,
                         const std::vector<float> &points,
                         const ScatterOptions &wanted = {}) {
  auto options = makeStruct<brew_scatter_options>();
  const auto rows = static_cast<std::int64_t>(points.size() / 2);
  if (!wanted.classes.empty() &&
      static_cast<std::int64_t>(wanted.classes.size()) != rows)
    throw Error(BREW_USAGE, "there are as many classes as points");
  const std::vector<const char *> names = detail::cStrings(wanted.classNames);
  options.classes = wanted.classes.empty() ? nullptr : wanted.classes.data();
  options.class_names = names.empty() ? nullptr : names.data();
  options.class_count = names.size();
  options.title = wanted.title.empty() ? nullptr : wanted.title.c_str();
  options.width = wanted.width;
  options.height = wanted.height;
  char message[1024];
  detail::check(brew_scatter_write(path.c_str(), points.data(), rows, &options,
                                   message, sizeof message),
                message);
}

} // namespace brew::api
