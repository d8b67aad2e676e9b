//===- PlanValidatorCalls.cpp - Rules for calls and copies ----------------===//
#include "plan/PlanFile.h"
#include "plan/PlanValidator.h"

#include <algorithm>

namespace brew::plan {

/// Libraries take window sizes and extents as 32-bit integers.
static constexpr std::int64_t kMaxExtent = 0x7fffffff;

void Validator::checkTypes(const Buffer &x, const Buffer &w, const Buffer *b,
                           const Buffer &y, Direction direction,
                           const std::string &where) const {
  auto isNarrow = [](const Buffer &buffer) {
    return buffer.type() == BF16 || buffer.type() == F16;
  };
  for (const Buffer *operand : {&x, &w, &y})
    require(operand->type() != I32 && operand->type() != U8, where,
            "a buffer contains no floating-point numbers");
  require(x.type() != F16 || manifest.target().kind() == Target::CUDA, where,
          "only CUDA plans have calls with f16 operands");
  // Weight gradients of 16-bit operands may be stored as F32.
  const bool isWideGradient =
      direction == BACKWARD_WEIGHTS && isNarrow(x) && w.type() == F32;
  require(y.type() == x.type() && (w.type() == x.type() || isWideGradient) &&
              (!b || b->type() == w.type()),
          where, "the buffers' types differ");
}

void Validator::checkWritable(const Buffer &buffer,
                              const std::string &where) const {
  require(manifest.arenas(static_cast<int>(buffer.arena_index())).kind() !=
              CONSTANTS,
          where, "it writes to a constant");
}

/// Fails if `written` and `read` overlap. Checks dense buffers only: strided
/// views of one region may interleave without sharing a byte.
void Validator::checkDisjoint(const Buffer &written, const Buffer &read,
                              const std::string &where) const {
  auto byteSize = [](const Buffer &buffer) {
    return static_cast<std::uint64_t>(elementCount(buffer)) *
           elementSize(buffer.type());
  };
  auto isDense = [&](const Buffer &buffer) {
    std::int64_t last = 0;
    for (int d = 0; d < buffer.dims_size(); ++d)
      last += (buffer.dims(d) - 1) * buffer.strides(d);
    return last + 1 == elementCount(buffer);
  };
  if (written.arena_index() != read.arena_index() || !isDense(written) ||
      !isDense(read))
    return;
  require(written.offset() + byteSize(written) <= read.offset() ||
              read.offset() + byteSize(read) <= written.offset(),
          where, "its result overlaps an operand");
}

void Validator::checkEpilogue(const Epilogue &epilogue, Direction direction,
                              const std::string &where) const {
  require(!epilogue.relu() || direction == FORWARD, where,
          "only a forward call can apply a ReLU");
  require(epilogue.relu() || epilogue.negative_slope() == 0, where,
          "a negative slope without a ReLU");
}

/// Returns the extent of the output along a spatial dimension of a window.
static std::int64_t outputExtent(std::int64_t input, const Window &window,
                                 int dim) {
  std::int64_t reach = window.dilation(dim) * (window.kernel(dim) - 1) + 1;
  std::int64_t padded = input + window.pad(dim) + window.pad_end(dim);
  return padded < reach ? 0 : (padded - reach) / window.stride(dim) + 1;
}

void Validator::checkConvolution(const ConvolutionCall &call, int program,
                                 const std::string &where) const {
  require(call.has_direction(), where, "direction is missing");
  const Buffer &x = buffer(call.has_x_buffer_index(), call.x_buffer_index(),
                           program, where, "x");
  const Buffer &w = buffer(call.has_w_buffer_index(), call.w_buffer_index(),
                           program, where, "w");
  const Buffer &y = buffer(call.has_y_buffer_index(), call.y_buffer_index(),
                           program, where, "y");
  const Buffer *b = nullptr;
  if (call.has_b_buffer_index())
    b = &buffer(true, call.b_buffer_index(), program, where, "b");
  checkTypes(x, w, b, y, call.direction(), where);
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
  const Buffer &result = call.direction() == FORWARD         ? y
                         : call.direction() == BACKWARD_DATA ? x
                                                             : w;
  checkWritable(result, where);
  for (const Buffer *operand : {&x, &w, &y})
    if (operand != &result)
      checkDisjoint(result, *operand, where);
  if (b && call.direction() == BACKWARD_WEIGHTS)
    checkWritable(*b, where);
}

void Validator::checkInnerProduct(const InnerProductCall &call, int program,
                                  const std::string &where) const {
  require(call.has_direction(), where, "direction is missing");
  const Buffer &x = buffer(call.has_x_buffer_index(), call.x_buffer_index(),
                           program, where, "x");
  const Buffer &w = buffer(call.has_w_buffer_index(), call.w_buffer_index(),
                           program, where, "w");
  const Buffer &y = buffer(call.has_y_buffer_index(), call.y_buffer_index(),
                           program, where, "y");
  const Buffer *b = nullptr;
  if (call.has_b_buffer_index())
    b = &buffer(true, call.b_buffer_index(), program, where, "b");
  checkTypes(x, w, b, y, call.direction(), where);
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
  const Buffer &result = call.direction() == FORWARD         ? y
                         : call.direction() == BACKWARD_DATA ? x
                                                             : w;
  checkWritable(result, where);
  for (const Buffer *operand : {&x, &w, &y})
    if (operand != &result)
      checkDisjoint(result, *operand, where);
  if (b && call.direction() == BACKWARD_WEIGHTS)
    checkWritable(*b, where);
}

void Validator::checkCopy(const CopyCall &call, int program,
                          const std::string &where) const {
  const Buffer &source =
      buffer(call.has_source_buffer_index(), call.source_buffer_index(),
             program, where, "the source");
  const Buffer &target =
      buffer(call.has_target_buffer_index(), call.target_buffer_index(),
             program, where, "the target");
  require(source.type() == target.type(), where, "the types differ");
  require(std::equal(source.dims().begin(), source.dims().end(),
                     target.dims().begin(), target.dims().end()),
          where, "the dimensions differ");
  checkWritable(target, where);
  checkDisjoint(target, source, where);
}

void Validator::checkAllReduce(const AllReduceCall &call, int program,
                               const std::string &where) const {
  require(call.has_kind() && call.has_bucket(), where,
          "the kind or the bucket of an all-reduce is missing");
  require(call.buffer_indices_size() > 0, where, "it has no buffers");
  const bool isStart = call.kind() == AllReduceCall::START;
  require(call.source_buffer_indices_size() ==
              (isStart ? call.buffer_indices_size() : 0),
          where, "the numbers of sources and sums differ");
  require(!call.has_transfer_type() ||
              (isStart && call.transfer_type() == BF16),
          where, "only a start has a transfer_type, which must be BF16");
  std::vector<const Buffer *> targets;
  for (std::uint32_t index : call.buffer_indices()) {
    const Buffer &target =
        buffer(true, index, program, where, "the buffer to reduce");
    require(target.type() == F32 || target.type() == F64, where,
            "a buffer of an all-reduce is neither F32 nor F64");
    require(!call.has_transfer_type() || target.type() == F32, where,
            "only F32 can have a transfer_type");
    require(std::uint64_t(elementCount(target)) * elementSize(target.type()) ==
                target.size(),
            where, "a buffer of an all-reduce has gaps");
    checkWritable(target, where);
    for (const Buffer *earlierTarget : targets)
      checkDisjoint(target, *earlierTarget, where);
    targets.push_back(&target);
  }
  for (int i = 0; i < call.source_buffer_indices_size(); ++i) {
    const Buffer &source = buffer(true, call.source_buffer_indices(i), program,
                                  where, "a buffer to sum");
    for (std::size_t j = 0; j < targets.size(); ++j) {
      const Buffer &target = *targets[j];
      if (int(j) != i) {
        checkDisjoint(target, source, where);
        continue;
      }
      require(source.type() == target.type() &&
                  std::equal(source.dims().begin(), source.dims().end(),
                             target.dims().begin(), target.dims().end()) &&
                  std::equal(source.strides().begin(), source.strides().end(),
                             target.strides().begin(), target.strides().end()),
              where, "the layouts of a source and its sum differ");
      if (source.arena_index() != target.arena_index() ||
          source.offset() != target.offset())
        checkDisjoint(target, source, where);
    }
  }
}

void Validator::checkHost(const HostCall &call, int program,
                          const std::string &where) const {
  require(!call.type().empty() && !call.layer().empty(), where,
          "the host layer's type or name is missing");
  require(call.has_direction() && call.direction() != BACKWARD_WEIGHTS, where,
          "a host layer must have direction FORWARD or BACKWARD_DATA");
  const bool isForward = call.direction() == FORWARD;
  std::vector<const Buffer *> bottoms, tops, operands;
  std::vector<bool> isWritten;
  auto addOperand = [&](std::uint32_t index, bool writes,
                        const char *bufferName) {
    const Buffer &found = buffer(true, index, program, where, bufferName);
    operands.push_back(&found);
    isWritten.push_back(writes);
    return &found;
  };
  auto requireSameDims = [&](const Buffer &gradient, const Buffer &value) {
    require(std::equal(gradient.dims().begin(), gradient.dims().end(),
                       value.dims().begin(), value.dims().end()),
            where, "a gradient does not have its value's dimensions");
  };
  for (std::uint32_t index : call.bottom_buffer_indices())
    bottoms.push_back(addOperand(index, false, "a bottom"));
  for (std::uint32_t index : call.top_buffer_indices())
    tops.push_back(addOperand(index, isForward, "a top"));
  require(call.top_gradient_buffer_indices_size() ==
              (isForward ? 0 : call.top_buffer_indices_size()),
          where, "the number of tops' gradients does not match the direction");
  for (int i = 0; i < call.top_gradient_buffer_indices_size(); ++i)
    requireSameDims(*addOperand(call.top_gradient_buffer_indices(i), false,
                                "a top's gradient"),
                    *tops[static_cast<std::size_t>(i)]);
  require(!isForward || call.bottom_gradients().empty(), where,
          "a forward call has bottoms' gradients");
  std::int64_t last = -1;
  for (const HostCall::BottomGradient &gradient : call.bottom_gradients()) {
    require(gradient.has_bottom() && gradient.bottom() < bottoms.size(), where,
            "the bottom of a gradient does not exist");
    require(gradient.bottom() > last, where,
            "bottoms' gradients are not in the order of bottoms");
    last = gradient.bottom();
    require(gradient.has_buffer_index(), where,
            "a bottom's gradient is missing");
    requireSameDims(
        *addOperand(gradient.buffer_index(), true, "a bottom's gradient"),
        *bottoms[gradient.bottom()]);
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!isWritten[i])
      continue;
    checkWritable(*operands[i], where);
    for (std::size_t j = 0; j < operands.size(); ++j) {
      if (j == i)
        continue;
      checkDisjoint(*operands[i], *operands[j], where);
      // Buffers with gaps may interleave, but their first elements differ.
      require(operands[i]->arena_index() != operands[j]->arena_index() ||
                  operands[i]->offset() != operands[j]->offset(),
              where, "its result overlaps an operand");
    }
  }
}

} // namespace brew::plan
