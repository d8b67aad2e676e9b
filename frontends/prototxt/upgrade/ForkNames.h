//===- ForkNames.h - Names of Caffe's forks ---------------------*- C++ -*-===//
//
// The names by which diagnostics refer to Caffe's forks, for the tables of
// ForkFields.cpp and ForkLayerTypes.cpp, and a search in such tables.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace brew::prototxt {

inline constexpr char c3D[] = "C3D (facebook/C3D)";
inline constexpr char caffectc[] = "caffe-ctc (ChWick)";
inline constexpr char caffeface[] = "caffe-face (ydwen)";
inline constexpr char caffelstm[] = "caffe-lstm (junhyukoh)";
inline constexpr char caffeocr[] = "caffe_ocr (senlinuc)";
inline constexpr char caffesphereface[] = "caffe-sphereface (wy1iu)";
inline constexpr char caffewindows[] = "caffe-windows (happynear)";
inline constexpr char convolutionalPoseMachines[] =
    "Convolutional Pose Machines (shihenw/caffe)";
inline constexpr char crfrnn[] = "CRF-RNN (torrvision)";
inline constexpr char crnncaffe[] = "crnn.caffe (yalecyu)";
inline constexpr char deeplab[] = "DeepLab";
inline constexpr char deepskeleton[] = "DeepSkeleton (zeakey/DeepSkeleton)";
inline constexpr char developmentVersionsBeforeCaffe10[] =
    "development versions before Caffe 1.0";
inline constexpr char expcaffe[] = "exp_caffe (pl8787)";
inline constexpr char fasterRcnn[] =
    "Faster R-CNN (rbgirshick/caffe-fast-rcnn)";
inline constexpr char fcn[] = "FCN (longjon/caffe, branch future)";
inline constexpr char flownet2[] = "FlowNet 2 (lmb-freiburg)";
inline constexpr char intelCaffe[] = "Intel Caffe";
inline constexpr char intelTrainingToolbox[] =
    "Intel's training toolbox (openvinotoolkit/training_toolbox_caffe)";
inline constexpr char iresnet[] = "iResNet (leonzfa)";
inline constexpr char micronet[] = "MicroNet (Zeitzmz/micronet-caffe)";
inline constexpr char mobilenetDepthwisePorts[] = "MobileNet depthwise ports";
inline constexpr char mobilenetyolo[] = "MobileNet-YOLO (eric612)";
inline constexpr char mycaffe[] = "MyCaffe";
inline constexpr char nvidiaCaffe[] = "NVIDIA Caffe";
inline constexpr char pspnet[] = "PSPNet (hszhao)";
inline constexpr char rfcn[] = "R-FCN (daijifeng001/caffe-rfcn)";
inline constexpr char ristretto[] = "Ristretto (pmgysel/caffe)";
inline constexpr char segnet[] = "SegNet (alexgkendall/caffe-segnet)";
inline constexpr char senet[] = "SENet (hujie-frank)";
inline constexpr char shufflenetPorts[] = "ShuffleNet ports";
inline constexpr char ssd[] = "SSD (weiliu89/caffe)";
inline constexpr char synopsys[] = "Synopsys Caffe";

/// Returns whether `word` is one of the space-separated `words`.
inline bool hasWord(const char *words, const std::string &word) {
  return (" " + std::string(words) + " ").find(" " + word + " ") !=
         std::string::npos;
}

} // namespace brew::prototxt
