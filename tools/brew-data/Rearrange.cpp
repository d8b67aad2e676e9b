//===- Rearrange.cpp - Shuffling, splitting and merging -------------------===//
#include "formats/PathLookup.h"
#include "runtime/data/ShuffledOrder.h"
#include "support/Error.h"
#include "tools/brew-data/Records.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>

namespace brew::data {

using namespace brew::formats;

namespace {

/// Returns the key with the new number in front, so that the old key stays
/// readable.
std::string renumberedKey(uint64_t number, std::string_view key) {
  return recordKey(number, 8) + "_" + std::string(key);
}

std::unique_ptr<DbWriter> createWriter(const std::string &path,
                                       const Output &output) {
  return DbWriter::create(path, output.backend, output.overwrite);
}

/// Maximum size of the records in memory, in bytes.
constexpr uint64_t kMaxBytesInMemory = uint64_t(1) << 30;

} // namespace

void shuffleDatabase(const std::string &path, uint64_t seed,
                     const Output &output) {
  auto database = openForReading(path);
  std::vector<uint64_t> sizes;
  for (auto cursor = database->newCursor(); cursor->valid(); cursor->next()) {
    checkInterrupted();
    sizes.push_back(cursor->key().size() + cursor->value().size());
  }
  const caffe::RandomStream stream(seed, "shuffle database");
  const std::vector<int64_t> order =
      runtime::shuffledOrder(stream, sizes.size(), 0);
  std::vector<uint64_t> newPosition(sizes.size()); // of each record
  for (size_t i = 0; i < order.size(); ++i)
    newPosition[static_cast<size_t>(order[i])] = i;

  auto writer = createWriter(output.path, output);
  Progress progress("shuffle", sizes.size());
  struct KeptRecord {
    std::string key, value;
  };
  std::vector<KeptRecord> keptRecords;
  for (size_t begin = 0; begin < order.size();) {
    // Take as many records in the new order as fit in memory.
    size_t end = begin;
    for (uint64_t bytes = 0; end < order.size(); ++end) {
      bytes += sizes[static_cast<size_t>(order[end])];
      if (end > begin && bytes > kMaxBytesInMemory)
        break;
    }
    keptRecords.assign(end - begin, {});
    size_t number = 0;
    for (auto cursor = database->newCursor(); cursor->valid();
         cursor->next(), ++number) {
      checkInterrupted();
      if (number >= newPosition.size())
        throw badInput(path + ": was changed while it was read");
      if (newPosition[number] >= begin && newPosition[number] < end)
        keptRecords[newPosition[number] - begin] = {
            std::string(cursor->key()), std::string(cursor->value())};
    }
    for (size_t i = 0; i < keptRecords.size(); ++i) {
      writer->put(renumberedKey(begin + i, keptRecords[i].key),
                  keptRecords[i].value);
      progress.step();
    }
    begin = end;
  }
  writer->finish();
  reportWritten(output, order.size());
}

void splitDatabase(const std::string &path,
                   const std::vector<SplitTarget> &targets, bool random,
                   uint64_t seed, const Output &output) {
  double sum = 0;
  for (const SplitTarget &target : targets)
    sum += target.share;
  if (sum > 1 + 1e-9)
    throw usageError("the shares add up to more than 1");
  std::set<std::string> paths;
  for (const SplitTarget &target : targets)
    if (!paths.insert(formats::absolutePath(target.path)).second)
      throw usageError("'" + target.path + "' is given for two targets");
  auto database = openForReading(path);
  const uint64_t count = countRecords(*database);

  // Compute the cumulative end of each target, so that rounding loses no
  // record.
  std::vector<uint64_t> ends;
  double share = 0;
  for (const SplitTarget &target : targets) {
    share += target.share;
    ends.push_back(static_cast<uint64_t>(
        std::llround(std::min(share, 1.0) * static_cast<double>(count))));
  }
  std::vector<uint64_t> positionOf(count);
  if (random) {
    const caffe::RandomStream stream(seed, "split database");
    const std::vector<int64_t> order = runtime::shuffledOrder(stream, count, 0);
    for (size_t i = 0; i < order.size(); ++i)
      positionOf[static_cast<size_t>(order[i])] = i;
  } else {
    for (size_t i = 0; i < positionOf.size(); ++i)
      positionOf[i] = i;
  }
  for (size_t i = 0; i < targets.size(); ++i)
    if (ends[i] == (i ? ends[i - 1] : 0))
      throw badInput(path + ": has " + std::to_string(count) +
                     " records, which leaves none for '" + targets[i].path +
                     "'");

  std::vector<std::unique_ptr<DbWriter>> writers;
  for (const SplitTarget &target : targets)
    writers.push_back(createWriter(target.path, output));
  std::vector<uint64_t> written(targets.size());
  Progress progress("split", count);
  uint64_t number = 0;
  for (auto cursor = database->newCursor(); cursor->valid();
       cursor->next(), ++number) {
    progress.step();
    if (number >= count)
      throw badInput(path + ": was changed while it was read");
    const auto target = static_cast<size_t>(
        std::upper_bound(ends.begin(), ends.end(), positionOf[number]) -
        ends.begin());
    if (target == targets.size())
      continue; // the shares sum to less than 1
    writers[target]->put(cursor->key(), cursor->value());
    ++written[target];
  }
  for (auto &writer : writers)
    writer->finish();
  for (size_t i = 0; i < targets.size(); ++i) {
    Output targetOutput = output;
    targetOutput.path = targets[i].path;
    reportWritten(targetOutput, written[i]);
  }
}

void mergeDatabases(const std::vector<std::string> &paths,
                    const Output &output) {
  std::vector<std::unique_ptr<DbReader>> databases;
  for (const std::string &path : paths) // fail early if one is missing
    databases.push_back(openForReading(path));
  auto writer = createWriter(output.path, output);
  Progress progress("merge");
  uint64_t number = 0;
  for (auto &database : databases)
    for (auto cursor = database->newCursor(); cursor->valid(); cursor->next()) {
      progress.step();
      writer->put(renumberedKey(number++, cursor->key()), cursor->value());
    }
  writer->finish();
  reportWritten(output, number);
}

} // namespace brew::data
