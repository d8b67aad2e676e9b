//===- SubKernelEmitter.cpp - Emission of a sub-kernel as CUDA ------------===//
#include "compiler/cuda/SubKernelEmitter.h"

#include "dialects/Brew/Origin.h"

using namespace mlir;

namespace brew::compiler::cuda {

/// Returns a nest's origin, such as "'conv1' (lenet.prototxt:34)".
static std::string originOf(linalg::GenericOp nest) {
  std::string text;
  if (auto layer = dialects::Origin::of(nest).layer)
    text = "'" + layer.str() + "'";
  nest->getLoc()->walk([&](Location nestedLoc) {
    auto file = dyn_cast<FileLineColLoc>(nestedLoc);
    if (!file)
      return WalkResult::advance();
    text += (text.empty() ? "" : " ") + ("(" + file.getFilename().str()) + ":" +
            std::to_string(file.getLine()) + ")";
    return WalkResult::interrupt();
  });
  return text;
}

void SubKernelEmitter::emit() {
  declareLocals();
  if (schedule.columns > 1)
    return emitColumns();
  const bool isLoop =
      subKernel.inLastBlock && schedule.points > text.threads / schedule.team;
  bool isOpen = isLoop;
  if (isLoop)
    enterAllPoints();
  else
    isOpen = enterPoint();
  if (schedule.pack > 1)
    emitPack();
  else
    for (unsigned n = 0; n < subKernel.nests.size(); ++n)
      emitNest(n);
  copyOut();
  // The next point overwrites values that slower lanes may still read.
  if (isLoop && isTeam())
    sync();
  if (isOpen)
    lines.close();
}

void SubKernelEmitter::declareLocals() {
  for (auto [nest, inner] : llvm::zip(subKernel.nests, schedule.nests)) {
    auto layer = dialects::Origin::of(nest.op).layer;
    values.names.emplace_back();
    for (auto [output, storage] : llvm::zip(nest.outputs, inner.storage)) {
      values.names.back().emplace_back();
      if (storage == Storage::Buffer)
        continue;
      const std::string preferred = layer ? layer.str() + "_value" : "value";
      values.names.back().back() =
          storage == Storage::Shared
              ? text.share(preferred, "value", output.element,
                           text.threads / schedule.team *
                               schedule.sharedElements(output))
              : text.unique(preferred, "value");
    }
  }
}

void SubKernelEmitter::unravel(const Code &counter,
                               ArrayRef<unsigned> loopNumbers, const Nest &nest,
                               SmallVectorImpl<Code> &indices, StringRef prefix,
                               int64_t lastExtent, int64_t lastStep,
                               const Code &lastName) {
  Code remaining = counter;
  for (unsigned i = loopNumbers.size(); i-- > 0;) {
    bool isLast = i + 1 == loopNumbers.size();
    int64_t extent = nest.loops[loopNumbers[i]].extent;
    if (isLast && lastExtent)
      extent = lastExtent;
    Code name = isLast && !lastName.empty() ? lastName : text.numbered(prefix);
    Code value = remaining;
    if (i > 0)
      value += " % " + text.count(extent);
    if (isLast && lastStep != 1)
      value =
          (i > 0 ? Code::group(value) : value) + " * " + text.count(lastStep);
    lines.line("const " + text.index() + " " + name + " = " + value + ";");
    indices[loopNumbers[i]] = name;
    if (i == 0)
      continue;
    Code quotient = remaining + " / " + text.count(extent);
    if (i == 1) {
      remaining = quotient;
      continue;
    }
    Code next = text.numbered("q");
    lines.line("const " + text.counter() + " " + next + " = " + quotient + ";");
    remaining = next;
  }
}

Code SubKernelEmitter::declareLane() {
  if (!isTeam())
    return Code::word("threadIdx.x");
  const bool isSingleTeam = schedule.team == text.threads;
  const std::string size = std::to_string(schedule.team) + "u";
  lines.line("const unsigned lane = threadIdx.x" +
             (isSingleTeam ? "" : " % " + size) + ";");
  if (isSingleTeam)
    return text.count(0);
  lines.line("const unsigned team = threadIdx.x / " + size + ";");
  return Code::word("team");
}

bool SubKernelEmitter::enterPoint() {
  int64_t pointsPerBlock = text.threads / schedule.team,
          points = schedule.points / schedule.pack;
  Code teamNumber = declareLane();
  if (subKernel.grid == 0 && !isTeam()) {
    // One thread of the block runs the nests.
    lines.open("if (threadIdx.x == 0u)");
    return true;
  }
  bool isGuarded = points % pointsPerBlock != 0;
  if (subKernel.grid == 0) {
    if (isGuarded)
      lines.open("if (team == 0u)");
    return isGuarded;
  }
  Code point = teamNumber;
  if (!subKernel.inLastBlock) {
    point = text.block;
    if (schedule.firstBlock)
      point = Code::group(point + " - " + text.count(schedule.firstBlock));
    if (text.prelude.wide)
      point = "(unsigned long long)" + point;
    if (pointsPerBlock != 1)
      point += " * " + text.count(pointsPerBlock) + " + " + teamNumber;
  }
  lines.line("const " + text.counter() + " point = " + point + ";");
  if (isGuarded)
    lines.open("if (point < " + text.count(points) + ")");
  unravelPoint();
  return isGuarded;
}

void SubKernelEmitter::enterAllPoints() {
  Code teamNumber = declareLane();
  openLoop(Code::word("point"), text.counter(), teamNumber,
           text.count(schedule.points), text.threads / schedule.team);
  unravelPoint();
}

void SubKernelEmitter::unravelPoint() {
  SmallVector<unsigned> grid =
      llvm::to_vector(llvm::seq<unsigned>(0, subKernel.grid));
  const Nest &first = subKernel.nests.front();
  gridIndices.resize(subKernel.grid);
  if (!packBegin.empty()) { // already declared by hoistPacks
    grid.pop_back();
    unravel("point / " + text.count(packsPerRow()), grid, first, gridIndices,
            "i");
  } else if (schedule.pack > 1) {
    packBegin = text.numbered("i");
    unravel(Code::word("point"), grid, first, gridIndices, "i",
            first.loops[subKernel.grid - 1].extent / schedule.pack,
            schedule.pack, packBegin);
  } else {
    unravel(Code::word("point"), grid, first, gridIndices, "i");
  }
}

SmallVector<Code> SubKernelEmitter::startIndices(const Nest &nest) {
  SmallVector<Code> indices(gridIndices);
  indices.resize(nest.loops.size());
  return indices;
}

void SubKernelEmitter::emitOriginComment(const Nest &nest) {
  std::string origin = originOf(nest.op);
  if (!origin.empty() && origin != lastOrigin)
    lines.comment(origin);
  lastOrigin = origin;
}

void SubKernelEmitter::sync() {
  // The smaller teams of a warp reach the same barriers together, so the whole
  // warp can synchronise.
  lines.line(schedule.team <= kWarp ? "BREW_SYNC_WARP();" : "BREW_SYNC();");
  writtenResults.clear();
  readArguments.clear();
}

void SubKernelEmitter::syncBefore(const Nest &nest) {
  if (!isTeam())
    return;
  bool mustSync = false;
  forEachSource(nest, [&](const Source &source) {
    if (source.kind == Source::Kind::Result)
      mustSync |= writtenResults.count({source.nest, source.result}) != 0;
  });
  for (const Output &output : nest.outputs)
    for (unsigned argument : output.arguments)
      mustSync |= readArguments.count(argument) != 0;
  if (mustSync)
    sync();
}

void SubKernelEmitter::recordAccesses(unsigned n) {
  const Nest &nest = subKernel.nests[n];
  forEachSource(nest, [&](const Source &source) {
    if (source.kind == Source::Kind::Argument)
      readArguments.insert(source.argument);
    else if (source.kind == Source::Kind::Result)
      // No nest overwrites the result in shared memory, but later nests may
      // overwrite it in a buffer.
      for (unsigned argument :
           subKernel.nests[source.nest].outputs[source.result].arguments)
        readArguments.insert(argument);
  });
  for (unsigned r = 0; r < nest.outputs.size(); ++r)
    if (schedule.nests[n].storage[r] != Storage::Variable)
      writtenResults.insert({n, r});
}

void SubKernelEmitter::emitNest(unsigned n) {
  Nest &nest = subKernel.nests[n];
  emitOriginComment(nest);
  syncBefore(nest);
  if (isTeam())
    emitTeamNest(n);
  else
    emitThreadNest(n);
  recordAccesses(n);
}

void SubKernelEmitter::copyOut() {
  bool isFirst = true;
  for (auto [n, nest] : llvm::enumerate(subKernel.nests))
    for (auto [r, output] : llvm::enumerate(nest.outputs)) {
      if (!output.overwritesLiveInput || output.arguments.empty())
        continue;
      if (isFirst && isTeam())
        sync();
      isFirst = false;
      const NestSchedule &inner = schedule.nests[n];
      SmallVector<Code> indices = startIndices(nest);
      unsigned opened = 1;
      if (!isTeam()) {
        opened = openLoops(inner.parallel, nest, indices, "j");
      } else if (inner.values == 1) {
        lines.open("if (lane == 0u)");
      } else {
        Code position = text.numbered("p");
        openLoop(position, text.counter(), Code::word("lane"),
                 text.count(inner.values), schedule.team);
        unravel(position, inner.parallel, nest, indices, "j");
      }
      body.storeToBuffers(
          output, indices,
          body.localValue(n, r, body.address(output.local, indices)));
      closeLoops(opened);
    }
}

void SubKernelEmitter::emitTurns(const Code &condition, const Code &turns) {
  const bool isHoisted = sharePacks();
  if (isHoisted) {
    lines.open(condition);
    hoistPacks();
    lines.open(turns);
  } else {
    lines.open(condition + " " + turns);
  }
  const size_t sharedCount = text.shared.size();
  emit();
  finishTurn(text, sharedCount);
  lines.close();
  if (isHoisted)
    lines.close();
}

void emitSubKernel(const Kernel &kernel, SubKernel &subKernel,
                   const SubKernelSchedule &schedule, KernelSource &text) {
  SubKernelEmitter(subKernel, schedule, text).emit();
}

void emitTurns(SubKernel &subKernel, const SubKernelSchedule &schedule,
               KernelSource &text, const Code &condition, const Code &turns) {
  SubKernelEmitter(subKernel, schedule, text).emitTurns(condition, turns);
}

void finishTurn(KernelSource &text, size_t sharedCount) {
  if (text.shared.size() > sharedCount)
    text.lines.line("BREW_SYNC();");
}

} // namespace brew::compiler::cuda
