//===- Operands.h - Operands of steps ---------------------------*- C++ -*-===//
//
// The order of operands is documented at Step.operands in plan.proto. Functions
// that name operands by their role require a validated step.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/plan.pb.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace brew::plan {

inline bool isRead(const Operand &operand) {
  return operand.access() != Operand::WRITE;
}
inline bool isWritten(const Operand &operand) {
  return operand.access() != Operand::READ;
}

/// Returns whether two buffers share bytes of their arena. Counts the gaps of
/// strided buffers as their bytes.
bool overlap(const Buffer &first, const Buffer &second);

/// Returns whether `buffer` contains the bytes of `accessed` in each of `runs`
/// iterations, between which it moves by `stride` bytes. Their product must not
/// overflow.
bool contains(const Buffer &buffer, const Buffer &accessed, std::int64_t stride,
              std::int64_t runs);

/// Buffer indices of a convolution's or an inner product's operands.
struct CallOperands {
  std::uint32_t x, w, y;
  std::optional<std::uint32_t> b;
};
CallOperands callOperands(const Step &step);

/// Returns the direction of a convolution or an inner product.
Direction directionOf(const Step &step);

/// Returns the buffer indices of a launch's kernel arguments.
std::vector<std::uint32_t> kernelArguments(const Manifest &manifest,
                                           const Step &step);
/// Returns the buffer indices of the kernel arguments of a step's generated
/// alternative.
std::vector<std::uint32_t> alternativeArguments(const Step &step);

/// An operand of a host layer.
struct HostOperand {
  std::uint32_t index; ///< of the buffer
  const Buffer *buffer;
  bool isWritten, isTop, isGradient;
  std::size_t position; ///< of its blob among the bottoms or tops
};
/// Returns the operands of a step with a HostCall, in the order of the step.
/// `manifest` must outlive them.
std::vector<HostOperand> hostOperands(const Manifest &manifest,
                                      const Step &step);

/// Returns the number of steps of a loop's last iteration.
int lastIterationSteps(const Loop &loop);
/// Returns how many times a loop runs its step `index`.
std::int64_t runsOf(const Loop &loop, int index);

} // namespace brew::plan
