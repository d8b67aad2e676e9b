//===- RecordIndex.cpp - Index of a database's records --------------------===//

#include "runtime/data/selection/RecordIndex.h"

#include "formats/Datum.h"
#include "runtime/data/selection/BoostWeights.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <chrono>
#include <optional>

namespace brew::runtime {

RecordIndex::RecordIndex(formats::DbReader &reader,
                         const caffe::RecordSelection &selection,
                         const DataLayerInfo &info, const std::string &layer)
    : path(reader.path()) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  for (const auto cursor = reader.newCursor(); cursor->valid();
       cursor->next()) {
    if (selection.needsLabels()) {
      const std::optional<int> label = formats::labelOfDatum(cursor->value());
      if (!label) {
        const std::string text = path + ", record '" +
                                 std::string(cursor->key()) +
                                 "': damaged record: not a Datum";
        if (!info.readerOptions.skipBadRecords)
          throw badInput(text);
        postLine(info.events, log::site::brew,
                 layer + ": skipped a record: " + text);
        damaged.emplace(cursor->key());
        continue;
      }
      labels.push_back(*label);
    }
    keys += cursor->key();
    ends.push_back(keys.size());
  }
  if (ends.empty())
    throw badInput(layer + ": " + path + " has no undamaged records");
  const std::chrono::duration<double> elapsed = Clock::now() - begin;
  postLine(info.events, log::site::brew,
           layer + ": found " + std::to_string(count()) + " records in " +
               path + " in " + fixedText(elapsed.count(), 2) + " s");
}

std::string_view RecordIndex::key(std::uint64_t record) const {
  const std::uint64_t begin = record ? ends[record - 1] : 0;
  return std::string_view(keys).substr(begin, ends[record] - begin);
}

SampledRecords
RecordIndex::takeSampled(const caffe::RecordSelection &selection,
                         const std::vector<std::string> &folders) {
  SampledRecords result;
  result.count = count();
  result.labels = std::move(labels);
  result.weights =
      boostWeights(selection, count(), folders, path,
                   [this](const std::string &wantedKey)
                       -> std::optional<std::vector<std::uint64_t>> {
                     if (damaged.count(wantedKey))
                       return std::vector<std::uint64_t>();
                     // Use binary search: databases store keys in this order.
                     std::uint64_t first = 0, end = count();
                     while (first < end) {
                       const std::uint64_t middle = first + (end - first) / 2;
                       if (key(middle) < wantedKey)
                         first = middle + 1;
                       else
                         end = middle;
                     }
                     if (first == count() || key(first) != wantedKey)
                       return std::nullopt;
                     return std::vector<std::uint64_t>{first};
                   });
  return result;
}

} // namespace brew::runtime
