//===- RuntimeTest.cpp - The runtime in a calling program -----------------===//
//
// Uses only the public headers and the shared libraries, with the compiler's
// library in the same process.
//
//===----------------------------------------------------------------------===//
#include <brew/brew.hpp>
#include <brew/compiler.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <thread>
#include <unistd.h>

using namespace brew::api;

namespace {

const char *const kNet =
    "layer { name: 'in' type: 'Input' top: 'x'\n"
    "  input_param { shape { dim: 2 dim: 3 } } }\n"
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'\n"
    "  inner_product_param { num_output: 4\n"
    "    weight_filler { type: 'constant' value: 0.5 }\n"
    "    bias_filler { type: 'constant' value: 1 } } }\n"
    "layer { name: 'relu' type: 'ReLU' bottom: 'y' top: 'z' }\n";

const char *const kSolver =
    "net_param {\n"
    "layer { name: 'in' type: 'Input' top: 'x' top: 't'\n"
    "  input_param { shape { dim: 8 dim: 2 } shape { dim: 8 dim: 1 } } }\n"
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'\n"
    "  inner_product_param { num_output: 1 weight_filler { type: 'xavier' } } "
    "}\n"
    "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 't'\n"
    "  top: 'loss' } }\n"
    "base_lr: 0.1 lr_policy: 'fixed' max_iter: 40 random_seed: 3\n"
    "snapshot_prefix: 'api' snapshot_after_train: false\n";

std::string compile(const char *text) {
  const Compilation compilation = Compilation::ofText(text, "net.prototxt");
  EXPECT_TRUE(compilation.succeeded()) << compilation.message();
  return std::string(compilation.plan());
}

Plan planOf(const char *text) {
  const std::string bytes = compile(text);
  return Plan(bytes.data(), bytes.size(), "net.plan");
}

/// Returns the status of the error that `body` throws, BREW_OK without one.
template <typename Body> brew_status statusOf(Body &&body) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_STRNE(error.what(), "");
    return error.status();
  }
  return BREW_OK;
}

/// Feeds x with 0, 1, 2, 0, 1, 2 ... and the target with ones.
void feedLine(const brew_feed_request *requests, std::size_t count) {
  ASSERT_EQ(count, 2u);
  for (std::size_t i = 0; i < count; ++i) {
    auto *values = static_cast<float *>(requests[i].values);
    for (std::int64_t k = 0; k < requests[i].count; ++k)
      values[k] = std::strcmp(requests[i].input, "x") == 0 ? float(k % 3) : 1;
  }
}

} // namespace

TEST(RuntimeApi, RunsANetOnTheCallersValues) {
  const Plan plan = planOf(kNet);
  EXPECT_FALSE(plan.info().trainable);
  const int program = plan.program("deploy");
  ASSERT_EQ(plan.programInfo(program).output_count, 1u);
  EXPECT_STREQ(plan.programInfo(program).outputs[0], "z");

  Session session(plan);
  session.initialise();
  ASSERT_EQ(session.inputs(program), 1u);
  EXPECT_TRUE(session.input(program, 0).needs_values);
  session.setInput(program, "x", std::vector<float>{1, 2, 3, -4, 0, 0});
  EXPECT_FALSE(session.input(program, 0).needs_values);
  session.feedAndRun(program);
  EXPECT_EQ(session.read(session.blob(program, "z")),
            (std::vector<float>{4, 4, 4, 4, 0, 0, 0, 0}));
  EXPECT_EQ(session.read<double>(session.blob(program, "z"))[0], 4);

  // The values can also be read from the tensor's memory.
  const brew_tensor tensor = session.find(session.blob(program, "z"));
  EXPECT_FALSE(tensor.on_device);
  EXPECT_EQ(tensor.dtype, BREW_F32);
  EXPECT_EQ(static_cast<const float *>(tensor.data)[0], 4);
}

TEST(RuntimeApi, WrittenParametersTakeEffect) {
  const Plan plan = planOf(kNet);
  const int program = plan.program("deploy");
  Session session(plan);
  session.initialise();
  session.write(session.parameter("ip", 1), std::vector<double>{0, 1, 2, 3});
  session.prepare();
  session.setInput(program, "x", std::vector<std::int32_t>(6, 0));
  session.feedAndRun(program);
  EXPECT_EQ(session.read(session.blob(program, "z")),
            (std::vector<float>{0, 1, 2, 3, 0, 1, 2, 3}));
}

/// Library calls may store weights in their own layout, and bf16 weights are
/// rounded before runs. prepare() updates both kinds of copies.
TEST(RuntimeApi, WrittenWeightsReachTheirCopies) {
  const char *const text =
      "layer { name: 'in' type: 'Input' top: 'x'\n"
      "  input_param { shape { dim: 1 dim: 32 dim: 6 dim: 6 } } }\n"
      "layer { name: 'conv' type: 'Convolution' bottom: 'x' top: 'y'\n"
      "  convolution_param { num_output: 32 kernel_size: 3 bias_term: false\n"
      "    weight_filler { type: 'constant' value: 1 } } }\n"
      "layer { name: 'ip' type: 'InnerProduct' bottom: 'y' top: 'z'\n"
      "  inner_product_param { num_output: 64 bias_term: false\n"
      "    weight_filler { type: 'constant' value: 1 } } }\n";
  // bf16 represents all values exactly. The convolution adds up 32 * 9 ones,
  // the inner product 32 * 16 of these sums.
  constexpr float sum = 32 * 9 * 32 * 16;
  for (const char *precision : {"f32", "bf16"}) {
    CompilerOptions options;
    options.set("precision", precision);
    const Compilation compilation =
        Compilation::ofText(text, "net.prototxt", options);
    ASSERT_TRUE(compilation.succeeded()) << compilation.message();
    const std::string bytes(compilation.plan());
    const Plan plan(bytes.data(), bytes.size(), "net.plan");
    const int program = plan.program("deploy");
    Session session(plan);
    session.initialise();
    session.setInput(program, "x", std::vector<float>(32 * 36, 1));
    auto expect = [&](float value) {
      session.feedAndRun(program);
      EXPECT_EQ(session.read(session.blob(program, "z")),
                std::vector<float>(64, value))
          << precision;
    };
    expect(sum);
    session.write(session.parameter("conv", 0),
                  std::vector<float>(32 * 32 * 9, 0.5f));
    session.prepare();
    expect(sum / 2);
    session.write(session.parameter("ip", 0),
                  std::vector<float>(64 * 32 * 16, -4));
    session.prepare();
    expect(sum * -2);
  }
}

/// Steps that were prepared for one address of a blob use its new address, also
/// library calls that store weights in their own layout.
TEST(RuntimeApi, TensorsCanUseTheCallersMemory) {
  const char *const text =
      "layer { name: 'in' type: 'Input' top: 'x'\n"
      "  input_param { shape { dim: 1 dim: 16 dim: 4 dim: 4 } } }\n"
      "layer { name: 'conv' type: 'Convolution' bottom: 'x' top: 'y'\n"
      "  convolution_param { num_output: 16 kernel_size: 3\n"
      "    weight_filler { type: 'constant' value: 1 } } }\n"
      "layer { name: 'abs' type: 'AbsVal' bottom: 'y' top: 'z' }\n";
  CompilerOptions options;
  options.set("keep", "all");
  options.set("layout", "nchw");
  const Compilation compilation =
      Compilation::ofText(text, "net.prototxt", options);
  ASSERT_TRUE(compilation.succeeded()) << compilation.message();
  const std::string bytes(compilation.plan());
  const Plan plan(bytes.data(), bytes.size(), "net.plan");
  const int program = plan.program("deploy");
  Session session(plan);
  session.initialise();
  constexpr std::size_t inputs = 16 * 16, outputs = 16 * 4;
  alignas(64) float x[inputs], z[outputs];
  auto expect = [&](float input, const float *in, const float *out) {
    session.run(program);
    EXPECT_EQ(session.find(session.blob(program, "x")).data, in);
    EXPECT_EQ(session.find(session.blob(program, "z")).data, out);
    for (std::size_t i = 0; i < outputs; ++i)
      ASSERT_EQ(out[i], std::fabs(input) * 16 * 9);
  };
  const TensorName in = session.blob(program, "x"),
                   out = session.blob(program, "z");
  const auto *const ownIn = static_cast<const float *>(session.find(in).data);
  const auto *const ownOut = static_cast<const float *>(session.find(out).data);
  session.write(in, std::vector<float>(inputs, 1));
  expect(1, ownIn, ownOut);
  std::fill_n(x, inputs, -2.0f);
  session.bindMemory(in, x, sizeof x);
  expect(-2, x, ownOut);
  session.bindMemory(out, z, sizeof z);
  std::fill_n(x, inputs, 3.0f);
  expect(3, x, z);
  session.write(session.parameter("conv", 0),
                std::vector<float>(16 * 16 * 9, 2));
  session.prepare();
  expect(6, x, z); // twice the weights
  const TensorName weights = session.parameter("conv", 0);
  alignas(64) float w[16 * 16 * 9];
  std::fill_n(w, std::size(w), 3.0f);
  session.bindMemory({{weights, w, sizeof w}, {out, nullptr, 0}});
  session.prepare();
  expect(9, x, ownOut);
  session.write(weights, std::vector<float>(std::size(w), 2));
  EXPECT_EQ(w[5], 2);
  session.bindMemory(weights, nullptr, 0);
  session.prepare();
  session.bindMemory(in, nullptr, 0);
  expect(2, ownIn, ownOut); // the values written first

  EXPECT_EQ(statusOf([&] { session.bindMemory(in, x, sizeof x - 4); }),
            BREW_USAGE);
  EXPECT_EQ(statusOf([&] { session.bindMemory(out, x + 1, sizeof z); }),
            BREW_USAGE);
  // All tensors are bound, or none.
  EXPECT_EQ(statusOf([&] {
              session.bindMemory({{out, z, sizeof z}, {in, x, sizeof x - 4}});
            }),
            BREW_USAGE);
  expect(2, ownIn, ownOut);
}

/// Each layer is a program on the caller's blobs; the backward pass starts from
/// the gradients that the caller writes.
TEST(RuntimeApi, LayersRunOneByOneOnTheCallersMemory) {
  const char *const text =
      "force_backward: true\n"
      "layer { name: 'in' type: 'Input' top: 'x'\n"
      "  input_param { shape { dim: 2 dim: 4 } } }\n"
      "layer { name: 'square' type: 'Power' bottom: 'x' top: 'y'\n"
      "  power_param { power: 2 } }\n"
      "layer { name: 'relu' type: 'ReLU' bottom: 'y' top: 'y' }\n"
      "layer { name: 'most' type: 'ArgMax' bottom: 'y' top: 'z' }\n";
  CompilerOptions options;
  for (const char *flag : {"stepwise", "gradients"})
    options.set(flag, "true");
  options.set("phase", "train");
  const Compilation compilation =
      Compilation::ofText(text, "net.prototxt", options);
  ASSERT_TRUE(compilation.succeeded()) << compilation.message();
  const std::string bytes(compilation.plan());
  const Plan plan(bytes.data(), bytes.size(), "net.plan");
  const int square = plan.program("layer:square");
  const int relu = plan.program("layer:relu");
  const int most = plan.program("layer:most");
  EXPECT_EQ(plan.programs(), 3);
  EXPECT_STREQ(plan.programInfo(square).no_backward, "");
  EXPECT_NE(std::string(plan.programInfo(most).no_backward), "");
  Session session(plan);
  session.initialise();
  alignas(64) float x[8], y[16], dx[8], dy[16];
  const auto bytesOf = static_cast<std::int64_t>(sizeof x);
  session.bindMemory({{session.blob(square, "x"), x, bytesOf},
                      {session.blob(square, "y"), y, bytesOf},
                      {session.outputGradient(square, "y"), dy, bytesOf},
                      {session.blobGradient(square, "x"), dx, bytesOf},
                      {session.blob(relu, "y.bottom"), y, bytesOf}});
  for (int i = 0; i < 8; ++i)
    x[i] = static_cast<float>(i - 4), dy[i] = 10;
  session.run(square, BREW_FORWARD);
  session.run(relu, BREW_FORWARD);
  EXPECT_EQ(session.read(session.blob(relu, "y"))[1], 9);
  for (int pass = 0; pass < 2; ++pass) { // gradients stay as they are
    session.run(square, BREW_BACKWARD);
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(dx[i], 20 * x[i]);
      EXPECT_EQ(dy[i], 10);
    }
  }
}

TEST(RuntimeApi, PlansCanUseTheCallersMemory) {
  const std::string bytes = compile(kNet);
  const std::size_t size = (bytes.size() + 127) / 64 * 64;
  std::unique_ptr<char, decltype(&std::free)> memory(
      static_cast<char *>(std::aligned_alloc(64, size)), &std::free);
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  const Plan plan(memory.get(), bytes.size(), "here.plan", true);
  Session session(plan);
  session.initialise();
  EXPECT_EQ(statusOf([&] {
              Plan(memory.get() + 1, bytes.size() - 1, "odd.plan", true);
            }),
            BREW_USAGE);
}

TEST(RuntimeApi, FailuresHaveAStatusAndAMessage) {
  EXPECT_EQ(statusOf([] { Plan("no/such.plan"); }), BREW_UNAVAILABLE);
  EXPECT_EQ(statusOf([] { Plan("rubbish", 7, "rubbish"); }), BREW_BAD_INPUT);

  const Plan plan = planOf(kNet);
  const int program = plan.program("deploy");
  EXPECT_EQ(statusOf([&] { plan.program("train"); }), BREW_USAGE);
  Session session(plan);
  EXPECT_EQ(statusOf([&] { session.read(session.blob(program, "nosuch")); }),
            BREW_USAGE);
  EXPECT_EQ(statusOf([&] { session.read(session.blob(17, "z")); }), BREW_USAGE);
  EXPECT_EQ(
      statusOf([&] { session.setInput(program, "x", std::vector<float>(5)); }),
      BREW_BAD_INPUT);
  EXPECT_EQ(statusOf([&] { session.initialise({}, true); }), BREW_USAGE);
  EXPECT_EQ(statusOf([&] { session.loadWeights({"no.caffemodel"}); }),
            BREW_UNAVAILABLE);
  EXPECT_EQ(statusOf([&] { Trainer trainer(session); }), BREW_BAD_INPUT);

  // In C: a handle that could not be opened only has a message.
  brew_plan *damaged = nullptr;
  EXPECT_EQ(brew_plan_open("no/such.plan", &damaged), BREW_UNAVAILABLE);
  ASSERT_NE(damaged, nullptr);
  EXPECT_NE(std::strstr(brew_plan_message(damaged), "no/such.plan"), nullptr);
  brew_session *unopened = nullptr;
  EXPECT_EQ(brew_session_open(damaged, nullptr, &unopened), BREW_USAGE);
  ASSERT_NE(unopened, nullptr);
  EXPECT_EQ(brew_session_prepare(unopened), BREW_USAGE);
  brew_session_destroy(unopened);
  brew_plan_destroy(damaged);
  EXPECT_EQ(brew_session_prepare(nullptr), BREW_USAGE);
  EXPECT_STREQ(brew_session_message(nullptr), "out of memory");
  brew_session_destroy(nullptr);
}

TEST(RuntimeApi, StructuresMayBeOlderOrNewer) {
  const Plan plan = planOf(kNet);
  // The structure of an older program is shorter, and nothing must be written
  // after its end.
  struct {
    brew_plan_info info;
    char guard[8];
  } older;
  std::memset(&older, 0x5a, sizeof older);
  older.info.struct_size = offsetof(brew_plan_info, cuda);
  ASSERT_EQ(brew_plan_get_info(plan.get(), &older.info), BREW_OK);
  EXPECT_EQ(older.info.struct_size, offsetof(brew_plan_info, cuda));
  EXPECT_EQ(older.info.cuda, 0x5a5a5a5a);
  older.info.struct_size = 0;
  EXPECT_EQ(brew_plan_get_info(plan.get(), &older.info), BREW_USAGE);
}

TEST(RuntimeApi, TrainsOnAFeedAndEmitsEvents) {
  const Plan plan = planOf(kSolver);
  ASSERT_TRUE(plan.info().trainable);
  std::vector<double> losses;
  SessionOptions options;
  options.listener = [&](const brew_event &event) {
    if (event.kind == BREW_EVENT_ITERATION)
      losses.push_back(event.loss);
  };
  Session session(plan, options);
  const int program = plan.program("forward_backward");
  session.setFeed(program, {}, feedLine);
  Trainer trainer(session);
  trainer.step(10);
  EXPECT_EQ(trainer.iteration(), 10);
  ASSERT_EQ(losses.size(), 10u);
  EXPECT_LT(losses.back(), losses.front());

  trainer.setField("base_lr", "0.01");
  EXPECT_EQ(trainer.field("base_lr"), "0.01");
  trainer.step(1);
  EXPECT_NEAR(trainer.learningRate(), 0.01, 1e-6);
  EXPECT_EQ(statusOf([&] { trainer.setField("nosuch", "1"); }), BREW_USAGE);

  // Separate passes form an iteration.
  const auto before = session.read(session.parameter("ip", 0));
  trainer.forward();
  trainer.backward();
  const auto gradient = session.read(session.parameterGradient("ip", 0));
  trainer.update();
  const auto after = session.read(session.parameter("ip", 0));
  EXPECT_NEAR(after[0], before[0] - 0.01 * gradient[0], 1e-5);

  trainer.stop();
  trainer.solve();
  EXPECT_TRUE(trainer.stopped());
}

TEST(RuntimeApi, TrainerOptionsMonitorTraining) {
  const Plan plan = planOf(kSolver);
  const int program = plan.program("forward_backward");
  const std::string folder = std::filesystem::temp_directory_path() /
                             ("brew-watched-" + std::to_string(getpid()));
  std::string reason;
  SessionOptions options;
  options.listener = [&](const brew_event &event) {
    if (event.kind == BREW_EVENT_STOPPED_BY_RULE)
      reason = event.text;
  };
  Session session(plan, options);
  session.setFeed(program, {}, feedLine);
  Options watched = {{"stop-when", "iter >= 5"}, {"log-dir", folder}};
  {
    Trainer trainer(session, watched);
    trainer.solve();
    EXPECT_EQ(trainer.iteration(), 5);
    EXPECT_FALSE(trainer.stopped());
    EXPECT_EQ(reason, "iter >= 5 holds: iter = 5");
  }
  EXPECT_TRUE(std::filesystem::exists(folder + "/metrics.jsonl"));
  std::filesystem::remove_all(folder);

  Session withNan(plan);
  withNan.setFeed(program, {},
                  [&](const brew_feed_request *requests, std::size_t count) {
                    feedLine(requests, count);
                    static_cast<float *>(requests[0].values)[3] = NAN;
                  });
  watched = {{"check-nan", true}};
  Trainer trainer(withNan, watched);
  EXPECT_EQ(statusOf([&] { trainer.step(1); }), BREW_BAD_INPUT);
  EXPECT_STREQ(brew_trainer_message(trainer.get()),
               "iteration 0: layer 'in' (net.prototxt:2:1), input: blob 'x' is "
               "nan at position 3");

  watched = {{"stop-when", "loss < 1"}};
  EXPECT_EQ(statusOf([&] { Trainer(withNan, watched); }), BREW_USAGE);
  watched = {{"patience", "3"}};
  EXPECT_EQ(statusOf([&] { Trainer(withNan, watched); }), BREW_USAGE);
}

TEST(RuntimeApi, AFailedIterationDiscardsItsAccumulatedGradients) {
  const Plan plan = planOf((std::string(kSolver) + "iter_size: 2\n").c_str());
  ASSERT_GE(plan.findProgram("accumulate"), 0);
  const int program = plan.program("forward_backward");
  std::vector<std::vector<float>> weights;
  for (const bool failsOnce : {false, true}) {
    Session session(plan);
    int batch = 0;
    bool failsNext = failsOnce;
    session.setFeed(program, {},
                    [&](const brew_feed_request *requests, std::size_t count) {
                      if (++batch == 2 && std::exchange(failsNext, false)) {
                        batch = 0; // the first batch again
                        throw std::out_of_range("no batch");
                      }
                      for (std::size_t i = 0; i < count; ++i)
                        for (std::int64_t k = 0; k < requests[i].count; ++k)
                          static_cast<float *>(requests[i].values)[k] =
                              float(batch + k % 3);
                    });
    Trainer trainer(session);
    if (failsOnce) {
      EXPECT_THROW(trainer.step(1), std::out_of_range);
    }
    trainer.step(1);
    weights.push_back(session.read(session.parameter("ip", 0)));
  }
  EXPECT_EQ(weights[0], weights[1]);
}

TEST(RuntimeApi, DebugInfoIsEmittedOnRequest) {
  for (const bool hasDebugInfo : {false, true}) {
    const Plan plan = planOf(
        (std::string(kSolver) + (hasDebugInfo ? "debug_info: true\n" : ""))
            .c_str());
    const int program = plan.program("forward_backward");
    Session session(plan);
    session.initialise();
    session.setFeed(program, {}, feedLine);
    session.feedAndRun(program);
    int lines = 0;
    session.addListener([&](const brew_event &event) {
      lines += event.kind == BREW_EVENT_LOG &&
               std::strstr(event.text, "[Forward]") != nullptr;
    });
    session.emitDebugInfo(program);
    EXPECT_EQ(lines > 0, hasDebugInfo);
  }
}

TEST(RuntimeApi, TheSonameIsTheAbiVersion) {
  const std::string name =
      "libbrew_runtime.so." + std::to_string(BREW_ABI_VERSION);
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << name;
  dlclose(library);
}

TEST(RuntimeApi, CallbacksMayThrowInCpp) {
  const Plan plan = planOf(kSolver);
  Session session(plan);
  const int program = plan.program("forward_backward");
  session.setFeed(program, {}, [](const brew_feed_request *, std::size_t) {
    throw std::out_of_range("no more batches");
  });
  Trainer trainer(session);
  EXPECT_THROW(trainer.step(1), std::out_of_range);
  session.setFeed(program, {}, feedLine);
  trainer.step(1);
}

TEST(RuntimeApi, WeightsAndTensorsAreWrittenAndRead) {
  const std::string folder = std::filesystem::temp_directory_path() /
                             ("brew-api-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const Plan plan = planOf(kNet);
  for (const char *extension : {".caffemodel", ".h5"}) {
    Session saved(plan), loaded(plan);
    saved.initialise();
    saved.write(saved.parameter("ip", 1), std::vector<float>{9, 8, 7, 6});
    saved.saveWeights(folder + "/w" + extension);
    loaded.initialise({folder + "/w" + extension}, true);
    EXPECT_EQ(loaded.read(loaded.parameter("ip", 1)),
              (std::vector<float>{9, 8, 7, 6}));
  }
  {
    TensorFile file(folder + "/t.h5", BREW_WRITE);
    const float values[] = {1, 2, 3, 4, 5, 6};
    file.write("/inputs/x", {2, 3}, values);
    file.commit();
  }
  TensorFile file(folder + "/t.h5", BREW_READ);
  EXPECT_EQ(file.list(), std::vector<std::string>{"/inputs/x"});
  EXPECT_EQ(file.find("/inputs/x").ndim, 2u);
  Records records(folder + "/t.h5", {3}, "x");
  std::size_t rows = 0;
  while (const auto record = records.next())
    EXPECT_EQ(record->values[0], 1 + 3 * float(rows++));
  EXPECT_EQ(rows, 2u);
  std::filesystem::remove_all(folder);
}

TEST(RuntimeApi, ThreadsRunSessionsOfOnePlan) {
  const Plan plan = planOf(kNet);
  const int program = plan.program("deploy");
  const ThreadPool pool(2);
  SessionOptions options;
  options.pool = &pool;
  Session first(plan, options);
  first.initialise();
  options.shareParameters = &first;
  Session second(plan, options);
  second.prepare();
  auto run = [&](Session &session, float value) {
    for (int i = 0; i < 20; ++i) {
      session.setInput(program, "x", std::vector<float>(6, value));
      session.feedAndRun(program);
      ASSERT_EQ(session.read(session.blob(program, "z"))[0], 1 + 1.5f * value);
    }
  };
  std::thread thread([&] { run(second, 2); });
  run(first, 4);
  thread.join();
}

TEST(RuntimeApi, DescribesTheMachineAndTheSolver) {
  EXPECT_EQ(brew_abi_version(), BREW_ABI_VERSION);
  bool hasCores = false;
  for (const auto &property : deviceQuery(-1))
    hasCores |= property.first == "Cores available";
  EXPECT_TRUE(hasCores);
}

TEST(RuntimeApi, ListsAndChecksOptions) {
  std::map<std::string, Option> table;
  for (const Option &option : options())
    table.emplace(option.name, option);
  EXPECT_EQ(table.at("base-lr").field, "base_lr");
  EXPECT_TRUE(table.at("base-lr").whileTraining);
  EXPECT_EQ(table.at("keep-snapshots").commands, "train");
  EXPECT_EQ(table.at("threads").defaultValue, "0");

  Options values = {{"keep_snapshots", 3}};
  EXPECT_EQ(values.set("threads", 2).integer("threads"), 2);
  EXPECT_EQ(values.integer("keep-snapshots"), 3);
  EXPECT_FALSE(values.set("check-nan", false).flag("check_nan"));
  EXPECT_TRUE(values.set("check-nan").flag("check_nan"));
  auto messageOf = [&](const char *name, const char *value) -> std::string {
    try {
      value ? values.set(name, value) : values.set(name);
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), BREW_USAGE);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(messageOf("keep-snapshot", "1"),
            "there is no option 'keep-snapshot'; did you mean "
            "'keep-snapshots'?");
  EXPECT_EQ(messageOf("keep-snapshots", "-1"),
            "--keep-snapshots must be at least 0");
  EXPECT_EQ(messageOf("threads", "many"),
            "--threads: 'many' is no integer");
  EXPECT_EQ(messageOf("snapshot", nullptr),
            "--snapshot needs a value");
  EXPECT_EQ(messageOf("max-iter", "1.5"),
            "solver: max_iter takes a whole number, not '1.5'");
  EXPECT_EQ(messageOf("max-iter", nullptr),
            "--max-iter needs a value");
  // A value that is not valid changes nothing.
  EXPECT_EQ(values.integer("threads"), 2);
}

// Programs were compiled against these sizes and offsets: a change needs a new
// BREW_ABI_VERSION.
static_assert(sizeof(brew_plan_info) == 40);
static_assert(sizeof(brew_program_info) == 56);
static_assert(sizeof(brew_step_info) == 32);
static_assert(sizeof(brew_output_value) == 24);
static_assert(offsetof(brew_event, number) == 32);
static_assert(offsetof(brew_event, site_file) == 160);
static_assert(offsetof(brew_session_options, log_to_stderr) == 80);
static_assert(offsetof(brew_option, while_training) == 104);
static_assert(offsetof(brew_input, needs_values) == 296);
static_assert(sizeof(brew_feed_request) == 48);
static_assert(sizeof(brew_tensor_name) == 32);
static_assert(offsetof(brew_tensor, dynamic_dim) == 824);
static_assert(offsetof(brew_records_options, scale) == 288);
static_assert(offsetof(brew_record, label) == 36);
static_assert(offsetof(brew_record, label_error) == 40);
static_assert(offsetof(brew_dataset, count) == 280);
