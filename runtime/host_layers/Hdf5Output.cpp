//===- Hdf5Output.cpp - Layer that writes blobs to an HDF5 file -----------===//

#include "runtime/host_layers/Hdf5Output.h"

#include "formats/caffe.pb.h"
#include "formats/hdf5/Hdf5.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

#include <algorithm>

namespace brew::runtime {
namespace {

/// The accumulated rows of one bottom.
struct Rows {
  const char *dataset;
  std::vector<std::int64_t> dims; ///< of a batch; always four
  std::vector<float> floats;
  std::vector<double> doubles;

  void append(const HostLayerBlob &blob, bool f64) {
    if (f64) {
      const auto *values = static_cast<const double *>(blob.values);
      doubles.insert(doubles.end(), values, values + blob.count);
    } else {
      const auto *values = static_cast<const float *>(blob.values);
      floats.insert(floats.end(), values, values + blob.count);
    }
  }

  void write(formats::Hdf5Writer &file, std::int64_t batches, bool f64) const {
    std::vector<std::int64_t> fileDims = dims;
    fileDims[0] *= batches;
    if (f64)
      file.write(dataset, fileDims, doubles.data());
    else
      file.write(dataset, fileDims, floats.data());
  }
};

class Hdf5Output : public HostLayer {
public:
  explicit Hdf5Output(const HostLayerSetup &setup) {
    caffe::LayerParameter layer;
    if (!google::protobuf::TextFormat::ParseFromString(setup.settings,
                                                       &layer) ||
        layer.hdf5_output_param().file_name().empty() ||
        setup.bottoms.size() != 2)
      throw badInput("damaged plan: not the settings of a file to write");
    path = layer.hdf5_output_param().file_name();
    for (std::size_t i = 0; i < 2; ++i) {
      std::vector<std::int64_t> dims = setup.bottoms[i];
      if (dims.size() > 4)
        throw badInput("bottoms have at most four axes");
      dims.resize(4, 1);
      rows[i].dims = dims;
    }
    if (rows[0].dims[0] != rows[1].dims[0])
      throw badInput("the bottoms have " + std::to_string(rows[0].dims[0]) +
                     " and " + std::to_string(rows[1].dims[0]) +
                     " rows; the numbers must be equal");
  }

  void forward(HostLayerArguments &arguments) override {
    for (std::size_t i = 0; i < 2; ++i)
      rows[i].append(arguments.bottoms[i], arguments.f64);
    ++batches;
    formats::Hdf5Writer file(path);
    for (const Rows &bottomRows : rows)
      bottomRows.write(file, batches, arguments.f64);
    file.commit();
  }

  /// Sets the gradients of the bottoms to zero.
  void backward(HostLayerArguments &arguments) override {
    for (const HostLayerBlob &bottom : arguments.bottoms) {
      if (!bottom.gradient)
        continue;
      if (arguments.f64)
        std::fill_n(static_cast<double *>(bottom.gradient), bottom.count, 0.0);
      else
        std::fill_n(static_cast<float *>(bottom.gradient), bottom.count, 0.f);
    }
  }

private:
  std::string path;
  std::int64_t batches = 0;
  Rows rows[2] = {{"data", {}, {}, {}}, {"label", {}, {}, {}}};
};

class Hdf5OutputType : public HostLayerType {
public:
  bool hasBackward() const override { return true; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<Hdf5Output>(setup);
  }
};

} // namespace

const HostLayerType &hdf5OutputType() {
  static const Hdf5OutputType type;
  return type;
}

} // namespace brew::runtime
