//===- Filler.cpp - Initialisation of parameters --------------------------===//
#include "dialects/Plan/MessageStorage.h"
#include "dialects/Plan/PlanDialect.h"

using namespace mlir;
namespace caffe = brew::caffe;
using namespace brew::dialects::plan;

LogicalResult FillerAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef text) {
  caffe::FillerParameter filler;
  if (!brew::dialects::plan::detail::parseMessage(text, filler))
    return emitError() << "a parameter's filler is not a FillerParameter";
  return success();
}

FillerAttr FillerAttr::get(MLIRContext *context,
                           const caffe::FillerParameter &filler) {
  return get(context, StringRef(filler.ShortDebugString()));
}

StringRef FillerAttr::getText() const { return getImpl()->text; }

const caffe::FillerParameter &FillerAttr::getFiller() const {
  return getImpl()->message;
}
