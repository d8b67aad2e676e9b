//===- TestPlan.cpp - Hand-written plan for tests -------------------------===//

#include "TestPlan.h"

#include "plan/PlanWriter.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace brew::test {
namespace {

enum Arena : std::uint32_t { Transient, Params, Grads, State, Scalars };
enum Buffers : std::uint32_t {
  X,
  Target,
  W,
  B,
  Gw,
  Gb,
  Hw,
  Hb,
  Values,
  Pred,
  Loss
};

constexpr auto Read = plan::Operand::READ;
constexpr auto Write = plan::Operand::WRITE;
constexpr auto ReadWrite = plan::Operand::READ_WRITE;

void addStep(
    plan::Program &program, std::uint32_t kernel,
    std::vector<std::pair<std::uint32_t, plan::Operand::Access>> operands,
    const std::string &layer, bool backward) {
  plan::Step &step = *program.add_steps();
  step.mutable_launch()->set_kernel_index(kernel);
  for (auto [buffer, access] : operands) {
    plan::Operand &operand = *step.add_operands();
    operand.set_buffer_index(buffer);
    operand.set_access(access);
  }
  step.add_layers(layer);
  step.set_backward(backward);
}

void addOutput(plan::Program &program, const std::string &blob,
               std::uint32_t buffer, float weight) {
  plan::Output &output = *program.add_outputs();
  output.set_blob(blob);
  output.set_buffer_index(buffer);
  output.set_loss_weight(weight);
  // Makes outputs readable by name, as the compiler does.
  plan::NamedBuffer &namedBuffer = *program.add_blobs();
  namedBuffer.set_name(blob);
  namedBuffer.set_buffer_index(buffer);
}

void addKernel(plan::Manifest &manifest, const std::string &symbol,
               std::uint32_t arguments, std::int64_t domain) {
  plan::Kernel &kernel = *manifest.add_kernels();
  kernel.set_symbol(symbol);
  kernel.set_image_segment_index(0);
  kernel.set_domain(domain);
  kernel.set_argument_count(arguments);
}

void addParameter(plan::Manifest &manifest, std::uint32_t index,
                  std::uint32_t buffer, std::uint32_t gradient,
                  std::uint32_t history, std::vector<std::int64_t> dims,
                  const std::string &filler) {
  plan::Parameter &parameter = *manifest.add_parameters();
  parameter.set_layer("ip");
  parameter.set_index(index);
  parameter.set_buffer_index(buffer);
  parameter.set_gradient_buffer_index(gradient);
  parameter.add_state_buffer_indices(history);
  *parameter.mutable_file_dims() = {dims.begin(), dims.end()};
  parameter.set_filler(
      parse<caffe::FillerParameter>(filler).SerializeAsString());
}

bool isOnSimulator() { return std::getenv("BREW_TEST_CUDASIM"); }

/// Changes the plan to run on the CUDA simulator, with the kernels of
/// CudaTestKernels.cu.
void retargetToSimulator(plan::Manifest &manifest) {
  plan::Target &target = *manifest.mutable_target();
  target.clear_triple();
  target.set_kind(plan::Target::CUDA);
  target.add_archs("sim");
  for (plan::Kernel &kernel : *manifest.mutable_kernels()) {
    if (kernel.symbol() == "test_update")
      kernel.set_symbol("test_update" + std::to_string(kernel.domain()));
    kernel.clear_image_segment_index();
    kernel.clear_domain();
    kernel.set_blocks(1);
    kernel.set_threads(32);
    plan::KernelImage &image = *kernel.add_images();
    image.set_arch("sim");
    image.set_segment_index(0);
  }
}

plan::Program &addForward(plan::Manifest &manifest, const std::string &name,
                          const std::string &dataLayer) {
  plan::Program &program = *manifest.add_programs();
  program.set_name(name);
  plan::DataInput &source = *program.add_data_inputs();
  source.set_layer(parse<caffe::LayerParameter>(dataLayer).SerializeAsString());
  source.add_buffer_indices(X);
  source.add_buffer_indices(Target);
  addStep(program, 0,
          {{X, Read},
           {Target, Read},
           {W, Read},
           {B, Read},
           {Pred, Write},
           {Loss, Write}},
          "ip", false);
  program.set_first_backward_step(1);
  return program;
}

} // namespace

void parseInto(const std::string &text, google::protobuf::Message &message) {
  if (!google::protobuf::TextFormat::ParseFromString(text, &message))
    throw std::logic_error("a test's text format is wrong: " + text);
}

plan::Buffer makeBuffer(const std::string &name, std::uint32_t arena,
                        std::uint64_t offset, std::vector<std::int64_t> dims,
                        std::vector<std::int64_t> strides,
                        plan::DataType type) {
  if (strides.empty() && !dims.empty()) {
    strides.resize(dims.size());
    std::int64_t stride = 1;
    for (std::size_t i = dims.size(); i-- > 0; stride *= dims[i])
      strides[i] = stride;
  }
  std::int64_t lastElement = 0;
  for (std::size_t i = 0; i < dims.size(); ++i)
    lastElement += (dims[i] - 1) * strides[i];
  plan::Buffer buffer;
  buffer.set_name(name);
  buffer.set_arena_index(arena);
  buffer.set_offset(offset);
  buffer.set_size(std::uint64_t(lastElement + 1) * plan::elementSize(type));
  buffer.set_type(type);
  *buffer.mutable_dims() = {dims.begin(), dims.end()};
  *buffer.mutable_strides() = {strides.begin(), strides.end()};
  return buffer;
}

plan::Manifest linearModel(const std::string &dataLayer,
                           const std::string &solver) {
  plan::Manifest manifest;
  manifest.set_producer("test");
  manifest.set_net_name("Linear");
  manifest.mutable_target()->set_kind(plan::Target::CPU);
  manifest.mutable_target()->set_precision(plan::F32);
  manifest.mutable_target()->set_triple("x86_64-pc-linux-gnu");
  manifest.add_segments()->set_kind(plan::Segment::KERNEL_IMAGE);
  for (auto kind : {plan::TRANSIENT, plan::PARAMETERS, plan::GRADIENTS,
                    plan::STATE, plan::SCALARS}) {
    plan::Arena &arena = *manifest.add_arenas();
    arena.set_kind(kind);
    arena.set_size(plan::SCALAR_COUNT * plan::kAlignment);
  }
  auto add = [&](const char *name, std::uint32_t arena, std::uint64_t offset,
                 std::vector<std::int64_t> dims) {
    *manifest.add_buffers() = makeBuffer(name, arena, offset, std::move(dims));
  };
  add("x", Transient, 0, {4, 3});
  add("target", Transient, 64, {4});
  add("w", Params, 0, {1, 3});
  add("b", Params, 64, {1});
  add("w gradient", Grads, 0, {1, 3});
  add("b gradient", Grads, 64, {1});
  add("w history", State, 0, {1, 3});
  add("b history", State, 64, {1});
  add("solver scalars", Scalars, 0,
      {plan::SCALAR_COUNT, plan::kAlignment / sizeof(float)});
  add("prediction", Transient, 128, {4});
  add("loss", Transient, 192, {});

  addKernel(manifest, "test_forward", 6, 1);
  addKernel(manifest, "test_backward", 5, 1);
  addKernel(manifest, "test_update", 4, 3);
  addKernel(manifest, "test_update", 4, 1);
  addParameter(manifest, 0, W, Gw, Hw, {1, 3}, "type: 'xavier'");
  addParameter(manifest, 1, B, Gb, Hb, {1}, "value: 0.25");

  plan::Program &train = addForward(manifest, "forward_backward", dataLayer);
  addStep(train, 1,
          {{X, Read}, {Target, Read}, {Pred, Read}, {Gw, Write}, {Gb, Write}},
          "ip", true);
  addOutput(train, "loss", Loss, 1);
  plan::Program &update = *manifest.add_programs();
  update.set_name("update");
  update.set_first_backward_step(0);
  addStep(update, 2,
          {{W, ReadWrite}, {Gw, Read}, {Hw, ReadWrite}, {Values, Read}}, "ip",
          false);
  addStep(update, 3,
          {{B, ReadWrite}, {Gb, Read}, {Hb, ReadWrite}, {Values, Read}}, "ip",
          false);
  plan::Program &test = addForward(manifest, "test_0", dataLayer);
  test.set_test_phase(true);
  addOutput(test, "loss", Loss, 1);
  addOutput(test, "prediction", Pred, 0);

  manifest.mutable_solver()->set_parameter(
      parse<caffe::SolverParameter>(solver).SerializeAsString());
  if (isOnSimulator())
    retargetToSimulator(manifest);
  return manifest;
}

std::string planBytes(const plan::Manifest &manifest,
                      const std::vector<std::string> &laterSegments) {
  std::ifstream file(isOnSimulator() ? BREW_TEST_CUDA_KERNELS
                                     : BREW_TEST_KERNELS,
                     std::ios::binary);
  std::string image{std::istreambuf_iterator<char>(file), {}};
  if (image.empty())
    throw std::logic_error("the test kernels were not built");
  std::vector<std::string> segments(
      static_cast<std::size_t>(manifest.segments_size()), "");
  if (!segments.empty()) {
    segments[0] = image;
    std::copy(laterSegments.begin(), laterSegments.end(), segments.begin() + 1);
  }
  return plan::serializePlan(manifest, segments);
}

std::shared_ptr<const plan::PlanFile> loadPlan(const plan::Manifest &manifest,
                                               const std::string &path) {
  return plan::PlanFile::fromBytes(planBytes(manifest), path);
}

double LinearReference::gradients(const std::vector<float> &x,
                                  const std::vector<float> &target,
                                  double (&gw)[3], double &gb) const {
  double loss = 0;
  for (int n = 0; n < 4; ++n) {
    double y = b;
    for (int k = 0; k < 3; ++k)
      y += x[n * 3 + k] * w[k];
    const double error = y - target[n];
    loss += error * error / 8;
    gb += error / 4;
    for (int k = 0; k < 3; ++k)
      gw[k] += error / 4 * x[n * 3 + k];
  }
  return loss;
}

void LinearReference::update(const double (&gw)[3], double gb, double rate,
                             double momentum, double decay, double scale) {
  for (int k = 0; k < 3; ++k) {
    historyW[k] =
        momentum * historyW[k] + rate * (scale * gw[k] + decay * w[k]);
    w[k] -= historyW[k];
  }
  historyB = momentum * historyB + rate * (scale * gb + decay * b);
  b -= historyB;
}

} // namespace brew::test
