//===- NetSetup.cpp - A net as Caffe sets it up ---------------------------===//

#include "frontends/prototxt/check/NetSetup.h"

#include "caffe/expression/Lexer.h"
#include "frontends/prototxt/check/NetMetadata.h"

#include <algorithm>

namespace brew::prototxt {
namespace {

/// Replaces the names of bottoms in a formula by bottom(i), since splits rename
/// bottoms.
std::string withBottomsByPosition(const std::string &formula,
                                  const caffe::LayerParameter &layer) {
  using caffe::expression::TokenKind;
  std::string result;
  size_t copied = 0;
  caffe::expression::Lexer lexer(formula);
  lexer.advance();
  while (lexer.current().kind != TokenKind::End) {
    const caffe::expression::Token token = lexer.current();
    lexer.advance();
    const bool isCall =
        token.kind == TokenKind::Name && lexer.current().is("(");
    auto bottom =
        std::find(layer.bottom().begin(), layer.bottom().end(), token.text);
    if ((token.kind != TokenKind::Name &&
         token.kind != TokenKind::QuotedName) ||
        isCall || bottom == layer.bottom().end())
      continue;
    result += formula.substr(copied, token.offset - copied) + "bottom(" +
              std::to_string(bottom - layer.bottom().begin()) + ")";
    const size_t quotes = token.kind == TokenKind::QuotedName ? 2 : 0;
    copied = token.offset + token.text.size() + quotes;
  }
  return result + formula.substr(copied);
}

class NetSetUp {
public:
  NetSetUp(const FilteredNet &net, const NetGraph &graph)
      : net(net), graph(graph) {}

  NetSetup run();

private:
  caffe::LayerParameter messageOf(const LayerMetadata &layer) const;
  LayerSetup setupOf(const LayerMetadata &layer,
                     const caffe::LayerParameter &message) const;
  void determineGradients(const LayerMetadata &layer, LayerSetup &setup) const;
  /// Returns the layer that computes a bottom.
  const GraphLayer &producerOf(const LayerMetadata &layer,
                               size_t bottom) const {
    const int blob = layer.layer < 0
                         ? layer.blob
                         : graph.layers[layer.layer].bottoms[bottom];
    return graph.layers[graph.blobs[blob].layer];
  }
  bool hasPropagateDown(const LayerMetadata &layer) const {
    return layer.layer >= 0 &&
           graph.layers[layer.layer].layer->propagate_down_size() > 0;
  }

  const FilteredNet &net;
  const NetGraph &graph;
};

caffe::LayerParameter NetSetUp::messageOf(const LayerMetadata &layer) const {
  caffe::LayerParameter message;
  if (layer.layer < 0) {
    message.set_name(layer.name);
    message.set_type(layer.type);
    for (const std::string &bottom : layer.bottoms)
      message.add_bottom(bottom);
    for (const std::string &top : layer.tops)
      message.add_top(top);
    if (std::any_of(layer.lossWeights.begin(), layer.lossWeights.end(),
                    [](float weight) { return weight != 0; }))
      message.mutable_loss_weight()->Add(layer.lossWeights.begin(),
                                         layer.lossWeights.end());
    return message;
  }
  const caffe::LayerParameter &source = *graph.layers[layer.layer].layer;
  message = source;
  if (message.type() == "Expression")
    message.mutable_expression_param()->set_expr(
        withBottomsByPosition(source.expression_param().expr(), source));
  for (size_t i = 0; i < layer.bottoms.size(); ++i)
    message.set_bottom(static_cast<int>(i), layer.bottoms[i]);
  // A split gets the loss weight of its bottom. As in Caffe, a loss then has
  // its default weight, too.
  for (int i = 0; i < message.loss_weight_size(); ++i)
    if (layer.lossWeights[static_cast<size_t>(i)] != message.loss_weight(i)) {
      if (message.top_size() == 1)
        message.clear_loss_weight();
      else
        message.set_loss_weight(i, 0);
    }
  return message;
}

/// Determines which gradients the backward pass of a layer computes.
void NetSetUp::determineGradients(const LayerMetadata &layer,
                                  LayerSetup &setup) const {
  setup.needsBackward = layer.needsBackward || graph.forceBackward;
  setup.bottomGradients = layer.bottomNeedsBackward;
  const LayerKind *kind =
      layer.layer < 0 ? nullptr : graph.layers[layer.layer].kind;
  if (!setup.needsBackward) {
    setup.bottomGradients.assign(layer.bottoms.size(), false);
    return;
  }
  // In Caffe the statistics of BatchNorm count as learnable here, although no
  // gradient reaches them; plans have no gradients for their sake either.
  for (size_t i = 0; i < layer.bottoms.size(); ++i)
    if (!producerOf(layer, i).needsBackward && !hasPropagateDown(layer))
      setup.bottomGradients[i] = false;
  // Recurrent layers always compute the gradients of the sequence and the
  // static input; the initial hidden state is one bottom for each top but the
  // first.
  const size_t forced = graph.forceBackward ? layer.bottoms.size()
                        : kind && kind->differentiatesFrozen
                            ? layer.bottoms.size() - (layer.tops.size() - 1)
                            : 0;
  for (size_t i = 0; i < layer.bottoms.size(); ++i) {
    const int index = static_cast<int>(i);
    if (i < forced && (!kind || kind->allowsForcedGradient(index)))
      setup.bottomGradients[i] = true;
    if (kind && !kind->differentiates(index))
      setup.bottomGradients[i] = false;
  }
}

LayerSetup NetSetUp::setupOf(const LayerMetadata &layer,
                             const caffe::LayerParameter &message) const {
  LayerSetup setup;
  setup.lossWeights.assign(layer.tops.size(), 0);
  if (message.loss_weight_size() > 0)
    std::copy(message.loss_weight().begin(), message.loss_weight().end(),
              setup.lossWeights.begin());
  else if (layer.layer >= 0 && graph.layers[layer.layer].kind->isLoss)
    setup.lossWeights.at(0) = 1;
  determineGradients(layer, setup);
  if (layer.layer < 0)
    return setup;
  const GraphLayer &entry = graph.layers[layer.layer];
  for (size_t i = 0; i < entry.params.size(); ++i)
    setup.params.push_back(
        {entry.params[i], entry.paramBlobs[i].isStatistic,
         setup.needsBackward &&
             graph.mayHaveGradient(layer.layer, static_cast<int>(i))});
  return setup;
}

NetSetup NetSetUp::run() {
  NetSetup result;
  result.net = net.toProto();
  result.net.clear_layer();
  for (const LayerMetadata &layer : listLayers(graph)) {
    caffe::LayerParameter &message = *result.net.add_layer();
    message = messageOf(layer);
    result.layers.push_back(setupOf(layer, message));
  }
  for (const GraphParam &param : graph.params)
    result.params.push_back({param.lrMult, param.decayMult});
  return result;
}

} // namespace

NetSetup setUpNet(const FilteredNet &net, const NetGraph &graph) {
  return NetSetUp(net, graph).run();
}

} // namespace brew::prototxt
