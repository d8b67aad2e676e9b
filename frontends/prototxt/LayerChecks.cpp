//===- LayerChecks.cpp - What is wrong with settings of a layer -----------===//

#include "frontends/prototxt/LayerSettings.h"

#include "formats/Suggest.h"

#include <climits>

namespace brew::prototxt {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

namespace {

/// Reports about one layer.
class Checker {
public:
  Checker(const caffe::LayerParameter &layer, const SourceMap &places,
          Diagnostics &diagnostics)
      : layer(layer), places(places), diagnostics(diagnostics) {}

  void run();

private:
  /// An error at a field of `block`, or where the layer starts if it has none.
  Diagnostic &error(const Message &block, const std::string &field,
                    const std::string &text, int index = 0) {
    const bool known = places.find(block, field, index) != nullptr;
    return diagnostics.error(known ? places.where(block, field, index)
                                   : places.where(layer),
                             layerWords(layer) + text);
  }
  void missing(const Message &block, const std::string &field) {
    error(block, field, field + " is missing");
  }
  void warn(const Message &block, const std::string &field,
            const std::string &text) {
    diagnostics.warning(places.where(block, field), layerWords(layer) + text);
  }
  /// A required count: given, at least 1 and within Caffe's int.
  void checkCount(const Message &block, const std::string &field);
  void checkPairs(const Message &block, const std::string &field,
                  const std::string &prefix, bool mustBePositive);
  void checkFiller(const caffe::FillerParameter &filler);
  void checkShape(const caffe::BlobShape &shape);
  void checkTransform();

  void checkConvolution();
  void checkPooling();
  void checkEltwise();
  void checkDummyData();
  void checkInput();

  const caffe::LayerParameter &layer;
  const SourceMap &places;
  Diagnostics &diagnostics;
};

void Checker::checkCount(const Message &block, const std::string &field) {
  const FieldDescriptor *descriptor =
      block.GetDescriptor()->FindFieldByName(field);
  const auto *reflection = block.GetReflection();
  if (!reflection->HasField(block, descriptor)) {
    missing(block, field);
    return;
  }
  const uint32_t value = reflection->GetUInt32(block, descriptor);
  if (value == 0 || value > INT_MAX)
    error(block, field,
          field + " is " + std::to_string(value) +
              (value ? ", which is too large" : "; it must be at least 1"));
}

/// Checks a quantity per dimension, which convolutions have as a list `field`
/// and both have as `PREFIX_h` and `PREFIX_w`.
void Checker::checkPairs(const Message &block, const std::string &field,
                         const std::string &prefix, bool mustBePositive) {
  const auto *descriptor = block.GetDescriptor();
  const auto *reflection = block.GetReflection();
  auto checkValue = [&](const std::string &name, uint32_t value, int index) {
    if (value > INT_MAX)
      error(block, name, name + " is too large", index);
    else if (mustBePositive && value == 0)
      error(block, name, name + " is 0; it must be at least 1", index);
  };
  const FieldDescriptor *both = descriptor->FindFieldByName(field);
  const bool isList = both->is_repeated();
  const int given = isList ? reflection->FieldSize(block, both)
                           : reflection->HasField(block, both);
  for (int i = 0; i < given; ++i)
    checkValue(field,
               isList ? reflection->GetRepeatedUInt32(block, both, i)
                      : reflection->GetUInt32(block, both),
               i);
  if (given > 2)
    error(block, field,
          field + " is given " + std::to_string(given) +
              " times; convolutions of more than 2 dimensions are not "
              "supported yet",
          2);

  if (prefix.empty())
    return;
  const std::string names[] = {prefix + "_h", prefix + "_w"};
  bool has[2];
  for (int i = 0; i < 2; ++i) {
    const FieldDescriptor *one = descriptor->FindFieldByName(names[i]);
    has[i] = reflection->HasField(block, one);
    if (has[i])
      checkValue(names[i], reflection->GetUInt32(block, one), 0);
  }
  for (int i = 0; i < 2; ++i) {
    if (!has[i])
      continue;
    if (given) {
      error(block, names[i],
            "give either " + field + " or " + names[0] + " and " + names[1] +
                ", not both")
          .note(places.where(block, field), field + " is given here");
      return;
    }
    // For padding the missing one has a default, 0, in convolutions; a pooling
    // and every kernel or stride needs both.
    if (!has[1 - i] && (mustBePositive || !isList))
      error(block, names[i], names[i] + " is given without " + names[1 - i]);
  }
}

void Checker::checkFiller(const caffe::FillerParameter &filler) {
  static const std::vector<std::string> known = {
      "constant", "uniform", "gaussian", "positive_unitball",
      "xavier",   "msra",    "bilinear"};
  const std::string &type = filler.type();
  if (std::find(known.begin(), known.end(), type) == known.end())
    error(filler, "type",
          "unknown filler type '" + type + "'" + didYouMean(type, known));
  else if (type != "gaussian" && filler.sparse() != -1)
    error(filler, "sparse",
          "only a gaussian filler can be sparse, not '" + type + "'");
  else if (filler.sparse() < -1)
    error(filler, "sparse", "sparse must not be negative");
  if (type == "uniform" && !(filler.min() <= filler.max()))
    error(filler, "min", "the filler has min above max");
}

void Checker::checkShape(const caffe::BlobShape &shape) {
  int64_t count = 1;
  for (int i = 0; i < shape.dim_size(); ++i) {
    const int64_t dim = shape.dim(i);
    if (dim < 1) {
      error(shape, "dim",
            "dim is " + std::to_string(dim) + "; it must be at least 1", i);
      return;
    }
    // Caffe counts elements in an int.
    if (dim > INT_MAX / count) {
      error(shape, "dim", "the blob has more than 2147483647 elements", i);
      return;
    }
    count *= dim;
  }
}

void Checker::checkTransform() {
  const caffe::TransformationParameter &transform = layer.transform_param();
  if (transform.has_mean_file() && transform.mean_value_size())
    error(transform, "mean_value",
          "give either mean_file or mean_value, not both")
        .note(places.where(transform, "mean_file"), "mean_file is given here");
  if (transform.force_color() && transform.force_gray())
    error(transform, "force_gray",
          "force_color and force_gray exclude each other");
  if (transform.crop_size() > INT_MAX)
    error(transform, "crop_size", "crop_size is too large");
}

void Checker::checkConvolution() {
  const caffe::ConvolutionParameter &settings = layer.convolution_param();
  checkCount(settings, "num_output");
  if (settings.axis() != 1)
    error(settings, "axis",
          "axis " + std::to_string(settings.axis()) +
              " is not supported yet; channels must be dimension 1");
  if (settings.kernel_size_size() == 0 && !settings.has_kernel_h() &&
      !settings.has_kernel_w())
    missing(settings, "kernel_size");
  checkPairs(settings, "kernel_size", "kernel", true);
  checkPairs(settings, "stride", "stride", true);
  checkPairs(settings, "pad", "pad", false);
  checkPairs(settings, "dilation", "", true);
  if (settings.group() == 0 || settings.group() > INT_MAX)
    error(settings, "group",
          "group is " + std::to_string(settings.group()) +
              "; it must be at least 1");
  else if (settings.num_output() % settings.group())
    error(settings, "num_output",
          "num_output " + std::to_string(settings.num_output()) +
              " is not a multiple of group " +
              std::to_string(settings.group()));
}

void Checker::checkPooling() {
  const caffe::PoolingParameter &settings = layer.pooling_param();
  const Window window = poolingWindow(settings);
  if (settings.pool() == caffe::PoolingParameter::STOCHASTIC)
    error(settings, "pool", "STOCHASTIC pooling is not supported yet");
  if (settings.pool() == caffe::PoolingParameter::MAX && layer.top_size() > 1)
    error(layer, "top", "the mask as a second top is not supported yet", 1);
  else if (layer.top_size() > 1)
    error(layer, "top", "only MAX pooling has a second top", 1);
  if (settings.global_pooling()) {
    for (const char *field : {"kernel_size", "kernel_h", "kernel_w"})
      if (places.find(settings, field))
        error(settings, field,
              std::string(field) +
                  " cannot be given together with global_pooling");
    if (window.pad != std::array<int64_t, 2>{0, 0} ||
        window.stride != std::array<int64_t, 2>{1, 1})
      error(settings, "global_pooling",
            "global_pooling goes with pad 0 and stride 1 only");
  } else if (!settings.has_kernel_size() && !settings.has_kernel_h() &&
             !settings.has_kernel_w()) {
    missing(settings, "kernel_size");
  } else {
    checkPairs(settings, "kernel_size", "kernel", true);
  }
  checkPairs(settings, "stride", "stride", true);
  checkPairs(settings, "pad", "pad", false);
  const char *sides[] = {"pad_h", "pad_w"};
  for (int i = 0; i < 2 && !settings.global_pooling(); ++i)
    if (window.pad[i] && window.kernel[i] &&
        window.pad[i] >= window.kernel[i]) {
      error(settings, settings.has_pad() ? "pad" : sides[i],
            "pad " + std::to_string(window.pad[i]) +
                " must be smaller than the kernel, " +
                std::to_string(window.kernel[i]));
      return;
    }
}

void Checker::checkEltwise() {
  const caffe::EltwiseParameter &settings = layer.eltwise_param();
  if (settings.coeff_size() == 0)
    return;
  if (settings.coeff_size() != layer.bottom_size())
    error(settings, "coeff",
          "coeff is given " + std::to_string(settings.coeff_size()) +
              " times for " + std::to_string(layer.bottom_size()) +
              " bottoms; it takes one for each");
  if (settings.operation() == caffe::EltwiseParameter::PROD)
    error(settings, "coeff", "coeff goes with operation SUM only");
  else if (settings.operation() == caffe::EltwiseParameter::MAX)
    warn(settings, "coeff", "coeff has no effect with operation MAX");
}

void Checker::checkInput() {
  const caffe::InputParameter &settings = layer.input_param();
  if (settings.shape_size() > 1 && settings.shape_size() != layer.top_size())
    error(settings, "shape",
          "shape is given " + std::to_string(settings.shape_size()) +
              " times for " + std::to_string(layer.top_size()) +
              " tops; it takes one, or one for each");
  for (const caffe::BlobShape &shape : settings.shape())
    checkShape(shape);
}

void Checker::checkDummyData() {
  const caffe::DummyDataParameter &settings = layer.dummy_data_param();
  const int tops = layer.top_size();
  auto checkTimes = [&](const std::string &field, int given, bool optional) {
    if (given == 1 || given == tops || (optional && given == 0))
      return;
    if (given == 0)
      missing(settings, field);
    else
      error(settings, field,
            field + " is given " + std::to_string(given) + " times for " +
                std::to_string(tops) + " tops; it takes one, or one for each");
  };
  checkTimes("data_filler", settings.data_filler_size(), true);
  for (const caffe::FillerParameter &filler : settings.data_filler())
    checkFiller(filler);
  const google::protobuf::RepeatedField<uint32_t> *sizes[] = {
      &settings.num(), &settings.channels(), &settings.height(),
      &settings.width()};
  const char *names[] = {"num", "channels", "height", "width"};
  bool isLegacy = false;
  for (const auto *list : sizes)
    isLegacy |= list->size() > 0;
  if (!isLegacy) {
    checkTimes("shape", settings.shape_size(), false);
    for (const caffe::BlobShape &shape : settings.shape())
      checkShape(shape);
    return;
  }
  if (settings.shape_size() > 0)
    error(settings, "shape",
          "give either shape or num, channels, height and width, not both");
  for (int i = 0; i < 4; ++i) {
    checkTimes(names[i], sizes[i]->size(), false);
    for (int j = 0; j < sizes[i]->size(); ++j)
      if (sizes[i]->Get(j) == 0 || sizes[i]->Get(j) > INT_MAX)
        error(settings, names[i],
              std::string(names[i]) + " is " +
                  std::to_string(sizes[i]->Get(j)) + "; it must be at least 1",
              j);
  }
}

void Checker::run() {
  const std::string &type = layer.type();
  if (type == "Convolution")
    checkConvolution();
  else if (type == "Pooling")
    checkPooling();
  else if (type == "InnerProduct")
    checkCount(layer.inner_product_param(), "num_output");
  else if (type == "Eltwise")
    checkEltwise();
  else if (type == "Input")
    checkInput();
  else if (type == "DummyData")
    checkDummyData();
  else if (type == "Accuracy" && layer.accuracy_param().top_k() == 0)
    error(layer.accuracy_param(), "top_k", "top_k must be at least 1");
  else if (type == "Bias" && layer.bottom_size() == 1 &&
           layer.bias_param().num_axes() < -1)
    error(layer.bias_param(), "num_axes",
          "num_axes must be -1 (all the rest), 0 or more");
  else if (type == "Split" && layer.bottom_size() == 1) {
    for (int i = 0; i < layer.top_size(); ++i)
      if (layer.top(i) == layer.bottom(0))
        error(layer, "top", "a Split layer cannot be in-place", i);
  } else if (type == "Data") {
    const caffe::DataParameter &settings = layer.data_param();
    checkCount(settings, "batch_size");
    if (!settings.has_source())
      missing(settings, "source");
    if (settings.has_prefetch() && settings.prefetch() == 0)
      error(settings, "prefetch", "prefetch must be at least 1");
    if (settings.has_force_encoded_color())
      warn(settings, "force_encoded_color",
           "force_encoded_color has no effect, as in Caffe; write force_color "
           "in transform_param");
    checkTransform();
  } else if (type == "HDF5Data") {
    checkCount(layer.hdf5_data_param(), "batch_size");
    if (!layer.hdf5_data_param().has_source())
      missing(layer.hdf5_data_param(), "source");
    if (layer.has_transform_param())
      error(layer, "transform_param", "HDF5 data cannot be transformed");
  } else if (type == "MemoryData") {
    for (const char *field : {"batch_size", "channels", "height", "width"})
      checkCount(layer.memory_data_param(), field);
    if (layer.has_transform_param())
      error(layer, "transform_param",
            "transform_param is not supported yet for memory data, which is "
            "taken as it is given");
  }
  for (const caffe::FillerParameter *filler : paramFillers(layer))
    checkFiller(*filler);
}

} // namespace

void checkSettings(const caffe::LayerParameter &layer, const SourceMap &places,
                   Diagnostics &diagnostics) {
  Checker(layer, places, diagnostics).run();
}

} // namespace brew::prototxt
