//===- BlobRows.cpp - Rows of a blob for many samples ---------------------===//

#include "BlobRows.h"

#include "Predictions.h"
#include "support/Suggest.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace brew::run {
namespace {

/// Reads a file with one integer per line, one for each sample.
std::vector<std::int32_t> readClasses(const std::string &path,
                                      std::size_t samples) {
  std::vector<std::int32_t> classes;
  for (const std::string &line : readLabels(path)) {
    std::int32_t number = 0;
    const char *end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data(), end, number);
    if (error != std::errc() || stop != end)
      throw badInput(path + ":" + std::to_string(classes.size() + 1) + ": '" +
                     line + "' is not a class; each line must be an integer");
    classes.push_back(number);
  }
  if (classes.size() != samples)
    throw badInput(path + ": has " + std::to_string(classes.size()) +
                   " classes; there are " + std::to_string(samples) +
                   " samples");
  return classes;
}

/// Runs the samples in batches and collects the rows.
class BlobRowExtractor {
public:
  BlobRowExtractor(const PlanOptions &plan, const BlobRowsOptions &rowOptions,
                   const StopSignals &stopSignals)
      : options(rowOptions), signals(stopSignals), session(plan),
        program(session.chooseProgram(options.program,
                                      {"deploy", "main", "test_0"})),
        input(session, program) {
    findBlob();
    session.initialise(options.weights, /*required=*/true);
    features.net = session.plan.info().net;
  }

  BlobRows run() {
    std::int64_t skipped = 0, taken = 0;
    for (const std::string &path : options.inputs) {
      api::Records records = openRecords(path, input.rowShape(), input.name(),
                                         options.images, input.transform());
      while (taken < options.count) {
        const std::optional<brew_record> record = records.next();
        if (!record)
          break;
        if (skipped++ < options.skip)
          continue;
        if (record->is_image && taken == 0)
          warnOfRawImages(options.images, input.transform());
        if (record->label_error && options.classes.empty())
          throw badInput(record->label_error +
                         std::string(" (or pass the classes with --classes)"));
        ++taken;
        features.names.push_back(record->name);
        features.classes.push_back(record->has_label ? record->label : -1);
        pending.emplace_back(record->values, record->values + record->count);
        if (static_cast<std::int64_t>(pending.size()) == input.batch())
          flush();
      }
    }
    flush();
    if (features.names.empty())
      throw badInput("there are no samples");
    if (!options.classes.empty())
      features.classes = readClasses(options.classes, features.names.size());
    return std::move(features);
  }

private:
  void findBlob() {
    std::vector<std::string> readableBlobs;
    for (const api::TensorName &name : session.names(BREW_BLOB, program))
      readableBlobs.push_back(name.name);
    const std::string programText =
        "the program '" + std::string(session.plan.programInfo(program).name) +
        "'";
    if (std::find(readableBlobs.begin(), readableBlobs.end(), options.blob) ==
        readableBlobs.end())
      throw badInput(programText + " has no readable blob '" + options.blob +
                     "'" + didYouMean(options.blob, readableBlobs) +
                     " (brewc --keep pins blobs of the net)");
    const brew_tensor blob = session.find(session.blob(program, options.blob));
    if (blob.dynamic_dim >= 0 || !blob.shape_ndim ||
        blob.shape[0] != input.batch())
      throw badInput("blob '" + options.blob + "' of " + programText +
                     " does not have a row for each sample");
    features.columns = static_cast<std::size_t>(
        blob.count / std::max<std::int64_t>(1, input.batch()));
    if (!features.columns)
      throw badInput("blob '" + options.blob + "' has no values");
  }

  void flush() {
    if (pending.empty())
      return;
    signals.check();
    std::vector<const float *> samples;
    for (const std::vector<float> &sample : pending)
      samples.push_back(sample.data());
    input.run(samples);
    const std::vector<float> rows =
        session.read(session.blob(program, options.blob));
    const std::size_t size = pending.size() * features.columns;
    const std::size_t first = features.names.size() - pending.size();
    for (std::size_t i = 0; i < size; ++i)
      if (!std::isfinite(rows[i]))
        throw badInput(features.names[first + i / features.columns] +
                       ": blob '" + options.blob + "' is " +
                       (std::isnan(rows[i]) ? "nan" : "inf") + " at position " +
                       std::to_string(i % features.columns));
    features.values.insert(features.values.end(), rows.begin(),
                           rows.begin() + static_cast<std::ptrdiff_t>(size));
    pending.clear();
  }

  const BlobRowsOptions &options;
  const StopSignals &signals;
  Session session;
  int program;
  BatchInput input;
  BlobRows features;
  std::vector<std::vector<float>> pending;
};

} // namespace

BlobRows computeBlobRows(const PlanOptions &plan,
                         const BlobRowsOptions &options,
                         const StopSignals &signals) {
  return BlobRowExtractor(plan, options, signals).run();
}

} // namespace brew::run
