//===- NetGraph.cpp - Graph of a net for the page -------------------------===//

#include "tools/monitor/NetGraph.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
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

/// The bytes of a buffer: rows of `row` bytes, whose starts are `pitch` bytes
/// apart. A dense buffer is one row with pitch 0.
struct Extent {
  std::int64_t begin = 0, end = 0;
  std::int64_t row = 0, pitch = 0;
};

Extent extentOf(const Json &buffer) {
  const auto offset = buffer.at("offset").get<std::int64_t>();
  const auto size = buffer.at("size").get<std::int64_t>();
  Extent extent{offset, offset + size, size, 0};
  std::vector<std::pair<std::int64_t, std::int64_t>> dims; // stride, size
  std::int64_t span = 1; // elements from the first to the last
  for (std::size_t i = 0; i < buffer.at("dims").size(); ++i) {
    dims.emplace_back(buffer.at("strides").at(i), buffer.at("dims").at(i));
    span += (dims.back().second - 1) * dims.back().first;
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t run = 1; // elements without a gap
  for (const auto &[stride, dim] : dims) {
    if (dim == 1)
      continue;
    if (stride > run && span > 0) {
      extent.row = run * (size / span);
      extent.pitch = stride * (size / span);
      break;
    }
    run = stride * dim;
  }
  return extent;
}

bool overlap(const Extent &a, const Extent &b) {
  if (a.begin >= b.end || b.begin >= a.end)
    return false;
  if (!a.pitch || a.pitch != b.pitch)
    return true;
  // Slices of a concatenated blob interleave: compare positions in a row.
  const std::int64_t shift =
      ((b.begin - a.begin) % a.pitch + a.pitch) % a.pitch;
  return shift < a.row || shift + b.row > a.pitch;
}

/// Finds the nodes that computed the values of a buffer. Buffers share memory
/// if one is a slice of another, or if they are used at different times.
class Producers {
public:
  explicit Producers(const Json &buffers) : buffers(buffers) {}

  /// Activations of a training net may lie in the arena of the gradients, which
  /// the forward pass does not need otherwise.
  bool isActivation(std::size_t buffer) const {
    const Json &arena = buffers.at(buffer).at("arena");
    return arena == "TRANSIENT" || arena == "GRADIENTS";
  }

  void add(std::size_t buffer, std::size_t node) {
    const Json &arena = buffers.at(buffer).at("arena");
    const Extent extent = extentOf(buffers.at(buffer));
    // The node replaces values that it overwrites completely.
    writes.erase(std::remove_if(writes.begin(), writes.end(),
                                [&](const Write &write) {
                                  return buffers.at(write.buffer).at("arena") ==
                                             arena &&
                                         extent.begin <= write.extent.begin &&
                                         write.extent.end <= extent.end &&
                                         overlap(extent, write.extent);
                                }),
                 writes.end());
    writes.push_back({buffer, node, extent});
  }

  /// Discards values that no step from `step` on uses.
  void endLifetimes(std::size_t step) {
    writes.erase(std::remove_if(writes.begin(), writes.end(),
                                [&](const Write &write) {
                                  const Json &buffer = buffers.at(write.buffer);
                                  const auto last = buffer.find("last_step");
                                  return last != buffer.end() &&
                                         last->is_number() &&
                                         last->get<std::size_t>() < step;
                                }),
                 writes.end());
  }

  std::set<std::size_t> of(std::size_t buffer) const {
    const Json &arena = buffers.at(buffer).at("arena");
    const Extent extent = extentOf(buffers.at(buffer));
    std::set<std::size_t> nodes;
    for (const Write &write : writes)
      if (buffers.at(write.buffer).at("arena") == arena &&
          overlap(extent, write.extent))
        nodes.insert(write.node);
    return nodes;
  }

private:
  struct Write {
    std::size_t buffer, node;
    Extent extent;
  };
  const Json &buffers;
  std::vector<Write> writes;
};

} // namespace

Json netGraphOf(const Json &description, const std::string &program) {
  Json nodes = Json::array(), edges = Json::array(), steps = Json::array();
  const Json &buffers = description.at("buffers");
  for (const Json &candidate : description.at("programs")) {
    if (candidate.at("name") != program)
      continue;
    Producers producers(buffers);
    for (const Json &input : candidate.at("data_inputs")) {
      const Json &tops = input.at("buffers");
      for (const Json &top : tops)
        producers.add(top.get<std::size_t>(), nodes.size());
      nodes.push_back(
          {{"name", input.at("layer")},
           {"layers", Json::array({input.at("layer")})},
           {"kind", input.at("type")},
           {"shape", tops.empty()
                         ? ""
                         : shapeOf(buffers.at(tops[0].get<std::size_t>()))}});
    }
    std::map<std::string, std::size_t> nodeOf; // by layer
    for (std::size_t index = 0; index < candidate.at("steps").size(); ++index) {
      const Json &step = candidate.at("steps").at(index);
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
      producers.endLifetimes(index);
      std::set<std::size_t> inputNodes;
      std::vector<std::size_t> results;
      for (const Json &operand : step.at("operands")) {
        const auto buffer = operand.at("buffer").get<std::size_t>();
        const std::string access = operand.at("access");
        if (!producers.isActivation(buffer))
          continue;
        if (access != "write")
          inputNodes.merge(producers.of(buffer));
        if (access != "read")
          results.push_back(buffer);
      }
      for (const std::size_t buffer : results)
        producers.add(buffer, nodes.size());
      const std::string shape =
          results.empty() ? "" : shapeOf(buffers.at(results.front()));
      std::string name;
      for (const std::size_t producer : inputNodes)
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
