//===- DataLayerKinds.h - What brings data into a program ------------*- C++ -*-===//
//
// A feed of a plan names the type of the layer it comes from; this is all that
// compiler and runtime know of these types by name.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <string_view>

namespace brew::caffe {
class LayerParameter;
}

namespace brew::caffe {

/// Where a feed's values come from.
enum class DataLayerSource {
  Input,     ///< the caller; shapes as input_param says
  Memory,    ///< the caller; shapes as memory_data_param says
  Database,  ///< records of a database: images, and their labels
  Annotated, ///< likewise, with the objects in the images
  Images,    ///< image files of a list, and their labels
  Windows,   ///< regions of images that a file lists, and their labels
  Hdf5,      ///< rows of HDF5 files
  Fillers,   ///< fillers
  Matrix,    ///< a file of one blob
  Weights,   ///< weights of classes, which the layer's settings hold
  RandomKey, ///< a key of random numbers, another one for every run
};

struct DataLayerKind {
  const char *type; ///< LayerParameter's
  DataLayerSource source;
  /// A reader writes the tops anew before every run; else what is set once
  /// must keep its bytes.
  bool isRefilled = false;

  /// Values that nobody but the caller has.
  bool isFromCaller() const {
    return source == DataLayerSource::Input || source == DataLayerSource::Memory;
  }
  /// No data: a part of the net's settings.
  bool isNetConstant() const {
    return source == DataLayerSource::Matrix || source == DataLayerSource::Weights;
  }
  /// Images that transform_param converts, which a device may do.
  bool hasImages() const {
    return source == DataLayerSource::Database || source == DataLayerSource::Images;
  }
  /// Whether top `index` holds one value per record, whatever its source.
  bool isLabel(int index) const {
    return (hasImages() || source == DataLayerSource::Windows) && index == 1;
  }
};

/// The kind of that layer type, or null.
const DataLayerKind *findDataLayerKind(std::string_view type);

/// Whether a reader writes top `index` anew before every run, else what is set
/// once must keep its bytes: tops of a kind that is refilled, and those of
/// DummyData whose fillers are no constants.
bool isRefilled(const DataLayerKind &kind, const caffe::LayerParameter &layer,
                int index);

/// The layer type of what comes from `source`.
std::string dataLayerType(DataLayerSource source);

} // namespace brew::caffe
