//===- Samples.cpp - Records for inference --------------------------------===//

#include "runtime/data/Samples.h"

#include "caffe/weights/BufferLayout.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "formats/InputFile.h"
#include "formats/Npy.h"
#include "formats/PathLookup.h"
#include "formats/hdf5/Hdf5.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageFolder.h"
#include "formats/image/ImageListing.h"
#include "runtime/data/ImageFitter.h"
#include "support/Error.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace brew::runtime {
namespace {

using caffe::product;
using Shape = std::vector<std::int64_t>;

/// The images of an LMDB or LevelDB database.
class DatabaseSamples : public SampleSource {
public:
  DatabaseSamples(const std::string &path, formats::DbBackend backend,
                  ImageFitter imageFitter)
      : reader(formats::DbReader::open(path, backend)),
        cursor(reader->newCursor()), fitter(std::move(imageFitter)) {}

  bool next(Sample &sample) override {
    if (!cursor->valid())
      return false;
    const std::string key(cursor->key());
    const std::string where = reader->path() + ", record '" + key + "'";
    formats::decodeDatum(cursor->value(), fitter.color(), where, image);
    fitter.fit(image, where, sample.values);
    sample.name = key;
    sample.isImage = true;
    sample.label = image.label;
    cursor->next();
    return true;
  }

private:
  std::unique_ptr<formats::DbReader> reader;
  std::unique_ptr<formats::DbCursor> cursor;
  ImageFitter fitter;
  formats::ImageRecord image;
};

/// The rows of a table, unchanged.
class RowSamples : public SampleSource {
public:
  /// `table`: its name in errors; `dims`: its full shape.
  RowSamples(std::string path, const std::string &table, const Shape &dims,
             std::vector<float> tableValues, const Shape &rowShape)
      : name(std::move(path)), values(std::move(tableValues)),
        rowSize(product(rowShape)) {
    if (dims.empty() || Shape(dims.begin() + 1, dims.end()) != rowShape)
      throw badInput(name + ": " + table + " is " + formats::dimsText(dims) +
                     "; the net takes rows of " + formats::dimsText(rowShape));
    rows = dims[0];
  }

  bool next(Sample &sample) override {
    if (row == rows)
      return false;
    sample.name = name + "[" + std::to_string(row) + "]";
    sample.isImage = false;
    sample.values.assign(values.begin() + row * rowSize,
                         values.begin() + (row + 1) * rowSize);
    sample.label.reset();
    ++row;
    return true;
  }

private:
  std::string name;
  std::vector<float> values;
  std::int64_t rowSize, rows = 0, row = 0;
};

std::unique_ptr<SampleSource> openHdf5(const std::string &path,
                                       const std::string &blob,
                                       const Shape &rowShape) {
  const formats::Hdf5Reader reader(path);
  const std::string nested = "inputs/" + blob;
  const std::string dataset = reader.has(nested) ? nested : blob;
  return std::make_unique<RowSamples>(path, "dataset '" + dataset + "'",
                                      reader.dims(dataset),
                                      reader.readFloats(dataset), rowShape);
}

/// A single image file.
class EncodedImage : public SampleSource {
public:
  EncodedImage(const std::string &path, const std::string &bytes,
               const ImageFitter &fitter)
      : name(path) {
    formats::Image image;
    formats::decodeImage(bytes.data(), bytes.size(), fitter.color(), path,
                         image);
    fitter.fit(image, path, values);
  }

  bool next(Sample &sample) override {
    if (done)
      return false;
    done = true;
    sample.name = name;
    sample.isImage = true;
    sample.values = values;
    sample.label.reset();
    return true;
  }

private:
  std::string name;
  std::vector<float> values;
  bool done = false;
};

/// The images in a folder and its subfolders, ordered by name. Files of formats
/// that are not read are left out.
class FolderSamples : public SampleSource {
public:
  FolderSamples(const std::string &path, ImageFitter imageFitter)
      : fitter(std::move(imageFitter)) {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator at(path, error), end;
         !error && at != end; at.increment(error))
      if (std::error_code unknown; // a dangling link
          at->is_regular_file(unknown) &&
          formats::hasReadableImageExtension(at->path().filename()))
        files.push_back(at->path());
    if (error)
      throw unavailable(path + ": cannot list the folder: " + error.message());
    if (files.empty())
      throw badInput(path + ": a folder that is neither an LMDB nor a LevelDB "
                            "database, and contains no images");
    std::sort(files.begin(), files.end());
  }

  bool next(Sample &sample) override {
    if (done == files.size())
      return false;
    const std::string &path = files[done++];
    const std::string bytes = formats::readFileBytes(path);
    EncodedImage(path, bytes, fitter).next(sample);
    return true;
  }

private:
  ImageFitter fitter;
  std::vector<std::string> files;
  std::size_t done = 0;
};

/// The images in a list, with their labels.
class ListSamples : public SampleSource {
public:
  ListSamples(const std::string &path, ImageFitter imageFitter)
      : list(path), entries(formats::readImageList(path)),
        fitter(std::move(imageFitter)) {}

  bool next(Sample &sample) override {
    if (done == entries.size())
      return false;
    const formats::ImageListEntry &entry = entries[done++];
    const std::string path =
        formats::requirePath(entry.name, {formats::folderOfFile(list)},
                             lineLocation(list, entry) + ": image");
    const std::string bytes = formats::readFileBytes(path);
    EncodedImage(path, bytes, fitter).next(sample);
    sample.label = entry.label;
    return true;
  }

private:
  std::string list;
  std::vector<formats::ImageListEntry> entries;
  ImageFitter fitter;
  std::size_t done = 0;
};

/// Opens the labels that belong to an IDX file of images. As in MNIST, they are
/// in the same folder, in a file whose name has "labels-idx1" instead of
/// "images-idx3". Returns null if there is no such file.
std::unique_ptr<formats::InputFile> openIdxLabels(std::string path,
                                                  std::uint32_t images) {
  const std::string imagesPart = "images-idx3";
  const std::size_t at = path.rfind(imagesPart);
  if (at == path.npos)
    return nullptr;
  path.replace(at, imagesPart.size(), "labels-idx1");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return nullptr;
  auto file = std::make_unique<formats::InputFile>(path);
  unsigned char header[8];
  file->readExactly(header, sizeof header, "its header");
  const std::uint32_t count = std::uint32_t(header[4]) << 24 | header[5] << 16 |
                              header[6] << 8 | header[7];
  if (header[0] || header[1] || header[2] != 8 || header[3] != 1)
    throw badInput(path + ": is not an IDX file of labels");
  if (count != images)
    throw badInput(path + ": has " + std::to_string(count) + " labels for " +
                   std::to_string(images) + " images");
  return file;
}

/// The images of an IDX file, with their labels if there is a file of them.
class IdxSamples : public SampleSource {
public:
  IdxSamples(const std::string &path, ImageFitter imageFitter)
      : file(path), fitter(std::move(imageFitter)) {
    unsigned char header[16];
    file.readExactly(header, sizeof header, "its header");
    auto bigEndianAt = [&](int at) {
      return std::uint32_t(header[at]) << 24 | header[at + 1] << 16 |
             header[at + 2] << 8 | header[at + 3];
    };
    count = bigEndianAt(4);
    height = bigEndianAt(8);
    width = bigEndianAt(12);
    constexpr std::uint32_t kMaxSide = 1 << 15; // pixels
    if (!height || !width || height > kMaxSide || width > kMaxSide)
      throw badInput(path + ": damaged IDX file: images of " +
                     std::to_string(height) + " x " + std::to_string(width));
    try {
      labels = openIdxLabels(path, count);
    } catch (const Error &error) { // the labels are optional
      labelError = error.what();
    }
  }

  bool next(Sample &sample) override {
    if (done == count)
      return false;
    formats::Image image;
    image.channels = 1;
    image.height = static_cast<int>(height);
    image.width = static_cast<int>(width);
    image.pixels.resize(std::size_t(height) * width);
    file.readExactly(image.pixels.data(), image.pixels.size(),
                     "image " + std::to_string(done));
    sample.name = file.path() + "[" + std::to_string(done) + "]";
    sample.isImage = true;
    fitter.fit(image, sample.name, sample.values);
    readLabel(sample);
    ++done;
    return true;
  }

private:
  void readLabel(Sample &sample) {
    sample.label.reset();
    if (labels)
      try {
        unsigned char label = 0;
        labels->readExactly(&label, 1, "label " + std::to_string(done));
        sample.label = label;
      } catch (const Error &error) {
        labels.reset();
        labelError = error.what();
      }
    sample.labelError = labelError;
  }

  formats::InputFile file;
  std::unique_ptr<formats::InputFile> labels; ///< or null
  std::string labelError; ///< why the labels are unusable, or ""
  ImageFitter fitter;
  std::uint32_t count = 0, height = 0, width = 0, done = 0;
};

/// Returns `head` followed by the rest of the file. Throws Error (1) if the
/// file is larger than any image.
std::string readBytes(formats::InputFile &file, std::string head) {
  constexpr std::size_t kMaxBytes = std::size_t(1) << 28;
  std::vector<char> chunk(1 << 16);
  while (std::size_t size = file.read(chunk.data(), chunk.size())) {
    head.append(chunk.data(), size);
    if (head.size() > kMaxBytes)
      throw badInput(file.path() + ": too large for an image");
  }
  return head;
}

} // namespace

std::unique_ptr<SampleSource> openSamples(const std::string &path,
                                          const std::string &blob,
                                          const Shape &rowShape,
                                          const Preprocessing &preprocessing) {
  auto fitter = [&] { return ImageFitter(rowShape, preprocessing, path); };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    const auto backend = formats::detectBackend(path);
    if (!backend)
      return std::make_unique<FolderSamples>(path, fitter());
    return std::make_unique<DatabaseSamples>(path, *backend, fitter());
  }
  formats::InputFile file(path);
  std::string head(8, '\0');
  head.resize(file.read(head.data(), head.size()));
  if (head.compare(0, 4, "\x89HDF") == 0)
    return openHdf5(path, blob, rowShape);
  if (head.compare(0, 6, "\x93NUMPY") == 0) {
    formats::NpyArray array = formats::readNpy(path);
    return std::make_unique<RowSamples>(path, "the array", array.dims,
                                        std::move(array.values), rowShape);
  }
  if (std::filesystem::path(path).extension() == ".txt")
    return std::make_unique<ListSamples>(path, fitter());
  if (head.compare(0, 4, std::string("\0\0\x08\x03", 4)) == 0)
    return std::make_unique<IdxSamples>(path, fitter());
  return std::make_unique<EncodedImage>(path, readBytes(file, head), fitter());
}

} // namespace brew::runtime
