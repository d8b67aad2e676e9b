//===- Backends.h - Readers and writers of the backends ---------*- C++ -*-===//
//
// Database.cpp dispatches to these functions. Private to formats.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/Database.h"

namespace brew::formats {

std::unique_ptr<DbReader> openLmdb(const std::string &path);
std::unique_ptr<DbReader> openLevelDb(const std::string &path);

/// A database being written.
class RecordStore {
public:
  virtual ~RecordStore() = default;
  virtual void put(std::string_view key, std::string_view value) = 0;
  /// Flushes and closes the database. No put() may follow.
  virtual void close() = 0;
};

/// Create a store in `folder`, which must exist and be empty. `shownPath` is
/// the final path of the database, for messages.
std::unique_ptr<RecordStore> createLmdbStore(const std::string &folder,
                                             const std::string &shownPath);
std::unique_ptr<RecordStore> createLevelDbStore(const std::string &folder,
                                                const std::string &shownPath);

} // namespace brew::formats
