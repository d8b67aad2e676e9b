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
                                           "plans cannot hold");
}

void ManifestBuilder::addArenas() {
  for (auto arena : module.getOps<ArenaOp>()) {
    arenas[arena.getKind()] = manifest.arenas_size();
    plan::Arena *out = manifest.add_arenas();
    out->set_kind(static_cast<plan::ArenaKind>(arena.getKind()));
    out->set_size(arena.getSize());
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
  auto [it, isNew] = known.try_emplace(key, manifest.buffers_size());
  if (!isNew)
    return it->second;
  plan::Buffer *out = manifest.add_buffers();
  out->set_name(name.str());
  out->set_arena_index(arenas.at(arena));
  out->set_offset(offset);
  setBufferType(type, *out);
  if (program >= 0)
    out->set_program_index(program);
  return it->second;
}

unsigned ManifestBuilder::buffer(Value value) {
  auto op = value.getDefiningOp<BufferOp>();
  // Transient values may reuse the gradients' memory.
  bool transient = op.getArena() == ArenaKind::Transient || op.getLive();
  unsigned index =
      buffer(op.getName(), op.getArena(), op.getOffset(),
             cast<MemRefType>(op.getType()), transient ? currentProgram : -1);
  plan::Buffer *out = manifest.mutable_buffers(index);
  if (auto live = op.getLive()) {
    out->set_first_step((*live)[0]);
    out->set_last_step((*live)[1]);
  }
  if (op.getPinned())
    out->set_pinned(true);
  if (auto channels = op.getPadded()) {
    // Include the gap after the last element.
    const auto type = cast<MemRefType>(op.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = *channels;
    out->set_zero_gaps(true);
    out->set_size(llvm::divideCeil(
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
    auto place = cast<ArrayAttr>(state.getValue());
    plan::NamedBuffer *out = manifest.add_persistent();
    out->set_name(state.getName().str());
    out->set_buffer_index(
        buffer(state.getName(), ArenaKind::Parameters,
               cast<IntegerAttr>(place[1]).getInt(),
               cast<MemRefType>(cast<TypeAttr>(place[0]).getValue()), -1));
  }
}

void ManifestBuilder::addParameters() {
  // Gradients by their offset in the arena, which equals their parameter's.
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
    plan::Parameter *out = manifest.add_parameters();
    out->set_layer(param.getLayer().str());
    out->set_layer_type(param.getLayerType().str());
    out->set_index(param.getIndex());
    out->set_buffer_index(
        buffer(name, ArenaKind::Parameters, param.getOffset(), type, -1));
    if (gradients.contains(param.getOffset()) ||
        (arenas.count(ArenaKind::Gradients) && !param.getLrMult().isZero()))
      out->set_gradient_buffer_index(buffer(name + ".gradient",
                                            ArenaKind::Gradients,
                                            param.getOffset(), type, -1));
    for (uint64_t slot = 0; slot < param.getStateSlots(); ++slot)
      out->add_state_buffer_indices(buffer(
          name + ".history" + std::to_string(slot), ArenaKind::State,
          plan::stateOffset(slot, slotSize, param.getOffset()), type, -1));
    for (int64_t dim : param.getFileDims())
      out->add_file_dims(dim);
    auto filler = param.getFiller();
    out->set_filler(filler ? filler->getFiller().SerializeAsString() : "");
    out->set_lr_mult(param.getLrMult().convertToFloat());
    out->set_decay_mult(param.getDecayMult().convertToFloat());
    if (auto shared = param.getSharedName())
      out->set_shared_name(shared->str());
    if (auto sharers = param.getSharers())
      for (auto sharer : sharers->getAsRange<SharerAttr>()) {
        plan::Parameter::Sharer *other = out->add_sharers();
        other->set_layer(sharer.getLayer().str());
        other->set_layer_type(sharer.getLayerType().str());
        other->set_index(sharer.getIndex());
        for (int64_t dim : param.getFileDims())
          other->add_file_dims(dim);
      }
    out->set_source_location(brew::compiler::sourceOf(param.getLoc()).str());
  }
}

plan::Manifest
ManifestBuilder::build(const brew::compiler::PlanMetadata &info) {
  manifest.set_producer("brewc " BREW_VERSION);
  manifest.set_net_name(info.netName);
  manifest.set_input_prototxt(info.input);
  addArenas();
  addKernels();
  addParameters();
  addPersistentState();
  for (auto program : module.getOps<ProgramOp>()) {
    auto record = info.records.find(program.getSymName().str());
    addProgram(program,
               record == info.records.end() ? nullptr : &record->second);
  }
  if (info.solver) {
    manifest.mutable_solver()->set_parameter(info.solver->SerializeAsString());
    manifest.mutable_solver()->set_folder(info.solverFolder);
  }
  if (!info.initialWeights.empty()) {
    manifest.set_initial_weights(info.initialWeights);
    manifest.set_initial_weights_folder(info.initialWeightsFolder);
  }
  manifest.mutable_target()->set_precision(info.f64 ? plan::F64 : plan::F32);
  return std::move(manifest);
}

plan::Manifest
brew::compiler::buildManifest(ModuleOp module,
                              const std::vector<plan::Kernel> &kernels,
                              const PlanMetadata &info) {
  return ManifestBuilder(module, kernels).build(info);
}
