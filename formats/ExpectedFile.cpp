//===- ExpectedFile.cpp - Errors about files of another kind --------------===//
#include "formats/ExpectedFile.h"

#include "formats/image/ImageSignature.h"
#include "support/Error.h"

#include <algorithm>
#include <filesystem>

namespace brew::formats {
namespace {

namespace fs = std::filesystem;

/// Returns a predicate, such as "is an HDF5 file".
std::string predicateOf(ContentKind kind, const std::string &path) {
  switch (kind) {
  case ContentKind::Unknown:
    break;
  case ContentKind::Weights:
    return "holds weights";
  case ContentKind::SolverState:
    return "holds a solver state";
  case ContentKind::BinaryProto:
    return "is a .binaryproto file";
  case ContentKind::Hdf5Weights:
    return "is an HDF5 file of weights";
  case ContentKind::Hdf5SolverState:
    return "is an HDF5 file of a solver state";
  case ContentKind::Hdf5:
    return "is an HDF5 file";
  case ContentKind::Plan:
    return "is a compiled plan";
  case ContentKind::Npy:
    return "is an array of NumPy (.npy)";
  case ContentKind::Idx:
    return "is an IDX file, MNIST's format";
  case ContentKind::Zip:
    return "is a ZIP archive, as .npz and .pt files are";
  case ContentKind::Gzip:
    return "is compressed by gzip";
  case ContentKind::Image: {
    const std::string head = firstBytes(path);
    const char *format = imageFormatName(head.data(), head.size());
    return std::string("is an image") +
           (format ? std::string(" (") + format + ")" : "");
  }
  case ContentKind::NetText:
    return "is the prototxt of a net";
  case ContentKind::SolverText:
    return "is the prototxt of a solver";
  case ContentKind::Text:
    return "is a text file";
  case ContentKind::LfsPointer:
    return "is a pointer of Git LFS";
  case ContentKind::Html:
    return "is a web page (HTML)";
  case ContentKind::LmdbFolder:
    return "is an LMDB database";
  case ContentKind::LevelDbFolder:
    return "is a LevelDB database";
  case ContentKind::LmdbFile:
    return "is the file of an LMDB database";
  case ContentKind::Folder:
    return "is a folder";
  }
  return "";
}

/// Returns the name of the weights or the solver state that was written with
/// the snapshot file `path`, if it exists; otherwise `fallback`.
std::string counterpart(const std::string &path, const std::string &from,
                        const std::string &to, const std::string &fallback) {
  const size_t position = path.rfind(from);
  if (position == path.npos)
    return fallback;
  std::string other = path;
  other.replace(position, from.size(), to);
  std::error_code ignored;
  return fs::is_regular_file(other, ignored) ? other : fallback;
}

std::string adviceFor(ContentKind kind, const std::string &path,
                      const ExpectedFile &expected) {
  const bool wantsState = &expected == &solverStateFile();
  const bool wantsWeights = &expected == &weightFile();
  const bool wantsPrototxt = &expected == &prototxtFile();
  switch (kind) {
  case ContentKind::Weights:
  case ContentKind::Hdf5Weights:
    if (wantsState)
      return "--weights takes this file, --snapshot takes " +
             counterpart(path, ".caffemodel", ".solverstate",
                         "a .solverstate file");
    if (wantsPrototxt)
      return "--weights takes weights";
    break;
  case ContentKind::SolverState:
  case ContentKind::Hdf5SolverState:
    if (wantsWeights)
      return "--snapshot takes this file, --weights takes " +
             counterpart(path, ".solverstate", ".caffemodel",
                         "a .caffemodel file");
    if (wantsPrototxt)
      return "--snapshot takes solver states";
    break;
  case ContentKind::Plan:
    if (wantsPrototxt)
      return "brew-run takes plans";
    break;
  case ContentKind::LmdbFile:
    return "name the folder that contains it";
  case ContentKind::LfsPointer:
    return "`git lfs pull` fetches the file itself";
  case ContentKind::Html:
    return "download the file itself";
  case ContentKind::Gzip:
    return "unpack it with gunzip";
  case ContentKind::LmdbFolder:
  case ContentKind::LevelDbFolder:
    return "layers of type Data read databases";
  default:
    break;
  }
  return expected.advice;
}

} // namespace

const ExpectedFile &weightFile() {
  static const ExpectedFile file = {
      "weights",
      {ContentKind::Weights, ContentKind::Hdf5Weights, ContentKind::Hdf5},
      "weights are in .caffemodel and .caffemodel.h5 files"};
  return file;
}

const ExpectedFile &solverStateFile() {
  static const ExpectedFile file = {
      "a solver state",
      {ContentKind::SolverState, ContentKind::Hdf5SolverState,
       ContentKind::Hdf5},
      "solver states are in .solverstate and .solverstate.h5 files"};
  return file;
}

const ExpectedFile &binaryProtoFile() {
  static const ExpectedFile file = {
      "a .binaryproto file",
      {ContentKind::BinaryProto},
      "brew-data mean and caffe.io.array_to_blobproto write such files"};
  return file;
}

const ExpectedFile &idxFile() {
  static const ExpectedFile file = {
      "an IDX file",
      {ContentKind::Idx, ContentKind::Gzip}, // compressed IDX files are read
      "MNIST's files have names in -ubyte"};
  return file;
}

const ExpectedFile &npyFile() {
  static const ExpectedFile file = {
      "an array of NumPy", {ContentKind::Npy}, "numpy.save writes such files"};
  return file;
}

const ExpectedFile &hdf5File() {
  static const ExpectedFile file = {"an HDF5 file",
                                    {ContentKind::Hdf5,
                                     ContentKind::Hdf5Weights,
                                     ContentKind::Hdf5SolverState},
                                    "h5py.File writes such files"};
  return file;
}

const ExpectedFile &hdf5List() {
  static const ExpectedFile file = {
      "a list of HDF5 files",
      {ContentKind::Text},
      "write the names of HDF5 files into a text file and name that file"};
  return file;
}

const ExpectedFile &prototxtFile() {
  static const ExpectedFile file = {
      "a prototxt",
      {ContentKind::NetText, ContentKind::SolverText, ContentKind::Text},
      "a prototxt is the text of a net or a solver"};
  return file;
}

const ExpectedFile &databaseFolder() {
  static const ExpectedFile file = {"a database",
                                    {ContentKind::LmdbFolder,
                                     ContentKind::LevelDbFolder,
                                     ContentKind::Folder},
                                    "LMDB and LevelDB databases are folders"};
  return file;
}

ExpectedFile textFileOf(const std::string &noun,
                        const std::string &lineFormat) {
  return {noun,
          {ContentKind::Text},
          "write a text file with lines of " + lineFormat};
}

std::string otherKindText(const std::string &path,
                          const ExpectedFile &expected) {
  const ContentKind kind = contentKindOf(path);
  if (kind == ContentKind::Unknown ||
      std::find(expected.kinds.begin(), expected.kinds.end(), kind) !=
          expected.kinds.end())
    return "";
  return predicateOf(kind, path) + ", not " + expected.noun + "; " +
         adviceFor(kind, path, expected);
}

void refuseOtherKind(const std::string &path, const ExpectedFile &expected) {
  const std::string text = otherKindText(path, expected);
  if (!text.empty())
    throw badInput(path + ": " + text);
}

} // namespace brew::formats
