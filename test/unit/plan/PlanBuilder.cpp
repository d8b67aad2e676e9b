//===- PlanBuilder.cpp - Hand-written plans -------------------------------===//
#include "PlanBuilder.h"

#include "plan/Operands.h"
#include "plan/PlanWriter.h"
#include "support/Error.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace brew::test {

using namespace plan;

/// Offset of the first segment in assemble(). It exceeds the manifest size of
/// every test.
static constexpr std::uint64_t kFirstSegment = 64 << 10;

Dims stridesFor(const Dims &dims, const std::vector<int> &order) {
  Dims strides(dims.size());
  std::int64_t next = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    strides[*d] = next;
    next *= dims[*d];
  }
  return strides;
}

Dims denseStrides(const Dims &dims) {
  std::vector<int> order;
  for (std::size_t d = 0; d < dims.size(); ++d)
    order.push_back(static_cast<int>(d));
  return stridesFor(dims, order);
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

Window windowOf(const WindowGeometry &geometry) {
  Window window;
  auto set = [&](auto &to, const Dims &values, std::int64_t byDefault) {
    const Dims defaults(geometry.kernel.size(), byDefault);
    const Dims &from = values.empty() ? defaults : values;
    to.Assign(from.begin(), from.end());
  };
  set(*window.mutable_kernel(), geometry.kernel, 1);
  set(*window.mutable_stride(), geometry.stride, 1);
  set(*window.mutable_pad(), geometry.pad, 0);
  set(*window.mutable_pad_end(), geometry.pad, 0);
  set(*window.mutable_dilation(), geometry.dilation, 1);
  return window;
}

void addOperand(Step &step, std::uint32_t buffer, Operand::Access access) {
  Operand &operand = *step.add_operands();
  operand.set_buffer_index(buffer);
  operand.set_access(access);
}

void addCallOperands(Step &step, std::uint32_t x, std::uint32_t w,
                     std::uint32_t y, std::optional<std::uint32_t> b) {
  const Direction direction = directionOf(step);
  const Epilogue &epilogue = step.has_convolution()
                                 ? step.convolution().epilogue()
                                 : step.inner_product().epilogue();
  const auto accessIf = [&](bool isResult) {
    return !isResult               ? Operand::READ
           : epilogue.accumulate() ? Operand::READ_WRITE
                                   : Operand::WRITE;
  };
  addOperand(step, x, accessIf(direction == BACKWARD_DATA));
  addOperand(step, w, accessIf(direction == BACKWARD_WEIGHTS));
  addOperand(step, y, accessIf(direction == FORWARD));
  if (b)
    addOperand(step, *b, accessIf(direction == BACKWARD_WEIGHTS));
}

void addCopy(Program &program, std::uint32_t source, std::uint32_t target) {
  Step &step = *program.add_steps();
  step.mutable_copy();
  addOperand(step, source, Operand::READ);
  addOperand(step, target, Operand::WRITE);
}

PlanBuilder::PlanBuilder() {
  manifest.set_producer("test");
  manifest.set_net_name("net");
  manifest.mutable_target()->set_kind(Target::CPU);
  if (std::getenv("BREW_TEST_CUDASIM")) {
    manifest.mutable_target()->set_kind(Target::CUDA);
    manifest.mutable_target()->add_archs("sim");
  }
  manifest.mutable_target()->set_precision(F32);
}

std::uint32_t PlanBuilder::arena(ArenaKind kind) {
  for (int i = 0; i < manifest.arenas_size(); ++i)
    if (manifest.arenas(i).kind() == kind)
      return static_cast<std::uint32_t>(i);
  Arena &added = *manifest.add_arenas();
  added.set_kind(kind);
  added.set_size(0);
  return static_cast<std::uint32_t>(manifest.arenas_size() - 1);
}

std::uint32_t PlanBuilder::buffer(const std::string &name, const Dims &dims,
                                  const Dims &strides, DataType type,
                                  ArenaKind kind) {
  std::uint32_t index = arena(kind);
  Arena &arenaEntry = *manifest.mutable_arenas(static_cast<int>(index));
  Dims usedStrides = strides.empty() ? denseStrides(dims) : strides;
  std::int64_t lastElement = 0;
  for (std::size_t d = 0; d < dims.size(); ++d)
    lastElement += (dims[d] - 1) * usedStrides[d];
  Buffer &added = *manifest.add_buffers();
  added.set_name(name);
  added.set_arena_index(index);
  added.set_offset(alignUp(arenaEntry.size()));
  added.set_size((static_cast<std::uint64_t>(lastElement) + 1) *
                 elementSize(type));
  added.set_type(type);
  added.mutable_dims()->Add(dims.begin(), dims.end());
  added.mutable_strides()->Add(usedStrides.begin(), usedStrides.end());
  arenaEntry.set_size(added.offset() + added.size());
  return static_cast<std::uint32_t>(manifest.buffers_size() - 1);
}

std::uint32_t PlanBuilder::segment(Segment::Kind kind,
                                   const std::string &bytes) {
  manifest.add_segments()->set_kind(kind);
  segments.push_back(bytes);
  return static_cast<std::uint32_t>(segments.size() - 1);
}

std::uint32_t PlanBuilder::kernel(const std::string &symbol,
                                  std::uint32_t arguments, std::int64_t domain,
                                  std::int64_t grain) {
  if (kernelImage < 0)
    kernelImage = static_cast<int>(
        segment(Segment::KERNEL_IMAGE, readFile(TEST_KERNELS)));
  Kernel &added = *manifest.add_kernels();
  added.set_symbol(symbol);
  added.set_image_segment_index(static_cast<std::uint32_t>(kernelImage));
  added.set_domain(domain);
  added.set_grain(grain);
  added.set_argument_count(arguments);
  return static_cast<std::uint32_t>(manifest.kernels_size() - 1);
}

Program &PlanBuilder::program(const std::string &name) {
  Program &added = *manifest.add_programs();
  added.set_name(name);
  added.set_first_backward_step(0);
  return added;
}

void PlanBuilder::launch(Program &program, std::uint32_t kernel,
                         const std::vector<std::uint32_t> &read,
                         const std::vector<std::uint32_t> &written,
                         Operand::Access access) {
  Step &step = *program.add_steps();
  step.mutable_launch()->set_kernel_index(kernel);
  for (std::uint32_t buffer : read)
    addOperand(step, buffer, Operand::READ);
  for (std::uint32_t buffer : written)
    addOperand(step, buffer, access);
}

std::string PlanBuilder::bytes() const {
  return serializePlan(manifest, segments);
}

std::shared_ptr<const PlanFile> PlanBuilder::build() const {
  return PlanFile::fromBytes(bytes(), "test.plan");
}

void fixedOffsets(Manifest &manifest,
                  const std::vector<std::string> &segments) {
  std::uint64_t offset = kFirstSegment;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Segment &segment = *manifest.mutable_segments(static_cast<int>(i));
    segment.set_offset(offset);
    segment.set_size(segments[i].size());
    offset = alignUp(offset + segments[i].size());
  }
}

std::string assemble(const Manifest &manifest,
                     const std::vector<std::string> &segments) {
  std::string text = manifest.SerializePartialAsString();
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.formatVersion = kFormatVersion;
  header.manifestOffset = sizeof header;
  header.manifestSize = text.size();
  std::string bytes(sizeof header, '\0');
  bytes += text;
  std::uint64_t offset = kFirstSegment;
  for (const std::string &segment : segments) {
    bytes.resize(offset);
    bytes += segment;
    offset = alignUp(bytes.size());
  }
  header.fileSize = bytes.size();
  std::memcpy(bytes.data(), &header, sizeof header);
  updateChecksum(bytes);
  return bytes;
}

std::string loadError(const std::string &bytes) {
  try {
    PlanFile::fromBytes(bytes, "p.plan");
    return "";
  } catch (const Error &error) {
    if (error.status() != ExitStatus::BadInput) {
      std::cerr << "unexpected status: " << error.what() << std::endl;
      std::abort();
    }
    return error.what();
  }
}

PlanBuilder completePlan() {
  PlanBuilder b;
  Manifest &m = b.manifest;
  auto x = b.buffer("data", {2, 3, 6, 6});
  auto y = b.buffer("conv", {2, 4, 3, 3});
  auto z = b.buffer("ip", {2, 5});
  auto copied = b.buffer("copied", {2, 5}, {1, 2});
  auto label = b.buffer("label", {2});
  auto status = b.buffer("status", {}, {}, I32);
  auto w = b.buffer("conv.w", {4, 3, 3, 3}, {}, F32, PARAMETERS);
  auto bias = b.buffer("conv.b", {4}, {}, F32, PARAMETERS);
  auto v = b.buffer("ip.w", {5, 4, 3, 3},
                    stridesFor({5, 4, 3, 3}, {0, 2, 3, 1}), F32, PARAMETERS);
  auto dw = b.buffer("conv.w'", {4, 3, 3, 3}, {}, F32, GRADIENTS);
  auto db = b.buffer("conv.b'", {4}, {}, F32, GRADIENTS);
  auto history = b.buffer("history", {4, 3, 3, 3}, {}, F32, STATE);
  // Every scalar has its own cache line.
  b.buffer("scalars", {SCALAR_COUNT, kAlignment / 4}, {}, F32, SCALARS);
  auto constant = b.buffer("constant", {2, 5}, {}, F32, CONSTANTS);
  b.buffer("private", {4});
  m.mutable_buffers(m.buffers_size() - 1)->set_program_index(1);
  NamedBuffer &persistent = *m.add_persistent();
  persistent.set_name("loss_scale.value");
  persistent.set_buffer_index(
      b.buffer("loss_scale.value", {}, {}, F32, PARAMETERS));
  const std::uint32_t hostTops[] = {b.buffer("own.0", {2, 5}),
                                    b.buffer("own.1", {2})};
  const std::uint32_t hostTopGradients[] = {b.buffer("own.0'", {2, 5}),
                                            b.buffer("own.1'", {2})};
  const std::uint32_t hostBottomGradients[] = {b.buffer("ip'", {2, 5}),
                                               b.buffer("label'", {2})};
  Buffer &convBuffer = *m.mutable_buffers(static_cast<int>(y));
  convBuffer.set_program_index(0);
  convBuffer.set_first_step(0);
  convBuffer.set_last_step(2);
  m.mutable_arenas(static_cast<int>(b.arena(CONSTANTS)))
      ->set_initial_segment_index(
          b.segment(Segment::CONSTANT_DATA, std::string(40, 'c')));
  m.mutable_arenas(static_cast<int>(b.arena(PARAMETERS)))
      ->set_initial_segment_index(
          b.segment(Segment::WEIGHTS, std::string(64, '\0')));

  auto addParameter = [&](const char *layer, std::uint32_t index,
                          std::uint32_t buffer, Dims dims) -> Parameter & {
    Parameter &added = *m.add_parameters();
    added.set_layer(layer);
    added.set_index(index);
    added.set_buffer_index(buffer);
    added.mutable_file_dims()->Add(dims.begin(), dims.end());
    return added;
  };
  Parameter &weights = addParameter("conv1", 0, w, {4, 3, 3, 3});
  weights.set_gradient_buffer_index(dw);
  weights.add_state_buffer_indices(history);
  Parameter::Sharer &sharer = *weights.add_sharers();
  sharer.set_layer("twin");
  sharer.set_index(0);
  sharer.add_file_dims(108);
  addParameter("conv1", 1, bias, {4}).set_gradient_buffer_index(db);
  addParameter("ip1", 0, v, {5, 36});

  auto check = b.kernel("checkLabels", 2, 2, 2);
  auto add = b.kernel("addOne", 2, 10, 4);

  Program &main = b.program("forward_backward");
  main.set_first_backward_step(4);
  ConvolutionCall conv;
  conv.set_direction(FORWARD);
  *conv.mutable_window() =
      windowOf({.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}});
  conv.mutable_epilogue()->set_relu(true);
  conv.mutable_epilogue()->set_negative_slope(0.1f);
  Step &first = *main.add_steps();
  *first.mutable_convolution() = conv;
  addCallOperands(first, x, w, y, bias);
  first.add_layers("conv1");
  Step &product = *main.add_steps();
  product.mutable_inner_product()->set_direction(FORWARD);
  addCallOperands(product, y, v, z);
  addCopy(main, z, copied);
  b.launch(main, check, {label}, {status});
  b.launch(main, add, {constant}, {z});
  Step &backward = *main.add_steps();
  conv.set_direction(BACKWARD_WEIGHTS);
  conv.clear_epilogue();
  conv.mutable_epilogue()->set_accumulate(true);
  *backward.mutable_convolution() = conv;
  addCallOperands(backward, x, dw, y, db);

  HostCall host;
  host.set_type("Own");
  host.set_layer("own");
  host.set_settings("name: \"own\"");
  host.set_param_str("2");
  host.set_direction(FORWARD);
  host.set_bottom_count(2);
  host.set_top_count(2);
  auto addHost = [&]() -> Step & {
    Step &added = *main.add_steps();
    *added.mutable_host() = host;
    for (auto bottom : {z, label})
      addOperand(added, bottom, Operand::READ);
    for (auto top : hostTops)
      addOperand(added, top,
                 host.direction() == FORWARD ? Operand::WRITE : Operand::READ);
    return added;
  };
  addHost();
  host.set_direction(BACKWARD_DATA);
  host.add_gradient_bottoms(0);
  host.add_gradient_bottoms(1);
  Step &hostBackward = addHost();
  for (auto gradient : hostTopGradients)
    addOperand(hostBackward, gradient, Operand::READ);
  for (auto gradient : hostBottomGradients)
    addOperand(hostBackward, gradient, Operand::WRITE);
  if (b.manifest.target().kind() == Target::CPU) {
    Step &start = *main.add_steps(), &wait = *main.add_steps();
    start.mutable_all_reduce()->set_kind(AllReduceCall::START);
    start.mutable_all_reduce()->set_bucket(0);
    addOperand(start, dw, Operand::READ);
    addOperand(start, dw, Operand::WRITE);
    wait.mutable_all_reduce()->set_kind(AllReduceCall::WAIT);
    wait.mutable_all_reduce()->set_bucket(0);
    addOperand(wait, dw, Operand::READ_WRITE);
  }

  DataInput &input = *main.add_data_inputs();
  input.set_layer("");
  input.add_buffer_indices(x);
  input.add_buffer_indices(label);
  RandomKey &key = *main.add_random_keys();
  key.set_layer("drop");
  key.set_buffer_index(b.buffer("drop.random_key", {2}, {}, I32));
  Output &output = *main.add_outputs();
  output.set_blob("ip");
  output.set_buffer_index(z);
  output.set_loss_weight(1);
  *main.add_unreported_losses() = output;
  Check &condition = *main.add_checks();
  condition.set_kind(Check::LABEL_RANGE);
  condition.set_status_buffer_index(status);
  condition.set_values_buffer_index(label);
  condition.set_limit(10);
  condition.set_layer("loss");
  condition.set_blob("label");
  condition.set_source_location("net.prototxt:7:3");
  Layer &layer = *main.add_layers();
  layer.set_name("conv");
  layer.set_type("Convolution");
  layer.add_bottoms("x");
  layer.add_tops("y");
  layer.add_shapes()->add_dims(3);
  layer.add_loss_weights(0);
  layer.add_top_buffer_indices(output.buffer_index());
  Layer::BottomGradient &gradient = *layer.add_bottom_gradients();
  gradient.set_bottom(0);
  gradient.set_buffer_index(output.buffer_index());
  NamedBuffer &blob = *main.add_blobs();
  blob.set_name("conv");
  blob.set_buffer_index(y);
  *main.add_blob_gradients() = blob;
  NamedBuffer &count = *main.add_item_counts();
  count.set_name("conv");
  count.set_buffer_index(status);
  b.program("update");
  return b;
}

} // namespace brew::test
