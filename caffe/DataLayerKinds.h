//===- DataLayerKinds.h - Types of data layers ------------------*- C++ -*-===//
//
// A data input of a plan names the type of its layer. This table is the only
// code of compiler and runtime that knows these types by name.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <string_view>

namespace brew::caffe {
class LayerParameter;
}

namespace brew::caffe {

/// A type whose images have several labels (caffe-windows).
inline constexpr char kMultiLabelImageData[] = "MultiLabelImageData";

/// The source of a data layer's values.
enum class DataLayerSource {
  Input,         ///< the caller; shapes from input_param
  Memory,        ///< the caller; shapes from memory_data_param
  Database,      ///< records of a database: images and their labels
  Annotated,     ///< records of a database: images and the objects in them
  Images,        ///< image files of a list, and their labels
  LabeledPixels, ///< image files of a list, and images of their pixels' labels
  Videos,        ///< clips of videos: their frames are image files
  Windows,       ///< regions of images that a file lists, and their labels
  Hdf5,          ///< rows of HDF5 files
  Text,          ///< sections of a text, as numbers of characters
  Fillers,       ///< the fillers of dummy_data_param
};

struct DataLayerKind {
  const char *type; ///< LayerParameter.type
  DataLayerSource source;
  /// A reader writes the tops before every run. Otherwise they are written once
  /// and no step may reuse their bytes.
  bool isRefilled = false;

  /// Returns whether only the caller can provide the values.
  bool isFromCaller() const {
    return source == DataLayerSource::Input ||
           source == DataLayerSource::Memory;
  }
  /// Returns whether the first top contains images to which transform_param
  /// applies and which a device may convert.
  bool hasImages() const {
    return source == DataLayerSource::Database ||
           source == DataLayerSource::Images;
  }
  /// Returns whether top `index` contains one label per record.
  bool isLabel(int index) const {
    return (hasImages() || source == DataLayerSource::Videos ||
            source == DataLayerSource::Windows) &&
           index == 1;
  }
};

/// Returns the kind of a layer type, or null if it is not a data layer.
const DataLayerKind *findDataLayerKind(std::string_view type);

/// Returns whether a reader writes top `index` before every run: all tops of a
/// kind that is refilled, and tops of DummyData whose fillers are not constant.
/// Other tops are written once and no step may reuse their bytes.
bool isRefilled(const DataLayerKind &kind, const caffe::LayerParameter &layer,
                int index);

/// Returns the layer type for `source`.
std::string dataLayerType(DataLayerSource source);

} // namespace brew::caffe
