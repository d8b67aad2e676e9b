//===- Hdf5Source.cpp - Batches from HDF5 files ---------------------------===//

#include "caffe/weights/BufferLayout.h"
#include "formats/PathLookup.h"
#include "formats/hdf5/Hdf5.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/ShuffledOrder.h"
#include "support/Error.h"

#include <filesystem>
#include <numeric>

namespace brew::runtime {
namespace {

/// Reads the listed files, and the rows of each file, in order or in a new
/// random order in each pass. Batches continue across files and passes. Keeps
/// one file in memory, as Caffe does.
class Hdf5Source : public BatchSource {
public:
  explicit Hdf5Source(const DataLayerInfo &info)
      : tops(info.tops),
        layerText("layer '" + info.layer.name() + "' (HDF5Data)"),
        names(info.layer.top().begin(), info.layer.top().end()),
        shuffled(info.layer.hdf5_data_param().shuffle()),
        rank(info.testPhase ? 0 : info.readerOptions.rank),
        ranks(info.testPhase ? 1 : info.readerOptions.ranks),
        // All ranks use the same order.
        stream(info.seed.common, "shuffle " + info.stream) {
    if (info.layer.has_transform_param())
      throw badInput(layerText + ": does not transform data; remove "
                                 "transform_param");
    for (std::size_t i = 0; i < tops.size(); ++i)
      if (!tops[i]->dims_size() || tops[i]->dims(0) != tops[0]->dims(0))
        throw badInput(layerText + ": the plan's buffer of '" + names[i] +
                       "' does not hold one value for each row of a batch");
    const std::string list = formats::requirePath(
        info.layer.hdf5_data_param().source(), info.folders,
        "list of HDF5 files of " + layerText);
    postLine(info.events, log::site::hdf5List,
             "Loading list of HDF5 filenames from: " + list);
    std::vector<std::string> folders = info.folders;
    folders.push_back(formats::folderOfFile(list));
    files = formats::readHdf5List(list, folders);
    postLine(info.events, log::site::hdf5Count,
             "Number of HDF5 files: " + std::to_string(files.size()));
    startPass();
  }

  void read(const std::vector<std::byte *> &memory) override {
    const std::int64_t batch = tops.empty() ? 0 : tops[0]->dims(0);
    std::int64_t rowsDone = 0;
    while (rowsDone < batch) {
      skipRows(rank);
      // Rows in file order are contiguous and copied together.
      const std::int64_t count =
          shuffled || ranks > 1 ? 1 : std::min(batch - rowsDone, rows() - row);
      const std::int64_t from = shuffled ? rowOrder[row] : row;
      for (std::size_t i = 0; i < tops.size(); ++i)
        if (memory[i])
          copyRows(i, from, rowsDone, count, memory[i]);
      rowsDone += count;
      current.records += static_cast<std::uint64_t>(count);
      advance(count);
      skipRows(ranks - 1 - rank);
    }
  }

  std::string identity() const override {
    std::string text;
    for (const std::string &file : files)
      text += std::filesystem::path(file).filename().string() + "\n";
    return text + std::to_string(rows());
  }

  SourcePosition position() const override { return current; }

  void seek(const SourcePosition &target) override {
    current = target;
    startPass();
    std::uint64_t remaining = target.position;
    while (remaining >= static_cast<std::uint64_t>(rows())) {
      remaining -= static_cast<std::uint64_t>(rows());
      if (fileIndex + 1 == files.size())
        throw badInput(layerText + ": the solver state is at row " +
                       std::to_string(target.position) +
                       " of its files, which have fewer");
      openFile(fileIndex + 1);
    }
    row = static_cast<std::int64_t>(remaining);
  }

private:
  std::int64_t rows() const { return blobs[0].dims[0]; }

  /// Returns the order of `count` items; `purpose` selects the random numbers.
  std::vector<std::int64_t> makeOrder(std::size_t count,
                                      std::uint64_t purpose) const {
    if (shuffled)
      return shuffledOrder(stream, count, purpose);
    std::vector<std::int64_t> result(count);
    std::iota(result.begin(), result.end(), 0);
    return result;
  }

  void startPass() {
    const std::uint64_t perPass = files.size() + 1;
    fileOrder = makeOrder(files.size(), current.epoch * perPass);
    openFile(0);
  }

  void openFile(std::size_t index) {
    fileIndex = index;
    const auto file = static_cast<std::size_t>(fileOrder[index]);
    if (loadedFile != file || blobs.empty()) {
      loadFile(files[file]);
      loadedFile = file;
    }
    row = 0;
    rowOrder = makeOrder(static_cast<std::size_t>(rows()),
                         current.epoch * (files.size() + 1) + 1 + index);
  }

  void loadFile(const std::string &path) {
    blobs = formats::readHdf5Tops(path, names);
    for (std::size_t i = 0; i < tops.size(); ++i) {
      const auto &dims = tops[i]->dims();
      std::vector<std::int64_t> expected(dims.begin(), dims.end());
      expected[0] = blobs[i].dims[0]; // a file may have any number of rows
      if (blobs[i].dims != expected)
        throw badInput(layerText + ": dataset '" + names[i] + "' of " + path +
                       " is " + caffe::shapeText(blobs[i].dims) +
                       ", but the plan was built for rows of " +
                       caffe::shapeText(std::vector<std::int64_t>(
                           dims.begin() + 1, dims.end())));
      if (tops[i]->type() != plan::F64)
        continue;
      formats::Hdf5Reader reader(path);
      if (reader.isDouble(names[i])) {
        blobs[i].doubles = reader.readDoubles(names[i]);
        blobs[i].floats.clear();
      }
    }
  }

  void copyRows(std::size_t top, std::int64_t from, std::int64_t to,
                std::int64_t count, std::byte *memory) const {
    const formats::Blob &blob = blobs[top];
    const std::int64_t rowSize =
        static_cast<std::int64_t>(blob.size()) / rows();
    if (blob.isDouble())
      caffe::storeRows(*tops[top], to, count, &blob.doubles[from * rowSize],
                       memory);
    else
      caffe::storeRows(*tops[top], to, count, &blob.floats[from * rowSize],
                       memory);
  }

  /// Skips rows of other ranks.
  void skipRows(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      advance(1);
  }

  void advance(std::int64_t count) {
    row += count;
    current.position += static_cast<std::uint64_t>(count);
    if (row < rows())
      return;
    if (fileIndex + 1 < files.size()) {
      openFile(fileIndex + 1);
      return;
    }
    ++current.epoch;
    current.position = 0;
    startPass();
  }

  std::vector<const plan::Buffer *> tops;
  std::string layerText;
  std::vector<std::string> names;
  bool shuffled;
  /// Each group of `ranks` rows contains one row for each rank.
  std::uint64_t rank, ranks;
  caffe::RandomStream stream;
  std::vector<std::string> files;
  std::vector<std::int64_t> fileOrder; ///< of this pass
  std::size_t fileIndex = 0;           ///< position in fileOrder
  std::size_t loadedFile = 0; ///< the index in `files` of the file in `blobs`
  std::vector<formats::Blob> blobs;   ///< one per top
  std::vector<std::int64_t> rowOrder; ///< of the current file
  std::int64_t row = 0;               ///< position in rowOrder
  SourcePosition current;
};

} // namespace

static std::unique_ptr<BatchSource> openHdf5Source(const DataLayerInfo &info) {
  return std::make_unique<Hdf5Source>(info);
}

const SourceKind hdf5Source = {caffe::DataLayerSource::Hdf5, openHdf5Source};

} // namespace brew::runtime
