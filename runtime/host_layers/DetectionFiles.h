//===- DetectionFiles.h - Result files of DetectionOutput -------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

/// The host layer that stands behind a DetectionOutput with save_output_param:
/// it reads the detections and the locations (of which only the number of
/// images counts) and writes, once num_test_image images have come, what SSD
/// does: with VOC a text file for each class, with ILSVRC one for all, with
/// COCO a JSON file. Files are written whole or not at all.
///
/// HostLayerSetup::paramStr is the folder in which files are looked up.
inline constexpr const char *kDetectionFiles = "DetectionOutput";

const HostLayerType &detectionFilesType();

} // namespace brew::runtime
