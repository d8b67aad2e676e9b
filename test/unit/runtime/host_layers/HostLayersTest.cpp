//===- HostLayersTest.cpp - Layers computed by the host program -----------===//
//
// The tests run on the CPU or, with BREW_TEST_CUDASIM, on the CUDA simulator.
// They must be clean under ThreadSanitizer (CMake preset tsan).
//
//===----------------------------------------------------------------------===//
#include "runtime/host_layers/HostLayers.h"

#include "PlanBuilder.h"
#include "caffe/weights/BufferLayout.h"
#include "runtime/cpu/WorkerPool.h"
#include "runtime/executor/Executor.h"
#include "runtime/host_layers/DetectionEvaluate.h"
#include "support/Error.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace brew;
using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::test;

namespace {

bool isOnSimulator() { return std::getenv("BREW_TEST_CUDASIM"); }

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

using LayerFunction = std::function<void(HostLayerArguments &)>;

/// A layer type that calls the functions of a test and records its layers.
class TestType : public HostLayerType {
public:
  LayerFunction forward, backward;
  bool passesGradients = true;
  std::function<void(const HostLayerSetup &)> onCreate;
  mutable std::vector<HostLayerSetup> created;
  mutable int destroyedCount = 0;

  bool hasBackward() const override { return passesGradients; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    if (onCreate)
      onCreate(setup);
    created.push_back(setup);
    return std::make_unique<Instance>(*this);
  }

private:
  struct Instance : HostLayer {
    explicit Instance(const TestType &owner) : type(owner) {}
    ~Instance() override { ++type.destroyedCount; }
    void forward(HostLayerArguments &arguments) override {
      type.forward(arguments);
    }
    void backward(HostLayerArguments &arguments) override {
      type.backward(arguments);
    }
    const TestType &type;
  };
};

template <typename Value> Value *valuesOf(const HostLayerBlob &blob) {
  return static_cast<Value *>(blob.values);
}
template <typename Value> Value *gradientOf(const HostLayerBlob &blob) {
  return static_cast<Value *>(blob.gradient);
}

/// Computes y = x * x. squareBackward() computes the gradient.
template <typename Value> void square(HostLayerArguments &a) {
  for (std::int64_t i = 0; i < a.tops[0].count; ++i)
    valuesOf<Value>(a.tops[0])[i] =
        valuesOf<Value>(a.bottoms[0])[i] * valuesOf<Value>(a.bottoms[0])[i];
}
template <typename Value> void squareBackward(HostLayerArguments &a) {
  for (std::int64_t i = 0; i < a.bottoms[0].count; ++i)
    gradientOf<Value>(a.bottoms[0])[i] =
        2 * valuesOf<Value>(a.bottoms[0])[i] * gradientOf<Value>(a.tops[0])[i];
}

std::shared_ptr<TestType> squareType() {
  auto type = std::make_shared<TestType>();
  type->forward = square<float>;
  type->backward = squareBackward<float>;
  return type;
}

ExecutorOptions optionsWith(const std::shared_ptr<TestType> &type,
                            const std::string &name = "Square") {
  ExecutorOptions options;
  options.threads = 2;
  options.tune = false;
  auto types = std::make_shared<HostLayerTypes>();
  types->emplace(name, type);
  options.hostLayerTypes = types;
  return options;
}

HostCall &addForward(Program &program,
                     const std::vector<std::uint32_t> &bottoms,
                     const std::vector<std::uint32_t> &tops,
                     const std::string &layer = "sq",
                     Operand::Access topAccess = Operand::WRITE) {
  Step &step = *program.add_steps();
  step.add_layers(layer);
  HostCall &call = *step.mutable_host();
  call.set_type("Square");
  call.set_layer(layer);
  call.set_settings("name: \"" + layer + "\"");
  call.set_direction(FORWARD);
  call.set_bottom_count(static_cast<std::uint32_t>(bottoms.size()));
  call.set_top_count(static_cast<std::uint32_t>(tops.size()));
  for (std::uint32_t bottom : bottoms)
    addOperand(step, bottom, Operand::READ);
  for (std::uint32_t top : tops)
    addOperand(step, top, topAccess);
  return call;
}

/// Adds a backward call with a gradient of the first bottom.
HostCall &addBackward(Program &program,
                      const std::vector<std::uint32_t> &bottoms,
                      const std::vector<std::uint32_t> &tops,
                      const std::vector<std::uint32_t> &topGradients,
                      std::uint32_t bottomGradient) {
  HostCall &call = addForward(program, bottoms, tops, "sq", Operand::READ);
  call.set_direction(BACKWARD_DATA);
  call.add_gradient_bottoms(0);
  Step &step = *program.mutable_steps()->rbegin();
  for (std::uint32_t gradient : topGradients)
    addOperand(step, gradient, Operand::READ);
  addOperand(step, bottomGradient, Operand::WRITE);
  return call;
}

/// Returns the row-major values of a buffer.
std::vector<double> readValues(const Executor &executor, std::uint32_t index) {
  const Buffer &buffer = executor.manifest().buffers(static_cast<int>(index));
  std::vector<double> values(static_cast<std::size_t>(elementCount(buffer)));
  executor.read(index, [&](const std::byte *bytes) {
    caffe::load(buffer, bytes, values.data());
  });
  return values;
}
void writeValues(Executor &executor, std::uint32_t index,
                 const std::vector<double> &values) {
  const Buffer &buffer = executor.manifest().buffers(static_cast<int>(index));
  executor.modify(index, [&](std::byte *bytes) {
    caffe::store(buffer, values.data(), bytes);
  });
}

using Values = std::vector<double>;

/// A type whose layers compute y = x + the number of their earlier calls.
class CountingType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer> create(const HostLayerSetup &) const override {
    return std::make_unique<Instance>();
  }

private:
  struct Instance : HostLayer {
    void forward(HostLayerArguments &a) override {
      for (std::int64_t i = 0; i < a.tops[0].count; ++i)
        valuesOf<float>(a.tops[0])[i] =
            valuesOf<float>(a.bottoms[0])[i] + calls;
      ++calls;
    }
    void backward(HostLayerArguments &) override {}
    std::vector<double> state() const override {
      return {static_cast<double>(calls)};
    }
    void restore(const std::vector<double> &state) override {
      if (state.size() != 1)
        throw badInput("no count");
      calls = static_cast<float>(state[0]);
    }
    float calls = 0;
  };
};

/// Builds the net x -> copy -> square -> copy with a backward pass.
class HostLayers : public testing::Test {
protected:
  void build() {
    x = b.buffer("x", {2, 2});
    copied = b.buffer("copied", {2, 2});
    y = b.buffer("y", {2, 2});
    out = b.buffer("out", {2, 2});
    dy = b.buffer("dy", {2, 2});
    dx = b.buffer("dx", {2, 2});
    result = b.buffer("result", {2, 2});
    Program &program = b.program("main");
    addCopy(program, x, copied);
    addForward(program, {copied}, {y});
    addCopy(program, y, out);
    program.set_first_backward_step(3);
    addBackward(program, {copied}, {y}, {dy}, dx);
    addCopy(program, dx, result);
    Output &output = *program.add_outputs();
    output.set_blob("out");
    output.set_buffer_index(out);
  }

  PlanBuilder b;
  std::uint32_t x = 0, copied = 0, y = 0, out = 0, dy = 0, dx = 0, result = 0;
};

TEST_F(HostLayers, ComputeBetweenOtherStepsAndBack) {
  build();
  auto type = squareType();
  {
    Executor executor(b.build(), optionsWith(type));
    EXPECT_TRUE(type->created.empty()); // created at the first call
    // A GPU takes graphs from the second run on.
    for (double i = 1; i < 6; ++i) {
      writeValues(executor, x, {i, 2, 3, -4});
      writeValues(executor, dy, {1, 1, 10, i});
      executor.run(0);
      EXPECT_EQ(readValues(executor, out), (Values{i * i, 4, 9, 16}));
      EXPECT_EQ(readValues(executor, result), (Values{2 * i, 4, 60, -8 * i}));
    }
    EXPECT_EQ(executor.implementation(0, 1), "host");
    EXPECT_EQ(type->created.size(), 1u); // for both passes
    EXPECT_EQ(type->destroyedCount, 0);
  }
  EXPECT_EQ(type->destroyedCount, 1);
}

TEST_F(HostLayers, WithTheSameNameAreSeparate) {
  x = b.buffer("x", {2, 2});
  copied = b.buffer("copied", {2, 2});
  y = b.buffer("y", {2, 2});
  out = b.buffer("out", {2, 2});
  Program &program = b.program("main");
  addCopy(program, x, copied);
  addForward(program, {copied}, {y}).set_settings("name: 'sq' top: 'y'");
  addForward(program, {y}, {out}).set_settings("name: 'sq' top: 'out'");
  Output &output = *program.add_outputs();
  output.set_blob("out");
  output.set_buffer_index(out);

  auto type = squareType();
  Executor executor(b.build(), optionsWith(type));
  writeValues(executor, x, {1, 2, 3, -4});
  executor.run(0);
  EXPECT_EQ(readValues(executor, out), (Values{1, 16, 81, 256}));
  EXPECT_EQ(type->created.size(), 2u);
}

TEST_F(HostLayers, RunInRangesTimedMeasuredAndAhead) {
  build();
  auto type = squareType();
  Executor executor(b.build(), optionsWith(type));
  writeValues(executor, x, {3, 0, 0, 0});
  executor.run(0, 0, 1);
  EXPECT_EQ(readValues(executor, y)[0], 0);
  executor.run(0, 1, 2);
  EXPECT_EQ(readValues(executor, y)[0], 9);
  EXPECT_EQ(readValues(executor, out)[0], 0);
  std::vector<std::size_t> recorded;
  executor.runTimed(0, [&](std::size_t step, double seconds) {
    recorded.push_back(step);
    EXPECT_GE(seconds, 0);
  });
  EXPECT_EQ(recorded, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(readValues(executor, out)[0], 9);
  writeValues(executor, x, {4, 0, 0, 0});
  const Measurement measured = executor.measure({0}, 3);
  EXPECT_EQ(measured.seconds.size(), 3u);
  EXPECT_EQ(measured.graphNodes, isOnSimulator() ? 3u : 0u); // the copies
  EXPECT_EQ(readValues(executor, out)[0], 16);
  for (float i = 0; i < 4; ++i) {
    const float values[4] = {i, 0, 0, 0};
    executor.feed(x, reinterpret_cast<const std::byte *>(values));
    executor.start({0});
  }
  for (float i = 0; i < 4; ++i)
    executor.finish().read(out, [&](const std::byte *bytes) {
      EXPECT_EQ(*reinterpret_cast<const float *>(bytes), i * i);
    });
}

TEST_F(HostLayers, PreventStartingTogetherIfTheyOverwriteResults) {
  build();
  addForward(b.program("reads"), {out}, {b.buffer("square", {2, 2})});
  addForward(b.program("writes"), {x}, {out});
  addForward(b.program("apart"), {x}, {y});
  Executor executor(b.build(), optionsWith(squareType()));
  EXPECT_TRUE(executor.canStartTogether(0, 1));
  EXPECT_FALSE(executor.canStartTogether(0, 2));
  EXPECT_TRUE(executor.canStartTogether(0, 3));
}

TEST_F(HostLayers, AreCreatedOncePerProgramAndName) {
  x = b.buffer("x", {3});
  y = b.buffer("y", {3, 1});
  Program &train = b.program("train");
  HostCall &call = addForward(train, {x}, {y});
  call.set_settings("name: \"sq\" type: \"Square\"");
  call.set_param_str("{'a': 1}");
  addForward(train, {x}, {y}, "other");
  Program &test = b.program("test");
  test.set_test_phase(true);
  addForward(test, {x}, {y});
  auto type = squareType();
  Executor executor(b.build(), optionsWith(type));
  for (int program : {0, 0, 1, 1})
    executor.run(program);
  ASSERT_EQ(type->created.size(), 3u);
  EXPECT_EQ(type->created[0].type, "Square");
  EXPECT_EQ(type->created[0].layer, "sq");
  EXPECT_EQ(type->created[0].settings, "name: \"sq\" type: \"Square\"");
  EXPECT_EQ(type->created[0].paramStr, "{'a': 1}");
  EXPECT_FALSE(type->created[0].testPhase);
  EXPECT_EQ(type->created[0].bottoms, (std::vector<Dims>{{3}}));
  EXPECT_EQ(type->created[0].tops, (std::vector<Dims>{{3, 1}}));
  EXPECT_EQ(type->created[1].layer, "other");
  EXPECT_TRUE(type->created[2].testPhase);
}

TEST_F(HostLayers, ReceiveTheBuffersThemselvesOnTheCpu) {
  if (isOnSimulator())
    GTEST_SKIP() << "layers cannot access the memory of a GPU";
  build();
  auto type = squareType();
  std::vector<void *> recorded;
  type->forward = [&](HostLayerArguments &a) {
    recorded = {a.bottoms[0].values, a.tops[0].values, a.bottoms[0].gradient};
  };
  type->backward = [&](HostLayerArguments &a) {
    recorded = {a.bottoms[0].values, a.tops[0].values, a.bottoms[0].gradient,
                a.tops[0].gradient};
  };
  Executor executor(b.build(), optionsWith(type));
  executor.run(0, 1, 2);
  EXPECT_EQ(recorded, (std::vector<void *>{executor.hostData(copied),
                                           executor.hostData(y), nullptr}));
  executor.run(0, 3, 4);
  EXPECT_EQ(recorded, (std::vector<void *>{
                          executor.hostData(copied), executor.hostData(y),
                          executor.hostData(dx), executor.hostData(dy)}));
}

TEST_F(HostLayers, WriteBackOnlyResultsOnAGpu) {
  if (!isOnSimulator())
    GTEST_SKIP() << "on the CPU bottoms are the buffers themselves";
  build();
  auto type = squareType();
  type->forward = [](HostLayerArguments &a) {
    square<float>(a);
    valuesOf<float>(a.bottoms[0])[0] = 77;
  };
  type->backward = [](HostLayerArguments &a) {
    squareBackward<float>(a);
    valuesOf<float>(a.bottoms[0])[0] = 77;
    valuesOf<float>(a.tops[0])[0] = 77;
    gradientOf<float>(a.tops[0])[0] = 77;
  };
  Executor executor(b.build(), optionsWith(type));
  writeValues(executor, x, {3, 0, 0, 0});
  writeValues(executor, dy, {1, 0, 0, 0});
  executor.run(0);
  EXPECT_EQ(readValues(executor, copied)[0], 3);
  EXPECT_EQ(readValues(executor, y)[0], 9);
  EXPECT_EQ(readValues(executor, dy)[0], 1);
  EXPECT_EQ(readValues(executor, dx)[0], 6);
}

/// Layers read and write row-major values, whatever the layout of the buffers.
TEST_F(HostLayers, ReceiveRowMajorValuesOfStridedBuffers) {
  x = b.buffer("x", {2, 3}, {1, 2}); // transposed
  // Each of the two tops is one half of every row of a blob.
  const auto concatenated = b.buffer("concatenated", {2, 6});
  auto half = [&](std::uint64_t column) {
    const auto index = b.buffer("half", {2, 3}, {6, 1});
    Buffer &buffer = *b.manifest.mutable_buffers(static_cast<int>(index));
    buffer.set_offset(
        b.manifest.buffers(static_cast<int>(concatenated)).offset() +
        4 * column);
    return index;
  };
  const auto left = half(0), right = half(3);
  dx = b.buffer("dx", {2, 3}, {1, 2});
  Program &program = b.program("main");
  addForward(program, {x}, {left, right});
  addBackward(program, {x}, {left, right}, {x, right}, dx);
  // x stands in for a gradient of a top, because it has the same dimensions.
  auto type = squareType();
  type->forward = [](HostLayerArguments &a) {
    for (int i = 0; i < 6; ++i) {
      valuesOf<float>(a.tops[0])[i] = valuesOf<float>(a.bottoms[0])[i];
      valuesOf<float>(a.tops[1])[i] = 10 * valuesOf<float>(a.bottoms[0])[i];
    }
  };
  type->backward = [](HostLayerArguments &a) {
    for (int i = 0; i < 6; ++i)
      gradientOf<float>(a.bottoms[0])[i] =
          gradientOf<float>(a.tops[0])[i] + gradientOf<float>(a.tops[1])[i];
  };
  Executor executor(b.build(), optionsWith(type));
  for (int run = 0; run < 3; ++run) {
    writeValues(executor, concatenated, Values(12, -1));
    writeValues(executor, x, {1, 2, 3, 4, 5, 6});
    executor.run(0);
    EXPECT_EQ(readValues(executor, concatenated),
              (Values{1, 2, 3, 10, 20, 30, 4, 5, 6, 40, 50, 60}));
    EXPECT_EQ(readValues(executor, dx), (Values{11, 22, 33, 44, 55, 66}));
  }
}

TEST_F(HostLayers, PreserveGapsBetweenElements) {
  const auto tensor = b.buffer("tensor", {2, 4});
  y = b.buffer("y", {2, 2}, {4, 1});
  b.manifest.mutable_buffers(static_cast<int>(y))->set_offset(0);
  x = b.buffer("x", {2, 2});
  addForward(b.program("main"), {x}, {y});
  Executor executor(b.build(), optionsWith(squareType()));
  writeValues(executor, tensor, Values(8, 7));
  writeValues(executor, x, {1, 2, 3, 4});
  executor.run(0);
  EXPECT_EQ(readValues(executor, tensor), (Values{1, 4, 7, 7, 9, 16, 7, 7}));
}

TEST_F(HostLayers, ComputeInThePlansPrecision) {
  b.manifest.mutable_target()->set_precision(F64);
  x = b.buffer("x", {2}, {}, F64);
  y = b.buffer("y", {2}, {}, F64);
  dy = b.buffer("dy", {2}, {}, F64);
  dx = b.buffer("dx", {2}, {3}, F64);
  Program &program = b.program("main");
  addForward(program, {x}, {y});
  addBackward(program, {x}, {y}, {dy}, dx);
  auto type = squareType();
  type->forward = [](HostLayerArguments &a) {
    EXPECT_TRUE(a.f64);
    square<double>(a);
  };
  type->backward = squareBackward<double>;
  Executor executor(b.build(), optionsWith(type));
  writeValues(executor, x, {1e-9, 3});
  writeValues(executor, dy, {1, 1e-30});
  executor.run(0);
  EXPECT_EQ(readValues(executor, y), (Values{1e-9 * 1e-9, 9}));
  EXPECT_EQ(readValues(executor, dx), (Values{2 * 1e-9, 2. * 3 * 1e-30}));
}

TEST_F(HostLayers, ReceiveFloatsFor16BitActivations) {
  x = b.buffer("x", {2}, {}, BF16);
  y = b.buffer("y", {2}, {}, BF16);
  addForward(b.program("main"), {x}, {y});
  auto type = squareType();
  type->forward = [](HostLayerArguments &a) {
    EXPECT_FALSE(a.f64);
    square<float>(a);
  };
  Executor executor(b.build(), optionsWith(type));
  writeValues(executor, x, {1.5, -8});
  executor.run(0);
  EXPECT_EQ(readValues(executor, y), (Values{2.25, 64}));
}

TEST_F(HostLayers, SupportMissingBottomsAndBottomGradients) {
  x = b.buffer("x", {2});
  y = b.buffer("y", {2});
  dy = b.buffer("dy", {2});
  dx = b.buffer("dx", {2});
  Program &program = b.program("main");
  addForward(program, {}, {x}, "source");
  addBackward(program, {y, x}, {y}, {dy}, dx).set_gradient_bottoms(0, 1);
  auto type = squareType();
  type->forward = [](HostLayerArguments &a) {
    valuesOf<float>(a.tops[0])[0] = 5;
    valuesOf<float>(a.tops[0])[1] = 6;
  };
  type->backward = [](HostLayerArguments &a) {
    EXPECT_EQ(a.bottoms[0].gradient, nullptr);
    std::copy_n(valuesOf<float>(a.bottoms[1]), 2,
                gradientOf<float>(a.bottoms[1]));
  };
  Executor executor(b.build(), optionsWith(type));
  executor.run(0);
  EXPECT_EQ(readValues(executor, x), (Values{5, 6}));
  EXPECT_EQ(readValues(executor, dx), (Values{5, 6}));
}

TEST_F(HostLayers, ReportErrors) {
  build();
  auto type = squareType();
  {
    Executor executor(b.build(), optionsWith(type, "Cube"));
    executor.run(0, 0, 1);
    const std::string error = errorOf([&] { executor.run(0); });
    EXPECT_EQ(error.rfind("2: layer 'sq' (type 'Square'): the program that "
                          "runs the plan must provide the functions of this "
                          "layer type",
                          0),
              0u)
        << error;
    EXPECT_NE(error.find("--host-plugin"), std::string::npos) << error;
    EXPECT_EQ(errorOf([&] { Executor(b.build()).run(0); }), error);
  }
  Executor executor(b.build(), optionsWith(type));
  type->onCreate = [](const HostLayerSetup &) {
    throw unavailable("no camera");
  };
  EXPECT_EQ(errorOf([&] { executor.run(0); }),
            "3: layer 'sq' (type 'Square'): no camera");
  type->onCreate = nullptr;
  type->forward = [](HostLayerArguments &) { throw badInput("x is odd"); };
  EXPECT_EQ(errorOf([&] { executor.runTimed(0, [](std::size_t, double) {}); }),
            "1: layer 'sq' (type 'Square'): x is odd");
  EXPECT_EQ(errorOf([&] { executor.start({0}); }),
            "1: layer 'sq' (type 'Square'): x is odd");
  type->forward = square<float>;
  type->passesGradients = false;
  executor.run(0, 0, 3); // the forward pass alone
  EXPECT_EQ(errorOf([&] { executor.run(0); }),
            "1: layer 'sq' (type 'Square'): the plan needs its backward pass, "
            "and the type has no backward function");
  // The executor is still usable.
  type->passesGradients = true;
  writeValues(executor, x, {5, 0, 0, 0});
  executor.run(0);
  EXPECT_EQ(readValues(executor, out)[0], 25);
}

TEST_F(HostLayers, AreCalledByTheThreadThatRuns) {
  build();
  auto type = squareType();
  std::thread::id recorded;
  type->forward = [&](HostLayerArguments &) {
    recorded = std::this_thread::get_id();
  };
  ExecutorOptions options = optionsWith(type);
  options.pool = std::make_shared<WorkerPool>(2);
  Executor executor(b.build(), options);
  executor.run(0);
  EXPECT_EQ(recorded, std::this_thread::get_id());
  recorded = {};
  executor.measure({0}, 1);
  EXPECT_EQ(recorded, std::this_thread::get_id());
  recorded = {};
  executor.runTimed(0, [](std::size_t, double) {});
  EXPECT_EQ(recorded, std::this_thread::get_id());
}

TEST_F(HostLayers, MayRunAnotherNetOfTheSamePool) {
  build();
  const auto plan = b.build();
  auto inner = squareType();
  ExecutorOptions options = optionsWith(inner);
  options.pool = std::make_shared<WorkerPool>(2);
  Executor innerExecutor(plan, options);
  auto outer = squareType();
  outer->forward = [&](HostLayerArguments &a) {
    writeValues(innerExecutor, x, Values(4, valuesOf<float>(a.bottoms[0])[0]));
    innerExecutor.run(0);
    const Values squares = readValues(innerExecutor, out);
    std::copy(squares.begin(), squares.end(), valuesOf<float>(a.tops[0]));
  };
  ExecutorOptions outerOptions = optionsWith(outer);
  outerOptions.pool = options.pool;
  Executor executor(plan, outerOptions);
  writeValues(executor, x, {7, 0, 0, 0});
  executor.run(0);
  EXPECT_EQ(readValues(executor, out), Values(4, 49));
}

TEST_F(HostLayers, RunInSeveralThreads) {
  build();
  const auto plan = b.build();
  auto pool = std::make_shared<WorkerPool>(2);
  std::vector<Values> results(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      auto type = squareType();
      ExecutorOptions options = optionsWith(type);
      if (t % 2)
        options.pool = pool;
      Executor executor(plan, options);
      for (double i = 0; i < 50; ++i) {
        writeValues(executor, x, {i + double(t), 0, 0, 0});
        executor.run(0);
        results[t].push_back(readValues(executor, out)[0]);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (std::size_t t = 0; t < results.size(); ++t)
    for (std::size_t i = 0; i < 50; ++i)
      EXPECT_EQ(results[t][i], double((i + t) * (i + t)));
}

} // namespace

/// The states of layers, even of two layers with the same name, can be moved
/// between executors.
TEST(HostStates, MoveBetweenExecutors) {
  PlanBuilder b;
  const std::uint32_t x = b.buffer("x", {2}), y = b.buffer("y", {2}),
                      z = b.buffer("z", {2});
  Program &program = b.program("test_0");
  addForward(program, {x}, {y}, "count").set_settings("name: \"count\"");
  addForward(program, {x}, {z}, "count")
      .set_settings("name: \"count\" top: \"z\"");
  ExecutorOptions options;
  auto types = std::make_shared<HostLayerTypes>();
  types->emplace("Square", std::make_shared<CountingType>());
  options.hostLayerTypes = types;

  Executor first(b.build(), options);
  EXPECT_TRUE(first.hostLayers().states().empty()); // no calls yet
  writeValues(first, x, {1, 2});
  for (int i = 0; i < 3; ++i)
    first.run(0);
  first.run(0, 0, 1); // only the first of the two layers
  const auto states = first.hostLayers().states();
  EXPECT_EQ(states,
            (std::map<std::string, Values>{{"host test_0/count", {4}},
                                           {"host test_0/count 2", {3}}}));

  Executor second(b.build(), options);
  writeValues(second, x, {1, 2});
  second.run(0);
  auto extraStates = states;
  extraStates["host deploy/other"] = {1};
  extraStates["loss_scale.value"] = {1};
  second.hostLayers().restore(extraStates);
  EXPECT_EQ(second.hostLayers().states(), states); // even before the next call
  second.run(0);
  EXPECT_EQ(readValues(second, y), (Values{5, 6}));
  EXPECT_EQ(readValues(second, z), (Values{4, 5}));
  second.hostLayers().restore({});
  second.run(0);
  EXPECT_EQ(readValues(second, y), (Values{1, 2}));
  second.hostLayers().restore({{"host test_0/count", {1, 2}}});
  EXPECT_EQ(errorOf([&] { second.run(0); }),
            "1: layer 'count' (type 'Square'): no count");
}

/// A batch has two images, the list three.
TEST(HostStates, DetectionEvaluateKeepsItsImageIndex) {
  char folder[] = "/tmp/brew-host-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string list = std::string(folder) + "/sizes.txt";
  std::ofstream(list) << "a 10 20\n\nb 30 40\nc 50 60\n";
  HostLayerSetup setup;
  setup.settings = "detection_evaluate_param { num_classes: 2 "
                   "background_label_id: 0 name_size_file: '" +
                   list + "' }";
  setup.bottoms = {{1, 1, 2, 7}, {1, 1, 2, 8}};
  setup.tops = {{1, 1, 3, 5}};
  std::vector<float> detections = {0, 1, .9F, .1F, .1F, .5F, .5F,
                                   1, 1, .8F, .1F, .1F, .5F, .5F};
  std::vector<float> objects = {0, 1, 0, .1F, .1F, .5F, .5F, 0,
                                1, 1, 0, .1F, .1F, .5F, .5F, 0};
  std::vector<float> result(15);
  auto blob = [](std::vector<float> &values) {
    HostLayerBlob hostBlob;
    hostBlob.count = static_cast<std::int64_t>(values.size());
    hostBlob.values = values.data();
    return hostBlob;
  };
  HostLayerArguments arguments;
  arguments.bottoms = {blob(detections), blob(objects)};
  arguments.tops = {blob(result)};
  const auto first = detectionEvaluateType().create(setup);
  EXPECT_EQ(first->state(), (Values{0}));
  first->forward(arguments);
  EXPECT_EQ(first->state(), (Values{2}));
  const auto second = detectionEvaluateType().create(setup);
  second->restore(first->state());
  second->forward(arguments);
  EXPECT_EQ(second->state(), (Values{1})); // 4 modulo 3
  // An index beyond the list restarts at 0.
  second->restore({3});
  EXPECT_EQ(second->state(), (Values{0}));
  for (const Values &wrong : {Values{-1}, Values{}, Values{0, 0}})
    EXPECT_NE(errorOf([&] { second->restore(wrong); }).find("1: the solver"),
              std::string::npos);
  std::remove(list.c_str());
  rmdir(folder);
}
