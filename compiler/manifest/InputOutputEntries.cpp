//===- InputOutputEntries.cpp - Inputs and outputs in a plan file ---------===//
#include "compiler/PassDiagnostics.h"
#include "compiler/manifest/ManifestBuilder.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include "compiler/ManifestInterface.cpp.inc"

using namespace mlir;
using namespace brew::dialects::plan;
using brew::compiler::ManifestBuilder;
using brew::compiler::ManifestInterface;
namespace plan = brew::plan;

namespace {

struct DataInputEntry
    : ManifestInterface::ExternalModel<DataInputEntry, DataInputOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto input = cast<DataInputOp>(op);
    plan::DataInput *entry = program.add_data_inputs();
    entry->set_layer(input.getConfig().getLayer().SerializeAsString());
    entry->set_folder(input.getFolder().str());
    entry->set_source_location(brew::compiler::sourceOf(input.getLoc()).str());
    for (Value value : input.getBuffers())
      entry->add_buffer_indices(builder.buffer(value));
    if (const plan::InputTransform *transform =
            builder.inputTransform(input.getConfig().getLayer().name()))
      *entry->mutable_transform() = *transform;
    if (auto kernel = input.getPixelKernel())
      addPixelConversion(input, builder, *kernel,
                         *entry->mutable_pixel_conversion());
    if (input.getImageSizesVary())
      entry->set_image_sizes_vary(true);
  }

  static void addPixelConversion(DataInputOp input, ManifestBuilder &builder,
                                 StringRef kernel,
                                 plan::PixelConversion &entry) {
    entry.set_kernel_index(builder.kernelIndexOf(kernel));
    auto image = cast<RankedTensorType>(
        builder.kernelOf(kernel).getBody().getArgument(0).getType());
    for (int64_t dim : image.getShape().take_back(2))
      entry.add_image_dims(dim);
    if (auto dims = input.getMeanDims())
      entry.mutable_mean_dims()->Add(dims->begin(), dims->end());
  }
};

struct RandomKeyEntry
    : ManifestInterface::ExternalModel<RandomKeyEntry, RandomKeyOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto key = cast<RandomKeyOp>(op);
    plan::RandomKey *entry = program.add_random_keys();
    entry->set_layer(key.getLayer().str());
    entry->set_buffer_index(builder.buffer(key.getBuffer()));
  }
};

struct OutputGradientEntry
    : ManifestInterface::ExternalModel<OutputGradientEntry, OutputGradientOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto outputGradient = cast<OutputGradientOp>(op);
    plan::NamedBuffer *entry = program.add_output_gradients();
    entry->set_name(outputGradient.getBlob().str());
    entry->set_buffer_index(builder.buffer(outputGradient.getBuffer()));
  }
};

struct OutputEntry : ManifestInterface::ExternalModel<OutputEntry, OutputOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto output = cast<OutputOp>(op);
    plan::Output *entry = output.getUnreported()
                              ? program.add_unreported_losses()
                              : program.add_outputs();
    entry->set_blob(output.getBlob().str());
    entry->set_buffer_index(builder.buffer(output.getBuffer()));
    entry->set_loss_weight(output.getLossWeight().convertToFloat());
  }
};

struct PinEntry : ManifestInterface::ExternalModel<PinEntry, PinOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto pin = cast<PinOp>(op);
    plan::NamedBuffer *entry = listOf(pin.getKind(), program).Add();
    entry->set_name(pin.getBlob().str());
    entry->set_buffer_index(builder.buffer(pin.getBuffer()));
  }

  static google::protobuf::RepeatedPtrField<plan::NamedBuffer> &
  listOf(BlobValue kind, plan::Program &program) {
    switch (kind) {
    case BlobValue::Data:
      return *program.mutable_blobs();
    case BlobValue::Diff:
      return *program.mutable_blob_gradients();
    case BlobValue::Count:
      return *program.mutable_item_counts();
    }
    llvm_unreachable("not a value of a blob");
  }
};

struct PinLayerValueEntry
    : ManifestInterface::ExternalModel<PinLayerValueEntry, PinLayerValueOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto pin = cast<PinLayerValueOp>(op);
    plan::Layer *entry = program.mutable_layers(pin.getLayer());
    if (pin.getKind() == LayerValue::Top) {
      entry->add_top_buffer_indices(builder.buffer(pin.getBuffer()));
      return;
    }
    plan::Layer::BottomGradient *gradient = entry->add_bottom_gradients();
    gradient->set_bottom(pin.getIndex());
    gradient->set_buffer_index(builder.buffer(pin.getBuffer()));
  }
};

struct CheckEntry
    : ManifestInterface::ExternalModel<CheckEntry, CheckLabelsOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto check = cast<CheckLabelsOp>(op);
    plan::Check *entry = program.add_checks();
    entry->set_kind(plan::Check::LABEL_RANGE);
    entry->set_status_buffer_index(builder.buffer(check.getStatus()));
    entry->set_values_buffer_index(builder.buffer(check.getLabels()));
    entry->set_limit(check.getLimit());
    entry->set_layer(check.getLayer().str());
    entry->set_blob(check.getBlob().str());
    entry->set_source_location(brew::compiler::sourceOf(check.getLoc()).str());
  }
};

} // namespace

void brew::compiler::attachInputOutputEntries(MLIRContext &context) {
  DataInputOp::attachInterface<DataInputEntry>(context);
  RandomKeyOp::attachInterface<RandomKeyEntry>(context);
  OutputGradientOp::attachInterface<OutputGradientEntry>(context);
  OutputOp::attachInterface<OutputEntry>(context);
  PinOp::attachInterface<PinEntry>(context);
  PinLayerValueOp::attachInterface<PinLayerValueEntry>(context);
  CheckLabelsOp::attachInterface<CheckEntry>(context);
}

void brew::compiler::registerManifestEntries(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, PlanDialect *) {
    attachStepEntries(*context);
    attachInputOutputEntries(*context);
  });
}
