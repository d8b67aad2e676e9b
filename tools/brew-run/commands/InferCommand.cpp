//===- InferCommand.cpp - brew-run infer ----------------------------------===//

#include "BatchInput.h"
#include "Log.h"
#include "Oversample.h"
#include "Predictions.h"
#include "Session.h"
#include "support/AtomicFile.h"
#include "tools/common/StandardStreams.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

namespace brew::run {
namespace {

struct InferOptions {
  PlanOptions plan;
  std::vector<std::string> inputs, weights;
  std::string labels, outputs, program, blob;
  ImageOptions images;
  bool json = false, oversample = false;
  bool isTopSet = false;
  std::vector<std::int64_t> imageDims;
  std::int64_t top = 5;
  std::int64_t skip = 0;
  std::int64_t count = std::numeric_limits<std::int64_t>::max();
  /// With --outputs, predictions are printed only if a printing option is set.
  bool printsPredictions() const {
    return outputs.empty() || json || isTopSet || !labels.empty();
  }
};

/// One sample with the shape of a row of the input.
struct Sample {
  std::string name;
  std::vector<float> values;
  std::optional<int> label; ///< the true label, if known
};

std::int64_t product(const std::vector<std::int64_t> &dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t(1),
                         std::multiplies<std::int64_t>());
}

/// The meaning of the rows of a blob.
enum class Rows {
  Samples,    ///< one per sample
  Filtered,   ///< one per sample that passes a Filter layer
  Detections, ///< image, label, score, left, top, right, bottom
};

/// A blob whose rows are printed or written.
struct Result {
  std::string name;
  Rows kind;
  std::vector<std::int64_t> dims; ///< of one batch
  std::vector<float> values;      ///< rows collected for --outputs
  std::vector<float> crops;       ///< rows of an image with pending crops
  /// Returns the axis along which the rows are counted.
  std::size_t axis() const { return kind == Rows::Detections ? 2 : 0; }
  std::size_t rowSize() const {
    return static_cast<std::size_t>(product(dims) / dims[axis()]);
  }
};

class Inference {
public:
  explicit Inference(const InferOptions &inferOptions)
      : options(inferOptions), session(options.plan),
        program(session.chooseProgram(options.program,
                                      {"deploy", "main", "test_0"})),
        printer(options.labels, options.top, options.json),
        input(session, program), transform(input.transform()) {
    if (transform && transform->label_count)
      printer.setDefaultNames(
          {transform->labels, transform->labels + transform->label_count});
    // Crops are taken from the image of --image-dims.
    if (transform && options.oversample)
      transform->resize_height = transform->resize_width = 0;
    session.initialise(options.weights, /*required=*/true);
    chooseResults();
    checkPrintable();
    chooseImageShape();
  }

  int run() {
    if (!options.outputs.empty())
      requireWritable(options.outputs);
    std::int64_t skipped = 0;
    for (const std::string &path : options.inputs) {
      bool warned = false;
      api::Records records = openRecords(path, imageShape, input.name(),
                                         options.images, transform);
      while (sampleCount < options.count) {
        const std::optional<brew_record> record = records.next();
        if (!record)
          break;
        if (skipped++ < options.skip)
          continue;
        if (record->label_error && !warned)
          log::warning(log::site::brew,
                       record->label_error +
                           std::string("; continuing without labels"));
        warned = warned || record->label_error;
        if (record->is_image && sampleCount == 0)
          warnOfRawImages(options.images, transform);
        add(*record);
      }
    }
    flush();
    if (sampleCount == 0)
      throw badInput("there are no samples");
    if (!options.outputs.empty())
      writeOutputs();
    return 0;
  }

private:
  /// Adds the sample of a record, or its crops.
  void add(const brew_record &record) {
    ++sampleCount;
    Sample sample;
    sample.name = record.name;
    if (record.has_label)
      sample.label = record.label;
    if (!options.oversample) {
      sample.values.assign(record.values, record.values + record.count);
      addSample(std::move(sample));
      return;
    }
    cropped.push_back(sample);
    for (std::vector<float> &crop :
         tenCrops(record.values, imageShape[0], imageShape[1], imageShape[2],
                  input.rowShape()[1], input.rowShape()[2])) {
      sample.values = std::move(crop);
      addSample(sample);
    }
  }

  void addSample(Sample sample) {
    pending.push_back(std::move(sample));
    if (static_cast<std::int64_t>(pending.size()) == input.batch())
      flush();
  }

  /// Chooses the size to which images are resized before cropping.
  void chooseImageShape() {
    imageShape = input.rowShape();
    if (!options.oversample)
      return;
    if (imageShape.size() != 3)
      throw usage("--oversample needs images; the input '" + input.name() +
                  "' is not an image");
    // As in pycaffe's Classifier: not smaller than the crops.
    std::vector<std::int64_t> dims = options.imageDims;
    if (dims.empty())
      dims = {256, 256};
    for (std::size_t i = 0; i < 2; ++i)
      imageShape[1 + i] = std::max(dims[i], imageShape[1 + i]);
    for (const Result &result : results)
      if (result.kind != Rows::Samples)
        throw usage("--oversample needs one row per sample; blob '" +
                    result.name + "' has other rows");
  }

  void addResult(const std::string &name) {
    const brew_tensor blob = session.find(session.blob(program, name));
    const Rows kind = blob.dynamic_dim < 0    ? Rows::Samples
                      : blob.dynamic_dim == 0 ? Rows::Filtered
                                              : Rows::Detections;
    if (kind != Rows::Samples || (blob.ndim && blob.dims[0] == input.batch()))
      results.push_back(
          {name, kind, {blob.dims, blob.dims + blob.ndim}, {}, {}});
  }

  void chooseResults() {
    const brew_program_info info = session.plan.programInfo(program);
    if (options.blob.empty()) {
      for (std::size_t i = 0; i < info.output_count; ++i)
        addResult(info.outputs[i]);
    } else {
      for (const api::TensorName &blob : session.names(BREW_BLOB, program))
        if (blob.name == options.blob)
          addResult(blob.name);
    }
    // Of several outputs, print the main one, by Caffe's usual name.
    const auto main =
        std::find_if(results.begin(), results.end(), [](const Result &result) {
          return result.name == "prob";
        });
    if (main != results.end())
      std::rotate(results.begin(), main, main + 1);
    if (!results.empty())
      return;
    if (!options.blob.empty())
      throw badInput("the program has no readable blob '" + options.blob +
                     "' with a row for each sample; pin it with brewc --keep");
    throw badInput("no output of the program '" + std::string(info.name) +
                   "' has a row for each sample; compile a deploy net, or "
                   "name a blob with --blob");
  }

  /// Checks before the run that the predictions can be printed.
  void checkPrintable() const {
    const Result &printed = results.front();
    if (!options.printsPredictions())
      return;
    if (printed.kind == Rows::Filtered)
      throw badInput("blob '" + printed.name +
                     "' does not identify the samples of its rows; use only "
                     "--outputs, or choose another blob with --blob");
    if (printed.kind == Rows::Detections && options.isTopSet)
      throw usage("--top needs class scores; blob '" + printed.name +
                  "' has boxes");
  }

  void flush() {
    if (pending.empty())
      return;
    std::vector<const float *> samples;
    for (const Sample &sample : pending)
      samples.push_back(sample.values.data());
    input.run(samples);
    for (Result &result : results)
      collect(result, &result == &results.front());
    pending.clear();
    // Without --outputs nothing remains to be done if nobody reads the results.
    if (options.outputs.empty() && !tools::flushResults())
      throw unavailable("cannot write to standard output");
  }

  /// Returns the rows of the pending samples, without padding.
  std::vector<float> readRows(const Result &result) {
    std::vector<float> values =
        session.read(session.blob(program, result.name));
    if (result.kind == Rows::Samples) {
      values.resize(pending.size() * result.rowSize());
      return values;
    }
    if (result.kind == Rows::Filtered) {
      if (static_cast<std::int64_t>(pending.size()) < input.batch())
        throw badInput(
            "the last " + std::to_string(pending.size()) +
            " samples do not fill a batch of " + std::to_string(input.batch()) +
            ", and blob '" + result.name +
            "' does not identify their rows; recompile the net "
            "with a batch (brewc --batch) that divides the number of samples");
      return values;
    }
    // Drop the rows of padding samples and number the images across batches.
    const std::size_t rowSize = result.rowSize();
    std::vector<float> rows;
    for (std::size_t row = 0; row < values.size(); row += rowSize)
      if (values[row] < static_cast<float>(pending.size())) {
        rows.insert(rows.end(), &values[row], &values[row] + rowSize);
        rows[rows.size() - rowSize] += static_cast<float>(
            sampleCount - static_cast<std::int64_t>(pending.size()));
      }
    return rows;
  }

  void collect(Result &result, bool isPrinted) {
    std::vector<float> rows = readRows(result);
    const std::size_t rowSize = result.rowSize();
    if (options.oversample) {
      // The crops of an image may be spread over several batches.
      result.crops.insert(result.crops.end(), rows.begin(), rows.end());
      rows = averageCrops(result.crops, rowSize);
      result.crops.erase(result.crops.begin(),
                         result.crops.begin() + rows.size() * kCropCount);
    }
    if (!options.outputs.empty())
      result.values.insert(result.values.end(), rows.begin(), rows.end());
    if (!isPrinted || !options.printsPredictions())
      return;
    if (options.oversample) {
      const std::size_t imageCount = rows.size() / rowSize;
      for (std::size_t i = 0; i < imageCount; ++i)
        print(cropped[i], &rows[i * rowSize], rowSize);
      cropped.erase(cropped.begin(),
                    cropped.begin() + static_cast<std::ptrdiff_t>(imageCount));
      return;
    }
    for (std::size_t i = 0; i < pending.size(); ++i)
      if (result.kind == Rows::Samples)
        print(pending[i], &rows[i * rowSize], rowSize);
      else
        printDetections(i, rows, rowSize);
  }

  /// Prints the boxes of a pending sample.
  void printDetections(std::size_t sample, const std::vector<float> &rows,
                       std::size_t rowSize) const {
    const auto image = static_cast<float>(
        sampleCount - static_cast<std::int64_t>(pending.size() - sample));
    printer.printDetections(pending[sample].name, image, rows, rowSize);
  }

  void print(const Sample &sample, const float *scores, std::size_t classes) {
    printer.printClasses(sample.name, sample.label, scores, classes,
                         results.front().name);
  }

  void writeOutputs() {
    api::TensorFile writer(options.outputs, BREW_WRITE);
    for (Result &result : results) {
      result.dims[result.axis()] =
          static_cast<std::int64_t>(result.values.size() / result.rowSize());
      writer.write("/" + result.name, result.dims, result.values.data());
    }
    writer.commit();
  }

  const InferOptions &options;
  Session session;
  int program;
  PredictionPrinter printer;
  BatchInput input;
  std::optional<brew_input_transform> transform; ///< recorded in the plan
  std::vector<std::int64_t> imageShape;          ///< see chooseImageShape()
  std::vector<Sample> cropped;                   ///< samples with pending crops
  std::vector<Result> results;
  std::vector<Sample> pending;
  std::int64_t sampleCount = 0;
};

} // namespace

void addInfer(CLI::App &app, Action &action) {
  auto options = std::make_shared<InferOptions>();
  CLI::App *command = app.add_subcommand(
      "infer", "Run a net on images, IDX files, HDF5 files or databases");
  addPlanOptions(*command, options->plan);
  command
      ->add_option("inputs,--inputs", options->inputs,
                   "Image, IDX, HDF5 or .npy files, lists of images "
                   "(.txt), folders of images, LMDB or LevelDB folders")
      ->type_name("FILES")
      ->required();
  addWeightOptions(*command, options->weights);
  command
      ->add_option("--labels", options->labels,
                   "File with one class name per line")
      ->type_name("FILE");
  CLI::Option *top =
      command->add_option("--top", options->top, "Classes to print per sample")
          ->capture_default_str()
          ->check(atLeast(1));
  command
      ->add_option("--outputs", options->outputs,
                   "HDF5 file for the outputs; they are also printed with "
                   "--json, --top or --labels")
      ->type_name("FILE");
  command
      ->add_option("--blob", options->blob,
                   "Blob to print, instead of the net's outputs")
      ->type_name("BLOB");
  command
      ->add_option("--program", options->program,
                   "Program to run (default: deploy, or the only one)")
      ->type_name("NAME");
  addImageOptions(*command, options->images);
  command->add_flag("--json", options->json,
                    "Print one JSON object per line for each sample");
  CLI::Option *oversample = command->add_flag(
      "--oversample", options->oversample,
      "Average the results of ten crops: corners, centre, and mirrored");
  command
      ->add_option("--image-dims", options->imageDims,
                   "Height and width to which images are resized before "
                   "cropping (default 256,256)")
      ->type_name("H,W")
      ->delimiter(',')
      ->expected(2)
      ->needs(oversample)
      ->check(atLeast(1));
  command->add_option("--skip", options->skip, "Samples to skip first")
      ->check(atLeast(0));
  command->add_option("--count", options->count, "Maximum number of samples")
      ->check(atLeast(1));
  command->callback([options, top, &action] {
    options->isTopSet = top->count() > 0;
    action = [options] { return Inference(*options).run(); };
  });
}

} // namespace brew::run
