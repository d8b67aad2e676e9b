//===- V1Layers.cpp - Layer types of V1 nets ------------------------------===//
#include "formats/V1Layers.h"

namespace brew::formats {

const char *v1LayerTypeName(caffe::V1LayerParameter::LayerType type) {
  using V1 = caffe::V1LayerParameter;
  switch (type) {
  case V1::NONE:
    return "";
  case V1::ABSVAL:
    return "AbsVal";
  case V1::ACCURACY:
    return "Accuracy";
  case V1::ARGMAX:
    return "ArgMax";
  case V1::BNLL:
    return "BNLL";
  case V1::CONCAT:
    return "Concat";
  case V1::CONTRASTIVE_LOSS:
    return "ContrastiveLoss";
  case V1::CROP:
    return "Crop";
  case V1::CONVOLUTION:
    return "Convolution";
  case V1::CONVOLUTION3D:
    return "Convolution3D";
  case V1::DATA:
    return "Data";
  case V1::DECONVOLUTION:
    return "Deconvolution";
  case V1::DECONVOLUTION3D:
    return "Deconvolution3D";
  case V1::DROPOUT:
    return "Dropout";
  case V1::DUMMY_DATA:
    return "DummyData";
  case V1::ELTWISE:
    return "Eltwise";
  case V1::EUCLIDEAN_LOSS:
    return "EuclideanLoss";
  case V1::EXP:
    return "Exp";
  case V1::FLATTEN:
    return "Flatten";
  case V1::HDF5_DATA:
    return "HDF5Data";
  case V1::HDF5_OUTPUT:
    return "HDF5Output";
  case V1::HINGE_LOSS:
    return "HingeLoss";
  case V1::IM2COL:
    return "Im2col";
  case V1::IMAGE_DATA:
    return "ImageData";
  case V1::INFOGAIN_LOSS:
    return "InfogainLoss";
  case V1::INNER_PRODUCT:
    return "InnerProduct";
  case V1::LRN:
    return "LRN";
  case V1::MEMORY_DATA:
    return "MemoryData";
  case V1::MULTINOMIAL_LOGISTIC_LOSS:
    return "MultinomialLogisticLoss";
  case V1::MVN:
    return "MVN";
  case V1::POOLING:
    return "Pooling";
  case V1::POOLING3D:
    return "Pooling3D";
  case V1::POWER:
    return "Power";
  case V1::RELU:
    return "ReLU";
  case V1::RESIZE:
    return "Resize";
  case V1::SIGMOID:
    return "Sigmoid";
  case V1::SIGMOID_CROSS_ENTROPY_LOSS:
    return "SigmoidCrossEntropyLoss";
  case V1::SILENCE:
    return "Silence";
  case V1::SLICE:
    return "Slice";
  case V1::SOFTMAX:
    return "Softmax";
  case V1::SOFTMAX_LOSS:
    return "SoftmaxWithLoss";
  case V1::SPLIT:
    return "Split";
  case V1::TANH:
    return "TanH";
  case V1::THRESHOLD:
    return "Threshold";
  case V1::TRIPLET_LOSS:
    return "TripletLoss";
  case V1::VIDEO_DATA:
    return "VideoData";
  case V1::WINDOW_DATA:
    return "WindowData";
  }
  return ""; // unreachable: protobuf parses other values as unknown fields
}

} // namespace brew::formats
