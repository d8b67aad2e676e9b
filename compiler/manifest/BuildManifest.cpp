//===- BuildManifest.cpp - Manifest of a plan from a module ---------------===//
#include "compiler/manifest/BuildManifest.h"

#include "compiler/PassDiagnostics.h"
#include "compiler/manifest/ManifestBuilder.h"

#include "passes/analysis/ParameterOffsets.h"
#include "plan/Contract.h"
#include "support/Error.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace brew::dialects::plan;
using brew::compiler::ManifestBuilder;
namespace plan = brew::plan;

static plan::DataType dataTypeOf(Type type) {
  if (type.isF32())
    return plan::F32;
  if (type.isF64())
    return plan::F64;
  if (type.isBF16())
    return plan::BF16;
  if (type.isF16())
    return plan::F16;
  if (type.isInteger(32))
    return plan::I32;
  if (type.isInteger(8))
    return plan::U8;
  throw brew::Error(brew::ExitStatus::Bug, "a buffer has an element type that "
                                           "plans cannot contain");
}

void ManifestBuilder::addArenas() {
  for (auto arena : module.getOps<ArenaOp>()) {
    arenas[arena.getKind()] = manifest.arenas_size();
    plan::Arena *entry = manifest.add_arenas();
    entry->set_kind(static_cast<plan::ArenaKind>(arena.getKind()));
    entry->set_size(arena.getSize());
  }
}

void ManifestBuilder::addKernels() {
  for (auto [op, kernel] :
       llvm::zip_equal(module.getOps<KernelOp>(), kernels)) {
    kernelIndex[op.getSymName()] = manifest.kernels_size();
    *manifest.add_kernels() = kernel;
  }
}

void brew::compiler::setBufferType(MemRefType type, plan::Buffer &buffer) {
  buffer.set_type(dataTypeOf(type.getElementType()));
  SmallVector<int64_t> strides;
  int64_t start;
  if (failed(type.getStridesAndOffset(strides, start)))
    throw brew::Error(brew::ExitStatus::Bug, "a buffer has no strides");
  int64_t last = 0;
  for (auto [dim, stride] : llvm::zip(type.getShape(), strides)) {
    buffer.add_dims(dim);
    buffer.add_strides(stride);
    last += (dim - 1) * stride;
  }
  buffer.set_size((last + 1) *
                  llvm::divideCeil(type.getElementTypeBitWidth(), 8));
}

unsigned ManifestBuilder::buffer(StringRef name, ArenaKind arena,
                                 uint64_t offset, MemRefType type,
                                 int program) {
  auto key =
      std::tuple(arena, offset, name.str(), type.getAsOpaquePointer(), program);
  auto [it, isNew] = bufferIndices.try_emplace(key, manifest.buffers_size());
  if (!isNew)
    return it->second;
  plan::Buffer *entry = manifest.add_buffers();
  entry->set_name(name.str());
  entry->set_arena_index(arenas.at(arena));
  entry->set_offset(offset);
  setBufferType(type, *entry);
  if (program >= 0)
    entry->set_program_index(program);
  return it->second;
}

unsigned ManifestBuilder::buffer(Value value) {
  auto op = value.getDefiningOp<BufferOp>();
  // Transient values may reuse the gradients' memory.
  bool isTransient = op.getArena() == ArenaKind::Transient || op.getLive();
  unsigned index =
      buffer(op.getName(), op.getArena(), op.getOffset(),
             cast<MemRefType>(op.getType()), isTransient ? currentProgram : -1);
  plan::Buffer *entry = manifest.mutable_buffers(index);
  if (auto live = op.getLive()) {
    entry->set_first_step((*live)[0]);
    entry->set_last_step((*live)[1]);
  }
  if (op.getPinned())
    entry->set_pinned(true);
  if (auto channels = op.getPadded()) {
    // Include the gap after the last element.
    const auto type = cast<MemRefType>(op.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = *channels;
    entry->set_zero_gaps(true);
    entry->set_size(llvm::divideCeil(
        MemRefType::get(shape, type.getElementType()).getNumElements() *
            type.getElementTypeBitWidth(),
        8));
  }
  return index;
}

void ManifestBuilder::addPersistentState() {
  auto persistent =
      module->getAttrOfType<DictionaryAttr>(passes::kPersistentAttr);
  if (!persistent)
    return;
  for (NamedAttribute state : persistent) {
    auto typeAndOffset = cast<ArrayAttr>(state.getValue());
    plan::NamedBuffer *entry = manifest.add_persistent();
    entry->set_name(state.getName().str());
    entry->set_buffer_index(buffer(
        state.getName(), ArenaKind::Parameters,
        cast<IntegerAttr>(typeAndOffset[1]).getInt(),
        cast<MemRefType>(cast<TypeAttr>(typeAndOffset[0]).getValue()), -1));
  }
}

void ManifestBuilder::addParameters() {
  // The offsets of gradients in their arena. A parameter has the same offset in
  // the parameter arena.
  llvm::DenseSet<uint64_t> gradients;
  module.walk([&](BufferOp buffer) {
    if (buffer.getArena() == ArenaKind::Gradients)
      gradients.insert(buffer.getOffset());
  });
  uint64_t slotSize = 0;
  for (auto arena : module.getOps<ArenaOp>())
    if (arena.getKind() == ArenaKind::Parameters)
      slotSize = arena.getSize();
  for (auto param : module.getOps<ParamOp>()) {
    auto type = cast<MemRefType>(param.getType());
    std::string name = param.getSymName().str();
    plan::Parameter *entry = manifest.add_parameters();
    entry->set_layer(param.getLayer().str());
    entry->set_layer_type(param.getLayerType().str());
    entry->set_index(param.getIndex());
    entry->set_buffer_index(
        buffer(name, ArenaKind::Parameters, param.getOffset(), type, -1));
    if (gradients.contains(param.getOffset()) ||
        (arenas.count(ArenaKind::Gradients) && !param.getLrMult().isZero()))
      entry->set_gradient_buffer_index(buffer(name + ".gradient",
                                              ArenaKind::Gradients,
                                              param.getOffset(), type, -1));
    for (uint64_t slot = 0; slot < param.getStateSlots(); ++slot)
      entry->add_state_buffer_indices(buffer(
          name + ".history" + std::to_string(slot), ArenaKind::State,
          plan::stateOffset(slot, slotSize, param.getOffset()), type, -1));
    for (int64_t dim : param.getFileDims())
      entry->add_file_dims(dim);
    if (param.getAnyFileShape())
      entry->set_any_file_shape(true);
    auto filler = param.getFiller();
    entry->set_filler(filler ? filler->getFiller().SerializeAsString() : "");
    entry->set_lr_mult(param.getLrMult().convertToFloat());
    entry->set_decay_mult(param.getDecayMult().convertToFloat());
    if (auto shared = param.getSharedName())
      entry->set_shared_name(shared->str());
    if (auto sharers = param.getSharers())
      for (auto sharer : sharers->getAsRange<SharerAttr>()) {
        plan::Parameter::Sharer *sharerEntry = entry->add_sharers();
        sharerEntry->set_layer(sharer.getLayer().str());
        sharerEntry->set_layer_type(sharer.getLayerType().str());
        sharerEntry->set_index(sharer.getIndex());
        for (int64_t dim : param.getFileDims())
          sharerEntry->add_file_dims(dim);
      }
    entry->set_source_location(brew::compiler::sourceOf(param.getLoc()).str());
  }
}

plan::Manifest
ManifestBuilder::build(const brew::compiler::PlanMetadata &metadata) {
  manifest.set_producer("brewc " BREW_VERSION);
  manifest.set_net_name(metadata.netName);
  manifest.set_input_prototxt(metadata.input);
  inputTransforms = metadata.inputTransforms;
  addArenas();
  addKernels();
  addParameters();
  addPersistentState();
  for (auto program : module.getOps<ProgramOp>()) {
    auto found = metadata.records.find(program.getSymName().str());
    addProgram(program,
               found == metadata.records.end() ? nullptr : &found->second);
  }
  if (metadata.solver) {
    manifest.mutable_solver()->set_parameter(
        metadata.solver->SerializeAsString());
    manifest.mutable_solver()->set_folder(metadata.solverFolder);
  }
  if (!metadata.initialWeights.empty()) {
    manifest.set_initial_weights(metadata.initialWeights);
    manifest.set_initial_weights_folder(metadata.initialWeightsFolder);
  }
  manifest.mutable_target()->set_precision(metadata.f64 ? plan::F64
                                                        : plan::F32);
  return std::move(manifest);
}

plan::Manifest
brew::compiler::buildManifest(ModuleOp module,
                              const std::vector<plan::Kernel> &kernels,
                              const PlanMetadata &metadata) {
  return ManifestBuilder(module, kernels).build(metadata);
}
