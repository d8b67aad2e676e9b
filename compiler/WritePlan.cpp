//===- WritePlan.cpp - From the plan dialect to a plan file
//----------------===//
#include "compiler/WritePlan.h"

#include "compiler/CallWindow.h"

#include "dialects/Plan/PlanDialect.h"
#include "formats/Error.h"
#include "passes/ParameterPlaces.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <google/protobuf/text_format.h>

#include <map>
#include <tuple>

using namespace mlir;
using namespace brew::planir;
namespace plan = brew::plan;

namespace {

/// FILE:LINE:COL of the first prototxt place in a location.
std::string placeOf(Location loc) {
  std::string text;
  loc->walk([&](Location each) {
    auto file = dyn_cast<FileLineColLoc>(each);
    if (!file)
      return WalkResult::advance();
    text = file.getFilename().str() + ":" + std::to_string(file.getLine()) +
           ":" + std::to_string(file.getColumn());
    return WalkResult::interrupt();
  });
  return text;
}

plan::DataType dataTypeOf(Type type) {
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

/// Builds the manifest piece by piece.
class ManifestBuilder {
public:
  ManifestBuilder(ModuleOp module, const std::vector<plan::Kernel> &kernels)
      : module(module), symbols(module), kernels(kernels) {}

  plan::Manifest build(const brew::compiler::PlanInfo &info);

private:
  void addArenas();
  void addKernels();
  void addParameters();
  void addCarried();
  void addProgram(ProgramOp program, const brew::prototxt::NetRecord *record);
  void addLayers(ProgramOp program, const brew::prototxt::NetRecord &record,
                 plan::Program &out);
  void addDebugBuffer(KeepOp keep, plan::Program &out);
  void addStep(Operation *op, plan::Program &out);
  unsigned buffer(StringRef name, StringRef arena, uint64_t offset,
                  MemRefType type, int program);
  unsigned buffer(Value value);

  ModuleOp module;
  SymbolTable symbols;
  const std::vector<plan::Kernel> &kernels;
  plan::Manifest manifest;
  llvm::StringMap<unsigned> arenas;
  llvm::StringMap<unsigned> kernelIndex;
  std::map<std::tuple<std::string, uint64_t, std::string, const void *, int>,
           unsigned>
      known;
  int currentProgram = -1;
};

void ManifestBuilder::addArenas() {
  for (auto arena : module.getOps<ArenaOp>()) {
    arenas[arena.getSymName()] = manifest.arenas_size();
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

unsigned ManifestBuilder::buffer(StringRef name, StringRef arena,
                                 uint64_t offset, MemRefType type,
                                 int program) {
  auto key = std::tuple(arena.str(), offset, name.str(),
                        type.getAsOpaquePointer(), program);
  auto [it, isNew] = known.try_emplace(key, manifest.buffers_size());
  if (!isNew)
    return it->second;
  plan::Buffer *out = manifest.add_buffers();
  out->set_name(name.str());
  out->set_arena_index(arenas.lookup(arena));
  out->set_offset(offset);
  out->set_type(dataTypeOf(type.getElementType()));
  SmallVector<int64_t> strides;
  int64_t start;
  if (failed(type.getStridesAndOffset(strides, start)))
    throw brew::Error(brew::ExitStatus::Bug, "a buffer has no strides");
  int64_t last = 0;
  for (auto [dim, stride] : llvm::zip(type.getShape(), strides)) {
    out->add_dims(dim);
    out->add_strides(stride);
    last += (dim - 1) * stride;
  }
  out->set_size((last + 1) *
                llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  if (program >= 0)
    out->set_program_index(program);
  return it->second;
}

unsigned ManifestBuilder::buffer(Value value) {
  auto op = value.getDefiningOp<BufferOp>();
  auto arena = symbols.lookup<ArenaOp>(op.getArena());
  bool transient = arena.getKind() == ArenaKind::Transient;
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
  return index;
}

void ManifestBuilder::addCarried() {
  auto carried = module->getAttrOfType<DictionaryAttr>(brew::kCarriedAttr);
  if (!carried)
    return;
  for (NamedAttribute state : carried) {
    auto place = cast<ArrayAttr>(state.getValue());
    plan::NamedBuffer *out = manifest.add_carried();
    out->set_name(state.getName().str());
    out->set_buffer_index(buffer(
        state.getName(), "parameters", cast<IntegerAttr>(place[1]).getInt(),
        cast<MemRefType>(cast<TypeAttr>(place[0]).getValue()), -1));
  }
}

void ManifestBuilder::addParameters() {
  // By their place in the arena, which is their parameter's.
  llvm::DenseSet<uint64_t> gradients;
  module.walk([&](BufferOp buffer) {
    if (buffer.getArena() == "gradients")
      gradients.insert(buffer.getOffset());
  });
  // State slots lie one parameter arena apart.
  uint64_t slotSize = 0;
  if (auto arena = symbols.lookup<ArenaOp>("parameters"))
    slotSize = arena.getSize();
  for (auto param : module.getOps<ParamOp>()) {
    auto type = cast<MemRefType>(param.getType());
    std::string name = param.getSymName().str();
    plan::Parameter *out = manifest.add_parameters();
    out->set_layer(param.getLayer().str());
    out->set_layer_type(param.getLayerType().str());
    out->set_index(param.getIndex());
    out->set_buffer_index(
        buffer(name, "parameters", param.getOffset(), type, -1));
    if (gradients.contains(param.getOffset()) ||
        (arenas.count("gradients") && !param.getLrMult().isZero()))
      out->set_gradient_buffer_index(
          buffer(name + ".gradient", "gradients", param.getOffset(), type, -1));
    for (uint64_t slot = 0; slot < param.getStateSlots(); ++slot)
      out->add_state_buffer_indices(
          buffer(name + ".history" + std::to_string(slot), "state",
                 slot * slotSize + param.getOffset(), type, -1));
    for (int64_t dim : param.getFileDims())
      out->add_file_dims(dim);
    caffe::FillerParameter filler;
    if (!google::protobuf::TextFormat::ParseFromString(param.getFiller().str(),
                                                       &filler))
      throw brew::Error(brew::ExitStatus::Bug,
                        "parameter " + name + " has an unreadable filler");
    out->set_filler(filler.SerializeAsString());
    out->set_lr_mult(param.getLrMult().convertToFloat());
    out->set_decay_mult(param.getDecayMult().convertToFloat());
    if (auto shared = param.getSharedName())
      out->set_shared_name(shared->str());
    if (auto sharers = param.getSharers())
      for (auto [i, sharer] :
           llvm::enumerate(sharers->getAsRange<StringAttr>())) {
        auto [layer, index] = sharer.getValue().rsplit('/');
        plan::Parameter::Sharer *other = out->add_sharers();
        other->set_layer(layer.str());
        if (auto types = param.getSharerTypes())
          other->set_layer_type(cast<StringAttr>((*types)[i]).str());
        other->set_index(std::stoul(index.str()));
        for (int64_t dim : param.getFileDims())
          other->add_file_dims(dim);
      }
    out->set_source_location(placeOf(param.getLoc()));
  }
}

/// Sets the fields all steps have.
template <typename Op> void describe(Op op, plan::Step &step) {
  if (auto layers = op.getLayers())
    for (auto layer : layers->template getAsRange<StringAttr>())
      step.add_layers(layer.str());
  step.set_backward(op.getBackward());
  if (auto flops = op.getFlops())
    step.set_flops(*flops);
}

void ManifestBuilder::addStep(Operation *op, plan::Program &out) {
  auto bytesOf = [&](ValueRange values) {
    uint64_t bytes = 0;
    for (Value value : values)
      if (value)
        bytes += manifest.buffers(buffer(value)).size();
    return bytes;
  };
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    plan::Step *step = out.add_steps();
    describe(launch, *step);
    auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
    unsigned inputs = kernel.getBody().front().getNumArguments();
    plan::Launch *to = step->mutable_launch();
    to->set_kernel_index(kernelIndex.lookup(launch.getKernel()));
    for (auto [i, value] : llvm::enumerate(launch.getBuffers()))
      if (i < inputs || kernel.getInPlace()[i - inputs] < 0)
        to->add_buffer_indices(buffer(value));
      else
        buffer(value); // listed, though the kernel gets it as an input
    const plan::Kernel &generated = manifest.kernels(to->kernel_index());
    step->set_flops(generated.flops());
    step->set_bytes(generated.bytes());
  } else if (auto conv = dyn_cast<ConvolutionOp>(op)) {
    plan::Step *step = out.add_steps();
    describe(conv, *step);
    step->set_bytes(bytesOf(conv->getOperands()));
    plan::ConvolutionCall *to = step->mutable_convolution();
    to->set_direction(static_cast<plan::Direction>(conv.getDirection()));
    brew::compiler::setWindow(conv, *to->mutable_window());
    to->set_group(conv.getGroup());
    to->set_x_buffer_index(buffer(conv.getX()));
    to->set_w_buffer_index(buffer(conv.getW()));
    if (conv.getB())
      to->set_b_buffer_index(buffer(conv.getB()));
    to->set_y_buffer_index(buffer(conv.getY()));
    if (auto slope = conv.getRelu()) {
      to->mutable_epilogue()->set_relu(true);
      to->mutable_epilogue()->set_negative_slope(slope->convertToFloat());
    }
  } else if (auto ip = dyn_cast<InnerProductOp>(op)) {
    plan::Step *step = out.add_steps();
    describe(ip, *step);
    step->set_bytes(bytesOf(ip->getOperands()));
    plan::InnerProductCall *to = step->mutable_inner_product();
    to->set_direction(static_cast<plan::Direction>(ip.getDirection()));
    to->set_x_buffer_index(buffer(ip.getX()));
    to->set_w_buffer_index(buffer(ip.getW()));
    if (ip.getB())
      to->set_b_buffer_index(buffer(ip.getB()));
    to->set_y_buffer_index(buffer(ip.getY()));
    to->set_transpose(ip.getTranspose());
    to->set_axis(ip.getAxis());
    if (auto slope = ip.getRelu()) {
      to->mutable_epilogue()->set_relu(true);
      to->mutable_epilogue()->set_negative_slope(slope->convertToFloat());
    }
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    plan::Step *step = out.add_steps();
    describe(copy, *step);
    step->set_bytes(bytesOf(copy->getOperands()));
    step->mutable_copy()->set_source_buffer_index(buffer(copy.getSource()));
    step->mutable_copy()->set_target_buffer_index(buffer(copy.getTarget()));
  }
}

void ManifestBuilder::addLayers(ProgramOp program,
                                const brew::prototxt::NetRecord &record,
                                plan::Program &out) {
  out.set_source(record.source);
  for (const std::string &line : record.rules)
    out.add_rule_lines(line);
  DictionaryAttr blobs = program.getBlobsAttr();
  for (const brew::prototxt::RecordedLayer &layer : record.layers) {
    plan::Layer *to = out.add_layers();
    to->set_name(layer.name);
    to->set_type(layer.type);
    to->set_needs_backward(layer.needsBackward);
    for (const std::string &bottom : layer.bottoms)
      to->add_bottoms(bottom);
    for (const std::string &top : layer.tops)
      to->add_tops(top);
    for (float weight : layer.lossWeights)
      to->add_loss_weights(weight);
    for (const std::string &line : layer.sharing)
      to->add_sharing_lines(line);
    for (const std::string &blob : layer.shapedLike) {
      plan::Shape *shape = to->add_shapes();
      if (auto dims = blobs ? blobs.getAs<DenseI64ArrayAttr>(blob) : nullptr)
        shape->mutable_dims()->Add(dims.asArrayRef().begin(),
                                   dims.asArrayRef().end());
    }
  }
}

/// A value that debug_info shows; its name is LAYER/INDEX.
void ManifestBuilder::addDebugBuffer(KeepOp keep, plan::Program &out) {
  auto [layer, index] = keep.getName().split('/');
  plan::Layer *to = out.mutable_layers(std::stoi(layer.str()));
  if (keep.getWhat() == "top") {
    to->add_top_buffer_indices(buffer(keep.getBuffer()));
    return;
  }
  plan::Layer::BottomGradient *gradient = to->add_bottom_gradients();
  gradient->set_bottom(std::stoul(index.str()));
  gradient->set_buffer_index(buffer(keep.getBuffer()));
}

void ManifestBuilder::addProgram(ProgramOp program,
                                 const brew::prototxt::NetRecord *record) {
  currentProgram = manifest.programs_size();
  plan::Program *out = manifest.add_programs();
  out->set_name(program.getSymName().str());
  out->set_test_phase(program.getTestPhase());
  if (record)
    addLayers(program, *record, *out);
  out->mutable_memory()->set_arena_bytes(program.getArenaBytes());
  out->mutable_memory()->set_lower_bound_bytes(program.getLowerBoundBytes());
  out->mutable_memory()->set_caffe_bytes(program.getCaffeBytes());
  for (Operation &op : program.getBody().front()) {
    if (auto feed = dyn_cast<FeedOp>(op)) {
      caffe::LayerParameter layer;
      if (!google::protobuf::TextFormat::ParseFromString(feed.getConfig().str(),
                                                         &layer))
        throw brew::Error(brew::ExitStatus::Bug,
                          "layer " + feed.getLayer().str() +
                              " has an unreadable configuration");
      plan::Feed *to = out->add_feeds();
      to->set_layer(layer.SerializeAsString());
      to->set_folder(feed.getFolder().str());
      to->set_source_location(placeOf(feed.getLoc()));
      for (Value value : feed.getBuffers())
        to->add_buffer_indices(buffer(value));
      if (auto kernel = feed.getPixels()) {
        plan::PixelConversion *pixels = to->mutable_pixels();
        pixels->set_kernel_index(kernelIndex.lookup(*kernel));
        auto image =
            cast<RankedTensorType>(module.lookupSymbol<KernelOp>(*kernel)
                                       .getBody()
                                       .getArgument(0)
                                       .getType());
        for (int64_t dim : image.getShape().take_back(2))
          pixels->add_image_dims(dim);
        if (auto dims = feed.getMeanDims())
          pixels->mutable_mean_dims()->Add(dims->begin(), dims->end());
      }
    } else if (auto output = dyn_cast<OutputOp>(op)) {
      plan::Output *to =
          output.getInner() ? out->add_inner_losses() : out->add_outputs();
      to->set_blob(output.getBlob().str());
      to->set_buffer_index(buffer(output.getBuffer()));
      to->set_loss_weight(output.getLossWeight().convertToFloat());
    } else if (auto keep = dyn_cast<KeepOp>(op);
               keep &&
               (keep.getWhat() == "top" || keep.getWhat() == "bottom_diff")) {
      addDebugBuffer(keep, *out);
    } else if (auto keep = dyn_cast<KeepOp>(op)) {
      plan::NamedBuffer *to = keep.getWhat() == "data" ? out->add_blobs()
                              : keep.getWhat() == "count"
                                  ? out->add_item_counts()
                                  : out->add_blob_gradients();
      to->set_name(keep.getName().str());
      to->set_buffer_index(buffer(keep.getBuffer()));
    } else if (auto check = dyn_cast<CheckLabelsOp>(op)) {
      plan::Check *to = out->add_checks();
      to->set_kind(plan::Check::LABEL_RANGE);
      to->set_status_buffer_index(buffer(check.getStatus()));
      to->set_values_buffer_index(buffer(check.getLabels()));
      to->set_limit(check.getLimit());
      to->set_layer(check.getLayer().str());
      to->set_blob(check.getBlob().str());
      to->set_source_location(placeOf(check.getLoc()));
    } else {
      addStep(&op, *out);
    }
  }
  // Outputs can be read by name without having been pinned.
  for (const auto *outputs : {&out->outputs(), &out->inner_losses()})
    for (const plan::Output &output : *outputs)
      if (llvm::none_of(out->blobs(), [&](const plan::NamedBuffer &blob) {
            return blob.name() == output.blob();
          })) {
        plan::NamedBuffer *to = out->add_blobs();
        to->set_name(output.blob());
        to->set_buffer_index(output.buffer_index());
      }
  int first = 0;
  while (first < out->steps_size() && !out->steps(first).backward())
    ++first;
  out->set_first_backward_step(first);
}

plan::Manifest ManifestBuilder::build(const brew::compiler::PlanInfo &info) {
  manifest.set_producer("brewc " BREW_VERSION);
  manifest.set_net_name(info.netName);
  addArenas();
  addKernels();
  addParameters();
  addCarried();
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

} // namespace

plan::Manifest
brew::compiler::buildManifest(ModuleOp module,
                              const std::vector<plan::Kernel> &kernels,
                              const PlanInfo &info) {
  return ManifestBuilder(module, kernels).build(info);
}
