//===- CommandsTest.cpp - The commands except train -----------------------===//
#include "RunFixture.h"

#include "formats/WeightFile.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <numeric>
#include <set>

using namespace brew;
using nlohmann::json;

namespace {

class Commands : public test::RunFixture {
protected:
  /// Weights w = (1, 2, 3), b = 0.5.
  void writeWeights() {
    formats::Blob w, b;
    w.dims = {1, 3};
    w.floats = {1, 2, 3};
    b.dims = {1};
    b.floats = {0.5f};
    formats::Weights weights;
    weights.layers.push_back({"ip", "InnerProduct", {}, {}, {w, b}});
    formats::writeWeights(folder / "w.caffemodel", weights);
  }

  float prediction(int row) const {
    return x[row * 3] + 2 * x[row * 3 + 1] + 3 * x[row * 3 + 2] + 0.5f;
  }
};

const char *const kSolver = "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1";

} // namespace

TEST_F(Commands, TestAveragesOverBatches) {
  writePlan(hdf5DataLayer(), kSolver);
  writeWeights();
  const auto done = run({"test", "-model", "net.plan", "-weights",
                         "w.caffemodel", "-iterations", "5"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "Running for 5 iterations."));
  double loss = 0; // five batches of four are two passes over ten rows
  for (int row = 0; row < 10; ++row)
    loss += std::pow(prediction(row) - target[row], 2) / 2 / 10;
  double displayedLoss = 0, weightedLoss = 0;
  const std::size_t at = done.err.rfind("] loss = ");
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(std::sscanf(done.err.c_str() + at, "] loss = %lf (* 1 = %lf loss)",
                        &displayedLoss, &weightedLoss),
            2);
  EXPECT_NEAR(displayedLoss, loss, 1e-4 * loss);
  EXPECT_EQ(count(done.err, "] Batch 4, prediction = "), 4);
  EXPECT_EQ(count(done.err, "] Loss: "), 1);
}

TEST_F(Commands, EvalWritesBlobsAndGradients) {
  plan::Manifest manifest = test::linearModel(inputLayer(), kSolver);
  plan::Program &program = *manifest.mutable_programs(0);
  auto set = [](plan::NamedBuffer &named, const char *name,
                std::uint32_t buffer) {
    named.set_name(name);
    named.set_buffer_index(buffer);
  };
  set(*program.add_blobs(), "prediction", 9);
  set(*program.add_blob_gradients(), "ip/0", 4);
  // Blob x stands in for its gradient: the test checks only under which name
  // the gradient is written.
  set(*program.add_blob_gradients(), "x", 0);
  auto &sharer = *manifest.mutable_parameters(0)->add_sharers();
  sharer.set_layer("twin");
  sharer.set_index(0);
  sharer.add_file_dims(3);
  test::writeBytes(folder / "net.plan", test::planBytes(manifest));
  writeWeights();
  {
    formats::Hdf5Writer inputs(folder / "in.h5");
    inputs.write("inputs/x", {4, 3}, x.data());
    inputs.write("inputs/target", {4}, target.data());
    inputs.commit();
  }
  const auto done = run({"eval", "net.plan", "--inputs", "in.h5", "--outputs",
                         "out.h5", "--weights", "w.caffemodel", "--gradients"});
  ASSERT_EQ(done.status, 0) << done.err;
  formats::Hdf5Reader out(folder / "out.h5");
  EXPECT_EQ(out.datasets(),
            (std::vector<std::string>{
                "/data/loss", "/data/prediction", "/diff/x",
                "/param_after/ip/0", "/param_after/ip/1", "/param_after/twin/0",
                "/param_diff/ip/0", "/param_diff/ip/1", "/param_diff/twin/0"}));
  EXPECT_TRUE(out.dims("data/loss").empty()); // a scalar has shape []
  EXPECT_EQ(out.dims("param_diff/ip/0"), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(out.dims("param_diff/twin/0"), (std::vector<std::int64_t>{3}));
  const auto predictions = out.readFloats("data/prediction");
  double biasGradient = 0;
  for (int n = 0; n < 4; ++n) {
    EXPECT_NEAR(predictions[n], prediction(n), 1e-5);
    biasGradient += (prediction(n) - target[n]) / 4;
  }
  EXPECT_NEAR(out.readFloats("param_diff/ip/1")[0], biasGradient, 1e-5);
  EXPECT_EQ(out.readFloats("param_after/ip/0"), (std::vector<float>{1, 2, 3}));
  // Fails without inputs.
  formats::Hdf5Writer inputs(folder / "less.h5");
  inputs.write("inputs/x", {4, 3}, x.data());
  inputs.commit();
  const auto failed =
      run({"eval", "net.plan", "--inputs", "less.h5", "--outputs", "out.h5"});
  EXPECT_EQ(failed.status, 1);
  EXPECT_TRUE(contains(failed.err, "/inputs/target")) << failed.err;
}

TEST_F(Commands, EvalRequiresTheShapesOfInputs) {
  writePlan(inputLayer(), kSolver);
  auto evalWith = [&](std::vector<std::int64_t> dims) {
    formats::Hdf5Writer inputs(folder / "in.h5");
    inputs.write("inputs/x", dims, x.data());
    inputs.write("inputs/target", {4, 1}, target.data());
    inputs.commit();
    return run(
        {"eval", "net.plan", "--inputs", "in.h5", "--outputs", "out.h5"});
  };
  EXPECT_EQ(evalWith({12}).status, 0);
  EXPECT_EQ(evalWith({4, 1, 3, 1}).status, 0);
  const auto failed = evalWith({3, 4});
  EXPECT_EQ(failed.status, 1);
  EXPECT_TRUE(contains(failed.err, "/inputs/x is 3x4, and the input is 4x3"))
      << failed.err;
}

TEST_F(Commands, InferPrintsOrWritesRows) {
  writePlan(inputLayer(), kSolver);
  writeWeights();
  // Six rows for batches of four: the last one is padded.
  formats::Hdf5Writer rows(folder / "rows.h5");
  rows.write("x", {6, 3}, x.data());
  rows.commit();
  auto done = run({"infer", "net.plan", "rows.h5", "--weights", "w.caffemodel",
                   "--outputs", "out.h5", "--program", "test_0"});
  ASSERT_EQ(done.status, 0) << done.err;
  formats::Hdf5Reader out(folder / "out.h5");
  EXPECT_EQ(out.dims("prediction"), (std::vector<std::int64_t>{6}));
  const auto values = out.readFloats("prediction");
  for (int row = 0; row < 6; ++row)
    EXPECT_NEAR(values[row], prediction(row), 1e-5);

  test::writeBytes(folder / "labels.txt", "only\n");
  done = run({"infer", "net.plan", "rows.h5", "--weights", "w.caffemodel",
              "--labels", "labels.txt", "--count", "2"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(count(done.out, "Prediction for rows.h5["), 2);
  char expected[64];
  std::snprintf(expected, sizeof expected, "%.4f - \"only\"\n", prediction(1));
  EXPECT_TRUE(contains(done.out, expected)) << done.out;
  done = run({"infer", "net.plan", "gone.png", "--weights", "w.caffemodel"});
  EXPECT_EQ(done.status, 3);
  done = run({"infer", "net.plan", "list.txt", "--weights", "w.caffemodel"});
  EXPECT_EQ(done.status, 1);
}

TEST_F(Commands, TimeNamesLayersAsCaffeDoes) {
  writePlan(hdf5DataLayer(), kSolver);
  auto done = run({"time", "-model", "net.plan", "-iterations", "7", "-all"});
  ASSERT_EQ(done.status, 0) << done.err;
  for (const char *line :
       {"*** Benchmark begins ***", "Testing for 7 iterations.",
        "Iteration: 7 forward-backward time: ", "        ip\tforward: ",
        "        ip\tbackward: ", "Average Forward pass: ",
        "Average Backward pass: ", "Average Forward-Backward: ",
        "Average training step: ", "*** Benchmark ends ***", "median"})
    EXPECT_TRUE(contains(done.err, line)) << line << "\n" << done.err;
  // By default, without Caffe's line for each iteration.
  done = run({"time", "net.plan", "--iterations", "2"});
  EXPECT_FALSE(contains(done.err, "Iteration: ")) << done.err;
  EXPECT_TRUE(contains(done.err, " %")) << done.err;
  // Without the data, time uses random inputs and logs that.
  std::filesystem::remove(folder / "list.txt");
  done = run({"time", "net.plan", "--iterations", "2"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(contains(done.err, "Timing with random inputs"));
  // With --random-input, it does not log that.
  done = run({"time", "net.plan", "--iterations", "2", "--random-input"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_FALSE(contains(done.err, "Timing with random inputs"));
  EXPECT_TRUE(contains(done.err, "Average training step: "));
}

/// A complete event of a trace. Times are in microseconds.
struct Span {
  std::string name, category;
  double begin, duration;
  json arguments;
};

/// Returns the complete events of a trace, in the order of the file.
static std::vector<Span> spansOf(const json &trace) {
  std::vector<Span> spans;
  for (const auto &event : trace["traceEvents"])
    if (event["ph"] == "X")
      spans.push_back({event["name"], event["cat"], event["ts"], event["dur"],
                       event["args"]});
  return spans;
}

TEST_F(Commands, TimeWritesAProfile) {
  writePlan(hdf5DataLayer(), kSolver);
  auto done =
      run({"time", "net.plan", "--iterations", "3", "--profile", "trace.json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const auto trace = json::parse(test::readBytes(folder / "trace.json"));
  // Iterations contain passes, and passes contain steps, one after the other.
  const double tolerance = 1e-3; // microseconds: times in the file are rounded
  double ends[3] = {0, 0, 0}, stepTime = 0;
  int iterations = 0, steps = 0;
  Span enclosing[2];
  for (const Span &span : spansOf(trace)) {
    const int depth = span.category == "iteration" ? 0
                      : span.category == "pass"    ? 1
                                                   : 2;
    const double end = span.begin + span.duration;
    EXPECT_GE(span.begin, ends[depth] - tolerance) << span.name;
    if (depth > 0) {
      EXPECT_GE(span.begin, enclosing[depth - 1].begin - tolerance)
          << span.name;
      EXPECT_LE(end, ends[depth - 1] + tolerance) << span.name;
    }
    ends[depth] = end;
    if (depth < 2)
      enclosing[depth] = span;
    if (depth == 0) {
      EXPECT_EQ(span.name, "iteration " + std::to_string(++iterations));
    } else if (depth == 1) {
      EXPECT_TRUE(span.name == "forward" || span.name == "backward");
      stepTime = 0;
    } else {
      ++steps;
      stepTime += span.duration;
      EXPECT_LE(stepTime, enclosing[1].duration + tolerance);
      EXPECT_EQ(span.category, enclosing[1].name);
      for (const char *key : {"step", "implementation", "bytes", "flops"})
        EXPECT_TRUE(span.arguments.contains(key)) << key;
    }
  }
  EXPECT_EQ(iterations, 3);
  EXPECT_EQ(steps % 3, 0);
  EXPECT_GT(steps, 0);
  std::set<std::string> counters, metadata;
  for (const auto &event : trace["traceEvents"]) {
    if (event["ph"] == "C")
      counters.insert(event["name"]);
    if (event["ph"] == "M")
      metadata.insert(event["name"]);
  }
  EXPECT_EQ(counters, (std::set<std::string>{"arena", "threads"}));
  EXPECT_EQ(metadata, (std::set<std::string>{"process_name", "thread_name"}));
  // By default, the trace has ten iterations. It replaces an existing file.
  done = run({"time", "net.plan", "--profile", "trace.json"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(count(test::readBytes(folder / "trace.json"), "\"iteration "), 10);
}

TEST_F(Commands, ProfileErrorsAreReportedBeforeMeasuring) {
  writePlan(hdf5DataLayer(), kSolver);
  auto done = run({"time", "net.plan", "--profile", "none/trace.json"});
  EXPECT_EQ(done.status, 3);
  EXPECT_EQ(count(done.err, "error"), 1) << done.err;
  EXPECT_TRUE(contains(done.err, "cannot write 'none/trace.json'"));
  EXPECT_FALSE(contains(done.err, "Benchmark begins"));
  done = run({"time", "net.plan", "--iterations", "10000000", "--profile",
              "trace.json"});
  EXPECT_EQ(done.status, 2);
  EXPECT_TRUE(contains(done.err, "no more than 50 MB")) << done.err;
  EXPECT_FALSE(contains(done.err, "Benchmark begins"));
  for (const auto &entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_FALSE(contains(entry.path().string(), "trace")) << entry.path();
}

TEST_F(Commands, InspectListsProgramsBuffersAndParameters) {
  writePlan(hdf5DataLayer(), kSolver);
  auto done = run({"inspect", "net.plan", "--json"});
  ASSERT_EQ(done.status, 0) << done.err;
  const json plan = json::parse(done.out);
  ASSERT_EQ(plan["programs"].size(), 3u);
  EXPECT_EQ(plan["programs"][0]["name"], "forward_backward");
  EXPECT_EQ(plan["programs"][0]["steps"].size(), 2u);
  EXPECT_EQ(plan["programs"][0]["steps"][1]["backward"], true);
  EXPECT_EQ(plan["buffers"].size(), 11u);
  EXPECT_EQ(plan["buffers"][3]["name"], "b");
  EXPECT_EQ(plan["buffers"][3]["arena"], "PARAMETERS");
  EXPECT_EQ(plan["buffers"][3]["offset"], 64);
  EXPECT_EQ(plan["buffers"][3]["size"], 4);
  EXPECT_EQ(plan["parameters"][0]["shape"], json({1, 3}));
  done = run({"inspect", "net.plan"});
  ASSERT_EQ(done.status, 0);
  for (const char *part :
       {"Linear", "forward_backward", "test_update", "PARAMETERS", "ip/0"})
    EXPECT_TRUE(contains(done.out, part)) << part;
}

TEST_F(Commands, DeviceQueryDescribesTheProcessor) {
  const auto done = run({"device_query"});
  EXPECT_EQ(done.status, 0);
  EXPECT_TRUE(contains(done.err, "oneDNN version:"));
  EXPECT_TRUE(contains(done.err, "Cores available:"));
}

// Machines that only run plans do not need the compiler.
TEST_F(Commands, ToolIsSmallAndLinksNoLlvm) {
  const std::string bytes = test::readBytes(BREW_RUN);
  for (const char *library : {"libLLVM", "libMLIR", "_ZN4mlir"})
    EXPECT_FALSE(contains(bytes, library)) << library;
#if !defined(__SANITIZE_ADDRESS__) && defined(__OPTIMIZE__)
#if !defined(__has_feature) || !__has_feature(address_sanitizer)
  EXPECT_LT(bytes.size(), 10u << 20);
#endif
#endif
}
