//===- WriteProgram.cpp - The programs of a plan file ---------------------===//
#include "compiler/ManifestBuilder.h"

#include "compiler/CallWindow.h"

#include "formats/Error.h"

#include "mlir/IR/BuiltinTypes.h"

#include <google/protobuf/text_format.h>

using namespace mlir;
using namespace brew::planir;
using brew::compiler::ManifestBuilder;
namespace plan = brew::plan;
namespace caffe = brew::caffe;

/// Sets the fields all steps have.
template <typename Op> static void describe(Op op, plan::Step &step) {
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
      to->set_source_location(brew::compiler::placeOf(feed.getLoc()));
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
      to->set_source_location(brew::compiler::placeOf(check.getLoc()));
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
