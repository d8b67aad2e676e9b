//===- ManifestPrograms.cpp - Programs in a plan file ---------------------===//
#include "compiler/manifest/ManifestBuilder.h"

#include "support/Error.h"

using namespace mlir;
using namespace brew::dialects::plan;
using brew::compiler::ManifestBuilder;
namespace plan = brew::plan;
namespace caffe = brew::caffe;

plan::Step &ManifestBuilder::addStep(StepInterface op, plan::Program &program) {
  plan::Step &step = *program.add_steps();
  if (ArrayAttr layers = op.getLayersAttr())
    for (auto layer : layers.getAsRange<StringAttr>())
      step.add_layers(layer.str());
  step.set_backward(op.getBackward());
  if (op.getRematerialized())
    step.set_rematerialized(true);
  if (IntegerAttr flops = op.getFlopsAttr())
    step.set_flops(flops.getInt());
  return step;
}

uint64_t ManifestBuilder::bytesOf(ValueRange buffers) {
  uint64_t bytes = 0;
  for (Value value : buffers) {
    // Exclude the gaps between the rows of a slice of a concatenated blob.
    const auto type = cast<MemRefType>(value.getType());
    const uint64_t elements = llvm::divideCeil(
        type.getNumElements() * type.getElementTypeBitWidth(), 8);
    bytes +=
        std::min<uint64_t>(manifest.buffers(buffer(value)).size(), elements);
  }
  return bytes;
}

void ManifestBuilder::addLayers(ProgramOp program,
                                const brew::prototxt::NetMetadata &record,
                                plan::Program &out) {
  out.set_source(record.source);
  for (const std::string &line : record.ruleLines)
    out.add_filter_log_lines(line);
  DictionaryAttr blobs = program.getBlobsAttr();
  for (const brew::prototxt::LayerMetadata &layer : record.layers) {
    plan::Layer *to = out.add_layers();
    to->set_name(layer.name);
    to->set_type(layer.type);
    to->set_needs_backward(layer.needsBackward);
    if (!layer.location.empty())
      to->set_source_location(layer.location);
    for (const std::string &bottom : layer.bottoms)
      to->add_bottoms(bottom);
    for (const std::string &top : layer.tops)
      to->add_tops(top);
    for (float weight : layer.lossWeights)
      to->add_loss_weights(weight);
    for (const std::string &line : layer.sharingLines)
      to->add_sharing_log_lines(line);
    for (const std::string &blob : layer.shapedLike) {
      plan::Shape *shape = to->add_shapes();
      if (auto dims = blobs ? blobs.getAs<DenseI64ArrayAttr>(blob) : nullptr)
        shape->mutable_dims()->Add(dims.asArrayRef().begin(),
                                   dims.asArrayRef().end());
    }
  }
}

void ManifestBuilder::addProgram(ProgramOp program,
                                 const brew::prototxt::NetMetadata *record) {
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
    if (isa<BufferOp>(op))
      continue; // added when another entry refers to it
    auto entry = dyn_cast<brew::compiler::ManifestInterface>(op);
    if (!entry)
      throw brew::Error(brew::ExitStatus::Bug,
                        "operation " + op.getName().getStringRef().str() +
                            " has no entry in a plan file");
    entry.addToManifest(*this, *out);
  }
  // Outputs can be read by name without being pinned.
  for (const auto *outputs : {&out->outputs(), &out->unreported_losses()})
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
