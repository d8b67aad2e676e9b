//===- DatabaseRecords.cpp - Records of a Data layer's database -----------===//

#include "runtime/data/DatabaseRecords.h"

#include "formats/PathLookup.h"
#include "support/Error.h"

#include <limits>
#include <utility>

namespace brew::runtime {

DatabaseRecords::DatabaseRecords(const DataLayerInfo &info,
                                 std::string layerText)
    : layer(std::move(layerText)),
      selection(caffe::recordSelectionOf(info.layer)),
      rank(info.testPhase ? 0 : info.readerOptions.rank),
      ranks(info.testPhase ? 1 : info.readerOptions.ranks) {
  const caffe::DataParameter &parameter = info.layer.data_param();
  const auto backend = parameter.backend() == caffe::DataParameter::LEVELDB
                           ? formats::DbBackend::LevelDb
                           : formats::DbBackend::Lmdb;
  const std::string found = formats::requirePath(
      parameter.source(), info.folders,
      std::string(formats::backendName(backend)) + " database of " + layer);
  reader = formats::DbReader::open(found, backend);
  postLine(info.events, log::site::openDatabase,
           backend == formats::DbBackend::Lmdb ? "Opened lmdb " + found
                                               : "Opened leveldb " + found);
  cursor = reader->newCursor();
  identityText = std::string(cursor->key()) + "\n" +
                 std::string(cursor->value()) + "\n" +
                 std::to_string(reader->count().value_or(0));
  if (selection.isSequential())
    return;
  index.emplace(*reader, selection, info, layer);
  SampledRecords records = index->takeSampled(selection, info.folders);
  identityText += "\n" + identityOf(records);
  // All ranks use the same order.
  sampler.emplace(selection, std::move(records), info.seed.common, info.stream,
                  layer);
}

void DatabaseRecords::fetch(DatabaseRecord &record) {
  if (fetched == 0)
    skip(rank * selection.recordsPerUnit());
  findCurrent();
  record.key = cursor->key();
  cursor->copyValue(record.value);
  advance();
  if (++fetched < selection.recordsPerUnit())
    return;
  fetched = 0;
  skip((ranks - 1 - rank) * selection.recordsPerUnit());
}

void DatabaseRecords::replace(DatabaseRecord *records, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    fetch(records[i]);
  for (DatabaseRecord partner; fetched != 0;)
    fetch(partner);
}

/// Moves the cursor to the record at the current position.
void DatabaseRecords::findCurrent() {
  if (!sampler)
    return;
  const std::string_view key = index->key(
      sampler->at(current.epoch * index->count() + current.position));
  if (!cursor->find(key))
    throw badInput(path() + ": record '" + std::string(key) +
                   "' was removed since the database was opened");
}

void DatabaseRecords::skip(std::uint64_t records) {
  for (std::uint64_t i = 0; i < records; ++i)
    advance();
}

std::uint64_t DatabaseRecords::count() const {
  if (index)
    return index->count();
  return reader->count().value_or(
      passSize ? passSize : std::numeric_limits<std::uint64_t>::max());
}

void DatabaseRecords::seek(const SourcePosition &target) {
  current = target;
  fetched = 0;
  if (index) {
    if (target.position >= index->count())
      throwMissingRecord(target, index->count());
    return;
  }
  cursor->rewind();
  for (std::uint64_t i = 0; i < target.position; ++i) {
    cursor->next();
    if (!cursor->valid())
      throwMissingRecord(target, i + 1);
  }
}

void DatabaseRecords::throwMissingRecord(const SourcePosition &target,
                                         std::uint64_t available) const {
  throw badInput(layer + ": the solver state is at record " +
                 std::to_string(target.position) + " of '" + reader->path() +
                 "', which has only " + std::to_string(available));
}

void DatabaseRecords::advance() {
  ++current.position;
  if (index) {
    if (current.position < index->count())
      return;
  } else {
    cursor->next();
    if (cursor->valid())
      return;
    cursor->rewind();
    passSize = current.position;
  }
  current.position = 0;
  ++current.epoch;
}

} // namespace brew::runtime
