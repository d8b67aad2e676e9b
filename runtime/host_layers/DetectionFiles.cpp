//===- DetectionFiles.cpp - Result files of DetectionOutput ---------------===//

#include "runtime/host_layers/DetectionFiles.h"

#include "formats/PathLookup.h"
#include "runtime/detection/Boxes.h"
#include "runtime/detection/ImageNames.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

namespace brew::runtime {
namespace {

class DetectionFiles : public HostLayer {
public:
  explicit DetectionFiles(const HostLayerSetup &setup) {
    caffe::LayerParameter layer;
    if (!google::protobuf::TextFormat::ParseFromString(setup.settings,
                                                       &layer) ||
        setup.bottoms.size() != 2 || setup.bottoms[1].empty())
      throw badInput("damaged plan: not the settings of result files");
    settings = layer.detection_output_param();
    const caffe::SaveOutputParameter &save = settings.save_output_param();
    batch = setup.bottoms[1][0];
    images = readNameSizeFile(formats::requirePath(
        save.name_size_file(), {setup.paramStr}, "name_size_file"));
    labels = readLabelMap(formats::requirePath(
        save.label_map_file(), {setup.paramStr}, "label_map_file"));
    imageCount =
        save.has_num_test_image() ? save.num_test_image() : images.size();
    if (imageCount > images.size())
      throw badInput("num_test_image is " + std::to_string(imageCount) +
                     ", but " + save.name_size_file() + " lists " +
                     std::to_string(images.size()) + " images");
    std::error_code error;
    std::filesystem::create_directories(save.output_directory(), error);
    if (error)
      throw unavailable("output_directory '" + save.output_directory() +
                        "' cannot be created: " + error.message());
  }

  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      collect<double>(arguments.bottoms[0]);
    else
      collect<float>(arguments.bottoms[0]);
  }
  void backward(HostLayerArguments &) override {
    throw Error(ExitStatus::Bug, "result files have no gradients");
  }
  /// Returns the number of processed images and their detections.
  std::vector<double> state() const override {
    std::vector<double> result = {static_cast<double>(processedCount)};
    for (const Detection &detection : detections)
      for (double value : {static_cast<double>(detection.image),
                           static_cast<double>(detection.label),
                           static_cast<double>(detection.score), detection.left,
                           detection.top, detection.width, detection.height})
        result.push_back(value);
    return result;
  }
  void restore(const std::vector<double> &state) override {
    constexpr std::size_t kFields = 7;
    const auto limit = static_cast<double>(imageCount);
    bool fits =
        state.size() % kFields == 1 && state[0] >= 0 && state[0] < limit;
    detections.clear();
    for (std::size_t i = 1; fits && i < state.size(); i += kFields) {
      const double *v = &state[i];
      fits = v[0] >= 0 && v[0] < state[0] && v[1] >= 0 && v[1] <= 2e9 &&
             labels.count(static_cast<int>(v[1])) != 0;
      if (fits)
        detections.push_back({static_cast<std::size_t>(v[0]),
                              static_cast<int>(v[1]), static_cast<float>(v[2]),
                              v[3], v[4], v[5], v[6]});
    }
    if (!fits)
      throw badInput("the solver state has other results than name_size_file "
                     "and label_map_file allow");
    processedCount = static_cast<std::size_t>(state[0]);
  }

private:
  /// A detection, in pixels rounded to hundredths.
  struct Detection {
    std::size_t image;
    int label;
    float score;
    double left, top, width, height;
  };

  template <typename Real> void collect(const HostLayerBlob &blob) {
    const auto *rows = static_cast<const Real *>(blob.values);
    for (std::int64_t n = 0; n < batch; ++n) {
      for (const Real *row = rows; row < rows + blob.count; row += 7)
        if (static_cast<std::int64_t>(row[0]) == n && row[1] >= 0)
          add(static_cast<int>(row[1]), static_cast<float>(row[2]),
              {static_cast<float>(row[3]), static_cast<float>(row[4]),
               static_cast<float>(row[5]), static_cast<float>(row[6])});
      if (++processedCount < imageCount)
        continue;
      write();
      processedCount = 0;
      detections.clear();
    }
  }

  void add(int label, float score, const Box<float> &box) {
    nameOf(label);
    const NamedImageSize &image = images[processedCount];
    const caffe::SaveOutputParameter &save = settings.save_output_param();
    const Box<float> pixels =
        toPixels(box, image.height, image.width,
                 save.has_resize_param() ? &save.resize_param() : nullptr)
            .box;
    auto toHundredths = [](float x) { return std::round(x * 100) / 100.0; };
    detections.push_back({processedCount, label, score,
                          toHundredths(pixels.left), toHundredths(pixels.top),
                          toHundredths(pixels.right - pixels.left),
                          toHundredths(pixels.bottom - pixels.top)});
  }

  const std::string &nameOf(int label) const {
    const auto entry = labels.find(label);
    if (entry == labels.end())
      throw badInput("label " + std::to_string(label) + " is not in " +
                     settings.save_output_param().label_map_file());
    return entry->second;
  }

  void write() const {
    const std::string &format = settings.save_output_param().output_format();
    if (format == "VOC")
      writeVoc();
    else if (format == "COCO")
      writeCoco();
    else
      writeIlsvrc();
  }

  void writeFile(const std::string &name, const std::string &text) const {
    const caffe::SaveOutputParameter &save = settings.save_output_param();
    writeFileAtomically((std::filesystem::path(save.output_directory()) /
                         (save.output_name_prefix() + name))
                            .string(),
                        text);
  }

  /// Returns "SCORE LEFT TOP RIGHT BOTTOM" and a newline, in whole pixels.
  static std::string lineOf(const Detection &detection) {
    auto toInteger = [](double x) {
      return static_cast<int>(static_cast<float>(x));
    };
    std::ostringstream line;
    line << detection.score << ' ' << toInteger(detection.left) << ' '
         << toInteger(detection.top) << ' '
         << toInteger(detection.left) + toInteger(detection.width) << ' '
         << toInteger(detection.top) + toInteger(detection.height) << '\n';
    return line.str();
  }

  void writeVoc() const {
    for (int c = 0; c < static_cast<int>(settings.num_classes()); ++c) {
      if (c == settings.background_label_id())
        continue;
      std::string text;
      for (const Detection &detection : detections)
        if (detection.label == c)
          text += images[detection.image].name + " " + lineOf(detection);
      writeFile(nameOf(c) + ".txt", text);
    }
  }

  void writeIlsvrc() const {
    std::string text;
    for (const Detection &detection : detections)
      text += images[detection.image].name + " " +
              std::to_string(detection.label) + " " + lineOf(detection);
    writeFile(".txt", text);
  }

  /// Returns `name` as a JSON number if it is one, else as a string.
  static nlohmann::json valueOf(const std::string &name) {
    static const std::regex number("-?(0|[1-9][0-9]*)(\\.[0-9]+)?");
    return std::regex_match(name, number)
               ? nlohmann::json::parse(name, nullptr, false)
               : nlohmann::json(name);
  }

  void writeCoco() const {
    nlohmann::json list = nlohmann::json::array();
    for (const Detection &detection : detections)
      list.push_back(
          {{"image_id", valueOf(images[detection.image].name)},
           {"category_id", valueOf(nameOf(detection.label))},
           {"bbox",
            {detection.left, detection.top, detection.width, detection.height}},
           {"score", detection.score}});
    writeFile(".json", list.dump(1) + "\n");
  }

  caffe::DetectionOutputParameter settings;
  std::vector<NamedImageSize> images;
  std::map<int, std::string> labels;
  std::int64_t batch = 0;
  std::size_t imageCount = 0, processedCount = 0;
  std::vector<Detection> detections;
};

class DetectionFilesType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<DetectionFiles>(setup);
  }
};

} // namespace

const HostLayerType &detectionFilesType() {
  static const DetectionFilesType type;
  return type;
}

} // namespace brew::runtime
