//===- PlanFuzz.cpp - Fuzz entry: loading untrusted plans -----------------===//
//
// libFuzzer's entry points (`plan_fuzzer`, built with Clang), which the unit
// test PlanMutation also calls for a fixed series of damaged plans. Magic, size
// and checksum are corrected first, since they would hide all other errors.
//
//===----------------------------------------------------------------------===//
#include "PlanBuilder.h"
#include "PlanMutator.h"
#include "plan/Operands.h"
#include "support/Error.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace brew;
using namespace brew::plan;

/// Aborts, which fuzzers and tests report.
static void require(bool holds) {
  if (!holds)
    std::abort();
}

/// Reads all content of an accepted plan, as its users do without checks.
static void readAllContent(const PlanFile &plan) {
  const Manifest &manifest = plan.manifest();
  volatile unsigned char sink = 0;
  for (int i = 0; i < manifest.segments_size(); ++i) {
    const std::byte *bytes = plan.segment(static_cast<std::uint32_t>(i));
    for (std::uint64_t k = 0; k < manifest.segments(i).size(); ++k)
      sink = static_cast<unsigned char>(bytes[k]);
  }
  (void)sink;
  for (const Buffer &buffer : manifest.buffers()) {
    const Arena &arena =
        manifest.arenas(static_cast<int>(buffer.arena_index()));
    require(buffer.offset() + buffer.size() <= arena.size());
    std::int64_t lastOffset = 0;
    for (int d = 0; d < buffer.dims_size(); ++d)
      lastOffset += (buffer.dims(d) - 1) * buffer.strides(d);
    require((static_cast<std::uint64_t>(lastOffset) + 1) *
                elementSize(buffer.type()) <=
            buffer.size());
  }
  auto requireBuffer = [&](std::uint32_t index) {
    require(index < static_cast<std::uint32_t>(manifest.buffers_size()));
  };
  for (const Parameter &parameter : manifest.parameters()) {
    requireBuffer(parameter.buffer_index());
    for (std::uint32_t state : parameter.state_buffer_indices())
      requireBuffer(state);
  }
  for (const Program &program : manifest.programs())
    for (const Step &step : program.steps()) {
      for (const Operand &operand : step.operands())
        requireBuffer(operand.buffer_index());
      if (step.has_launch()) {
        require(step.launch().kernel_index() <
                static_cast<std::uint32_t>(manifest.kernels_size()));
        kernelArguments(manifest, step);
      } else if (step.has_convolution() || step.has_inner_product()) {
        callOperands(step);
        for (std::uint32_t index : alternativeArguments(step))
          requireBuffer(index);
      } else if (step.has_host()) {
        for (const HostOperand &operand : hostOperands(manifest, step))
          require(operand.position < (operand.isTop
                                          ? step.host().top_count()
                                          : step.host().bottom_count()));
      }
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  try {
    readAllContent(*PlanFile::fromBytes(
        test::withFittingHeader(std::move(bytes)), "fuzz.plan"));
  } catch (const Error &error) {
    require(error.status() == ExitStatus::BadInput);
  }
  return 0;
}

#ifdef BREW_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t *data, std::size_t size,
                                        std::size_t maxSize);

/// Starts from a complete plan, then mixes format-aware mutations with
/// libFuzzer's own.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t *data,
                                               std::size_t size,
                                               std::size_t maxSize,
                                               unsigned seed) {
  static const std::string initialPlan = [] {
    test::PlanBuilder builder = test::completePlan();
    builder.segments.back().resize(200); // its code is never run
    return builder.bytes();
  }();
  std::mt19937_64 random(seed);
  std::string bytes(reinterpret_cast<const char *>(data), size);
  Header header;
  if (size >= sizeof header)
    std::memcpy(&header, data, sizeof header);
  if (size < sizeof header || header.manifestOffset > size ||
      header.manifestSize > size - header.manifestOffset ||
      header.manifestSize == 0)
    bytes = initialPlan;
  else if (random() % 2)
    return LLVMFuzzerMutate(data, size, maxSize);
  bytes = test::mutatePlan(bytes, random);
  std::size_t result = std::min(bytes.size(), maxSize);
  std::memcpy(data, bytes.data(), result);
  return result;
}
#endif
