//===- PlanValidatorOperands.cpp - Rules for the operands of steps --------===//
#include "plan/Operands.h"
#include "plan/PlanFile.h"
#include "plan/PlanValidator.h"

#include <algorithm>
#include <vector>

namespace brew::plan {

using Accesses = std::vector<Operand::Access>;

const Buffer &Validator::operand(const Step &step, int index) const {
  return manifest.buffers(
      static_cast<int>(step.operands(index).buffer_index()));
}

void Validator::checkWritable(const Buffer &buffer,
                              const std::string &where) const {
  require(manifest.arenas(static_cast<int>(buffer.arena_index())).kind() !=
              CONSTANTS,
          where, "it writes to a constant");
}

/// Fails if `written` and `other` overlap. Checks the bytes of dense buffers
/// only: strided views of one region may interleave without sharing a byte, but
/// they begin at different elements.
void Validator::checkDisjoint(const Buffer &written, const Buffer &other,
                              const std::string &where) const {
  auto isDense = [&](const Buffer &buffer) {
    std::int64_t last = 0;
    for (int d = 0; d < buffer.dims_size(); ++d)
      last += (buffer.dims(d) - 1) * buffer.strides(d);
    return last + 1 == elementCount(buffer);
  };
  auto byteSize = [](const Buffer &buffer) {
    return static_cast<std::uint64_t>(elementCount(buffer)) *
           elementSize(buffer.type());
  };
  if (written.arena_index() != other.arena_index())
    return;
  require(written.offset() != other.offset() &&
              (!isDense(written) || !isDense(other) ||
               written.offset() + byteSize(written) <= other.offset() ||
               other.offset() + byteSize(other) <= written.offset()),
          where, "its result overlaps an operand");
}

/// Returns the accesses of a library call: reads, except of the result, which
/// has the position of y, x, or w and b.
static Accesses callAccesses(const Step &step, const Epilogue &epilogue) {
  const auto result =
      epilogue.accumulate() ? Operand::READ_WRITE : Operand::WRITE;
  Accesses accesses(static_cast<std::size_t>(step.operands_size()),
                    Operand::READ);
  switch (directionOf(step)) {
  case FORWARD:
    accesses[2] = result;
    break;
  case BACKWARD_DATA:
    accesses[0] = result;
    break;
  case BACKWARD_WEIGHTS:
    accesses[1] = result;
    if (accesses.size() > 3)
      accesses[3] = result;
    break;
  }
  return accesses;
}

static Accesses allReduceAccesses(const Step &step) {
  const auto count = static_cast<std::size_t>(step.operands_size());
  if (step.all_reduce().kind() == AllReduceCall::WAIT)
    return Accesses(count, Operand::READ_WRITE);
  Accesses accesses(count, Operand::WRITE);
  std::fill_n(accesses.begin(), count / 2, Operand::READ);
  return accesses;
}

static Accesses hostAccesses(const HostCall &call) {
  const bool isForward = call.direction() == FORWARD;
  Accesses accesses(call.bottom_count(), Operand::READ);
  accesses.insert(accesses.end(), call.top_count(),
                  isForward ? Operand::WRITE : Operand::READ);
  if (!isForward)
    accesses.insert(accesses.end(), call.top_count(), Operand::READ);
  accesses.insert(accesses.end(),
                  static_cast<std::size_t>(call.gradient_bottoms_size()),
                  Operand::WRITE);
  return accesses;
}

/// Checks the number of operands and their accesses. Launches may read or write
/// any argument; their results in place are written.
void Validator::checkAccess(const Step &step, const std::string &where) const {
  const auto count = static_cast<std::uint64_t>(step.operands_size());
  Accesses expected;
  bool isCountValid = false;
  switch (step.action_case()) {
  case Step::kLaunch: {
    const std::uint32_t arguments = kernel(step.launch().has_kernel_index(),
                                           step.launch().kernel_index(), where)
                                        .argument_count();
    isCountValid = count >= arguments;
    for (const Operand &operand : step.operands())
      expected.push_back(expected.size() < arguments ? operand.access()
                                                     : Operand::WRITE);
    break;
  }
  case Step::kConvolution:
  case Step::kInnerProduct:
    require(step.has_convolution() ? step.convolution().has_direction()
                                   : step.inner_product().has_direction(),
            where, "direction is missing");
    isCountValid = count == 3 || count == 4;
    if (isCountValid)
      expected = callAccesses(step, step.has_convolution()
                                        ? step.convolution().epilogue()
                                        : step.inner_product().epilogue());
    break;
  case Step::kCopy:
    isCountValid = count == 2;
    expected = {Operand::READ, Operand::WRITE};
    break;
  case Step::kAllReduce:
    require(step.all_reduce().has_kind(), where,
            "the kind of an all-reduce is missing");
    isCountValid =
        count > 0 &&
        (step.all_reduce().kind() == AllReduceCall::WAIT || count % 2 == 0);
    expected = allReduceAccesses(step);
    break;
  case Step::kHost: {
    const HostCall &call = step.host();
    require(call.has_direction(), where, "direction is missing");
    const std::uint64_t tops = call.top_count();
    isCountValid =
        count == call.bottom_count() +
                     (call.direction() == FORWARD ? tops : 2 * tops) +
                     static_cast<std::uint64_t>(call.gradient_bottoms_size());
    if (isCountValid)
      expected = hostAccesses(call);
    break;
  }
  case Step::ACTION_NOT_SET:
    break;
  }
  require(isCountValid, where,
          "the number of operands does not match the kind of step");
  for (int i = 0; i < step.operands_size(); ++i)
    require(step.operands(i).access() == expected[static_cast<std::size_t>(i)],
            where, "an operand's access does not match the kind of step");
}

/// Returns whether operand `written` may occupy the bytes of operand `other`.
static bool mayShareBytes(const Step &step, int written, int other,
                          std::uint32_t argumentCount) {
  if (step.has_launch())
    return static_cast<std::uint32_t>(written) >= argumentCount &&
           static_cast<std::uint32_t>(other) < argumentCount &&
           !isWritten(step.operands(other));
  return step.has_all_reduce() &&
         step.all_reduce().kind() == AllReduceCall::START &&
         written - step.operands_size() / 2 == other;
}

void Validator::checkOperands(const Step &step, int program,
                              const std::string &where) const {
  for (const Operand &operand : step.operands()) {
    buffer(operand.has_buffer_index(), operand.buffer_index(), program, where,
           "an operand");
    require(operand.has_access(), where, "an operand's access is missing");
  }
  checkAccess(step, where);
  const std::uint32_t arguments =
      step.has_launch()
          ? manifest.kernels(static_cast<int>(step.launch().kernel_index()))
                .argument_count()
          : 0;
  for (int i = 0; i < step.operands_size(); ++i) {
    if (!isWritten(step.operands(i)))
      continue;
    const Buffer &written = operand(step, i);
    checkWritable(written, where);
    bool isInPlace = false;
    for (int j = 0; j < step.operands_size(); ++j) {
      const Buffer &other = operand(step, j);
      if (j == i)
        continue;
      if (mayShareBytes(step, i, j, arguments) &&
          written.arena_index() == other.arena_index() &&
          written.offset() == other.offset() && written.size() <= other.size())
        isInPlace = true;
      else
        checkDisjoint(written, other, where);
    }
    require(!step.has_launch() || static_cast<std::uint32_t>(i) < arguments ||
                isInPlace,
            where, "a result in place does not have the bytes of an argument");
  }
}

} // namespace brew::plan
