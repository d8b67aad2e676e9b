//===- NetGraph.cpp - Graph of a net for the page -------------------------===//

#include "tools/monitor/NetGraph.h"

#include <map>
#include <utility>
#include <vector>

namespace brew::monitor {
namespace {

using Json = nlohmann::json;

/// Returns a buffer's extents, like "64 × 20 × 24 × 24".
std::string shapeOf(const Json &buffer) {
  std::string text;
  for (const Json &dim : buffer.at("dims"))
    text += (text.empty() ? "" : " × ") + dim.dump();
  return text;
}

/// Returns the names of a step's layers. A fused step has several names, or one
/// name like "ip1+relu1".
std::vector<std::string> layersOf(const Json &step) {
  std::vector<std::string> names;
  for (const Json &entry : step.at("layers")) {
    const std::string text = entry.get<std::string>();
    std::size_t begin = 0;
    while (true) {
      const std::size_t plus = text.find('+', begin);
      names.push_back(text.substr(begin, plus - begin));
      if (plus == text.npos)
        break;
      begin = plus + 1;
    }
  }
  return names;
}

} // namespace

Json netGraphOf(const Json &description, const std::string &program) {
  Json nodes = Json::array(), edges = Json::array(), steps = Json::array();
  const Json &buffers = description.at("buffers");
  for (const Json &candidate : description.at("programs")) {
    if (candidate.at("name") != program)
      continue;
    std::map<std::size_t, std::size_t> producers; // nodes by buffer
    for (const Json &input : candidate.at("data_inputs")) {
      const Json &tops = input.at("buffers");
      for (const Json &top : tops)
        producers.emplace(top.get<std::size_t>(), nodes.size());
      nodes.push_back(
          {{"name", input.at("layer")},
           {"layers", Json::array({input.at("layer")})},
           {"kind", input.at("type")},
           {"shape", tops.empty()
                         ? ""
                         : shapeOf(buffers.at(tops[0].get<std::size_t>()))}});
    }
    std::map<std::string, std::size_t> nodeOf; // by layer
    for (const Json &step : candidate.at("steps")) {
      if (step.at("backward").get<bool>()) {
        int node = -1;
        for (const std::string &layer : layersOf(step))
          if (const auto found = nodeOf.find(layer); found != nodeOf.end()) {
            node = static_cast<int>(found->second);
            break;
          }
        steps.push_back({node, true});
        continue;
      }
      steps.push_back({nodes.size(), false});
      std::map<std::size_t, bool> inputNodes;
      std::string shape, name;
      for (const Json &operand : step.at("operands")) {
        const auto buffer = operand.at("buffer").get<std::size_t>();
        const std::string access = operand.at("access");
        if (access != "write")
          if (const auto producer = producers.find(buffer);
              producer != producers.end() && producer->second != nodes.size())
            inputNodes.emplace(producer->second, true);
        if (access == "read" || buffers.at(buffer).at("arena") != "TRANSIENT")
          continue;
        producers[buffer] = nodes.size();
        if (shape.empty())
          shape = shapeOf(buffers.at(buffer));
      }
      for (const auto &[producer, unused] : inputNodes)
        edges.push_back({producer, nodes.size()});
      const std::vector<std::string> layers = layersOf(step);
      for (const std::string &layer : layers) {
        name += (name.empty() ? "" : " + ") + layer;
        nodeOf.emplace(layer, nodes.size());
      }
      nodes.push_back({{"name", name},
                       {"layers", layers},
                       {"kind", step.at("action")},
                       {"shape", shape}});
    }
  }
  return {{"nodes", std::move(nodes)},
          {"edges", std::move(edges)},
          {"steps", std::move(steps)}};
}

} // namespace brew::monitor
