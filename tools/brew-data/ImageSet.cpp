//===- ImageSet.cpp - Conversion of lists of images -----------------------===//
#include "tools/brew-data/ImageSet.h"

#include "formats/caffe.pb.h"
#include "formats/image/ImageEncode.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageList.h"
#include "runtime/data/DecodeThreads.h"
#include "runtime/data/ShuffledOrder.h"
#include "support/Error.h"
#include "tools/brew-data/Records.h"

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <unistd.h>

namespace brew::data {

using namespace brew::formats;

namespace {

std::string lowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return text;
}

/// Returns the text after the last dot, or the whole name without a dot.
std::string extensionOf(const std::string &name) {
  return lowerCase(name.substr(name.rfind('.') + 1));
}

/// The result of converting one image.
struct ConvertedImage {
  std::string value; ///< the record; empty on failure
  size_t dataSize = 0;
  std::string problem; ///< the error; empty on success
};

/// Converts images to records. Thread-safe.
class Converter {
public:
  explicit Converter(const ImageSetOptions &options) : options(options) {}

  /// Converts an image like Caffe's ReadImageToDatum. Stores the error of an
  /// unreadable image in the result, because Caffe skips such images.
  ConvertedImage convert(const ImageListEntry &entry) const {
    ConvertedImage result;
    try {
      caffe::Datum datum;
      fill(entry, datum);
      datum.set_label(entry.label);
      result.dataSize = datum.data().size();
      if (!datum.SerializeToString(&result.value))
        throw badInput(lineLocation(options.list, entry) +
                       ": the record is too large");
    } catch (const Error &error) {
      result.problem = error.what();
    }
    return result;
  }

private:
  /// Returns --encode_type, or else the extension; "": raw pixels.
  std::string encodingOf(const std::string &name) const {
    if (!options.encodeType.empty() || !options.encoded)
      return options.encodeType;
    if (name.rfind('.') == std::string::npos)
      throw badInput("the name has no extension that determines the encoding; "
                     "add --encode_type");
    return extensionOf(name);
  }

  void fill(const ImageListEntry &entry, caffe::Datum &datum) const {
    const std::string where = lineLocation(options.list, entry);
    if (entry.name.empty())
      throw badInput(where + ": names no image");
    const std::string path = pathOf(entry.name);
    const std::string bytes = readFileBytes(path, where);
    Image image;
    // As in Caffe, a single dimension does not resize, but it prevents copying
    // the bytes of the file.
    const bool resizes = options.resizeHeight && options.resizeWidth;
    decodeAndResize(bytes.data(), bytes.size(),
                    options.gray ? ImageColor::Gray : ImageColor::Color,
                    resizes ? options.resizeHeight : 0,
                    resizes ? options.resizeWidth : 0, where + ": " + path,
                    image);
    const std::string encoding = encodingOf(entry.name);
    if (encoding.empty()) {
      ImageRecord record;
      setImage(image, record);
      datum.set_channels(record.channels);
      datum.set_height(record.height);
      datum.set_width(record.width);
      datum.set_data(record.bytes.data(), record.bytes.size());
      datum.set_encoded(false);
      return;
    }
    datum.set_encoded(true);
    // Copy the file's bytes if the encoding remains the same, even if the
    // number of channels differs, as Caffe does.
    const std::string extension = extensionOf(entry.name),
                      requested = lowerCase(encoding);
    if (!options.resizeHeight && !options.resizeWidth &&
        (extension == requested ||
         (requested == "jpg" && extension == "jpeg"))) {
      datum.set_data(bytes);
      return;
    }
    const std::optional<ImageFormat> format = imageFormatOf(encoding);
    if (!format)
      throw badInput(where + ": images cannot be encoded as '" + encoding +
                     "', only as png or jpg");
    datum.set_data(encodeImage(image, *format));
  }

  /// Returns the path of an image. Caffe concatenates root and name without a
  /// slash; this function tolerates a root without a final slash.
  std::string pathOf(const std::string &name) const {
    const std::string concatenated = options.root + name;
    if (options.root.empty() || options.root.back() == '/' ||
        ::access(concatenated.c_str(), F_OK) == 0)
      return concatenated;
    return options.root + "/" + name;
  }

  const ImageSetOptions &options;
};

} // namespace

void convertImageSet(const ImageSetOptions &options) {
  if (!options.encodeType.empty() && !imageFormatOf(options.encodeType))
    throw usageError("--encode_type '" + options.encodeType +
                     "': images are encoded as png or jpg");
  std::vector<ImageListEntry> entries = readImageList(options.list);
  if (options.shuffle) {
    const caffe::RandomStream stream(options.seed, "shuffle imageset");
    std::vector<ImageListEntry> shuffled;
    for (int64_t i : runtime::shuffledOrder(stream, entries.size(), 0))
      shuffled.push_back(std::move(entries[static_cast<size_t>(i)]));
    entries = std::move(shuffled);
  }
  std::fprintf(stderr, "A total of %zu images.\n", entries.size());

  auto database = DbWriter::create(options.output.path, options.output.backend,
                                   options.output.overwrite);
  const Converter converter(options);
  runtime::DecodeThreads decodeThreads(options.threads);
  Progress progress("imageset", entries.size());
  constexpr size_t kBatchSize = 128;
  std::vector<ConvertedImage> batch(kBatchSize);
  uint64_t written = 0, skipped = 0;
  size_t firstSize = 0;
  for (size_t begin = 0; begin < entries.size(); begin += kBatchSize) {
    const size_t count = std::min(kBatchSize, entries.size() - begin);
    decodeThreads.forEach(
        static_cast<int64_t>(count), [&](int64_t i, unsigned) {
          const auto index = static_cast<size_t>(i);
          batch[index] = converter.convert(entries[begin + index]);
        });
    for (size_t i = 0; i < count; ++i) {
      const ImageListEntry &entry = entries[begin + i];
      const ConvertedImage &converted = batch[i];
      if (!converted.problem.empty()) {
        std::fprintf(stderr, "Could not open or find file %s (%s)\n",
                     entry.name.c_str(), converted.problem.c_str());
        ++skipped;
        continue;
      }
      if (options.checkSize && written == 0)
        firstSize = converted.dataSize;
      if (options.checkSize && converted.dataSize != firstSize)
        throw badInput(lineLocation(options.list, entry) + ": image '" +
                       entry.name + "': incorrect data field size " +
                       std::to_string(converted.dataSize) +
                       "; the first image has " + std::to_string(firstSize));
      database->put(recordKey(begin + i, 8) + "_" + entry.name,
                    converted.value);
      ++written;
    }
    progress.step(count);
  }
  if (written == 0)
    throw badInput(options.list + ": none of its " +
                   std::to_string(entries.size()) + " images can be read");
  database->finish();
  std::fprintf(stderr, "Processed %" PRIu64 " files.\n", written);
  if (skipped)
    std::fprintf(stderr,
                 "%" PRIu64 " images could not be read and were left "
                 "out.\n",
                 skipped);
  reportWritten(options.output, written);
}

} // namespace brew::data
