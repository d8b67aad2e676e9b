//===- ImagePairs.cpp - Layers of images with labels of pixels ------------===//
#include "caffe/ImagePairs.h"

#include "formats/caffe.pb.h"

namespace brew::caffe {

template <typename Settings>
static ImagePairSettings commonSettings(const Settings &settings) {
  ImagePairSettings result;
  result.source = settings.source();
  result.rootFolder = settings.root_folder();
  result.batchSize = settings.batch_size();
  result.newHeight = settings.new_height();
  result.newWidth = settings.new_width();
  result.randSkip = settings.rand_skip();
  result.isColor = settings.is_color();
  result.shuffle = settings.shuffle();
  return result;
}

ImagePairSettings imagePairSettings(const LayerParameter &layer) {
  if (layer.type() == "DenseImageData") {
    const DenseImageDataParameter &settings = layer.dense_image_data_param();
    ImagePairSettings result = commonSettings(settings);
    result.cropHeight = settings.crop_height();
    result.cropWidth = settings.crop_width();
    result.mirror = settings.mirror();
    return result;
  }
  const ImageDataParameter &settings = layer.image_data_param();
  ImagePairSettings result = commonSettings(settings);
  if (layer.type() == "ImageLabelmapData") {
    result.labels = PixelLabels::Threshold;
    return result;
  }
  result.labels =
      settings.label_type() == ImageDataParameter::PIXEL   ? PixelLabels::Image
      : settings.label_type() == ImageDataParameter::IMAGE ? PixelLabels::Number
                                                           : PixelLabels::None;
  result.ignoredLabel = settings.ignore_label();
  result.padsToCrop = true;
  return result;
}

} // namespace brew::caffe
