//===- PlanValidatorOperands.cpp - Rules for the operands of steps --------===//
#include "plan/Operands.h"
#include "plan/PlanFile.h"
#include "plan/PlanValidator.h"

#include <algorithm>
#include <tuple>
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
  case Step::kLoop:
    isCountValid = true;
    for (const Operand &operand : step.operands())
      expected.push_back(operand.access());
    break;
  case Step::ACTION_NOT_SET:
    break;
  }
  require(isCountValid, where,
          "the number of operands does not match the kind of step");
  for (int i = 0; i < step.operands_size(); ++i)
    require(step.operands(i).access() == expected[static_cast<std::size_t>(i)],
            where, "an operand's access does not match the kind of step");
}

namespace {

/// The bytes of an operand.
struct ByteRange {
  int operand;
  std::uint32_t arena;
  std::uint64_t begin, end;
  /// Strided views of one region may interleave without sharing a byte, so only
  /// the first elements of buffers with gaps are compared.
  bool isDense, isWritten;

  bool beginsAt(const ByteRange &other) const {
    return arena == other.arena && begin == other.begin;
  }
};

} // namespace

static bool isDense(const Buffer &buffer) {
  std::int64_t last = 0;
  for (int d = 0; d < buffer.dims_size(); ++d)
    last += (buffer.dims(d) - 1) * buffer.strides(d);
  return last + 1 == elementCount(buffer);
}

/// Returns whether operand `written` may occupy the bytes of operand `other`.
static bool mayShareBytes(const Step &step, int written, int other,
                          int argumentCount) {
  if (step.has_launch())
    return written >= argumentCount && other < argumentCount &&
           !isWritten(step.operands(other));
  return step.has_all_reduce() &&
         step.all_reduce().kind() == AllReduceCall::START &&
         written - step.operands_size() / 2 == other;
}

/// Checks that written operands share no bytes with others, except results in
/// place, which must have the bytes of an argument. Sorts the operands, since a
/// launch may have thousands.
void Validator::checkOverlaps(const Step &step, int argumentCount,
                              const std::string &where) const {
  const char *overlaps = "its result overlaps an operand";
  std::vector<ByteRange> ranges;
  for (int i = 0; i < step.operands_size(); ++i) {
    const Buffer &buffer = operand(step, i);
    const auto bytes = static_cast<std::uint64_t>(elementCount(buffer)) *
                       elementSize(buffer.type());
    ranges.push_back({i, buffer.arena_index(), buffer.offset(),
                      buffer.offset() + bytes, isDense(buffer),
                      isWritten(step.operands(i))});
  }
  // Written operands first among those that begin at the same byte.
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange &a, const ByteRange &b) {
              return std::tie(a.arena, a.begin, b.isWritten) <
                     std::tie(b.arena, b.begin, a.isWritten);
            });
  std::vector<bool> isInPlace(ranges.size());
  std::uint64_t reach = 0, writtenReach = 0; // ends of earlier dense ranges
  for (std::size_t first = 0, end; first < ranges.size(); first = end) {
    if (first == 0 || ranges[first].arena != ranges[first - 1].arena)
      reach = writtenReach = 0;
    for (end = first;
         end < ranges.size() && ranges[end].beginsAt(ranges[first]); ++end) {
      const ByteRange &range = ranges[end];
      require(!range.isDense ||
                  range.begin >= (range.isWritten ? reach : writtenReach),
              where, overlaps);
      if (end == first || !ranges[first].isWritten)
        continue;
      const int written = ranges[first].operand;
      require(mayShareBytes(step, written, range.operand, argumentCount) &&
                  operand(step, written).size() <=
                      operand(step, range.operand).size(),
              where, overlaps);
      isInPlace[static_cast<std::size_t>(written)] = true;
    }
    for (std::size_t i = first; i < end; ++i)
      if (ranges[i].isDense) {
        reach = std::max(reach, ranges[i].end);
        if (ranges[i].isWritten)
          writtenReach = std::max(writtenReach, ranges[i].end);
      }
  }
  for (int i = argumentCount; step.has_launch() && i < step.operands_size();
       ++i)
    require(isInPlace[static_cast<std::size_t>(i)], where,
            "a result in place does not have the bytes of an argument");
}

void Validator::checkOperands(const Step &step, int program, bool isInLoop,
                              const std::string &where) const {
  for (const Operand &operand : step.operands()) {
    const Buffer &accessed =
        buffer(operand.has_buffer_index(), operand.buffer_index(), program,
               where, "an operand");
    require(operand.has_access(), where, "an operand's access is missing");
    require(isInLoop || !operand.has_loop_stride(), where,
            "an operand moves outside of a loop");
    if (isWritten(operand))
      checkWritable(accessed, where);
  }
  checkAccess(step, where);
  const auto argumentCount =
      step.has_launch()
          ? manifest.kernels(static_cast<int>(step.launch().kernel_index()))
                .argument_count()
          : 0;
  checkOverlaps(step, static_cast<int>(argumentCount), where);
}

} // namespace brew::plan
