//===- ConvolutionChecks.h - Common checks of convolutions ------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/LayerChecker.h"

#include <string>

namespace brew::prototxt {

/// Checks num_output and group, which must divide it.
template <typename Settings>
void checkOutputs(LayerChecker &c, const Settings &settings) {
  c.count(settings, "num_output");
  if (settings.group() == 0)
    c.error(settings, "group", "group is 0; it must be at least 1");
  else if (settings.num_output() % settings.group())
    c.error(settings, "num_output",
            "num_output " + std::to_string(settings.num_output()) +
                " is not a multiple of group " +
                std::to_string(settings.group()));
}

} // namespace brew::prototxt
