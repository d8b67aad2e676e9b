//===- PlanValidatorLoopsTest.cpp - Broken rules of loops -----------------===//
#include "PlanBuilder.h"

#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <ostream>

using namespace brew::plan;
using namespace brew::test;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// A change that makes the loop invalid, and a part of the expected error.
struct BrokenLoop {
  const char *name;
  std::function<void(Manifest &, Step &)> spoil;
  const char *message;
};

void PrintTo(const BrokenLoop &rule, std::ostream *out) { *out << rule.name; }

enum : std::uint32_t { X, Y, Z, XItem, YItem };

/// A plan with one loop of three iterations: y[t] = x[t] + 1, z = y[t] / 2.
PlanBuilder loopPlan() {
  PlanBuilder b;
  auto x = b.buffer("x", {3, 16}), y = b.buffer("y", {3, 16}),
       z = b.buffer("z", {16});
  auto addItem = [&](std::uint32_t full) {
    auto item = b.buffer("item", {16});
    b.manifest.mutable_buffers(static_cast<int>(item))
        ->set_offset(b.manifest.buffers(static_cast<int>(full)).offset());
    return item;
  };
  auto xItem = addItem(x), yItem = addItem(y);
  Program body, &program = b.program("main");
  b.launch(body, b.kernel("addOne", 2, 16), {xItem}, {yItem});
  b.launch(body, b.kernel("halve", 2, 16), {yItem}, {z});
  Step &loop = *program.add_steps();
  loop.mutable_loop()->set_iterations(3);
  *loop.mutable_loop()->mutable_steps() = body.steps();
  for (int step = 0; step < 2; ++step)
    for (Operand &operand :
         *loop.mutable_loop()->mutable_steps(step)->mutable_operands())
      if (operand.buffer_index() != z)
        operand.set_loop_stride(64);
  addOperand(loop, x, Operand::READ);
  addOperand(loop, y, Operand::WRITE);
  addOperand(loop, z, Operand::WRITE);
  return b;
}

Step &nested(Step &loop, int step) {
  return *loop.mutable_loop()->mutable_steps(step);
}

TEST(PlanValidatorLoops, AcceptsLoops) { EXPECT_NO_THROW(loopPlan().build()); }

class PlanValidatorLoops : public testing::TestWithParam<BrokenLoop> {};

TEST_P(PlanValidatorLoops, RefusesBrokenLoop) {
  PlanBuilder builder = loopPlan();
  GetParam().spoil(builder.manifest,
                   *builder.manifest.mutable_programs(0)->mutable_steps(0));
  fixedOffsets(builder.manifest, builder.segments);
  const std::string error =
      loadError(assemble(builder.manifest, builder.segments));
  EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
}

const char *const kLeaves = "an operand leaves the buffers of its loop";

INSTANTIATE_TEST_SUITE_P(
    All, PlanValidatorLoops,
    testing::Values(
        BrokenLoop{
            "NoSteps",
            [](Manifest &, Step &loop) { loop.mutable_loop()->clear_steps(); },
            "a loop has no steps"},
        BrokenLoop{"NoIterations",
                   [](Manifest &, Step &loop) {
                     loop.mutable_loop()->set_iterations(0);
                   },
                   "a loop has no iterations"},
        BrokenLoop{"TooManyIterations",
                   [](Manifest &, Step &loop) {
                     loop.mutable_loop()->set_iterations(4);
                   },
                   kLeaves},
        BrokenLoop{"HugeIterations",
                   [](Manifest &, Step &loop) {
                     loop.mutable_loop()->set_iterations(kHuge);
                   },
                   "a loop has too many iterations"},
        BrokenLoop{"MoreIterationsThanItems",
                   [](Manifest &, Step &loop) {
                     loop.mutable_loop()->set_iterations(
                         std::numeric_limits<std::int32_t>::max());
                   },
                   kLeaves},
        BrokenLoop{"OverlapsLater",
                   [](Manifest &m, Step &loop) {
                     m.mutable_buffers(XItem)->set_offset(
                         m.buffers(YItem).offset() + 128);
                     nested(loop, 0).mutable_operands(0)->clear_loop_stride();
                   },
                   "its result overlaps an operand in a later iteration"},
        BrokenLoop{"InPlaceMovesOtherwise",
                   [](Manifest &m, Step &loop) {
                     Step &launch = nested(loop, 0);
                     addOperand(launch, XItem, Operand::WRITE);
                     loop.mutable_operands(0)->set_access(Operand::READ_WRITE);
                     (void)m;
                   },
                   "its result overlaps an operand in a later iteration"},
        BrokenLoop{"HugeStride",
                   [](Manifest &, Step &loop) {
                     nested(loop, 0).mutable_operands(1)->set_loop_stride(
                         kHuge - 3);
                   },
                   kLeaves},
        BrokenLoop{"NegativeStride",
                   [](Manifest &, Step &loop) {
                     nested(loop, 0).mutable_operands(1)->set_loop_stride(-64);
                   },
                   kLeaves},
        BrokenLoop{"SmallestStride",
                   [](Manifest &, Step &loop) {
                     nested(loop, 0).mutable_operands(1)->set_loop_stride(
                         std::numeric_limits<std::int64_t>::min());
                   },
                   kLeaves},
        BrokenLoop{"PartOfAnElement",
                   [](Manifest &, Step &loop) {
                     nested(loop, 0).mutable_operands(1)->set_loop_stride(2);
                   },
                   "an operand moves by a part of an element"},
        BrokenLoop{"LastIterationSteps",
                   [](Manifest &, Step &loop) {
                     loop.mutable_loop()->set_last_iteration_steps(3);
                   },
                   "last_iteration_steps is not a number of steps"},
        BrokenLoop{"WritesWhatTheLoopReads",
                   [](Manifest &, Step &loop) {
                     loop.mutable_operands(1)->set_access(Operand::READ);
                   },
                   kLeaves},
        BrokenLoop{"MovesOutsideOfALoop",
                   [](Manifest &m, Step &loop) {
                     *m.mutable_programs(0)->add_steps() = nested(loop, 0);
                   },
                   "an operand moves outside of a loop"},
        BrokenLoop{
            "Copy",
            [](Manifest &, Step &loop) { nested(loop, 0).mutable_copy(); },
            "it is neither a launch nor a library call"},
        BrokenLoop{"NestedLoop",
                   [](Manifest &, Step &loop) {
                     const Step inner = loop;
                     nested(loop, 0) = inner;
                   },
                   "it is neither a launch nor a library call"},
        BrokenLoop{"UnknownKernel",
                   [](Manifest &, Step &loop) {
                     nested(loop, 0).mutable_launch()->set_kernel_index(9);
                   },
                   "kernel"}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
