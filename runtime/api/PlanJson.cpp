//===- PlanJson.cpp - Plans as JSON ---------------------------------------===//

#include "runtime/api/Handles.h"

#include "formats/caffe.pb.h"
#include "plan/Operands.h"
#include "plan/StepDescription.h"

#include <nlohmann/json.hpp>

namespace brew::api {
namespace {

using nlohmann::ordered_json;

template <typename List> ordered_json arrayOf(const List &list) {
  ordered_json result = ordered_json::array();
  for (const auto &item : list)
    result.push_back(item);
  return result;
}

ordered_json describeBuffer(const plan::Manifest &manifest,
                            const plan::Buffer &buffer) {
  const plan::Arena &arena =
      manifest.arenas(static_cast<int>(buffer.arena_index()));
  ordered_json result = {{"name", buffer.name()},
                         {"arena", plan::ArenaKind_Name(arena.kind())},
                         {"arena_index", buffer.arena_index()},
                         {"offset", buffer.offset()},
                         {"size", buffer.size()},
                         {"type", plan::DataType_Name(buffer.type())},
                         {"dims", arrayOf(buffer.dims())},
                         {"strides", arrayOf(buffer.strides())}};
  if (buffer.has_first_step())
    result["first_step"] = buffer.first_step();
  if (buffer.has_last_step())
    result["last_step"] = buffer.last_step();
  if (buffer.has_program_index())
    result["program"] =
        manifest.programs(static_cast<int>(buffer.program_index())).name();
  result["pinned"] = buffer.pinned();
  return result;
}

/// Describes a kernel and the division of its work: ranges of the domain for
/// CPU threads, or a GPU's blocks.
ordered_json describeKernel(const plan::Kernel &kernel) {
  ordered_json result = {{"symbol", kernel.symbol()},
                         {"arguments", kernel.argument_count()},
                         {"flops", kernel.flops()},
                         {"bytes", kernel.bytes()}};
  if (kernel.has_blocks()) {
    result["blocks"] = kernel.blocks();
    result["threads"] = kernel.threads();
    if (kernel.stages() > 1)
      result["stages"] = kernel.stages();
  } else {
    result["domain"] = kernel.domain();
    result["grain"] = kernel.grain();
  }
  return result;
}

ordered_json namedBuffers(
    const google::protobuf::RepeatedPtrField<plan::NamedBuffer> &list) {
  ordered_json result = ordered_json::object();
  for (const plan::NamedBuffer &item : list)
    result[item.name()] = item.buffer_index();
  return result;
}

ordered_json operandsOf(const plan::Step &step) {
  ordered_json result = ordered_json::array();
  for (const plan::Operand &operand : step.operands()) {
    result.push_back(
        {{"buffer", operand.buffer_index()},
         {"access", operand.access() == plan::Operand::READ ? "read"
                    : operand.access() == plan::Operand::WRITE
                        ? "write"
                        : "read_write"}});
    if (operand.has_loop_stride())
      result.back()["loop_stride"] = operand.loop_stride();
  }
  return result;
}

ordered_json loopOf(const plan::Manifest &manifest, const plan::Loop &loop) {
  ordered_json steps = ordered_json::array();
  for (const plan::Step &step : loop.steps())
    steps.push_back({{"action", plan::describeAction(manifest, step)},
                     {"operands", operandsOf(step)}});
  return {{"iterations", loop.iterations()},
          {"last_iteration_steps", plan::lastIterationSteps(loop)},
          {"steps", steps}};
}

ordered_json describeProgram(const plan::Manifest &manifest,
                             const plan::Program &program) {
  ordered_json steps = ordered_json::array();
  for (const plan::Step &step : program.steps()) {
    steps.push_back({{"action", plan::describeAction(manifest, step)},
                     {"layers", arrayOf(step.layers())},
                     {"backward", step.backward()},
                     {"recomputed", step.rematerialized()},
                     {"operands", operandsOf(step)},
                     {"flops", step.flops()},
                     {"bytes", step.bytes()}});
    if (step.has_loop())
      steps.back()["loop"] = loopOf(manifest, step.loop());
    if (step.has_generated_alternative())
      steps.back()["generated"] =
          manifest
              .kernels(
                  static_cast<int>(step.generated_alternative().kernel_index()))
              .symbol();
  }
  ordered_json outputs = ordered_json::array();
  for (const plan::Output &output : program.outputs())
    outputs.push_back({{"blob", output.blob()},
                       {"buffer", output.buffer_index()},
                       {"loss_weight", output.loss_weight()}});
  ordered_json inputs = ordered_json::array();
  for (const plan::DataInput &input : program.data_inputs()) {
    caffe::LayerParameter layer;
    layer.ParseFromString(input.layer());
    inputs.push_back({{"layer", layer.name()},
                      {"type", layer.type()},
                      {"tops", arrayOf(layer.top())},
                      {"buffers", arrayOf(input.buffer_indices())}});
    if (input.image_sizes_vary())
      inputs.back()["image_sizes_vary"] = true;
    if (input.has_transform())
      inputs.back()["transform"] = {
          {"resize", arrayOf(input.transform().resize_dims())},
          {"scale", input.transform().scale()},
          {"mean_values", input.transform().mean_size()},
          {"labels", input.transform().labels_size()}};
  }
  ordered_json keys = ordered_json::array();
  for (const plan::RandomKey &key : program.random_keys())
    keys.push_back({{"layer", key.layer()}, {"buffer", key.buffer_index()}});
  return {{"name", program.name()},
          {"phase", program.test_phase() ? "TEST" : "TRAIN"},
          {"first_backward_step", program.first_backward_step()},
          {"data_inputs", inputs},
          {"random_keys", keys},
          {"steps", steps},
          {"outputs", outputs},
          {"blobs", namedBuffers(program.blobs())},
          {"blob_gradients", namedBuffers(program.blob_gradients())},
          {"output_gradients", namedBuffers(program.output_gradients())},
          {"item_counts", namedBuffers(program.item_counts())},
          {"memory",
           {{"arena_bytes", program.memory().arena_bytes()},
            {"lower_bound_bytes", program.memory().lower_bound_bytes()},
            {"caffe_bytes", program.memory().caffe_bytes()}}}};
}

ordered_json describePlan(const plan::Manifest &manifest) {
  const plan::Target &target = manifest.target();
  ordered_json result = {
      {"producer", manifest.producer()},
      {"net", manifest.net_name()},
      {"target",
       {{"kind", plan::Target::Kind_Name(target.kind())},
        {"triple", target.triple()},
        {"cpu", target.cpu()},
        {"cpu_features", arrayOf(target.cpu_features())},
        {"archs", arrayOf(target.archs())},
        {"nvrtc_version", target.nvrtc_version()},
        {"math", plan::Target::Math_Name(target.math())},
        {"exact_convolutions", target.exact_convolutions()},
        {"precision", plan::DataType_Name(target.precision())}}}};
  result["arenas"] = ordered_json::array();
  for (const plan::Arena &arena : manifest.arenas())
    result["arenas"].push_back(
        {{"kind", plan::ArenaKind_Name(arena.kind())}, {"size", arena.size()}});
  result["buffers"] = ordered_json::array();
  for (const plan::Buffer &buffer : manifest.buffers())
    result["buffers"].push_back(describeBuffer(manifest, buffer));
  result["kernels"] = ordered_json::array();
  for (const plan::Kernel &kernel : manifest.kernels())
    result["kernels"].push_back(describeKernel(kernel));
  result["parameters"] = ordered_json::array();
  for (const plan::Parameter &parameter : manifest.parameters()) {
    ordered_json sharers = ordered_json::array();
    for (const auto &sharer : parameter.sharers())
      sharers.push_back({{"layer", sharer.layer()}, {"index", sharer.index()}});
    ordered_json item = {{"layer", parameter.layer()},
                         {"index", parameter.index()},
                         {"shape", arrayOf(parameter.file_dims())},
                         {"buffer", parameter.buffer_index()},
                         {"lr_mult", parameter.lr_mult()},
                         {"decay_mult", parameter.decay_mult()},
                         {"sharers", sharers}};
    if (parameter.has_gradient_buffer_index())
      item["gradient_buffer"] = parameter.gradient_buffer_index();
    item["state_buffers"] = arrayOf(parameter.state_buffer_indices());
    result["parameters"].push_back(item);
  }
  result["programs"] = ordered_json::array();
  for (const plan::Program &program : manifest.programs())
    result["programs"].push_back(describeProgram(manifest, program));
  return result;
}

} // namespace

std::string planJson(const plan::Manifest &manifest) {
  return describePlan(manifest).dump(2, ' ', false,
                                     nlohmann::json::error_handler_t::replace);
}

} // namespace brew::api
