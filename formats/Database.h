//===- Database.h - Common interface of LMDB and LevelDB --------*- C++ -*-===//
//
// Ordered key-value databases of training records, as Caffe's Data layer reads
// and its converters write them.
//
// Databases are untrusted, so no content may crash a reader. Brew reads LMDB
// files with its own bounds-checked code, since liblmdb trusts its file, and
// LevelDB with every checksum verified. Reading never writes, locks or creates
// anything in the database's folder, so any number of readers can share a
// database on a read-only medium.
//
// A reader returns the records that the database had when it was opened. If
// another program changes an LMDB database so that they may be overwritten, the
// reader throws before it returns a wrong record (db/LmdbFile.h).
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

/// Returns "LMDB" or "LevelDB".
const char *backendName(DbBackend backend);
/// Parses "lmdb" or "leveldb" in any case. Returns nullopt for other text.
std::optional<DbBackend> parseBackend(const std::string &text);
/// Returns the kind of the database in folder `path`, judged by file names, or
/// nullopt if there is no database.
std::optional<DbBackend> detectBackend(const std::string &path);

/// A position in the database, initially at the first record. Several cursors
/// may be used concurrently, each by one thread. A cursor must not outlive its
/// reader.
class DbCursor {
public:
  virtual ~DbCursor() = default;
  /// Moves to the first record.
  virtual void rewind() = 0;
  /// Moves to the next record, or past the end.
  virtual void next() = 0;
  /// Moves to the record with the key `key`. If it does not exist, moves past
  /// the end and returns false.
  virtual bool find(std::string_view key) = 0;
  /// Returns whether the cursor is at a record.
  virtual bool valid() const = 0;
  /// Return the record's key and value, or "" past the end. The views remain
  /// valid until the cursor moves.
  virtual std::string_view key() const = 0;
  virtual std::string_view value() = 0;
  /// Copies the record's value to `target`, or "" past the end. Large values
  /// of LMDB are read from the file directly into `target`.
  virtual void copyValue(std::string &target) { target = value(); }
};

class DbReader {
public:
  virtual ~DbReader() = default;

  /// Opens a database for reading. Throws Error(3) if it is not found or not
  /// readable, Error(1) if it is not a database, of the other kind, damaged, or
  /// without records. A cursor throws Error(1) when it encounters other damage,
  /// or records that a writer may have overwritten.
  static std::unique_ptr<DbReader> open(const std::string &path,
                                        DbBackend backend);

  virtual std::unique_ptr<DbCursor> newCursor() = 0;
  /// Returns the number of records, if the database stores it (LMDB).
  virtual std::optional<uint64_t> count() const = 0;
  const std::string &path() const { return databasePath; }

protected:
  explicit DbReader(std::string path) : databasePath(std::move(path)) {}
  std::string databasePath;
};

/// Writes a new database. It is built in a temporary folder next to `path`,
/// which finish() renames. Until then, `path` is untouched.
class DbWriter {
public:
  virtual ~DbWriter() = default;

  /// Creates a writer. Throws Error(1) if `path` exists, unless `overwrite` is
  /// set and `path` is a database or an empty folder, and Error(3) if the
  /// writer cannot be created.
  static std::unique_ptr<DbWriter>
  create(const std::string &path, DbBackend backend, bool overwrite = false);

  /// Adds or replaces a record. Throws Error(3) when the disk is full.
  virtual void put(std::string_view key, std::string_view value) = 0;
  /// Flushes everything to the device and renames the database to its path.
  virtual void finish() = 0;
};

} // namespace brew::formats
