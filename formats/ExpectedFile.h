//===- ExpectedFile.h - Errors about files of another kind ------*- C++ -*-===//
//
// If a reader gets a file of another kind than it expects, its error names the
// kind, instead of calling a good file damaged. Readers judge a file's kind
// only after they have failed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/ContentKind.h"

#include <string>
#include <vector>

namespace brew::formats {

/// The kinds of files that a reader accepts, for its error messages.
struct ExpectedFile {
  std::string noun;               ///< "a solver state"
  std::vector<ContentKind> kinds; ///< accepted kinds
  std::string advice;             ///< ends the message: "solver states are ..."
};

const ExpectedFile &weightFile();
const ExpectedFile &solverStateFile();
const ExpectedFile &binaryProtoFile();
const ExpectedFile &idxFile();
const ExpectedFile &npyFile();
const ExpectedFile &hdf5File();
const ExpectedFile &hdf5List();
const ExpectedFile &prototxtFile();
/// An LMDB or LevelDB database.
const ExpectedFile &databaseFolder();

/// Returns the expectation of a text file, such as "a list of images", with
/// lines of a format such as "FILE LABEL".
ExpectedFile textFileOf(const std::string &noun, const std::string &lineFormat);

/// Returns "is an HDF5 file, not a list of images; ADVICE", or "" if the file's
/// kind is accepted or unknown.
std::string otherKindText(const std::string &path,
                          const ExpectedFile &expected);

/// Throws Error(1), "PATH: " and otherKindText(), unless that text is empty.
void refuseOtherKind(const std::string &path, const ExpectedFile &expected);

} // namespace brew::formats
