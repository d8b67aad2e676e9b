//===- SessionTest.cpp - A plan with its memory, ready to run -------------===//
#include "TrainingFixture.h"

#include "formats/WeightFile.h"

#include <cstring>

// Functions of libgomp.
extern "C" {
void omp_set_num_threads(int count);
int omp_get_max_threads(void);
}

using namespace brew;
using namespace brew::runtime;
using test::expectError;

namespace {

const char *const kInput = "name: 'in' type: 'Input' top: 'x' top: 'target'";
const char *const kSolver = "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1";

/// Returns linearModel() with a test net of the layers one (ip), two and three.
/// One step computes two and three; their blob `second` is pinned.
plan::Manifest threeLayers() {
  plan::Manifest manifest = test::linearModel(kInput, kSolver);
  plan::Program &program = *manifest.mutable_programs(2);
  program.mutable_steps(0)->set_layers(0, "one");
  const int second = manifest.buffers_size();
  *manifest.add_buffers() = test::makeBuffer("second", 0, 256, {4});
  *manifest.add_buffers() = test::makeBuffer("second loss", 0, 320, {});
  plan::Step &step = *program.add_steps();
  step = program.steps(0);
  step.set_layers(0, "two+three");
  step.mutable_operands(4)->set_buffer_index(std::uint32_t(second));
  step.mutable_operands(5)->set_buffer_index(std::uint32_t(second + 1));
  program.set_first_backward_step(2);
  auto pin = [&](const char *name, int buffer) {
    plan::NamedBuffer &blob = *program.add_blobs();
    blob.set_name(name);
    blob.set_buffer_index(static_cast<std::uint32_t>(buffer));
  };
  pin("second", second);
  return manifest;
}

std::vector<float> valuesOf(const Session &session, const TensorName &name) {
  std::vector<float> values(4);
  session.read(name, values.data(), 4);
  return values;
}

const TensorName kWeights{TensorKind::Parameter, "ip", 0, 0, 0};
const TensorName kBias{TensorKind::Parameter, "ip", 0, 1, 0};
const TensorName kPrediction{TensorKind::Blob, "prediction", 2, 0, 0};
const TensorName kSecond{TensorKind::Blob, "second", 2, 0, 0};

void setModel(Session &session) {
  const double weights[3] = {1, 2, 3}, bias = 4;
  session.write(kWeights, weights, 3);
  session.write(kBias, &bias, 1);
}

void setInputs(Session &session, int program) {
  std::vector<float> x(12), target(4);
  for (int n = 0; n < 4; ++n)
    x[std::size_t(3 * n)] = float(n);
  session.dataPipeline(program).set("x", x.data(), 12);
  session.dataPipeline(program).set("target", target.data(), 4);
}

using SessionTest = test::TrainingFixture;

} // namespace

TEST_F(SessionTest, PrintsNothingByDefault) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  {
    const plan::Manifest manifest =
        test::linearModel(feed(), solver("base_lr: 0.1 lr_policy: 'fixed' "
                                         "display: 1 max_iter: 2 snapshot: 1"));
    Session session(test::loadPlan(manifest, folder / "net.plan"));
    TrainerOptions options;
    options.solver = solverOf(manifest);
    Trainer(session, options).solve();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST_F(SessionTest, AccessesParametersByNameInAnyType) {
  Session session(test::loadPlan(threeLayers()));
  session.initialise();
  float bias = 0;
  session.read(kBias, &bias, 1);
  EXPECT_EQ(bias, 0.25f); // the value of its filler
  setModel(session);
  std::int32_t integers[3] = {};
  session.read(kWeights, integers, 3);
  EXPECT_EQ(integers[2], 3);
  const Tensor weights = session.find(kWeights);
  EXPECT_EQ(weights.shape, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(weights.strides, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(weights.onDevice, session.onGpu());
  ASSERT_NE(weights.data, nullptr);
  if (!weights.onDevice) {
    EXPECT_EQ(static_cast<float *>(weights.data)[1], 2.f); // no copy
  }
  EXPECT_EQ(session.names(TensorKind::SolverState).size(), 2u);
  EXPECT_EQ(session.names(TensorKind::Blob, 2).size(), 3u);

  const auto usage = ExitStatus::Usage;
  expectError(usage, "has 3 values (1 x 3), not 4",
              [&] { valuesOf(session, kWeights); });
  expectError(usage, "no layer 'iq' with parameters", [&] {
    session.find({TensorKind::Parameter, "iq", 0, 0, 0});
  });
  expectError(usage, "no parameter 2", [&] {
    session.find({TensorKind::Parameter, "ip", 0, 2, 0});
  });
  expectError(usage, "has no readable blob 'x'; pin it with brewc --keep", [&] {
    session.find({TensorKind::Blob, "x", 2, 0, 0});
  });
  expectError(usage, "did you mean 'second'", [&] {
    session.find({TensorKind::Blob, "secnd", 2, 0, 0});
  });
  expectError(usage, "keeps 1 states", [&] {
    session.find({TensorKind::SolverState, "ip", 0, 0, 1});
  });
  expectError(usage, "it has: forward_backward, update, test_0",
              [&] { session.program("deploy"); });
  expectError(usage, "no program 7", [&] { session.run(7); });
}

TEST_F(SessionTest, RunsRangesOfLayers) {
  Session session(test::loadPlan(threeLayers()));
  setModel(session);
  setInputs(session, 2);
  EXPECT_EQ(session.layers(2),
            (std::vector<std::string>{"one", "two", "three"}));
  const std::vector<float> zeros(4), expected = {4, 5, 6, 7};
  session.inputs(2).feed();
  session.runLayers(2, "", "one");
  EXPECT_EQ(valuesOf(session, kPrediction), expected);
  EXPECT_EQ(valuesOf(session, kSecond), zeros);
  session.runLayers(2, "two", "");
  EXPECT_EQ(valuesOf(session, kSecond), expected);
  session.runLayers(2, "one", "three", Pass::Backward); // has no backward steps

  const auto usage = ExitStatus::Usage;
  expectError(usage, "'two', 'three' of the program 'test_0' are fused",
              [&] { session.runLayers(2, "one", "two"); });
  expectError(usage, "'two', 'three' of the program 'test_0' are fused",
              [&] { session.runLayers(2, "three", ""); });
  expectError(usage, "layer 'two' comes after layer 'one'",
              [&] { session.runLayers(2, "two", "one"); });
  expectError(usage, "has no layer 'tow'",
              [&] { session.runLayers(2, "tow", ""); });
}

TEST_F(SessionTest, SeparatePassesEqualOneRun) {
  Session session(test::loadPlan(test::linearModel(kInput, kSolver)));
  setModel(session);
  setInputs(session, 0);
  session.feedAndRun(0);
  std::vector<float> ofOneRun(3), ofPasses(3);
  const TensorName gradient{TensorKind::ParameterGradient, "ip", 0, 0, 0};
  session.read(gradient, ofOneRun.data(), 3);
  EXPECT_NE(ofOneRun, ofPasses);
  session.write(gradient, ofPasses.data(), 3);
  session.inputs(0).feed();
  session.run(0, Pass::Forward);
  EXPECT_EQ(session.loss(0), (16 + 25 + 36 + 49) / 8.0);
  session.read(gradient, ofPasses.data(), 3);
  EXPECT_EQ(ofPasses, std::vector<float>(3));
  session.run(0, Pass::Backward);
  session.read(gradient, ofPasses.data(), 3);
  EXPECT_EQ(ofPasses, ofOneRun);
}

TEST_F(SessionTest, InitialiseRestoresEmbeddedWeights) {
  plan::Manifest manifest = test::linearModel(kInput, kSolver);
  plan::Segment &segment = *manifest.add_segments();
  segment.set_kind(plan::Segment::WEIGHTS);
  manifest.mutable_arenas(1)->set_initial_segment_index(1);
  std::string weights(68, '\0');
  const float values[] = {1, 2, 3};
  std::memcpy(weights.data(), values, sizeof values);
  Session session(plan::PlanFile::fromBytes(
      test::planBytes(manifest, {weights}), "test.plan"));
  std::vector<float> result(3);
  for (int round = 0; round < 2; ++round) {
    session.initialise({}, /*required=*/true);
    session.read(kWeights, result.data(), 3);
    EXPECT_EQ(result, (std::vector<float>{1, 2, 3}));
    result = {7, 7, 7};
    session.write(kWeights, result.data(), 3);
  }
  // initialise() also reverts writes that bypass write().
  session.initialise();
  static_cast<float *>(session.find(kWeights).data)[0] = 7;
  session.initialise();
  session.read(kWeights, result.data(), 3);
  EXPECT_EQ(result, (std::vector<float>{1, 2, 3}));
  setInputs(session, 0);
  session.feedAndRun(0);
  session.executor().uploadBytes(4, 0, values, sizeof(float)); // the rate
  session.executor().uploadBytes(4, 3 * plan::kAlignment, values,
                                 sizeof(float)); // the gradients' factor
  session.run(session.program("update"));
  session.read(kWeights, result.data(), 3);
  EXPECT_NE(result, (std::vector<float>{1, 2, 3}));
  session.initialise();
  session.read(kWeights, result.data(), 3);
  EXPECT_EQ(result, (std::vector<float>{1, 2, 3}));
}

TEST_F(SessionTest, FindWaitsForPendingRuns) {
  Session session(test::loadPlan(test::linearModel(kInput, kSolver)));
  setModel(session);
  setInputs(session, 0);
  session.inputs(0).feed();
  session.run(0);
  // The simulator's memory can be read like the host's.
  const Tensor loss = session.find({TensorKind::Blob, "loss", 0, 0, 0});
  EXPECT_EQ(*static_cast<const float *>(loss.data), (16 + 25 + 36 + 49) / 8.0f);
}

TEST_F(SessionTest, KeepsTheThreadSettingOfTheCaller) {
  omp_set_num_threads(5);
  SessionOptions options;
  options.device.threads = 2;
  Session session(test::loadPlan(test::linearModel(kInput, kSolver)), options);
  EXPECT_EQ(omp_get_max_threads(), 5);
  session.initialise();
  setInputs(session, 0);
  session.feedAndRun(0);
  EXPECT_EQ(omp_get_max_threads(), 5);
}

TEST_F(SessionTest, NetSetUpEventsHaveTheTestNetNumber) {
  Session session(test::loadPlan(test::linearModel(kInput, kSolver)));
  std::vector<int> nets;
  session.events().add([&](const Event &event) {
    if (const auto *setUp = std::get_if<event::NetSetUp>(&event))
      nets.push_back(setUp->testNet);
  });
  session.emitNetSetUp(session.program("test_0"));
  session.emitNetSetUp(session.program("forward_backward"));
  EXPECT_EQ(nets, (std::vector<int>{0, -1}));
}

TEST_F(SessionTest, WeightsAreRequiredOnRequest) {
  Session session(test::loadPlan(test::linearModel(kInput, kSolver)));
  expectError(ExitStatus::Usage, "the plan has no weights: pass a weight file",
              [&] { session.initialise({}, /*required=*/true); });
  formats::Weights weights = session.parameters().save();
  weights.layers[0].blobs[1].floats[0] = 9;
  formats::writeWeights(folder / "w.caffemodel", weights,
                        formats::SnapshotFormat::BinaryProto);
  int loaded = 0;
  session.events().add([&](const Event &event) {
    loaded += std::holds_alternative<event::WeightsLoading>(event);
  });
  session.initialise({" " + (folder / "w.caffemodel") + ", "}, true);
  float bias = 0;
  session.read(kBias, &bias, 1);
  EXPECT_EQ(bias, 9);
  EXPECT_EQ(loaded, 1);
}

TEST_F(SessionTest, CallbacksProvideEachBatch) {
  Session session(test::loadPlan(
      test::linearModel("name: 'd' type: 'HDF5Data' top: 'x' top: 'target' "
                        "hdf5_data_param { source: 'nowhere' batch_size: 4 }",
                        kSolver)));
  setModel(session);
  int batch = 0;
  session.dataPipeline(0).setCallback(
      {}, [&](const std::vector<DataPipeline::Request> &requests) {
        ASSERT_EQ(requests.size(), 2u);
        EXPECT_EQ(requests[0].top, "x");
        EXPECT_EQ(requests[0].dims, (std::vector<std::int64_t>{4, 3}));
        ASSERT_EQ(requests[1].count, 4);
        std::fill_n(requests[0].floats, 12, 0.f);
        std::fill_n(requests[1].floats, 4, float(batch++));
      });
  session.feedAndRun(0);
  EXPECT_EQ(session.loss(0), 8); // (4 - 0)^2 / 2
  session.feedAndRun(0);
  EXPECT_EQ(session.loss(0), 4.5);
  // set() replaces the callback for one top; the callback still computes the
  // other.
  session.dataPipeline(0).setCallback(
      {"target"}, [&](const std::vector<DataPipeline::Request> &requests) {
        ASSERT_EQ(requests.size(), 1u);
        std::fill_n(requests[0].floats, 4, 4.f);
      });
  const std::int32_t x[12] = {};
  session.dataPipeline(0).set("x", x, 12);
  session.feedAndRun(0);
  EXPECT_EQ(session.loss(0), 0);
  EXPECT_EQ(batch, 2);
  expectError(ExitStatus::BadInput, "no input blob 'y'",
              [&] { session.dataPipeline(0).setCallback({"y"}, nullptr); });
  // Exceptions of the callback propagate.
  session.dataPipeline(0).setCallback(
      {"x"}, [](const auto &) { throw badInput("no more batches"); });
  expectError(ExitStatus::BadInput, "no more batches",
              [&] { session.feedAndRun(0); });
}

TEST_F(SessionTest, EachRunHasOtherRandomKeys) {
  plan::Manifest manifest = test::linearModel(kInput, kSolver);
  const int buffer = manifest.buffers_size();
  plan::Buffer &words = *manifest.add_buffers();
  words = test::makeBuffer("drop.random_key", 0, 256, {2});
  words.set_type(plan::I32);
  plan::RandomKey &key = *manifest.mutable_programs(0)->add_random_keys();
  key.set_layer("drop");
  key.set_buffer_index(static_cast<std::uint32_t>(buffer));
  auto keyAfterFeed = [&](Session &session) {
    std::vector<std::int32_t> value(2);
    session.inputs(0).feed();
    session.executor().read(
        static_cast<std::uint32_t>(buffer), [&](const std::byte *bytes) {
          std::memcpy(value.data(), bytes, sizeof(std::int32_t) * 2);
        });
    return value;
  };
  Session &session = open(manifest);
  const auto first = keyAfterFeed(session), second = keyAfterFeed(session);
  EXPECT_NE(first, second);
  const std::vector<caffe::ReaderCursor> position = session.inputs(0).cursors();
  const auto third = keyAfterFeed(session);
  EXPECT_NE(second, third);
  Session &resumed = open(manifest);
  resumed.inputs(0).restore(position);
  EXPECT_EQ(keyAfterFeed(resumed), third);
  session.inputs(0).reset(session.rankSeed());
  EXPECT_EQ(keyAfterFeed(session), first);
}

TEST_F(SessionTest, AnotherSeedRestartsTheSources) {
  Session session(test::loadPlan(test::linearModel(feed(), kSolver)));
  setModel(session);
  session.feedAndRun(0);
  const double first = session.loss(0);
  session.feedAndRun(0);
  EXPECT_NE(session.loss(0), first);
  session.setSeed({5});
  session.feedAndRun(0);
  EXPECT_EQ(session.loss(0), first);
}

TEST_F(SessionTest, SharedParametersAreTheSameMemory) {
  Session owner(test::loadPlan(test::linearModel(kInput, kSolver)));
  SessionOptions options;
  options.shareParameters = &owner;
  Session sharing(test::loadPlan(threeLayers()), options);
  setModel(owner);
  sharing.initialise(); // keeps the shared parameters
  setInputs(sharing, 2);
  sharing.feedAndRun(2);
  EXPECT_EQ(valuesOf(sharing, kPrediction), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(sharing.find(kWeights).data, owner.find(kWeights).data);
  EXPECT_NE(sharing.find({TensorKind::ParameterGradient, "ip", 0, 0, 0}).data,
            owner.find({TensorKind::ParameterGradient, "ip", 0, 0, 0}).data);

  plan::Manifest moved = test::linearModel(kInput, kSolver);
  for (int buffer : {3, 5}) // b and its gradient
    moved.mutable_buffers(buffer)->set_offset(128);
  expectError(ExitStatus::Usage, "the memory layout of its parameters differs",
              [&] { Session(test::loadPlan(moved), options); });
}
