//===- PlanApiTest.cpp - Sessions and trainers of the API -----------------===//
//
// Uses the public headers, the runtime's shared library and hand-written plans;
// needs no compiler.
//
//===----------------------------------------------------------------------===//
#include "TestPlan.h"
#include "test/common/CommaLocale.h"
#include "test/common/NoMoreThreads.h"
#include "test/common/TestFiles.h"

#include <brew/brew.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

using namespace brew::api;
namespace plan = brew::plan;
namespace test = brew::test;

namespace {

const char *const kInput = "name: 'in' type: 'Input' top: 'x' top: 'target'";
const char *const kMissingSource =
    "name: 'd' type: 'HDF5Data' top: 'x' top: 'target' "
    "hdf5_data_param { source: 'nowhere' batch_size: 4 }";

enum Program { kTrain, kUpdate, kTest };

/// Tests with the linear model of TestPlan.h, whose programs are
/// forward_backward, update and test_0.
class PlanApi : public testing::Test {
protected:
  std::string solver(const std::string &fields = "") const {
    return "base_lr: 0.5 lr_policy: 'fixed' max_iter: 9 random_seed: 1 "
           "test_iter: 2 test_interval: 100 test_initialization: false "
           "snapshot_after_train: false snapshot_prefix: '" +
           (folder / "snap") + "' " + fields;
  }
  Plan planOf(const plan::Manifest &manifest) const {
    const std::string bytes = test::planBytes(manifest);
    return Plan(bytes.data(), bytes.size(), folder / "net.plan");
  }
  Plan linear(const char *feed = kInput, const std::string &fields = "") const {
    return planOf(test::linearModel(feed, solver(fields)));
  }

  test::TempFolder folder;
};

/// A feed whose batches all differ. Batches are numbered from 1.
struct Batches {
  int number = 0; // of the last batch
  void operator()(const brew_feed_request *requests, std::size_t count) {
    ++number;
    for (std::size_t i = 0; i < count; ++i)
      for (std::int64_t k = 0; k < requests[i].count; ++k)
        static_cast<float *>(requests[i].values)[k] =
            std::sin(float(number * 7 + k));
  }
};

Session fedSession(const Plan &plan, SessionOptions options = {}) {
  Session session(plan, std::move(options));
  session.setFeed(kTrain, {}, Batches());
  session.setFeed(kTest, {}, Batches());
  return session;
}

std::vector<float> weights(Session &session) {
  std::vector<float> values = session.read(session.parameter("ip", 0));
  values.push_back(session.read(session.parameter("ip", 1))[0]);
  return values;
}

/// Returns the status of the error that `body` throws, BREW_OK without one.
/// Checks that the error has a message.
brew_status statusOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const brew::api::Error &error) {
    EXPECT_STRNE(error.what(), "");
    return error.status();
  }
  return BREW_OK;
}

brew_tensor_name nameOf(brew_tensor_kind kind, int program, const char *name) {
  auto result = makeStruct<brew_tensor_name>();
  result.kind = kind;
  result.program = program;
  result.name = name;
  return result;
}

static_assert(!std::is_copy_constructible_v<Session> &&
              !std::is_copy_assignable_v<Session>);
static_assert(std::is_move_constructible_v<Session> &&
              std::is_move_assignable_v<Session>);

} // namespace

//===----------------------------------------------------------------------===//
// Errors documented in the headers
//===----------------------------------------------------------------------===//

TEST_F(PlanApi, MissingSourcesAreUnavailable) {
  const Plan plan = linear(kMissingSource);
  Session session(plan);
  session.initialise();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(statusOf([&] { session.openSources(kTrain); }), BREW_UNAVAILABLE);
  EXPECT_EQ(statusOf([&] { session.feed(kTrain); }), BREW_UNAVAILABLE);
}

TEST_F(PlanApi, FailedChecksAreBadInput) {
  plan::Manifest manifest = test::linearModel(kInput, solver());
  plan::Check &check = *manifest.mutable_programs(kTest)->add_checks();
  check.set_kind(plan::Check::LABEL_RANGE);
  check.set_status_buffer_index(
      static_cast<std::uint32_t>(manifest.buffers_size()));
  *manifest.add_buffers() = // the first target
      test::makeBuffer("status", 0, 64, {}, {}, plan::I32);
  check.set_values_buffer_index(1);
  check.set_limit(2);
  check.set_layer("ip");
  check.set_blob("target");
  const Plan plan = planOf(manifest);
  Session session(plan);
  session.initialise();
  std::vector<float> target(4);
  auto run = [&] {
    session.setInput(kTest, "target", target);
    session.feed(kTest);
    session.run(kTest);
  };
  EXPECT_EQ(statusOf(run), BREW_OK);
  const std::int32_t bad = 1;
  std::memcpy(target.data(), &bad, sizeof bad);
  EXPECT_EQ(statusOf(run), BREW_BAD_INPUT);
  session.feed(kTest);
  EXPECT_EQ(statusOf([&] { session.run(kTest, BREW_FORWARD); }),
            BREW_BAD_INPUT);
}

TEST_F(PlanApi, StatusesOfCallbacksPropagate) {
  const Plan plan = linear();
  Session session(plan);
  brew_status returned = BREW_UNAVAILABLE;
  const brew_feed_function feed = [](const brew_feed_request *, std::size_t,
                                     void *user) {
    return *static_cast<brew_status *>(user);
  };
  ASSERT_EQ(
      brew_session_set_feed(session.get(), kTest, nullptr, 0, feed, &returned),
      BREW_OK);
  for (brew_status status :
       {BREW_UNAVAILABLE, BREW_USAGE, BREW_BAD_INPUT, BREW_OK}) {
    returned = status;
    EXPECT_EQ(brew_session_feed(session.get(), kTest), status);
    EXPECT_EQ(*brew_session_message(session.get()) != '\0', status != BREW_OK);
  }
}

TEST_F(PlanApi, InvalidCallsReturnTheDocumentedStatus) {
  const Plan plan = linear();
  Session session = fedSession(plan);
  Trainer trainer(session);
  brew_session *s = session.get();
  brew_trainer *t = trainer.get();
  char text[256];
  float values[4] = {};
  const auto weightsName = nameOf(BREW_PARAMETER, 0, "ip");
  const auto unsized = brew_tensor_name{};
  const char *noInput = "y", *field = "base_lr";
  const brew_feed_function feed = [](const brew_feed_request *, std::size_t,
                                     void *) { return BREW_OK; };
  auto openTrainer = [&](const char *snapshot,
                         std::vector<const char *> files) {
    brew_options *options = nullptr;
    EXPECT_EQ(brew_options_create(&options), BREW_OK);
    if (snapshot)
      EXPECT_EQ(brew_options_set(options, "snapshot", snapshot), BREW_OK);
    for (const char *file : files)
      EXPECT_EQ(brew_options_set(options, "weights", file), BREW_OK);
    brew_trainer *opened = nullptr;
    const brew_status status = brew_trainer_open(s, options, &opened);
    brew_options_destroy(options);
    EXPECT_STRNE(brew_trainer_message(opened), "");
    EXPECT_EQ(brew_trainer_step(opened, 1), BREW_USAGE);
    brew_trainer_destroy(opened);
    return status;
  };
  auto setField = [&](const char *name, const char *value) {
    const brew_status status =
        brew_trainer_set_field(t, name, value, text, sizeof text);
    EXPECT_STRNE(text, "");
    return status;
  };
  auto getField = [&](const char *name, std::size_t size) {
    return brew_trainer_get_field(t, name, text, size);
  };
  const struct {
    const char *description;
    brew_status expected, status;
  } calls[] = {
      {"read too few", BREW_USAGE,
       brew_session_read(s, &weightsName, BREW_F32, values, 2)},
      {"read too many", BREW_USAGE,
       brew_session_read(s, &weightsName, BREW_F32, values, 4)},
      {"read as bytes", BREW_USAGE,
       brew_session_read(s, &weightsName, BREW_U8, values, 3)},
      {"write too few", BREW_USAGE,
       brew_session_write(s, &weightsName, BREW_F32, values, 2)},
      {"read a name of no size", BREW_USAGE,
       brew_session_read(s, &unsized, BREW_F32, values, 3)},
      {"set no input", BREW_BAD_INPUT,
       brew_session_set_input(s, kTest, "y", BREW_F32, values, 4)},
      {"feed no input", BREW_BAD_INPUT,
       brew_session_set_feed(s, kTest, &noInput, 1, feed, nullptr)},
      {"feed by nobody", BREW_USAGE,
       brew_session_set_feed(s, kTest, nullptr, 0, nullptr, nullptr)},
      {"run no layers", BREW_USAGE,
       brew_session_run_layers(s, kTest, "nosuch", nullptr, BREW_FORWARD)},
      {"load a missing file", BREW_UNAVAILABLE,
       brew_session_load_weights(s, &noInput, 1)},
      {"a field's value without room", BREW_USAGE, getField(field, 3)},
      {"no field's value", BREW_USAGE, getField("nosuch", sizeof text)},
      {"set no field", BREW_USAGE, setField("nosuch", "1")},
      {"set no number", BREW_USAGE, setField(field, "fast")},
      {"set too late", BREW_USAGE, setField("random_seed", "1")},
      {"set what the plan cannot", BREW_BAD_INPUT, setField("display", "-1")},
      {"test no net", BREW_USAGE, brew_trainer_test(t, 1, 0, nullptr, nullptr)},
      {"update without gradients", BREW_USAGE, brew_trainer_update(t)},
      {"accumulate without gradients", BREW_USAGE, brew_trainer_accumulate(t)},
      {"restore nothing", BREW_UNAVAILABLE,
       brew_trainer_restore(t, "no.solverstate")},
      {"train from two beginnings", BREW_USAGE,
       openTrainer("s.solverstate", {"w.caffemodel"})},
      {"set no option", BREW_USAGE, brew_options_set(nullptr, "threads", "1")},
      {"fill in no option", BREW_USAGE, brew_option_get(0, nullptr)},
  };
  for (const auto &call : calls)
    EXPECT_EQ(call.status, call.expected) << call.description;
  EXPECT_EQ(trainer.field("base_lr"), "0.5");
  EXPECT_EQ(getField(field, 4), BREW_OK); // "0.5" and its terminating zero
}

TEST_F(PlanApi, PlansReportErrorsByStatus) {
  const Plan plan = linear();
  auto info = makeStruct<brew_plan_info>();
  auto program = makeStruct<brew_program_info>();
  auto step = makeStruct<brew_step_info>();
  const char *json = nullptr;
  EXPECT_EQ(brew_plan_describe(nullptr, &json), BREW_USAGE);
  EXPECT_EQ(brew_plan_describe(plan.get(), nullptr), BREW_USAGE);
  EXPECT_EQ(brew_plan_get_info(nullptr, &info), BREW_USAGE);
  EXPECT_EQ(brew_plan_get_info(plan.get(), nullptr), BREW_USAGE);
  EXPECT_EQ(brew_plan_get_program(plan.get(), 3, &program), BREW_USAGE);
  EXPECT_EQ(brew_plan_get_step(plan.get(), kUpdate, 2, &step), BREW_USAGE);
  EXPECT_STREQ(brew_plan_message(plan.get()), "");
  EXPECT_FALSE(plan.info().embeds_weights);
  EXPECT_TRUE(plan.info().trainable);
}

/// The decimal point of means does not depend on the locale. A trailing comma
/// and spaces are accepted.
TEST_F(PlanApi, MeansOfRecordsDoNotDependOnTheLocale) {
  const std::string image("\0\0\x8\x3\0\0\0\1\0\0\0\1\0\0\0\2"
                          "\x7\x9",
                          18);
  test::writeBytes(folder / "images", image);
  const test::CommaLocale locale;
  for (const char *mean : {"1.5", "1.5,", " 1.5"}) {
    Records records(folder / "images", {1, 1, 2}, "", mean);
    const auto record = records.next();
    ASSERT_TRUE(record) << mean;
    EXPECT_EQ(record->values[0], 5.5f) << mean;
    EXPECT_EQ(record->values[1], 7.5f) << mean;
  }
  EXPECT_EQ(statusOf([&] {
              Records(folder / "images", {1, 1, 2}, "", "1.5,2");
            }),
            BREW_BAD_INPUT);
}

/// Images are resized to the transform's size, from which the records are cut.
TEST_F(PlanApi, TransformsOfRecordsHaveSizesFromWhichToCrop) {
  const std::string image("\0\0\x8\x3\0\0\0\1\0\0\0\1\0\0\0\2"
                          "\x7\x9",
                          18);
  test::writeBytes(folder / "images", image);
  auto statusOfSize = [&](int height, int width) {
    auto transform = makeStruct<brew_input_transform>();
    transform.scale = 1;
    transform.resize_height = height;
    transform.resize_width = width;
    return statusOf([&] {
      Records(folder / "images", {1, 1, 2}, "", "", std::nullopt, &transform)
          .next();
    });
  };
  EXPECT_EQ(statusOfSize(0, 0), BREW_OK);
  EXPECT_EQ(statusOfSize(1, 2), BREW_OK);
  EXPECT_EQ(statusOfSize(3, 4), BREW_OK);
  EXPECT_EQ(statusOfSize(1, 1), BREW_USAGE);
  EXPECT_EQ(statusOfSize(0, 2), BREW_USAGE);
  EXPECT_EQ(statusOfSize(1, -2), BREW_USAGE);
  EXPECT_EQ(statusOfSize(65537, 2), BREW_USAGE);
}

TEST_F(PlanApi, InvalidRecordsAndFilesAreErrors) {
  auto open = [&](const std::string &path) {
    return statusOf([&] { Records(path, {3}, "x"); });
  };
  EXPECT_EQ(open(folder / "none.h5"), BREW_UNAVAILABLE);
  test::writeBytes(folder / "rubbish.h5", "rubbish");
  EXPECT_EQ(open(folder / "rubbish.h5"), BREW_BAD_INPUT);

  const float values[] = {1, 2, 3};
  TensorFile writer(folder / "t.h5", BREW_WRITE);
  auto write = [&](const std::string &name) {
    return statusOf([&] { writer.write(name, {3}, values); });
  };
  EXPECT_EQ(write("/a/x"), BREW_OK);
  EXPECT_EQ(write("a/x"), BREW_USAGE); // the same name
  EXPECT_EQ(write("a/y"), BREW_OK);
  EXPECT_EQ(statusOf([&] { writer.find("a/x"); }), BREW_USAGE);
  writer.commit();
  EXPECT_EQ(write("/z"), BREW_USAGE);
  EXPECT_EQ(statusOf([&] { writer.commit(); }), BREW_USAGE);

  brew_tensor_file *file = nullptr;
  ASSERT_EQ(brew_tensor_file_open((folder / "t.h5").c_str(), BREW_READ, &file),
            BREW_OK);
  float read[3] = {};
  EXPECT_EQ(brew_tensor_file_read(file, "/a/x", BREW_F32, read, 2), BREW_USAGE);
  EXPECT_EQ(brew_tensor_file_read(file, "/a/x", BREW_I32, read, 3), BREW_USAGE);
  EXPECT_EQ(brew_tensor_file_read(file, "/z", BREW_F32, read, 3),
            BREW_BAD_INPUT);
  EXPECT_EQ(brew_tensor_file_write(file, "/z", BREW_F32, nullptr, 0, read),
            BREW_USAGE);
  EXPECT_EQ(brew_tensor_file_read(file, "/a/x", BREW_F32, read, 3), BREW_OK);
  EXPECT_EQ(read[2], 3);
  brew_tensor_file_destroy(file);
}

TEST_F(PlanApi, MissingGpusAndThreadsAreUnavailable) {
  setenv("BREW_CUDASIM", "/no/such/folder", 1);
  int count = 7;
  char text[256];
  EXPECT_EQ(brew_gpu_count(&count, text, sizeof text), BREW_UNAVAILABLE);
  EXPECT_STRNE(text, "");
  EXPECT_EQ(count, 0);
  const test::NoMoreThreads noMoreThreads;
  EXPECT_EQ(statusOf([] { ThreadPool(64); }), BREW_UNAVAILABLE);
}

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

TEST_F(PlanApi, FailedCountsThrow) {
  const Plan plan = linear();
  Session session(plan);
  EXPECT_EQ(session.inputs(kUpdate), 0u); // has no inputs
  EXPECT_TRUE(session.names(BREW_PERSISTENT_STATE).empty());
  EXPECT_EQ(statusOf([&] { session.inputs(17); }), BREW_USAGE);
  EXPECT_EQ(statusOf([&] { session.layers(17); }), BREW_USAGE);
  EXPECT_EQ(statusOf([&] { session.names(BREW_BLOB, 17); }), BREW_USAGE);
  const Plan unknown =
      linear("name: 'd' type: 'CPMData' top: 'x' top: 'target'");
  Session cannotFeed(unknown);
  EXPECT_EQ(statusOf([&] { cannotFeed.inputs(kTrain); }), BREW_BAD_INPUT);
}

TEST_F(PlanApi, CallbacksLiveAsLongAsTheyAreUsed) {
  const Plan plan = linear();
  Session session(plan);
  auto counter = std::make_shared<int>(0);
  auto users = [&] { return counter.use_count() - 1; };
  auto feed = [counter](const brew_feed_request *, std::size_t count) {
    *counter += static_cast<int>(count);
  };
  const int number = session.addListener([counter](const brew_event &) {});
  EXPECT_EQ(users(), 2); // and `feed`
  session.removeListener(number);
  EXPECT_EQ(users(), 1);

  session.setFeed(kTest, {}, feed);
  EXPECT_EQ(users(), 2);
  session.setFeed(kTest, {"x"}, feed); // the first feed keeps `target`
  EXPECT_EQ(users(), 3);
  session.feed(kTest);
  EXPECT_EQ(*counter, 2);
  session.setInput(kTest, "target", std::vector<float>(4));
  EXPECT_EQ(users(), 2);
  session.feed(kTest);
  EXPECT_EQ(*counter, 3);
  session.setFeed(kTrain, {}, feed); // a feed of another program
  EXPECT_EQ(users(), 3);
  EXPECT_EQ(statusOf([&] { session.setFeed(kTest, {"y"}, feed); }),
            BREW_BAD_INPUT);
  EXPECT_EQ(users(), 3);
  session.setRandomInputs(kTest, 1);
  EXPECT_EQ(users(), 2);
  session.setRandomInputs(kTrain, 1);
  EXPECT_EQ(users(), 1);
  EXPECT_EQ(statusOf([&] { session.setFeed(kTest, {}, nullptr); }), BREW_USAGE);
  EXPECT_EQ(statusOf([&] { session.addListener(nullptr); }), BREW_USAGE);
}

TEST_F(PlanApi, CallbacksCannotChangeTheirCaller) {
  const Plan plan = linear();
  Session session(plan);
  session.setFeed(kTest, {}, [&](const brew_feed_request *, std::size_t) {
    EXPECT_EQ(session.inputs(kTest), 2u); // reading changes nothing
    session.setInput(kTest, "x", std::vector<float>(12));
  });
  EXPECT_EQ(statusOf([&] { session.feed(kTest); }), BREW_USAGE);
  session.setFeed(kTest, {}, [&](const brew_feed_request *, std::size_t) {
    session.setFeed(kTest, {}, Batches());
  });
  EXPECT_EQ(statusOf([&] { session.feed(kTest); }), BREW_USAGE);
  int number = 0;
  number = session.addListener(
      [&](const brew_event &) { session.removeListener(number); });
  EXPECT_EQ(statusOf([&] { session.emitNetSetUp(kTest); }), BREW_USAGE);
}

TEST_F(PlanApi, ListenersReceiveEventsUntilRemoved) {
  const Plan plan = linear();
  Session session(plan);
  std::vector<int> nets;
  const int number = session.addListener([&](const brew_event &event) {
    if (event.kind == BREW_EVENT_NET_SET_UP)
      nets.push_back(event.net);
  });
  session.emitNetSetUp(kTrain);
  session.emitNetSetUp(kTest);
  EXPECT_EQ(nets, (std::vector<int>{-1, 0}));
  session.removeListener(number);
  session.emitNetSetUp(kTest);
  EXPECT_EQ(nets.size(), 2u);
  session.removeListener(number); // ignored
}

TEST_F(PlanApi, InputsNeedValuesUntilTheyAreSet) {
  const Plan plan = linear();
  Session session(plan);
  session.initialise();
  session.openSources(kTest);
  session.feedAndRun(kTest);
  EXPECT_TRUE(session.input(kTest, 0).needs_values);
  session.setInput(kTest, "x", std::vector<float>(12));
  EXPECT_FALSE(session.input(kTest, 0).needs_values);
  EXPECT_TRUE(session.input(kTest, 1).needs_values);
}

TEST_F(PlanApi, RangesOfLayersRun) {
  const Plan plan = linear();
  Session session(plan);
  session.initialise();
  EXPECT_EQ(session.layers(kTest), std::vector<std::string>{"ip"});
  EXPECT_EQ(brew_session_layer(session.get(), kTest, 1), nullptr);
  session.write(session.parameter("ip", 0), std::vector<float>{1, 2, 3});
  session.write(session.parameter("ip", 1), std::vector<float>{4});
  session.setInput(kTest, "x", std::vector<float>(12, 1));
  session.feed(kTest);
  session.runLayers(kTest, "ip", "ip");
  EXPECT_EQ(session.read(session.blob(kTest, "prediction")),
            (std::vector<float>{10, 10, 10, 10}));
}

TEST_F(PlanApi, SeedsRestartInputsAndResetsClearHistory) {
  const Plan plan = linear(
      "name: 'd' type: 'DummyData' top: 'x' top: 'target' dummy_data_param { "
      "data_filler { type: 'uniform' } data_filler { type: 'uniform' } }");
  Session session(plan);
  session.initialise();
  auto next = [&] {
    session.feedAndRun(kTest);
    return session.loss(kTest);
  };
  session.setSeed(5);
  const double first = next(), second = next();
  EXPECT_NE(first, second);
  session.setSeed(5);
  EXPECT_EQ(next(), first);
  session.setSeed(6);
  EXPECT_NE(next(), first);

  TensorName history{BREW_SOLVER_STATE, 0, "ip", 0, 0};
  session.write(history, std::vector<float>{1, 2, 3});
  const auto before = weights(session);
  session.resetState();
  EXPECT_EQ(session.read(history), std::vector<float>(3));
  EXPECT_EQ(weights(session), before);
}

TEST_F(PlanApi, CaffesLogIsPassedToAFunction) {
  const Plan plan = linear();
  std::vector<std::string> lines;
  auto options = makeStruct<brew_session_options>();
  options.log = [](brew_log_severity, const char *file, int line,
                   const char *text, void *user) {
    static_cast<std::vector<std::string> *>(user)->push_back(
        std::string(file) + ":" + std::to_string(line) + "] " + text);
  };
  options.log_user = &lines;
  brew_session *session = nullptr;
  ASSERT_EQ(brew_session_open(plan.get(), &options, &session), BREW_OK);
  brew_trainer *trainer = nullptr;
  ASSERT_EQ(brew_trainer_open(session, nullptr, &trainer), BREW_OK);
  ASSERT_EQ(brew_trainer_step(trainer, 1), BREW_OK);
  ASSERT_EQ(brew_trainer_test(trainer, 0, 0, nullptr, nullptr), BREW_OK);
  auto has = [&](const char *line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  EXPECT_TRUE(has("solver.cpp:56] Solver scaffolding done."));
  EXPECT_TRUE(has("solver.cpp:351] Iteration 1, Testing net (#0)"));
  brew_trainer_destroy(trainer);
  brew_session_destroy(session);
}

//===----------------------------------------------------------------------===//
// Trainers
//===----------------------------------------------------------------------===//

TEST_F(PlanApi, TestsReturnTheMeansOfTheOutputs) {
  const Plan plan = linear();
  Session session = fedSession(plan);
  Trainer trainer(session);
  EXPECT_EQ(trainer.testNets(), 1);
  const std::vector<OutputValue> means = trainer.test(0);
  ASSERT_EQ(means.size(), 5u); // the loss and four predictions
  EXPECT_EQ(means[0].blob, "loss");
  EXPECT_EQ(means[0].lossWeight, 1);

  Session scored = fedSession(plan);
  Trainer scoredTrainer(scored);
  EXPECT_EQ(scored.score(kTest, 2).means[0].value, means[0].value);
  EXPECT_NE(trainer.test(0, 1)[0].value, means[0].value);
}

TEST_F(PlanApi, AccumulatedGradientsEqualIterSize) {
  const Plan plan = linear(kInput, "iter_size: 2 clip_gradients: 0.1");
  Session stepped = fedSession(plan), manual = fedSession(plan);
  Trainer byStep(stepped), byHand(manual);
  byStep.step(2);
  for (int i = 0; i < 2; ++i) {
    byHand.forward();
    byHand.backward();
    byHand.accumulate();
    byHand.forward();
    byHand.backward();
    byHand.update();
  }
  EXPECT_EQ(weights(manual), weights(stepped));
  EXPECT_EQ(byHand.iteration(), 2);
}

TEST_F(PlanApi, SnapshotsAreWrittenAndRestored) {
  const Plan plan = linear();
  Session session = fedSession(plan);
  std::string state;
  session.addListener([&](const brew_event &event) {
    if (event.kind == BREW_EVENT_SNAPSHOT)
      state = event.state_file;
  });
  Trainer trainer(session);
  trainer.step(2);
  trainer.snapshot();
  EXPECT_EQ(state, folder / "snap_iter_2.solverstate");
  const auto saved = weights(session);
  trainer.step(2);
  EXPECT_NE(weights(session), saved);
  trainer.restore(state);
  EXPECT_EQ(weights(session), saved);
  EXPECT_EQ(trainer.iteration(), 2);

  Session fresh = fedSession(plan);
  Trainer resumed(fresh, {{"snapshot", state}});
  EXPECT_EQ(weights(fresh), saved);
  EXPECT_EQ(resumed.iteration(), 2);
}

TEST_F(PlanApi, RequestsComeFromOtherThreads) {
  const Plan plan = linear();
  Session session = fedSession(plan);
  std::vector<brew_event_kind> kinds;
  std::thread requester;
  Trainer *running = nullptr;
  session.addListener([&](const brew_event &event) {
    switch (event.kind) {
    case BREW_EVENT_ITERATION:
      if (event.iteration == 1)
        running->pause();
      return;
    case BREW_EVENT_PAUSED:
      requester = std::thread([&] {
        running->requestSnapshot();
        running->setField("base_lr", "0.25");
        running->resume();
      });
      break;
    case BREW_EVENT_SNAPSHOT:
    case BREW_EVENT_RESUMED:
      break;
    case BREW_EVENT_FIELD_SET:
      EXPECT_STREQ(event.name, "base_lr");
      EXPECT_EQ(event.iteration, 2);
      break;
    default:
      return;
    }
    kinds.push_back(event.kind);
  });
  Trainer trainer(session);
  running = &trainer;
  trainer.step(3);
  requester.join();
  EXPECT_FALSE(trainer.stopped());
  EXPECT_EQ(trainer.learningRate(), 0.25);
  ASSERT_EQ(kinds.size(), 4u);
  // The event of a snapshot follows when its files are complete, which may be
  // after the other events.
  const auto written =
      std::find(kinds.begin(), kinds.end(), BREW_EVENT_SNAPSHOT);
  ASSERT_NE(written, kinds.end());
  kinds.erase(written);
  EXPECT_EQ(kinds,
            (std::vector<brew_event_kind>{BREW_EVENT_PAUSED, BREW_EVENT_RESUMED,
                                          BREW_EVENT_FIELD_SET}));

  trainer.requestSnapshot();
  trainer.stop();
  trainer.step(3);
  EXPECT_TRUE(trainer.stopped());
  EXPECT_EQ(trainer.iteration(), 4);
}

TEST_F(PlanApi, ActionFunctionsMayThrowAndBeRemoved) {
  const Plan plan = linear();
  Session session = fedSession(plan);
  Trainer trainer(session);
  trainer.setActionFunction(
      []() -> brew_solver_action { throw std::out_of_range("no signal"); });
  EXPECT_THROW(trainer.step(3), std::out_of_range);
  EXPECT_EQ(trainer.iteration(), 1);
  trainer.setActionFunction([] { return BREW_ACTION_STOP; });
  trainer.step(3);
  EXPECT_TRUE(trainer.stopped());
  EXPECT_EQ(trainer.iteration(), 2);
  trainer.setActionFunction(nullptr);
  trainer.step(3);
  EXPECT_EQ(trainer.iteration(), 5);
}
