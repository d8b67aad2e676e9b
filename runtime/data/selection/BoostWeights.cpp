//===- BoostWeights.cpp - Sampling weights from boost_file ----------------===//

#include "runtime/data/selection/BoostWeights.h"

#include "formats/BoostList.h"
#include "formats/PathLookup.h"
#include "formats/TextLines.h"
#include "support/Error.h"

namespace brew::runtime {

std::vector<double> boostWeights(const caffe::RecordSelection &selection,
                                 std::uint64_t count,
                                 const std::vector<std::string> &folders,
                                 const std::string &source,
                                 const RecordsOf &recordsOf) {
  if (selection.boostFile.empty())
    return {};
  const std::string path =
      formats::requirePath(selection.boostFile, folders, "boost_file");
  std::vector<double> weights(count, selection.boostDefault);
  for (const formats::BoostEntry &entry : formats::readBoostList(path)) {
    const std::optional<std::vector<std::uint64_t>> matchingRecords =
        recordsOf(entry.key);
    if (!matchingRecords)
      throw badInput(formats::lineLocation(path, entry.line) + ": '" +
                     entry.key + "' is not in " + source);
    for (std::uint64_t record : *matchingRecords)
      weights[record] = entry.weight;
  }
  return weights;
}

} // namespace brew::runtime
