//===- MultiBox.cpp - Which boxes a MultiBoxLoss learns from --------------===//

#include "runtime/detection/MultiBox.h"

#include "formats/Error.h"

#include <cfloat>
#include <cmath>
#include <numeric>
#include <set>

namespace brew::runtime {

using Settings = caffe::MultiBoxLossParameter;

template <typename Real>
std::vector<std::vector<TrueBox<Real>>>
readTrueBoxes(const Real *rows, std::int64_t count, std::int64_t images,
              const Settings &settings) {
  std::vector<std::vector<TrueBox<Real>>> result(
      static_cast<std::size_t>(images));
  for (std::int64_t i = 0; i < count; ++i) {
    const Real *row = rows + i * 8;
    const auto image = static_cast<std::int64_t>(row[0]);
    if (image == -1 || (row[7] != 0 && !settings.use_difficult_gt()))
      continue;
    const auto label = static_cast<int>(row[1]);
    auto wrong = [&](const std::string &text) {
      return badInput("true box " + std::to_string(i) + " " + text);
    };
    if (!(image >= 0 && image < images))
      throw wrong("is of image " + std::to_string(image) + " of a batch of " +
                  std::to_string(images));
    if (label == static_cast<int>(settings.background_label_id()))
      throw wrong("has the background's label " + std::to_string(label));
    // All classes of objects are one with map_object_to_agnostic.
    if (label < 0 || (!settings.map_object_to_agnostic() &&
                      label >= static_cast<int>(settings.num_classes())))
      throw wrong("has label " + std::to_string(label) + ", but there are " +
                  std::to_string(settings.num_classes()) + " classes");
    result[static_cast<std::size_t>(image)].push_back(
        {{row[3], row[4], row[5], row[6]}, label});
  }
  return result;
}

template <typename Real>
std::vector<Prior<Real>> readPriors(const Real *values, std::int64_t count) {
  std::vector<Prior<Real>> priors;
  for (std::int64_t i = 0; i < count; ++i) {
    const Real *corners = values + i * 4, *variances = corners + count * 4;
    priors.push_back(
        {{corners[0], corners[1], corners[2], corners[3]},
         {variances[0], variances[1], variances[2], variances[3]}});
    for (Real variance : priors.back().variance)
      if (!(variance > 0))
        throw badInput("prior " + std::to_string(i) +
                       " has a variance that is not positive");
  }
  return priors;
}

namespace {

template <typename Real> void requireExtent(const Prior<Real> &prior) {
  if (!(prior.box.right > prior.box.left && prior.box.bottom > prior.box.top))
    throw badInput("a prior has no extent, so nothing can be told relative to "
                   "its size");
}

template <typename Real> bool leavesImage(const Box<Real> &box) {
  auto outside = [](Real x) { return x < 0 || x > 1; };
  return outside(box.left) || outside(box.top) || outside(box.right) ||
         outside(box.bottom);
}

template <typename Real>
std::vector<Box<Real>> decodedBoxes(const Settings &settings,
                                    const std::vector<Prior<Real>> &priors,
                                    const Real *locations, int label) {
  std::vector<Box<Real>> boxes;
  for (std::size_t i = 0; i < priors.size(); ++i) {
    if (settings.code_type() != caffe::PriorBoxParameter::CORNER)
      requireExtent(priors[i]);
    boxes.push_back(decoded(
        priors[i], settings.code_type(), settings.encode_variance_in_target(),
        locations + locationOf(settings, static_cast<std::int64_t>(i), label)));
  }
  return boxes;
}

/// First each true box with the box that it overlaps most of all pairs, then
/// with PER_PREDICTION each other box with the true one it overlaps most.
template <typename Real>
Matches<Real> matchBoxes(const Settings &settings,
                         const std::vector<TrueBox<Real>> &truths, int label,
                         const std::vector<Box<Real>> &boxes) {
  using Found = Matches<Real>;
  Found result;
  result.label = label;
  result.truth.assign(boxes.size(), Found::kNone);
  result.overlap.assign(boxes.size(), 0);
  std::vector<int> wanted;
  for (std::size_t j = 0; j < truths.size(); ++j)
    if (label == Found::kAnyLabel || truths[j].label == label)
      wanted.push_back(static_cast<int>(j));
  if (wanted.empty())
    return result;

  struct Pair {
    std::size_t box;
    int truth;
    Real overlap;
  };
  constexpr Real kLeast = static_cast<Real>(1e-6F);
  std::vector<Pair> pairs; // by box, then by true box
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (settings.ignore_cross_boundary_bbox() && leavesImage(boxes[i])) {
      result.truth[i] = Found::kIgnored;
      continue;
    }
    for (int j : wanted) {
      const Real overlap =
          overlapOf(boxes[i], truths[static_cast<std::size_t>(j)].box);
      if (overlap > kLeast) {
        result.overlap[i] = std::max(result.overlap[i], overlap);
        pairs.push_back({i, j, overlap});
      }
    }
  }
  std::set<int> left(wanted.begin(), wanted.end());
  while (!left.empty()) {
    const Pair *best = nullptr;
    for (const Pair &pair : pairs)
      if (result.truth[pair.box] == Found::kNone && left.count(pair.truth) &&
          (!best || pair.overlap > best->overlap))
        best = &pair;
    if (!best)
      break;
    result.truth[best->box] = best->truth;
    result.overlap[best->box] = best->overlap;
    left.erase(best->truth);
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
    if (best && result.truth[box] == Found::kNone) {
      result.truth[box] = best->truth;
      result.overlap[box] = best->overlap;
    }
  }
  return result;
}

template <typename Real>
std::vector<Matches<Real>>
matchLabels(const Settings &settings, const std::vector<Prior<Real>> &priors,
            const std::vector<TrueBox<Real>> &truths, const Real *locations) {
  using Found = Matches<Real>;
  std::vector<Found> result;
  if (truths.empty())
    return result;
  std::vector<int> labels = {Found::kAnyLabel};
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
                     decodedBoxes(settings, priors, locations, label)));
    return result;
  }
  std::vector<Box<Real>> boxes;
  for (const Prior<Real> &prior : priors)
    boxes.push_back(prior.box);
  const Found all = matchBoxes(settings, truths, Found::kAnyLabel, boxes);
  if (settings.share_location())
    return {all};
  for (int label : labels) {
    Found own = all;
    own.label = label;
    for (int &truth : own.truth)
      if (truth < 0 || truths[static_cast<std::size_t>(truth)].label != label)
        truth = Found::kNone;
    result.push_back(std::move(own));
  }
  return result;
}

/// Numbers of the candidates that remain if each but the best is dropped that
/// overlaps a better one, best first.
template <typename Real>
std::vector<int> suppressed(const std::vector<Box<Real>> &boxes,
                            const std::vector<int> &ranking, Real threshold,
                            int most) {
  constexpr Real kTooSmall = static_cast<Real>(1e-5);
  std::vector<int> kept;
  std::size_t looked = 0;
  for (int candidate : ranking) {
    if (most >= 0 && (looked++ >= static_cast<std::size_t>(most) ||
                      kept.size() >= static_cast<std::size_t>(most)))
      break;
    const Box<Real> &box = boxes[static_cast<std::size_t>(candidate)];
    if (areaOf(box) < kTooSmall)
      continue;
    if (std::none_of(kept.begin(), kept.end(), [&](int better) {
          return overlapOf(boxes[static_cast<std::size_t>(better)], box) >
                 threshold;
        }))
      kept.push_back(candidate);
  }
  return kept;
}

/// What each prior loses now, which hard examples are chosen by.
template <typename Real>
std::vector<Real>
lossesOf(const Settings &settings, const std::vector<Prior<Real>> &priors,
         const std::vector<TrueBox<Real>> &truths,
         const Predictions<Real> &predictions, const Matches<Real> &matches) {
  std::vector<Real> losses(priors.size());
  const std::int64_t classes = settings.num_classes();
  for (std::size_t i = 0; i < priors.size(); ++i) {
    int target = static_cast<int>(settings.background_label_id());
    const TrueBox<Real> *truth =
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
                                      pair.predicted[k] - pair.wanted[k]);
  }
  return losses;
}

/// Locations are shared: there is one list of matches.
template <typename Real>
void mine(const Settings &settings, const std::vector<Prior<Real>> &priors,
          const std::vector<TrueBox<Real>> &truths,
          const Predictions<Real> &predictions, ImageMatches<Real> &image) {
  Matches<Real> &matches = image.byLabel.front();
  const bool hard = settings.mining_type() == Settings::HARD_EXAMPLE;
  const std::vector<Real> losses =
      lossesOf(settings, priors, truths, predictions, matches);
  std::vector<int> ranking;
  std::size_t positives = 0;
  for (std::size_t i = 0; i < priors.size(); ++i) {
    positives += matches.isMatched(i);
    if (hard ||
        (matches.truth[i] == Matches<Real>::kNone &&
         matches.overlap[i] < static_cast<Real>(settings.neg_overlap())))
      ranking.push_back(static_cast<int>(i));
  }
  std::size_t most = ranking.size();
  if (hard)
    most = std::min(most, static_cast<std::size_t>(settings.sample_size()));
  else
    most =
        std::min(most, static_cast<std::size_t>(static_cast<float>(positives) *
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
          decodedBoxes(settings, priors, predictions.locations, matches.label);
    ranking = suppressed<Real>(
        boxes, ranking, static_cast<Real>(settings.nms_param().nms_threshold()),
        settings.nms_param().top_k());
    most = std::min(most, ranking.size());
  } else {
    std::partial_sort(ranking.begin(),
                      ranking.begin() + static_cast<std::ptrdiff_t>(most),
                      ranking.end(), better);
  }
  std::vector<bool> chosen(priors.size());
  for (std::size_t i = 0; i < most; ++i)
    chosen[static_cast<std::size_t>(ranking[i])] = true;
  for (std::size_t i = 0; i < priors.size(); ++i) {
    if (matches.isMatched(i) && hard && !chosen[i])
      matches.truth[i] = Matches<Real>::kNone;
    else if (matches.truth[i] == Matches<Real>::kNone && chosen[i])
      image.negatives.push_back(static_cast<int>(i));
  }
}

} // namespace

template <typename Real>
LocationPair<Real>
locationPair(const Settings &settings, const Prior<Real> &prior,
             const Box<Real> &truth, const Real *prediction) {
  const CodeType code = settings.code_type();
  const bool inTarget = settings.encode_variance_in_target();
  if (code != caffe::PriorBoxParameter::CORNER)
    requireExtent(prior);
  const std::array<Real, 4> wanted = encoded(prior, code, inTarget, truth);
  std::array<Real, 4> corners = {0, 0, 0, 0};
  if (settings.bp_inside()) {
    const Box<Real> box = settings.use_prior_for_matching()
                              ? prior.box
                              : decoded(prior, code, inTarget, prediction);
    corners = {box.left, box.top, box.right, box.bottom};
  }
  LocationPair<Real> pair;
  for (std::size_t k = 0; k < 4; ++k) {
    const bool learns = corners[k] >= 0 && corners[k] <= 1;
    const Real by = inTarget ? prior.variance[k] : 1;
    pair.wanted[k] = wanted[k] / by;
    pair.predicted[k] = learns ? prediction[k] / by : pair.wanted[k];
    pair.learns[k] = learns ? by : 0;
  }
  return pair;
}

template <typename Real>
Real locationLoss(Settings::LocLossType type, Real difference) {
  const Real size = std::fabs(difference);
  if (type == Settings::L2 || size < 1)
    return difference * difference / 2;
  return size - static_cast<Real>(0.5);
}

template <typename Real>
Real locationSlope(Settings::LocLossType type, Real difference) {
  if (type == Settings::L2 || std::fabs(difference) < 1)
    return difference;
  return difference > 0 ? 1 : -1;
}

template <typename Real>
Real confidenceLoss(const Settings &settings, const Real *confidences,
                    int target) {
  const int classes = static_cast<int>(settings.num_classes());
  if (settings.conf_loss_type() == Settings::SOFTMAX) {
    const Real most = *std::max_element(confidences, confidences + classes);
    Real sum = 0;
    for (int c = 0; c < classes; ++c)
      sum += std::exp(confidences[c] - most);
    const Real probability = std::exp(confidences[target] - most) / sum;
    return -std::log(std::max(probability, static_cast<Real>(FLT_MIN)));
  }
  Real loss = 0;
  for (int c = 0; c < classes; ++c) {
    const Real x = confidences[c];
    loss += std::max(x, Real(0)) - (c == target ? x : 0) +
            std::log(1 + std::exp(-std::fabs(x)));
  }
  return loss;
}

template <typename Real>
ImageMatches<Real> matchImage(const Settings &settings,
                              const std::vector<Prior<Real>> &priors,
                              const std::vector<TrueBox<Real>> &truths,
                              const Predictions<Real> &predictions) {
  ImageMatches<Real> image;
  image.byLabel = matchLabels(settings, priors, truths, predictions.locations);
  if (!image.byLabel.empty() && settings.mining_type() != Settings::NONE)
    mine(settings, priors, truths, predictions, image);
  return image;
}

#define INSTANTIATE(Real)                                                      \
  template std::vector<std::vector<TrueBox<Real>>> readTrueBoxes(              \
      const Real *, std::int64_t, std::int64_t, const Settings &);             \
  template std::vector<Prior<Real>> readPriors(const Real *, std::int64_t);    \
  template LocationPair<Real> locationPair(                                    \
      const Settings &, const Prior<Real> &, const Box<Real> &, const Real *); \
  template Real locationLoss(Settings::LocLossType, Real);                     \
  template Real locationSlope(Settings::LocLossType, Real);                    \
  template Real confidenceLoss(const Settings &, const Real *, int);           \
  template ImageMatches<Real> matchImage(                                      \
      const Settings &, const std::vector<Prior<Real>> &,                      \
      const std::vector<TrueBox<Real>> &, const Predictions<Real> &);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace brew::runtime
