//===- TargetDialect.cpp - The machine that a module is compiled for ------===//
#include "dialects/Target/TargetDialect.h"

#include "dialects/Target/DefaultCpu.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include "dialects/Target/TargetDialect.cpp.inc"
#include "dialects/Target/TargetEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Target/TargetAttributes.cpp.inc"

using namespace mlir;
using namespace brew::dialects::target;

void TargetDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Target/TargetAttributes.cpp.inc"
      >();
}

bool LibraryAttr::isFasterIn(Precision precision) const {
  switch (precision) {
  case Precision::F32:
    return false;
  case Precision::TF32:
    return getTf32();
  case Precision::BF16:
    return getBf16();
  case Precision::F16:
    return getF16();
  }
  llvm_unreachable("not a precision");
}

LogicalResult
TargetDialect::verifyOperationAttribute(Operation *op,
                                        NamedAttribute attribute) {
  if (attribute.getName() != kMachineAttr)
    return op->emitOpError("has the unknown attribute '")
           << attribute.getName().getValue() << "'";
  if (!isa<ModuleOp>(op))
    return op->emitOpError("cannot have '")
           << kMachineAttr << "', which belongs to a module";
  if (!isa<CpuAttr, GpuAttr>(attribute.getValue()))
    return op->emitOpError("needs a #target.cpu or a #target.gpu as '")
           << kMachineAttr << "'";
  return success();
}

LogicalResult CpuAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t vectorBits, int64_t l2Bytes,
                              int64_t cores, LibraryAttr, int64_t clockMhz) {
  if (vectorBits < 128 || !llvm::isPowerOf2_64(vectorBits))
    return emitError() << "vector_bits must be a power of two from 128 on";
  if (l2Bytes < 1 || cores < 1)
    return emitError() << "a processor has a cache and a core";
  if (clockMhz < 1)
    return emitError() << "clock_mhz must be positive";
  return success();
}

LogicalResult
GpuAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef,
                int64_t multiprocessors, int64_t threads, int64_t blockThreads,
                int64_t sharedBytes, int64_t cacheBytes, int64_t memoryBytes,
                int64_t operations, LibraryAttr, int64_t clockMhz,
                int64_t doubleOperations, int64_t productOperations) {
  if (multiprocessors < 1 || sharedBytes < 1 || cacheBytes < 1 ||
      memoryBytes < 1 || operations < 1 || clockMhz < 1 ||
      doubleOperations < 0 || productOperations < 0)
    return emitError() << "the numbers of a GPU must be positive";
  if (blockThreads < 256 || !llvm::isPowerOf2_64(blockThreads) ||
      threads < blockThreads)
    return emitError() << "block_threads must be a power of two from 256 on, "
                          "and no more than threads";
  return success();
}

static Attribute machineOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  for (op = op->getParentOp(); op; op = op->getParentOp())
    if (auto outer = dyn_cast<ModuleOp>(op))
      module = outer;
  return module ? module->getAttr(kMachineAttr) : Attribute();
}

bool brew::dialects::target::isForGpu(Operation *op) {
  return isa_and_nonnull<GpuAttr>(machineOf(op));
}

CpuAttr brew::dialects::target::cpuOf(Operation *op) {
  if (Attribute machine = machineOf(op))
    return dyn_cast<CpuAttr>(machine);
  return describeCpu(op->getContext(), kDefaultVectorBits, kDefaultBf16);
}

GpuAttr brew::dialects::target::gpuOf(Operation *op) {
  if (Attribute machine = machineOf(op))
    return dyn_cast<GpuAttr>(machine);
  return describeGpu(op->getContext(), {"sm_90"});
}

LibraryAttr brew::dialects::target::libraryOf(Operation *op) {
  return isForGpu(op) ? gpuOf(op).getLibrary() : cpuOf(op).getLibrary();
}
