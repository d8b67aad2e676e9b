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
    plan::DataInput *to = program.add_data_inputs();
    to->set_layer(input.getConfig().getLayer().SerializeAsString());
    to->set_folder(input.getFolder().str());
    to->set_source_location(brew::compiler::sourceOf(input.getLoc()).str());
    for (Value value : input.getBuffers())
      to->add_buffer_indices(builder.buffer(value));
    if (auto kernel = input.getPixelKernel())
      addPixels(input, builder, *kernel, *to->mutable_pixel_conversion());
  }

  static void addPixels(DataInputOp input, ManifestBuilder &builder,
                        StringRef kernel, plan::PixelConversion &to) {
    to.set_kernel_index(builder.kernelIndexOf(kernel));
    auto image = cast<RankedTensorType>(
        builder.kernelOf(kernel).getBody().getArgument(0).getType());
    for (int64_t dim : image.getShape().take_back(2))
      to.add_image_dims(dim);
    if (auto dims = input.getMeanDims())
      to.mutable_mean_dims()->Add(dims->begin(), dims->end());
  }
};

struct SeedEntry
    : ManifestInterface::ExternalModel<SeedEntry, OutputGradientOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto outputGradient = cast<OutputGradientOp>(op);
    plan::NamedBuffer *to = program.add_output_gradients();
    to->set_name(outputGradient.getBlob().str());
    to->set_buffer_index(builder.buffer(outputGradient.getBuffer()));
  }
};

struct OutputEntry : ManifestInterface::ExternalModel<OutputEntry, OutputOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto output = cast<OutputOp>(op);
    plan::Output *to = output.getUnreported() ? program.add_unreported_losses()
                                              : program.add_outputs();
    to->set_blob(output.getBlob().str());
    to->set_buffer_index(builder.buffer(output.getBuffer()));
    to->set_loss_weight(output.getLossWeight().convertToFloat());
  }
};

struct KeepEntry : ManifestInterface::ExternalModel<KeepEntry, PinOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto pin = cast<PinOp>(op);
    plan::NamedBuffer *to = listOf(pin.getKind(), program).Add();
    to->set_name(pin.getBlob().str());
    to->set_buffer_index(builder.buffer(pin.getBuffer()));
  }

  static google::protobuf::RepeatedPtrField<plan::NamedBuffer> &
  listOf(BlobValue what, plan::Program &program) {
    switch (what) {
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

struct KeepLayerEntry
    : ManifestInterface::ExternalModel<KeepLayerEntry, PinLayerValueOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto pin = cast<PinLayerValueOp>(op);
    plan::Layer *to = program.mutable_layers(pin.getLayer());
    if (pin.getKind() == LayerValue::Top) {
      to->add_top_buffer_indices(builder.buffer(pin.getBuffer()));
      return;
    }
    plan::Layer::BottomGradient *gradient = to->add_bottom_gradients();
    gradient->set_bottom(pin.getIndex());
    gradient->set_buffer_index(builder.buffer(pin.getBuffer()));
  }
};

struct CheckEntry
    : ManifestInterface::ExternalModel<CheckEntry, CheckLabelsOp> {
  void addToManifest(Operation *op, ManifestBuilder &builder,
                     plan::Program &program) const {
    auto check = cast<CheckLabelsOp>(op);
    plan::Check *to = program.add_checks();
    to->set_kind(plan::Check::LABEL_RANGE);
    to->set_status_buffer_index(builder.buffer(check.getStatus()));
    to->set_values_buffer_index(builder.buffer(check.getLabels()));
    to->set_limit(check.getLimit());
    to->set_layer(check.getLayer().str());
    to->set_blob(check.getBlob().str());
    to->set_source_location(brew::compiler::sourceOf(check.getLoc()).str());
  }
};

} // namespace

void brew::compiler::attachInputOutputEntries(MLIRContext &context) {
  DataInputOp::attachInterface<DataInputEntry>(context);
  OutputGradientOp::attachInterface<SeedEntry>(context);
  OutputOp::attachInterface<OutputEntry>(context);
  PinOp::attachInterface<KeepEntry>(context);
  PinLayerValueOp::attachInterface<KeepLayerEntry>(context);
  CheckLabelsOp::attachInterface<CheckEntry>(context);
}

void brew::compiler::registerManifestEntries(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, PlanDialect *) {
    attachStepEntries(*context);
    attachInputOutputEntries(*context);
  });
}
