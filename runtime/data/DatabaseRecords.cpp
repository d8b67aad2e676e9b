//===- DatabaseRecords.cpp - A database's records, pass after pass --------===//

#include "runtime/data/DatabaseRecords.h"

#include "formats/Error.h"
#include "formats/PathLookup.h"

#include <limits>

namespace brew::runtime {

DatabaseRecords::DatabaseRecords(const FeedInfo &info, std::string layerText)
    : layer(std::move(layerText)),
      rank(info.testPhase ? 0 : info.reading.rank),
      ranks(info.testPhase ? 1 : info.reading.ranks) {
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
  content = std::string(cursor->key()) + "\n" + std::string(cursor->value()) +
            "\n" + std::to_string(reader->count().value_or(0));
}

void DatabaseRecords::fetch(DatabaseRecord &record) {
  for (std::uint64_t other = 0; other < rank; ++other)
    advance();
  record.key = cursor->key();
  record.value = cursor->value();
  for (std::uint64_t other = rank; other < ranks; ++other)
    advance();
}

std::uint64_t DatabaseRecords::count() const {
  return reader->count().value_or(
      passSize ? passSize : std::numeric_limits<std::uint64_t>::max());
}

void DatabaseRecords::seek(const SourcePosition &target) {
  cursor->rewind();
  at = target;
  for (std::uint64_t i = 0; i < target.position; ++i) {
    cursor->next();
    if (!cursor->valid())
      throw badInput(layer + ": the solver state is at record " +
                     std::to_string(target.position) + " of '" +
                     reader->path() + "', which has only " +
                     std::to_string(i + 1));
  }
}

void DatabaseRecords::advance() {
  cursor->next();
  ++at.position;
  if (cursor->valid())
    return;
  cursor->rewind();
  passSize = at.position;
  at.position = 0;
  ++at.epoch;
}

} // namespace brew::runtime
