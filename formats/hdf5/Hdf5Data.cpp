//===- Hdf5Data.cpp - Files of HDF5Data layers ----------------------------===//
#include "formats/hdf5/Hdf5.h"

#include "formats/ExpectedFile.h"
#include "formats/PathLookup.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <cerrno>
#include <fstream>
#include <sstream>

namespace brew::formats {

std::vector<std::string> readHdf5List(const std::string &listPath,
                                      const std::vector<std::string> &folders) {
  refuseOtherKind(listPath, hdf5List());
  errno = 0;
  std::ifstream list(listPath);
  if (!list)
    throw unavailable(listPath +
                      ": cannot read list of HDF5 files: " + errnoText(errno));
  std::vector<std::string> paths;
  std::string text, name;
  for (size_t line = 1; std::getline(list, text); ++line) {
    std::istringstream words(text);
    while (words >> name)
      paths.push_back(
          requirePath(name, folders,
                      listPath + ":" + std::to_string(line) + ": HDF5 file"));
  }
  if (paths.empty())
    throw badInput(listPath + ": lists no HDF5 files");
  return paths;
}

std::vector<Blob> readHdf5Tops(const std::string &path,
                               const std::vector<std::string> &tops) {
  Hdf5Reader reader(path);
  std::vector<Blob> blobs;
  for (const std::string &top : tops) {
    blobs.push_back(reader.read(top));
    const Blob &blob = blobs.back();
    if (blob.dims.empty())
      throw badInput(path + ": dataset '" + top +
                     "' is a scalar; a layer's data needs at least one axis");
    if (blob.dims[0] == 0)
      throw badInput(path + ": dataset '" + top + "' has no rows");
    if (blob.dims[0] != blobs[0].dims[0])
      throw badInput(path + ": dataset '" + top + "' has " +
                     std::to_string(blob.dims[0]) + " rows, but '" + tops[0] +
                     "' has " + std::to_string(blobs[0].dims[0]));
  }
  return blobs;
}

} // namespace brew::formats
