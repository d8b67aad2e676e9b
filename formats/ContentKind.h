//===- ContentKind.h - Kinds of files by their content ----------*- C++ -*-===//
#pragma once

#include <string>

namespace brew::formats {

enum class ContentKind {
  Unknown, ///< also a file that cannot be read
  Weights,
  SolverState,
  BinaryProto, ///< one blob: a mean image or an infogain matrix
  Hdf5Weights,
  Hdf5SolverState,
  Hdf5, ///< another HDF5 file
  Plan,
  Npy,
  Idx,
  Zip,
  Gzip,
  Image,
  NetText,
  SolverText,
  Text, ///< other text
  LfsPointer,
  Html,
  LmdbFolder,
  LevelDbFolder,
  LmdbFile, ///< the data.mdb of an LMDB database
  Folder,
};

/// Returns the kind of a file or folder, by its content alone.
ContentKind contentKindOf(const std::string &path);

/// Returns up to 4096 bytes from the start of a file; "" if it cannot be read.
std::string firstBytes(const std::string &path);

} // namespace brew::formats
