//===- LoopStepTest.cpp - Loops of steps ----------------------------------===//
#include "PlanBuilder.h"
#include "runtime/executor/Executor.h"

#include <gtest/gtest.h>

using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::test;

namespace {

std::vector<float> valuesOf(Executor &executor, std::uint32_t buffer,
                            std::size_t count) {
  std::vector<float> values(count);
  executor.read(buffer, [&](const std::byte *bytes) {
    std::copy_n(reinterpret_cast<const float *>(bytes), count, values.begin());
  });
  return values;
}

/// Runs y[t] = sum[t - 1] + 1, sum[t] = y[t] / 2 over three items, twice:
/// counting up, or down with `isReverse`. The last iteration runs only the
/// first step.
void checkLoop(bool isReverse) {
  PlanBuilder b;
  auto y = b.buffer("y", {3, 4}), sum = b.buffer("sum", {4}),
       item = b.buffer("item", {4});
  b.manifest.mutable_buffers(static_cast<int>(item))
      ->set_offset(b.manifest.buffers(static_cast<int>(y)).offset() +
                   (isReverse ? 32 : 0));
  Program body;
  b.launch(body, b.kernel("addOne", 2, 4), {sum}, {item});
  b.launch(body, b.kernel("halve", 2, 4), {item}, {sum});
  Step &loop = *b.program("main").add_steps();
  loop.mutable_loop()->set_iterations(3);
  loop.mutable_loop()->set_last_iteration_steps(1);
  *loop.mutable_loop()->mutable_steps() = body.steps();
  const std::int64_t stride = isReverse ? -16 : 16;
  loop.mutable_loop()->mutable_steps(0)->mutable_operands(1)->set_loop_stride(
      stride);
  loop.mutable_loop()->mutable_steps(1)->mutable_operands(0)->set_loop_stride(
      stride);
  addOperand(loop, y, Operand::WRITE);
  addOperand(loop, sum, Operand::READ_WRITE);
  Executor executor(b.build(), {2});
  for (int run = 0; run < 2; ++run) {
    executor.overwrite(sum, [](std::byte *bytes) {
      std::fill_n(reinterpret_cast<float *>(bytes), 4, 2.0F);
    });
    executor.run(0);
    // 2 + 1, 1.5 + 1, 1.25 + 1; the last step leaves the sum.
    std::vector<float> expected = {3,   3,   3,    3,    2.5,  2.5,
                                   2.5, 2.5, 2.25, 2.25, 2.25, 2.25};
    if (isReverse)
      std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(valuesOf(executor, y, 12), expected);
    EXPECT_EQ(valuesOf(executor, sum, 4), std::vector<float>(4, 1.25F));
  }
  EXPECT_EQ(executor.implementation(0, 0), "loop of kernel, kernel");
}

TEST(LoopStep, MovesArguments) { checkLoop(/*isReverse=*/false); }
TEST(LoopStep, RunsInReverse) { checkLoop(/*isReverse=*/true); }

} // namespace
