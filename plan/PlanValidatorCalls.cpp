//===- PlanValidatorCalls.cpp - Rules for calls and copies ----------------===//
#include "plan/Operands.h"
#include "plan/PlanFile.h"
#include "plan/PlanValidator.h"

#include <algorithm>
#include <cmath>

namespace brew::plan {

/// Libraries take window sizes and extents as 32-bit integers.
static constexpr std::int64_t kMaxExtent = 0x7fffffff;

const Kernel &Validator::kernel(bool present, std::uint32_t index,
                                const std::string &where) const {
  require(present &&
              index < static_cast<std::uint32_t>(manifest.kernels_size()),
          where, "its kernel does not exist");
  return manifest.kernels(static_cast<int>(index));
}

void Validator::checkGeneratedAlternative(const Step &step,
                                          const std::string &where) const {
  const GeneratedAlternative &generated = step.generated_alternative();
  require(step.has_convolution(), where,
          "only a convolution has a generated alternative");
  require(
      static_cast<std::uint32_t>(generated.operand_indices_size()) ==
          kernel(generated.has_kernel_index(), generated.kernel_index(), where)
              .argument_count(),
      where,
      "the number of its generated alternative's operands is not the "
      "kernel's argument count");
  for (std::uint32_t index : generated.operand_indices())
    require(index < static_cast<std::uint32_t>(step.operands_size()), where,
            "its generated alternative has an operand that the call lacks");
}

/// Checks the element types of a call's operands x, w, y and b.
void Validator::checkTypes(const Step &step, const std::string &where) const {
  auto isNarrow = [](DataType type) { return type == BF16 || type == F16; };
  const DataType x = operand(step, 0).type(), w = operand(step, 1).type(),
                 y = operand(step, 2).type();
  for (DataType type : {x, w, y})
    require(type != I32 && type != U8, where,
            "a buffer contains no floating-point numbers");
  require(x != F16 || manifest.target().kind() == Target::CUDA, where,
          "only CUDA plans have calls with f16 operands");
  // Weight gradients of 16-bit operands may be stored as F32.
  const bool isWideGradient =
      directionOf(step) == BACKWARD_WEIGHTS && isNarrow(x) && w == F32;
  require(y == x && (w == x || isWideGradient) &&
              (step.operands_size() < 4 || operand(step, 3).type() == w),
          where, "the buffers' types differ");
}

void Validator::checkEpilogue(const Epilogue &epilogue, Direction direction,
                              const std::string &where) const {
  require(!epilogue.relu() || direction == FORWARD, where,
          "only a forward call can apply a ReLU");
  require(epilogue.relu() || epilogue.negative_slope() == 0, where,
          "a negative slope without a ReLU");
  require(std::isfinite(epilogue.negative_slope()), where,
          "a negative slope is not finite");
}

/// Returns the extent of the output along a spatial dimension of a window.
static std::int64_t outputExtent(std::int64_t input, const Window &window,
                                 int dim) {
  std::int64_t reach = window.dilation(dim) * (window.kernel(dim) - 1) + 1;
  std::int64_t padded = input + window.pad(dim) + window.pad_end(dim);
  return padded < reach ? 0 : (padded - reach) / window.stride(dim) + 1;
}

void Validator::checkConvolution(const Step &step,
                                 const std::string &where) const {
  const ConvolutionCall &call = step.convolution();
  const Buffer &x = operand(step, 0), &w = operand(step, 1),
               &y = operand(step, 2);
  const Buffer *b = step.operands_size() > 3 ? &operand(step, 3) : nullptr;
  checkTypes(step, where);
  const int rank = x.dims_size(), spatial = rank - 2;
  require(w.dims_size() == rank && y.dims_size() == rank && rank >= 3 &&
              rank <= 5,
          where,
          "x, w and y of a convolution have three to five dimensions, all the "
          "same number");
  for (const Buffer *operand : {&x, &w, &y})
    for (std::int64_t dim : operand->dims())
      require(dim <= kMaxExtent, where, "a dimension is too large");
  require(call.direction() != BACKWARD_DATA || !b, where,
          "the gradient of the data has no bias");
  std::int64_t group = call.group();
  require(group >= 1 && x.dims(1) % group == 0 && w.dims(0) % group == 0 &&
              w.dims(1) == x.dims(1) / group,
          where, "channels of x, w and the group do not agree");
  require(y.dims(0) == x.dims(0) && y.dims(1) == w.dims(0), where,
          "y does not have x's images and w's channels");
  require(!b || (b->dims_size() == 1 && b->dims(0) == w.dims(0)), where,
          "b does not have one element per channel of y");

  const Window &window = call.window();
  for (int size :
       {window.kernel_size(), window.stride_size(), window.pad_size(),
        window.pad_end_size(), window.dilation_size()})
    require(size == spatial, where,
            "the window does not have one number for each spatial dimension");
  for (int i = 0; i < spatial; ++i) {
    require(window.kernel(i) == w.dims(2 + i), where, "the window is not w's");
    for (std::int64_t value : {window.stride(i), window.dilation(i)})
      require(value >= 1 && value <= kMaxExtent, where,
              "a stride or dilation is out of range");
    for (std::int64_t value : {window.pad(i), window.pad_end(i)})
      require(value >= 0 && value <= kMaxExtent, where,
              "a pad is out of range");
    require(y.dims(2 + i) == outputExtent(x.dims(2 + i), window, i), where,
            "the extent of y does not match x and the window");
  }

  checkEpilogue(call.epilogue(), call.direction(), where);
}

void Validator::checkInnerProduct(const Step &step,
                                  const std::string &where) const {
  const InnerProductCall &call = step.inner_product();
  const Buffer &x = operand(step, 0), &w = operand(step, 1),
               &y = operand(step, 2);
  const Buffer *b = step.operands_size() > 3 ? &operand(step, 3) : nullptr;
  checkTypes(step, where);
  require(call.direction() != BACKWARD_DATA || !b, where,
          "the gradient of the data has no bias");
  // If axis is the rank of x, K has no dimensions: the extent of K is 1.
  int axis =
      static_cast<int>(std::min<std::uint32_t>(call.axis(), kMaxRank + 1));
  require(axis <= x.dims_size(), where, "axis is out of range");
  int inner = x.dims_size() - axis;
  require(w.dims_size() == inner + 1, where,
          "w does not have one dimension more than x has after the axis");
  int first = call.transpose() ? 0 : 1;
  for (int i = 0; i < inner; ++i)
    require(w.dims(first + i) == x.dims(axis + i), where,
            "dimensions of x and w do not agree");
  std::int64_t columns = w.dims(call.transpose() ? inner : 0);
  require(y.dims_size() == axis + 1 && y.dims(axis) == columns, where,
          "y does not have w's columns after the axis");
  for (int i = 0; i < axis; ++i)
    require(y.dims(i) == x.dims(i), where,
            "leading dimensions of x and y do not agree");
  require(!b || (b->dims_size() == 1 && b->dims(0) == columns), where,
          "b does not have one element per column of y");
  checkEpilogue(call.epilogue(), call.direction(), where);
}

void Validator::checkCopy(const Step &step, const std::string &where) const {
  const Buffer &source = operand(step, 0), &target = operand(step, 1);
  require(source.type() == target.type(), where, "the types differ");
  require(std::equal(source.dims().begin(), source.dims().end(),
                     target.dims().begin(), target.dims().end()),
          where, "the dimensions differ");
}

void Validator::checkAllReduce(const Step &step,
                               const std::string &where) const {
  const AllReduceCall &call = step.all_reduce();
  require(call.has_bucket(), where, "the bucket of an all-reduce is missing");
  const bool isStart = call.kind() == AllReduceCall::START;
  require(!call.has_transfer_type() ||
              (isStart && call.transfer_type() == BF16),
          where, "only a start has a transfer_type, which must be BF16");
  for (int i = 0; i < step.operands_size(); ++i) {
    const Buffer &buffer = operand(step, i);
    require(buffer.type() == F32 || buffer.type() == F64, where,
            "a buffer of an all-reduce is neither F32 nor F64");
    require(!call.has_transfer_type() || buffer.type() == F32, where,
            "only F32 can have a transfer_type");
    require(std::uint64_t(elementCount(buffer)) * elementSize(buffer.type()) ==
                buffer.size(),
            where, "a buffer of an all-reduce has gaps");
  }
  const int count = step.operands_size() / 2;
  for (int i = 0; isStart && i < count; ++i) {
    const Buffer &source = operand(step, i), &sum = operand(step, count + i);
    require(source.type() == sum.type() &&
                std::equal(source.dims().begin(), source.dims().end(),
                           sum.dims().begin(), sum.dims().end()) &&
                std::equal(source.strides().begin(), source.strides().end(),
                           sum.strides().begin(), sum.strides().end()),
            where, "the layouts of a source and its sum differ");
  }
}

void Validator::checkHost(const Step &step, const std::string &where) const {
  const HostCall &call = step.host();
  require(!call.type().empty() && !call.layer().empty(), where,
          "the host layer's type or name is missing");
  require(call.direction() != BACKWARD_WEIGHTS, where,
          "a host layer must have direction FORWARD or BACKWARD_DATA");
  require(call.direction() != FORWARD || call.gradient_bottoms().empty(), where,
          "a forward call has bottoms' gradients");
  std::int64_t last = -1;
  for (std::uint32_t bottom : call.gradient_bottoms()) {
    require(bottom < call.bottom_count(), where,
            "the bottom of a gradient does not exist");
    require(bottom > last, where,
            "bottoms' gradients are not in the order of bottoms");
    last = bottom;
  }
  for (const HostOperand &gradient : hostOperands(manifest, step)) {
    if (!gradient.isGradient)
      continue;
    const std::size_t position =
        gradient.position + (gradient.isTop ? call.bottom_count() : 0);
    const Buffer &value = operand(step, static_cast<int>(position));
    require(std::equal(gradient.buffer->dims().begin(),
                       gradient.buffer->dims().end(), value.dims().begin(),
                       value.dims().end()),
            where, "a gradient does not have its value's dimensions");
  }
}

} // namespace brew::plan
