//===- DatabaseSource.cpp - Data: batches from LMDB or LevelDB ------------===//

#include "formats/Database.h"
#include "formats/Error.h"
#include "formats/PathLookup.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/ImageTransformer.h"
#include "runtime/weights/Layout.h"
#include "runtime/log/Log.h"

namespace brew::runtime {
namespace {

class DatabaseSource : public BatchSource {
public:
  explicit DatabaseSource(const FeedInfo &info)
      : tops(info.tops), layerText("layer '" + info.layer.name() + "' (Data)"),
        transformer(info) {
    const caffe::DataParameter &parameter = info.layer.data_param();
    if (tops.empty() || tops.size() > 2)
      throw badInput(layerText + ": has " + std::to_string(tops.size()) +
                     " tops; it gives data and, if wanted, labels");
    if (tops[0]->dims_size() != 4 || tops[0]->dims(0) < 1 ||
        (tops.size() == 2 && elementCount(*tops[1]) != tops[0]->dims(0)))
      throw badInput(layerText + ": the plan's buffers of its tops do not have "
                                 "the shapes of images and labels");
    const auto backend = parameter.backend() == caffe::DataParameter::LEVELDB
                             ? formats::DbBackend::LevelDb
                             : formats::DbBackend::Lmdb;
    const std::string path =
        formats::requirePath(parameter.source(), info.folders,
                             std::string(formats::backendName(backend)) +
                                 " database of " + layerText);
    reader = formats::DbReader::open(path, backend);
    log::info(log::site::openDatabase, backend == formats::DbBackend::Lmdb
                                           ? "Opened lmdb " + path
                                           : "Opened leveldb " + path);
    cursor = reader->newCursor();
    if (parameter.rand_skip())
      skip(RandomStream(info.seed, "rand_skip " + info.stream)
               .below(0, parameter.rand_skip()));
  }

  void read(const std::vector<std::byte *> &memory) override {
    const std::int64_t batch = tops[0]->dims(0);
    const std::uint64_t epochBefore = at.epoch;
    labels.resize(static_cast<std::size_t>(batch));
    for (std::int64_t row = 0; row < batch; ++row) {
      const std::string where =
          reader->path() + ", record '" + std::string(cursor->key()) + "'";
      formats::decodeDatum(cursor->value(), transformer.color(), where, image);
      if (memory[0]) {
        if (tops[0]->type() == plan::F64)
          place(row, where, doubles, memory[0]);
        else
          place(row, where, floats, memory[0]);
      }
      labels[static_cast<std::size_t>(row)] = static_cast<float>(image.label);
      ++at.records;
      advance();
    }
    // Once for a batch, however small the database.
    if (at.epoch != epochBefore)
      log::info(log::site::databaseWrapped,
                "Restarting data prefetching from start.");
    if (tops.size() == 2 && memory[1])
      store(*tops[1], labels.data(), memory[1]);
  }

  SourcePosition position() const override { return at; }

  void seek(const SourcePosition &target) override {
    cursor->rewind();
    at = target;
    for (std::uint64_t i = 0; i < target.position; ++i) {
      cursor->next();
      if (!cursor->valid())
        throw badInput(layerText + ": the solver state is at record " +
                       std::to_string(target.position) + " of '" +
                       reader->path() + "', which has only " +
                       std::to_string(i + 1));
    }
  }

private:
  /// Transforms the current image into row `row` of the batch.
  template <typename Value>
  void place(std::int64_t row, const std::string &where,
             std::vector<Value> &values, std::byte *memory) {
    const std::array<int, 3> shape = transformer.resultShape(image);
    const auto &dims = tops[0]->dims();
    if (dims.Get(1) != shape[0] || dims.Get(2) != shape[1] ||
        dims.Get(3) != shape[2])
      throw badInput(
          layerText + ": " + where + " gives an image of " + shapeText(shape) +
          ", but the plan was built for images of " +
          shapeText(std::vector<std::int64_t>(dims.begin() + 1, dims.end())));
    values.resize(std::size_t(shape[0]) * shape[1] * shape[2]);
    transformer.apply(image, at.records, where, values.data());
    storeRows(*tops[0], row, 1, values.data(), memory);
  }

  void advance() {
    cursor->next();
    ++at.position;
    if (cursor->valid())
      return;
    cursor->rewind();
    at.position = 0;
    ++at.epoch;
  }

  void skip(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      advance();
  }

  std::vector<const plan::Buffer *> tops;
  std::string layerText;
  ImageTransformer transformer;
  std::unique_ptr<formats::DbReader> reader;
  std::unique_ptr<formats::DbCursor> cursor;
  SourcePosition at;
  formats::ImageRecord image;
  std::vector<float> floats, labels;
  std::vector<double> doubles;
};

} // namespace

std::unique_ptr<BatchSource> openDatabaseSource(const FeedInfo &info) {
  return std::make_unique<DatabaseSource>(info);
}

} // namespace brew::runtime
