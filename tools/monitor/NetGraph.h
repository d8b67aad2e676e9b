//===- NetGraph.h - Graph of a net for the page -----------------*- C++ -*-===//
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace brew::monitor {

/// Returns the graph of a program: {nodes: [{name, layers: [...], kind,
/// shape}], edges: [[from, to], ...], steps: [[node, backward], ...]}. There is
/// a node for each data layer and each step of the forward pass. `steps`
/// contains, for each step, the node of its layers (-1: no node) and whether it
/// is part of the backward pass. `description` is the parsed result of
/// Plan::describe().
nlohmann::json netGraphOf(const nlohmann::json &description,
                          const std::string &program);

} // namespace brew::monitor
