//===- CudaExecutorTest.cpp - Programs on the CUDA simulator --------------===//
#include "CudaSim.h"
#include "runtime/executor/Executor.h"
#include "test/common/ReplacedDriverCall.h"

#include <cstring>
#include <vector>

using namespace brew;
using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::test;

namespace {

class CudaExecutor : public CudaSim {
protected:
  static std::vector<float> readFloats(const Executor &executor,
                                       std::uint32_t buffer,
                                       std::size_t count) {
    std::vector<float> values(count);
    executor.read(buffer, [&](const std::byte *bytes) {
      std::memcpy(values.data(), bytes, count * sizeof(float));
    });
    return values;
  }
  static const std::byte *bytesOf(const std::vector<float> &values) {
    return reinterpret_cast<const std::byte *>(values.data());
  }

  /// Builds a program total += (x[0] + 1) * scale with the input x and the
  /// output total, and a program `update`: nextState = state + 1.
  void buildCounter() {
    x = b.buffer("x", {4});
    y = b.buffer("y", {4});
    scale = b.buffer("scale", {16}, {}, F32, SCALARS);
    b.manifest.mutable_arenas(static_cast<int>(b.arena(SCALARS)))
        ->set_size(SCALAR_COUNT * kAlignment);
    total = b.buffer("total", {1}, {}, F32, STATE);
    labels = b.buffer("labels", {4});
    status = b.buffer("status", {}, {}, I32);
    Program &main = b.program("main");
    b.launch(main, kernel(b, "addOne", 2), {x}, {y});
    b.launch(main, kernel(b, "accumulate", 3), {y, scale}, {total},
             Operand::READ_WRITE);
    b.launch(main, kernel(b, "checkLabels", 2), {labels}, {status});
    Output &output = *main.add_outputs();
    output.set_blob("total");
    output.set_buffer_index(total);
    Check &check = *main.add_checks();
    check.set_kind(Check::LABEL_RANGE);
    check.set_status_buffer_index(status);
    check.set_values_buffer_index(labels);
    check.set_limit(10);
    check.set_layer("loss");
    check.set_blob("label");
    state = b.buffer("state", {4}, {}, F32, STATE);
    nextState = b.buffer("nextState", {4}, {}, F32, STATE);
    Program &update = b.program("update");
    b.launch(update, kernel(b, "addOne", 2), {state}, {nextState});
  }
  void setScale(Executor &executor, float value) const {
    executor.uploadBytes(
        b.manifest.buffers(static_cast<int>(scale)).arena_index(), 0, &value,
        sizeof value);
  }

  PlanBuilder b = builder();
  std::uint32_t x, y, scale, total, labels, status, state, nextState;

private:
  /// Sets the environment before the builder is constructed, which is before
  /// SetUp() runs.
  static PlanBuilder builder() {
    setenv("BREW_TEST_CUDASIM", "1", 1);
    return PlanBuilder();
  }
};

TEST_F(CudaExecutor, AllocatesBuffersOnTheDevice) {
  auto tensor = b.buffer("tensor", {2, 4});
  auto view = b.buffer("view", {2, 2}, {4, 1});
  b.manifest.mutable_buffers(static_cast<int>(view))->set_offset(0);
  b.program("main");
  Executor executor(b.build());
  EXPECT_EQ(executor.hostData(tensor), nullptr);
  EXPECT_EQ(readFloats(executor, tensor, 8), std::vector<float>(8)); // zeros
  executor.upload(tensor, bytesOf({1, 1, 1, 1, 1, 1, 1, 1}));
  executor.upload(view, bytesOf({2, 3, 9, 9, 4, 5}));
  EXPECT_EQ(readFloats(executor, tensor, 8),
            (std::vector<float>{2, 3, 1, 1, 4, 5, 1, 1}));
  executor.modify(
      view, [](std::byte *bytes) { reinterpret_cast<float *>(bytes)[5] = 7; });
  EXPECT_EQ(readFloats(executor, tensor, 8)[5], 7);
}

TEST_F(CudaExecutor, InitializesArenas) {
  auto constant = b.buffer("c", {3}, {}, F32, CONSTANTS);
  const float values[3] = {1, 2, 3};
  b.manifest.mutable_arenas(static_cast<int>(b.arena(CONSTANTS)))
      ->set_initial_segment_index(b.segment(
          Segment::CONSTANT_DATA,
          std::string(reinterpret_cast<const char *>(values), sizeof values)));
  b.program("main");
  EXPECT_EQ(readFloats(Executor(b.build()), constant, 3),
            (std::vector<float>{1, 2, 3}));
}

TEST_F(CudaExecutor, ReplaysProgramsAsGraphs) {
  buildCounter();
  Executor executor(b.build());
  setScale(executor, 1);
  for (float i = 0; i < 5; ++i) {
    executor.feed(x, bytesOf({i, 0, 0, 0}));
    executor.run(0);
  }
  EXPECT_EQ(readFloats(executor, total, 1)[0], 1 + 2 + 3 + 4 + 5);
  EXPECT_EQ(readFloats(executor, x, 1)[0], 4);
  EXPECT_EQ(executor.implementation(0, 0), "kernel");
}

TEST_F(CudaExecutor, RunsStepByStepWithoutGraphs) {
  buildCounter();
  setenv("CUDASIM_NO_GRAPHS", "1", 1);
  std::vector<std::string> warnings;
  ExecutorOptions options;
  options.warn = [&](const std::string &text) { warnings.push_back(text); };
  Executor executor(b.build(), options);
  setScale(executor, 1);
  for (float i = 0; i < 5; ++i) {
    executor.feed(x, bytesOf({i, 0, 0, 0}));
    executor.run(0);
  }
  executor.synchronize();
  EXPECT_EQ(readFloats(executor, total, 1)[0], 1 + 2 + 3 + 4 + 5);
  EXPECT_EQ(executor.measure({0}, 2).graphNodes, 0u);
  ASSERT_EQ(warnings.size(), 1u); // not for every run
  EXPECT_NE(warnings[0].find("cannot be a CUDA graph"), std::string::npos)
      << warnings[0];
  unsetenv("CUDASIM_NO_GRAPHS");
}

TEST_F(CudaExecutor, RunsStepRangesAndTimesSteps) {
  buildCounter();
  Executor executor(b.build());
  setScale(executor, 2);
  executor.run(0, 0, 1);
  EXPECT_EQ(readFloats(executor, y, 1)[0], 1);
  EXPECT_EQ(readFloats(executor, total, 1)[0], 0);
  std::vector<std::size_t> timedSteps;
  executor.runTimed(0, [&](std::size_t step, double seconds) {
    timedSteps.push_back(step);
    EXPECT_GE(seconds, 0);
  });
  EXPECT_EQ(timedSteps, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(readFloats(executor, total, 1)[0], 2);
  const Measurement measured = executor.measure({0, 1}, 7);
  EXPECT_EQ(measured.seconds.size(), 7u);
  EXPECT_EQ(measured.graphNodes, 4u);
  EXPECT_GT(measured.deviceBytes, 0u);
  EXPECT_EQ(readFloats(executor, total, 1)[0], 2 + 9 * 2);
}

TEST_F(CudaExecutor, KeepsResultsOfPendingRunsApart) {
  buildCounter();
  Executor executor(b.build());
  ASSERT_TRUE(executor.canStartTogether(0, 1));
  float sum = 0;
  auto expectNextResult = [&](float expected) {
    executor.finish().read(total, [&](const std::byte *bytes) {
      float value;
      std::memcpy(&value, bytes, sizeof value);
      EXPECT_EQ(value, expected);
    });
  };
  std::vector<float> sums;
  for (int i = 0; i < 6; ++i) {
    executor.feed(x, bytesOf({float(i), 0, 0, 0}));
    setScale(executor, float(i % 3));
    executor.start({0, 1});
    sums.push_back(sum += float(i + 1) * float(i % 3));
    if (executor.pendingRuns() > 2) {
      expectNextResult(sums[sums.size() - 3]);
    }
  }
  expectNextResult(sums[4]);
  expectNextResult(sums[5]);
  EXPECT_EQ(executor.pendingRuns(), 0u);
  EXPECT_EQ(errorOf([&] { executor.finish(); }).substr(0, 3), "70:");
  EXPECT_EQ(readFloats(executor, nextState, 1)[0], 1);
}

TEST_F(CudaExecutor, UploadsLargeInputsDuringRuns) {
  constexpr std::size_t kCount = 50000; // large enough for a staging buffer
  auto input = b.buffer("input", {kCount});
  auto copy = b.buffer("copy", {kCount});
  addCopy(b.program("main"), input, copy);
  Output &output = *b.manifest.mutable_programs(0)->add_outputs();
  output.set_blob("copy");
  output.set_buffer_index(copy);
  Executor executor(b.build());
  for (int i = 0; i < 5; ++i) {
    executor.feed(input, bytesOf(std::vector<float>(kCount, float(i))));
    executor.start({0});
  }
  executor.feed(input, bytesOf(std::vector<float>(kCount, 7)));
  for (int i = 0; i < 5; ++i)
    executor.finish().read(copy, [&](const std::byte *bytes) {
      EXPECT_EQ(reinterpret_cast<const float *>(bytes)[kCount - 1], float(i));
    });
  EXPECT_EQ(readFloats(executor, input, 1)[0], 7);
  EXPECT_FALSE(executor.canStartTogether(0, 0)); // too much to copy every time
}

TEST_F(CudaExecutor, OverwrittenResultsForbidStartingTogether) {
  buildCounter();
  EXPECT_TRUE(Executor(b.build()).canStartTogether(0, 1));
  b.launch(*b.manifest.mutable_programs(1), 0, {nextState}, {labels});
  EXPECT_FALSE(Executor(b.build()).canStartTogether(0, 1));
}

TEST_F(CudaExecutor, ChecksReportTheLabel) {
  buildCounter();
  Executor executor(b.build());
  executor.feed(labels, bytesOf({1, 2, 33, 4}));
  const std::string expected =
      "1: layer 'loss': label 33 at position 2 of blob 'label' is outside "
      "[0, 10)";
  EXPECT_EQ(errorOf([&] { executor.run(0); }), expected);
  executor.start({0});
  // Later inputs do not change the labels that the run checks.
  executor.feed(labels, bytesOf({1, 2, 3, 4}));
  executor.start({0});
  EXPECT_EQ(errorOf([&] { executor.finish(); }), expected);
  EXPECT_EQ(errorOf([&] { executor.finish(); }), "");
}

TEST_F(CudaExecutor, CopiesViews) {
  auto source = b.buffer("source", {2, 3, 4});
  auto permuted = b.buffer("permuted", {2, 3, 4}, {12, 1, 3});
  auto wide = b.buffer("wide", {2, 3, 6});
  auto slice = b.buffer("slice", {2, 3, 4}, {18, 6, 1});
  b.manifest.mutable_buffers(static_cast<int>(slice))
      ->set_offset(b.manifest.buffers(static_cast<int>(wide)).offset());
  Program &main = b.program("main");
  addCopy(main, source, permuted);
  addCopy(main, permuted, slice);

  Executor executor(b.build());
  std::vector<float> values, ones(36, 1);
  for (int i = 0; i < 24; ++i)
    values.push_back(float(i + 2));
  executor.upload(source, bytesOf(values));
  executor.upload(wide, bytesOf(ones));
  executor.run(0, 0, 1);
  const std::vector<float> moved = readFloats(executor, permuted, 24);
  EXPECT_EQ(moved[1], values[4]); // next channel
  EXPECT_EQ(moved[3], values[1]); // next column
  executor.run(0);
  const std::vector<float> result = readFloats(executor, wide, 36);
  for (int row = 0; row < 6; ++row)
    for (int column = 0; column < 6; ++column)
      EXPECT_EQ(result[std::size_t(row * 6 + column)],
                column < 4 ? values[std::size_t(row * 4 + column)] : 1);
  EXPECT_EQ(executor.implementation(0, 0), "copy");
}

// Fails like a driver that refuses the pitch.
int refuseCopy(const runtime::cuda::CUDA_MEMCPY2D *, runtime::cuda::CUstream) {
  return runtime::cuda::CUDA_ERROR_INVALID_VALUE;
}

TEST_F(CudaExecutor, CopiesRowByRowIfPitchesAreRefused) {
  Program &main = b.program("main");
  std::vector<std::uint32_t> dense, wide, slices;
  // 64 rows are copied one by one; for 65 the error is reported.
  for (std::int64_t rows : {64, 65}) {
    dense.push_back(b.buffer("dense", {rows, 4}));
    wide.push_back(b.buffer("wide", {rows, 6}));
    slices.push_back(b.buffer("slice", {rows, 4}, {6, 1}));
    b.manifest.mutable_buffers(static_cast<int>(slices.back()))
        ->set_offset(
            b.manifest.buffers(static_cast<int>(wide.back())).offset());
    addCopy(main, dense.back(), slices.back());
  }
  Executor executor(b.build());
  std::vector<float> values;
  for (int i = 0; i < 64 * 4; ++i)
    values.push_back(float(i + 2));
  executor.upload(dense[0], bytesOf(values));
  executor.upload(wide[0], bytesOf(std::vector<float>(64 * 6, 1)));
  const ReplacedDriverCall copies(&runtime::cuda::DriverApi::cuMemcpy2DAsync,
                                  refuseCopy);
  executor.run(0, 0, 1);
  const std::vector<float> result = readFloats(executor, wide[0], 64 * 6);
  for (std::size_t i = 0; i < result.size(); ++i)
    EXPECT_EQ(result[i], i % 6 < 4 ? values[i / 6 * 4 + i % 6] : 1);
  EXPECT_EQ(errorOf([&] {
              executor.run(0, 1, 2);
            }).find("3: copying on the GPU, 65 rows, 16 and 24 bytes apart: "),
            0u);
}

TEST_F(CudaExecutor, RefusesCopiesOfManyRectangles) {
  Program &main = b.program("main");
  auto transpose = [&](std::int64_t columns) {
    const auto from = b.buffer("from", {100, columns, 70});
    const auto to =
        b.buffer("to", {100, columns, 70}, {columns * 70, 1, columns});
    addCopy(main, from, to);
  };
  // Dimension 100 forms the rows of a rectangle; the next two give 3 x 70
  // rectangles.
  transpose(3);
  EXPECT_EQ(errorOf([&] { Executor executor(b.build()); }),
            "70: test.plan: program 'main', step 0: the copy takes 210 "
            "rectangles, more than 64; the compiler should have generated a "
            "kernel for it");
}

TEST_F(CudaExecutor, ReportsMissingKernelAsDamagedPlan) {
  auto y = b.buffer("y", {4});
  b.launch(b.program("main"), kernel(b, "noSuchKernel", 1), {}, {y});
  const std::string error = errorOf([&] { Executor executor(b.build()); });
  EXPECT_EQ(error,
            "1: test.plan: damaged plan: kernel 'noSuchKernel' is not in "
            "its image for sim");
}

TEST_F(CudaExecutor, ReportsMissingGpu) {
  b.program("main");
  ExecutorOptions options;
  options.gpu = 7;
  EXPECT_EQ(errorOf([&] { Executor executor(b.build(), options); }),
            "3: there is no GPU 7: the CUDA driver finds one, number 0");
}

TEST_F(CudaExecutor, ReportsNetTooLargeForTheDevice) {
  auto input = b.buffer("data", {1 << 20, 1 << 16});
  b.buffer("weights", {1000}, {}, F32, PARAMETERS);
  for (int i = 0; i < 12; ++i)
    b.buffer("blob" + std::to_string(i), {1 << 20, 4 + i});
  Program &main = b.program("main");
  DataInput &dataInput = *main.add_data_inputs();
  dataInput.set_layer("data");
  dataInput.add_buffer_indices(input);
  const std::string error = errorOf([&] { Executor executor(b.build()); });
  EXPECT_EQ(error.find("3: test.plan: out of GPU memory: the net needs 256."),
            0u)
      << error;
  EXPECT_NE(error.find("256.0 GiB  data (TRANSIENT)"), std::string::npos)
      << error;
  EXPECT_NE(error.find("blob11"), std::string::npos);
  EXPECT_NE(error.find("blob3 "), std::string::npos);
  EXPECT_EQ(error.find("blob2 "), std::string::npos); // ten are named
  EXPECT_NE(error.find("The batch is 1048576; one of about "),
            std::string::npos)
      << error;
}

} // namespace
