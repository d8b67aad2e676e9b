//===- AttachTarget.cpp - Target description of a module ------------------===//
#include "passes/Passes.h"

#include "dialects/Target/TargetDialect.h"

namespace brew::passes {
#define GEN_PASS_DEF_ATTACHTARGET
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects::target;

namespace {
struct AttachTarget : brew::passes::impl::AttachTargetBase<AttachTarget> {
  using AttachTargetBase::AttachTargetBase;

  Attribute describeMachine() {
    MLIRContext *context = &getContext();
    if (gpuArchs.empty()) {
      if (vectorBits == 128 || vectorBits == 256 || vectorBits == 512)
        return describeCpu(context, vectorBits, bf16);
      getOperation().emitError()
          << "no processor has vectors of " << int64_t(vectorBits) << " bits";
      return {};
    }
    SmallVector<StringRef> archs;
    for (const std::string &arch : gpuArchs) {
      if (arch != "sim" && !archNumber(arch)) {
        getOperation().emitError()
            << "'" << arch << "' is not a GPU architecture";
        return {};
      }
      archs.push_back(arch);
    }
    return describeGpu(context, archs);
  }

  void runOnOperation() override {
    if (Attribute attribute = describeMachine())
      getOperation()->setAttr(kMachineAttr, attribute);
    else
      signalPassFailure();
  }
};
} // namespace
