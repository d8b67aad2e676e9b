//===- NetDescription.cpp - Nets as Caffe sets them up --------------------===//
#include "compiler/Compile.h"

#include "frontends/prototxt/check/NetSetup.h"
#include "frontends/prototxt/check/UnknownTypes.h"

#include <nlohmann/json.hpp>

#include <climits>
#include <cmath>

namespace brew::compiler {
namespace {

using nlohmann::json;

/// Returns a number, or the text "nan", "inf" or "-inf", which JSON lacks.
json numberOf(float value) {
  return std::isfinite(value) ? json(value) : json(std::to_string(value));
}

json reportOf(const prototxt::NetSetup &setup) {
  json layers = json::array(), params = json::array();
  for (const prototxt::LayerSetup &layer : setup.layers) {
    json weights = json::array(), layerParams = json::array();
    for (float weight : layer.lossWeights)
      weights.push_back(numberOf(weight));
    for (const prototxt::LayerParam &param : layer.params)
      layerParams.push_back({{"number", param.number},
                             {"is_statistic", param.isStatistic},
                             {"has_gradient", param.hasGradient}});
    layers.push_back({{"loss_weights", weights},
                      {"needs_backward", layer.needsBackward},
                      {"bottom_gradients", layer.bottomGradients},
                      {"params", layerParams}});
  }
  for (const prototxt::NetParam &param : setup.params)
    params.push_back({{"lr_mult", numberOf(param.lrMult)},
                      {"decay_mult", numberOf(param.decayMult)}});
  return {{"layers", layers}, {"params", params}};
}

/// Returns the numbers of parameters of the layers that the host program
/// computes.
std::map<std::string, int> paramCountsOf(const prototxt::FilteredNet &net,
                                         const CompileOptions &options) {
  std::map<std::string, int> counts = options.paramCounts;
  for (const caffe::LayerParameter *layer : net.layers)
    if (layer->type() == "Python" ||
        options.import.hostTypes.count(layer->type()))
      counts.emplace(layer->name(), layer->param_size());
  return counts;
}

/// Adds the top that Caffe adds to a loss without tops.
void addAutomaticTops(caffe::NetParameter &net) {
  for (caffe::LayerParameter &layer : *net.mutable_layer()) {
    const prototxt::LayerKind *kind = prototxt::findLayerKind(layer.type());
    if (kind && kind->isLoss && layer.top_size() == 0)
      layer.add_top("(automatic) " + layer.name());
  }
}

void describe(const std::string &encoded, const std::string &name,
              const CompileOptions &options, CompileResult &result,
              Reporter &reporter) {
  auto message = std::make_unique<caffe::NetParameter>();
  if (encoded.size() >= INT_MAX || !message->ParseFromString(encoded))
    throw Error(ExitStatus::Usage, name + ": the net cannot be parsed");
  if (!options.import.phase)
    throw Error(ExitStatus::Usage, "describing a net requires --phase");
  addAutomaticTops(*message);
  prototxt::Diagnostics diagnostics;
  auto document = prototxt::NetDocument::fromMessage(
      std::move(message), std::make_shared<prototxt::SourceMap>(name),
      diagnostics);
  const prototxt::FilteredNet net = prototxt::filterNet(
      document,
      prototxt::standaloneState(document->net(), *options.import.phase,
                                {options.import.level, options.import.stages}));
  result.net = net.toProto().SerializeAsString();
  std::optional<prototxt::NetGraph> graph;
  if (!diagnostics.hasErrors())
    graph = prototxt::NetGraph::build(net, diagnostics,
                                      /*forCompilation=*/false,
                                      options.import.hostTypes,
                                      paramCountsOf(net, options),
                                      /*withSettings=*/false);
  prototxt::mergeUnknownTypes(diagnostics);
  reporter.report(diagnostics);
  if (diagnostics.hasErrors())
    throw DiagnosedError{diagnostics.exitStatus()};
  const prototxt::NetSetup setup = prototxt::setUpNet(net, *graph);
  result.splitNet = setup.net.SerializeAsString();
  result.report = reportOf(setup).dump();
}

} // namespace

CompileResult describeNet(const std::string &net, const std::string &name,
                          const CompileOptions &options,
                          const DiagnosticSink &sink) {
  return collectResult(sink, [&](CompileResult &result, Reporter &reporter) {
    describe(net, name, options, result, reporter);
  });
}

} // namespace brew::compiler
