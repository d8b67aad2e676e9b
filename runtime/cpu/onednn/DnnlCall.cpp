//===- DnnlCall.cpp - Library call by oneDNN, ready to run ----------------===//
#include "runtime/cpu/onednn/DnnlCall.h"

#include "runtime/cpu/onednn/DnnlFailure.h"
#include "support/Error.h"

#include <algorithm>
#include <iterator>

namespace brew::runtime {

using dnnl::memory;

dnnl::memory DnnlCall::attach(const memory::desc &layout, std::byte *data) {
  memory result(layout, context.engine, data);
  attached.push_back(result);
  return result;
}

/// Returns the offset of new space in the call's scratch memory. Space is never
/// reused: a call has at most three temporaries besides its scratchpad, and all
/// are live at once.
std::uint64_t DnnlCall::reserveScratch(const memory::desc &layout) {
  std::uint64_t offset = scratchSize;
  std::uint64_t size = layout.get_size();
  scratchSize +=
      (size + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
  return offset;
}

dnnl::memory DnnlCall::addTemporary(const memory::desc &layout,
                                    std::uint64_t offset) {
  memory result(layout, context.engine, DNNL_MEMORY_NONE);
  temporaries.push_back({result, offset});
  return result;
}

void DnnlCall::addStage(const dnnl::primitive_desc_base &description,
                        const std::vector<std::pair<int, memory>> &arguments,
                        std::vector<Stage> &targetStages) {
  Stage stage;
  stage.primitive = dnnl::primitive(description.get());
  for (const auto &[argument, value] : arguments)
    stage.arguments.push_back({argument, value.get()});
  memory::desc scratchpad = description.scratchpad_desc();
  if (scratchpad.get_size() > 0) {
    memory scratch = addTemporary(scratchpad, reserveScratch(scratchpad));
    stage.arguments.push_back({DNNL_ARG_SCRATCHPAD, scratch.get()});
  }
  targetStages.push_back(std::move(stage));
}

void DnnlCall::addReorder(const memory &from, const memory &to, bool sum,
                          std::vector<Stage> &targetStages) {
  if (!sum && context.workers)
    if (auto reorder = WeightReorder::between(from.get_desc(), to.get_desc())) {
      Stage stage;
      stage.reorder = reorder;
      stage.from = from;
      stage.to = to;
      targetStages.push_back(std::move(stage));
      return;
    }
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (sum) {
    dnnl::post_ops operations;
    operations.append_sum(1.0f);
    attributes.set_post_ops(operations);
  }
  dnnl::reorder::primitive_desc description(context.engine, from.get_desc(),
                                            context.engine, to.get_desc(),
                                            attributes);
  addStage(description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
           targetStages);
}

/// Returns the packed weights of a constant or shared operand. Adds the reorder
/// that packs them, if this call has to.
PackedWeights &DnnlCall::findOrAddPacked(const DnnlOperand &operand) {
  auto entry = std::find_if(context.packed.begin(), context.packed.end(),
                            [&](const auto &weights) {
                              return weights->source == operand.data &&
                                     weights->layout == operand.layout &&
                                     weights->staged == operand.staged &&
                                     weights->isConstant == operand.isConstant;
                            });
  const bool isNew = entry == context.packed.end();
  if (isNew) {
    context.packed.push_back(std::make_unique<PackedWeights>(PackedWeights{
        operand.data, operand.layout, operand.staged, operand.isConstant,
        Arena(operand.staged.get_size(), "packed weights")}));
    entry = std::prev(context.packed.end());
  }
  // The first call of a run packs shared weights, and any of the calls may be
  // the first.
  if (isNew || !operand.isConstant)
    addReorder(attach(operand.layout, operand.data),
               attach(operand.staged, (*entry)->memory.data()), false, packing);
  return **entry;
}

/// Returns an operand that is only read, in the primitive's layout.
memory DnnlCall::stagedInput(const DnnlOperand &operand) {
  if (operand.isConstant || operand.isShared) {
    PackedWeights &packedWeights = findOrAddPacked(operand);
    if (!operand.isConstant)
      shared = &packedWeights;
    return attach(operand.view, packedWeights.memory.data());
  }
  memory original = attach(operand.layout, operand.data);
  const std::uint64_t offset = reserveScratch(operand.staged);
  addReorder(original, addTemporary(operand.staged, offset), false, stages);
  return addTemporary(operand.view, offset);
}

void DnnlCall::add(const dnnl::primitive_desc_base &description,
                   const std::vector<DnnlOperand> &operands) {
  name = description.impl_info_str();
  std::vector<std::pair<int, memory>> arguments;
  struct Result {
    memory staged, target;
    bool sum;
  };
  std::vector<Result> results;
  for (const DnnlOperand &operand : operands) {
    if (!operand.needsStaging()) {
      arguments.emplace_back(operand.argument,
                             attach(operand.view, operand.data));
      continue;
    }
    if (!operand.written) {
      arguments.emplace_back(operand.argument, stagedInput(operand));
      continue;
    }
    std::uint64_t offset = reserveScratch(operand.staged);
    memory staged = addTemporary(operand.staged, offset);
    arguments.emplace_back(operand.argument,
                           operand.view == operand.staged
                               ? staged
                               : addTemporary(operand.view, offset));
    results.push_back(
        {staged, attach(operand.layout, operand.data), operand.accumulate});
  }
  addStage(description, arguments, stages);
  for (const Result &result : results)
    addReorder(result.staged, result.target, result.sum, stages);
}

void DnnlCall::addRelu(const memory::desc &layout, std::byte *data,
                       float slope) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::eltwise_forward::primitive_desc description(
      context.engine, dnnl::prop_kind::forward_inference,
      dnnl::algorithm::eltwise_relu, layout, layout, slope, attributes);
  memory target = attach(layout, data);
  addStage(description, {{DNNL_ARG_SRC, target}, {DNNL_ARG_DST, target}},
           stages);
}

void DnnlCall::bindScratch(std::byte *scratch) {
  for (Temporary &temporary : temporaries)
    temporary.memory.set_data_handle(scratch + temporary.offset);
}

void DnnlCall::run(const Threads &) {
  if (shared && shared->run != context.run) {
    execute(packing);
    shared->run = context.run;
  }
  execute(stages);
}

void DnnlCall::execute(const std::vector<Stage> &stageList) {
  for (const Stage &stage : stageList) {
    if (stage.reorder) {
      stage.reorder->run(
          *context.workers,
          static_cast<const std::byte *>(stage.from.get_data_handle()),
          static_cast<std::byte *>(stage.to.get_data_handle()));
      continue;
    }
    dnnl_status_t status = dnnl_primitive_execute(
        stage.primitive.get(), context.stream.get(),
        static_cast<int>(stage.arguments.size()), stage.arguments.data());
    if (status != dnnl_success)
      throw dnnlFailure(name, status);
  }
}

/// Returns whether a kernel does not use AVX-512, or AVX2, although the
/// processor has it. oneDNN never prefers such kernels, so they are poorly
/// tested: some of oneDNN 3.2 access memory beyond their operands (e.g.
/// jit_dw:avx2 when it accumulates into five channels).
static bool isForOlderProcessors(const dnnl::primitive_desc_base &description) {
  const std::string name = description.impl_info_str();
  auto nameContains = [&](const char *set) {
    return name.find(set) != name.npos;
  };
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  auto isaIncludes = [&](dnnl::cpu_isa requiredIsa) {
    const auto bits = static_cast<unsigned>(requiredIsa);
    return (isa & bits) == bits;
  };
  if (nameContains("avx512"))
    return false;
  if (isaIncludes(dnnl::cpu_isa::avx512_core))
    return nameContains("avx") || nameContains("sse41");
  return isaIncludes(dnnl::cpu_isa::avx2) && !nameContains("avx2") &&
         (nameContains("avx") || nameContains("sse41"));
}

std::vector<dnnl::primitive_desc>
implementationsOf(const dnnl::primitive_desc &first, bool all) {
  std::vector<dnnl::primitive_desc> result;
  if (!first.get(true))
    return result;
  if (!all) {
    result.push_back(first);
    return result;
  }
  // next_impl() changes the description, so copy it.
  dnnl::primitive_desc implementation = first;
  do {
    if (!result.empty() && isForOlderProcessors(implementation))
      continue;
    dnnl_primitive_desc_t copy = nullptr;
    dnnl::error::wrap_c_api(
        dnnl_primitive_desc_clone(&copy, implementation.get()),
        "could not copy a description");
    result.emplace_back();
    result.back().reset(copy);
  } while (implementation.next_impl());
  return result;
}

std::string kernelName(const dnnl::primitive_desc_base &description) {
  const std::string name = description.impl_info_str();
  // oneDNN forgets KERNEL in "ip:KERNEL" after the primitive was created.
  const std::size_t product = name.find("ip:");
  return product == name.npos ? name : name.substr(0, product + 2);
}

bool isReferenceKernel(const dnnl::primitive_desc_base &description) {
  // A convolution computed as a product is "ip:KERNEL", and oneDNN's cache
  // forgets KERNEL of created primitives. These have passed this test before.
  return std::string(description.impl_info_str()).find("ref") !=
         std::string::npos;
}

bool isSupportedType(plan::DataType type) {
  return type == plan::F32 || type == plan::BF16;
}

memory::data_type typeOf(const plan::Buffer &buffer) {
  return buffer.type() == plan::BF16 ? memory::data_type::bf16
                                     : memory::data_type::f32;
}

dnnl::memory::desc layoutOf(const plan::Buffer &buffer) {
  memory::dims dims(buffer.dims().begin(), buffer.dims().end());
  memory::dims strides(buffer.strides().begin(), buffer.strides().end());
  return {dims, typeOf(buffer), strides};
}

dnnl::primitive_attr attributesFor(const plan::Epilogue &epilogue, bool sum,
                                   bool relu) {
  dnnl::primitive_attr attributes;
  // Primitives use the plan's scratch memory instead of memory of their own.
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops operations;
  if (sum)
    operations.append_sum(1.0f);
  if (relu)
    operations.append_eltwise(dnnl::algorithm::eltwise_relu,
                              epilogue.negative_slope(), 0.0f);
  attributes.set_post_ops(operations);
  return attributes;
}

} // namespace brew::runtime
