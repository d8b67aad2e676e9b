//===- PlanAttributes.h - Attributes of the plan dialect --------*- C++ -*-===//
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

namespace brew::caffe {
class FillerParameter;
class LayerParameter;
} // namespace brew::caffe
namespace brew::dialects::plan::detail {
struct DataInputConfigAttrStorage;
struct FillerAttrStorage;
} // namespace brew::dialects::plan::detail

#include "dialects/Plan/PlanEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Plan/PlanAttributes.h.inc"

namespace brew::dialects::plan {
/// Parse and print the attribute dictionary of a data input op, without `layer`
/// and `kind`. The `config` attribute is written as a string.
mlir::ParseResult parseDataInputDict(mlir::OpAsmParser &parser,
                                     mlir::NamedAttrList &attributes);
void printDataInputDict(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                        mlir::DictionaryAttr attributes);
} // namespace brew::dialects::plan
