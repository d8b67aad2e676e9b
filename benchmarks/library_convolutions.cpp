//===- library_convolutions.cpp - Times of oneDNN's convolutions ----------===//
//
// usage: library_convolutions f32|bf16 ROUNDS
//
// Prints, for the shapes of ResNet-50 with batch 4, the shortest time in ms of
// ROUNDS calls of the forward pass, the data gradient and the weight gradient,
// and the implementations that the library chose. Blobs are channels-last, and
// weights have the layout that the library prefers, as in Brew's plans. Compile
// it with each version of oneDNN to compare them (benchmarks/README.md).
//
//===----------------------------------------------------------------------===//
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

namespace {

using dnnl::memory;
constexpr int kBatch = 4;

struct Shape {
  const char *name;
  int channels, size, outputs, kernel, stride, pad;
};

constexpr Shape kShapes[] = {{"conv1", 3, 224, 64, 7, 2, 3},
                             {"res2 1x1", 64, 56, 64, 1, 1, 0},
                             {"res2 3x3", 64, 56, 64, 3, 1, 1},
                             {"res2 1x1 up", 64, 56, 256, 1, 1, 0},
                             {"res2 1x1 down", 256, 56, 64, 1, 1, 0},
                             {"res3 1x1 strided", 256, 56, 128, 1, 2, 0},
                             {"res3 shortcut", 256, 56, 512, 1, 2, 0},
                             {"res3 3x3", 128, 28, 128, 3, 1, 1},
                             {"res3 1x1 up", 128, 28, 512, 1, 1, 0},
                             {"res3 1x1 down", 512, 28, 128, 1, 1, 0},
                             {"res4 shortcut", 512, 28, 1024, 1, 2, 0},
                             {"res4 3x3", 256, 14, 256, 3, 1, 1},
                             {"res4 1x1 up", 256, 14, 1024, 1, 1, 0},
                             {"res4 1x1 down", 1024, 14, 256, 1, 1, 0},
                             {"res5 3x3", 512, 7, 512, 3, 1, 1},
                             {"res5 1x1 up", 512, 7, 2048, 1, 1, 0},
                             {"res5 1x1 down", 2048, 7, 512, 1, 1, 0}};

class Timer {
public:
  Timer(const dnnl::engine &engine, int rounds)
      : engine(engine), stream(engine), rounds(rounds) {}

  /// Prints the shortest time of `primitive` in ms.
  void run(const dnnl::primitive &primitive,
           const std::vector<std::pair<int, memory::desc>> &arguments,
           const char *implementation) {
    using Clock = std::chrono::steady_clock;
    std::unordered_map<int, memory> memories;
    for (const auto &[index, desc] : arguments) {
      memory zeros(desc, engine);
      std::memset(zeros.get_data_handle(), 0, desc.get_size());
      memories.emplace(index, zeros);
    }
    double shortest = 1e9;
    for (int i = 0; i < rounds; ++i) {
      const Clock::time_point start = Clock::now();
      primitive.execute(stream, memories);
      stream.wait();
      shortest = std::min(shortest, std::chrono::duration<double, std::milli>(
                                        Clock::now() - start)
                                        .count());
    }
    std::cout << std::setw(9) << shortest << "  " << implementation;
  }

private:
  dnnl::engine engine;
  dnnl::stream stream;
  int rounds;
};

void time(const Shape &shape, const dnnl::engine &engine,
          memory::data_type type, int rounds) {
  const int size =
      (shape.size + 2 * shape.pad - shape.kernel) / shape.stride + 1;
  const memory::dims weightDims = {shape.outputs, shape.channels, shape.kernel,
                                   shape.kernel};
  const memory::desc x({kBatch, shape.channels, shape.size, shape.size}, type,
                       memory::format_tag::nhwc),
      y({kBatch, shape.outputs, size, size}, type, memory::format_tag::nhwc),
      weights(weightDims, type, memory::format_tag::any),
      // Gradients of bf16 weights are summed in f32.
      gradients(weightDims, memory::data_type::f32, memory::format_tag::any);
  const memory::dims strides = {shape.stride, shape.stride},
                     pads = {shape.pad, shape.pad};
  const auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc forward(
      engine, dnnl::prop_kind::forward_training, direct, x, weights, y, strides,
      pads, pads);
  const dnnl::convolution_backward_data::primitive_desc dataGradient(
      engine, direct, x, weights, y, strides, pads, pads, forward);
  const dnnl::convolution_backward_weights::primitive_desc weightGradient(
      engine, direct, x, gradients, y, strides, pads, pads, forward);

  std::cout << std::left << std::setw(18) << shape.name << std::right;
  Timer timer(engine, rounds);
  timer.run(dnnl::convolution_forward(forward),
            {{DNNL_ARG_SRC, x},
             {DNNL_ARG_WEIGHTS, forward.weights_desc()},
             {DNNL_ARG_DST, y}},
            forward.impl_info_str());
  timer.run(dnnl::convolution_backward_data(dataGradient),
            {{DNNL_ARG_DIFF_SRC, x},
             {DNNL_ARG_WEIGHTS, dataGradient.weights_desc()},
             {DNNL_ARG_DIFF_DST, y}},
            dataGradient.impl_info_str());
  timer.run(dnnl::convolution_backward_weights(weightGradient),
            {{DNNL_ARG_SRC, x},
             {DNNL_ARG_DIFF_WEIGHTS, weightGradient.diff_weights_desc()},
             {DNNL_ARG_DIFF_DST, y}},
            weightGradient.impl_info_str());
  std::cout << std::endl;
}

} // namespace

int main(int argc, char **argv) {
  const std::string precision = argc == 3 ? argv[1] : "";
  if (precision != "f32" && precision != "bf16") {
    std::cerr << "usage: library_convolutions f32|bf16 ROUNDS\n";
    return 2;
  }
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl_version_t *version = dnnl_version();
  std::cout << "oneDNN " << version->major << '.' << version->minor
            << std::fixed << std::setprecision(2) << std::endl;
  for (const Shape &shape : kShapes)
    time(shape, engine,
         precision == "f32" ? memory::data_type::f32 : memory::data_type::bf16,
         std::max(std::atoi(argv[2]), 1));
}
