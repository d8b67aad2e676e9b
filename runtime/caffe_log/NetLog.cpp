//===- NetLog.cpp - Caffe's log of a net's set-up -------------------------===//

#include "runtime/caffe_log/NetLog.h"

#include "plan/PlanFile.h"
#include "runtime/log/Log.h"

#include <string>

namespace brew::runtime {
namespace {

void logTops(const plan::Layer &layer, std::uint64_t elementBytes,
             std::uint64_t &memory, const NetLine &line) {
  for (int i = 0; i < layer.tops_size(); ++i) {
    std::string text;
    std::int64_t count = 1;
    for (std::int64_t dim : layer.shapes(i).dims()) {
      text += std::to_string(dim) + " ";
      count *= dim;
    }
    line(log::site::netTopShape,
         "Top shape: " + text + "(" + std::to_string(count) + ")");
    if (layer.loss_weights(i) != 0)
      line(log::site::netLossWeight,
           "    with loss weight " + log::number(layer.loss_weights(i)));
    memory += static_cast<std::uint64_t>(count) * elementBytes;
  }
}

} // namespace

void logNet(const plan::Program &program, plan::DataType precision,
            const NetLine &line) {
  if (program.layers_size() == 0)
    return;
  for (const std::string &rule : program.filter_log_lines())
    line(log::site::netRule, rule);
  std::uint64_t memory = 0;
  for (const plan::Layer &layer : program.layers()) {
    const std::string &name = layer.name();
    line(log::site::factoryLayer, "Creating layer " + name);
    line(log::site::netLayer, "Creating Layer " + name);
    for (const std::string &bottom : layer.bottoms())
      line(log::site::netBottom, name + " <- " + bottom);
    for (int i = 0; i < layer.tops_size(); ++i) {
      const std::string &top = layer.tops(i);
      if (i < layer.bottoms_size() && layer.bottoms(i) == top)
        line(log::site::netTopInPlace, name + " -> " + top + " (in-place)");
      else
        line(log::site::netTop,
             name + " -> " + (top.empty() ? "(automatic)" : top));
    }
    line(log::site::netSettingUp, "Setting up " + name);
    logTops(layer, plan::elementSize(precision), memory, line);
    line(log::site::netMemory,
         "Memory required for data: " + std::to_string(memory));
    for (const std::string &sharing : layer.sharing_log_lines())
      line(log::site::netSharing, sharing);
  }
  for (int i = program.layers_size() - 1; i >= 0; --i) {
    const plan::Layer &layer = program.layers(i);
    if (layer.needs_backward())
      line(log::site::netBackward,
           layer.name() + " needs backward computation.");
    else
      line(log::site::netNoBackward,
           layer.name() + " does not need backward computation.");
  }
  for (const plan::Output &output : program.outputs())
    line(log::site::netOutput, "This network produces output " + output.blob());
  line(log::site::netDone, "Network initialization done.");
}

void logTrainNet(const plan::Program &program, plan::DataType precision,
                 const NetLine &line) {
  const std::string &source = program.source();
  const bool isFile = source.find("file: ") != source.npos;
  const bool isTrainingOnly = source.rfind("train_net", 0) == 0;
  const log::Site site = isFile
                             ? (isTrainingOnly ? log::site::trainNetFile
                                               : log::site::trainGenericFile)
                             : (isTrainingOnly ? log::site::trainNetParam
                                               : log::site::trainGenericParam);
  if (!source.empty())
    line(site, isFile ? "Creating training net from " + source
                      : "Creating training net specified in " + source + ".");
  logNet(program, precision, line);
}

void logTestNet(const plan::Program &program, int index,
                plan::DataType precision, const NetLine &line) {
  if (!program.source().empty())
    line(log::site::testNet, "Creating test net (#" + std::to_string(index) +
                                 ") specified by " + program.source());
  logNet(program, precision, line);
}

} // namespace brew::runtime
