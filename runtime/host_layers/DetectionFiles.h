//===- DetectionFiles.h - Result files of DetectionOutput -------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

/// Name of the host layer that follows a DetectionOutput with
/// save_output_param. It has two bottoms: the detections, and the locations, of
/// which it uses only the number of images. After num_test_image images it
/// writes SSD's result files: with VOC a text file for each class, with ILSVRC
/// a single text file, with COCO a JSON file. Files are written atomically.
///
/// HostLayerSetup::paramStr is the folder in which files are looked up.
inline constexpr const char *kDetectionFiles = "DetectionOutput";

const HostLayerType &detectionFilesType();

} // namespace brew::runtime
