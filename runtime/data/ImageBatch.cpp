//===- ImageBatch.cpp - Batches of images and labels ----------------------===//

#include "runtime/data/ImageBatch.h"

#include "caffe/DataLayerKinds.h"
#include "caffe/weights/BufferLayout.h"
#include "support/Error.h"

#include <algorithm>
#include <mutex>
#include <numeric>

namespace brew::runtime {

/// Minimum bytes per batch for which waking threads pays off if there is
/// nothing to decode.
constexpr std::size_t kMinSharedBytes = std::size_t(1) << 20;

/// Returns the number of labels of each image of the layer.
static std::int64_t labelsOfImages(const DataLayerInfo &info) {
  const bool hasMany = (info.layer.type() == caffe::kMultiLabelImageData ||
                        info.layer.video_data_param().use_multiple_label()) &&
                       info.tops.size() > 1 && info.tops[1]->dims_size() == 2;
  return hasMany ? info.tops[1]->dims(1) : 1;
}

ImageBatch::ImageBatch(const DataLayerInfo &info)
    : ImageBatch(info, caffe::recordSelectionOf(info.layer)) {}

ImageBatch::ImageBatch(const DataLayerInfo &info,
                       const caffe::RecordSelection &selection)
    : tops(info.tops), imagesPerItem(selection.imagesPerItem),
      labelsPerImage(labelsOfImages(info)),
      itemsPerUnit(static_cast<std::int64_t>(selection.recordsPerUnit()) /
                   imagesPerItem),
      sizesVary(info.imageSizesVary), allLabels(selection.allLabels),
      layerText("layer '" + info.layer.name() + "' (" + info.layer.type() +
                ")"),
      transform(info), decodeThreads(info.readerOptions.threads),
      skipsBad(info.readerOptions.skipBadRecords), events(info.events) {
  if (tops.empty() || tops.size() > 2)
    throw badInput(layerText + ": has " + std::to_string(tops.size()) +
                   " tops; expected one of data and at most one of labels");
  if (tops[0]->dims_size() && tops[0]->dims(0) % itemsPerUnit != 0)
    throw badInput(layerText + ": a batch of " +
                   std::to_string(tops[0]->dims(0)) +
                   " does not contain full pairs");
  const std::int64_t labelsPerItem = allLabels ? imagesPerItem : labelsPerImage;
  const caffe::DataLayerKind *kind =
      caffe::findDataLayerKind(info.layer.type());
  const bool hasClips = kind && kind->source == caffe::DataLayerSource::Videos;
  if (imagesPerItem < 1 || tops[0]->dims_size() != (hasClips ? 5 : 4) ||
      tops[0]->dims(0) < 1 || tops[0]->dims(1) % imagesPerItem != 0 ||
      (tops.size() == 2 &&
       plan::elementCount(*tops[1]) != tops[0]->dims(0) * labelsPerItem))
    throw badInput(layerText + ": the plan's buffers of its tops do not have "
                               "the shapes of images and labels");
  if (info.pixels && imagesPerItem != 1)
    throw badInput("damaged plan: a kernel for the pixels of " + layerText +
                   ", which has several images in an item");
  if (info.pixels)
    block = PixelBlock::of(*tops[0], *info.pixels);
  scratches.resize(decodeThreads.size());
  isDense = caffe::isDenseRowMajor(*tops[0], plan::F32);
  imageSize = imageShape();
}

ImageBatch::BadRows
ImageBatch::writeRows(const std::vector<std::int64_t> &rows, bool isCostly,
                      const std::vector<std::byte *> &memory, std::byte *pixels,
                      std::uint64_t first, const Decode &decode) {
  std::mutex mutex;
  BadRows bad;
  auto writeRow = [&](std::int64_t rowIndex, unsigned worker) {
    const std::int64_t row = rows[static_cast<std::size_t>(rowIndex)];
    WorkerScratch &scratch = scratches[worker];
    formats::ImageRecord &image = scratch.image;
    hasPixels[static_cast<std::size_t>(row)] =
        false; // the replacement may differ
    for (std::int64_t index = 0; index < imagesPerItem; ++index) {
      const std::int64_t number = row * imagesPerItem + index;
      try {
        decode(number, image, scratch.where);
      } catch (const Error &error) {
        if (!skipsBad)
          throw;
        std::lock_guard<std::mutex> lock(mutex);
        bad.emplace_back(row, error);
        return;
      }
      takeLabels(image, number, scratch.where);
      if (!memory[0])
        continue;
      sizesVary ? takeSize(image, scratch.where)
                : checkShape(image, scratch.where);
      const CropAndMirror cropAndMirror = transform.chooseCrop(
          image, first + static_cast<std::uint64_t>(number), scratch.where);
      if (pixels && image.hasBytes()) {
        keepPixels(image, row, cropAndMirror, pixels);
        hasPixels[static_cast<std::size_t>(row)] = true;
        return;
      }
      if (isDense)
        transform.apply(image, cropAndMirror, valuesOf(number, memory[0]));
      else if (sizesVary)
        transform.apply(image, cropAndMirror,
                        reinterpret_cast<double *>(memory[0]));
      else
        convert(scratch, index, [&](auto *values) {
          transform.apply(image, cropAndMirror, values);
        });
    }
    if (memory[0] && !isDense && !sizesVary)
      storeRow(scratch, row, memory[0]);
  };
  const auto count = static_cast<std::int64_t>(rows.size());
  if (isCostly || tops[0]->size() >= kMinSharedBytes)
    decodeThreads.forEach(count, writeRow);
  else
    decodeThreads.forEachAlone(count, writeRow);
  std::sort(bad.begin(), bad.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  return bad;
}

bool ImageBatch::write(const std::vector<std::byte *> &memory,
                       std::byte *pixels, std::uint64_t first, bool isCostly,
                       const Decode &decode, const Replace &replace,
                       const Records &records) {
  labels.resize(static_cast<std::size_t>(size() * labelsPerImage));
  hasPixels.assign(static_cast<std::size_t>(items()), false);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(items()));
  std::iota(rows.begin(), rows.end(), 0);
  std::uint64_t badInARow = 0;
  while (true) {
    const BadRows bad =
        writeRows(rows, isCostly, memory, pixels, first, decode);
    if (bad.empty())
      break;
    badInARow = bad.size() == rows.size() ? badInARow + bad.size() : 0;
    if (badInARow > records())
      throw Error(bad.front().second.status(),
                  layerText + ": no intact record is left; the first error: " +
                      bad.front().second.what());
    rows.clear();
    for (const auto &[row, error] : bad) {
      postLine(events, log::site::brew,
               layerText + ": skipped a record: " + error.what());
      ++skippedCount;
      const std::int64_t unit = row / itemsPerUnit * itemsPerUnit;
      if (!rows.empty() && rows.back() >= unit)
        continue; // a pair whose other item is bad too
      replace(unit * imagesPerItem, itemsPerUnit * imagesPerItem);
      for (std::int64_t i = 0; i < itemsPerUnit; ++i)
        rows.push_back(unit + i);
    }
  }

  if (tops.size() == 2 && memory[1])
    storeLabels(memory[1]);
  if (!pixels || !memory[0])
    return false;
  if (std::find(hasPixels.begin(), hasPixels.end(), false) == hasPixels.end())
    return true;
  // Not all images are bytes: convert those that are on the host, too.
  for (std::int64_t row = 0; row < items(); ++row)
    if (hasPixels[static_cast<std::size_t>(row)])
      convertRow(scratches[0], row, pixels, memory[0]);
  return false;
}

/// Returns the number of frames of a clip; 1 for images.
std::int64_t ImageBatch::framesPerImage() const {
  return tops[0]->dims_size() == 5 ? tops[0]->dims(2) : 1;
}

/// Returns the planes of an image or of all frames of a clip, and their size.
std::array<int, 3> ImageBatch::imageShape() const {
  const auto &dims = tops[0]->dims();
  return {static_cast<int>(dims.Get(1) * framesPerImage() / imagesPerItem),
          static_cast<int>(dims.Get(dims.size() - 2)),
          static_cast<int>(dims.Get(dims.size() - 1))};
}

/// Returns the text of a shape; the planes of a clip as channels x frames.
std::string ImageBatch::textOf(const std::array<int, 3> &shape) const {
  const std::int64_t frames = framesPerImage();
  if (tops[0]->dims_size() != 5)
    return caffe::shapeText(shape);
  return caffe::shapeText({shape[0] / frames, frames, shape[1], shape[2]});
}

void ImageBatch::checkShape(const formats::ImageRecord &image,
                            const std::string &where) const {
  const std::array<int, 3> shape = transform.resultShape(image);
  const std::string kind = tops[0]->dims_size() == 5 ? "clip" : "image";
  if (shape != imageShape())
    throw badInput(layerText + ": " + where + " is a" +
                   (kind == "image" ? "n " : " ") + kind + " of " +
                   textOf(shape) + ", but the plan was built for " + kind +
                   "s of " + textOf(imageShape()));
}

/// Takes the size of the batch from its only image, and checks that the buffer
/// has room for it.
void ImageBatch::takeSize(const formats::ImageRecord &image,
                          const std::string &where) {
  imageSize = transform.resultShape(image);
  const std::array<int, 3> largest = imageShape();
  for (std::size_t i = 0; i < largest.size(); ++i)
    if (imageSize[i] > largest[i])
      throw badInput(layerText + ": " + where + " is an image of " +
                     caffe::shapeText(imageSize) +
                     ", but the images had at most " +
                     caffe::shapeText(largest) + " when the plan was built");
}

BatchShapes ImageBatch::shapes() const {
  if (!sizesVary)
    return {};
  BatchShapes result = {{1, imageSize[0], imageSize[1], imageSize[2]}};
  if (tops.size() == 2)
    result.push_back(caffe::toVector(tops[1]->dims()));
  return result;
}

/// Returns the values of image `number` in the batch, if it is dense.
float *ImageBatch::valuesOf(std::int64_t number, std::byte *memory) const {
  const auto [channels, height, width] = imageShape();
  return reinterpret_cast<float *>(memory) + number * channels * height * width;
}

/// Writes the transformed image to the scratch values of its item, as image
/// `index` of the item.
template <typename Transform>
void ImageBatch::convert(WorkerScratch &scratch, std::int64_t index,
                         Transform transformation) const {
  const auto [channels, height, width] = imageShape();
  const std::int64_t count = std::int64_t(channels) * height * width;
  auto transformInto = [&](auto &values) {
    values.resize(static_cast<std::size_t>(count * imagesPerItem));
    transformation(values.data() + index * count);
  };
  if (tops[0]->type() == plan::F64)
    transformInto(scratch.doubles);
  else
    transformInto(scratch.floats);
}

/// Writes the values of item `row` to the batch.
void ImageBatch::storeRow(const WorkerScratch &scratch, std::int64_t row,
                          std::byte *memory) const {
  if (tops[0]->type() == plan::F64)
    caffe::storeRows(*tops[0], row, 1, scratch.doubles.data(), memory);
  else
    caffe::storeRows(*tops[0], row, 1, scratch.floats.data(), memory);
}

/// Keeps the labels of image `number`.
void ImageBatch::takeLabels(const formats::ImageRecord &image,
                            std::int64_t number, const std::string &where) {
  float *target = labels.data() + number * labelsPerImage;
  if (labelsPerImage == 1 && image.labels.empty()) {
    *target = static_cast<float>(image.label);
    return;
  }
  if (static_cast<std::int64_t>(image.labels.size()) != labelsPerImage)
    throw badInput(
        where + ": the image has " + std::to_string(image.labels.size()) +
        " labels; the plan was built for " + std::to_string(labelsPerImage));
  std::copy(image.labels.begin(), image.labels.end(), target);
}

void ImageBatch::storeLabels(std::byte *memory) const {
  if (imagesPerItem == 1 || allLabels)
    return caffe::store(*tops[1], labels.data(), memory);
  std::vector<float> areEqual;
  for (auto label = labels.begin(); label != labels.end();
       label += imagesPerItem)
    areEqual.push_back(std::count(label, label + imagesPerItem, *label) ==
                       imagesPerItem);
  caffe::store(*tops[1], areEqual.data(), memory);
}

void ImageBatch::keepPixels(const formats::ImageRecord &image, std::int64_t row,
                            const CropAndMirror &cropAndMirror,
                            std::byte *pixels) const {
  std::uint8_t *target = block.image(row, pixels);
  CropAndMirror blockCrop = cropAndMirror;
  if (block.hasFullRecords && image.height == block.rows &&
      image.width == block.columns) {
    std::copy_n(image.pixels(), image.size(), target);
  } else {
    transform.crop(image, cropAndMirror, block, target);
    if (block.hasFullRecords)
      blockCrop.top = blockCrop.left = 0;
  }
  std::int32_t *cropValues = block.cropOf(row, pixels);
  cropValues[0] = blockCrop.mirrored;
  cropValues[1] = static_cast<std::int32_t>(blockCrop.top);
  cropValues[2] = static_cast<std::int32_t>(blockCrop.left);
}

void ImageBatch::convertRow(WorkerScratch &scratch, std::int64_t row,
                            std::byte *pixels, std::byte *memory) const {
  const std::int32_t *cropValues = block.cropOf(row, pixels);
  const CropAndMirror cropAndMirror = {cropValues[0] != 0, cropValues[1],
                                       cropValues[2]};
  convert(scratch, 0, [&](auto *values) {
    transform.applyToPixels(block, block.image(row, pixels), imageShape(),
                            cropAndMirror, values);
  });
  storeRow(scratch, row, memory);
}

} // namespace brew::runtime
