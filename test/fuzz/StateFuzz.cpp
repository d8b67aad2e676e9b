//===- StateFuzz.cpp - Fuzz entry: solverstate files ----------------------===//
//
// Excludes HDF5 files, which Hdf5Fuzz.cpp generates.
//
//===----------------------------------------------------------------------===//
#include "Fuzz.h"
#include "formats/SnapshotChecksum.h"
#include "formats/SolverStateFile.h"

using namespace brew;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  if (fuzz::textOf(data, size).find("\x89HDF") != std::string_view::npos)
    return 0;
  const std::string file = fuzz::fileOf(data, size);
  fuzz::attempt([&] { formats::readSolverState(file); });
  return 0;
}
