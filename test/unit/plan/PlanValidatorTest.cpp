//===- PlanValidatorTest.cpp - One broken rule at a time ------------------===//
#include "PlanBuilder.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <ostream>

using namespace brew::plan;
using namespace brew::test;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// A change that makes completePlan() invalid.
struct BrokenRule {
  const char *name;
  std::function<void(Manifest &)> spoil;
  const char *message; // part of the expected text
};

void PrintTo(const BrokenRule &rule, std::ostream *out) { *out << rule.name; }

class PlanValidator : public testing::TestWithParam<BrokenRule> {};

TEST_P(PlanValidator, RefusesBrokenRule) {
  PlanBuilder builder = completePlan();
  builder.segments.back().resize(200); // for speed; never run
  fixedOffsets(builder.manifest, builder.segments);
  ASSERT_EQ(loadError(assemble(builder.manifest, builder.segments)), "");
  GetParam().spoil(builder.manifest);
  std::string error = loadError(assemble(builder.manifest, builder.segments));
  EXPECT_EQ(error.rfind("p.plan: damaged plan: ", 0), 0u) << error;
  EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
}

Buffer &buffer(Manifest &m, const char *name) {
  for (Buffer &found : *m.mutable_buffers())
    if (found.name() == name)
      return found;
  throw std::logic_error(name);
}
Arena &arena(Manifest &m, ArenaKind kind) {
  for (Arena &found : *m.mutable_arenas())
    if (found.kind() == kind)
      return found;
  throw std::logic_error("arena");
}
Program &program(Manifest &m) { return *m.mutable_programs(0); }
InputTransform &transform(Manifest &m) {
  return *program(m).mutable_data_inputs(0)->mutable_transform();
}
/// Adds a program that reads images of several sizes into half of "data", and
/// their labels. Returns its buffer of images.
Buffer &addImagesOfSeveralSizes(Manifest &m) {
  Program &images = *m.add_programs();
  images.set_name("images");
  images.set_first_backward_step(0);
  DataInput &input = *images.add_data_inputs();
  input.set_layer("");
  input.set_image_sizes_vary(true);
  const int first = m.buffers_size();
  for (const char *name : {"data", "label"}) {
    Buffer half = buffer(m, name);
    half.set_dims(0, 1);
    half.set_size(half.size() / 2);
    input.add_buffer_indices(static_cast<std::uint32_t>(m.buffers_size()));
    *m.add_buffers() = half;
  }
  return *m.mutable_buffers(first);
}
DataInput &imagesOfSeveralSizes(Manifest &m) {
  return *m.mutable_programs(m.programs_size() - 1)->mutable_data_inputs(0);
}
Parameter &weights(Manifest &m) { return *m.mutable_parameters(0); }

const BrokenRule kRules[] = {
    // target
    {"NoTarget", [](Manifest &m) { m.clear_target(); }, "target: missing"},
    {"NoTargetKind", [](Manifest &m) { m.mutable_target()->clear_kind(); },
     "kind is missing"},
    {"NoPrecision", [](Manifest &m) { m.mutable_target()->clear_precision(); },
     "precision is missing"},
    {"PrecisionU8", [](Manifest &m) { m.mutable_target()->set_precision(U8); },
     "neither F32 nor F64"},
    {"CpuWithCudaArch",
     [](Manifest &m) { m.mutable_target()->add_archs("sm_90"); },
     "a CPU has no CUDA architectures"},
    {"CpuWithMath",
     [](Manifest &m) { m.mutable_target()->set_math(Target::TF32); },
     "a CPU has no CUDA architectures"},
    // persistent state
    {"PersistentTwice",
     [](Manifest &m) { *m.add_persistent() = m.persistent(0); },
     "there is another of its name"},
    {"PersistentWithoutBuffer",
     [](Manifest &m) { m.mutable_persistent(0)->clear_buffer_index(); },
     "its buffer is missing"},
    {"PersistentInTransientMemory",
     [](Manifest &m) { m.mutable_persistent(0)->set_buffer_index(0); },
     "its buffer does not outlive programs"},
    {"PersistentBytes",
     [](Manifest &m) {
       const int buffer = static_cast<int>(m.persistent(0).buffer_index());
       m.mutable_buffers(buffer)->set_type(U8);
     },
     "its type is neither F32 nor F64"},
    // segments
    {"NoSegmentKind", [](Manifest &m) { m.mutable_segments(0)->clear_kind(); },
     "segment 0: kind is missing"},
    {"NoSegmentOffset",
     [](Manifest &m) { m.mutable_segments(0)->clear_offset(); },
     "offset or size is missing"},
    {"NoSegmentSize", [](Manifest &m) { m.mutable_segments(0)->clear_size(); },
     "offset or size is missing"},
    {"SegmentUnaligned",
     [](Manifest &m) {
       m.mutable_segments(0)->set_offset(m.segments(0).offset() + 8);
     },
     "offset is not a multiple of 64"},
    {"SegmentOverHeader",
     [](Manifest &m) { m.mutable_segments(0)->set_offset(0); },
     "overlaps the manifest"},
    {"SegmentOverSegment",
     [](Manifest &m) {
       m.mutable_segments(1)->set_offset(m.segments(0).offset());
     },
     "overlaps the manifest or the segment before"},
    {"SegmentBeyondFile",
     [](Manifest &m) {
       m.mutable_segments(2)->set_size(m.segments(2).size() + 1);
     },
     "beyond the end of the file"},
    {"SegmentSizeOverflows",
     [](Manifest &m) { m.mutable_segments(2)->set_size(~std::uint64_t(0)); },
     "beyond the end of the file"},
    {"SegmentOffsetOverflows",
     [](Manifest &m) {
       m.mutable_segments(2)->set_offset(~std::uint64_t(0) - 63);
     },
     "beyond the end of the file"},
    // arenas
    {"NoArenaKind", [](Manifest &m) { m.mutable_arenas(0)->clear_kind(); },
     "arena 0: kind is missing"},
    {"NoArenaSize", [](Manifest &m) { m.mutable_arenas(0)->clear_size(); },
     "size is missing"},
    {"ArenaAbsurd",
     [](Manifest &m) { m.mutable_arenas(0)->set_size(~std::uint64_t(0)); },
     "size is too large"},
    {"ArenaTwice", [](Manifest &m) { *m.add_arenas() = m.arenas(0); },
     "another arena of its kind"},
    {"ScalarsTooSmall",
     [](Manifest &m) {
       arena(m, SCALARS).set_size(SCALAR_COUNT * kAlignment - 1);
     },
     "too small for the solver's scalars"},
    {"ConstantsWithoutData",
     [](Manifest &m) { arena(m, CONSTANTS).clear_initial_segment_index(); },
     "initial segment is missing"},
    {"TransientWithData",
     [](Manifest &m) { arena(m, TRANSIENT).set_initial_segment_index(0); },
     "has no initial segment"},
    {"InitialSegmentMissing",
     [](Manifest &m) { arena(m, CONSTANTS).set_initial_segment_index(3); },
     "initial segment does not exist"},
    {"InitialSegmentOfWrongKind",
     [](Manifest &m) { arena(m, CONSTANTS).set_initial_segment_index(1); },
     "initial segment is of the wrong kind"},
    {"InitialSegmentTooLarge",
     [](Manifest &m) { arena(m, CONSTANTS).set_size(39); },
     "initial segment is larger"},
    // buffers
    {"NoArenaIndex",
     [](Manifest &m) { m.mutable_buffers(0)->clear_arena_index(); },
     "buffer 0 ('data'): arena index is missing"},
    {"ArenaMissing",
     [](Manifest &m) { m.mutable_buffers(0)->set_arena_index(6); },
     "its arena does not exist"},
    {"NoOffset", [](Manifest &m) { m.mutable_buffers(0)->clear_offset(); },
     "offset or size is missing"},
    {"NoSize", [](Manifest &m) { m.mutable_buffers(0)->clear_size(); },
     "offset or size is missing"},
    {"BufferUnaligned",
     [](Manifest &m) { m.mutable_buffers(1)->set_offset(2); },
     "offset is not a multiple of its element size"},
    {"BufferBeyondArena",
     [](Manifest &m) {
       m.mutable_buffers(0)->set_offset(arena(m, TRANSIENT).size() / 64 * 64 +
                                        64);
     },
     "beyond the end of its arena"},
    {"BufferSizeOverflows",
     [](Manifest &m) { m.mutable_buffers(0)->set_size(~std::uint64_t(0)); },
     "beyond the end of its arena"},
    {"RanksDiffer", [](Manifest &m) { m.mutable_buffers(0)->add_dims(1); },
     "numbers of dimensions and strides differ"},
    {"RankTooLarge",
     [](Manifest &m) {
       for (int i = 0; i < 32; ++i) {
         m.mutable_buffers(0)->add_dims(1);
         m.mutable_buffers(0)->add_strides(1);
       }
     },
     "too many dimensions"},
    {"DimZero", [](Manifest &m) { m.mutable_buffers(0)->set_dims(0, 0); },
     "dimension is not positive"},
    {"DimNegative", [](Manifest &m) { m.mutable_buffers(0)->set_dims(0, -2); },
     "dimension is not positive"},
    {"StrideZero", [](Manifest &m) { m.mutable_buffers(0)->set_strides(0, 0); },
     "stride is not positive"},
    {"StrideNegative",
     [](Manifest &m) { m.mutable_buffers(0)->set_strides(0, -108); },
     "stride is not positive"},
    {"DimsProductOverflows",
     [](Manifest &m) {
       for (int d = 0; d < 4; ++d)
         m.mutable_buffers(0)->set_dims(d, std::int64_t(1) << 32);
     },
     "too many elements"},
    {"DimHuge", [](Manifest &m) { m.mutable_buffers(0)->set_dims(0, kHuge); },
     "too many elements"},
    {"StrideHuge",
     [](Manifest &m) { m.mutable_buffers(0)->set_strides(0, kHuge); },
     "strides reach too far"},
    {"StrideBeyondSize",
     [](Manifest &m) { m.mutable_buffers(0)->set_strides(0, 109); },
     "strides reach beyond its size"},
    {"TypeLargerThanSize",
     [](Manifest &m) { m.mutable_buffers(0)->set_type(F64); },
     "strides reach beyond its size"},
    {"ElementsOverlap",
     [](Manifest &m) { m.mutable_buffers(0)->set_strides(0, 107); },
     "make elements overlap"},
    {"ZeroGapsOnACpu",
     [](Manifest &m) { m.mutable_buffers(0)->set_zero_gaps(true); },
     "zero_gaps is set in a CPU plan"},
    {"BufferProgramMissing",
     [](Manifest &m) { m.mutable_buffers(0)->set_program_index(2); },
     "its program does not exist"},
    {"OnlyFirstStep", [](Manifest &m) { buffer(m, "conv").clear_last_step(); },
     "only one of first and last step"},
    {"StepsWithoutProgram",
     [](Manifest &m) { buffer(m, "conv").clear_program_index(); },
     "without a program"},
    {"StepsReversed", [](Manifest &m) { buffer(m, "conv").set_first_step(3); },
     "live steps lie outside"},
    {"StepsBeyondProgram",
     [](Manifest &m) { buffer(m, "conv").set_last_step(12); },
     "live steps lie outside"},
    // parameters
    {"NoParameterLayer", [](Manifest &m) { weights(m).clear_layer(); },
     "layer or index is missing"},
    {"NoParameterIndex", [](Manifest &m) { weights(m).clear_index(); },
     "layer or index is missing"},
    {"ParameterTwice",
     [](Manifest &m) { m.mutable_parameters(1)->set_index(0); },
     "another parameter has its name"},
    {"InitialValuesMissing",
     [](Manifest &m) { weights(m).set_initial_segment_index(9); },
     "the segment of its initial values does not exist"},
    {"InitialValuesNoWeights",
     [](Manifest &m) {
       for (int i = 0; i < m.segments_size(); ++i)
         if (m.segments(i).kind() == Segment::CONSTANT_DATA)
           weights(m).set_initial_segment_index(static_cast<unsigned>(i));
     },
     "the segment of its initial values contains no weights"},
    {"InitialValuesOfOtherSize",
     [](Manifest &m) {
       for (int i = 0; i < m.segments_size(); ++i)
         if (m.segments(i).kind() == Segment::WEIGHTS)
           weights(m).set_initial_segment_index(static_cast<unsigned>(i));
     },
     "the segment of its initial values has another size"},
    {"NoParameterBuffer", [](Manifest &m) { weights(m).clear_buffer_index(); },
     "its buffer does not exist"},
    {"ParameterBufferMissing",
     [](Manifest &m) { weights(m).set_buffer_index(99); },
     "its buffer does not exist"},
    {"ParameterOfOneProgram",
     [](Manifest &m) { buffer(m, "conv.w").set_program_index(0); },
     "belongs to one program"},
    {"ParameterTypeDiffers",
     [](Manifest &m) { buffer(m, "conv.b").set_type(I32); },
     "not the plan's precision"},
    {"GradientMissing",
     [](Manifest &m) { weights(m).set_gradient_buffer_index(99); },
     "gradient buffer does not exist"},
    {"GradientOfOtherShape",
     [](Manifest &m) { weights(m).set_gradient_buffer_index(0); },
     "differ from the parameter's"},
    {"GradientOfOtherLayout",
     [](Manifest &m) {
       buffer(m, "conv.w'").set_strides(0, 1);
       buffer(m, "conv.w'").set_strides(1, 4);
       buffer(m, "conv.w'").set_strides(2, 12);
       buffer(m, "conv.w'").set_strides(3, 36);
     },
     "differ from the parameter's"},
    {"GradientAtOtherOffset",
     [](Manifest &m) {
       arena(m, GRADIENTS).set_size(4096);
       buffer(m, "conv.w'").set_offset(64);
     },
     "offset differs from the parameter's"},
    {"HistoryMissing",
     [](Manifest &m) { weights(m).set_state_buffer_indices(0, 99); },
     "history buffer does not exist"},
    {"HistoryOfOtherShape",
     [](Manifest &m) { weights(m).set_state_buffer_indices(0, 0); },
     "differ from the parameter's"},
    {"FileDimsOfOtherCount",
     [](Manifest &m) { weights(m).set_file_dims(0, 5); },
     "differ in their number of elements"},
    {"FileDimsAbsent", [](Manifest &m) { weights(m).clear_file_dims(); },
     "differ in their number of elements"},
    {"FileDimZero", [](Manifest &m) { weights(m).set_file_dims(0, 0); },
     "file dimension is not positive"},
    {"FileDimsOverflow",
     [](Manifest &m) {
       for (int d = 0; d < 4; ++d)
         weights(m).set_file_dims(d, kHuge);
     },
     "file dimensions are too large"},
    {"FileRankTooLarge",
     [](Manifest &m) {
       for (int d = 0; d < 40; ++d)
         weights(m).add_file_dims(1);
     },
     "too many file dimensions"},
    {"NoSharerLayer",
     [](Manifest &m) { weights(m).mutable_sharers(0)->clear_layer(); },
     "of a sharer is missing"},
    {"SharerTwice",
     [](Manifest &m) { *weights(m).add_sharers() = weights(m).sharers(0); },
     "the name of a sharer"},
    {"SharerOfOtherCount",
     [](Manifest &m) { weights(m).mutable_sharers(0)->set_file_dims(0, 107); },
     "differ in their number of elements"},
    // kernels
    {"NoSymbol", [](Manifest &m) { m.mutable_kernels(0)->clear_symbol(); },
     "symbol is missing"},
    {"SymbolWithNul",
     [](Manifest &m) {
       m.mutable_kernels(0)->set_symbol(std::string("a\0b", 3));
     },
     "symbol is missing"},
    {"NoImage",
     [](Manifest &m) { m.mutable_kernels(0)->clear_image_segment_index(); },
     "image segment does not exist"},
    {"ImageMissing",
     [](Manifest &m) { m.mutable_kernels(0)->set_image_segment_index(3); },
     "image segment does not exist"},
    {"ImageIsData",
     [](Manifest &m) { m.mutable_kernels(0)->set_image_segment_index(0); },
     "its segment is not a kernel image"},
    {"NoDomain", [](Manifest &m) { m.mutable_kernels(0)->clear_domain(); },
     "domain is missing"},
    {"DomainZero", [](Manifest &m) { m.mutable_kernels(0)->set_domain(0); },
     "domain is missing or out of range"},
    {"DomainHuge", [](Manifest &m) { m.mutable_kernels(0)->set_domain(kHuge); },
     "domain is missing or out of range"},
    {"GrainZero", [](Manifest &m) { m.mutable_kernels(0)->set_grain(0); },
     "grain is out of range"},
    {"GrainHuge", [](Manifest &m) { m.mutable_kernels(0)->set_grain(kHuge); },
     "grain is out of range"},
    {"NoArgumentCount",
     [](Manifest &m) { m.mutable_kernels(0)->clear_argument_count(); },
     "argument count is missing"},
    {"CpuWithBlocks", [](Manifest &m) { m.mutable_kernels(0)->set_blocks(1); },
     "launch geometry in a CPU plan"},
    {"CpuWithImages", [](Manifest &m) { m.mutable_kernels(0)->add_images(); },
     "CUDA images"},
    // programs
    {"NoProgramName", [](Manifest &m) { program(m).clear_name(); },
     "name is missing"},
    {"ProgramTwice",
     [](Manifest &m) { m.mutable_programs(1)->set_name(m.programs(0).name()); },
     "another program has its name"},
    {"NoFirstBackwardStep",
     [](Manifest &m) { program(m).clear_first_backward_step(); },
     "first_backward_step is missing"},
    {"FirstBackwardStepBeyond",
     [](Manifest &m) { program(m).set_first_backward_step(12); },
     "first_backward_step lies outside"},
    {"NoDataInputLayer",
     [](Manifest &m) { program(m).mutable_data_inputs(0)->clear_layer(); },
     "a data input's layer is missing"},
    {"NoDataInputBuffers",
     [](Manifest &m) { program(m).mutable_data_inputs(0)->clear_buffer_indices(); },
     "a data input has no buffers"},
    {"TransformWithTwoMeans",
     [](Manifest &m) {
       transform(m).add_mean(1);
       transform(m).add_mean(2);
     },
     "the mean of a transform does not fit its input"},
    {"TransformWithoutFiniteScale",
     [](Manifest &m) { transform(m).set_scale(INFINITY); },
     "the scale of a transform is not finite"},
    {"TransformOfImagesSmallerThanTheInput",
     [](Manifest &m) {
       transform(m).add_resize_dims(1);
       transform(m).add_resize_dims(100);
     },
     "the size of a transform's images does not fit its input"},
    {"TransformOfHugeImages",
     [](Manifest &m) {
       transform(m).add_resize_dims(INT64_MAX);
       transform(m).add_resize_dims(100);
     },
     "the size of a transform's images does not fit its input"},
    {"TransformOfLabels",
     [](Manifest &m) {
       transform(m).set_scale(2);
       DataInput &input = *program(m).mutable_data_inputs(0);
       input.set_buffer_indices(0, input.buffer_indices(1));
     },
     "the input of a transform does not have four dimensions"},
    {"NoRandomKeyLayer",
     [](Manifest &m) {
       program(m).mutable_random_keys(0)->clear_layer();
     },
     "a random key's layer is missing"},
    {"RandomKeyBufferMissing",
     [](Manifest &m) {
       program(m).mutable_random_keys(0)->set_buffer_index(99);
     },
     "a random key's buffer does not exist"},
    {"RandomKeyOfOtherSize",
     [](Manifest &m) {
       program(m).mutable_random_keys(0)->set_buffer_index(0);
     },
     "a random key is not a dense pair of I32"},
    {"RandomKeyWithGaps",
     [](Manifest &m) {
       Buffer &words = buffer(m, "drop.random_key");
       words.set_offset(0);
       words.set_strides(0, 2);
       words.set_size(12);
     },
     "a random key is not a dense pair of I32"},
    {"ImagesOfSeveralSizesInAStep",
     [](Manifest &m) {
       Buffer copy = addImagesOfSeveralSizes(m);
       copy.set_offset(copy.offset() + copy.size());
       *m.add_buffers() = copy;
       const auto target = static_cast<std::uint32_t>(m.buffers_size() - 1);
       addCopy(*m.mutable_programs(m.programs_size() - 1), target - 2, target);
     },
     "a step computes with images of several sizes"},
    {"ImagesOfSeveralSizesWithoutRows",
     [](Manifest &m) {
       addImagesOfSeveralSizes(m);
       DataInput &input = imagesOfSeveralSizes(m);
       input.set_buffer_indices(0, input.buffer_indices(1));
     },
     "images of several sizes do not have four dimensions"},
    {"ImagesOfSeveralSizesInABatch",
     [](Manifest &m) {
       Buffer &images = addImagesOfSeveralSizes(m);
       images.set_dims(0, 2);
       images.set_size(images.size() * 2);
     },
     "images of several sizes are not in batches of one"},
    {"ImagesOfSeveralSizesAsIntegers",
     [](Manifest &m) { addImagesOfSeveralSizes(m).set_type(I32); },
     "images of several sizes are neither F32 nor F64"},
    {"ImagesOfSeveralSizesWithGaps",
     [](Manifest &m) { addImagesOfSeveralSizes(m).set_dims(3, 5); },
     "images of several sizes have gaps"},
    {"ImagesOfSeveralSizesWithTransform",
     [](Manifest &m) {
       addImagesOfSeveralSizes(m);
       imagesOfSeveralSizes(m).mutable_transform()->set_scale(2);
     },
     "images of several sizes have a conversion"},
    {"DataInputBufferMissing",
     [](Manifest &m) {
       program(m).mutable_data_inputs(0)->set_buffer_indices(1, 99);
     },
     "a data input's buffer does not exist"},
    {"DataInputOfOtherProgram",
     [](Manifest &m) {
       // Buffer 14 is "private".
       program(m).mutable_data_inputs(0)->set_buffer_indices(1, 14);
     },
     "a data input's buffer belongs to another program"},
    {"DataInputIntoConstant",
     [](Manifest &m) {
       // Buffer 13 is "constant".
       program(m).mutable_data_inputs(0)->set_buffer_indices(1, 13);
     },
     "writes to a constant"},
    {"NoOutputBlob",
     [](Manifest &m) { program(m).mutable_outputs(0)->clear_blob(); },
     "output's blob is missing"},
    {"NoOutputBuffer",
     [](Manifest &m) { program(m).mutable_outputs(0)->clear_buffer_index(); },
     "output's buffer is missing"},
    {"LossWeightNotFinite",
     [](Manifest &m) {
       program(m).mutable_outputs(0)->set_loss_weight(
           std::numeric_limits<float>::quiet_NaN());
     },
     "loss weight is not finite"},
    {"MultiplierNotFinite",
     [](Manifest &m) {
       m.mutable_parameters(0)->set_lr_mult(
           std::numeric_limits<float>::infinity());
     },
     "its lr_mult or decay_mult is not finite"},
    {"UnreportedLossBufferMissing",
     [](Manifest &m) {
       program(m).mutable_unreported_losses(0)->set_buffer_index(99);
     },
     "output's buffer does not exist"},
    {"NoBlobName",
     [](Manifest &m) { program(m).mutable_blobs(0)->clear_name(); },
     "blob's name is missing"},
    {"BlobBufferMissing",
     [](Manifest &m) { program(m).mutable_blobs(0)->set_buffer_index(99); },
     "blob's buffer does not exist"},
    {"GradientBlobBufferMissing",
     [](Manifest &m) {
       program(m).mutable_blob_gradients(0)->set_buffer_index(99);
     },
     "blob's buffer does not exist"},
    // item counts
    {"CountWithoutName",
     [](Manifest &m) { program(m).mutable_item_counts(0)->clear_name(); },
     "name of an item count's blob is missing"},
    {"CountBufferMissing",
     [](Manifest &m) {
       program(m).mutable_item_counts(0)->set_buffer_index(99);
     },
     "count's buffer does not exist"},
    {"CountNoInteger",
     [](Manifest &m) {
       program(m).mutable_item_counts(0)->set_buffer_index(
           program(m).blobs(0).buffer_index());
     },
     "item count's buffer is not an I32 element"},
    {"CountOfUnknownBlob",
     [](Manifest &m) {
       program(m).mutable_item_counts(0)->set_name("nothing");
     },
     "an item count belongs to no blob"},
    {"CountOfScalar",
     [](Manifest &m) {
       const auto count = program(m).item_counts(0).buffer_index();
       program(m).mutable_blobs(0)->set_buffer_index(count);
     },
     "dimension that its blob does not have"},
    // output gradients
    {"OutputGradientWithoutName",
     [](Manifest &m) { program(m).add_output_gradients()->set_buffer_index(0); },
     "an output gradient's name is missing"},
    {"OutputGradientBufferMissing",
     [](Manifest &m) {
       NamedBuffer *gradient = program(m).add_output_gradients();
       gradient->set_name("y");
       gradient->set_buffer_index(99);
     },
     "an output gradient's buffer does not exist"},
    {"OutputGradientTwice",
     [](Manifest &m) {
       for (int i = 0; i < 2; ++i) {
         NamedBuffer *gradient = program(m).add_output_gradients();
         gradient->set_name("y");
         gradient->set_buffer_index(program(m).blobs(0).buffer_index());
       }
     },
     "two output gradients have the same name"},
    {"OutputGradientOfIntegers",
     [](Manifest &m) {
       NamedBuffer *gradient = program(m).add_output_gradients();
       gradient->set_name("y");
       gradient->set_buffer_index(program(m).item_counts(0).buffer_index());
     },
     "an output gradient is neither F32 nor F64"},
    // layers
    {"LayerWithoutShape",
     [](Manifest &m) { program(m).mutable_layers(0)->clear_shapes(); },
     "one shape and one loss weight for each top"},
    {"LayerWithoutLossWeight",
     [](Manifest &m) { program(m).mutable_layers(0)->clear_loss_weights(); },
     "one shape and one loss weight for each top"},
    {"LayerShapeNegative",
     [](Manifest &m) {
       program(m).mutable_layers(0)->mutable_shapes(0)->set_dims(0, -1);
     },
     "negative dimension"},
    {"LayerShapeHuge",
     [](Manifest &m) {
       auto *shape = program(m).mutable_layers(0)->mutable_shapes(0);
       shape->add_dims(kHuge);
       shape->add_dims(kHuge);
     },
     "a top is too large"},
    {"LayerTopBuffers",
     [](Manifest &m) {
       program(m).mutable_layers(0)->add_top_buffer_indices(0);
     },
     "one buffer for each top, or none"},
    {"LayerTopBufferMissing",
     [](Manifest &m) {
       program(m).mutable_layers(0)->set_top_buffer_indices(0, 99);
     },
     "a top's buffer does not exist"},
    {"LayerGradientOfNoBottom",
     [](Manifest &m) {
       program(m).mutable_layers(0)->mutable_bottom_gradients(0)->set_bottom(1);
     },
     "a gradient's bottom does not exist"},
    {"LayerGradientBufferMissing",
     [](Manifest &m) {
       program(m)
           .mutable_layers(0)
           ->mutable_bottom_gradients(0)
           ->clear_buffer_index();
     },
     "a gradient's buffer is missing"},
    // checks
    {"NoCheckKind",
     [](Manifest &m) { program(m).mutable_checks(0)->clear_kind(); },
     "check 0: kind is missing"},
    {"NoStatusBuffer",
     [](Manifest &m) {
       program(m).mutable_checks(0)->clear_status_buffer_index();
     },
     "the status buffer is missing"},
    {"StatusNoInteger",
     [](Manifest &m) {
       program(m).mutable_checks(0)->set_status_buffer_index(4); // "label"
     },
     "status buffer is not an I32 scalar"},
    {"NoCheckLayer",
     [](Manifest &m) { program(m).mutable_checks(0)->clear_layer(); },
     "layer or blob is missing"},
    {"NoValuesBuffer",
     [](Manifest &m) {
       program(m).mutable_checks(0)->clear_values_buffer_index();
     },
     "the values buffer is missing"},
    {"LimitZero",
     [](Manifest &m) { program(m).mutable_checks(0)->set_limit(0); },
     "limit is missing or not positive"},
};

INSTANTIATE_TEST_SUITE_P(Rules, PlanValidator, testing::ValuesIn(kRules),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace

TEST(PlanValidator, acceptsImagesOfSeveralSizes) {
  PlanBuilder b = completePlan();
  addImagesOfSeveralSizes(b.manifest);
  EXPECT_NO_THROW(b.build());
}
