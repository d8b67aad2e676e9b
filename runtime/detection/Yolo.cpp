//===- Yolo.cpp - Boxes of YOLO -------------------------------------------===//

#include "runtime/detection/Yolo.h"

#include "support/Error.h"
#include "support/NumberText.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace brew::runtime {
namespace {

template <typename Real>
Real sharedExtent(Real centerA, Real sizeA, Real centerB, Real sizeB) {
  return std::min(centerA + sizeA / 2, centerB + sizeB / 2) -
         std::max(centerA - sizeA / 2, centerB - sizeB / 2);
}

int checkedLabel(double label, std::int64_t classes) {
  if (!(label >= 0 && label < static_cast<double>(classes)))
    throw badInput("a true box has the class " + shortestText(label) +
                   ", but there are " + std::to_string(classes) + " classes");
  return static_cast<int>(label);
}

} // namespace

template <typename Real>
Real overlapOf(const CenterBox<Real> &a, const CenterBox<Real> &b) {
  const Real width = sharedExtent(a.x, a.width, b.x, b.width);
  const Real height = sharedExtent(a.y, a.height, b.y, b.height);
  const Real shared = width < 0 || height < 0 ? Real(0) : width * height;
  return shared / (a.width * a.height + b.width * b.height - shared);
}

template <typename Real>
CenterBox<Real> decodeBox(const YoloShape &shape, const Real *maps,
                          std::int64_t anchor, std::int64_t position,
                          const YoloAnchor &size) {
  auto at = [&](YoloField field) {
    return maps[shape.index(anchor, field, position)];
  };
  const std::int64_t row = position / shape.width;
  const std::int64_t column = position % shape.width;
  return {(static_cast<Real>(column) + sigmoid(at(kCenterX))) /
              static_cast<Real>(shape.width),
          (static_cast<Real>(row) + sigmoid(at(kCenterY))) /
              static_cast<Real>(shape.height),
          std::exp(at(kWidth)) * static_cast<Real>(size.width),
          std::exp(at(kHeight)) * static_cast<Real>(size.height)};
}

template <typename Real>
std::vector<Real> classProbabilities(const YoloShape &shape, const Real *maps,
                                     std::int64_t anchor,
                                     std::int64_t position) {
  std::vector<Real> values(static_cast<std::size_t>(shape.classes));
  for (std::int64_t c = 0; c < shape.classes; ++c)
    values[static_cast<std::size_t>(c)] =
        maps[shape.index(anchor, kYoloFields + c, position)];
  const Real largest = *std::max_element(values.begin(), values.end());
  Real sum = 0;
  for (Real &value : values)
    sum += value = std::exp(value - largest);
  for (Real &value : values)
    value /= sum;
  return values;
}

template <typename Real>
void suppress(std::vector<YoloDetection<Real>> &detections, Real threshold,
              const std::function<Real(const CenterBox<Real> &,
                                       const CenterBox<Real> &)> &overlap) {
  std::stable_sort(
      detections.begin(), detections.end(),
      [](const auto &a, const auto &b) { return a.score > b.score; });
  std::size_t kept = 0;
  for (const YoloDetection<Real> &candidate : detections) {
    const bool isSuppressed = std::any_of(
        detections.begin(), detections.begin() + static_cast<long>(kept),
        [&](const YoloDetection<Real> &better) {
          return better.number == candidate.number ||
                 overlap(better.box, candidate.box) >= threshold;
        });
    if (!isSuppressed)
      detections[kept++] = candidate;
  }
  detections.resize(kept);
}

template <typename Real>
std::vector<std::vector<YoloTruth<Real>>>
readTrueRows(const Real *rows, std::int64_t count, std::int64_t images,
             std::int64_t classes) {
  constexpr int kFields = 8;
  std::vector<std::vector<YoloTruth<Real>>> truths(
      static_cast<std::size_t>(images));
  for (const Real *row = rows; row != rows + count * kFields; row += kFields) {
    if (row[0] == -1)
      continue;
    if (!(row[0] >= 0 && row[0] < static_cast<Real>(images)))
      throw badInput("a true box is of image " +
                     shortestText(static_cast<double>(row[0])) +
                     ", but the batch has " + std::to_string(images) +
                     " images");
    truths[static_cast<std::size_t>(row[0])].push_back(
        {checkedLabel(row[1] - 1, classes),
         {(row[3] + row[5]) / 2, (row[4] + row[6]) / 2, row[5] - row[3],
          row[6] - row[4]}});
  }
  return truths;
}

template <typename Real>
std::vector<YoloTruth<Real>> readTrueList(const Real *rows, std::int64_t count,
                                          std::int64_t classes) {
  constexpr int kFields = 5;
  std::vector<YoloTruth<Real>> truths;
  for (const Real *row = rows; row != rows + count * kFields && row[3] != 0;
       row += kFields)
    truths.push_back(
        {checkedLabel(row[0], classes), {row[1], row[2], row[3], row[4]}});
  return truths;
}

#define INSTANTIATE(Real)                                                      \
  template Real overlapOf(const CenterBox<Real> &, const CenterBox<Real> &);   \
  template CenterBox<Real> decodeBox(const YoloShape &, const Real *,          \
                                     std::int64_t, std::int64_t,               \
                                     const YoloAnchor &);                      \
  template std::vector<Real> classProbabilities(                               \
      const YoloShape &, const Real *, std::int64_t, std::int64_t);            \
  template void suppress(                                                      \
      std::vector<YoloDetection<Real>> &, Real,                                \
      const std::function<Real(const CenterBox<Real> &,                        \
                               const CenterBox<Real> &)> &);                   \
  template std::vector<std::vector<YoloTruth<Real>>> readTrueRows(             \
      const Real *, std::int64_t, std::int64_t, std::int64_t);                 \
  template std::vector<YoloTruth<Real>> readTrueList(                          \
      const Real *, std::int64_t, std::int64_t);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

} // namespace brew::runtime
