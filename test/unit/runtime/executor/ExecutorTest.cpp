//===- ExecutorTest.cpp - Programs of hand-written plans ------------------===//
#include "runtime/executor/Executor.h"

#include "PlanBuilder.h"
#include "support/Error.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace brew;
using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::test;

namespace {

float *floatData(Executor &executor, std::uint32_t buffer) {
  return reinterpret_cast<float *>(executor.hostData(buffer));
}
std::int32_t *integerData(Executor &executor, std::uint32_t buffer) {
  return reinterpret_cast<std::int32_t *>(executor.hostData(buffer));
}

/// Returns the Error that `action` throws, as "STATUS: TEXT".
template <typename Action> std::string errorOf(const Action &action) {
  try {
    action();
    return "";
  } catch (const Error &error) {
    return std::to_string(static_cast<int>(error.status())) + ": " +
           error.what();
  }
}

TEST(Executor, RunsKernelsInOrder) {
  PlanBuilder b;
  auto x = b.buffer("x", {1000}), y = b.buffer("y", {1000}),
       z = b.buffer("z", {1000});
  auto add = b.kernel("addOne", 2, 1000, 64);
  Program &program = b.program("main");
  b.launch(program, add, {x}, {y});
  b.launch(program, add, {y}, {z});
  for (int threads : {1, 2, 5}) {
    Executor executor(b.build(), {threads});
    EXPECT_EQ(executor.threads(), threads);
    EXPECT_EQ(executor.findProgram("main"), 0);
    EXPECT_EQ(executor.findProgram("other"), -1);
    for (int i = 0; i < 1000; ++i)
      floatData(executor, x)[i] = static_cast<float>(i);
    executor.run(0);
    for (int i = 0; i < 1000; ++i)
      ASSERT_EQ(floatData(executor, z)[i], static_cast<float>(i + 2));
    EXPECT_EQ(executor.implementation(0, 0), "kernel");
    EXPECT_EQ(executor.workspaceBytes(), 0u);
  }
}

TEST(Executor, TreatsDenormalNumbersAsZero) {
  PlanBuilder b;
  auto x = b.buffer("x", {1000}), y = b.buffer("y", {1000});
  b.launch(b.program("main"), b.kernel("halve", 2, 1000, 64), {x}, {y});
  constexpr float kSmallestNormal = 0x1p-126F, kDenormal = 0x1p-130F;
  for (int threads : {1, 2})
    for (bool keep : {false, true, false}) {
      ExecutorOptions options{threads};
      options.keepDenormals = keep;
      Executor executor(b.build(), options);
      for (int i = 0; i < 1000; ++i)
        floatData(executor, x)[i] = i % 2 ? kDenormal : kSmallestNormal;
      executor.run(0);
      for (int i = 0; i < 1000; ++i)
        ASSERT_EQ(std::ilogb(floatData(executor, y)[i]), !keep   ? FP_ILOGB0
                                                         : i % 2 ? -131
                                                                 : -127)
            << "element " << i << ", " << threads << " threads";
      // The caller's own arithmetic keeps them.
      volatile float own = kSmallestNormal;
      own = own * 0.5F;
      EXPECT_EQ(std::ilogb(own), -127);
    }
}

TEST(Executor, RunsStepRanges) {
  PlanBuilder b;
  auto x = b.buffer("x", {4}), y = b.buffer("y", {4}), z = b.buffer("z", {4});
  auto add = b.kernel("addOne", 2, 4);
  Program &program = b.program("main");
  b.launch(program, add, {x}, {y});
  b.launch(program, add, {y}, {z});
  Executor executor(b.build(), {2});
  executor.run(0, 1, 2);
  EXPECT_EQ(floatData(executor, y)[0], 0);
  EXPECT_EQ(floatData(executor, z)[0], 1);
  executor.run(0, 0, 0);
  EXPECT_EQ(floatData(executor, y)[0], 0);
  executor.run(0, 0, 1);
  EXPECT_EQ(floatData(executor, y)[0], 1);
  EXPECT_NE(errorOf([&] { executor.run(0, 1, 3); }), "");
  EXPECT_NE(errorOf([&] { executor.run(0, 2, 1); }), "");
  EXPECT_NE(errorOf([&] { executor.run(1); }), "");
  EXPECT_NE(errorOf([&] { executor.run(-1); }), "");
  EXPECT_NE(errorOf([&] { executor.hostData(99); }), "");
}

TEST(Executor, UploadsPreserveGaps) {
  PlanBuilder b;
  auto tensor = b.buffer("tensor", {2, 4});
  auto view = b.buffer("view", {2, 2}, {4, 1});
  plan::Buffer &buffer = *b.manifest.mutable_buffers(static_cast<int>(view));
  buffer.set_offset(b.manifest.buffers(static_cast<int>(tensor)).offset());
  b.program("main");
  Executor executor(b.build(), {1});
  const float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  const float image[6] = {2, 3, 9, 9, 4, 5};
  executor.upload(tensor, reinterpret_cast<const std::byte *>(ones));
  executor.upload(view, reinterpret_cast<const std::byte *>(image));
  float values[8];
  executor.download(tensor, reinterpret_cast<std::byte *>(values));
  EXPECT_EQ(std::vector<float>(values, values + 8),
            (std::vector<float>{2, 3, 1, 1, 4, 5, 1, 1}));
  executor.modify(
      view, [](std::byte *bytes) { reinterpret_cast<float *>(bytes)[5] = 7; });
  executor.read(tensor, [](const std::byte *bytes) {
    EXPECT_EQ(reinterpret_cast<const float *>(bytes)[5], 7);
  });
}

TEST(Executor, KernelRangesStartAtGrains) {
  PlanBuilder b;
  auto visits = b.buffer("visits", {100}, {}, I32);
  auto begins = b.buffer("begins", {100}, {}, I32);
  auto mark = b.kernel("markRange", 2, 100, 16);
  Program &program = b.program("main");
  b.launch(program, mark, {}, {visits, begins}, Operand::READ_WRITE);
  Executor executor(b.build(), {3});
  executor.run(0);
  int ranges = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(integerData(executor, visits)[i], 1);
    if (integerData(executor, begins)[i] == 0)
      continue;
    ++ranges;
    EXPECT_EQ(i % 16, 0);
  }
  EXPECT_EQ(ranges, 3);
}

TEST(Executor, RunTimedReportsEveryStep) {
  PlanBuilder b;
  auto x = b.buffer("x", {4}), y = b.buffer("y", {4});
  auto add = b.kernel("addOne", 2, 4);
  Program &program = b.program("main");
  b.launch(program, add, {x}, {y});
  b.launch(program, add, {y}, {x});
  Executor executor(b.build(), {1});
  std::vector<std::size_t> timedSteps;
  executor.runTimed(0, [&](std::size_t step, double seconds) {
    timedSteps.push_back(step);
    EXPECT_GE(seconds, 0);
    EXPECT_LT(seconds, 10);
  });
  EXPECT_EQ(timedSteps, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(floatData(executor, x)[0], 2);
}

TEST(Executor, InitializesArenas) {
  PlanBuilder b;
  auto constant = b.buffer("c", {3}, {}, F32, CONSTANTS);
  auto weight = b.buffer("w", {4}, {}, F32, PARAMETERS);
  auto state = b.buffer("s", {4}, {}, F32, STATE);
  float values[3] = {1, 2, 3}, weights[2] = {4, 5};
  auto bytesOf = [](const float *from, std::size_t count) {
    return std::string(reinterpret_cast<const char *>(from), count * 4);
  };
  b.manifest.mutable_arenas(static_cast<int>(b.arena(CONSTANTS)))
      ->set_initial_segment_index(
          b.segment(Segment::CONSTANT_DATA, bytesOf(values, 3)));
  b.manifest.mutable_arenas(static_cast<int>(b.arena(PARAMETERS)))
      ->set_initial_segment_index(
          b.segment(Segment::WEIGHTS, bytesOf(weights, 2)));
  b.program("main");
  Executor executor(b.build(), {1});
  EXPECT_EQ(std::memcmp(executor.hostData(constant), values, 12), 0);
  EXPECT_EQ(floatData(executor, weight)[1], 5);
  EXPECT_EQ(floatData(executor, weight)[2], 0);
  EXPECT_EQ(floatData(executor, state)[3], 0);
  for (std::uint32_t buffer : {constant, weight, state})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(executor.hostData(buffer)) % 64,
              0u);
}

TEST(Executor, KeepsKernelsOfSeveralPlansApart) {
  // The system's loader identifies images by name: a second plan must not get
  // the kernels of the first, before or after the first is unloaded.
  auto makeExecutor = [](const char *symbol) {
    PlanBuilder b;
    auto x = b.buffer("x", {4}, {}, I32), y = b.buffer("y", {4}, {}, I32);
    auto kernel = b.kernel(symbol, 2, 4, 4);
    b.launch(b.program("main"), kernel, {x}, {y});
    return std::make_unique<Executor>(b.build(), ExecutorOptions{1});
  };
  for (int round = 0; round < 3; ++round) {
    auto first = makeExecutor("markRange"),
         second = makeExecutor("reportNonsense");
    first->run(0);
    second->run(0);
    EXPECT_EQ(integerData(*first, 0)[3], 1);
    EXPECT_EQ(integerData(*second, 0)[3], 0);
    EXPECT_EQ(integerData(*second, 1)[0], 1000000);
    first.reset();
    second->run(0);
  }
}

PlanBuilder labelPlan(const char *symbol, const Dims &dims,
                      const Dims &strides) {
  PlanBuilder b;
  auto label = b.buffer("label", dims, strides);
  auto status = b.buffer("status", {}, {}, I32);
  auto kernel = b.kernel(symbol, 2, 6, 6);
  Program &program = b.program("main");
  b.launch(program, kernel, {label}, {status});
  Check &check = *program.add_checks();
  check.set_kind(Check::LABEL_RANGE);
  check.set_status_buffer_index(status);
  check.set_values_buffer_index(label);
  check.set_limit(10);
  check.set_layer("loss");
  check.set_blob("label");
  check.set_source_location("net.prototxt:7:3");
  return b;
}

TEST(Executor, ReportsLabelsOutsideTheirRange) {
  PlanBuilder b = labelPlan("checkLabels", {6}, {});
  Executor executor(b.build(), {1});
  executor.run(0);
  floatData(executor, 0)[3] = 12;
  EXPECT_EQ(errorOf([&] { executor.run(0); }),
            "1: layer 'loss' (net.prototxt:7:3): label 12 at position 3 of "
            "blob 'label' is outside [0, 10)");
  EXPECT_NE(errorOf([&] { executor.runTimed(0, [](std::size_t, double) {}); }),
            "");
  // Runs of some steps do not perform checks.
  EXPECT_NO_THROW(executor.run(0, 0, 1));
  floatData(executor, 0)[3] = 9;
  EXPECT_NO_THROW(executor.run(0));
  floatData(executor, 0)[0] = std::nanf("");
  EXPECT_NE(errorOf([&] { executor.run(0); }).find("label nan at position 0"),
            std::string::npos);
  floatData(executor, 0)[0] = -1.5f;
  EXPECT_NE(errorOf([&] { executor.run(0); }).find("label -1.5 at position 0"),
            std::string::npos);
}

TEST(Executor, LabelPositionsFollowTheStrides) {
  // The test kernel's element 3 of a [2, 3] blob is (1, 0), which is the second
  // in memory if the first dimension is the innermost.
  PlanBuilder b = labelPlan("reportFourth", {2, 3}, {1, 2});
  Executor executor(b.build(), {1});
  floatData(executor, 0)[1] = 77;
  std::string error = errorOf([&] { executor.run(0); });
  EXPECT_NE(error.find("label 77 at position 3"), std::string::npos) << error;
}

TEST(Executor, ImpossibleStatusIsABug) {
  PlanBuilder b = labelPlan("reportNonsense", {6}, {});
  Executor executor(b.build(), {1});
  EXPECT_EQ(errorOf([&] { executor.run(0); }).rfind("70: ", 0), 0u);
}

TEST(Executor, RefusesUnusablePlans) {
  auto errorOfPlan = [](const PlanBuilder &b) {
    return errorOf([&] { Executor executor(b.build(), {1}); });
  };
  PlanBuilder missingFeature;
  missingFeature.manifest.mutable_target()->add_cpu_features("teleport");
  EXPECT_NE(errorOfPlan(missingFeature).find("this machine lacks teleport"),
            std::string::npos);

  PlanBuilder tooLarge;
  tooLarge.buffer("x", {std::int64_t(1) << 44});
  std::string error = errorOfPlan(tooLarge);
  EXPECT_EQ(error.rfind("3: ", 0), 0u) << error;
  EXPECT_NE(error.find("64.0 TiB"), std::string::npos) << error;

  PlanBuilder missingKernel;
  missingKernel.kernel("noSuchKernel", 0, 1);
  error = errorOfPlan(missingKernel);
  EXPECT_EQ(error.rfind("1: ", 0), 0u) << error;
  EXPECT_NE(error.find("kernel 'noSuchKernel' is not in its image"),
            std::string::npos);

  PlanBuilder noElf;
  noElf.segment(Segment::KERNEL_IMAGE, std::string(100, 'x'));
  EXPECT_NE(errorOfPlan(noElf).find("no shared object"), std::string::npos);

  // The system's loader rejects a truncated shared object.
  PlanBuilder truncatedImage;
  truncatedImage.kernel("addOne", 2, 1);
  truncatedImage.segments[0].resize(200);
  error = errorOfPlan(truncatedImage);
  EXPECT_EQ(error.rfind("3: ", 0), 0u) << error;
  EXPECT_NE(error.find("cannot be loaded"), std::string::npos) << error;
}

TEST(Executor, RefusesDoublePrecisionCalls) {
  PlanBuilder b;
  b.manifest.mutable_target()->set_precision(F64);
  auto x = b.buffer("x", {2, 3}, {}, F64), w = b.buffer("w", {4, 3}, {}, F64),
       y = b.buffer("y", {2, 4}, {}, F64);
  Step &step = *b.program("main").add_steps();
  step.add_layers("ip1");
  step.mutable_inner_product()->set_direction(FORWARD);
  addCallOperands(step, x, w, y);
  EXPECT_EQ(errorOf([&] { Executor executor(b.build(), {1}); }),
            "3: test.plan: program 'main', step 0 (ip1): oneDNN inner products "
            "compute in f32 and bf16 only (compile an f64 net with "
            "--no-library)");
}

TEST(Executor, LoadsNoCompilerLibraries) {
  // Everything the runtime links is loaded into this process.
  std::string maps = readFile("/proc/self/maps");
  EXPECT_NE(maps.find("libdnnl"), std::string::npos);
  EXPECT_EQ(maps.find("libLLVM"), std::string::npos);
  EXPECT_EQ(maps.find("libMLIR"), std::string::npos);
}

/// A host layer that does not change its tops and gradients.
struct NoOpLayer : HostLayerType, HostLayer {
  bool hasBackward() const override { return true; }
  std::unique_ptr<HostLayer> create(const HostLayerSetup &) const override {
    return std::make_unique<NoOpLayer>();
  }
  void forward(HostLayerArguments &) override {}
  void backward(HostLayerArguments &) override {}
};

TEST(Executor, RunsTheCompletePlan) {
  PlanBuilder b = completePlan();
  ExecutorOptions options;
  options.threads = 2;
  options.hostLayerTypes = std::make_shared<HostLayerTypes>(
      HostLayerTypes{{"Own", std::make_shared<NoOpLayer>()}});
  Executor executor(b.build(), options);
  EXPECT_EQ(executor.findProgram("update"), 1);
  executor.run(0);
  executor.run(1);
  EXPECT_EQ(executor.implementation(0, 2), "copy");
  EXPECT_EQ(executor.implementation(0, 4), "kernel");
  EXPECT_EQ(executor.implementation(0, 6), "host");
  EXPECT_EQ(executor.implementation(0, 0).rfind("oneDNN ", 0), 0u);
}

} // namespace
