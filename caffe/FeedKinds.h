//===- FeedKinds.h - What brings data into a program ------------*- C++ -*-===//
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
enum class FeedSource {
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

struct FeedKind {
  const char *type; ///< LayerParameter's
  FeedSource source;
  /// A reader writes the tops anew before every run; else what is set once
  /// must keep its bytes.
  bool isRefilled = false;

  /// Values that nobody but the caller has.
  bool isCallers() const {
    return source == FeedSource::Input || source == FeedSource::Memory;
  }
  /// No data: a part of the net's settings.
  bool isOfTheNet() const {
    return source == FeedSource::Matrix || source == FeedSource::Weights;
  }
  /// Images that transform_param converts, which a device may do.
  bool hasImages() const {
    return source == FeedSource::Database || source == FeedSource::Images;
  }
  /// Whether top `index` holds one value per record, whatever its source.
  bool isLabel(int index) const {
    return (hasImages() || source == FeedSource::Windows) && index == 1;
  }
};

/// The kind of that layer type, or null.
const FeedKind *findFeedKind(std::string_view type);

/// Whether a reader writes top `index` anew before every run, else what is set
/// once must keep its bytes: tops of a kind that is refilled, and those of
/// DummyData whose fillers are no constants.
bool isRefilled(const FeedKind &kind, const caffe::LayerParameter &layer,
                int index);

/// The layer type of what comes from `source`.
std::string feedTypeOf(FeedSource source);

} // namespace brew::caffe
