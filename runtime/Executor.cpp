//===- Executor.cpp - Runs the programs of a plan -------------------------===//
#include "runtime/Executor.h"

#include "formats/Error.h"
#include "runtime/Backend.h"
#include "runtime/Checks.h"

#include <cstring>
#include <vector>

namespace brew::runtime {

std::string describeStep(const plan::PlanFile &plan,
                         const plan::Program &program, int index) {
  std::string layers;
  for (const std::string &layer : program.steps(index).layers())
    layers += (layers.empty() ? "" : "+") + layer;
  return plan.path() + ": program '" + program.name() + "', step " +
         std::to_string(index) + (layers.empty() ? "" : " (" + layers + ")");
}

Executor::Executor(std::shared_ptr<const plan::PlanFile> file,
                   ExecutorOptions options)
    : plan(std::move(file)), backend(makeCpuBackend(plan, options)) {}
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

std::byte *Executor::hostData(std::uint32_t index) const {
  buffer(index);
  return backend->hostData(index);
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
  if (std::byte *bytes = hostData(index))
    return change(bytes);
  std::vector<std::byte> copy(buffer(index).size());
  backend->download(index, copy.data());
  change(copy.data());
  backend->upload(index, copy.data());
}

void Executor::run(int index, std::size_t begin, std::size_t end) {
  if (begin > end ||
      end > static_cast<std::size_t>(program(index).steps_size()))
    throw Error(ExitStatus::Bug, "steps outside the program were asked for");
  backend->run(index, begin, end);
}

void Executor::run(int index) {
  const plan::Program &description = program(index);
  backend->run(index, 0, static_cast<std::size_t>(description.steps_size()));
  runChecks(description);
}

void Executor::runTimed(
    int index, const std::function<void(std::size_t, double)> &observer) {
  const plan::Program &description = program(index);
  backend->runTimed(index, observer);
  runChecks(description);
}

void Executor::runChecks(const plan::Program &description) const {
  for (const plan::Check &check : description.checks()) {
    std::int32_t status = 0;
    read(check.status_buffer_index(), [&](const std::byte *bytes) {
      std::memcpy(&status, bytes, sizeof status);
    });
    if (status == 0)
      continue;
    const plan::Buffer &values = buffer(check.values_buffer_index());
    read(check.values_buffer_index(), [&](const std::byte *bytes) {
      failCheck(check, status, values, bytes);
    });
  }
}

std::string Executor::implementation(int index, std::size_t step) const {
  if (step >= static_cast<std::size_t>(program(index).steps_size()))
    throw Error(ExitStatus::Bug, "a step outside the program was asked for");
  return backend->implementation(index, step);
}

std::uint64_t Executor::workspaceBytes() const {
  return backend->workspaceBytes();
}

} // namespace brew::runtime
