//===- ManifestPrograms.cpp - Programs in a plan file ---------------------===//
#include "compiler/manifest/ManifestBuilder.h"

#include "passes/analysis/LayerPrograms.h"
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
                                const brew::prototxt::NetMetadata &metadata,
                                plan::Program &programEntry) {
  programEntry.set_source(metadata.source);
  for (const std::string &line : metadata.ruleLines)
    programEntry.add_filter_log_lines(line);
  DictionaryAttr blobs = program.getBlobsAttr();
  for (const brew::prototxt::LayerMetadata &layer : metadata.layers) {
    plan::Layer *entry = programEntry.add_layers();
    entry->set_name(layer.name);
    entry->set_type(layer.type);
    entry->set_needs_backward(layer.needsBackward);
    if (!layer.location.empty())
      entry->set_source_location(layer.location);
    for (const std::string &bottom : layer.bottoms)
      entry->add_bottoms(bottom);
    for (const std::string &top : layer.tops)
      entry->add_tops(top);
    for (float weight : layer.lossWeights)
      entry->add_loss_weights(weight);
    for (const std::string &line : layer.sharingLines)
      entry->add_sharing_log_lines(line);
    for (const std::string &blob : layer.shapedLike) {
      plan::Shape *shape = entry->add_shapes();
      if (auto dims = blobs ? blobs.getAs<DenseI64ArrayAttr>(blob) : nullptr)
        shape->mutable_dims()->Add(dims.asArrayRef().begin(),
                                   dims.asArrayRef().end());
    }
  }
}

void ManifestBuilder::addProgram(ProgramOp program,
                                 const brew::prototxt::NetMetadata *metadata) {
  currentProgram = manifest.programs_size();
  plan::Program *programEntry = manifest.add_programs();
  programEntry->set_name(program.getSymName().str());
  programEntry->set_test_phase(program.getTestPhase());
  if (auto reason =
          program->getAttrOfType<StringAttr>(brew::passes::kNoBackwardAttr))
    programEntry->set_no_backward(reason.str());
  if (metadata)
    addLayers(program, *metadata, *programEntry);
  programEntry->mutable_memory()->set_arena_bytes(program.getArenaBytes());
  programEntry->mutable_memory()->set_lower_bound_bytes(
      program.getLowerBoundBytes());
  programEntry->mutable_memory()->set_caffe_bytes(program.getCaffeBytes());
  for (Operation &op : program.getBody().front()) {
    if (isa<BufferOp>(op))
      continue; // added when another entry refers to it
    auto entry = dyn_cast<brew::compiler::ManifestInterface>(op);
    if (!entry)
      throw brew::Error(brew::ExitStatus::Bug,
                        "operation " + op.getName().getStringRef().str() +
                            " has no entry in a plan file");
    entry.addToManifest(*this, *programEntry);
  }
  // Outputs can be read by name without being pinned.
  for (const auto *outputs :
       {&programEntry->outputs(), &programEntry->unreported_losses()})
    for (const plan::Output &output : *outputs)
      if (llvm::none_of(programEntry->blobs(),
                        [&](const plan::NamedBuffer &blob) {
                          return blob.name() == output.blob();
                        })) {
        plan::NamedBuffer *blob = programEntry->add_blobs();
        blob->set_name(output.blob());
        blob->set_buffer_index(output.buffer_index());
      }
  int firstBackward = 0;
  while (firstBackward < programEntry->steps_size() &&
         !programEntry->steps(firstBackward).backward())
    ++firstBackward;
  programEntry->set_first_backward_step(firstBackward);
}
