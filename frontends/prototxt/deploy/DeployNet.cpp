//===- DeployNet.cpp - Nets for inference from training nets --------------===//
#include "frontends/prototxt/deploy/DeployNet.h"

#include "caffe/DataLayerKinds.h"
#include "frontends/prototxt/check/LayerSettings.h"
#include "frontends/prototxt/deploy/InputTransforms.h"
#include "frontends/prototxt/deploy/LayerFates.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace brew::prototxt {
namespace {

/// Returns the first loss weight, which is 1 by default.
float lossWeightOf(const caffe::LayerParameter &layer) {
  return layer.loss_weight_size() ? layer.loss_weight(0) : 1;
}

/// A layer of the deploy net, before its conversion.
struct ChosenLayer {
  const caffe::LayerParameter *layer;
  Fate fate;
};

/// The names of the layer that replaces a loss and of its top.
struct OutputName {
  std::string layer, top;
};

class DeployNetBuilder {
public:
  DeployNetBuilder(const FilteredNet &test, DataShapeOptions options,
                   Diagnostics &diagnostics)
      : test(test), options(std::move(options)), diagnostics(diagnostics),
        locations(test.source->sharedLocations()), fates(test.layers) {}

  DeployNet build();

private:
  void chooseLayers();
  void chooseOutputNames();
  void addLayer(const ChosenLayer &from);
  void convertLoss(caffe::LayerParameter &layer) const;
  bool convertDataLayer(caffe::LayerParameter &layer);

  const FilteredNet &test;
  const DataShapeOptions options;
  Diagnostics &diagnostics;
  const std::shared_ptr<SourceMap> locations;
  const LayerFates fates;
  /// Blobs on which an output depends.
  std::set<std::string> needed;
  std::vector<ChosenLayer> chosen; ///< of the deploy net
  std::map<const caffe::LayerParameter *, OutputName> outputNames;
  DeployNet result;
  std::unique_ptr<caffe::NetParameter> net;
};

/// Walks the layers backwards from the outputs.
void DeployNetBuilder::chooseLayers() {
  for (size_t i = test.layers.size(); i-- > 0;) {
    const caffe::LayerParameter &layer = *test.layers[i];
    const Fate fate = fates[i];
    if (fate == Fate::Removed) {
      for (const std::string &bottom : layer.bottom())
        if (!fates.isNoOutput(bottom))
          needed.insert(bottom);
      continue;
    }
    bool isNeeded = fate == Fate::Converted;
    for (const std::string &top : layer.top())
      isNeeded |= needed.count(top) > 0 ||
                  (fate == Fate::Kept && layer.bottom_size() > 0 &&
                   !fates.isReadAfter(i, top) && !fates.isLabel(top));
    if (!isNeeded)
      continue;
    chosen.push_back({&layer, fate});
    for (int bottom = 0; bottom < layer.bottom_size(); ++bottom)
      if (fate != Fate::Converted || bottom == 0)
        needed.insert(layer.bottom(bottom));
  }
  std::reverse(chosen.begin(), chosen.end());
  // A net that has a Softmax of its own for tests needs no second one.
  auto isRepeated = [&](const ChosenLayer &loss) {
    return loss.fate == Fate::Converted && loss.layer->top_size() < 2 &&
           std::any_of(chosen.begin(), chosen.end(), [&](const auto &other) {
             return (other.layer->type() == "Softmax" ||
                     other.layer->type() == "Sigmoid") &&
                    other.layer->bottom(0) == loss.layer->bottom(0);
           });
  };
  std::vector<ChosenLayer> unique;
  std::copy_if(chosen.begin(), chosen.end(), std::back_inserter(unique),
               [&](const ChosenLayer &layer) { return !isRepeated(layer); });
  chosen = std::move(unique);
}

/// Calls the output of the heaviest loss "prob", as Caffe's deploy nets do. The
/// name of another loss becomes that of its output. Numbers make names unique.
void DeployNetBuilder::chooseOutputNames() {
  std::set<std::string> names; // of layers and blobs
  std::vector<const caffe::LayerParameter *> losses;
  for (const auto &[layer, fate] : chosen) {
    names.insert(layer->bottom().begin(), layer->bottom().end());
    if (fate != Fate::Converted) {
      names.insert(layer->name());
      names.insert(layer->top().begin(), layer->top().end());
      continue;
    }
    losses.push_back(layer);
    if (layer->top_size() > 1)
      names.insert(layer->top(1));
  }
  std::stable_sort(losses.begin(), losses.end(),
                   [](const auto *a, const auto *b) {
                     return lossWeightOf(*a) > lossWeightOf(*b);
                   });
  auto makeUnique = [&](const std::string &name) {
    std::string unique = name;
    for (int number = 2; !names.insert(unique).second; ++number)
      unique = name + "_" + std::to_string(number);
    return unique;
  };
  for (const caffe::LayerParameter *loss : losses) {
    if (loss->top_size() > 1) {
      // Other layers may read this blob. Only layers' names must differ.
      const std::string &top = loss->top(1);
      const bool isLayer = std::any_of(
          chosen.begin(), chosen.end(), [&](const ChosenLayer &other) {
            return other.fate != Fate::Converted && other.layer->name() == top;
          });
      outputNames[loss] = {isLayer ? makeUnique(top) : top, top};
      continue;
    }
    const bool isProb = loss == losses.front() && !names.count("prob");
    const std::string name = makeUnique(isProb ? "prob" : loss->name());
    outputNames[loss] = {name, name};
  }
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
  shapeOptions.imageSizes = ImageSizes::First;
  shapeOptions.recordsFirstImage = true;
  const caffe::DataLayerKind &kind = *caffe::findDataLayerKind(layer.type());
  if (!shapeOptions.batch && kind.source != caffe::DataLayerSource::Hdf5) {
    const auto shape = options.explicitShapes.find(layer.top(0));
    const bool hasBatch =
        shape != options.explicitShapes.end() && !shape->second.empty();
    shapeOptions.batch = hasBatch ? shape->second[0] : 1;
  }
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

void DeployNetBuilder::addLayer(const ChosenLayer &from) {
  caffe::LayerParameter &layer = *net->add_layer();
  layer = *from.layer;
  locations->copy(*from.layer, layer);
  layer.clear_include();
  layer.clear_exclude();
  layer.clear_phase();
  layer.clear_loss_weight();
  if (from.fate == Fate::Input && !convertDataLayer(layer)) {
    net->mutable_layer()->RemoveLast();
  } else if (from.fate == Fate::Converted) {
    convertLoss(layer);
    layer.set_name(outputNames.at(from.layer).layer);
    layer.add_top(outputNames.at(from.layer).top);
  }
}

DeployNet DeployNetBuilder::build() {
  chooseLayers();
  chooseOutputNames();
  net = std::make_unique<caffe::NetParameter>();
  if (test.source->net().has_name())
    net->set_name(test.source->net().name());
  for (const ChosenLayer &layer : chosen)
    addLayer(layer);
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
