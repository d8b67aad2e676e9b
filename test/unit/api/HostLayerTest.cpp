//===- HostLayerTest.cpp - Host layers through the public headers ---------===//
//
// Uses hand-written plans; needs no compiler.
//
//===----------------------------------------------------------------------===//
#include "OwnPlan.h"

#include <brew/brew.hpp>
#include <brew/host_plugin.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>

using namespace brew;
using namespace brew::api;
using namespace brew::test;

namespace {

Plan planOf(const std::string &bytes) {
  return Plan(bytes.data(), bytes.size(), "own.plan");
}

TensorName blob(const std::string &name) {
  TensorName result;
  result.name = name;
  return result;
}

/// Returns "STATUS: TEXT" of the error that `body` throws, "" without one.
template <typename Body> std::string errorOf(Body &&body) {
  try {
    body();
  } catch (const api::Error &error) {
    return std::to_string(error.status()) + ": " + error.what();
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Layers in C
//===----------------------------------------------------------------------===//

/// Records the calls of a layer type's functions, and sets their result.
struct Record {
  int created = 0, destroyed = 0;
  std::string setup; // the arguments of the last `create`
  brew_status status = BREW_OK;
  std::string message;
};

brew_status fail(const Record &record, char *message, std::size_t size) {
  // strncpy writes no terminating zero if the message is too long.
  std::strncpy(message, record.message.c_str(), size);
  return record.status;
}

brew_status create(brew_host_setup *setup, void **instance) {
  auto &record = *static_cast<Record *>(setup->user);
  if (record.message == "create")
    return fail(record, setup->message, setup->message_size);
  ++record.created;
  record.setup = std::string(setup->type) + " " + setup->layer + " " +
                 setup->settings + " " + setup->param_str + " " +
                 std::to_string(setup->test_phase) + " " +
                 std::to_string(setup->bottom_count) + " " +
                 std::to_string(setup->bottoms[0].dims[1]) + " " +
                 std::to_string(setup->top_count) + " " +
                 std::to_string(setup->tops[0].ndim);
  *instance = new float(3);
  return BREW_OK;
}
void destroy(void *instance, void *user) {
  ++static_cast<Record *>(user)->destroyed;
  delete static_cast<float *>(instance);
}
/// Computes y = factor * x, where the instance is the factor, 2 without one.
brew_status forward(brew_host_call *call) {
  auto &record = *static_cast<Record *>(call->user);
  if (record.status != BREW_OK)
    return fail(record, call->message, call->message_size);
  const float factor =
      call->instance ? *static_cast<float *>(call->instance) : 2;
  EXPECT_EQ(call->bottoms[0].gradient, nullptr);
  EXPECT_EQ(call->tops[0].ndim, 2u);
  EXPECT_EQ(call->tops[0].dims[0], 2);
  for (std::int64_t i = 0; i < call->tops[0].count; ++i)
    static_cast<float *>(call->tops[0].values)[i] =
        factor * static_cast<const float *>(call->bottoms[0].values)[i];
  return BREW_OK;
}
brew_status backward(brew_host_call *call) {
  const float factor = *static_cast<float *>(call->instance);
  for (std::int64_t i = 0; i < call->tops[0].count; ++i)
    static_cast<float *>(call->bottoms[0].gradient)[i] =
        factor * static_cast<const float *>(call->tops[0].gradient)[i];
  return BREW_OK;
}

brew_host_layer ownLayer(Record &record) {
  auto layer = makeStruct<brew_host_layer>();
  layer.type = "Own";
  layer.create = create;
  layer.destroy = destroy;
  layer.forward = forward;
  layer.backward = backward;
  layer.user = &record;
  return layer;
}

SessionOptions optionsWith(const HostLayerType &type) {
  SessionOptions options;
  options.options.set("threads", 1);
  options.hostLayers = {type};
  return options;
}

TEST(HostLayer, ComputesForwardAndBackward) {
  Record record;
  {
    Session session(planOf(ownPlan()), optionsWith(ownLayer(record)));
    EXPECT_EQ(record.created, 0);
    for (int run = 0; run < 2; ++run) {
      session.write<float>(blob("x"), {1, 2, 3, 4});
      session.write<float>(blob("dy"), {5, 6, 7, 8});
      session.run(0);
      EXPECT_EQ(session.read(blob("after")), (std::vector<float>{3, 6, 9, 12}));
      EXPECT_EQ(session.read(blob("dx")), (std::vector<float>{15, 18, 21, 24}));
    }
    EXPECT_EQ(record.created, 1);
    EXPECT_EQ(record.setup,
              "Own own name: \"own\" type: \"Own\" text 0 1 2 1 2");
    EXPECT_EQ(record.destroyed, 0);
  }
  EXPECT_EQ(record.destroyed, 1);
}

TEST(HostLayer, RunsInRangesOfLayers) {
  Record record;
  Session session(planOf(ownPlan()), optionsWith(ownLayer(record)));
  session.write<float>(blob("x"), {1, 2, 3, 4});
  session.runLayers(0, "", "first");
  EXPECT_EQ(session.read(blob("y"))[0], 0);
  session.runLayers(0, "own", "own");
  EXPECT_EQ(session.read(blob("y"))[3], 12);
  EXPECT_EQ(session.read(blob("after"))[3], 0);
  session.runLayers(0, "first", "last");
  EXPECT_EQ(session.read(blob("after"))[3], 12);
}

TEST(HostLayer, ErrorsHaveStatusesAndMessages) {
  Record record;
  Session session(planOf(ownPlan()), optionsWith(ownLayer(record)));
  auto runFailing = [&](int status, const std::string &message) {
    record.status = static_cast<brew_status>(status);
    record.message = message;
    return errorOf([&] { session.run(0); });
  };
  const std::string prefix = "layer 'own' (type 'Own'): ";
  EXPECT_EQ(runFailing(BREW_UNAVAILABLE, "create"), "3: " + prefix + "create");
  EXPECT_EQ(runFailing(BREW_BAD_INPUT, "x is odd"),
            "1: " + prefix + "x is odd");
  EXPECT_EQ(runFailing(BREW_USAGE, ""),
            "2: " + prefix + "its function 'forward' failed with status 2");
  EXPECT_EQ(runFailing(BREW_BUG, "oh"), "70: " + prefix + "oh");
  EXPECT_EQ(runFailing(42, ""),
            "1: " + prefix + "its function 'forward' failed with status 42");
  const std::string longest = runFailing(43, std::string(100000, 'x'));
  EXPECT_EQ(longest.rfind("1: " + prefix + "xxx", 0), 0u);
  EXPECT_LT(longest.size(), 5000u);
  // The failed call has no lasting effect.
  record.status = BREW_OK;
  session.run(0);
  EXPECT_EQ(record.created, 1);
}

TEST(HostLayer, UnregisteredTypeFailsAtFirstUse) {
  Session session(planOf(ownPlan()), {}); // the session can be opened
  EXPECT_EQ(errorOf([&] { session.run(0); })
                .rfind("2: layer 'own' (type 'Own'): the program that runs the "
                       "plan",
                       0),
            0u);
}

TEST(HostLayer, StateAndBackwardFunctionAreOptional) {
  Record record;
  brew_host_layer layer = ownLayer(record);
  layer.create = nullptr;
  layer.backward = nullptr;
  Session session(planOf(ownPlan()), optionsWith(layer));
  session.write<float>(blob("x"), {1, 2, 3, 4});
  session.run(0, BREW_FORWARD);
  EXPECT_EQ(session.read(blob("y")), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(errorOf([&] { session.run(0); }),
            "1: layer 'own' (type 'Own'): the plan needs its backward pass, "
            "and the type has no backward function");
  EXPECT_EQ(record.destroyed, 0);
}

TEST(HostLayer, OptionsAreChecked) {
  Record record;
  const std::string bytes = ownPlan();
  const Plan plan = planOf(bytes);
  auto openError = [&](const brew_host_layer *layers, std::size_t count) {
    auto options = makeStruct<brew_session_options>();
    options.host_layers = layers;
    options.host_layer_count = count;
    brew_session *session = nullptr;
    const brew_status status =
        brew_session_open(plan.get(), &options, &session);
    const std::string text =
        std::to_string(status) + ": " + brew_session_message(session);
    brew_session_destroy(session);
    return text;
  };
  brew_host_layer layers[2] = {ownLayer(record), ownLayer(record)};
  EXPECT_EQ(openError(layers, 2), "2: host layer type 'Own' was given twice");
  layers[1].type = "Other";
  EXPECT_EQ(openError(layers, 2), "0: ");
  layers[1].forward = nullptr;
  EXPECT_EQ(openError(layers, 2),
            "2: host layer type 'Other' has no forward function");
  layers[1].type = "";
  EXPECT_EQ(openError(layers, 2), "2: the type of a host layer is empty");
  layers[1].type = nullptr;
  EXPECT_EQ(openError(layers, 2), "2: the type of a host layer is NULL");
  EXPECT_EQ(openError(nullptr, 1), "2: the host layers are NULL");
  layers[0].struct_size = 0;
  EXPECT_EQ(openError(layers, 1),
            "2: the struct_size of a structure is not set");
}

TEST(HostLayer, AcceptsShorterStructuresOfAnOlderHeader) {
  struct Older { // a structure that ends before `user`
    unsigned char bytes[offsetof(brew_host_layer, user)];
  } older[2];
  Record record;
  brew_host_layer layer = ownLayer(record);
  layer.struct_size = sizeof(Older);
  layer.create = nullptr;
  layer.type = "First";
  std::memcpy(&older[0], &layer, sizeof(Older));
  layer.type = "Own";
  layer.forward = [](brew_host_call *call) {
    EXPECT_EQ(call->user, nullptr);
    static_cast<float *>(call->tops[0].values)[0] = 9;
    return BREW_OK;
  };
  std::memcpy(&older[1], &layer, sizeof(Older));
  auto options = makeStruct<brew_session_options>();
  options.host_layers = reinterpret_cast<const brew_host_layer *>(older);
  options.host_layer_count = 2;
  const std::string bytes = ownPlan();
  const Plan plan = planOf(bytes);
  brew_session *session = nullptr;
  ASSERT_EQ(brew_session_open(plan.get(), &options, &session), BREW_OK);
  EXPECT_EQ(brew_session_run(session, 0, BREW_FORWARD), BREW_OK)
      << brew_session_message(session);
  brew_session_destroy(session);
}

//===----------------------------------------------------------------------===//
// Layers in C++
//===----------------------------------------------------------------------===//

/// Computes y = x * x. Counts its instances.
class Square : public api::HostLayer {
public:
  static std::vector<HostShape> shapes(const api::HostSetup &setup) {
    if (setup.bottoms.empty())
      throw std::invalid_argument("it takes a bottom");
    return {setup.bottoms[0]};
  }
  explicit Square(const api::HostSetup &setup) : layer(setup.layer) {
    if (setup.tops.at(0) != setup.bottoms.at(0))
      throw std::logic_error("the shapes differ");
    ++count;
  }
  ~Square() override { --count; }
  void forward(const api::HostCall &call) override {
    if (throwError)
      throwError();
    EXPECT_EQ(call.top(0).dims(), (HostShape{2, 2}));
    call.withType([&](auto value) {
      using Value = decltype(value);
      const Value *x = call.bottom(0).values<Value>();
      Value *y = call.top(0).values<Value>();
      for (std::int64_t i = 0; i < call.top(0).count(); ++i)
        y[i] = x[i] * x[i];
    });
  }
  void backward(const api::HostCall &call) override {
    call.withType([&](auto value) {
      using Value = decltype(value);
      for (std::int64_t i = 0; i < call.top(0).count(); ++i)
        call.bottom(0).gradient<Value>()[i] =
            2 * call.bottom(0).values<Value>()[i] *
            call.top(0).gradient<Value>()[i];
    });
  }
  static int count;
  static void (*throwError)();

private:
  std::string layer;
};
int Square::count = 0;
void (*Square::throwError)() = nullptr;

/// Computes in float only, has no backward pass and no constructor.
class FloatsOnly : public api::HostLayer {
public:
  void forward(const api::HostCall &call) override {
    call.top(0).values()[0] = call.bottom(0).values()[0];
    if (call.bottoms() > 7)
      call.bottom(8);
    call.top(1);
  }
};

/// Cannot be created.
class Failing : public Square {
public:
  explicit Failing(const api::HostSetup &setup) : Square(setup) {
    throw api::Error(BREW_UNAVAILABLE, "no camera");
  }
};

TEST(HostLayerClass, ComputesInEitherPrecision) {
  for (plan::DataType precision : {plan::F32, plan::F64}) {
    {
      Session session(planOf(ownPlan(precision)),
                      optionsWith(hostLayer<Square>("Own")));
      session.write<double>(blob("x"), {1, 2, 3, -4});
      session.write<double>(blob("dy"), {1, 1, 2, 2});
      session.run(0);
      EXPECT_EQ(session.read<double>(blob("after")),
                (std::vector<double>{1, 4, 9, 16}));
      EXPECT_EQ(session.read<double>(blob("dx")),
                (std::vector<double>{2, 4, 12, -16}));
      EXPECT_EQ(Square::count, 1);
    }
    EXPECT_EQ(Square::count, 0);
  }
}

TEST(HostLayerClass, ExceptionsBecomeErrors) {
  Session session(planOf(ownPlan()), optionsWith(hostLayer<Square>("Own")));
  auto runThrowing = [&](void (*throwError)()) {
    Square::throwError = throwError;
    const std::string error = errorOf([&] { session.run(0); });
    Square::throwError = nullptr;
    return error;
  };
  const std::string prefix = "layer 'own' (type 'Own'): ";
  EXPECT_EQ(runThrowing([] { throw api::Error(BREW_USAGE, "not now"); }),
            "2: " + prefix + "not now");
  EXPECT_EQ(runThrowing([] { throw std::runtime_error("x is odd"); }),
            "1: " + prefix + "x is odd");
  EXPECT_EQ(runThrowing([] { throw std::bad_alloc(); }),
            "3: " + prefix + "out of memory");
  EXPECT_EQ(runThrowing([] { throw 7; }),
            "1: " + prefix + "it threw something of unknown kind");
  session.run(0);

  Session failing(planOf(ownPlan()), optionsWith(hostLayer<Failing>("Own")));
  EXPECT_EQ(errorOf([&] { failing.run(0); }), "3: " + prefix + "no camera");
}

TEST(HostLayerClass, UnsupportedOperationsAreErrors) {
  const HostLayerType type = hostLayer<FloatsOnly>("Own");
  EXPECT_EQ(type.get().backward, nullptr);
  EXPECT_EQ(type.get().shapes, nullptr);
  EXPECT_NE(hostLayer<Failing>("Own").get().backward, nullptr); // inherited
  EXPECT_STREQ(type.get().type, "Own");
  Session floats(planOf(ownPlan()), optionsWith(type));
  EXPECT_EQ(errorOf([&] { floats.run(0); }),
            "1: layer 'own' (type 'Own'): it has no top 1");
  Session doubles(planOf(ownPlan(plan::F64)), optionsWith(type));
  EXPECT_EQ(errorOf([&] { doubles.run(0); }),
            "1: layer 'own' (type 'Own'): the plan computes in double, this "
            "layer in float");
}

TEST(HostLayerClass, ComputesShapes) {
  brew_host_shape bottom{2, {5, 7}}, tops[2] = {};
  char message[100] = "";
  auto setup = makeStruct<brew_host_setup>();
  setup.type = setup.layer = setup.settings = setup.param_str = "";
  setup.bottoms = &bottom;
  setup.bottom_count = 1;
  setup.tops = tops;
  setup.top_count = 1;
  setup.message = message;
  setup.message_size = sizeof message;
  const HostLayerType type = hostLayer<Square>("Own");
  EXPECT_EQ(type.get().shapes(&setup), BREW_OK);
  EXPECT_EQ(tops[0].ndim, 2u);
  EXPECT_EQ(tops[0].dims[1], 7);
  setup.top_count = 2;
  EXPECT_EQ(type.get().shapes(&setup), BREW_BAD_INPUT);
  EXPECT_STREQ(message, "it gives shapes of 1 tops, the layer has 2");
  setup.bottom_count = 0;
  setup.message_size = 7;
  EXPECT_EQ(type.get().shapes(&setup), BREW_BAD_INPUT);
  EXPECT_STREQ(message, "it tak"); // truncated and terminated
}

} // namespace
