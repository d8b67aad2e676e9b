//===- WinogradScratch.cpp - Scratch memory of Winograd's algorithms ------===//
#include "compiler/WinogradScratch.h"

#include "compiler/manifest/ManifestBuilder.h"
#include "dialects/Target/TargetDialect.h"
#include "plan/Contract.h"
#include "plan/Winograd.h"

using namespace brew;
using namespace brew::compiler;

namespace {

plan::Buffer toPlanBuffer(mlir::Value value) {
  plan::Buffer buffer;
  setBufferType(llvm::cast<mlir::MemRefType>(value.getType()), buffer);
  return buffer;
}

/// Returns the maximum size of the scratch memory of a call over 1 to `threads`
/// threads. More threads use larger blocks, but may make another algorithm the
/// fastest.
int64_t maxScratchBytes(dialects::plan::ConvolutionOp call, bool isDeployed,
                        int64_t threads) {
  if (call.getKernel().size() != 2)
    return 0;
  plan::ConvolutionCall planCall;
  planCall.set_direction(static_cast<plan::Direction>(call.getDirection()));
  planCall.set_group(call.getGroup());
  setWindow(call, *planCall.mutable_window());
  const plan::Buffer x = toPlanBuffer(call.getX()),
                     w = toPlanBuffer(call.getW()),
                     y = toPlanBuffer(call.getY());
  std::optional<plan::Buffer> b;
  if (call.getB())
    b = toPlanBuffer(call.getB());
  if (!plan::winograd::isApplicable(planCall, x, w, b ? &*b : nullptr, y))
    return 0;
  auto weights = call.getW().getDefiningOp<dialects::plan::BufferOp>();
  const bool isConstant =
      isDeployed && weights.getArena() == dialects::plan::ArenaKind::Parameters;
  uint64_t maxBytes = 0;
  for (int64_t count = 1; count <= threads; ++count) {
    const auto size = plan::winograd::convolutionSizeOf(
        planCall, x, y, isConstant, static_cast<int>(count));
    if (const int64_t tile = plan::winograd::fastestTile(size))
      maxBytes = std::max(
          maxBytes, plan::winograd::scratchBytes(size, tile, b.has_value()));
  }
  return static_cast<int64_t>(maxBytes);
}

} // namespace

int64_t compiler::winogradScratchBytes(dialects::plan::ProgramOp program) {
  const bool isDeployed = program.getSymName() == plan::programs::kDeploy;
  const int64_t threads = dialects::target::cpuOf(program).getCores();
  int64_t maxBytes = 0;
  program.walk([&](dialects::plan::ConvolutionOp call) {
    maxBytes = std::max(maxBytes, maxScratchBytes(call, isDeployed, threads));
  });
  return maxBytes;
}

int64_t compiler::winogradScratchBytes(mlir::ModuleOp plan) {
  int64_t maxBytes = 0;
  for (auto program : plan.getOps<dialects::plan::ProgramOp>())
    maxBytes = std::max(maxBytes, winogradScratchBytes(program));
  return maxBytes;
}
