//===- Initialisers.h - Fillers by patterns of parameters -------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "plan/plan.pb.h"

#include <string>
#include <vector>

namespace brew::runtime {

/// A filler for parameters instead of their own.
struct Initialiser {
  std::vector<const plan::Parameter *> parameters; ///< of the manifest
  caffe::FillerParameter filler;
};

/// Parses "PATTERN=FILLER" (TensorPattern.h, FillerText.h), for example
/// "ip*.weights=gaussian(0, 0.01)". Throws Error (2) if the text is invalid, no
/// parameter matches, or the filler does not suit one that does.
Initialiser parseInitialiser(const std::string &text,
                             const plan::Manifest &manifest);
/// The same for a pattern and a filler.
Initialiser makeInitialiser(const std::string &pattern,
                            const std::string &filler,
                            const plan::Manifest &manifest);

} // namespace brew::runtime
