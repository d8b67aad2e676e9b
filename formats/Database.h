//===- Database.h - LMDB and LevelDB behind one interface -------*- C++ -*-===//
//
// Ordered key-value databases of training records, as Caffe's Data layer reads
// and its converters write them.
//
// Databases come from elsewhere, so nothing in one may crash a reader: LMDB
// files are read with bounds-checked code of Brew's own (liblmdb trusts its
// file), LevelDB with every checksum verified. Reading never writes, locks or
// leaves anything in the database's folder, so any number of readers can share
// a database on a read-only medium.
//
// A reader delivers the records that the database had at opening. If another
// program changes an LMDB database so that they may be overwritten, the reader
// throws before it delivers a wrong one (db/LmdbFile.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace brew::formats {

enum class DbBackend { Lmdb, LevelDb };

/// "LMDB", "LevelDB".
const char *backendName(DbBackend backend);
/// From "lmdb" or "leveldb" in any case.
std::optional<DbBackend> parseBackend(const std::string &text);
/// Which kind of database a folder looks like, going by its file names.
std::optional<DbBackend> detectBackend(const std::string &path);

/// A position in the database; starts at the first record. Several may be used
/// at once, each by one thread. Must not outlive its reader.
class DbCursor {
public:
  virtual ~DbCursor() = default;
  /// Back to the first record.
  virtual void rewind() = 0;
  /// To the next record, or past the end.
  virtual void next() = 0;
  /// To the record of that key; false, and past the end, if there is none.
  virtual bool find(std::string_view key) = 0;
  /// Whether key() and value() stand for a record.
  virtual bool valid() const = 0;
  /// Valid until the cursor moves.
  virtual std::string_view key() const = 0;
  virtual std::string_view value() = 0;
};

class DbReader {
public:
  virtual ~DbReader() = default;

  /// Opens for reading. Error(3): not found, not readable; Error(1): no
  /// database, one of the other kind, damaged, or without records. Damage
  /// further in, or a writer that overwrites the records, is an Error(1) of the
  /// cursor that meets it.
  static std::unique_ptr<DbReader> open(const std::string &path,
                                        DbBackend backend);

  virtual std::unique_ptr<DbCursor> newCursor() = 0;
  /// Number of records, where the database knows without a scan (LMDB).
  virtual std::optional<uint64_t> count() const = 0;
  const std::string &path() const { return databasePath; }

protected:
  explicit DbReader(std::string path) : databasePath(std::move(path)) {}
  std::string databasePath;
};

/// A new database. It is built in a temporary folder beside `path` and takes
/// its name in finish(); before that, and if finish() is never reached, `path`
/// is untouched.
class DbWriter {
public:
  virtual ~DbWriter() = default;

  /// Error(1) if `path` exists, unless `overwrite` is set and it is a database
  /// (or an empty folder); Error(3) if it cannot be created.
  static std::unique_ptr<DbWriter>
  create(const std::string &path, DbBackend backend, bool overwrite = false);

  /// Adds or replaces a record. Error(3) when the disk is full.
  virtual void put(std::string_view key, std::string_view value) = 0;
  /// Flushes everything to the device and puts the database in place.
  virtual void finish() = 0;
};

} // namespace brew::formats
