//===- ImagePairs.h - Layers of images with labels of pixels ----*- C++ -*-===//
#pragma once

#include <cstdint>
#include <string>

namespace brew::caffe {

class LayerParameter;

/// The contents of a list's second column, which determine the labels of an
/// image's pixels.
enum class PixelLabels {
  Resized,   ///< an image of labels, resized by copying pixels (SegNet)
  Image,     ///< an image of labels, resized like the other image (DeepLab)
  Threshold, ///< such an image; labels are 1 from 128 on, else 0 (HED)
  Number,    ///< the label of all pixels (DeepLab)
  None,      ///< nothing: all pixels have the ignored label (DeepLab)
};

/// The settings of a layer that reads images and labels of their pixels.
struct ImagePairSettings {
  std::string source, rootFolder;
  std::uint32_t batchSize = 1, newHeight = 0, newWidth = 0, randSkip = 0;
  bool isColor = true, shuffle = false;
  PixelLabels labels = PixelLabels::Resized;
  int ignoredLabel = 0;
  /// Images smaller than crop_size are padded, with the mean and the ignored
  /// label.
  bool padsToCrop = false;
  /// SegNet's crop, or 0, and mirror: random in both phases.
  std::uint32_t cropHeight = 0, cropWidth = 0;
  bool mirror = false;

  bool hasLabelImages() const {
    return labels != PixelLabels::Number && labels != PixelLabels::None;
  }
};

/// Returns the settings of a layer whose source is LabeledPixels.
ImagePairSettings imagePairSettings(const LayerParameter &layer);

} // namespace brew::caffe
