//===- PinBlobs.cpp - Blobs that can be read after a run ------------------===//
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/DiagnosticMetadata.h"
#include "dialects/Brew/layers/loss/ElementLoss.h"
#include "passes/Passes.h"
#include "passes/analysis/RepeatableBackward.h"
#include "support/Suggest.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

namespace brew::passes {
#define GEN_PASS_DEF_PINBLOBS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::plan::BlobValue;

namespace {
struct PinBlobs : brew::passes::impl::PinBlobsBase<PinBlobs> {
  using PinBlobsBase::PinBlobsBase;

  void runOnOperation() override {
    bool pinsAll = llvm::is_contained(blobs, "all");
    llvm::StringSet<> found;
    std::vector<std::string>
        differentiated; // blobs that can have an output gradient
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (pinsAll)
        program->setAttr(brew::passes::kRepeatableBackwardAttr,
                         UnitAttr::get(&getContext()));
      // The last version of an in-place blob counts.
      llvm::MapVector<StringRef, Value> lastVersions;
      program.walk([&](Operation *op) {
        if (auto tops = op->getAttrOfType<ArrayAttr>("tops"))
          for (auto [name, result] :
               llvm::zip(tops.getAsRange<StringAttr>(), op->getResults()))
            if (!name.getValue().empty()) // unnamed: internal to a layer
              lastVersions[name.getValue()] = result;
      });
      llvm::StringSet<> memoryLossBlobs;
      if (program.getDifferentiate())
        program.walk([&](MemoryLossOp loss) {
          for (StringRef blob : loss.getBlobs().getAsValueRange<StringAttr>())
            memoryLossBlobs.insert(blob);
        });
      auto b = OpBuilder::atBlockEnd(&program.getBody().front());
      for (auto [name, value] : lastVersions) {
        bool hasOutputGradient = false;
        if (program.getDifferentiate()) {
          differentiated.push_back(name.str());
          hasOutputGradient = llvm::is_contained(outputGradients, name) ||
                              memoryLossBlobs.contains(name);
        }
        if (llvm::is_contained(blobs, name))
          found.insert(name);
        else if (!pinsAll && !hasOutputGradient)
          continue;
        PinOp::create(b, value.getLoc(), value, BlobValue::Data, name);
      }
    }
    for (StringRef name : outputGradients)
      if (!llvm::is_contained(differentiated, name))
        return fail("--output-gradient: the net that learns has no blob '" +
                    name.str() + "'" + brew::didYouMean(name, differentiated));
    if (pinsAll)
      return;
    for (StringRef name : blobs)
      if (!found.contains(name))
        return fail("--keep: the net has no blob '" + name.str() + "'");
  }

private:
  /// Reports an error about the command line, without a prototxt location.
  void fail(const std::string &text) {
    auto error = emitError(UnknownLoc::get(&getContext()));
    error << text;
    setExitStatus(error, brew::ExitStatus::Usage);
    signalPassFailure();
  }
};
} // namespace
