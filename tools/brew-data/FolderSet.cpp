//===- FolderSet.cpp - Conversion of folders of classes -------------------===//
#include "tools/brew-data/FolderSet.h"

#include "formats/BinaryProto.h"
#include "formats/caffe.pb.h"
#include "formats/image/ImageEncode.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageFolder.h"
#include "formats/image/ImageResize.h"
#include "runtime/data/DecodeThreads.h"
#include "runtime/data/ShuffledOrder.h"
#include "support/AtomicFile.h"
#include "support/Error.h"
#include "tools/brew-data/MeanImage.h"
#include "tools/brew-data/Records.h"

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace brew::data {

using namespace brew::formats;

namespace {

struct Size {
  int height, width;
};

std::optional<Size> sizeOf(const std::vector<int> &numbers) {
  if (numbers.empty())
    return std::nullopt;
  return Size{numbers.front(), numbers.back()};
}

/// The result of converting one image.
struct FolderImage {
  ImageRecord record;
  std::string value;   ///< the serialised record
  std::string problem; ///< the error; empty on success
};

/// Converts the images of a folder to records. Thread-safe.
class FolderConverter {
public:
  explicit FolderConverter(const FolderSetOptions &options)
      : options(options), crop(sizeOf(options.crop)) {}

  void convert(const ImageListEntry &entry, FolderImage &result) const {
    result.problem.clear();
    try {
      fill(entry, result);
    } catch (const Error &error) {
      result.problem = error.what();
    }
  }

private:
  void fill(const ImageListEntry &entry, FolderImage &result) const {
    const std::string path = options.folder + "/" + entry.name;
    const std::string bytes = readFileBytes(path);
    Image image;
    decodeImage(bytes.data(), bytes.size(),
                options.gray ? ImageColor::Gray : ImageColor::Color, path,
                image);
    resize(path, image);
    if (crop && (image.height < crop->height || image.width < crop->width))
      throw badInput(path + ": the image of " + sizeText(image) +
                     " is smaller than the crop of " +
                     std::to_string(crop->height) + "x" +
                     std::to_string(crop->width) + "; add --resize");
    if (crop)
      image =
          cropImage(image, (image.height - crop->height) / 2,
                    (image.width - crop->width) / 2, crop->height, crop->width);
    setImage(image, result.record);
    if (options.encodeType.empty()) {
      result.value = encodeDatum(
          image.channels, image.height, image.width,
          viewOf(result.record.bytes.data(), result.record.bytes.size()),
          entry.label);
      return;
    }
    caffe::Datum datum;
    datum.set_encoded(true);
    datum.set_label(entry.label);
    datum.set_data(encodeImage(image, *imageFormatOf(options.encodeType)));
    if (!datum.SerializeToString(&result.value))
      throw badInput(path + ": the record is too large");
  }

  static std::string sizeText(const Image &image) {
    return std::to_string(image.height) + "x" + std::to_string(image.width);
  }

  void resize(const std::string &path, Image &image) const {
    if (options.resize.empty())
      return;
    int height = options.resize.front(), width = options.resize.back();
    if (options.resize.size() == 1) {
      // The longer side is rounded down, as in torchvision.
      const int64_t side = options.resize.front();
      const int64_t longer = side * std::max(image.height, image.width) /
                             std::min(image.height, image.width);
      if (uint64_t(side) * uint64_t(longer) * 3 > kMaxImageBytes)
        throw badInput(path + ": resized to a shorter side of " +
                       std::to_string(side) + " the image of " +
                       sizeText(image) + " is too large");
      (image.height < image.width ? width : height) = static_cast<int>(longer);
    }
    Image resized;
    resizeImage(image, height, width, resized);
    image = std::move(resized);
  }

  const FolderSetOptions &options;
  const std::optional<Size> crop;
};

/// The images of a folder, divided into training and test images.
struct Division {
  std::vector<ImageListEntry> train, test;
};

/// Draws the test images of each class, and the order of training images.
Division divide(const ImageFolder &folder, double testShare, uint64_t seed) {
  Division division;
  const caffe::RandomStream stream(seed, "split folder");
  for (size_t label = 0, begin = 0; begin < folder.images.size(); ++label) {
    size_t end = begin;
    while (end < folder.images.size() &&
           folder.images[end].label == static_cast<int>(label))
      ++end;
    const size_t count = end - begin;
    // Each side gets an image of the class if there are two.
    size_t tests = static_cast<size_t>(
        std::lround(testShare * static_cast<double>(count)));
    if (testShare > 0)
      tests = std::clamp<size_t>(tests, count > 1 ? 1 : 0, count - 1);
    std::vector<bool> isTest(count, false);
    const std::vector<int64_t> order =
        runtime::shuffledOrder(stream, count, label);
    for (size_t i = 0; i < tests; ++i)
      isTest[static_cast<size_t>(order[i])] = true;
    for (size_t i = 0; i < count; ++i)
      (isTest[i] ? division.test : division.train)
          .push_back(folder.images[begin + i]);
    begin = end;
  }
  std::vector<ImageListEntry> shuffled;
  const caffe::RandomStream orderStream(seed, "shuffle folder");
  for (int64_t i :
       runtime::shuffledOrder(orderStream, division.train.size(), 0))
    shuffled.push_back(std::move(division.train[static_cast<size_t>(i)]));
  division.train = std::move(shuffled);
  return division;
}

/// Creates a folder, unless it exists; removes it again if it is still empty at
/// the end.
class OutputFolder {
public:
  explicit OutputFolder(const std::string &path) : path(path) {
    std::error_code error;
    isNew = std::filesystem::create_directories(path, error);
    if (error)
      throw unavailable("cannot create the folder '" + path +
                        "': " + error.message());
  }
  ~OutputFolder() {
    std::error_code ignored;
    if (isNew) // fails if the folder has content
      std::filesystem::remove(path, ignored);
  }
  OutputFolder(const OutputFolder &) = delete;
  OutputFolder &operator=(const OutputFolder &) = delete;

private:
  std::string path;
  bool isNew;
};

/// Converts images to one or two databases.
class FolderWriter {
public:
  FolderWriter(const FolderSetOptions &options, uint64_t imageCount)
      : options(options), converter(options), decodeThreads(options.threads),
        progress("images", imageCount) {}

  /// Returns the database, not yet finished, and its number of records.
  std::pair<std::unique_ptr<DbWriter>, uint64_t>
  write(const std::string &path, const std::vector<ImageListEntry> &entries,
        MeanImage *mean);

  /// The messages about unreadable images.
  std::vector<std::string> problems;
  /// The shape of the images, empty before the first one.
  std::string shape;

private:
  void requireEqualShapes(const ImageRecord &record, const std::string &name);

  const FolderSetOptions &options;
  const FolderConverter converter;
  runtime::DecodeThreads decodeThreads;
  Progress progress;
  std::string firstName;
};

void FolderWriter::requireEqualShapes(const ImageRecord &record,
                                      const std::string &name) {
  if (shape.empty()) {
    shape = shapeOf(record);
    firstName = name;
  } else if (shapeOf(record) != shape) {
    throw badInput(options.folder + ": the images have several sizes: '" +
                   firstName + "' has shape " + shape + ", '" + name + "' " +
                   shapeOf(record) + "; add for example --resize 256,256");
  }
}

std::pair<std::unique_ptr<DbWriter>, uint64_t>
FolderWriter::write(const std::string &path,
                    const std::vector<ImageListEntry> &entries,
                    MeanImage *mean) {
  auto database =
      DbWriter::create(path, options.output.backend, options.output.overwrite);
  constexpr size_t kBatchSize = 64;
  std::vector<FolderImage> batch(kBatchSize);
  uint64_t written = 0;
  for (size_t begin = 0; begin < entries.size(); begin += kBatchSize) {
    const size_t count = std::min(kBatchSize, entries.size() - begin);
    decodeThreads.forEach(
        static_cast<int64_t>(count), [&](int64_t i, unsigned) {
          const auto index = static_cast<size_t>(i);
          converter.convert(entries[begin + index], batch[index]);
        });
    for (size_t i = 0; i < count; ++i) {
      const std::string &name = entries[begin + i].name;
      if (!batch[i].problem.empty()) {
        problems.push_back(batch[i].problem);
        continue;
      }
      requireEqualShapes(batch[i].record, name);
      if (mean)
        mean->add(batch[i].record, name);
      database->put(recordKey(begin + i, 8) + "_" + name, batch[i].value);
      ++written;
    }
    progress.step(count);
  }
  return {std::move(database), written};
}

/// Reports the images that cannot be read. Throws unless they are skipped.
void reportProblems(const FolderSetOptions &options,
                    const std::vector<std::string> &problems, size_t total) {
  if (problems.empty())
    return;
  for (const std::string &problem : problems)
    std::fprintf(stderr, "%s\n", problem.c_str());
  const std::string text = std::to_string(problems.size()) + " of " +
                           std::to_string(total) + " images cannot be read";
  if (!options.skipBadImages)
    throw badInput(options.folder + ": " + text +
                   ", see above; mend or remove them, or leave them out with "
                   "--skip-bad-images");
  std::fprintf(stderr, "%s and were left out.\n", text.c_str());
}

/// Throws unless an output may be written.
void requireNew(const FolderSetOptions &options, const std::string &path) {
  std::error_code ignored;
  if (!options.output.overwrite && std::filesystem::exists(path, ignored))
    throw badInput("'" + path + "' exists; pass --overwrite to replace it");
}

/// Throws unless a database may be written to a path.
void requireReplaceable(const FolderSetOptions &options,
                        const std::string &path) {
  requireNew(options, path);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !detectBackend(path) &&
      !(std::filesystem::is_directory(path, ignored) &&
        std::filesystem::is_empty(path, ignored)))
    throw badInput("'" + path +
                   "' is not a database and will not be overwritten");
}

/// Removes the database of an earlier conversion. Through a symbolic link,
/// removes the link only.
void removeDatabase(const std::string &path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error)
    throw unavailable("cannot remove the database '" + path +
                      "': " + error.message());
}

} // namespace

void convertFolder(const FolderSetOptions &options) {
  if (options.crop.size() && options.resize.size() == 1 &&
      *std::max_element(options.crop.begin(), options.crop.end()) >
          options.resize.front())
    throw usageError("--crop is larger than the shorter side after --resize");
  const ImageFolder folder = readImageFolder(options.folder);
  std::fprintf(stderr, "A total of %zu images in %zu classes.\n",
               folder.images.size(), folder.classes.size());
  if (folder.otherFiles)
    std::fprintf(stderr,
                 "%zu files without an image's extension were left out.\n",
                 folder.otherFiles);
  const Division division = divide(folder, options.testShare, options.seed);

  const std::string &out = options.output.path;
  const OutputFolder outputFolder(out);
  const std::string suffix =
      options.output.backend == DbBackend::Lmdb ? "_lmdb" : "_leveldb";
  Output train = options.output, test = options.output;
  train.path = out + "/train" + suffix;
  test.path = out + "/test" + suffix;
  const std::string labels = out + "/labels.txt",
                    meanFile = out + "/mean.binaryproto";
  requireReplaceable(options, train.path);
  requireReplaceable(options, test.path);
  requireNew(options, labels);
  requireNew(options, meanFile);

  MeanImage mean;
  FolderWriter writer(options, folder.images.size());
  auto [trainDatabase, trainCount] =
      writer.write(train.path, division.train, &mean);
  std::unique_ptr<DbWriter> testDatabase;
  uint64_t testCount = 0;
  if (!division.test.empty())
    std::tie(testDatabase, testCount) =
        writer.write(test.path, division.test, nullptr);
  reportProblems(options, writer.problems, folder.images.size());
  if (trainCount == 0 || (testDatabase && testCount == 0))
    throw badInput(options.folder + ": no " +
                   (trainCount == 0 ? "training" : "test") +
                   " image can be read");

  std::string labelLines;
  for (const std::string &name : folder.classes)
    labelLines += name + "\n";
  trainDatabase->finish();
  if (testDatabase)
    testDatabase->finish();
  else if (options.output.overwrite)
    removeDatabase(test.path); // its labels may differ
  writeFileAtomically(labels, labelLines);
  writeBinaryProto(meanFile, mean.mean());
  reportWritten(train, trainCount);
  if (testDatabase)
    reportWritten(test, testCount);
  std::printf("%s: %zu classes\n", labels.c_str(), folder.classes.size());
  mean.print(meanFile);
}

} // namespace brew::data
