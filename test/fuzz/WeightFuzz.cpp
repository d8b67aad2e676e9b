//===- WeightFuzz.cpp - Fuzz entry: caffemodel and binaryproto files ------===//
//
// Excludes HDF5 files, which Hdf5Fuzz.cpp generates.
//
//===----------------------------------------------------------------------===//
#include "Fuzz.h"
#include "formats/BinaryProto.h"
#include "formats/WeightFile.h"

using namespace brew;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  if (fuzz::textOf(data, size).find("\x89HDF") != std::string_view::npos)
    return 0;
  const std::string file = fuzz::fileOf(data, size);
  fuzz::attempt([&] { formats::readWeights(file); });
  fuzz::attempt([&] { formats::readBinaryProto(file); });
  return 0;
}
