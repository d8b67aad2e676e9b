//===- DataLayerQuery.h - Shapes of one data layer --------------*- C++ -*-===//
//
// Each kind of data layer has a file below kinds/, with the shapes of its tops
// and the files that it reads only at run time.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/DataLayerKinds.h"
#include "caffe/RecordSelection.h"
#include "frontends/prototxt/data/DataShapes.h"
#include "frontends/prototxt/data/RecordShape.h"
#include "support/Error.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::prototxt {

/// A data layer whose shapes are determined, with helpers for its kind. Throws
/// the errors of inferDataShapes().
class DataLayerQuery {
public:
  DataLayerQuery(caffe::LayerParameter &layer, const caffe::DataLayerKind &kind,
                 const std::vector<std::string> &folders,
                 const DataShapeOptions &options)
      : layer(layer), kind(kind), folders(folders), options(options),
        selection(caffe::recordSelectionOf(layer)) {}

  const DataShape *explicitShape(int top) const {
    auto entry = options.explicitShapes.find(layer.top(top));
    return entry == options.explicitShapes.end() ? nullptr : &entry->second;
  }
  void setBatch(DataShape &shape) {
    hasOwnBatch = options.batch != 0;
    if (options.batch && !shape.empty())
      shape[0] = options.batch;
  }
  /// Throws if the explicit shape of a top contradicts the inferred one.
  void checkExplicit(int top, const DataShape &shape) const;
  /// Returns the batch size of a layer. Writes the option, which takes
  /// precedence, into the settings first.
  template <typename Settings> int64_t takeBatch(Settings &settings) {
    hasOwnBatch |= options.batch != 0;
    if (options.batch)
      settings.set_batch_size(static_cast<uint32_t>(options.batch));
    const caffe::RecordSelection selection = caffe::recordSelectionOf(layer);
    if (selection.imagesPerItem == 1 &&
        settings.batch_size() % selection.recordsPerUnit() != 0)
      throw badInput("batches of " + std::to_string(settings.batch_size()) +
                     " records do not divide into pairs, which layer '" +
                     layer.name() + "' delivers (enable_pair_selection)");
    return settings.batch_size();
  }
  /// Finds a source file. If it is missing, returns nullopt when all shapes are
  /// explicit; otherwise the error names the option that replaces the source.
  std::optional<std::string> findSource(const std::string &name,
                                        const std::string &sourceKind,
                                        const std::string &shapeExample) const;

  /// Checks an explicit shape of the first top, which contains images, or clips
  /// if it has five dimensions.
  void checkExplicitImage(const DataShape &shape, size_t dims = 4) const;
  /// Sets the last two dimensions of `image` to the size of the crop, if the
  /// layer crops. Throws if the images, which `sourceName` contains, are
  /// smaller.
  void crop(DataShape &image, const std::string &sourceName) const;
  /// Checks mean_value and mean_file. `image` is channels x height x width, or
  /// channels x frames x height x width, before cropping, or after it if
  /// `isCropped`.
  void checkMean(const DataShape &image, bool isCropped,
                 const std::string &sourceName);
  /// Returns the shapes of data and labels. An item with several images stacks
  /// them along the channels.
  std::vector<DataShape> withLabels(int64_t batch, const DataShape &image);
  /// Returns channels, height and width of one image of a top.
  DataShape imageIn(const DataShape &shape) const;
  /// Returns the shape of the images at `path` for the tops, given that of the
  /// first one. `scan` reads the shapes of all images, or if its argument is
  /// true up to the first one of another shape; it is only called if Caffe
  /// would change the net's shape with each image, as in batches of one without
  /// a crop. `remedy` completes the error about several sizes.
  DataShape shapeOfImages(const DataShape &first, int64_t batch,
                          const std::string &path,
                          const std::function<ImageShapes(bool)> &scan,
                          const std::string &remedy);

  caffe::LayerParameter &layer;
  const caffe::DataLayerKind &kind;
  const std::vector<std::string> &folders;
  const DataShapeOptions &options;
  const caffe::RecordSelection selection;
  /// Whether the leading dimension comes from the layer or an option, and not
  /// from an explicit shape.
  bool hasOwnBatch = false;
  DataShapes result; ///< without the tops
};

/// Replaces the shapes in a layer's settings, so that the data reader sees the
/// same shapes.
template <typename Settings>
void storeShapes(const std::vector<DataShape> &shapes, Settings &settings) {
  settings.clear_shape();
  for (const DataShape &shape : shapes) {
    caffe::BlobShape &blobShape = *settings.add_shape();
    for (int64_t dim : shape)
      blobShape.add_dim(dim);
  }
}

/// Collects texts about missing files that a data layer reads at run time.
struct RunTimeFiles {
  const caffe::LayerParameter &layer;
  const std::vector<std::string> &folders;
  bool hasShape = false; ///< the caller provides the shape of the first top
  std::vector<std::string> texts = {};

  /// Adds a text if a file with a name is missing.
  void check(const std::string &name, const std::string &fileKind);
  /// Checks the mean file of transform_param.
  void checkMean();
};

/// A kind of data layer.
struct DataKind {
  caffe::DataLayerSource source;
  /// Returns the shapes of the tops.
  std::vector<DataShape> (*shapes)(DataLayerQuery &);
  /// Checks the files that are read at run time; null if there are none.
  void (*checkFiles)(RunTimeFiles &) = nullptr;
};

extern const DataKind annotatedKind, databaseKind, fillersKind, hdf5Kind,
    imagesKind, inputKind, labeledPixelsKind, memoryKind, textKind, videosKind,
    windowsKind;

/// Returns the kind with a source.
const DataKind &dataKindOf(caffe::DataLayerSource source);

} // namespace brew::prototxt
