//===- NetGraph.h - The net as the monitor draws it -------------*- C++ -*-===//
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace brew::run::monitor {

/// {nodes: [{name, layers: [...], kind, shape}], edges: [[from, to], ...]} of
/// the forward pass of a program: a node for each step and each data layer.
/// `description` is what Plan::describe() says.
nlohmann::json netGraphOf(const nlohmann::json &description,
                          const std::string &program);

} // namespace brew::run::monitor
