//===- PlanValidatorLoops.cpp - Rules for loops ---------------------------===//
#include "plan/Operands.h"
#include "plan/PlanFile.h"
#include "plan/PlanValidator.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace brew::plan {

/// Checks that an operand, in all iterations, is within a buffer that the loop
/// accesses in the same way.
void Validator::checkWithin(const Operand &operand, const Step &loop,
                            const std::string &where) const {
  const Buffer &accessed =
      manifest.buffers(static_cast<int>(operand.buffer_index()));
  const std::int64_t iterations = loop.loop().iterations();
  const std::int64_t stride = operand.loop_stride();
  // No product overflows.
  constexpr auto maxBytes = static_cast<std::int64_t>(kMaxBytes);
  const std::int64_t maxStride =
      iterations == 1 ? maxBytes : maxBytes / (iterations - 1);
  require(stride <= maxStride && stride >= -maxStride, where,
          "an operand leaves the buffers of its loop");
  require(stride % static_cast<std::int64_t>(elementSize(accessed.type())) == 0,
          where, "an operand moves by a part of an element");
  const bool isWithin = std::any_of(
      loop.operands().begin(), loop.operands().end(),
      [&](const Operand &candidate) {
        return contains(
                   manifest.buffers(static_cast<int>(candidate.buffer_index())),
                   accessed, stride, iterations) &&
               (isWritten(candidate) || !isWritten(operand));
      });
  require(isWithin, where, "an operand leaves the buffers of its loop");
}

/// Checks that operands that move differently share no bytes in any iteration.
/// checkOverlaps() compares operands in the first iteration, and so in all if
/// they move alike. A result in place moves like its argument, which alone is
/// passed to the kernel.
void Validator::checkMovingOverlaps(const Step &step, std::int64_t iterations,
                                    const std::string &where) const {
  struct Range {
    std::uint32_t arena;
    std::int64_t begin, end, stride;
    bool isWritten;
  };
  std::vector<Range> ranges;
  bool areAlike = true;
  for (int i = 0; i < step.operands_size(); ++i) {
    const Buffer &accessed = operand(step, i);
    const std::int64_t stride = step.operands(i).loop_stride(),
                       moved = stride * (iterations - 1);
    const auto first = static_cast<std::int64_t>(accessed.offset());
    ranges.push_back({accessed.arena_index(),
                      first + std::min<std::int64_t>(moved, 0),
                      first + std::max<std::int64_t>(moved, 0) +
                          static_cast<std::int64_t>(accessed.size()),
                      stride, isWritten(step.operands(i))});
    areAlike &= stride == ranges.front().stride;
  }
  constexpr std::size_t kMaxOperands = 256; // the comparison is quadratic
  require(areAlike || ranges.size() <= kMaxOperands, where,
          "a launch in a loop has too many operands");
  for (std::size_t a = 0; !areAlike && a < ranges.size(); ++a)
    for (std::size_t b = 0; ranges[a].isWritten && b < ranges.size(); ++b)
      require(ranges[a].stride == ranges[b].stride ||
                  ranges[a].arena != ranges[b].arena ||
                  ranges[a].begin >= ranges[b].end ||
                  ranges[b].begin >= ranges[a].end,
              where, "its result overlaps an operand in a later iteration");
}

void Validator::checkLoop(const Step &step, int program,
                          const std::string &where) const {
  const Loop &loop = step.loop();
  require(loop.steps_size() > 0, where, "a loop has no steps");
  require(loop.has_iterations() && loop.iterations() >= 1, where,
          "a loop has no iterations");
  // Caffe's blobs have no larger dimensions.
  require(loop.iterations() <= std::numeric_limits<std::int32_t>::max(), where,
          "a loop has too many iterations");
  require(!loop.has_last_iteration_steps() ||
              (loop.last_iteration_steps() >= 1 &&
               loop.last_iteration_steps() <=
                   static_cast<std::uint32_t>(loop.steps_size())),
          where, "last_iteration_steps is not a number of steps");
  for (int i = 0; i < loop.steps_size(); ++i) {
    const Step &nested = loop.steps(i);
    const std::string at =
        where + ", step " + std::to_string(i) + " of the loop";
    require(nested.has_launch() || nested.has_convolution() ||
                nested.has_inner_product(),
            at, "it is neither a launch nor a library call");
    checkStep(nested, program, /*isInLoop=*/true, at);
    for (const Operand &operand : nested.operands()) {
      require(nested.has_launch() || operand.loop_stride() == 0, at,
              "an operand of a library call moves");
      checkWithin(operand, step, at);
    }
    checkMovingOverlaps(nested, loop.iterations(), at);
  }
}

} // namespace brew::plan
