//===- DatabaseRecords.h - A database's records, pass after pass -*- C++
//-*-===//
#pragma once

#include "formats/Database.h"
#include "runtime/data/BatchSource.h"

#include <memory>
#include <string>

namespace brew::runtime {

struct DatabaseRecord {
  std::string key, value;
};

/// The records of the database that data_param names, in its order, from the
/// first again behind the last; on several ranks every so many of them.
class DatabaseRecords {
public:
  /// `layer` begins messages. Throws Error as formats::DbReader::open() does,
  /// and (3) if there is no such database.
  DatabaseRecords(const FeedInfo &info, std::string layer);

  const std::string &path() const { return reader->path(); }
  /// The next record, whose bytes replace those of `record`.
  void fetch(DatabaseRecord &record);
  /// The first record's value. Only before anything was fetched.
  std::string first() { return std::string(cursor->value()); }
  /// The first record, and how many there are: tells databases apart.
  const std::string &identity() const { return content; }
  /// As far as it is known: that of LevelDB is once a pass is over.
  std::uint64_t count() const;

  /// Pass and position in it; not SourcePosition::records, which is counted by
  /// whoever reads batches.
  SourcePosition at;
  /// Continues at `target`. Throws Error (1) if the database has no such
  /// record.
  void seek(const SourcePosition &target);

private:
  void advance();

  std::string layer;
  std::uint64_t rank, ranks; ///< each record of a group goes to one
  std::string content;
  std::unique_ptr<formats::DbReader> reader;
  std::unique_ptr<formats::DbCursor> cursor;
  std::uint64_t passSize = 0; ///< records of the last pass; 0: none is over
};

} // namespace brew::runtime
