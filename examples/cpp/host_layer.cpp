// Implements a loss as a host layer, "Huber": quadratic for small errors,
// linear for large ones. Like Caffe's layers, it saves values of forward for
// backward. Compares the compiled net's gradients with finite differences of
// the loss.
//
//   c++ -std=c++17 host_layer.cpp -lbrew_compiler -lbrew_runtime -o host_layer
//   ./host_layer          (or: ./host_layer cuda, on a GPU)

#include <brew/brew.hpp>
#include <brew/compiler.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace {

class Huber : public brew::api::HostLayer {
public:
  static std::vector<brew::api::HostShape>
  shapes(const brew::api::HostSetup &setup) {
    if (setup.bottoms.size() != 2 || setup.bottoms[0] != setup.bottoms[1])
      throw brew::api::Error(BREW_BAD_INPUT, "takes two bottoms of one shape");
    return {{}}; // a scalar
  }

  explicit Huber(const brew::api::HostSetup &setup)
      : delta(setup.paramStr.empty() ? 1 : std::stod(setup.paramStr)) {}

  void forward(const brew::api::HostCall &call) override {
    call.withType([&](auto zero) {
      using Value = decltype(zero);
      const auto a = call.bottom(0), b = call.bottom(1);
      errors.resize(std::size_t(a.count()));
      double sum = 0;
      for (std::size_t i = 0; i < errors.size(); ++i) {
        errors[i] = double(a.values<Value>()[i]) - double(b.values<Value>()[i]);
        const double size = std::abs(errors[i]);
        sum += size < delta ? size * size / 2 : delta * (size - delta / 2);
      }
      *call.top(0).values<Value>() = Value(sum / double(errors.size()));
    });
  }

  void backward(const brew::api::HostCall &call) override {
    call.withType([&](auto zero) {
      using Value = decltype(zero);
      const double scale =
          double(*call.top(0).gradient<Value>()) / double(errors.size());
      for (std::size_t bottom : {0, 1})
        if (Value *gradient = call.bottom(bottom).gradient<Value>())
          for (std::size_t i = 0; i < errors.size(); ++i)
            gradient[i] = Value((bottom ? -scale : scale) *
                                std::clamp(errors[i], -delta, delta));
    });
  }

private:
  double delta;
  std::vector<double> errors;
};

const char *const kNet =
    "layer { name: 'in' type: 'Input' top: 'x' top: 'target'\n"
    "  input_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 } } }\n"
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y'\n"
    "  inner_product_param { num_output: 2 weight_filler { type: 'xavier' } "
    "} }\n"
    "layer { name: 'loss' type: 'Huber' bottom: 'y' bottom: 'target' top: "
    "'loss'\n"
    "  loss_weight: 1 python_param { param_str: '0.8' } }\n";

} // namespace

int main(int argc, char **argv) {
  using namespace brew::api;
  try {
    const HostLayerType huber = hostLayer<Huber>("Huber");
    CompilerOptions options;
    options.addHostLayer(huber);
    const bool cuda = argc > 1 && std::string(argv[1]) == "cuda";
    options.set("target", cuda ? "cuda" : "cpu");
    if (argc > 2)
      options.set("gpu-arch", argv[2]);
    options.set("precision", "f64");
    const Compilation compilation =
        Compilation::ofText(kNet, "huber.prototxt", options);
    if (!compilation.succeeded())
      throw Error(compilation.status(), compilation.message());

    const std::string_view bytes = compilation.plan();
    const Plan plan(bytes.data(), bytes.size(), "huber.plan");
    SessionOptions sessionOptions;
    sessionOptions.options.set("random-seed", 3);
    sessionOptions.hostLayers = {huber};
    Session session(plan, sessionOptions);
    session.initialise();
    const int program = plan.program("forward_backward");
    std::vector<double> x(12), target(8);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(double(i));
    for (std::size_t i = 0; i < target.size(); ++i)
      target[i] = 2 * std::cos(3 * double(i));
    session.setInput(program, "x", x);
    session.setInput(program, "target", target);
    auto loss = [&] {
      session.prepare();
      session.feedAndRun(program);
      return session.loss(program);
    };

    std::printf("loss %.6f\n", loss());
    const TensorName weights = session.parameter("ip", 0);
    const auto gradient =
        session.read<double>(session.parameterGradient("ip", 0));
    std::vector<double> values = session.read<double>(weights);
    double maxError = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double step = 1e-5, original = values[i];
      values[i] = original + step;
      session.write(weights, values);
      const double above = loss();
      values[i] = original - step;
      session.write(weights, values);
      const double below = loss();
      values[i] = original;
      maxError = std::max(maxError,
                          std::abs((above - below) / (2 * step) - gradient[i]));
    }
    std::printf("gradients differ from differences by at most %.1e\n",
                maxError);
    return maxError < 1e-8 ? BREW_OK : BREW_BAD_INPUT;
  } catch (const Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.status();
  }
}
