//===- MultiBox.cpp - Matching of MultiBoxLoss ----------------------------===//

#include "runtime/detection/MultiBox.h"

#include <set>

namespace brew::runtime {

using Settings = caffe::MultiBoxLossParameter;

namespace {

template <typename Real> bool leavesImage(const Box<Real> &box) {
  auto outside = [](Real x) { return x < 0 || x > 1; };
  return outside(box.left) || outside(box.top) || outside(box.right) ||
         outside(box.bottom);
}

template <typename Real>
std::vector<Box<Real>> decodeBoxes(const Settings &settings,
                                   const std::vector<Prior<Real>> &priors,
                                   const Real *locations, int label) {
  std::vector<Box<Real>> boxes;
  for (std::size_t i = 0; i < priors.size(); ++i) {
    if (settings.code_type() != caffe::PriorBoxParameter::CORNER)
      requirePositiveSize(priors[i]);
    boxes.push_back(decodeBox(
        priors[i], settings.code_type(), settings.encode_variance_in_target(),
        locations + locationOf(settings, static_cast<std::int64_t>(i), label)));
  }
  return boxes;
}

/// Matches ground-truth boxes greedily by the largest overlap of all remaining
/// pairs. With PER_PREDICTION, then matches each other box with the
/// ground-truth box of largest overlap.
template <typename Real>
Matches<Real> matchBoxes(const Settings &settings,
                         const std::vector<GroundTruthBox<Real>> &truths,
                         int label, const std::vector<Box<Real>> &boxes) {
  using RealMatches = Matches<Real>;
  RealMatches result;
  result.label = label;
  result.truth.assign(boxes.size(), RealMatches::kNone);
  result.overlap.assign(boxes.size(), 0);
  std::vector<int> candidateTruths;
  for (std::size_t j = 0; j < truths.size(); ++j)
    if (label == RealMatches::kAnyLabel || truths[j].label == label)
      candidateTruths.push_back(static_cast<int>(j));
  if (candidateTruths.empty())
    return result;

  struct Pair {
    std::size_t box;
    int truth;
    Real overlap;
  };
  constexpr Real kMinOverlap = static_cast<Real>(1e-6F);
  std::vector<Pair> pairs; // by box, then by ground-truth box
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (settings.ignore_cross_boundary_bbox() && leavesImage(boxes[i])) {
      result.truth[i] = RealMatches::kIgnored;
      continue;
    }
    for (int j : candidateTruths) {
      const Real overlap = intersectionOverUnion(
          boxes[i], truths[static_cast<std::size_t>(j)].box);
      if (overlap > kMinOverlap) {
        result.overlap[i] = std::max(result.overlap[i], overlap);
        pairs.push_back({i, j, overlap});
      }
    }
  }
  std::set<int> unmatchedTruths(candidateTruths.begin(), candidateTruths.end());
  while (!unmatchedTruths.empty()) {
    const Pair *best = nullptr;
    for (const Pair &pair : pairs)
      if (result.truth[pair.box] == RealMatches::kNone &&
          unmatchedTruths.count(pair.truth) &&
          (!best || pair.overlap > best->overlap))
        best = &pair;
    if (!best)
      break;
    result.truth[best->box] = best->truth;
    result.overlap[best->box] = best->overlap;
    unmatchedTruths.erase(best->truth);
  }
  if (settings.match_type() == Settings::BIPARTITE)
    return result;
  for (std::size_t first = 0; first < pairs.size();) {
    const std::size_t box = pairs[first].box;
    const Pair *best = nullptr;
    for (; first < pairs.size() && pairs[first].box == box; ++first)
      if (pairs[first].overlap >=
              static_cast<Real>(settings.overlap_threshold()) &&
          (!best || pairs[first].overlap > best->overlap))
        best = &pairs[first];
    if (best && result.truth[box] == RealMatches::kNone) {
      result.truth[box] = best->truth;
      result.overlap[box] = best->overlap;
    }
  }
  return result;
}

template <typename Real>
std::vector<Matches<Real>>
matchLabels(const Settings &settings, const std::vector<Prior<Real>> &priors,
            const std::vector<GroundTruthBox<Real>> &truths,
            const Real *locations) {
  using RealMatches = Matches<Real>;
  std::vector<RealMatches> result;
  if (truths.empty())
    return result;
  std::vector<int> labels = {RealMatches::kAnyLabel};
  if (!settings.share_location()) {
    labels.clear();
    for (int c = 0; c < static_cast<int>(settings.num_classes()); ++c)
      if (c != static_cast<int>(settings.background_label_id()))
        labels.push_back(c);
  }
  if (!settings.use_prior_for_matching()) {
    for (int label : labels)
      result.push_back(
          matchBoxes(settings, truths, label,
                     decodeBoxes(settings, priors, locations, label)));
    return result;
  }
  std::vector<Box<Real>> boxes;
  for (const Prior<Real> &prior : priors)
    boxes.push_back(prior.box);
  const RealMatches allMatches =
      matchBoxes(settings, truths, RealMatches::kAnyLabel, boxes);
  if (settings.share_location())
    return {allMatches};
  for (int label : labels) {
    RealMatches labelMatches = allMatches;
    labelMatches.label = label;
    for (int &truth : labelMatches.truth)
      if (truth < 0 || truths[static_cast<std::size_t>(truth)].label != label)
        truth = RealMatches::kNone;
    result.push_back(std::move(labelMatches));
  }
  return result;
}

/// Performs non-maximum suppression on the first `maxCount` candidates of
/// `ranking` (all if negative). Returns the remaining candidates, best first.
template <typename Real>
std::vector<int> suppressNonMaxima(const std::vector<Box<Real>> &boxes,
                                   const std::vector<int> &ranking,
                                   Real threshold, int maxCount) {
  constexpr Real kMinArea = static_cast<Real>(1e-5);
  std::vector<int> kept;
  std::size_t visited = 0;
  for (int candidate : ranking) {
    if (maxCount >= 0 && (visited++ >= static_cast<std::size_t>(maxCount) ||
                          kept.size() >= static_cast<std::size_t>(maxCount)))
      break;
    const Box<Real> &box = boxes[static_cast<std::size_t>(candidate)];
    if (areaOf(box) < kMinArea)
      continue;
    if (std::none_of(kept.begin(), kept.end(), [&](int better) {
          return intersectionOverUnion(boxes[static_cast<std::size_t>(better)],
                                       box) > threshold;
        }))
      kept.push_back(candidate);
  }
  return kept;
}

/// Returns the current loss of each prior, by which mining ranks priors.
template <typename Real>
std::vector<Real> computeMiningLosses(
    const Settings &settings, const std::vector<Prior<Real>> &priors,
    const std::vector<GroundTruthBox<Real>> &truths,
    const Predictions<Real> &predictions, const Matches<Real> &matches) {
  std::vector<Real> losses(priors.size());
  const std::int64_t classes = settings.num_classes();
  for (std::size_t i = 0; i < priors.size(); ++i) {
    int target = static_cast<int>(settings.background_label_id());
    const GroundTruthBox<Real> *truth =
        matches.isMatched(i)
            ? &truths[static_cast<std::size_t>(matches.truth[i])]
            : nullptr;
    if (truth)
      target = classOf(settings, *truth);
    const auto prior = static_cast<std::int64_t>(i);
    losses[i] = confidenceLoss(
        settings, predictions.confidences + prior * classes, target);
    if (!truth || settings.mining_type() != Settings::HARD_EXAMPLE)
      continue;
    const LocationPair<Real> pair = locationPair(
        settings, priors[i], truth->box,
        predictions.locations + locationOf(settings, prior, matches.label));
    for (int k = 0; k < 4; ++k)
      losses[i] += locationLoss<Real>(settings.loc_loss_type(),
                                      pair.predicted[k] - pair.target[k]);
  }
  return losses;
}

/// Chooses negatives or hard examples. Classes share locations, so there is a
/// single list of matches.
template <typename Real>
void mineExamples(const Settings &settings,
                  const std::vector<Prior<Real>> &priors,
                  const std::vector<GroundTruthBox<Real>> &truths,
                  const Predictions<Real> &predictions,
                  ImageMatches<Real> &image) {
  Matches<Real> &matches = image.byLabel.front();
  const bool isHardMining = settings.mining_type() == Settings::HARD_EXAMPLE;
  const std::vector<Real> losses =
      computeMiningLosses(settings, priors, truths, predictions, matches);
  std::vector<int> ranking;
  std::size_t positives = 0;
  for (std::size_t i = 0; i < priors.size(); ++i) {
    positives += matches.isMatched(i);
    if (isHardMining ||
        (matches.truth[i] == Matches<Real>::kNone &&
         matches.overlap[i] < static_cast<Real>(settings.neg_overlap())))
      ranking.push_back(static_cast<int>(i));
  }
  std::size_t count = ranking.size();
  if (isHardMining)
    count = std::min(count, static_cast<std::size_t>(settings.sample_size()));
  else
    count =
        std::min(count, static_cast<std::size_t>(static_cast<float>(positives) *
                                                 settings.neg_pos_ratio()));
  auto better = [&](int a, int b) {
    const Real x = losses[static_cast<std::size_t>(a)],
               y = losses[static_cast<std::size_t>(b)];
    return x > y || (x == y && a < b);
  };
  if (settings.has_nms_param() && settings.nms_param().nms_threshold() > 0) {
    std::sort(ranking.begin(), ranking.end(), better);
    std::vector<Box<Real>> boxes;
    if (settings.use_prior_for_nms())
      for (const Prior<Real> &prior : priors)
        boxes.push_back(prior.box);
    else
      boxes =
          decodeBoxes(settings, priors, predictions.locations, matches.label);
    ranking = suppressNonMaxima<Real>(
        boxes, ranking, static_cast<Real>(settings.nms_param().nms_threshold()),
        settings.nms_param().top_k());
    count = std::min(count, ranking.size());
  } else {
    std::partial_sort(ranking.begin(),
                      ranking.begin() + static_cast<std::ptrdiff_t>(count),
                      ranking.end(), better);
  }
  std::vector<bool> isChosen(priors.size());
  for (std::size_t i = 0; i < count; ++i)
    isChosen[static_cast<std::size_t>(ranking[i])] = true;
  for (std::size_t i = 0; i < priors.size(); ++i) {
    if (matches.isMatched(i) && isHardMining && !isChosen[i])
      matches.truth[i] = Matches<Real>::kNone;
    else if (matches.truth[i] == Matches<Real>::kNone && isChosen[i])
      image.negatives.push_back(static_cast<int>(i));
  }
}

} // namespace

template <typename Real>
ImageMatches<Real> matchImage(const Settings &settings,
                              const std::vector<Prior<Real>> &priors,
                              const std::vector<GroundTruthBox<Real>> &truths,
                              const Predictions<Real> &predictions) {
  ImageMatches<Real> image;
  image.byLabel = matchLabels(settings, priors, truths, predictions.locations);
  if (!image.byLabel.empty() && settings.mining_type() != Settings::NONE)
    mineExamples(settings, priors, truths, predictions, image);
  return image;
}

template ImageMatches<float>
matchImage(const Settings &, const std::vector<Prior<float>> &,
           const std::vector<GroundTruthBox<float>> &,
           const Predictions<float> &);
template ImageMatches<double>
matchImage(const Settings &, const std::vector<Prior<double>> &,
           const std::vector<GroundTruthBox<double>> &,
           const Predictions<double> &);

} // namespace brew::runtime
