//===- RuntimeLayers.h - Shapes of the runtime's host layers ----*- C++ -*-===//
#pragma once

#include "dialects/Brew/HostLayers.h"
#include "formats/caffe.pb.h"

namespace brew::dialects {

// Helpers of shape functions, which throw brew::Error.

brew::caffe::LayerParameter settingsOf(const HostLayerSetup &setup);
std::string shapeText(const HostLayerSetup &setup, size_t bottom);
/// Returns the number of elements over the dimensions from `axis` on.
int64_t countFrom(llvm::ArrayRef<int64_t> shape, size_t axis);
void requireBottoms(const HostLayerSetup &setup, size_t count);
/// Throws unless a bottom consists of rows of `width` numbers: 1 x 1 x rows x
/// width.
void requireRows(const HostLayerSetup &setup, size_t bottom, int64_t width,
                 const char *name);

constexpr int64_t kBoxRow = 8; // image, label, instance, corners, difficult
constexpr int64_t kDetectionRow = 7; // image, label, score, corners

// Shape functions of the layers of YOLO.
Shapes evalDetectionShapes(const HostLayerSetup &setup);
Shapes regionLossShapes(const HostLayerSetup &setup);
Shapes yoloDetectionShapes(const HostLayerSetup &setup);
Shapes yolov3DetectionShapes(const HostLayerSetup &setup);
Shapes yolov3Shapes(const HostLayerSetup &setup);

} // namespace brew::dialects
