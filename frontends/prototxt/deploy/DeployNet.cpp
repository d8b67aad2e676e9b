//===- DeployNet.cpp - Nets for inference from training nets --------------===//
#include "frontends/prototxt/deploy/DeployNet.h"

#include "caffe/DataLayerKinds.h"
#include "frontends/prototxt/check/LayerKinds.h"
#include "frontends/prototxt/check/LayerSettings.h"
#include "frontends/prototxt/deploy/InputTransforms.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace brew::prototxt {
namespace {

/// The role of a layer in the deploy net.
enum class Fate {
  Kept,      ///< as it is, if an output depends on it
  Input,     ///< a data layer: its needed tops become those of an Input
  Converted, ///< a loss that contains Softmax or Sigmoid
  Removed,   ///< a loss or a metric: its bottoms become outputs
  Unused,    ///< a layer without tops, such as Silence
};

bool hasLossWeight(const caffe::LayerParameter &layer) {
  return std::any_of(layer.loss_weight().begin(), layer.loss_weight().end(),
                     [](float weight) { return weight != 0; });
}

/// Returns the first loss weight, which is 1 by default.
float lossWeightOf(const caffe::LayerParameter &layer) {
  return layer.loss_weight_size() ? layer.loss_weight(0) : 1;
}

bool readsBlob(const caffe::LayerParameter &layer, const std::string &blob) {
  return std::find(layer.bottom().begin(), layer.bottom().end(), blob) !=
         layer.bottom().end();
}

class DeployNetBuilder {
public:
  DeployNetBuilder(const FilteredNet &test, DataShapeOptions options,
                   Diagnostics &diagnostics)
      : test(test), options(std::move(options)), diagnostics(diagnostics),
        locations(test.source->sharedLocations()) {}

  DeployNet build();

private:
  Fate fateOf(const caffe::LayerParameter &layer) const;
  void classifyBlobs();
  void chooseLayers();
  void chooseOutputNames();
  void addLayer(const caffe::LayerParameter &from);
  void convertLoss(caffe::LayerParameter &layer) const;
  bool convertDataLayer(caffe::LayerParameter &layer);
  bool isRead(const std::string &blob) const {
    return std::any_of(
        test.layers.begin(), test.layers.end(),
        [&](const auto *layer) { return readsBlob(*layer, blob); });
  }

  const FilteredNet &test;
  const DataShapeOptions options;
  Diagnostics &diagnostics;
  const std::shared_ptr<SourceMap> locations;
  /// Tops of data layers, and blobs that depend on labels only.
  std::set<std::string> dataTops, labels;
  /// Blobs on which an output depends.
  std::set<std::string> needed;
  std::vector<const caffe::LayerParameter *> layers; ///< of the deploy net
  /// Names of the layer and top that replace a loss.
  std::map<const caffe::LayerParameter *, std::string> outputNames;
  DeployNet result;
  std::unique_ptr<caffe::NetParameter> net;
};

Fate DeployNetBuilder::fateOf(const caffe::LayerParameter &layer) const {
  const caffe::DataLayerKind *data = caffe::findDataLayerKind(layer.type());
  if (data && !data->isNetConstant() &&
      data->source != caffe::DataLayerSource::RandomKey &&
      data->source != caffe::DataLayerSource::Input &&
      data->source != caffe::DataLayerSource::Fillers)
    return Fate::Input;
  const std::string &type = layer.type();
  if (type == "SoftmaxWithLoss" || type == "InfogainLoss" ||
      type == "SigmoidCrossEntropyLoss")
    return Fate::Converted;
  const LayerKind *kind = findLayerKind(type);
  const bool isMetric = type == "Accuracy" || type == "DetectionEvaluate";
  if ((kind && kind->isLoss) || isMetric || hasLossWeight(layer))
    return Fate::Removed;
  return layer.top_size() == 0 ? Fate::Unused : Fate::Kept;
}

/// Finds the tops of data layers, and the blobs that depend on labels only.
void DeployNetBuilder::classifyBlobs() {
  for (const caffe::LayerParameter *layer : test.layers) {
    const caffe::DataLayerKind *data = caffe::findDataLayerKind(layer->type());
    const bool isData = layer->bottom_size() == 0;
    const bool isLabel =
        !isData && std::all_of(layer->bottom().begin(), layer->bottom().end(),
                               [&](const std::string &blob) {
                                 return labels.count(blob) > 0;
                               });
    for (int i = 0; i < layer->top_size(); ++i) {
      const std::string &top = layer->top(i);
      if (isData)
        dataTops.insert(top);
      // A layer of arrays does not say which of them are labels.
      const bool isLabelTop =
          isData && data &&
          (data->isLabel(i) ||
           (i == 1 && (data->source == caffe::DataLayerSource::Memory ||
                       data->source == caffe::DataLayerSource::Annotated)) ||
           (data->source == caffe::DataLayerSource::Hdf5 &&
            top.find("label") != std::string::npos));
      if (isLabel || isLabelTop)
        labels.insert(top);
    }
  }
}

/// Walks the layers backwards from the outputs.
void DeployNetBuilder::chooseLayers() {
  for (auto at = test.layers.rbegin(); at != test.layers.rend(); ++at) {
    const caffe::LayerParameter &layer = **at;
    const Fate fate = fateOf(layer);
    bool isNeeded = fate == Fate::Converted;
    for (const std::string &top : layer.top())
      isNeeded |= needed.count(top) > 0 ||
                  (fate == Fate::Kept && layer.bottom_size() > 0 &&
                   !isRead(top) && !labels.count(top));
    if (fate == Fate::Removed)
      for (const std::string &bottom : layer.bottom())
        if (!dataTops.count(bottom) && !labels.count(bottom))
          needed.insert(bottom);
    if (!isNeeded)
      continue;
    layers.push_back(&layer);
    for (int i = 0; i < layer.bottom_size(); ++i)
      if (fate != Fate::Converted || i == 0)
        needed.insert(layer.bottom(i));
  }
  std::reverse(layers.begin(), layers.end());
  // A net that has a Softmax of its own for tests needs no second one.
  layers.erase(
      std::remove_if(layers.begin(), layers.end(),
                     [&](const caffe::LayerParameter *loss) {
                       return fateOf(*loss) == Fate::Converted &&
                              std::any_of(
                                  layers.begin(), layers.end(),
                                  [&](const caffe::LayerParameter *layer) {
                                    return (layer->type() == "Softmax" ||
                                            layer->type() == "Sigmoid") &&
                                           layer->bottom(0) == loss->bottom(0);
                                  });
                     }),
      layers.end());
}

/// Calls the output of the heaviest loss "prob", as Caffe's deploy nets do.
void DeployNetBuilder::chooseOutputNames() {
  std::set<std::string> names;
  const caffe::LayerParameter *heaviest = nullptr;
  for (const caffe::LayerParameter *layer : layers) {
    if (fateOf(*layer) == Fate::Converted) {
      outputNames[layer] =
          layer->top_size() > 1 ? layer->top(1) : layer->name();
      if (!heaviest || lossWeightOf(*layer) > lossWeightOf(*heaviest))
        heaviest = layer;
    } else {
      names.insert(layer->name());
      names.insert(layer->top().begin(), layer->top().end());
    }
  }
  if (heaviest && heaviest->top_size() < 2 && !names.count("prob"))
    outputNames[heaviest] = "prob";
}

void DeployNetBuilder::convertLoss(caffe::LayerParameter &layer) const {
  const bool isSigmoid = layer.type() == "SigmoidCrossEntropyLoss";
  if (layer.type() == "InfogainLoss")
    layer.mutable_softmax_param()->set_axis(layer.infogain_loss_param().axis());
  layer.set_type(isSigmoid ? "Sigmoid" : "Softmax");
  layer.mutable_bottom()->DeleteSubrange(1, layer.bottom_size() - 1);
  layer.clear_top();
  layer.clear_loss_param();
  layer.clear_infogain_loss_param();
  layer.clear_propagate_down();
  layer.clear_param();
}

/// Makes an Input of a data layer. Returns false after an error.
bool DeployNetBuilder::convertDataLayer(caffe::LayerParameter &layer) {
  std::vector<std::string> folders;
  std::error_code status;
  const std::string &folder = test.source->folder();
  if (!folder.empty() && std::filesystem::current_path(status) != folder)
    folders.push_back(folder);
  DataShapeOptions shapeOptions = options;
  shapeOptions.checksSizes = false;
  const caffe::DataLayerKind &kind = *caffe::findDataLayerKind(layer.type());
  if (!shapeOptions.batch && kind.source != caffe::DataLayerSource::Hdf5)
    shapeOptions.batch = 1;
  DataShapes shapes;
  caffe::LayerParameter settings = layer;
  if (kind.source == caffe::DataLayerSource::Hdf5) {
    settings.clear_top();
    for (const std::string &top : layer.top())
      if (needed.count(top))
        settings.add_top(top);
  }
  // The meaning of tops of other kinds depends on their positions.
  while (settings.top_size() > 1 &&
         !needed.count(settings.top(settings.top_size() - 1)))
    settings.mutable_top()->RemoveLast();
  try {
    shapes = inferDataShapes(settings, folders, shapeOptions);
    if (const auto transform = inputTransformOf(layer, shapes, folders))
      if (needed.count(layer.top(0)))
        result.transforms[layer.name()] = *transform;
  } catch (const Error &error) {
    diagnostics
        .error(locations->where(layer),
               LayerText(layer.name(), layer.type()) + error.what())
        .status = error.status();
    return false;
  }
  caffe::LayerParameter input;
  input.set_name(layer.name());
  input.set_type("Input");
  for (int i = 0; i < settings.top_size(); ++i)
    if (needed.count(settings.top(i))) {
      input.add_top(settings.top(i));
      caffe::BlobShape &shape = *input.mutable_input_param()->add_shape();
      for (int64_t dim : shapes.tops.at(static_cast<size_t>(i)))
        shape.add_dim(dim);
    }
  layer = input;
  return true;
}

void DeployNetBuilder::addLayer(const caffe::LayerParameter &from) {
  caffe::LayerParameter &layer = *net->add_layer();
  layer = from;
  locations->copy(from, layer);
  layer.clear_include();
  layer.clear_exclude();
  layer.clear_phase();
  layer.clear_loss_weight();
  const Fate fate = fateOf(from);
  if (fate == Fate::Input && !convertDataLayer(layer)) {
    net->mutable_layer()->RemoveLast();
  } else if (fate == Fate::Converted) {
    convertLoss(layer);
    layer.set_name(outputNames.at(&from));
    layer.add_top(outputNames.at(&from));
  }
}

DeployNet DeployNetBuilder::build() {
  classifyBlobs();
  chooseLayers();
  chooseOutputNames();
  net = std::make_unique<caffe::NetParameter>();
  if (test.source->net().has_name())
    net->set_name(test.source->net().name());
  for (const caffe::LayerParameter *layer : layers)
    addLayer(*layer);
  if (diagnostics.hasErrors())
    return std::move(result);
  if (std::none_of(net->layer().begin(), net->layer().end(),
                   [](const caffe::LayerParameter &layer) {
                     return layer.bottom_size() > 0;
                   })) {
    diagnostics.error({test.source->file(), 1, 1},
                      "--deploy: no layer of phase TEST computes an output");
    return std::move(result);
  }
  Diagnostics repeated; // the training net's diagnostics were reported
  result.net = NetDocument::fromMessage(std::move(net), locations, repeated);
  return std::move(result);
}

} // namespace

DeployNet deployNet(const FilteredNet &test, DataShapeOptions options,
                    Diagnostics &diagnostics) {
  return DeployNetBuilder(test, std::move(options), diagnostics).build();
}

std::string deployText(const DeployNet &deploy) {
  std::string text;
  for (const auto &[layer, transform] : deploy.transforms)
    text += "# Input '" + layer + "': " + describeTransform(transform) + ".\n";
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string netText;
  printer.PrintToString(deploy.net->net(), &netText);
  return text + netText;
}

} // namespace brew::prototxt
