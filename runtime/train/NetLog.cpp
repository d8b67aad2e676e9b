//===- NetLog.cpp - What Caffe logs of a net ------------------------------===//

#include "runtime/train/NetLog.h"

#include "runtime/log/Log.h"
#include "runtime/plan/PlanFile.h"

#include <string>

namespace brew::runtime {
namespace {

void logTops(const plan::Layer &layer, std::uint64_t elementBytes,
             std::uint64_t &memory) {
  for (int i = 0; i < layer.tops_size(); ++i) {
    std::string text;
    std::int64_t count = 1;
    for (std::int64_t dim : layer.shapes(i).dims()) {
      text += std::to_string(dim) + " ";
      count *= dim;
    }
    log::info(log::site::netTopShape,
              "Top shape: " + text + "(" + std::to_string(count) + ")");
    if (layer.loss_weights(i) != 0)
      log::info(log::site::netLossWeight,
                "    with loss weight " + log::number(layer.loss_weights(i)));
    memory += static_cast<std::uint64_t>(count) * elementBytes;
  }
}

} // namespace

void logNet(const plan::Program &program, plan::DataType precision) {
  if (program.layers_size() == 0)
    return;
  for (const std::string &line : program.rule_lines())
    log::info(log::site::netRule, line);
  std::uint64_t memory = 0;
  for (const plan::Layer &layer : program.layers()) {
    const std::string &name = layer.name();
    log::info(log::site::factoryLayer, "Creating layer " + name);
    log::info(log::site::netLayer, "Creating Layer " + name);
    for (const std::string &bottom : layer.bottoms())
      log::info(log::site::netBottom, name + " <- " + bottom);
    for (int i = 0; i < layer.tops_size(); ++i) {
      const std::string &top = layer.tops(i);
      if (i < layer.bottoms_size() && layer.bottoms(i) == top)
        log::info(log::site::netTopInPlace,
                  name + " -> " + top + " (in-place)");
      else
        log::info(log::site::netTop,
                  name + " -> " + (top.empty() ? "(automatic)" : top));
    }
    log::info(log::site::netSettingUp, "Setting up " + name);
    logTops(layer, plan::elementSize(precision), memory);
    log::info(log::site::netMemory,
              "Memory required for data: " + std::to_string(memory));
    for (const std::string &line : layer.sharing_lines())
      log::info(log::site::netSharing, line);
  }
  for (int i = program.layers_size() - 1; i >= 0; --i) {
    const plan::Layer &layer = program.layers(i);
    if (layer.needs_backward())
      log::info(log::site::netBackward,
                layer.name() + " needs backward computation.");
    else
      log::info(log::site::netNoBackward,
                layer.name() + " does not need backward computation.");
  }
  for (const plan::Output &output : program.outputs())
    log::info(log::site::netOutput,
              "This network produces output " + output.blob());
  log::info(log::site::netDone, "Network initialization done.");
}

void logTrainNet(const plan::Program &program, plan::DataType precision) {
  const std::string &source = program.source();
  const bool isFile = source.find("file: ") != source.npos;
  const bool isOwn = source.rfind("train_net", 0) == 0;
  const log::Site site =
      isFile
          ? (isOwn ? log::site::trainNetFile : log::site::trainGenericFile)
          : (isOwn ? log::site::trainNetParam : log::site::trainGenericParam);
  if (!source.empty())
    log::info(site, isFile
                        ? "Creating training net from " + source
                        : "Creating training net specified in " + source + ".");
  logNet(program, precision);
}

void logTestNet(const plan::Program &program, int index,
                plan::DataType precision) {
  if (!program.source().empty())
    log::info(log::site::testNet, "Creating test net (#" +
                                      std::to_string(index) +
                                      ") specified by " + program.source());
  logNet(program, precision);
}

} // namespace brew::runtime
