//===- Launch.cpp - Checks of a launch ------------------------------------===//
#include "Engine.h"

namespace cudasim {

LaunchState launchState;
static MemoryCheck memoryCheck;
static bool isCooperative;

/// Limits of all devices that Brew supports.
static constexpr unsigned kMaximumThreads = 1024;
static constexpr unsigned kMaximumGrid[3] = {0x7fffffff, 65535, 65535};
static constexpr unsigned kMaximumBlock[3] = {1024, 1024, 64};
static constexpr unsigned kStaticSharedBytes = 48 * 1024;

static void checkGeometry(const LaunchBounds &bounds, const unsigned *grid,
                          const unsigned *block) {
  unsigned long long threads = 1;
  for (int i = 0; i < 3; ++i) {
    threads *= block[i];
    if (grid[i] == 0 || grid[i] > kMaximumGrid[i] || block[i] == 0 ||
        block[i] > kMaximumBlock[i])
      reportLaunchFinding(
          "no device launches %u x %u x %u blocks of %u x %u x %u "
          "threads",
          grid[0], grid[1], grid[2], block[0], block[1], block[2]);
  }
  if (threads > kMaximumThreads || threads > bounds.threads)
    reportLaunchFinding(
        "launched with %llu threads in a block, but declared with at "
        "most %u",
        threads, bounds.threads);
}

static void checkShared(unsigned bytes) {
  if (bytes > kStaticSharedBytes)
    reportLaunchFinding("the shared arrays take %u bytes, a block has %u",
                        bytes, kStaticSharedBytes);
}

static void checkArgument(const Argument &argument) {
  if (argument.access == Access::Stages)
    return;
  std::uintptr_t address = reinterpret_cast<std::uintptr_t>(argument.data);
  if (address % argument.elementSize)
    reportLaunchFinding("the address of argument %s is no multiple of %u",
                        argument.name, argument.elementSize);
  if (memoryCheck &&
      !memoryCheck(argument.data, argument.count * argument.elementSize))
    reportLaunchFinding(
        "argument %s (%llu elements of %u bytes) does not lie in one "
        "allocation",
        argument.name, argument.count, argument.elementSize);
}

static void checkStages(std::uintptr_t stages) {
  launchState.hasStages = true;
  if (stages == 0)
    reportLaunchFinding("none of its stages is to run");
  if ((stages & (stages - 1)) != 0 && !isCooperative)
    reportLaunchFinding("its stages wait for each other, but the launch is not "
                        "cooperative");
}

/// In and Out arguments are declared __restrict__ on a GPU, so they must not
/// overlap other arguments; two In arguments may overlap.
static void checkDisjoint(const Argument &a, const Argument &b) {
  if (a.access == Access::Stages || b.access == Access::Stages)
    return;
  if (a.access == Access::In && b.access == Access::In)
    return;
  if (a.access == Access::InOut && b.access == Access::InOut)
    return;
  const char *aBegin = static_cast<const char *>(a.data);
  const char *bBegin = static_cast<const char *>(b.data);
  if (aBegin < bBegin + b.count * b.elementSize &&
      bBegin < aBegin + a.count * a.elementSize)
    reportLaunchFinding(
        "arguments %s and %s share memory, but are declared to be "
        "disjoint",
        a.name, b.name);
}

/// Numbers that exceed the stamp's bits wrap around, which can only hide races.
static void setBlockNumber(Stamp number) {
  Stamp &stamps = cudasim_context.globalBlock;
  const Stamp launch = stamps >> kLaunchShift << kLaunchShift;
  stamps = launch | (number << 32 & ((1ull << kLaunchShift) - 1));
}

void renumberBlock() {
  if (launchState.nextNumber >> (kLaunchShift - 32) != 0)
    return;
  const auto before = static_cast<unsigned>(cudasim_context.globalBlock >> 32);
  setBlockNumber(launchState.nextNumber++);
  noteRenumbered(before,
                 static_cast<unsigned>(cudasim_context.globalBlock >> 32));
}

extern "C" {

Context cudasim_context;

void cudasim_set_memory_check(MemoryCheck check) { memoryCheck = check; }
void cudasim_set_cooperation(bool cooperates) { isCooperative = cooperates; }

void cudasim_begin_launch(const char *kernel,
                          const KernelAttributes *attributes,
                          const unsigned *grid, const unsigned *block,
                          Argument *arguments) {
  const unsigned count = attributes->arguments;
  launchState = {};
  launchState.kernel = kernel;
  launchState.arguments = arguments;
  launchState.argumentCount = count;
  launchState.threads = block[0] * block[1] * block[2];
  checkGeometry(attributes->bounds, grid, block);
  checkShared(*attributes->sharedBytes);
  std::vector<Argument *> written;
  for (unsigned i = 0; i < count; ++i) {
    checkArgument(arguments[i]);
    for (unsigned j = 0; j < i; ++j)
      checkDisjoint(arguments[j], arguments[i]);
    if (arguments[i].access == Access::Stages)
      checkStages(reinterpret_cast<std::uintptr_t>(arguments[i].data));
    else if (arguments[i].access != Access::In)
      written.push_back(&arguments[i]);
  }
  prepareStamps(written);
  beginArrivals();
  cudasim_context.blockDim = {block[0], block[1], block[2]};
  cudasim_context.gridDim = {grid[0], grid[1], grid[2]};
  installStackOverflowHandler();
}

void cudasim_end_launch() {
  removeStackOverflowHandler();
  endArrivals();
  launchState = {};
}

void cudasim_begin_stage(unsigned stage) {
  const Index3 &grid = cudasim_context.gridDim;
  cudasim_context.stage = stage;
  launchState.firstOfStage = launchState.nextNumber;
  launchState.nextNumber += static_cast<Stamp>(grid.x) * grid.y * grid.z;
}

void cudasim_stage_barrier() {
  launchState.firstSinceBarrier = launchState.firstOfStage;
}

void cudasim_begin_block(unsigned x, unsigned y, unsigned z) {
  Context &context = cudasim_context;
  const Index3 &grid = context.gridDim;
  context.blockIdx = {x, y, z};
  context.self = 0;
  setBlockNumber(launchState.firstOfStage +
                 (static_cast<Stamp>(z) * grid.y + y) * grid.x + x);
  context.sharedBlock += 1ull << 32;
  beginBlockArrivals();
}
}

} // namespace cudasim
