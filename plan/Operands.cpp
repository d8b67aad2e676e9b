//===- Operands.cpp - Operands of steps -----------------------------------===//
#include "plan/Operands.h"

#include <algorithm>

namespace brew::plan {

bool overlap(const Buffer &first, const Buffer &second) {
  return first.arena_index() == second.arena_index() &&
         first.offset() < second.offset() + second.size() &&
         second.offset() < first.offset() + first.size();
}

bool contains(const Buffer &buffer, const Buffer &accessed, std::int64_t stride,
              std::int64_t runs) {
  const auto begin = static_cast<std::int64_t>(accessed.offset()) -
                     static_cast<std::int64_t>(buffer.offset());
  const std::int64_t last = begin + stride * (runs - 1);
  return buffer.arena_index() == accessed.arena_index() &&
         std::min(begin, last) >= 0 &&
         std::max(begin, last) + static_cast<std::int64_t>(accessed.size()) <=
             static_cast<std::int64_t>(buffer.size());
}

CallOperands callOperands(const Step &step) {
  CallOperands result{step.operands(0).buffer_index(),
                      step.operands(1).buffer_index(),
                      step.operands(2).buffer_index(),
                      {}};
  if (step.operands_size() > 3)
    result.b = step.operands(3).buffer_index();
  return result;
}

Direction directionOf(const Step &step) {
  return step.has_convolution() ? step.convolution().direction()
                                : step.inner_product().direction();
}

std::vector<std::uint32_t> kernelArguments(const Manifest &manifest,
                                           const Step &step) {
  const auto count =
      manifest.kernels(static_cast<int>(step.launch().kernel_index()))
          .argument_count();
  std::vector<std::uint32_t> arguments;
  for (int i = 0; i < static_cast<int>(count); ++i)
    arguments.push_back(step.operands(i).buffer_index());
  return arguments;
}

std::vector<std::uint32_t> alternativeArguments(const Step &step) {
  std::vector<std::uint32_t> arguments;
  for (std::uint32_t index : step.generated_alternative().operand_indices())
    arguments.push_back(step.operands(static_cast<int>(index)).buffer_index());
  return arguments;
}

std::vector<HostOperand> hostOperands(const Manifest &manifest,
                                      const Step &step) {
  const HostCall &call = step.host();
  std::vector<HostOperand> result;
  auto add = [&](bool isTop, bool isGradient, std::size_t position) {
    const Operand &operand = step.operands(static_cast<int>(result.size()));
    const std::uint32_t index = operand.buffer_index();
    result.push_back({index, &manifest.buffers(static_cast<int>(index)),
                      isWritten(operand), isTop, isGradient, position});
  };
  for (std::uint32_t i = 0; i < call.bottom_count(); ++i)
    add(/*isTop=*/false, /*isGradient=*/false, i);
  for (std::uint32_t i = 0; i < call.top_count(); ++i)
    add(/*isTop=*/true, /*isGradient=*/false, i);
  if (call.direction() == FORWARD)
    return result;
  for (std::uint32_t i = 0; i < call.top_count(); ++i)
    add(/*isTop=*/true, /*isGradient=*/true, i);
  for (std::uint32_t bottom : call.gradient_bottoms())
    add(/*isTop=*/false, /*isGradient=*/true, bottom);
  return result;
}

int lastIterationSteps(const Loop &loop) {
  return loop.has_last_iteration_steps()
             ? static_cast<int>(loop.last_iteration_steps())
             : loop.steps_size();
}

std::int64_t runsOf(const Loop &loop, int index) {
  return loop.iterations() - (index >= lastIterationSteps(loop));
}

} // namespace brew::plan
