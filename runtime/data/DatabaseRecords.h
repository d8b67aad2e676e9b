//===- DatabaseRecords.h - A database's records, pass after pass -*- C++
//-*-===//
#pragma once

#include "caffe/RecordSelection.h"
#include "formats/Database.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/selection/RecordIndex.h"
#include "runtime/data/selection/Sampler.h"

#include <memory>
#include <optional>
#include <string>

namespace brew::runtime {

struct DatabaseRecord {
  std::string key, value;
};

/// The records of the database that data_param names, in the order that it asks
/// for: its own, from the first again behind the last, or a sampler's. Several
/// ranks share the records, each record, or all of an item or a pair, for one.
class DatabaseRecords {
public:
  /// `layer` begins messages. Throws Error as formats::DbReader::open(),
  /// RecordIndex and Sampler do, and (3) if there is no such database.
  DatabaseRecords(const DataLayerInfo &info, std::string layer);

  const std::string &path() const { return reader->path(); }
  /// The next record, whose bytes replace those of `record`.
  void fetch(DatabaseRecord &record);
  /// The next `count` records in place of some that cannot be used; what else
  /// belongs to the last of them is passed over.
  void replace(DatabaseRecord *records, std::size_t count);
  /// The first record's value. Only before anything was fetched.
  std::string first() { return std::string(cursor->value()); }
  /// The first record, how many there are, and what the order depends on
  /// (labels, a list of weights): tells databases and lists apart.
  const std::string &identity() const { return content; }
  /// As far as it is known: that of LevelDB is once a pass is over.
  std::uint64_t count() const;
  /// See RecordSelection.
  std::uint64_t drawsToCoverAll() const { return selection.drawsToCoverAll(count()); }
  /// Damaged records that were left out when the database was opened.
  std::uint64_t skippedCount() const { return table ? table->skippedCount() : 0; }

  /// Pass and position in it; not SourcePosition::records, which is counted by
  /// whoever reads batches.
  SourcePosition at;
  /// Continues at `target`. Throws Error (1) if the database has no such
  /// record.
  void seek(const SourcePosition &target);

private:
  void find();
  void advance();
  void skip(std::uint64_t records);
  [[noreturn]] void refuse(const SourcePosition &target,
                           std::uint64_t has) const;

  std::string layer;
  const caffe::RecordSelection selection;
  std::uint64_t rank, ranks; ///< each unit of a group goes to one
  std::uint64_t fetched = 0; ///< of the present unit
  std::string content;
  std::unique_ptr<formats::DbReader> reader;
  std::unique_ptr<formats::DbCursor> cursor;
  /// Only where records do not come in the database's order.
  std::optional<RecordIndex> table;
  std::optional<Sampler> sampler;
  std::uint64_t passSize = 0; ///< records of the last pass; 0: none is over
};

} // namespace brew::runtime
