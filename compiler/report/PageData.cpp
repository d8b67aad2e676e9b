//===- PageData.cpp - Data for the script of an HTML report ---------------===//
#include "compiler/report/Page.h"

#include "llvm/ADT/StringExtras.h"

#include <nlohmann/json.hpp>

#include <set>

namespace brew::compiler {
namespace {

using nlohmann::json;

const char *kindName(GraphNode::Kind kind) {
  switch (kind) {
  case GraphNode::Kind::Data:
    return "data";
  case GraphNode::Kind::Layer:
    return "layer";
  case GraphNode::Kind::Kernel:
    return "kernel";
  case GraphNode::Kind::Call:
    return "call";
  case GraphNode::Kind::Host:
    return "host";
  case GraphNode::Kind::Output:
    return "output";
  }
  return "";
}

json graphData(const ProgramGraph &graph, const StepMatch &match) {
  json nodes = json::array(), edges = json::array();
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode &node = graph.nodes[i];
    json layers = json::array();
    for (const std::string &layer : node.layers)
      layers.push_back(utf8(layer));
    json entry = {{"name", utf8(node.name)},     {"type", utf8(node.type)},
                  {"kind", kindName(node.kind)}, {"layers", std::move(layers)},
                  {"backward", node.backward},   {"source", utf8(node.source)}};
    if (auto kernel = match.kernels.find(i); kernel != match.kernels.end())
      entry["kernel"] = kernel->second;
    if (auto found = match.costs.find(i); found != match.costs.end()) {
      const Costs &costs = found->second;
      entry["time"] =
          secondsText(costs.measuredSeconds.value_or(costs.seconds));
      entry["times"] = stepTimeText(costs);
    }
    nodes.push_back(std::move(entry));
  }
  for (const GraphEdge &edge : graph.edges)
    edges.push_back({edge.from, edge.to, edge.shape,
                     sizeText(static_cast<int64_t>(edge.bytes))});
  return {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
}

/// Buffers of the transient arena with their lifetimes.
json bufferData(const plan::Manifest &manifest, int program) {
  json rows = json::array();
  for (const plan::Buffer &buffer : manifest.buffers()) {
    if (!buffer.has_first_step() || !buffer.has_program_index() ||
        static_cast<int>(buffer.program_index()) != program)
      continue;
    std::string shape = llvm::join(
        llvm::map_range(buffer.dims(),
                        [](int64_t dim) { return std::to_string(dim); }),
        "x");
    rows.push_back(
        {{"name", utf8(buffer.name())},
         {"offset", buffer.offset()},
         {"size", buffer.size()},
         {"first", buffer.first_step()},
         {"last", buffer.last_step()},
         {"text", shape + " " + plan::DataType_Name(buffer.type()) + ", " +
                      sizeText(static_cast<int64_t>(buffer.size()))},
         {"pinned", buffer.pinned()}});
  }
  return rows;
}

json stepData(const plan::Manifest &manifest, const plan::Program &program) {
  json rows = json::array();
  for (const plan::Step &step : program.steps()) {
    LayerCosts row;
    row.layers.assign(step.layers().begin(), step.layers().end());
    rows.push_back(
        utf8(row.label(2) + ": " + plan::describeAction(manifest, step)));
  }
  return rows;
}

const ProgramGraph *graphOf(const NetGraph &graph, const std::string &name) {
  for (const ProgramGraph &program : graph)
    if (program.name == name)
      return &program;
  return nullptr;
}

} // namespace

std::string stepTimeText(const Costs &costs) {
  std::string text = secondsText(costs.seconds) + " by the roofline";
  if (costs.measuredSeconds)
    text += ", " + secondsText(*costs.measuredSeconds) + " measured";
  return text;
}

StepMatch matchSteps(const ProgramGraph &graph, const plan::Manifest &manifest,
                     const plan::Program &program, const CostModel &model) {
  StepMatch match;
  std::set<int> matchedSteps;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode &node = graph.nodes[i];
    const bool isKernel = node.kind == GraphNode::Kind::Kernel;
    if (!isKernel && node.kind != GraphNode::Kind::Call &&
        node.kind != GraphNode::Kind::Host)
      continue;
    for (int s = 0; s < program.steps_size(); ++s) {
      const plan::Step &step = program.steps(s);
      if (step.has_launch() != isKernel || matchedSteps.count(s))
        continue;
      if (isKernel) {
        // A symbol is the kernel's name, with a number if the name was taken.
        const int kernel = static_cast<int>(step.launch().kernel_index());
        llvm::StringRef suffix = manifest.kernels(kernel).symbol();
        if (!suffix.consume_front(node.name) ||
            !(suffix.empty() || (suffix.consume_front("_") &&
                                 llvm::all_of(suffix, llvm::isDigit))) ||
            !llvm::equal(step.layers(), node.layers))
          continue;
        match.kernels[i] = kernel;
      } else if (step.layers_size() != 1 || step.layers(0) != node.name) {
        continue;
      }
      match.costs[i] = model.of(step);
      matchedSteps.insert(s);
      break;
    }
  }
  return match;
}

std::string pageData(const ReportSubject &subject, const PageContents &contents,
                     const CostModel &model) {
  json programs = json::array();
  for (int i = 0; i < subject.manifest.programs_size(); ++i) {
    const plan::Program &program = subject.manifest.programs(i);
    json entry = {
        {"name", program.name()},
        {"arena", program.memory().arena_bytes()},
        {"steps", stepData(subject.manifest, program)},
        {"buffers", bufferData(subject.manifest, i)},
    };
    // Some programs are created after phase graph and have no layers to draw.
    if (const ProgramGraph *graph = graphOf(contents.layers, program.name()))
      entry["before"] = graphData(*graph, {});
    if (const ProgramGraph *graph = graphOf(contents.steps, program.name()))
      entry["after"] = graphData(
          *graph, matchSteps(*graph, subject.manifest, program, model));
    programs.push_back(std::move(entry));
  }
  // In JSON '<' occurs only in strings; escaped, it cannot end the script
  // element.
  std::string text;
  for (char c : json{{"programs", std::move(programs)}}.dump())
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

} // namespace brew::compiler
