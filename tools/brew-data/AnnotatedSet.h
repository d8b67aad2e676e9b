//===- AnnotatedSet.h - Conversion of annotated images ----------*- C++ -*-===//
#pragma once

#include "tools/brew-data/Commands.h"

#include <string>

namespace brew::data {

struct AnnotatedSetOptions {
  std::string root; ///< prefix of the names in the list
  std::string list; ///< file with lines IMAGE ANNOTATIONS that name two files
  Output output;
};

/// Writes AnnotatedDatum records with the keys NUMBER_IMAGE, as SSD's
/// convert_annoset does with --anno_type=detection --label_type=txt --encoded.
/// A file of annotations has one line per object: the label, then left, top,
/// right and bottom in pixels, then optionally 1 for a difficult object. Throws
/// Error: (3) for an unreadable file, (1) for an invalid line, a box beyond its
/// image or an empty list.
void convertAnnotatedSet(const AnnotatedSetOptions &options);

} // namespace brew::data
