//===- Dot.cpp - Graphviz text of nets ------------------------------------===//
#include "compiler/report/Costs.h"
#include "compiler/report/NetGraph.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace brew::compiler {
namespace {

/// A label names at most this many layers and counts the others.
constexpr size_t kShownLayers = 4;

/// Joins the lines to one quoted Graphviz string. Escapes quotes and
/// backslashes; replaces other control characters.
std::string quoted(llvm::ArrayRef<std::string> lines) {
  std::string text = "\"";
  for (const std::string &line : lines) {
    if (text.size() > 1)
      text += "\\n";
    for (char c : utf8(line))
      if (c == '"' || c == '\\')
        text += {'\\', c};
      else
        text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return text + "\"";
}

std::string layersText(const GraphNode &node) {
  if (node.layers.size() <= kShownLayers)
    return llvm::join(node.layers, " + ");
  return llvm::join(llvm::ArrayRef(node.layers).take_front(kShownLayers),
                    " + ") +
         " and " + std::to_string(node.layers.size() - kShownLayers) + " more";
}

const char *styleOf(GraphNode::Kind kind) {
  switch (kind) {
  case GraphNode::Kind::Data:
  case GraphNode::Kind::Output:
    return "shape=ellipse";
  case GraphNode::Kind::Layer:
    return "shape=box";
  case GraphNode::Kind::Kernel:
    return "shape=box, style=\"filled,rounded\", fillcolor=\"#d9ead3\"";
  case GraphNode::Kind::Call:
    return "shape=box, style=filled, fillcolor=\"#cfe2f3\"";
  case GraphNode::Kind::Host:
    return "shape=box, style=filled, fillcolor=\"#fce5cd\"";
  }
  return "";
}

void printNode(const GraphNode &node, const std::string &id,
               llvm::raw_ostream &os) {
  std::vector<std::string> lines = {node.name};
  const bool typeMentionsBackward =
      llvm::StringRef(node.type).contains("backward");
  lines.push_back(node.type + (node.backward && !typeMentionsBackward
                                   ? " (backward)"
                                   : ""));
  // A kernel's or call's name may not mention all its layers.
  if (const std::string layers = layersText(node);
      node.kind != GraphNode::Kind::Layer && !layers.empty() &&
      layers != node.name)
    lines.push_back(layers);
  os << "    " << id << " [label=" << quoted(lines) << ", "
     << styleOf(node.kind);
  if (!node.source.empty())
    os << ", tooltip=" << quoted({node.source});
  os << "];\n";
}

} // namespace

std::string dotText(const NetGraph &graph, const std::string &name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "digraph " << quoted({name}) << " {\n"
     << "  node [fontname=\"sans-serif\", fontsize=11];\n"
     << "  edge [fontname=\"sans-serif\", fontsize=9];\n";
  for (size_t p = 0; p < graph.size(); ++p) {
    const ProgramGraph &program = graph[p];
    auto idOf = [p](size_t node) {
      return "p" + std::to_string(p) + "n" + std::to_string(node);
    };
    os << "  subgraph cluster_" << p
       << " {\n    label=" << quoted({program.name}) << ";\n";
    for (size_t i = 0; i < program.nodes.size(); ++i)
      printNode(program.nodes[i], idOf(i), os);
    for (const GraphEdge &edge : program.edges)
      os << "    " << idOf(edge.from) << " -> " << idOf(edge.to) << " [label="
         << quoted({edge.shape, bytesText(static_cast<int64_t>(edge.bytes))})
         << "];\n";
    os << "  }\n";
  }
  os << "}\n";
  return text;
}

} // namespace brew::compiler
