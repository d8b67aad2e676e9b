//===- DataSelection.h - Checks of record selections ------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

/// Checks the fields of data_param and image_data_param that
/// caffe/RecordSelection.h reads.
void checkSelection(LayerChecker &c, const caffe::DataParameter &settings);
void checkSelection(LayerChecker &c, const caffe::ImageDataParameter &settings);

} // namespace brew::prototxt
