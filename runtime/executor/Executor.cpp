//===- Executor.cpp - Runs the programs of a plan -------------------------===//
#include "runtime/executor/Executor.h"

#include "runtime/executor/Backend.h"
#include "runtime/executor/CheckFailure.h"
#include "support/Error.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace brew::runtime {

std::string describeStep(const plan::PlanFile &plan,
                         const plan::Program &program, int index) {
  std::string layers;
  for (const std::string &layer : program.steps(index).layers())
    layers += (layers.empty() ? "" : "+") + layer;
  return plan.path() + ": program '" + program.name() + "', step " +
         std::to_string(index) + (layers.empty() ? "" : " (" + layers + ")");
}

/// Returns whether the parameters of two plans have equal layouts in memory.
static bool haveEqualParameterLayout(const plan::Manifest &a,
                                     const plan::Manifest &b) {
  auto sizeOf = [](const plan::Manifest &manifest) {
    std::uint64_t size = 0;
    for (const plan::Arena &arena : manifest.arenas())
      if (arena.kind() == plan::PARAMETERS)
        size = arena.size();
    return size;
  };
  if (sizeOf(a) != sizeOf(b) || a.parameters_size() != b.parameters_size())
    return false;
  auto areEqual = [](const auto &left, const auto &right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
  };
  for (int i = 0; i < a.parameters_size(); ++i) {
    const plan::Parameter &left = a.parameters(i), &right = b.parameters(i);
    const plan::Buffer &leftBuffer =
        a.buffers(static_cast<int>(left.buffer_index()));
    const plan::Buffer &rightBuffer =
        b.buffers(static_cast<int>(right.buffer_index()));
    if (left.layer() != right.layer() || left.index() != right.index() ||
        leftBuffer.offset() != rightBuffer.offset() ||
        leftBuffer.type() != rightBuffer.type() ||
        !areEqual(leftBuffer.dims(), rightBuffer.dims()) ||
        !areEqual(leftBuffer.strides(), rightBuffer.strides()))
      return false;
  }
  return true;
}

std::unique_ptr<Backend> Executor::makeBackend(const ExecutorOptions &options) {
  std::shared_ptr<Arena> parameters;
  if (const Executor *owner = options.shareParameters) {
    parameters = owner->backend->parameterMemory();
    if (!parameters || isOnGpu())
      throw Error(ExitStatus::Usage,
                  plan->path() +
                      ": only sessions on the CPU can share parameters");
    if (!haveEqualParameterLayout(manifest(), owner->manifest()))
      throw Error(ExitStatus::Usage,
                  plan->path() +
                      ": the memory layout of its parameters differs from " +
                      owner->plan->path() +
                      "; sessions can share parameters of one net, compiled "
                      "with the same options");
  }
  return isOnGpu() ? makeCudaBackend(plan, options)
                   : makeCpuBackend(plan, options, std::move(parameters));
}

Executor::Executor(std::shared_ptr<const plan::PlanFile> file,
                   ExecutorOptions options)
    : plan(std::move(file)), backend(makeBackend(options)) {}
Executor::~Executor() = default;

int Executor::threads() const { return backend->threads(); }

int Executor::findProgram(std::string_view name) const {
  const auto &programs = manifest().programs();
  for (int i = 0; i < programs.size(); ++i)
    if (programs[i].name() == name)
      return i;
  return -1;
}

const plan::Program &Executor::program(int index) const {
  if (index < 0 || index >= manifest().programs_size())
    throw Error(ExitStatus::Bug,
                "the plan has no program " + std::to_string(index));
  return manifest().programs(index);
}

const plan::Buffer &Executor::buffer(std::uint32_t index) const {
  if (index >= static_cast<std::uint32_t>(manifest().buffers_size()))
    throw Error(ExitStatus::Bug,
                "the plan has no buffer " + std::to_string(index));
  return manifest().buffers(static_cast<int>(index));
}

void Executor::upload(std::uint32_t index, const std::byte *bytes) {
  buffer(index);
  backend->upload(index, bytes);
}

void Executor::feed(std::uint32_t index, const std::byte *bytes) {
  buffer(index);
  backend->feed(index, bytes);
}

bool Executor::convertsPixels(int index, int input) const {
  return program(index).data_inputs(input).has_pixel_conversion() && isOnGpu();
}

void Executor::setPixelMean(int index, int input,
                            const std::vector<float> &mean) {
  std::uint64_t count = mean.empty() ? 0 : 1;
  if (convertsPixels(index, input))
    for (std::int64_t dim :
         program(index).data_inputs(input).pixel_conversion().mean_dims())
      count = (count ? count : 1) * static_cast<std::uint64_t>(dim);
  if (!convertsPixels(index, input) || count != mean.size())
    throw Error(ExitStatus::Bug, "a data input takes no such mean");
  backend->setPixelMean(index, input, mean);
}

void Executor::feedPixels(int index, int input, const std::byte *block) {
  if (!convertsPixels(index, input))
    throw Error(ExitStatus::Bug, "a data input takes no pixels");
  backend->feedPixels(index, input, block);
}

void Executor::download(std::uint32_t index, std::byte *bytes) const {
  buffer(index);
  backend->download(index, bytes);
}

void Executor::uploadBytes(std::uint32_t arena, std::uint64_t offset,
                           const void *bytes, std::size_t size) {
  if (arena >= static_cast<std::uint32_t>(manifest().arenas_size()) ||
      offset > manifest().arenas(static_cast<int>(arena)).size() ||
      size > manifest().arenas(static_cast<int>(arena)).size() - offset)
    throw Error(ExitStatus::Bug, "bytes outside an arena were written");
  backend->uploadBytes(arena, offset, bytes, size);
}

void Executor::bindMemory(const MemoryBindings &bindings) {
  if (isOnGpu())
    throw Error(ExitStatus::Usage,
                "tensors of a plan for a GPU cannot be in the caller's memory");
  for (const auto &[index, memory] : bindings) {
    const plan::Arena &arena =
        manifest().arenas(static_cast<int>(buffer(index).arena_index()));
    if (arena.kind() == plan::SCALARS || arena.kind() == plan::CONSTANTS)
      throw Error(ExitStatus::Usage,
                  plan->path() + ": solver scalars and constants cannot be in "
                                 "the caller's memory");
  }
  backend->bindMemory(bindings);
}

bool Executor::hasBoundMemory(std::uint32_t index) const {
  buffer(index);
  return backend->hasBoundMemory(index);
}

std::byte *Executor::hostData(std::uint32_t index) const {
  buffer(index);
  return isOnGpu() ? nullptr : static_cast<std::byte *>(backend->data(index));
}

void *Executor::deviceData(std::uint32_t index) const {
  buffer(index);
  return isOnGpu() ? backend->data(index) : nullptr;
}

void Executor::read(std::uint32_t index,
                    const std::function<void(const std::byte *)> &use) const {
  if (const std::byte *bytes = hostData(index))
    return use(bytes);
  std::vector<std::byte> copy(buffer(index).size());
  backend->download(index, copy.data());
  use(copy.data());
}

void Executor::modify(std::uint32_t index,
                      const std::function<void(std::byte *)> &change) {
  overwrite(index, [&](std::byte *bytes) {
    if (isOnGpu())
      backend->download(index, bytes);
    change(bytes);
  });
}

void Executor::overwrite(std::uint32_t index,
                         const std::function<void(std::byte *)> &fill) {
  if (std::byte *bytes = hostData(index))
    return fill(bytes);
  std::vector<std::byte> copy(buffer(index).size());
  fill(copy.data());
  backend->upload(index, copy.data());
}

void Executor::packParameters() { backend->packParameters(); }

void Executor::run(int index, std::size_t begin, std::size_t end) {
  if (begin > end ||
      end > static_cast<std::size_t>(program(index).steps_size()))
    throw Error(ExitStatus::Bug, "steps outside the program were requested");
  backend->run(index, begin, end);
}

void Executor::run(int index) {
  const plan::Program &description = program(index);
  backend->run(index, 0, static_cast<std::size_t>(description.steps_size()));
  check(index);
}

void Executor::check(int index) const {
  runChecks(program(index), [&](auto buffer, auto use) { read(buffer, use); });
}

void Executor::synchronize() const { backend->synchronize(); }

RunResults
Executor::runTimed(int index,
                   const std::function<void(std::size_t, double)> &observer) {
  const plan::Program &description = program(index);
  backend->runTimed(index, observer);
  check(index);
  RunResults results;
  copyResults(description, results);
  return results;
}

void Executor::runChecks(const plan::Program &description,
                         const Reader &reader) const {
  for (const plan::Check &check : description.checks()) {
    std::int32_t status = 0;
    reader(check.status_buffer_index(), [&](const std::byte *bytes) {
      std::memcpy(&status, bytes, sizeof status);
    });
    if (status == 0)
      continue;
    const plan::Buffer &values = buffer(check.values_buffer_index());
    reader(check.values_buffer_index(), [&](const std::byte *bytes) {
      throwCheckFailure(check, status, values, bytes);
    });
  }
}

//===----------------------------------------------------------------------===//
// Asynchronous runs
//===----------------------------------------------------------------------===//

void RunResults::read(std::uint32_t index,
                      const std::function<void(const std::byte *)> &use) const {
  const auto entry = values.find(index);
  if (entry == values.end())
    throw Error(ExitStatus::Bug, "buffer " + std::to_string(index) +
                                     " is not a result of the run");
  use(entry->second.data());
}

std::vector<std::uint32_t>
Executor::resultBuffers(const plan::Program &description) const {
  std::set<std::uint32_t> indices;
  for (const plan::Output &output : description.outputs())
    indices.insert(output.buffer_index());
  for (const plan::Output &loss : description.unreported_losses())
    indices.insert(loss.buffer_index());
  for (const plan::NamedBuffer &count : description.item_counts())
    indices.insert(count.buffer_index());
  for (const plan::Check &check : description.checks()) {
    indices.insert(check.status_buffer_index());
    indices.insert(check.values_buffer_index());
  }
  return {indices.begin(), indices.end()};
}

/// Copies the results of a finished program.
void Executor::copyResults(const plan::Program &description,
                           RunResults &results) const {
  for (std::uint32_t result : resultBuffers(description)) {
    std::vector<std::byte> bytes(buffer(result).size());
    backend->download(result, bytes.data());
    results.values[result] = std::move(bytes);
  }
}

void Executor::start(const std::vector<int> &programs) {
  PendingRun run{programs, {}, {}, false};
  for (int index : programs)
    for (std::uint32_t result : resultBuffers(program(index)))
      if (std::find(run.reads.begin(), run.reads.end(), result) ==
          run.reads.end())
        run.reads.push_back(result);
  if (!backend->start(programs, run.reads)) {
    for (int index : programs) {
      this->run(index);
      copyResults(program(index), run.results);
    }
    run.done = true;
  }
  pending.push_back(std::move(run));
}

RunResults Executor::finish() {
  if (pending.empty())
    throw Error(ExitStatus::Bug, "no run was started");
  PendingRun run = std::move(pending.front());
  pending.pop_front();
  if (run.done)
    return std::move(run.results);
  const std::vector<std::byte> bytes = backend->finish();
  auto first = bytes.begin();
  for (std::uint32_t index : run.reads) {
    const auto end = first + static_cast<std::ptrdiff_t>(buffer(index).size());
    run.results.values[index].assign(first, end);
    first = end;
  }
  for (int index : run.programs)
    runChecks(program(index),
              [&](auto buffer, auto use) { run.results.read(buffer, use); });
  return std::move(run.results);
}

bool Executor::canStartTogether(int first, int second) const {
  constexpr std::uint64_t kMaxResultBytes = 1 << 20;
  std::uint64_t total = 0;
  const std::vector<std::uint32_t> results = resultBuffers(program(first));
  for (std::uint32_t index : results)
    total += buffer(index).size();
  if (total > kMaxResultBytes)
    return false;
  for (const plan::Step &step : program(second).steps())
    for (const plan::Operand &operand : step.operands())
      for (std::uint32_t index : results)
        if (plan::isWritten(operand) &&
            plan::overlap(buffer(operand.buffer_index()), buffer(index)))
          return false;
  return true;
}

void Executor::tune(const std::function<void(const TunedCall &)> &report) {
  synchronize();
  backend->tune(report);
}

Measurement Executor::measure(const std::vector<int> &programs, int count) {
  for (int index : programs)
    program(index);
  return backend->measure(programs, count);
}

std::string Executor::description() const { return backend->description(); }

std::string Executor::implementation(int index, std::size_t step) const {
  if (step >= static_cast<std::size_t>(program(index).steps_size()))
    throw Error(ExitStatus::Bug, "a step outside the program was requested");
  return backend->implementation(index, step);
}

HostLayers &Executor::hostLayers() { return backend->hostLayers(); }

std::uint64_t Executor::workspaceBytes() const {
  return backend->workspaceBytes();
}

} // namespace brew::runtime
