//===- StringLocations.h - Locations inside string values -------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/text/SourceMap.h"

#include <string>

namespace brew::prototxt {

/// Returns the location of byte `offset` of the string value that begins at
/// `value` in `text`, a valid prototxt. The value may consist of several quoted
/// pieces with spaces and comments between them; an escape counts as the bytes
/// it encodes. For an offset at or past the end, returns the last closing
/// quote.
TextLocation locationInString(const std::string &text, TextLocation value,
                              size_t offset);

} // namespace brew::prototxt
