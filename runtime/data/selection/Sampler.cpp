//===- Sampler.cpp - Order of sampled records -----------------------------===//

#include "runtime/data/selection/Sampler.h"

#include "runtime/data/ShuffledOrder.h"
#include "support/Error.h"

#include <algorithm>
#include <numeric>
#include <zlib.h>

namespace brew::runtime {

std::string identityOf(const SampledRecords &records) {
  auto checksum = [](const auto &values) {
    return std::to_string(
        values.empty()
            ? 0
            : crc32_z(0, reinterpret_cast<const Bytef *>(values.data()),
                      values.size() * sizeof values[0]));
  };
  return std::to_string(records.count) + " records, labels " +
         checksum(records.labels) + ", weights " + checksum(records.weights);
}

Sampler::Sampler(const caffe::RecordSelection &recordSelection,
                 SampledRecords sampled, std::uint64_t seed,
                 const std::string &stream, const std::string &layer)
    : selection(recordSelection), records(std::move(sampled)),
      shuffleStream(seed, "shuffle " + stream),
      drawStream(seed, "draws " + stream),
      labelOrderStream(seed, "labels " + stream),
      partnerStream(seed, "partners " + stream),
      matchStream(seed, "kinds " + stream), seed(seed), streamName(stream) {
  if (selection.needsLabels())
    groupByLabel();
  if (!records.weights.empty()) {
    std::vector<double> weights;
    weights.reserve(count());
    for (std::uint64_t position = 0; position < count(); ++position)
      weights.push_back(records.weights[recordAt(position)]);
    if (!WeightedChoice::canDraw(weights))
      throw badInput(layer + ": the weights of its records are too different: "
                             "the smallest ones would never be drawn");
    choice = WeightedChoice(weights);
  }
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (choice.total(groups[i].range) > 0)
      eligible.push_back(i);
  requireRecords(layer);
}

void Sampler::groupByLabel() {
  byLabel.resize(count());
  std::iota(byLabel.begin(), byLabel.end(), 0);
  const std::vector<int> &labels = records.labels;
  std::stable_sort(
      byLabel.begin(), byLabel.end(),
      [&](std::uint64_t a, std::uint64_t b) { return labels[a] < labels[b]; });
  positionOf.resize(count());
  groupOf.resize(count());
  for (std::uint64_t position = 0; position < count(); ++position) {
    const std::uint64_t record = byLabel[position];
    if (position == 0 || labels[record] != labels[byLabel[position - 1]])
      groups.push_back(
          {{position, position},
           caffe::RandomStream(seed, "label " + std::to_string(labels[record]) +
                                         " " + streamName),
           {},
           0});
    groups.back().range.end = position + 1;
    positionOf[record] = position;
    groupOf[record] = groups.size() - 1;
  }
}

void Sampler::requireRecords(const std::string &layer) const {
  if (!(choice.total(all()) > 0))
    throw badInput(layer + ": the weights of all records are 0");
  if (selection.balanceMatches && eligible.size() < 2)
    throw badInput(layer + ": pairs of different labels need records of at "
                           "least two labels; say balance_matches: false");
}

std::uint64_t Sampler::at(std::uint64_t number) {
  if (!selection.hasPairs())
    return drawRecord(number);
  const std::uint64_t first = drawRecord(number / 2);
  return number % 2 ? drawPartner(number / 2, first) : first;
}

std::uint64_t Sampler::drawRecord(std::uint64_t number) {
  if (selection.balanceLabels)
    return drawBalanced(number);
  if (selection.random)
    return recordAt(choice.draw(all(), {}, drawStream, number));
  const std::uint64_t position = number % count();
  if (!selection.shuffle)
    return position;
  if (order.empty() || pass != number / count()) {
    pass = number / count();
    order = shuffledOrder(shuffleStream, count(), pass);
  }
  return static_cast<std::uint64_t>(order[position]);
}

/// Draws labels in rounds: each label once per round, in random order. This
/// makes the number of earlier draws of a label known without counting.
std::uint64_t Sampler::drawBalanced(std::uint64_t number) {
  const std::uint64_t labelCount = eligible.size();
  if (labelOrder.empty() || labelRound != number / labelCount) {
    labelRound = number / labelCount;
    labelOrder =
        shuffledOrderAt(labelOrderStream, labelCount, labelRound * labelCount);
  }
  Group &group = groups[eligible[static_cast<std::size_t>(
      labelOrder[number % labelCount])]];
  if (selection.random)
    return recordAt(choice.draw(group.range,
                                {group.range.begin, group.range.begin},
                                drawStream, number));
  const std::uint64_t size = group.range.size();
  std::uint64_t position = labelRound % size;
  if (selection.shuffle) {
    if (group.order.empty() || group.pass != labelRound / size) {
      group.pass = labelRound / size;
      group.order = shuffledOrderAt(group.stream, size, group.pass * size);
    }
    position = static_cast<std::uint64_t>(group.order[position]);
  }
  return recordAt(group.range.begin + position);
}

std::uint64_t Sampler::drawPartner(std::uint64_t pair, std::uint64_t first) {
  if (selection.neighbours)
    return (first + 1) % count();
  // Exactly one of two consecutive pairs matches, in random order: a rank that
  // reads every second pair still gets both kinds.
  const bool differs =
      shuffledOrderAt(matchStream, 2, pair / 2 * 2)[pair % 2] != 0;
  return differs ? drawDifferingPartner(pair, first)
                 : drawMatchingPartner(pair, first);
}

/// Draws another record with the label of `first`, or returns `first` if there
/// is none.
std::uint64_t Sampler::drawMatchingPartner(std::uint64_t pair,
                                           std::uint64_t first) const {
  const IndexRange &sameLabel = groups[groupOf[first]].range;
  const IndexRange itself = {positionOf[first], positionOf[first] + 1};
  if (!(choice.total(sameLabel) - choice.total(itself) > 0) ||
      sameLabel.size() == 1)
    return first;
  return recordAt(choice.draw(sameLabel, itself, partnerStream, 2 * pair));
}

std::uint64_t Sampler::drawDifferingPartner(std::uint64_t pair,
                                            std::uint64_t first) const {
  const std::size_t ownGroup = groupOf[first];
  if (!selection.balanceLabels)
    return recordAt(
        choice.draw(all(), groups[ownGroup].range, partnerStream, 2 * pair));
  // Draw one of the other eligible labels.
  const auto position = static_cast<std::size_t>(
      std::lower_bound(eligible.begin(), eligible.end(), ownGroup) -
      eligible.begin());
  const bool isOwnEligible =
      position < eligible.size() && eligible[position] == ownGroup;
  std::size_t index = static_cast<std::size_t>(partnerStream.below(
      2 * pair + 1, eligible.size() - (isOwnEligible ? 1 : 0)));
  if (isOwnEligible && index >= position)
    ++index;
  const IndexRange &otherLabel = groups[eligible[index]].range;
  return recordAt(choice.draw(otherLabel, {otherLabel.begin, otherLabel.begin},
                              partnerStream, 2 * pair));
}

} // namespace brew::runtime
