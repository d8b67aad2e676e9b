//===- Plan.cpp - C API: plans --------------------------------------------===//

#include "runtime/api/Handles.h"

#include "formats/caffe.pb.h"
#include "plan/Contract.h"

using namespace brew;
using namespace brew::api;

int brew_abi_version(void) { return BREW_ABI_VERSION; }
const char *brew_version(void) { return BREW_VERSION; }

namespace {

/// Returns the name of the first top of a data input.
std::string firstTop(const plan::DataInput &input) {
  caffe::LayerParameter layer;
  return layer.ParseFromString(input.layer()) && layer.top_size() ? layer.top(0)
                                                                  : "";
}

/// Builds the arrays of C strings that the API returns.
void buildStringArrays(brew_plan &plan) {
  for (const plan::Program &program : plan.file->manifest().programs()) {
    const int number = static_cast<int>(plan.outputs.size());
    for (const plan::DataInput &input : program.data_inputs())
      for (const std::string &label : input.transform().labels())
        plan.inputLabels[{number, firstTop(input)}].push_back(label.c_str());
    auto &outputs = plan.outputs.emplace_back();
    for (const plan::Output &output : program.outputs())
      outputs.push_back(output.blob().c_str());
    auto &steps = plan.layers.emplace_back();
    for (const plan::Step &step : program.steps()) {
      auto &names = steps.emplace_back();
      for (const std::string &name : step.layers())
        names.push_back(name.c_str());
    }
  }
}

const plan::Manifest &manifestOf(const brew_plan *plan) {
  if (!plan || !plan->file)
    throw usage("there is no open plan");
  return plan->file->manifest();
}

const plan::Program &programOf(const brew_plan *plan, int program) {
  const plan::Manifest &manifest = manifestOf(plan);
  if (program < 0 || program >= manifest.programs_size())
    throw usage("the plan has no program of this number");
  return manifest.programs(program);
}

/// Runs `body` without setting the plan's message: threads share the plan, and
/// its message is about opening it.
template <typename Body> brew_status guardWithoutMessage(Body &&body) {
  return guard(std::forward<Body>(body), [](const char *) {});
}

} // namespace

brew_status brew_plan_open(const char *path, brew_plan **plan) {
  return api::open(plan, [&](brew_plan &handle) {
    handle.file = plan::PlanFile::open(text(path, "the plan's path"));
    buildStringArrays(handle);
  });
}

brew_status brew_plan_open_memory(const void *bytes, size_t size,
                                  const char *name, int borrow,
                                  brew_plan **plan) {
  return api::open(plan, [&](brew_plan &handle) {
    if (!bytes && size)
      throw usage("the plan's bytes are NULL");
    const char *planName = text(name, "the plan's name");
    handle.file = borrow
                      ? plan::PlanFile::borrow(bytes, size, planName)
                      : plan::PlanFile::fromBytes(
                            std::string(static_cast<const char *>(bytes), size),
                            planName);
    buildStringArrays(handle);
  });
}

const char *brew_plan_message(const brew_plan *plan) {
  return plan ? plan->message.text() : Message::outOfMemory();
}

void brew_plan_destroy(brew_plan *plan) { delete plan; }

brew_status brew_plan_describe(const brew_plan *plan, const char **json) {
  return guardWithoutMessage([&] {
    const plan::Manifest &manifest = manifestOf(plan);
    if (!json)
      throw usage("the pointer to the text is NULL");
    std::call_once(plan->describeOnce,
                   [&] { plan->json = planJson(manifest); });
    *json = plan->json.c_str();
  });
}

brew_status brew_plan_get_info(const brew_plan *plan, brew_plan_info *info) {
  return guardWithoutMessage([&] {
    const plan::Manifest &manifest = manifestOf(plan);
    brew_plan_info result{};
    result.net = manifest.net_name().c_str();
    result.producer = manifest.producer().c_str();
    result.cuda = manifest.target().kind() == plan::Target::CUDA;
    result.precision = dtypeOf(manifest.target().precision());
    result.embeds_weights = plan::embedsWeights(manifest);
    bool hasTraining = false, hasUpdate = false;
    for (const plan::Program &program : manifest.programs()) {
      hasTraining |= program.name() == plan::programs::kForwardBackward;
      hasUpdate |= program.name() == plan::programs::kUpdate;
    }
    result.trainable = hasTraining && hasUpdate;
    copyToCaller(info, result);
  });
}

size_t brew_plan_program_count(const brew_plan *plan) {
  return plan && plan->file
             ? static_cast<size_t>(plan->file->manifest().programs_size())
             : 0;
}

brew_status brew_plan_get_program(const brew_plan *plan, int program,
                                  brew_program_info *info) {
  return guardWithoutMessage([&] {
    const plan::Program &description = programOf(plan, program);
    brew_program_info result{};
    result.name = description.name().c_str();
    result.test_phase = description.test_phase();
    result.has_backward = static_cast<int>(description.first_backward_step()) <
                              description.steps_size() ||
                          !description.blob_gradients().empty();
    result.step_count = static_cast<size_t>(description.steps_size());
    const auto &outputs = plan->outputs[static_cast<size_t>(program)];
    result.output_count = outputs.size();
    result.outputs = outputs.data();
    result.no_backward = description.no_backward().c_str();
    copyToCaller(info, result);
  });
}

int brew_plan_find_program(const brew_plan *plan, const char *name) {
  if (!plan || !plan->file || !name)
    return -1;
  const plan::Manifest &manifest = plan->file->manifest();
  for (int i = 0; i < manifest.programs_size(); ++i)
    if (manifest.programs(i).name() == name)
      return i;
  return -1;
}

brew_status brew_plan_get_input_transform(const brew_plan *plan, int program,
                                          const char *input,
                                          brew_input_transform *transform,
                                          int *found) {
  return guardWithoutMessage([&] {
    const plan::Program &description = programOf(plan, program);
    const std::string name = text(input, "the input's name");
    if (!found)
      throw usage("the pointer to `found` is NULL");
    *found = 0;
    for (const plan::DataInput &candidate : description.data_inputs()) {
      if (!candidate.has_transform() || firstTop(candidate) != name)
        continue;
      const plan::InputTransform &recorded = candidate.transform();
      brew_input_transform result{};
      if (recorded.resize_dims_size() == 2) {
        result.resize_height = static_cast<int>(recorded.resize_dims(0));
        result.resize_width = static_cast<int>(recorded.resize_dims(1));
      }
      result.scale = recorded.scale();
      result.mean_count = static_cast<size_t>(recorded.mean_size());
      result.mean = recorded.mean().data();
      const auto labels = plan->inputLabels.find({program, name});
      if (labels != plan->inputLabels.end()) {
        result.label_count = labels->second.size();
        result.labels = labels->second.data();
      }
      copyToCaller(transform, result);
      *found = 1;
    }
  });
}

brew_status brew_plan_get_step(const brew_plan *plan, int program, size_t step,
                               brew_step_info *info) {
  return guardWithoutMessage([&] {
    const plan::Program &description = programOf(plan, program);
    if (step >= static_cast<size_t>(description.steps_size()))
      throw usage("the program has no step of this number");
    const auto &names = plan->layers[static_cast<size_t>(program)][step];
    brew_step_info result{};
    result.layer_count = names.size();
    result.layers = names.data();
    result.backward = step >= description.first_backward_step() ||
                      description.steps(static_cast<int>(step)).backward();
    copyToCaller(info, result);
  });
}

brew_dtype brew::api::dtypeOf(plan::DataType type) {
  switch (type) {
  case plan::F32:
    return BREW_F32;
  case plan::F64:
    return BREW_F64;
  case plan::I32:
    return BREW_I32;
  case plan::U8:
    return BREW_U8;
  case plan::BF16:
    return BREW_BF16;
  case plan::F16:
    return BREW_F16;
  }
  throw Error(ExitStatus::Bug, "unknown element type");
}

std::vector<std::string> brew::api::textsOf(const char *const *texts,
                                            std::size_t count,
                                            const char *name) {
  if (!texts && count)
    throw usage(std::string(name) + " are NULL");
  std::vector<std::string> result;
  for (std::size_t i = 0; i < count; ++i)
    result.emplace_back(text(texts[i], name));
  return result;
}
