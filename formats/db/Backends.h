//===- Backends.h - What Database.cpp dispatches to -------------*- C++ -*-===//
//
// The readers and writers of the two backends. Private to formats.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/Database.h"

namespace brew::formats {

std::unique_ptr<DbReader> openLmdb(const std::string &path);
std::unique_ptr<DbReader> openLevelDb(const std::string &path);

/// Stores records in a folder that exists and is empty.
class RecordStore {
public:
  virtual ~RecordStore() = default;
  virtual void put(std::string_view key, std::string_view value) = 0;
  /// Writes what is still held back and closes. No put() after it.
  virtual void close() = 0;
};

/// `shownPath` is the final path, for messages.
std::unique_ptr<RecordStore> createLmdbStore(const std::string &folder,
                                             const std::string &shownPath);
std::unique_ptr<RecordStore> createLevelDbStore(const std::string &folder,
                                                const std::string &shownPath);

} // namespace brew::formats
