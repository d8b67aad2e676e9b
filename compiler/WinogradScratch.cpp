//===- WinogradScratch.cpp - Scratch memory of Winograd's algorithms ------===//
#include "compiler/WinogradScratch.h"

#include "compiler/manifest/ManifestBuilder.h"
#include "dialects/Target/TargetDialect.h"
#include "plan/Contract.h"
#include "plan/Winograd.h"

using namespace brew;
using namespace brew::compiler;

namespace {

plan::Buffer described(mlir::Value value) {
  plan::Buffer buffer;
  setBufferType(llvm::cast<mlir::MemRefType>(value.getType()), buffer);
  return buffer;
}

/// Returns the maximum scratch of a call over 1 to `threads` threads. More
/// threads use larger blocks, but may make another algorithm the fastest.
int64_t scratchOf(dialects::plan::ConvolutionOp call, bool isDeployed,
                  int64_t threads) {
  if (call.getKernel().size() != 2)
    return 0;
  plan::ConvolutionCall described;
  described.set_direction(static_cast<plan::Direction>(call.getDirection()));
  described.set_group(call.getGroup());
  setWindow(call, *described.mutable_window());
  const plan::Buffer x = ::described(call.getX()), w = ::described(call.getW()),
                     y = ::described(call.getY());
  std::optional<plan::Buffer> b;
  if (call.getB())
    b = ::described(call.getB());
  if (!plan::winograd::isApplicable(described, x, w, b ? &*b : nullptr, y))
    return 0;
  auto weights = call.getW().getDefiningOp<dialects::plan::BufferOp>();
  const bool isConstant =
      isDeployed && weights.getArena() == dialects::plan::ArenaKind::Parameters;
  uint64_t most = 0;
  for (int64_t count = 1; count <= threads; ++count) {
    const auto size = plan::winograd::convolutionSizeOf(
        described, x, y, isConstant, static_cast<int>(count));
    if (const int64_t tile = plan::winograd::fastestTile(size))
      most = std::max(most,
                      plan::winograd::scratchBytes(size, tile, b.has_value()));
  }
  return static_cast<int64_t>(most);
}

} // namespace

int64_t compiler::winogradScratchBytes(dialects::plan::ProgramOp program) {
  const bool isDeployed = program.getSymName() == plan::programs::kDeploy;
  const int64_t threads = dialects::target::cpuOf(program).getCores();
  int64_t most = 0;
  program.walk([&](dialects::plan::ConvolutionOp call) {
    most = std::max(most, scratchOf(call, isDeployed, threads));
  });
  return most;
}

int64_t compiler::winogradScratchBytes(mlir::ModuleOp plan) {
  int64_t most = 0;
  for (auto program : plan.getOps<dialects::plan::ProgramOp>())
    most = std::max(most, winogradScratchBytes(program));
  return most;
}
