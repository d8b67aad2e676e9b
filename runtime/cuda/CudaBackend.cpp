//===- CudaBackend.cpp - Runs a plan's steps on a GPU ---------------------===//
//
// Loading a plan resolves the kernels, library calls and addresses of every
// step. Programs that run together form a StepSequence.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/StridedCopy.h"
#include "runtime/cpu/Threads.h"
#include "runtime/cuda/Arenas.h"
#include "runtime/cuda/CudaBenchmark.h"
#include "runtime/cuda/Inputs.h"
#include "runtime/cuda/LibraryPaths.h"
#include "runtime/cuda/Modules.h"
#include "runtime/cuda/ScalarArena.h"
#include "runtime/cuda/StepBuilder.h"
#include "runtime/cuda/StepSequence.h"
#include "runtime/cuda/TuningOperands.h"
#include "runtime/executor/Backend.h"
#include "support/Error.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace brew::runtime::cuda {

namespace {

class CudaBackend : public Backend {
public:
  CudaBackend(std::shared_ptr<const plan::PlanFile> file,
              const ExecutorOptions &options);
  /// Waits for enqueued work, which reads and writes memory of members. The
  /// members are freed in the CUDA context of the destroying thread.
  ~CudaBackend() override {
    try {
      device.makeCurrent();
    } catch (const Error &) {
      // The context is gone, and its memory with it.
    }
    device.api().cuStreamSynchronize(compute.get());
    inputs.waitForCopies();
    hosts.reset(); // host layers may free memory of the device
  }

  int threads() const override { return workers.count(); }
  void *data(std::uint32_t index) const override {
    return reinterpret_cast<void *>(address(index));
  }
  void upload(std::uint32_t buffer, const std::byte *bytes) override;
  void download(std::uint32_t buffer, std::byte *bytes) override;
  void uploadBytes(std::uint32_t arena, std::uint64_t offset, const void *bytes,
                   std::size_t size) override;
  void feed(std::uint32_t buffer, const std::byte *bytes) override;
  void setPixelMean(int program, int input,
                    const std::vector<float> &mean) override;
  void feedPixels(int program, int input, const std::byte *block) override;
  void run(int program, std::size_t begin, std::size_t end) override;
  void synchronize() override {
    device.makeCurrent();
    wait(compute, "running the net on the GPU");
  }
  bool start(const std::vector<int> &programs,
             const std::vector<std::uint32_t> &reads) override;
  std::vector<std::byte> finish() override;
  void
  runTimed(int program,
           const std::function<void(std::size_t, double)> &observer) override;
  Measurement measure(const std::vector<int> &sequence, int count) override;
  void tune(const std::function<void(const TunedCall &)> &report) override;
  std::string implementation(int program, std::size_t step) const override {
    return programs[index(program)][step]->describe();
  }
  std::uint64_t workspaceBytes() const override { return workspace.size(); }
  std::string description() const override;

private:
  static std::size_t index(int program) {
    return static_cast<std::size_t>(program);
  }
  CUdeviceptr address(std::uint32_t index) const {
    return arenas.address(buffer(index).arena_index()) + buffer(index).offset();
  }
  const plan::DataInput &dataInputOf(int program, int input) const {
    return manifest.programs(program).data_inputs(input);
  }
  TuningOperands tuningOperands() const {
    return {device, compute, manifest,
            [this](std::uint32_t index) { return address(index); }};
  }
  void chooseCalls();
  void allocateWorkspace();
  std::vector<std::byte> mergeGaps(std::uint32_t buffer,
                                   const std::byte *bytes);
  std::unique_ptr<Nccl> connectNccl(const ExecutorOptions &options) const;
  /// Waits for an event or a stream whose work may involve other ranks, and
  /// throws Error (3) if an all-reduce has failed.
  template <typename Awaited>
  void wait(const Awaited &awaited, const std::string &purpose) {
    std::optional<Communicator::WaitScope> waiting;
    if (nccl && nccl->communicator())
      waiting.emplace(*nccl->communicator());
    awaited.synchronize(purpose);
    if (nccl)
      nccl->checkForErrors();
  }
  void flushInputs();
  StepSequence &sequenceOf(const std::vector<int> &indices);
  void runAll(const std::vector<int> &indices);
  LaunchContext launchContext() const {
    return {device, compute, workspace.address()};
  }

  /// Outputs of a run that are being copied to the host.
  struct InFlight {
    std::size_t slot;
    std::uint64_t size;
  };
  struct ResultSlot {
    PinnedMemory memory;
    Event arrived;
  };

  const LibraryPaths libraries;
  const std::function<void(const std::string &)> warn;
  Threads workers;
  Device device;
  Stream compute;
  Arenas arenas;
  Modules modules;
  const std::unique_ptr<Nccl> nccl; ///< may be null on one rank
  StepBuilder builder;
  std::vector<std::vector<std::unique_ptr<CudaStep>>> programs;
  TimingCache timings;
  CallTuner tuner;
  DeviceMemory workspace;

  /// Sequences by their programs, and by whether their steps all-reduce
  /// gradients.
  std::map<std::pair<std::vector<int>, bool>, StepSequence> sequences;
  Inputs inputs;
  std::map<std::uint32_t, ScalarArena> scalars; ///< by arena
  std::vector<ResultSlot> results;
  std::deque<InFlight> inFlight;
};

CallOptions callOptions(const plan::Target &target,
                        const ExecutorOptions &options) {
  CallOptions result;
  result.math = target.math();
  result.deterministic = options.deterministic || target.deterministic();
  result.workspaceLimit = options.workspaceLimit;
  return result;
}

CudaBackend::CudaBackend(std::shared_ptr<const plan::PlanFile> file,
                         const ExecutorOptions &options)
    : Backend(std::move(file), options),
      libraries(chooseLibraryPaths(manifest.target(), plan->path())),
      warn(options.warn), workers(options.threads),
      device(DriverApi::open(libraries.driver), options.gpu), compute(device),
      arenas(device, compute, *plan),
      modules(device, *plan, libraries.simulated), nccl(connectNccl(options)),
      builder(device, *plan, modules, libraries,
              callOptions(manifest.target(), options), *hosts, nccl.get(),
              [this](std::uint32_t index) { return address(index); }),
      timings(options.timingCache, options.warn),
      tuner(timings, device.name() + " ", kCudaTuningPolicy, options.tune),
      inputs(device, manifest, modules, workers,
             [this](std::uint32_t index) { return address(index); }) {
  for (int i = 0; i < manifest.arenas_size(); ++i) {
    const plan::Arena &arena = manifest.arenas(i);
    const auto number = static_cast<std::uint32_t>(i);
    if (arena.kind() == plan::SCALARS)
      scalars.emplace(
          number, ScalarArena(device, arenas.address(number), arena.size()));
  }
  for (int i = 0; i < manifest.programs_size(); ++i)
    programs.push_back(builder.build(i));
  chooseCalls();
}

static bool hasAllReduce(const plan::Manifest &manifest) {
  for (const plan::Program &program : manifest.programs())
    for (const plan::Step &step : program.steps())
      if (step.has_all_reduce())
        return true;
  return false;
}

/// Initialises NCCL if several ranks train together; every rank calls it. A
/// single rank uses NCCL only if BREW_NCCL_SINGLE_RANK=1
/// (docs/distributed.md), to exercise NCCL on a machine with one GPU.
std::unique_ptr<Nccl>
CudaBackend::connectNccl(const ExecutorOptions &options) const {
  Communicator *communicator = options.communicator.get();
  if (communicator && communicator->ranks() > 1)
    return std::make_unique<Nccl>(device, libraries.nccl, communicator);
  const char *setting = std::getenv("BREW_NCCL_SINGLE_RANK");
  if (!setting || std::string_view(setting) != "1" || !hasAllReduce(manifest))
    return nullptr;
  auto singleRankNccl =
      std::make_unique<Nccl>(device, libraries.nccl, communicator);
  warn(plan->path() + ": " + singleRankNccl->name() +
       " adds gradients up over one rank, since BREW_NCCL_SINGLE_RANK is 1");
  return singleRankNccl;
}

/// Chooses the candidate of every library call.
void CudaBackend::chooseCalls() {
  TuningOperands operands = tuningOperands();
  for (const ProgramCall &call : builder.calls()) {
    CudaBenchmark benchmark(device, compute, *call.chosen->call);
    call.chosen->candidate = tuner.choose(*call.chosen->call, benchmark, [&] {
      operands.fillAll(*call.description);
    });
  }
  if (!builder.calls().empty())
    arenas.initialise(compute); // measuring has overwritten them
  allocateWorkspace();
}

/// Allocates the workspace that all steps share, since they run one after the
/// other.
void CudaBackend::allocateWorkspace() {
  std::uint64_t size = 0;
  for (const auto &steps : programs)
    for (const auto &step : steps)
      size = std::max(size, step->scratchBytes());
  workspace =
      DeviceMemory(device, size,
                   plan->path() + ": workspace of library calls (bounded by "
                                  "--workspace-limit)");
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Returns the bytes of the buffer's complete range: its elements from `bytes`
/// and, in the gaps between them, zeros or the elements of other buffers.
std::vector<std::byte> CudaBackend::mergeGaps(std::uint32_t index,
                                              const std::byte *bytes) {
  const plan::Buffer &target = buffer(index);
  std::vector<std::byte> mergedBytes(target.size());
  if (!target.zero_gaps())
    download(index, mergedBytes.data());
  StridedCopy(target, bytes, target, mergedBytes.data()).run(workers);
  return mergedBytes;
}

void CudaBackend::upload(std::uint32_t index, const std::byte *bytes) {
  // Otherwise, an input that was fed earlier would overwrite these bytes later.
  flushInputs();
  const plan::Buffer &target = buffer(index);
  std::vector<std::byte> mergedBytes;
  if (!isDense(target)) {
    mergedBytes = mergeGaps(index, bytes);
    bytes = mergedBytes.data();
  }
  device.api().check(device.api().cuMemcpyHtoDAsync(
                         address(index), bytes, target.size(), compute.get()),
                     "copying '" + target.name() + "' to the GPU");
  wait(compute, "copying '" + target.name() + "' to the GPU");
}

void CudaBackend::download(std::uint32_t index, std::byte *bytes) {
  const std::string purpose =
      "copying '" + buffer(index).name() + "' from the GPU";
  // Staged inputs are part of the buffer's current contents.
  flushInputs();
  device.api().check(device.api().cuMemcpyDtoHAsync(bytes, address(index),
                                                    buffer(index).size(),
                                                    compute.get()),
                     purpose);
  wait(compute, purpose);
}

void CudaBackend::uploadBytes(std::uint32_t arena, std::uint64_t offset,
                              const void *bytes, std::size_t size) {
  if (auto entry = scalars.find(arena); entry != scalars.end())
    return entry->second.write(offset, bytes, size);
  device.makeCurrent();
  const std::string purpose = "copying to the GPU";
  device.api().check(
      device.api().cuMemcpyHtoDAsync(arenas.address(arena) + offset, bytes,
                                     size, compute.get()),
      purpose);
  compute.synchronize(purpose);
}

void CudaBackend::feed(std::uint32_t index, const std::byte *bytes) {
  const plan::Buffer &target = buffer(index);
  device.makeCurrent();
  if (isDense(target))
    inputs.stage(index, bytes);
  else if (target.zero_gaps())
    inputs.stage(index, mergeGaps(index, bytes).data());
  else
    upload(index, bytes);
}

void CudaBackend::setPixelMean(int program, int input,
                               const std::vector<float> &mean) {
  device.makeCurrent();
  inputs.setPixelMean(dataInputOf(program, input), mean, compute);
}

void CudaBackend::feedPixels(int program, int input, const std::byte *block) {
  device.makeCurrent();
  inputs.stagePixels(dataInputOf(program, input), block);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void CudaBackend::flushInputs() {
  device.makeCurrent();
  inputs.commit(compute);
  for (auto &[arena, scalarArena] : scalars)
    scalarArena.flush(compute);
}

/// Returns the sequence of steps of these programs. Runs with and without
/// all-reduces enqueue different work, so there is one sequence for each.
StepSequence &CudaBackend::sequenceOf(const std::vector<int> &indices) {
  const bool reducesGradients = nccl && nccl->reducesInSteps();
  const auto [entry, isNew] =
      sequences.try_emplace({indices, reducesGradients});
  if (isNew)
    for (int program : indices)
      for (const auto &step : programs[index(program)])
        entry->second.add(*step);
  return entry->second;
}

void CudaBackend::runAll(const std::vector<int> &indices) {
  flushInputs();
  sequenceOf(indices).run(launchContext(), [this](const std::string &reason) {
    warn(plan->path() +
         ": its steps are started one by one, since they cannot "
         "be a CUDA graph: " +
         reason);
  });
}

void CudaBackend::run(int program, std::size_t begin, std::size_t end) {
  const auto &steps = programs[index(program)];
  if (begin == 0 && end == steps.size())
    return runAll({program});
  flushInputs();
  for (std::size_t i = begin; i < end; ++i)
    steps[i]->run(launchContext());
}

bool CudaBackend::start(const std::vector<int> &sequence,
                        const std::vector<std::uint32_t> &reads) {
  runAll(sequence);
  std::uint64_t size = 0;
  for (std::uint32_t index : reads)
    size += buffer(index).size();
  // Take the first slot that no run in flight uses.
  std::size_t slot = 0;
  while (std::any_of(inFlight.begin(), inFlight.end(),
                     [&](const InFlight &run) { return run.slot == slot; }))
    ++slot;
  if (slot == results.size())
    results.push_back({PinnedMemory(device, size), Event(device)});
  if (results[slot].memory.size() < size)
    results[slot].memory = PinnedMemory(device, size);
  std::uint64_t offset = 0;
  for (std::uint32_t index : reads) {
    device.api().check(device.api().cuMemcpyDtoHAsync(
                           results[slot].memory.data() + offset, address(index),
                           buffer(index).size(), compute.get()),
                       "reading results from the GPU");
    offset += buffer(index).size();
  }
  results[slot].arrived.record(compute);
  inFlight.push_back({slot, size});
  return true;
}

std::vector<std::byte> CudaBackend::finish() {
  device.makeCurrent();
  const InFlight run = inFlight.front();
  inFlight.pop_front();
  wait(results[run.slot].arrived, "running the net on the GPU");
  const std::byte *bytes = results[run.slot].memory.data();
  return {bytes, bytes + run.size};
}

void CudaBackend::runTimed(
    int program, const std::function<void(std::size_t, double)> &observer) {
  flushInputs();
  const auto &steps = programs[index(program)];
  std::vector<Event> marks;
  marks.reserve(steps.size() + 1);
  marks.emplace_back(device, /*timed=*/true).record(compute);
  for (const auto &step : steps) {
    step->run(launchContext());
    marks.emplace_back(device, /*timed=*/true).record(compute);
  }
  marks.back().synchronize("running the net on the GPU");
  for (std::size_t i = 0; i < steps.size(); ++i)
    observer(i, marks[i + 1].secondsSince(marks[i]));
}

Measurement CudaBackend::measure(const std::vector<int> &sequence, int count) {
  // Two warm-up runs: the first loads library code, the second captures the
  // graph.
  for (int i = 0; i < 2; ++i)
    runAll(sequence);
  std::vector<Event> marks;
  marks.emplace_back(device, /*timed=*/true).record(compute);
  for (int i = 0; i < count; ++i) {
    runAll(sequence);
    marks.emplace_back(device, /*timed=*/true).record(compute);
  }
  marks.back().synchronize("running the net on the GPU");
  Measurement result;
  for (std::size_t i = 1; i < marks.size(); ++i)
    result.seconds.push_back(marks[i].secondsSince(marks[i - 1]));
  result.graphNodes = sequenceOf(sequence).graphNodes();
  result.deviceBytes = workspace.size() + inputs.deviceBytes();
  for (const plan::Arena &arena : manifest.arenas())
    result.deviceBytes += arena.size();
  return result;
}

/// Measuring overwrites blobs and gradients. Afterwards, resets them to their
/// initial zeros, which are valid labels and indices.
void CudaBackend::tune(const std::function<void(const TunedCall &)> &report) {
  flushInputs();
  tuner.startTuning();
  TuningOperands operands = tuningOperands();
  std::vector<int> candidates;
  for (const ProgramCall &call : builder.calls()) {
    CudaBenchmark benchmark(device, compute, *call.chosen->call);
    const CallTuner::Result &result = tuner.tune(
        *call.chosen->call, benchmark,
        [&] {
          operands.save(*call.description);
          operands.fillTransient(*call.description);
        },
        [&] { operands.restore(); });
    if (!result.error.empty())
      throw unavailable(result.error);
    candidates.push_back(result.fastest.index);
    report({call.program,
            static_cast<std::size_t>(call.step),
            {result.first.name, result.first.seconds},
            {result.fastest.name, result.fastest.seconds}});
  }
  // The scratch memory fits the candidates again at the end of this function.
  for (std::size_t i = 0; i < candidates.size(); ++i)
    builder.calls()[i].chosen->candidate = candidates[i];
  sequences.clear(); // their graphs contain the previous candidates
  arenas.initialiseTransient(compute);
  allocateWorkspace();
}

std::string CudaBackend::description() const {
  return device.name() + (modules.arch().empty() ? "" : ", " + modules.arch());
}

} // namespace

} // namespace brew::runtime::cuda

namespace brew::runtime {

std::unique_ptr<Backend>
makeCudaBackend(std::shared_ptr<const plan::PlanFile> plan,
                const ExecutorOptions &options) {
  return std::make_unique<cuda::CudaBackend>(std::move(plan), options);
}

} // namespace brew::runtime
