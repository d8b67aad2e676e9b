//===- StringLocations.h - Where the bytes of a string value stand --------===//
#pragma once

#include "frontends/prototxt/text/SourceMap.h"

#include <string>

namespace brew::prototxt {

/// The location of byte `offset` of the string value that begins at `value` in
/// `text`, a valid prototxt. The value may be several quoted pieces with spaces
/// and comments between them; an escape counts as the bytes it stands for. An
/// offset at or past the end gives the last closing quote.
TextLocation locationInString(const std::string &text, TextLocation value,
                           size_t offset);

} // namespace brew::prototxt
