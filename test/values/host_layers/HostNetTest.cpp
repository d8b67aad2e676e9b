//===- HostNetTest.cpp - Nets with host layers ----------------------------===//
//
// Compiles and runs nets in one process, with one description of each host
// layer for the compiler and the runtime. Runs on the CPU, or on the CUDA
// simulator if BREW_TEST_CUDASIM is set.
//
//===----------------------------------------------------------------------===//
#include <brew/brew.hpp>
#include <brew/compiler.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>

using namespace brew::api;

namespace {

/// A ReLU that records its instances and checks that forward and backward
/// passes alternate.
class HostReLU : public HostLayer {
public:
  static std::vector<HostShape> shapes(const HostSetup &setup) {
    return {setup.bottoms.at(0)};
  }
  explicit HostReLU(const HostSetup &setup) {
    const std::lock_guard<std::mutex> lock(instancesMutex);
    instances.insert(setup.layer + (setup.testPhase ? " TEST" : " TRAIN"));
    EXPECT_EQ(setup.tops, setup.bottoms);
  }
  void forward(const HostCall &call) override {
    call.withType([&](auto zero) {
      using Value = decltype(zero);
      const Value *x = call.bottom(0).values<Value>();
      Value *y = call.top(0).values<Value>();
      for (std::int64_t i = 0; i < call.top(0).count(); ++i)
        y[i] = x[i] > 0 ? x[i] : 0;
    });
    ++forwards;
  }
  void backward(const HostCall &call) override {
    EXPECT_EQ(forwards, ++backwards);
    call.withType([&](auto zero) {
      using Value = decltype(zero);
      const Value *x = call.bottom(0).values<Value>();
      const Value *dy = call.top(0).gradient<Value>();
      Value *dx = call.bottom(0).gradient<Value>();
      for (std::int64_t i = 0; dx && i < call.bottom(0).count(); ++i)
        dx[i] = x[i] > 0 ? dy[i] : 0;
    });
  }

  static std::mutex instancesMutex;
  static std::set<std::string> instances;

private:
  int forwards = 0, backwards = 0;
};
std::mutex HostReLU::instancesMutex;
std::set<std::string> HostReLU::instances;

/// Computes y = a * b^2 and z = sum(a), and the gradients of both bottoms.
class TwoBottomsTwoTops : public HostLayer {
public:
  static std::vector<HostShape> shapes(const HostSetup &setup) {
    return {setup.bottoms.at(0), {1}};
  }
  void forward(const HostCall &call) override {
    call.withType([&](auto zero) {
      using Value = decltype(zero);
      const Value *a = call.bottom(0).values<Value>(),
                  *b = call.bottom(1).values<Value>();
      double sum = 0;
      for (std::int64_t i = 0; i < call.top(0).count(); ++i) {
        call.top(0).values<Value>()[i] = a[i] * b[i] * b[i];
        sum += double(a[i]);
      }
      *call.top(1).values<Value>() = Value(sum);
    });
  }
  void backward(const HostCall &call) override {
    call.withType([&](auto zero) {
      using Value = decltype(zero);
      const Value *a = call.bottom(0).values<Value>(),
                  *b = call.bottom(1).values<Value>(),
                  *dy = call.top(0).gradient<Value>(),
                  *dz = call.top(1).gradient<Value>();
      Value *da = call.bottom(0).gradient<Value>(),
            *db = call.bottom(1).gradient<Value>();
      for (std::int64_t i = 0; i < call.top(0).count(); ++i) {
        if (da)
          da[i] = dy[i] * b[i] * b[i] + *dz;
        if (db)
          db[i] = 2 * dy[i] * a[i] * b[i];
      }
    });
  }
};

/// Creates batches x and targets t = 2 x0 - 3 x1 + 1, like a data layer in
/// Python.
class RandomSource : public HostLayer {
public:
  static std::vector<HostShape> shapes(const HostSetup &) {
    return {{8, 2}, {8, 1}};
  }
  void forward(const HostCall &call) override {
    float *x = call.top(0).values(), *t = call.top(1).values();
    for (int i = 0; i < 8; ++i) {
      x[2 * i] = float(random()) / 2147483648.0f - 1;
      x[2 * i + 1] = float(random()) / 2147483648.0f - 1;
      t[i] = 2 * x[2 * i] - 3 * x[2 * i + 1] + 1;
    }
  }

private:
  std::mt19937 random{1};
};

/// Throws in forward(), and already in shapes() if its param_str is "shape".
class Failing : public HostLayer {
public:
  static std::vector<HostShape> shapes(const HostSetup &setup) {
    if (setup.paramStr == "shape")
      throw std::runtime_error("no shape today");
    return {setup.bottoms.at(0)};
  }
  void forward(const HostCall &) override {
    throw Error(BREW_UNAVAILABLE, "the camera is gone");
  }
};

CompilerOptions targetOptions(const std::string &precision = "f32") {
  CompilerOptions options;
  options.set("precision", precision);
  if (std::getenv("BREW_TEST_CUDASIM")) {
    options.set("target", "cuda");
    options.set("gpu-arch", "sim");
  }
  return options;
}

Plan compile(const std::string &net, const CompilerOptions &options) {
  const Compilation compilation =
      Compilation::ofText(net, "net.prototxt", options);
  EXPECT_TRUE(compilation.succeeded()) << compilation.message();
  const std::string_view bytes = compilation.plan();
  return Plan(bytes.data(), bytes.size(), "net.plan");
}

struct Net {
  Net(const std::string &text, const std::vector<HostLayerType> &types,
      const std::string &precision = "f32", const std::string &keep = "")
      : plan(compile(text, optionsOf(types, precision, keep))),
        session(plan, optionsOf(types)) {
    session.initialise();
  }
  static CompilerOptions optionsOf(const std::vector<HostLayerType> &types,
                                   const std::string &precision,
                                   const std::string &keep) {
    CompilerOptions options = targetOptions(precision);
    for (const HostLayerType &type : types)
      options.addHostLayer(type);
    if (!keep.empty())
      options.set("keep", keep);
    return options;
  }
  static SessionOptions optionsOf(const std::vector<HostLayerType> &types) {
    SessionOptions options;
    options.options.set("random-seed", 5);
    options.hostLayers = types;
    return options;
  }

  Plan plan;
  Session session;
};

/// Returns random values in [-1, 1).
std::vector<float> randomValues(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>(double(random()) / 2147483648.0 - 1);
  return values;
}

/// Returns a net of two convolutions with a rectifier of the given type between
/// them, in place or not, and a loss.
std::string convolutionNet(const std::string &type, bool inPlace) {
  const std::string top = inPlace ? "a" : "r";
  return "layer { name: 'in' type: 'Input' top: 'x' top: 't' input_param {\n"
         "  shape { dim: 2 dim: 3 dim: 6 dim: 6 }\n"
         "  shape { dim: 2 dim: 4 dim: 2 dim: 2 } } }\n"
         "layer { name: 'c1' type: 'Convolution' bottom: 'x' top: 'a'\n"
         "  convolution_param { num_output: 8 kernel_size: 3\n"
         "    weight_filler { type: 'xavier' } } }\n"
         "layer { name: 'rectify' type: '" +
         type + "' bottom: 'a' top: '" + top +
         "' }\n"
         "layer { name: 'c2' type: 'Convolution' bottom: '" +
         top +
         "' top: 'y'\n"
         "  convolution_param { num_output: 4 kernel_size: 3\n"
         "    weight_filler { type: 'xavier' } } }\n"
         "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 't'\n"
         "  top: 'loss' }\n";
}

/// Returns the loss and the gradients of all parameters after one pass.
std::vector<std::vector<float>> lossAndGradients(Net &net) {
  const int program = net.plan.program("forward_backward");
  net.session.setInput(program, "x", randomValues(2 * 3 * 36, 1));
  net.session.setInput(program, "t", randomValues(2 * 4 * 4, 2));
  net.session.feedAndRun(program);
  std::vector<std::vector<float>> results = {
      {static_cast<float>(net.session.loss(program))}};
  for (const TensorName &name : net.session.names(BREW_PARAMETER_GRADIENT))
    results.push_back(net.session.read(name));
  return results;
}

} // namespace

/// A host layer computes the same as Brew's ReLU, in every precision.
TEST(HostNet, EqualsBuiltInLayer) {
  // With a host layer, activations are rounded to 16 bits at other points.
  const std::pair<const char *, float> precisions[] = {
      {"f32", 1e-6f}, {"f64", 1e-6f}, {"bf16", 0.05f}};
  for (const auto &[precision, tolerance] : precisions)
    for (bool inPlace : {false, true}) {
      Net builtIn(convolutionNet("ReLU", inPlace), {}, precision);
      Net hosted(convolutionNet("HostReLU", inPlace),
                 {hostLayer<HostReLU>("HostReLU")}, precision);
      const auto expected = lossAndGradients(builtIn),
                 actual = lossAndGradients(hosted);
      ASSERT_EQ(expected.size(), actual.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        for (std::size_t k = 0; k < expected[i].size(); ++k)
          ASSERT_NEAR(actual[i][k], expected[i][k],
                      tolerance * std::max(1.0f, std::abs(expected[i][k])))
              << precision << ", tensor " << i << ", element " << k;
    }
}

TEST(HostNet, ForwardAndBackwardShareAnInstance) {
  HostReLU::instances.clear();
  Net net(convolutionNet("HostReLU", false), {hostLayer<HostReLU>("HostReLU")});
  lossAndGradients(net);
  lossAndGradients(net);
  EXPECT_EQ(HostReLU::instances, (std::set<std::string>{"rectify TRAIN"}));
  const int test = net.plan.program("test_0");
  net.session.feedAndRun(test);
  EXPECT_EQ(HostReLU::instances,
            (std::set<std::string>{"rectify TRAIN", "rectify TEST"}));
}

TEST(HostNet, GradientsMatchFiniteDifferences) {
  const std::string text =
      "layer { name: 'in' type: 'Input' top: 'x' input_param {\n"
      "  shape { dim: 3 dim: 4 } } }\n"
      "layer { name: 'ip1' type: 'InnerProduct' bottom: 'x' top: 'a'\n"
      "  inner_product_param { num_output: 5 weight_filler { type: 'xavier' } "
      "} }\n"
      "layer { name: 'ip2' type: 'InnerProduct' bottom: 'x' top: 'b'\n"
      "  inner_product_param { num_output: 5 weight_filler { type: 'xavier' } "
      "} }\n"
      "layer { name: 'mixed' type: 'Python' bottom: 'a' bottom: 'b' top: 'y'\n"
      "  top: 'z' loss_weight: 1 loss_weight: 0.5\n"
      "  python_param { module: 'mixed' layer: 'Mixed' } }\n";
  Net net(text, {hostLayer<TwoBottomsTwoTops>("mixed.Mixed")}, "f64");
  Session &session = net.session;
  const int program = net.plan.program("forward_backward");
  session.setInput(program, "x", randomValues(12, 1));
  auto loss = [&] {
    session.prepare();
    session.feedAndRun(program);
    return session.loss(program);
  };
  loss();
  std::vector<std::vector<double>> gradients;
  for (const TensorName &name : session.names(BREW_PARAMETER_GRADIENT))
    gradients.push_back(session.read<double>(name));
  std::size_t number = 0;
  for (const TensorName &name : session.names(BREW_PARAMETER)) {
    std::vector<double> values = session.read<double>(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double original = values[i];
      values[i] = original + 1e-5;
      session.write(name, values);
      const double above = loss();
      values[i] = original - 1e-5;
      session.write(name, values);
      const double below = loss();
      values[i] = original;
      session.write(name, values);
      EXPECT_NEAR((above - below) / 2e-5, gradients[number][i], 1e-8)
          << name.name << "/" << name.index << "[" << i << "]";
    }
    ++number;
  }
}

/// The input x needs no gradient, so its gradient is null in backward(). The
/// gradient of the bias of ip is the sum of x^2 over the items.
TEST(HostNet, UnneededGradientsAreNull) {
  const std::string text =
      "layer { name: 'in' type: 'Input' top: 'x' input_param {\n"
      "  shape { dim: 3 dim: 5 } } }\n"
      "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'a'\n"
      "  inner_product_param { num_output: 5 weight_filler { type: 'xavier' } "
      "} }\n"
      "layer { name: 'mixed' type: 'Mixed' bottom: 'a' bottom: 'x' top: 'y'\n"
      "  top: 'z' loss_weight: 1 loss_weight: 0 }\n";
  Net net(text, {hostLayer<TwoBottomsTwoTops>("Mixed")});
  const int program = net.plan.program("forward_backward");
  net.session.setInput(program, "x", randomValues(15, 1));
  net.session.feedAndRun(program);
  const auto gradient =
      net.session.read(net.session.parameterGradient("ip", 1));
  const std::vector<float> x = randomValues(15, 1);
  for (std::size_t column = 0; column < 5; ++column) {
    double sum = 0;
    for (std::size_t row = 0; row < 3; ++row)
      sum += double(x[5 * row + column]) * double(x[5 * row + column]);
    EXPECT_NEAR(gradient[column], sum, 1e-5);
  }
}

/// A solver trains and tests a net whose host layers also create the data.
TEST(HostNet, SolverTrainsWithHostDataLayer) {
  const std::string text =
      "net_param {\n"
      "layer { name: 'source' type: 'Source' top: 'x' top: 't' }\n"
      "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'\n"
      "  inner_product_param { num_output: 1 weight_filler { type: 'xavier' } "
      "} }\n"
      "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 't'\n"
      "  top: 'loss' } }\n"
      "base_lr: 0.2 lr_policy: 'fixed' max_iter: 300 random_seed: 3\n"
      "test_iter: 2 test_interval: 100 display: 50\n"
      "snapshot_prefix: 'hosts' snapshot_after_train: false\n";
  Net net(text, {hostLayer<RandomSource>("Source")});
  Trainer trainer(net.session);
  trainer.solve();
  EXPECT_LT(trainer.smoothedLoss(), 1e-4);
  const auto weights = net.session.read(net.session.parameter("ip", 0));
  EXPECT_NEAR(weights[0], 2, 0.05);
  EXPECT_NEAR(weights[1], -3, 0.05);
}

TEST(HostNet, FailuresNameTheLayer) {
  const std::string text =
      "layer { name: 'in' type: 'Input' top: 'x' input_param {\n"
      "  shape { dim: 3 dim: 5 } } }\n"
      "layer { name: 'eye' type: 'Failing' bottom: 'x' top: 'y' }\n";
  auto messageOf = [](auto &&body, brew_status status) {
    try {
      body();
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), status);
      return std::string(error.what());
    }
    return std::string("nothing failed");
  };
  const HostLayerType failing = hostLayer<Failing>("Failing");
  Net net(text, {failing});
  const int program = net.plan.program("deploy");
  const std::string failure =
      messageOf([&] { net.session.feedAndRun(program); }, BREW_UNAVAILABLE);
  EXPECT_NE(failure.find("'eye'"), std::string::npos) << failure;
  EXPECT_NE(failure.find("the camera is gone"), std::string::npos) << failure;

  Session sessionWithoutLayers(net.plan);
  sessionWithoutLayers.initialise();
  const std::string missingLayerMessage =
      messageOf([&] { sessionWithoutLayers.feedAndRun(program); }, BREW_USAGE);
  EXPECT_NE(missingLayerMessage.find("'eye'"), std::string::npos)
      << missingLayerMessage;
  EXPECT_NE(missingLayerMessage.find("'Failing'"), std::string::npos)
      << missingLayerMessage;

  CompilerOptions options = targetOptions();
  options.addHostLayer(failing);
  const Compilation failedShapes = Compilation::ofText(
      "layer { name: 'in' type: 'Input' top: 'x' input_param {\n"
      "  shape { dim: 3 dim: 5 } } }\n"
      "layer { name: 'eye' type: 'Failing' bottom: 'x' top: 'y'\n"
      "  python_param { param_str: 'shape' } }\n",
      "net.prototxt", options);
  EXPECT_EQ(failedShapes.status(), BREW_BAD_INPUT);
  EXPECT_EQ(failedShapes.message(), "net.prototxt:3:1: error: layer 'eye' "
                                    "(Failing): no shape today");
  EXPECT_EQ(failedShapes.diagnostics().at(0).layer, "eye");

  CompilerOptions contradictingOptions = targetOptions();
  contradictingOptions.addHostLayer(failing);
  contradictingOptions.set("input-shape", "y=3,4");
  const Compilation contradictingShape =
      Compilation::ofText(text, "net.prototxt", contradictingOptions);
  EXPECT_EQ(contradictingShape.status(), BREW_USAGE);
  EXPECT_NE(
      contradictingShape.message().find("--input-shape gives 'y' as 3x4, but "
                                        "the layer makes it 3x5"),
      std::string::npos)
      << contradictingShape.message();

  // A function that fails without a message, and invalid descriptions.
  brew_host_layer withoutMessage = failing.get();
  withoutMessage.type = "Wordless";
  withoutMessage.shapes = [](brew_host_setup *) { return BREW_UNAVAILABLE; };
  options.addHostLayer(withoutMessage);
  const Compilation failedWithoutMessage =
      Compilation::ofText("layer { name: 'w' type: 'Wordless' top: 'y' }\n",
                          "net.prototxt", options);
  EXPECT_EQ(failedWithoutMessage.status(), BREW_UNAVAILABLE);
  EXPECT_EQ(failedWithoutMessage.message(),
            "net.prototxt:1:1: error: layer 'w' (Wordless): its function "
            "'shapes' failed with status 3");
  EXPECT_EQ(
      messageOf([&] { options.addHostLayer(withoutMessage); }, BREW_USAGE),
      "host layer type 'Wordless' was given twice");
  withoutMessage.struct_size = 0;
  EXPECT_EQ(
      brew_compiler_options_add_host_layer(options.get(), &withoutMessage),
      BREW_USAGE);
  EXPECT_STREQ(brew_compiler_options_message(options.get()),
               "the struct_size of a structure is not set");
  EXPECT_EQ(brew_compiler_options_add_host_layer(options.get(), nullptr),
            BREW_USAGE);

  const Compilation withoutBackward = Compilation::ofText(
      "layer { name: 'in' type: 'Input' top: 'x' input_param {\n"
      "  shape { dim: 3 dim: 5 } } }\n"
      "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'a'\n"
      "  inner_product_param { num_output: 1 } }\n"
      "layer { name: 'eye' type: 'Failing' bottom: 'a' top: 'y'\n"
      "  loss_weight: 1 }\n",
      "net.prototxt", options);
  EXPECT_NE(withoutBackward.message().find(
                "net.prototxt:5:1: error: layer 'eye' (Failing): a gradient "
                "must pass it, and its type 'Failing' has no backward"),
            std::string::npos)
      << withoutBackward.message();
}
