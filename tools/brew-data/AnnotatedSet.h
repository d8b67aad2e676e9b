//===- AnnotatedSet.h - Images with their objects to a database -*- C++ -*-===//
#pragma once

#include "tools/brew-data/Commands.h"

#include <string>

namespace brew::data {

struct AnnotatedSetOptions {
  std::string root; ///< stands before each name of the list
  std::string list; ///< lines IMAGE ANNOTATIONS, two files
  Output output;
};

/// Writes AnnotatedDatum records, as SSD's convert_annoset does with
/// --anno_type=detection --label_type=txt --encoded: keys NUMBER_IMAGE. A file
/// of annotations has a line for each object: its label, then left, top, right
/// and bottom in pixels, then 1 if it is difficult. Error: 3 for a file that
/// cannot be read, 1 for a line that is no such, a box beyond its image, and an
/// empty list.
void convertAnnotatedSet(const AnnotatedSetOptions &options);

} // namespace brew::data
