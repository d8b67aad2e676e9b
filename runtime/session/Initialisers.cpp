//===- Initialisers.cpp - Fillers by patterns of parameters ---------------===//

#include "runtime/session/Initialisers.h"

#include "caffe/Filler.h"
#include "caffe/FillerText.h"
#include "caffe/weights/BufferLayout.h"
#include "runtime/session/TensorPattern.h"
#include "support/Error.h"

namespace brew::runtime {

Initialiser makeInitialiser(const std::string &pattern,
                            const std::string &filler,
                            const plan::Manifest &manifest) {
  Initialiser result;
  try {
    result.filler = caffe::parseFiller(filler);
    for (const TensorName &name : parametersMatching(manifest, pattern)) {
      const plan::Parameter &parameter = parameterOf(manifest, name);
      caffe::Filler(result.filler, caffe::toVector(parameter.file_dims()),
                    caffe::RandomStream(0, ""),
                    "parameter " + identifierOf(manifest, name));
      result.parameters.push_back(&parameter);
    }
  } catch (const Error &error) {
    throw usageError(error.what());
  }
  return result;
}

Initialiser parseInitialiser(const std::string &text,
                             const plan::Manifest &manifest) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    throw usageError("initialiser '" + text +
                     "': expected PATTERN=FILLER, e.g. "
                     "ip*.weights=gaussian(0,0.01)");
  try {
    return makeInitialiser(text.substr(0, equals), text.substr(equals + 1),
                           manifest);
  } catch (const Error &error) {
    throw usageError("initialiser '" + text + "': " + error.what());
  }
}

} // namespace brew::runtime
