//===- PlanValidatorPrograms.cpp - Rules for programs and their steps -----===//
#include "plan/PlanFile.h"
#include "plan/PlanValidator.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace brew::plan {

void Validator::checkPrograms() const {
  std::set<std::string> names;
  for (int i = 0; i < manifest.programs_size(); ++i) {
    const Program &program = manifest.programs(i);
    std::string where =
        "program " + std::to_string(i) + " ('" + program.name() + "')";
    require(!program.name().empty(), where, "name is missing");
    require(names.insert(program.name()).second, where,
            "another program has its name");
    checkProgram(i, where);
  }
}

void Validator::checkProgram(int index, const std::string &where) const {
  const Program &program = manifest.programs(index);
  require(program.has_first_backward_step(), where,
          "first_backward_step is missing");
  require(program.first_backward_step() <=
              static_cast<std::uint32_t>(program.steps_size()),
          where, "first_backward_step lies outside the program");
  for (int i = 0; i < program.steps_size(); ++i)
    checkStep(program.steps(i), index, /*isInLoop=*/false,
              where + ", step " + std::to_string(i));
  for (const DataInput &input : program.data_inputs()) {
    require(input.has_layer(), where, "a data input's layer is missing");
    require(input.buffer_indices_size() > 0, where,
            "a data input has no buffers");
    for (std::uint32_t inputBuffer : input.buffer_indices())
      checkWritable(
          buffer(true, inputBuffer, index, where, "a data input's buffer"),
          where + ", data input");
    if (input.has_pixel_conversion())
      checkPixelConversion(input, index, where);
    if (input.has_transform())
      checkInputTransform(input, index, where);
    if (input.image_sizes_vary())
      checkImageSizes(input, index, where);
  }
  for (const RandomKey &key : program.random_keys()) {
    require(key.has_layer(), where, "a random key's layer is missing");
    const Buffer &words = buffer(key.has_buffer_index(), key.buffer_index(),
                                 index, where, "a random key's buffer");
    require(words.type() == I32 && elementCount(words) == 2 &&
                words.size() == 2 * sizeof(std::int32_t),
            where, "a random key is not a dense pair of I32");
    checkWritable(words, where + ", random key");
  }
  for (const auto *outputs : {&program.outputs(), &program.unreported_losses()})
    for (const Output &output : *outputs) {
      require(output.has_blob(), where, "an output's blob is missing");
      require(std::isfinite(output.loss_weight()), where,
              "an output's loss weight is not finite");
      buffer(output.has_buffer_index(), output.buffer_index(), index, where,
             "an output's buffer");
    }
  for (const auto *blobs : {&program.blobs(), &program.blob_gradients()})
    for (const NamedBuffer &blob : *blobs) {
      require(blob.has_name(), where, "a blob's name is missing");
      buffer(blob.has_buffer_index(), blob.buffer_index(), index, where,
             "a blob's buffer");
    }
  std::set<std::string> gradientNames;
  for (const NamedBuffer &gradient : program.output_gradients()) {
    require(!gradient.name().empty(), where,
            "an output gradient's name is missing");
    require(gradientNames.insert(gradient.name()).second, where,
            "two output gradients have the same name");
    const Buffer &written =
        buffer(gradient.has_buffer_index(), gradient.buffer_index(), index,
               where, "an output gradient's buffer");
    require(written.type() == F32 || written.type() == F64, where,
            "an output gradient is neither F32 nor F64");
    checkWritable(written, where + ", output gradient");
  }
  for (int i = 0; i < program.layers_size(); ++i)
    checkLayer(program.layers(i), index,
               where + ", layer " + std::to_string(i));
  for (const NamedBuffer &count : program.item_counts())
    checkItemCount(count, program, index, where);
  for (int i = 0; i < program.checks_size(); ++i)
    checkCondition(program.checks(i), index,
                   where + ", check " + std::to_string(i));
}

/// Checks that every buffer of the count's blob has the counted dimension. The
/// caller has already checked blobs, outputs and layers.
void Validator::checkItemCount(const NamedBuffer &count, const Program &program,
                               int index, const std::string &where) const {
  require(count.has_name(), where,
          "the name of an item count's blob is missing");
  const Buffer &counter = buffer(count.has_buffer_index(), count.buffer_index(),
                                 index, where, "an item count's buffer");
  require(counter.type() == I32 && elementCount(counter) == 1, where,
          "an item count's buffer is not an I32 element");
  auto checkDims = [&](const Buffer &blob) {
    require(counter.dims_size() < blob.dims_size(), where,
            "an item count counts a dimension that its blob does not have");
    for (int i = 0; i < counter.dims_size(); ++i)
      require(blob.dims(i) == 1, where,
              "the dimensions before an item count are not 1");
  };
  bool found = false;
  auto checkIfCounted = [&](const std::string &name, std::uint32_t blob) {
    if (name != count.name())
      return;
    checkDims(manifest.buffers(static_cast<int>(blob)));
    found = true;
  };
  for (const auto *blobs : {&program.blobs(), &program.blob_gradients()})
    for (const NamedBuffer &blob : *blobs)
      checkIfCounted(blob.name(), blob.buffer_index());
  for (const Output &output : program.outputs())
    checkIfCounted(output.blob(), output.buffer_index());
  for (const Layer &layer : program.layers()) {
    for (int i = 0; i < layer.top_buffer_indices_size(); ++i)
      checkIfCounted(layer.tops(i), layer.top_buffer_indices(i));
    for (const Layer::BottomGradient &gradient : layer.bottom_gradients())
      checkIfCounted(layer.bottoms(static_cast<int>(gradient.bottom())),
                     gradient.buffer_index());
  }
  require(found, where, "an item count belongs to no blob");
}

void Validator::checkInputTransform(const DataInput &input, int program,
                                    const std::string &where) const {
  const InputTransform &transform = input.transform();
  const Buffer &top = buffer(true, input.buffer_indices(0), program, where,
                             "a data input's buffer");
  require(top.dims_size() == 4, where,
          "the input of a transform does not have four dimensions");
  const std::int64_t channels = top.dims(1);
  const std::int64_t rowSize = elementCount(top) / top.dims(0);
  const int means = transform.mean_size();
  require(means <= 1 || means == channels || means == rowSize, where,
          "the mean of a transform does not fit its input");
  require(std::isfinite(transform.scale()), where,
          "the scale of a transform is not finite");
  constexpr std::int64_t kMaxSide = 1 << 16; // pixels
  const auto &dims = transform.resize_dims();
  require(dims.empty() || (dims.size() == 2 && dims[0] >= top.dims(2) &&
                           dims[1] >= top.dims(3) && dims[0] <= kMaxSide &&
                           dims[1] <= kMaxSide),
          where, "the size of a transform's images does not fit its input");
}

/// Checks that images of any size fit, and that no step computes with them: it
/// would read values beyond those of the image.
void Validator::checkImageSizes(const DataInput &input, int program,
                                const std::string &where) const {
  require(!input.has_pixel_conversion() && !input.has_transform(), where,
          "images of several sizes have a conversion");
  const Buffer &first = buffer(true, input.buffer_indices(0), program, where,
                               "a data input's buffer");
  require(first.dims_size() == 4, where,
          "images of several sizes do not have four dimensions");
  for (std::uint32_t index : input.buffer_indices()) {
    const Buffer &top =
        buffer(true, index, program, where, "a data input's buffer");
    require(top.dims_size() > 0 && top.dims(0) == 1, where,
            "images of several sizes are not in batches of one");
    if (top.dims_size() != 4)
      continue;
    require(top.type() == F32 || top.type() == F64, where,
            "images of several sizes are neither F32 nor F64");
    std::int64_t dense = 1;
    for (int i = top.dims_size() - 1; i >= 0; --i) {
      require(top.dims(i) == 1 || top.strides(i) == dense, where,
              "images of several sizes have gaps");
      dense *= top.dims(i);
    }
    for (const Step &step : manifest.programs(program).steps()) {
      auto check = [&](const Step &checked) {
        for (const Operand &operand : checked.operands())
          require(operand.buffer_index() != index, where,
                  "a step computes with images of several sizes");
      };
      check(step);
      for (const Step &nested : step.loop().steps())
        check(nested);
    }
  }
}

void Validator::checkPixelConversion(const DataInput &input, int program,
                                     const std::string &where) const {
  require(manifest.target().kind() == Target::CUDA, where,
          "a data input has a pixel conversion in a CPU plan");
  const PixelConversion &pixels = input.pixel_conversion();
  require(pixels.has_kernel_index() &&
              pixels.kernel_index() <
                  static_cast<std::uint32_t>(manifest.kernels_size()),
          where, "a data input's kernel does not exist");
  const Buffer &top = buffer(true, input.buffer_indices(0), program, where,
                             "a data input's buffer");
  require(top.dims_size() == 4, where,
          "the top of a pixel conversion does not have four dimensions");
  require(pixels.mean_dims_size() == 0 || pixels.mean_dims_size() == 3, where,
          "the mean of a data input's pixels does not have three dimensions");
  double count = 1;
  for (std::int64_t dim : pixels.mean_dims()) {
    require(dim >= 1, where, "the mean of a data input's pixels is empty");
    count *= double(dim);
  }
  require(count * sizeof(float) <= double(kMaxBytes), where,
          "the mean of a data input's pixels is too large");
  require(pixels.image_dims_size() == 2, where,
          "the images of a data input's pixels do not have two dimensions");
  count = double(top.dims(0)) * double(top.dims(1));
  bool matchesTop = true, matchesMean = true;
  for (int i = 0; i < 2; ++i) {
    const std::int64_t dim = pixels.image_dims(i);
    require(dim >= top.dims(2 + i), where,
            "the images of a data input's pixels are smaller than its top's");
    count *= double(dim);
    matchesTop &= dim == top.dims(2 + i);
    matchesMean &= pixels.mean_dims_size() && dim == pixels.mean_dims(1 + i);
  }
  require(count <= double(kMaxBytes), where,
          "the images of a data input's pixels are too large");
  // A crop has the same offset in the mean and in the images.
  const bool hasMeanImage =
      pixels.mean_dims_size() &&
      (pixels.mean_dims(1) > 1 || pixels.mean_dims(2) > 1);
  require(!hasMeanImage || matchesTop || matchesMean, where,
          "the images of a data input's pixels do not have the mean's size");
  const Kernel &kernel =
      manifest.kernels(static_cast<int>(pixels.kernel_index()));
  require(kernel.argument_count() == (pixels.mean_dims_size() ? 4u : 3u), where,
          "a data input's kernel has another number of arguments");
  require(kernel.stages() == 1, where,
          "a data input's kernel has several stages");
}

void Validator::checkLayer(const Layer &layer, int program,
                           const std::string &where) const {
  require(layer.shapes_size() == layer.tops_size() &&
              layer.loss_weights_size() == layer.tops_size(),
          where, "it needs one shape and one loss weight for each top");
  require(std::all_of(layer.loss_weights().begin(), layer.loss_weights().end(),
                      [](float weight) { return std::isfinite(weight); }),
          where, "a loss weight is not finite");
  require(layer.top_buffer_indices_size() == 0 ||
              layer.top_buffer_indices_size() == layer.tops_size(),
          where, "it needs one buffer for each top, or none");
  for (std::uint32_t index : layer.top_buffer_indices())
    buffer(true, index, program, where, "a top's buffer");
  for (const Layer::BottomGradient &gradient : layer.bottom_gradients()) {
    require(gradient.bottom() <
                static_cast<std::uint32_t>(layer.bottoms_size()),
            where, "a gradient's bottom does not exist");
    buffer(gradient.has_buffer_index(), gradient.buffer_index(), program, where,
           "a gradient's buffer");
  }
  for (const Shape &shape : layer.shapes()) {
    double count = 1;
    for (std::int64_t dim : shape.dims()) {
      require(dim >= 0, where, "a top has a negative dimension");
      count *= double(dim);
    }
    require(count < 0x1p62, where, "a top is too large");
  }
}

const Buffer &Validator::buffer(bool present, std::uint32_t index, int program,
                                const std::string &where,
                                const char *bufferName) const {
  if (!present)
    fail(where, std::string(bufferName) + " is missing");
  if (index >= static_cast<std::uint32_t>(manifest.buffers_size()))
    fail(where, std::string(bufferName) + " does not exist");
  const Buffer &found = manifest.buffers(static_cast<int>(index));
  if (found.has_program_index() &&
      found.program_index() != static_cast<std::uint32_t>(program))
    fail(where, std::string(bufferName) + " belongs to another program");
  return found;
}

void Validator::checkStep(const Step &step, int program, bool isInLoop,
                          const std::string &where) const {
  require(step.action_case() != Step::ACTION_NOT_SET, where,
          "it has no action (or one that this program is too old to know)");
  checkOperands(step, program, isInLoop, where);
  if (step.has_generated_alternative())
    checkGeneratedAlternative(step, where);
  if (step.has_convolution())
    checkConvolution(step, where);
  else if (step.has_inner_product())
    checkInnerProduct(step, where);
  else if (step.has_copy())
    checkCopy(step, where);
  else if (step.has_all_reduce())
    checkAllReduce(step, where);
  else if (step.has_host())
    checkHost(step, where);
  else if (step.has_loop())
    checkLoop(step, program, where);
}

void Validator::checkCondition(const Check &check, int program,
                               const std::string &where) const {
  require(check.has_kind(), where, "kind is missing");
  const Buffer &status =
      buffer(check.has_status_buffer_index(), check.status_buffer_index(),
             program, where, "the status buffer");
  require(status.type() == I32 && elementCount(status) == 1, where,
          "the status buffer is not an I32 scalar");
  require(check.has_layer() && check.has_blob(), where,
          "layer or blob is missing");
  if (check.kind() == Check::LABEL_RANGE) {
    buffer(check.has_values_buffer_index(), check.values_buffer_index(),
           program, where, "the values buffer");
    require(check.has_limit() && check.limit() >= 1, where,
            "limit is missing or not positive");
  }
}

} // namespace brew::plan
