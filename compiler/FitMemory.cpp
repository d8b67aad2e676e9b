//===- FitMemory.cpp - Plans within a memory limit ------------------------===//
#include "compiler/Compilation.h"
#include "compiler/WinogradScratch.h"
#include "compiler/cpu/CpuTarget.h"
#include "compiler/report/Costs.h"
#include "dialects/Plan/PlanDialect.h"
#include "support/Error.h"

#include "llvm/ADT/DenseSet.h"

using namespace brew;
using namespace brew::compiler;

namespace {

/// Maximum number of rematerialization budgets to try. The memory that a budget
/// saves is known only after kernel formation and memory planning, so both run
/// again for each budget.
constexpr int kMaxAttempts = 6;
/// Minimum share of the limit that a plan should use. A plan below this share
/// rematerializes more than needed.
constexpr double kMinUtilisation = 0.98;
/// Maximum number of buffers that an error lists.
constexpr size_t kMaxListedBuffers = 10;

/// Returns the size of the transient arena.
int64_t arenaBytes(mlir::ModuleOp plan) {
  for (auto arena : plan.getOps<dialects::plan::ArenaOp>())
    if (arena.getKind() == dialects::plan::ArenaKind::Transient)
      return arena.getSize();
  return 0;
}

/// A transient buffer and the steps at which it is live.
struct LiveBuffer {
  std::string name;
  int64_t bytes;
  int64_t first, last; ///< first and last step
};

int64_t bytesOf(mlir::MemRefType type) {
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// Returns the largest buffers that are live at the step with the most live
/// bytes, largest first.
std::vector<LiveBuffer> largestLiveBuffers(dialects::plan::ProgramOp program) {
  std::vector<LiveBuffer> buffers;
  llvm::DenseSet<std::pair<int64_t, int64_t>>
      seenBuffers; // offset and first step
  program.walk([&](dialects::plan::BufferOp buffer) {
    auto live = buffer.getLive();
    // Views of a buffer have its offset.
    if (buffer.getArena() == dialects::plan::ArenaKind::Transient && live &&
        seenBuffers.insert({buffer.getOffset(), (*live)[0]}).second)
      buffers.push_back(
          {buffer.getName().str(),
           bytesOf(llvm::cast<mlir::MemRefType>(buffer.getType())), (*live)[0],
           (*live)[1]});
  });
  int64_t peakBytes = 0;
  std::vector<LiveBuffer> atPeak;
  for (const LiveBuffer &start : buffers) {
    std::vector<LiveBuffer> liveBuffers;
    int64_t bytes = 0;
    for (const LiveBuffer &buffer : buffers)
      if (buffer.first <= start.first && start.first <= buffer.last) {
        liveBuffers.push_back(buffer);
        bytes += buffer.bytes;
      }
    if (bytes > peakBytes) {
      peakBytes = bytes;
      atPeak = std::move(liveBuffers);
    }
  }
  llvm::stable_sort(atPeak, [](const LiveBuffer &a, const LiveBuffer &b) {
    return a.bytes > b.bytes;
  });
  if (atPeak.size() > kMaxListedBuffers)
    atPeak.resize(kMaxListedBuffers);
  return atPeak;
}

/// Returns the program with the largest arena.
dialects::plan::ProgramOp largestProgram(mlir::ModuleOp plan) {
  dialects::plan::ProgramOp largest;
  for (auto program : plan.getOps<dialects::plan::ProgramOp>())
    if (!largest || program.getArenaBytes() > largest.getArenaBytes())
      largest = program;
  return largest;
}

} // namespace

bool Compilation::usesWinograd() const {
  return options.target == TargetKind::Cpu && !options.exactConvolutions &&
         cpu::resolveCpuTarget(options.cpu).has("avx2");
}

int64_t Compilation::requiredBytes(mlir::ModuleOp plan) const {
  return arenaBytes(plan) + (usesWinograd() ? winogradScratchBytes(plan) : 0);
}

mlir::OwningOpRef<mlir::ModuleOp>
Compilation::lowerToPlan(mlir::ModuleOp graph, std::optional<int64_t> bytes) {
  rematerializeBudget = bytes;
  mlir::OwningOpRef<mlir::ModuleOp> module(graph.clone());
  auto scope = timingScope.nest("fit memory");
  for (Phase phase : {Phase::Fused, Phase::Plan})
    if (mlir::failed(runPasses(*module, phase, pipelineOptions(phase), scope)))
      throw Error(ExitStatus::Bug,
                  "a net cannot be planned for less memory; this is a defect "
                  "of Brew, please report it with the prototxt");
  return module;
}

int64_t Compilation::largestBatch(int64_t limit) {
  // Nets with a fixed batch size report errors here, which are irrelevant.
  mlir::ScopedDiagnosticHandler silencer(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto fits = [&](int64_t batch) {
    auto scope = timingScope.nest("fit batch");
    prototxt::Diagnostics diagnostics;
    prototxt::ImportOptions import = options.import;
    import.batch = batch;
    mlir::OwningOpRef<mlir::ModuleOp> module =
        prototxt::importText(context, source, import, diagnostics).module;
    return module &&
           mlir::succeeded(runPasses(*module, Phase::Graph,
                                     pipelineOptions(Phase::Graph), scope)) &&
           requiredBytes(*lowerToPlan(*module, 0)) <= limit;
  };
  int64_t batch = 0; // of the largest data input
  imported.module->walk([&](dialects::DataInputOp input) {
    for (mlir::Value value : input.getValues())
      if (auto shape = dialects::shapeOf(value); !shape.empty())
        batch = std::max(batch, shape[0]);
  });
  int64_t fittingBatch = 0, tooLargeBatch = batch;
  while (fittingBatch + 1 < tooLargeBatch) {
    const int64_t middle = fittingBatch + (tooLargeBatch - fittingBatch) / 2;
    (fits(middle) ? fittingBatch : tooLargeBatch) = middle;
  }
  return fittingBatch;
}

/// Returns "150.0 MB (150000000 bytes)": the exact number can be passed on.
static std::string exactBytesText(int64_t bytes) {
  return bytesText(bytes) + " (" + std::to_string(bytes) + " bytes)";
}

void Compilation::throwMemoryLimit(mlir::ModuleOp smallest) {
  const int64_t limit = *options.memoryLimit,
                scratch = requiredBytes(smallest) - arenaBytes(smallest);
  std::string text =
      "activations and their gradients" +
      std::string(scratch ? " and scratch of convolutions" : "") +
      " take at least " + exactBytesText(requiredBytes(smallest)) +
      ", which is more than the limit of " + exactBytesText(limit) +
      " (--memory-limit)";
  if (dialects::plan::ProgramOp program = largestProgram(smallest)) {
    text += "; the largest buffers of program " + program.getSymName().str() +
            " at its peak:";
    for (const LiveBuffer &buffer : largestLiveBuffers(program))
      text += "\n  " + bytesText(buffer.bytes) + "  " + buffer.name +
              ", steps " + std::to_string(buffer.first) + " to " +
              std::to_string(buffer.last);
  }
  if (scratch)
    text += "\n  " + bytesText(scratch) +
            "  scratch of Winograd's convolutions, which "
            "--exact-convolutions avoids";
  const int64_t batch = largestBatch(limit);
  text += batch > 0
              ? "\nThe largest batch that fits is " + std::to_string(batch) +
                    " (--batch=" + std::to_string(batch) + ")"
              : "\nNo smaller batch fits either";
  throw Error(ExitStatus::Unavailable, text);
}

mlir::OwningOpRef<mlir::ModuleOp>
Compilation::fitToMemoryLimit(mlir::ModuleOp graph) {
  const int64_t limit = *options.memoryLimit;
  rematerializeBudget = std::nullopt;
  auto requiredBytesFor = [&](std::optional<int64_t> bytes) {
    return requiredBytes(*lowerToPlan(graph, bytes));
  };
  if (requiredBytesFor(std::nullopt) <= limit) {
    rematerializeBudget = std::nullopt; // the plan fits as it is
    return {};
  }
  std::optional<int64_t> best;
  int64_t budget = limit;
  for (int i = 0; i < kMaxAttempts && budget > 0; ++i) {
    const int64_t required = requiredBytesFor(budget);
    if (required <= limit) {
      best = budget;
      if (static_cast<double>(required) >=
          kMinUtilisation * static_cast<double>(limit))
        break;
    } else if (best) {
      break; // a larger budget exceeded the limit
    }
    budget += limit - required;
  }
  if (!best) {
    // Try the smallest possible plan.
    mlir::OwningOpRef<mlir::ModuleOp> smallest = lowerToPlan(graph, 0);
    if (requiredBytes(*smallest) > limit)
      return smallest;
    best = 0;
  }
  rematerializeBudget = best;
  return {};
}

void Compilation::fitMemory(mlir::ModuleOp phaseImport) {
  mlir::OwningOpRef<mlir::ModuleOp> smallest =
      fitToMemoryLimit(*imported.module);
  if (!smallest)
    return;
  // A fused product keeps all its operands alive until it runs, and so does a
  // fused convolution of several branches. Without these fusions, the net may
  // need less memory.
  withoutFusedProducts = true;
  mlir::OwningOpRef<mlir::ModuleOp> unfused(phaseImport.clone());
  {
    // Diagnostics were already reported when the graph was built.
    mlir::ScopedDiagnosticHandler silencer(
        &context, [](mlir::Diagnostic &) { return mlir::success(); });
    auto scope = timingScope.nest("fit graph");
    if (mlir::failed(runPasses(*unfused, Phase::Graph,
                               pipelineOptions(Phase::Graph), scope)))
      throwMemoryLimit(*smallest);
  }
  if (mlir::OwningOpRef<mlir::ModuleOp> smallestUnfused =
          fitToMemoryLimit(*unfused))
    throwMemoryLimit(requiredBytes(*smallestUnfused) < requiredBytes(*smallest)
                         ? *smallestUnfused
                         : *smallest);
  imported.module = std::move(unfused);
}
