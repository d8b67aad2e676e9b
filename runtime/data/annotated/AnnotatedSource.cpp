//===- AnnotatedSource.cpp - Batches of annotated images ------------------===//

#include "caffe/YoloData.h"
#include "caffe/weights/BufferLayout.h"
#include "formats/image/ImageResize.h"
#include "runtime/data/DatabaseRecords.h"
#include "runtime/data/ImageBatch.h"
#include "runtime/data/annotated/AnnotatedObjects.h"
#include "runtime/data/annotated/ImageAugmentation.h"
#include "support/Error.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

/// Values of each box in the label top: item, label, instance, left, top,
/// right, bottom, difficult.
constexpr std::int64_t kBoxFields = 8;

/// Returns the layer for the ImageBatch: without the label top and without crop
/// and mirror, which this source applies itself. Mean and scale remain.
DataLayerInfo infoForImageBatch(const DataLayerInfo &info) {
  DataLayerInfo result = info;
  caffe::TransformationParameter &transform =
      *result.layer.mutable_transform_param();
  transform.clear_crop_size();
  transform.clear_mirror();
  if (result.tops.size() == 2)
    result.tops.pop_back();
  return result;
}

/// One thread fetches records in order; any thread then decodes and augments
/// them.
class AnnotatedSource : public ImageBatchSource {
public:
  explicit AnnotatedSource(const DataLayerInfo &info)
      : ImageBatchSource(infoForImageBatch(info)),
        transform(info.layer.transform_param()),
        settings(info.layer.annotated_data_param()), testPhase(info.testPhase),
        events(info.events),
        stream(info.seed.rankSeed(), "annotations " + info.stream),
        database(info, images.layer()) {
    requireImageAugmentation(transform);
    const caffe::RecordSelection selection =
        caffe::recordSelectionOf(info.layer);
    if (selection.imagesPerItem != 1 || selection.needsLabels())
      throw badInput(images.layer() +
                     ": balance and images_per_blob are for layers whose "
                     "records have one label");
    if (info.tops.size() == 2)
      checkLabels(*(labels = info.tops[1]));
    rows.resize(static_cast<std::size_t>(images.size()));
  }

  std::string identity() const override { return database.identity(); }
  SourcePosition position() const override { return database.current; }
  void seek(const SourcePosition &target) override { database.seek(target); }

private:
  /// An image of the batch: its record, and the labels after augmentation.
  struct Row {
    DatabaseRecord record;
    Objects objects;
    float label = 0;
  };

  void checkLabels(const plan::Buffer &buffer) {
    hasBoxes = buffer.dims_size() == 4;
    hasLists = hasBoxes && settings.yolo_data_type() == 1;
    const bool fits =
        !hasBoxes ? plan::elementCount(buffer) == images.size()
                  : buffer.dims(0) == (hasLists ? images.size() : 1) &&
                        buffer.dims(1) == 1 && buffer.dims(3) == boxFields();
    if (!fits)
      throw badInput(images.layer() + ": the plan's buffer of its labels does "
                                      "not have the shape of labels or boxes");
  }

  std::int64_t boxFields() const {
    return hasLists ? caffe::kYoloBoxFields : kBoxFields;
  }

  bool readBatch(const std::vector<std::byte *> &memory,
                 std::byte *pixels) override {
    const std::uint64_t epochBefore = database.current.epoch,
                        first = database.current.records;
    for (Row &row : rows)
      database.fetch(row.record);
    database.current.records += rows.size();
    images.write(
        memory, pixels, first, /*isCostly=*/true,
        [&](std::int64_t number, formats::ImageRecord &image,
            std::string &where) {
          Row &row = rows[static_cast<std::size_t>(number)];
          where = database.path() + ", record '" + row.record.key + "'";
          RandomDraws draws(stream, first + static_cast<std::uint64_t>(number));
          decodeAndAugment(row, draws, where, image);
        },
        [&](std::int64_t number, std::int64_t count) {
          std::vector<DatabaseRecord> next(static_cast<std::size_t>(count));
          database.replace(next.data(), next.size());
          for (DatabaseRecord &record : next)
            rows[static_cast<std::size_t>(number++)].record = std::move(record);
        },
        [this] { return database.drawsToCoverAll(); });
    if (labels && memory[1])
      writeLabels(memory[1]);
    if (database.current.epoch != epochBefore)
      postLine(events, log::site::databaseWrapped,
               "Restarting data prefetching from start.");
    // `pixels` is null: plans have no pixel conversion for AnnotatedData.
    return false;
  }

  /// Decodes and augments one record; sets the objects of `row`.
  void decodeAndAugment(Row &row, RandomDraws &draws, const std::string &where,
                        formats::ImageRecord &result) const {
    formats::AnnotatedRecord record;
    formats::decodeAnnotatedDatum(row.record.value,
                                  images.transformer().color(), where, record);
    if (labels && hasBoxes && !record.hasType)
      throw badInput(where + ": its annotations have no type");
    if (labels && !hasBoxes && !record.hasLabel)
      throw badInput(where + ": has no label");
    try {
      formats::Image image = std::move(record.image);
      if (transform.has_distort_param())
        distort(image, transform.distort_param(), draws);
      if (transform.has_expand_param())
        expand(image, record.objects, draws);
      if (settings.batch_sampler_size())
        cropBySamplers(image, record.objects, draws);
      else if (const float jitter = caffe::yoloJitter(settings))
        cropTo(drawJitter(jitter, draws), image, record.objects);
      resizeCropAndMirror(image, record.objects, draws);
      formats::setImage(image, result);
    } catch (const Error &error) {
      throw Error(error.status(), where + ": " + error.what());
    } catch (const std::exception &error) { // thrown by OpenCV
      throw badInput(where + ": " + error.what());
    }
    row.label = static_cast<float>(record.label);
    row.objects = std::move(record.objects);
  }

  const caffe::EmitConstraint *emitConstraint() const {
    return transform.has_emit_constraint() ? &transform.emit_constraint()
                                           : nullptr;
  }

  /// With probability `prob`, places the image in a larger one that is filled
  /// with the mean.
  void expand(formats::Image &image, Objects &objects,
              RandomDraws &draws) const {
    const caffe::ExpansionParameter &settings = transform.expand_param();
    if (draws.uniform(0, 1) > settings.prob() ||
        std::fabs(settings.max_expand_ratio() - 1) < 1e-2)
      return;
    const float ratio = draws.uniform(1, settings.max_expand_ratio());
    const auto width = static_cast<float>(image.width);
    const auto height = static_cast<float>(image.height);
    // Compute the size in double, since it may overflow integers.
    if (double(height) * double(ratio) * double(width) * double(ratio) *
            image.channels >
        double(formats::kMaxImageBytes))
      throw badInput("an image of " + std::to_string(image.height) + "x" +
                     std::to_string(image.width) + " expanded " +
                     log::number(ratio) + " times is too large");
    const int newHeight = static_cast<int>(height * ratio);
    const int newWidth = static_cast<int>(width * ratio);
    const float top = std::floor(
        draws.uniform(0, static_cast<float>(newHeight - image.height)));
    const float left = std::floor(
        draws.uniform(0, static_cast<float>(newWidth - image.width)));
    const Box<float> canvas = {-left / width, -top / height,
                               (static_cast<float>(newWidth) - left) / width,
                               (static_cast<float>(newHeight) - top) / height};
    image = expandImage(
        image, newHeight, newWidth, static_cast<int>(top),
        static_cast<int>(left),
        {transform.mean_value().begin(), transform.mean_value().end()});
    objects = objectsInCrop(canvas, objects, emitConstraint());
  }

  /// Crops the image to one of the crops that the samplers draw, if any.
  void cropBySamplers(formats::Image &image, Objects &objects,
                      RandomDraws &draws) const {
    const std::vector<Box<float>> crops =
        drawCrops(settings.batch_sampler(), objects, draws);
    if (!crops.empty())
      cropTo(clipped(crops[draws.below(crops.size())]), image, objects);
  }

  /// Draws a crop of MobileNet-YOLO: the whole image, or one whose sides are at
  /// most `jitter` or half of it shorter. Images that are padded keep their
  /// aspect ratio.
  Box<float> drawJitter(float jitter, RandomDraws &draws) const {
    const float kind = draws.uniform(0, 1);
    if (kind < 0.2F)
      return {0, 0, 1, 1};
    const float largest = kind < 0.4F ? jitter / 2 : jitter;
    const bool keepsRatio = transform.resize_param().resize_mode() ==
                            caffe::ResizeParameter::FIT_LARGE_SIZE_AND_PAD;
    const float width = draws.uniform(1 - largest, 1);
    const float height = keepsRatio ? width : draws.uniform(1 - largest, 1);
    const float left = draws.uniform(0, 1 - width);
    const float top = draws.uniform(0, 1 - height);
    return {left, top, left + width, top + height};
  }

  /// Crops the image to a region, of at least one pixel.
  void cropTo(const Box<float> &region, formats::Image &image,
              Objects &objects) const {
    const auto width = static_cast<float>(image.width);
    const auto height = static_cast<float>(image.height);
    auto extent = [](float from, float to) {
      return std::max(1, static_cast<int>(to - from));
    };
    const int rowCount = extent(region.top * height, region.bottom * height);
    const int columns = extent(region.left * width, region.right * width);
    const int top = std::min(static_cast<int>(region.top * height),
                             image.height - rowCount);
    const int left =
        std::min(static_cast<int>(region.left * width), image.width - columns);
    image = formats::cropImage(image, top, left, rowCount, columns);
    objects = objectsInCrop(region, objects, emitConstraint());
  }

  /// Applies resize, noise, crop and mirror.
  void resizeCropAndMirror(formats::Image &image, Objects &objects,
                           RandomDraws &draws) const {
    const bool mirrored = transform.mirror() && draws.below(2) == 1;
    const int oldHeight = image.height, oldWidth = image.width;
    const caffe::ResizeParameter &resize = transform.resize_param();
    if (transform.has_resize_param()) {
      image = resizeImage(image, resize, draws);
      for (formats::AnnotatedObject &object : objects) {
        const Box<float> box =
            resizedBox(boxOf(object), resize, oldHeight, oldWidth);
        object.left = box.left;
        object.top = box.top;
        object.right = box.right;
        object.bottom = box.bottom;
      }
    }
    if (transform.has_noise_param())
      addNoise(image, transform.noise_param(), draws);
    const Box<float> region = crop(image, draws);
    objects = objectsInCrop(region, objects, emitConstraint());
    if (mirrored)
      mirror(image, objects);
    if (transform.has_resize_param())
      scaleToOutputUnits(objects, resize, oldHeight, oldWidth, region);
  }

  /// Crops the image if enabled; returns the crop as fractions of the image.
  Box<float> crop(formats::Image &image, RandomDraws &draws) const {
    const bool isSquare = transform.crop_size() != 0;
    const int height =
        static_cast<int>(isSquare ? transform.crop_size() : transform.crop_h());
    const int width =
        static_cast<int>(isSquare ? transform.crop_size() : transform.crop_w());
    if (!height || !width)
      return {0, 0, 1, 1};
    const int spareRows = image.height - height,
              spareColumns = image.width - width;
    if (spareRows < 0 || spareColumns < 0)
      throw badInput("an image of " + std::to_string(image.height) + "x" +
                     std::to_string(image.width) +
                     " is smaller than its crop of " + std::to_string(height) +
                     "x" + std::to_string(width));
    int top = spareRows / 2, left = spareColumns / 2;
    if (!testPhase) {
      top = static_cast<int>(
          draws.below(static_cast<std::uint64_t>(spareRows) + 1));
      left = static_cast<int>(
          draws.below(static_cast<std::uint64_t>(spareColumns) + 1));
    }
    const auto rowCount = static_cast<float>(image.height);
    const auto columns = static_cast<float>(image.width);
    image = formats::cropImage(image, top, left, height, width);
    return {static_cast<float>(left) / columns,
            static_cast<float>(top) / rowCount,
            static_cast<float>(left + width) / columns,
            static_cast<float>(top + height) / rowCount};
  }

  static void mirror(formats::Image &image, Objects &objects) {
    const auto pixel = static_cast<std::size_t>(image.channels);
    const auto width = static_cast<std::size_t>(image.width);
    for (int y = 0; y < image.height; ++y) {
      std::uint8_t *line =
          image.pixels.data() + static_cast<std::size_t>(y) * width * pixel;
      for (std::size_t x = 0; x < width / 2; ++x)
        std::swap_ranges(line + x * pixel, line + (x + 1) * pixel,
                         line + (width - 1 - x) * pixel);
    }
    for (formats::AnnotatedObject &object : objects) {
      const float left = object.left;
      object.left = 1 - object.right;
      object.right = 1 - left;
    }
  }

  void writeLabels(std::byte *memory) const {
    std::vector<float> values;
    if (!hasBoxes) {
      for (const Row &row : rows)
        values.push_back(row.label);
      return caffe::store(*labels, values.data(), memory);
    }
    if (hasLists)
      return writeLists(memory);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (const formats::AnnotatedObject &object : rows[i].objects)
        for (float value :
             {static_cast<float>(i), static_cast<float>(object.label),
              static_cast<float>(object.instance), object.left, object.top,
              object.right, object.bottom, object.difficult ? 1.F : 0.F})
          values.push_back(value);
    const auto capacity = static_cast<std::size_t>(plan::elementCount(*labels));
    if (values.size() > capacity)
      throw tooManyObjects("a batch", values.size() / kBoxFields,
                           capacity / kBoxFields);
    values.resize(capacity, -1);
    caffe::store(*labels, values.data(), memory);
  }

  /// Writes the list of boxes of each image, followed by zeros.
  void writeLists(std::byte *memory) const {
    const auto fields = static_cast<std::size_t>(caffe::kYoloBoxFields);
    const auto perImage = static_cast<std::size_t>(labels->dims(2)) * fields;
    std::vector<float> values;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const formats::AnnotatedObject &object : rows[i].objects)
        if (settings.train_diffcult() || !object.difficult)
          for (float value :
               {static_cast<float>(object.label - 1),
                (object.left + object.right) / 2,
                (object.top + object.bottom) / 2, object.right - object.left,
                object.bottom - object.top})
            values.push_back(value);
      if (values.size() > (i + 1) * perImage)
        throw tooManyObjects("an image",
                             values.size() / fields - i * perImage / fields,
                             perImage / fields);
      values.resize((i + 1) * perImage, 0);
    }
    caffe::store(*labels, values.data(), memory);
  }

  Error tooManyObjects(const char *where, std::size_t count,
                       std::size_t capacity) const {
    return badInput(
        images.layer() + ": " + where + " of " + database.path() + " has " +
        std::to_string(count) + " objects; the plan was built for " +
        std::to_string(capacity) + " (brewc --input-shape gives more)");
  }

  const caffe::TransformationParameter transform;
  const caffe::AnnotatedDataParameter settings;
  const bool testPhase;
  Events *events;
  const caffe::RandomStream stream;
  DatabaseRecords database;
  const plan::Buffer *labels = nullptr; ///< null: the layer has no label top
  bool hasBoxes = false;                ///< else one label per image
  bool hasLists = false;                ///< a list of boxes for each image
  std::vector<Row> rows;                ///< of the batch
};

} // namespace

static std::unique_ptr<BatchSource>
openAnnotatedSource(const DataLayerInfo &info) {
  return std::make_unique<AnnotatedSource>(info);
}

const SourceKind annotatedSource = {caffe::DataLayerSource::Annotated,
                                    openAnnotatedSource, databasePrefetchDepth};

} // namespace brew::runtime
