//===- DataLayers.h - Common functions of data layers -----------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

/// Checks data_param and transform_param.
void checkDatabase(LayerChecker &c);
/// Checks the fields of data_param and image_data_param that
/// caffe/RecordSelection.h reads.
void checkSelection(LayerChecker &c, const caffe::DataParameter &settings);
void checkSelection(LayerChecker &c, const caffe::ImageDataParameter &settings);

} // namespace brew::prototxt
