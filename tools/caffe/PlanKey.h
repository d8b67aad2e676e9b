//===- PlanKey.h - What a compiled plan depends on --------------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::caffecmd {

/// A text that differs when compiling `prototxt` with those flags could give
/// another plan: the flags, Brew's version, the processor, the working folder,
/// and every file that the prototxt names, with what these name in turn.
std::string planKey(const std::string &prototxt,
                    const std::vector<std::string> &flags);

} // namespace brew::caffecmd
