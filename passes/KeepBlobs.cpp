//===- KeepBlobs.cpp - Pins blobs so that they can be read after a run
//-----===//
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Diagnostics.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

namespace brew {
#define GEN_PASS_DEF_KEEPBLOBS
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

namespace {
struct KeepBlobs : brew::impl::KeepBlobsBase<KeepBlobs> {
  using KeepBlobsBase::KeepBlobsBase;

  void runOnOperation() override {
    bool all = llvm::is_contained(blobs, "all");
    llvm::StringSet<> found;
    for (auto program : getOperation().getOps<ProgramOp>()) {
      // Later versions of an in-place blob replace earlier ones.
      llvm::MapVector<StringRef, Value> last;
      program.walk([&](Operation *op) {
        if (auto tops = op->getAttrOfType<ArrayAttr>("tops"))
          for (auto [name, result] :
               llvm::zip(tops.getAsRange<StringAttr>(), op->getResults()))
            last[name.getValue()] = result;
      });
      auto b = OpBuilder::atBlockEnd(&program.getBody().front());
      for (auto [name, value] : last) {
        if (!all && !llvm::is_contained(blobs, name))
          continue;
        found.insert(name);
        KeepOp::create(b, value.getLoc(), value, "data", name);
      }
    }
    if (all)
      return;
    for (StringRef name : blobs)
      if (!found.contains(name)) {
        // The command line is wrong, not a place in the prototxt.
        auto error = emitError(UnknownLoc::get(&getContext()));
        error << "--keep: the net has no blob '" << name << "'";
        setExitStatus(error, brew::ExitStatus::Usage);
        return signalPassFailure();
      }
  }
};
} // namespace
