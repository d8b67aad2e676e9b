//===- NetGraph.h - The net as the monitor draws it -------------*- C++ -*-===//
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace brew::monitor {

/// {nodes: [{name, layers: [...], kind, shape}], edges: [[from, to], ...],
/// steps: [[node, backward], ...]} of a program: a node for each step of the
/// forward pass and each data layer, and of each step whose layers' node it is
/// (-1: none) and whether it belongs to the backward pass.
/// `description` is what Plan::describe() says.
nlohmann::json netGraphOf(const nlohmann::json &description,
                          const std::string &program);

} // namespace brew::monitor
