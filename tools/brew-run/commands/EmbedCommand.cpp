//===- EmbedCommand.cpp - brew-run embed ----------------------------------===//
//
// Computes a low-dimensional layout of samples from a blob's values, by
// principal components or t-SNE.
//
//===----------------------------------------------------------------------===//

#include "BlobRows.h"
#include "FeatureFile.h"
#include "Log.h"
#include "PageReport.h"
#include "Predictions.h"
#include "TensorBoardProjector.h"
#include "support/AtomicFile.h"
#include "tools/monitor/EmbeddingView.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

namespace brew::run {
namespace {

struct EmbedOptions {
  PlanOptions plan;
  BlobRowsOptions rows;
  std::vector<std::string> plots;
  std::string method = "tsne", labels, output, projector;
  std::string monitorAt; ///< endpoint of the monitor; "": no monitor
  std::int64_t components = 2;
  brew_tsne_options tsne = api::makeStruct<brew_tsne_options>();
};

/// Whether `text` ends with `end`, which must be lower-case. Ignores the case
/// of `text`.
bool endsWith(const std::string &text, const std::string &end) {
  std::string tail =
      text.substr(text.size() - std::min(text.size(), end.size()));
  std::transform(tail.begin(), tail.end(), tail.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return tail == end;
}

/// Checks the outputs before anything is computed.
void checkOutputs(const EmbedOptions &options) {
  std::vector<std::string> files = options.plots;
  for (const std::string &plot : files)
    if (!endsWith(plot, ".svg") && !endsWith(plot, ".png"))
      throw usage("--plot " + plot + ": the file must end in .svg or .png");
  if (!options.output.empty())
    files.push_back(options.output);
  if (files.empty() && options.projector.empty())
    throw usage("name an output: --output FILE.npy, --plot FILE.png or "
                "FILE.svg, --projector FOLDER");
  for (const std::string &file : files) {
    const std::filesystem::path folder =
        std::filesystem::absolute(file).parent_path();
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
      throw unavailable(file + ": there is no folder " + folder.string());
    requireWritable(file);
  }
  if (options.components != 2 && options.method == "tsne")
    throw usage("--components needs --method pca; t-SNE always has two");
  if (options.components < 2 && !options.plots.empty())
    throw usage("a plot needs two components");
  // Both methods compute principal components, which need OpenCV: load it now.
  constexpr float kTwoRows[] = {0, 1};
  api::pca({kTwoRows, 2, 1}, 1, 0, chosenThreads(options.plan));
}

std::string percent(double share) {
  return log::number(std::round(share * 1000) / 10) + " %";
}

std::vector<float> layOutByPca(const EmbedOptions &options,
                               const api::FeatureRows &rows) {
  if (options.components > rows.columns)
    throw usage("--components " + std::to_string(options.components) +
                ": blob '" + options.rows.blob + "' has " +
                std::to_string(rows.columns) + " values per sample");
  // With a GPU plan, the GPU computes the products.
  const api::Plan plan(options.plan.plan);
  const std::vector<int> gpus = gpuNumbers(options.plan.gpu);
  const api::Pca pca = api::pca(rows, options.components, options.tsne.seed,
                                chosenThreads(options.plan), &plan,
                                gpus.empty() ? 0 : gpus.front());
  double share = 0;
  for (std::size_t i = 0; i < pca.variances.size(); ++i) {
    share += pca.variances[i] / std::max(pca.variance, 1e-300);
    if (i < 10 || i + 1 == pca.variances.size())
      log::info(log::site::brew,
                "Component " + std::to_string(i) + ": variance " +
                    log::number(pca.variances[i]) + ", up to here " +
                    percent(share) + " of all");
  }
  return pca.scores;
}

/// The page that shows the layout in progress.
class Page {
public:
  Page(const EmbedOptions &options, const std::string &method) {
    if (options.monitorAt.empty())
      return;
    const auto endpoint =
        monitor::Endpoint::parse(options.monitorAt, "--monitor");
    view.emplace(options.rows.blob, method);
    server = std::make_unique<monitor::Server>(endpoint, *view);
    reportPage(*server);
  }
  void setSamples(const BlobRows &rows,
                  const std::vector<std::string> &classNames) {
    if (view)
      view->setSamples(rows.net, {rows.names, rows.classes, classNames});
  }
  void show(const brew_tsne_progress &progress) {
    if (view)
      view->show(progress.embedding, 2, progress.iteration, progress.iterations,
                 progress.divergence,
                 progress.iteration == progress.iterations);
  }
  void showComponents(const std::vector<float> &scores, std::int64_t columns) {
    if (view)
      view->show(scores.data(), static_cast<std::size_t>(columns), 0, 0,
                 std::numeric_limits<double>::quiet_NaN(), true);
  }

private:
  std::optional<monitor::EmbeddingView> view;
  std::unique_ptr<monitor::Server> server; // destroyed before its view
};

std::vector<float> layOutByTsne(const EmbedOptions &options,
                                const api::FeatureRows &rows,
                                const StopSignals &signals, Page &page) {
  brew_tsne_options tsneOptions = options.tsne;
  tsneOptions.threads = chosenThreads(options.plan);
  return api::tsne(rows, tsneOptions,
                   [&](const brew_tsne_progress *progress) {
                     signals.check();
                     if (!progress)
                       return;
                     log::info(
                         log::site::brew,
                         "Iteration " + std::to_string(progress->iteration) +
                             " of " + std::to_string(progress->iterations) +
                             ", KL divergence " +
                             log::number(progress->divergence));
                     page.show(*progress);
                   })
      .embedding;
}

/// Returns each sample's class name; empty if no class is known.
std::vector<std::string> classTexts(const std::vector<std::int32_t> &classes,
                                    const std::vector<std::string> &names) {
  std::vector<std::string> texts;
  if (std::all_of(classes.begin(), classes.end(), [](int c) { return c < 0; }))
    return texts;
  for (std::int32_t number : classes) {
    const auto index = static_cast<std::size_t>(number);
    texts.push_back(number < 0             ? ""
                    : index < names.size() ? names[index]
                                           : std::to_string(number));
  }
  return texts;
}

int embed(const EmbedOptions &options) {
  checkOutputs(options);
  const bool pca = options.method == "pca";
  const std::string method = pca ? "principal components" : "t-SNE";
  const StopSignals signals;
  const std::vector<std::string> classNames = readLabels(options.labels);
  Page page(options, method);
  const BlobRows features =
      computeBlobRows(options.plan, options.rows, signals);
  page.setSamples(features, classNames);
  const api::FeatureRows rows = {
      features.values.data(), static_cast<std::int64_t>(features.names.size()),
      static_cast<std::int64_t>(features.columns)};
  log::info(log::site::brew, "Embedding " + std::to_string(rows.rows) +
                                 " samples of " + std::to_string(rows.columns) +
                                 " features by " + method);
  const std::vector<float> layout =
      pca ? layOutByPca(options, rows)
          : layOutByTsne(options, rows, signals, page);
  if (pca)
    page.showComponents(layout, options.components);
  const auto columns = static_cast<std::size_t>(options.components);

  if (!options.output.empty()) {
    const auto file =
        openFeatureFile(options.output, "npy", options.rows.blob, true);
    file->append({rows.rows, options.components}, layout);
    file->finish();
  }
  if (!options.projector.empty())
    writeTensorBoardProjector(
        options.projector,
        {options.rows.blob + " " + options.method, layout, columns},
        {options.rows.blob, features.values, features.columns}, features.names,
        classTexts(features.classes, classNames));
  if (!options.plots.empty()) {
    std::vector<float> points; // the first two components
    for (std::size_t i = 0; i < layout.size(); i += columns)
      points.insert(points.end(), {layout[i], layout[i + 1]});
    api::ScatterOptions scatter;
    scatter.classes = features.classes;
    scatter.classNames = classNames;
    scatter.title = options.rows.blob + " of " + std::to_string(rows.rows) +
                    " samples, " + method;
    for (const std::string &plot : options.plots)
      api::writeScatter(plot, points, scatter);
  }
  return 0;
}

/// Returns a check that a number is above `lower` and at most `upper`.
CLI::Validator within(double lower, double upper,
                      const std::string &description) {
  auto check = [=](const std::string &text) -> std::string {
    double value = 0;
    // The later conversion reports text that is not a number.
    if (!CLI::detail::lexical_cast(text, value) ||
        (value > lower && value <= upper))
      return "";
    return text + " is not " + description;
  };
  return CLI::Validator(check, "", "within");
}

void addTsneOptions(CLI::App &command, EmbedOptions &options) {
  const std::string group = "t-SNE";
  const double any = std::numeric_limits<double>::max();
  brew_tsne_options &tsne = options.tsne;
  command
      .add_option("--perplexity", tsne.perplexity,
                  "Approximate number of neighbours of a sample (default 30)")
      ->group(group)
      ->check(within(1, any, "more than 1"));
  command
      .add_option("--exaggeration", tsne.exaggeration,
                  "Initial factor of attraction (default 12)")
      ->group(group)
      ->check(within(0.999999, any, "1 or more"));
  command
      .add_option_function<int>(
          "--exaggerated-iterations",
          [&tsne](int count) {
            tsne.exaggerated_iterations = count ? count : -1;
          },
          "Iterations with exaggeration (default 250)")
      ->group(group)
      ->check(CLI::Range(0, 1000000));
  command
      .add_option_function<int>(
          "--iterations",
          [&tsne](int count) { tsne.iterations = count ? count : -1; },
          "Iterations without exaggeration (default 500)")
      ->group(group)
      ->check(CLI::Range(0, 1000000));
  command
      .add_option("--learning-rate", tsne.learning_rate,
                  "Learning rate (default: samples / exaggeration)")
      ->group(group)
      ->check(within(0, any, "more than 0"));
  command
      .add_option("--theta", tsne.theta,
                  "Accuracy of Barnes and Hut's approximation (default 0.5; "
                  "smaller is more exact)")
      ->group(group)
      ->check(within(0, 1, "more than 0 and at most 1"));
  command
      .add_option("--exact", tsne.exact_rows,
                  "Maximum number of samples for exact t-SNE (default 1000)")
      ->group(group)
      ->check(atLeast(1));
}

} // namespace

void addEmbed(CLI::App &app, Action &action) {
  auto options = std::make_shared<EmbedOptions>();
  CLI::App *command = app.add_subcommand(
      "embed", "Compute a layout of samples from a blob's values");
  addPlanOptions(*command, options->plan);
  command
      ->add_option("inputs,--inputs", options->rows.inputs,
                   "Images, folders, lists (.txt), IDX, HDF5 or .npy files, "
                   "databases")
      ->type_name("FILES")
      ->required();
  command->add_option("--blob", options->rows.blob, "Blob with the features")
      ->type_name("BLOB")
      ->required();
  command->add_option("--method", options->method, "pca or tsne (default)")
      ->transform(CLI::IsMember({"pca", "tsne"}, CLI::ignore_case));
  command
      ->add_option("--components", options->components,
                   "Components of --method pca (default 2)")
      ->check(atLeast(1));
  command
      ->add_option("--output", options->output,
                   ".npy file for the layout, a row per sample")
      ->type_name("FILE");
  command
      ->add_option("--plot", options->plots,
                   "Scatter plot, .svg or .png; may be repeated")
      ->type_name("FILE")
      ->delimiter(',');
  command->add_flag(
      "--monitor{:6060}", options->monitorAt,
      "Serve a page that shows the layout in progress at "
      "[HOST]:PORT (127.0.0.1:6060); the log names the file with its URL");
  command
      ->add_option("--projector", options->projector,
                   "Folder for TensorBoard's projector")
      ->type_name("FOLDER");
  addWeightOptions(*command, options->rows.weights);
  command
      ->add_option("--program", options->rows.program,
                   "Program to run (default: deploy, or the only one)")
      ->type_name("NAME");
  command
      ->add_option("--labels", options->labels,
                   "File with a class name per line")
      ->type_name("FILE");
  command
      ->add_option("--classes", options->rows.classes,
                   "File with one class number per line for each sample, for "
                   "inputs without labels")
      ->type_name("FILE");
  addImageOptions(*command, options->rows.images);
  command->add_option("--skip", options->rows.skip, "Samples to skip first")
      ->check(atLeast(0));
  command
      ->add_option("--count", options->rows.count, "Maximum number of samples")
      ->check(atLeast(1));
  command->add_option("--random-seed", options->tsne.seed,
                      "Seed of the layout");
  addTsneOptions(*command, *options);
  command->callback(
      [options, &action] { action = [options] { return embed(*options); }; });
}

} // namespace brew::run
