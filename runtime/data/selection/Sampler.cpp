//===- Sampler.cpp - Order of sampled records -----------------------------===//

#include "runtime/data/selection/Sampler.h"

#include "runtime/data/ShuffledOrder.h"
#include "support/Error.h"

#include <algorithm>
#include <numeric>
#include <zlib.h>

namespace brew::runtime {

std::string identityOf(const SampledRecords &records) {
  auto sum = [](const auto &values) {
    return std::to_string(
        values.empty()
            ? 0
            : crc32_z(0, reinterpret_cast<const Bytef *>(values.data()),
                      values.size() * sizeof values[0]));
  };
  return std::to_string(records.count) + " records, labels " +
         sum(records.labels) + ", weights " + sum(records.weights);
}

Sampler::Sampler(const caffe::RecordSelection &wanted, SampledRecords sampled,
                 std::uint64_t seed, const std::string &stream,
                 const std::string &layer)
    : selection(wanted), records(std::move(sampled)),
      orders(seed, "shuffle " + stream), draws(seed, "draws " + stream),
      labelOrders(seed, "labels " + stream), pairs(seed, "partners " + stream),
      kinds(seed, "kinds " + stream), seed(seed), name(stream) {
  if (selection.needsLabels())
    group();
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
  check(layer);
}

void Sampler::group() {
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
                                         " " + name),
           {},
           0});
    groups.back().range.end = position + 1;
    positionOf[record] = position;
    groupOf[record] = groups.size() - 1;
  }
}

void Sampler::check(const std::string &layer) const {
  if (!(choice.total(all()) > 0))
    throw badInput(layer + ": the weights of all records are 0");
  if (selection.balanceMatches && eligible.size() < 2)
    throw badInput(layer + ": pairs of different labels need records of at "
                           "least two labels; say balance_matches: false");
}

std::uint64_t Sampler::at(std::uint64_t number) {
  if (!selection.hasPairs())
    return drawn(number);
  const std::uint64_t first = drawn(number / 2);
  return number % 2 ? partner(number / 2, first) : first;
}

std::uint64_t Sampler::drawn(std::uint64_t number) {
  if (selection.balanceLabels)
    return balanced(number);
  if (selection.random)
    return recordAt(choice.draw(all(), {}, draws, number));
  const std::uint64_t position = number % count();
  if (!selection.shuffle)
    return position;
  if (order.empty() || pass != number / count()) {
    pass = number / count();
    order = shuffledOrder(orders, count(), pass);
  }
  return static_cast<std::uint64_t>(order[position]);
}

/// Draws labels in rounds: each label once per round, in random order. This
/// makes the number of earlier draws of a label known without counting.
std::uint64_t Sampler::balanced(std::uint64_t number) {
  const std::uint64_t several = eligible.size();
  if (labelOrder.empty() || labelRound != number / several) {
    labelRound = number / several;
    labelOrder = shuffledFrom(labelOrders, several, labelRound * several);
  }
  Group &chosen =
      groups[eligible[static_cast<std::size_t>(labelOrder[number % several])]];
  if (selection.random)
    return recordAt(choice.draw(
        chosen.range, {chosen.range.begin, chosen.range.begin}, draws, number));
  const std::uint64_t size = chosen.range.size();
  std::uint64_t position = labelRound % size;
  if (selection.shuffle) {
    if (chosen.order.empty() || chosen.pass != labelRound / size) {
      chosen.pass = labelRound / size;
      chosen.order = shuffledFrom(chosen.stream, size, chosen.pass * size);
    }
    position = static_cast<std::uint64_t>(chosen.order[position]);
  }
  return recordAt(chosen.range.begin + position);
}

std::uint64_t Sampler::partner(std::uint64_t pair, std::uint64_t first) {
  if (selection.neighbours)
    return (first + 1) % count();
  // Exactly one of two consecutive pairs matches, in random order: a rank that
  // reads every second pair still gets both kinds.
  const bool differs = shuffledFrom(kinds, 2, pair / 2 * 2)[pair % 2] != 0;
  return differs ? differing(pair, first) : matching(pair, first);
}

/// Another record of the same label, or `first` if there is none.
std::uint64_t Sampler::matching(std::uint64_t pair, std::uint64_t first) const {
  const IndexRange &same = groups[groupOf[first]].range;
  const IndexRange itself = {positionOf[first], positionOf[first] + 1};
  if (!(choice.total(same) - choice.total(itself) > 0) || same.size() == 1)
    return first;
  return recordAt(choice.draw(same, itself, pairs, 2 * pair));
}

std::uint64_t Sampler::differing(std::uint64_t pair,
                                 std::uint64_t first) const {
  const std::size_t own = groupOf[first];
  if (!selection.balanceLabels)
    return recordAt(choice.draw(all(), groups[own].range, pairs, 2 * pair));
  // One of the other eligible labels.
  const auto position = static_cast<std::size_t>(
      std::lower_bound(eligible.begin(), eligible.end(), own) -
      eligible.begin());
  const bool isAmong = position < eligible.size() && eligible[position] == own;
  std::size_t index = static_cast<std::size_t>(
      pairs.below(2 * pair + 1, eligible.size() - (isAmong ? 1 : 0)));
  if (isAmong && index >= position)
    ++index;
  const IndexRange &other = groups[eligible[index]].range;
  return recordAt(
      choice.draw(other, {other.begin, other.begin}, pairs, 2 * pair));
}

} // namespace brew::runtime
