//===- BufferLayout.cpp - Conversion of plan buffers ----------------------===//

#include "caffe/weights/BufferLayout.h"

#include "caffe/weights/Float16.h"
#include "support/Error.h"

namespace brew::caffe {
namespace {

/// Calls `body` with a null pointer whose type points to elements of `type`.
template <typename Body>
void callWithElementType(plan::DataType type, Body &&body) {
  switch (type) {
  case plan::F32:
    return body(static_cast<float *>(nullptr));
  case plan::F64:
    return body(static_cast<double *>(nullptr));
  case plan::I32:
    return body(static_cast<std::int32_t *>(nullptr));
  case plan::U8:
    return body(static_cast<std::uint8_t *>(nullptr));
  case plan::BF16:
    return body(static_cast<BFloat16 *>(nullptr));
  case plan::F16:
    return body(static_cast<Float16 *>(nullptr));
  }
  throw Error(ExitStatus::Bug, "a buffer has an element type unknown here");
}

/// Converts a value to `Element`. 16-bit floats are converted via single
/// precision.
template <typename Element, typename Value> Element convert(Value value) {
  if constexpr (std::is_class_v<Element>)
    return Element(static_cast<float>(value));
  else
    return static_cast<Element>(value);
}

template <typename Value>
void storeRange(const plan::Buffer &buffer, std::int64_t begin,
                std::int64_t end, const Value *values, std::byte *target) {
  ElementOrder order(buffer);
  callWithElementType(buffer.type(), [&](auto *tag) {
    using Element = std::remove_pointer_t<decltype(tag)>;
    auto *elements = reinterpret_cast<Element *>(target);
    order.forEachRun(begin, end,
                     [&](std::int64_t first, std::int64_t position,
                         std::int64_t length, std::int64_t step) {
                       const Value *source = values + (first - begin);
                       for (std::int64_t i = 0; i < length; ++i)
                         elements[position + i * step] =
                             convert<Element>(source[i]);
                     });
  });
}

template <typename Value>
void storeRowsAs(const plan::Buffer &buffer, std::int64_t first,
                 std::int64_t rows, const Value *values, std::byte *target) {
  const std::int64_t count = plan::elementCount(buffer);
  const std::int64_t rowSize =
      buffer.dims_size() && buffer.dims(0) ? count / buffer.dims(0) : count;
  storeRange(buffer, first * rowSize, (first + rows) * rowSize, values, target);
}

template <typename Value>
void loadAll(const plan::Buffer &buffer, const std::byte *source,
             Value *values) {
  ElementOrder order(buffer);
  callWithElementType(buffer.type(), [&](auto *tag) {
    using Element = std::remove_pointer_t<decltype(tag)>;
    auto *elements = reinterpret_cast<const Element *>(source);
    order.forEachRun(0, order.count(),
                     [&](std::int64_t first, std::int64_t position,
                         std::int64_t length, std::int64_t step) {
                       for (std::int64_t i = 0; i < length; ++i)
                         values[first + i] =
                             static_cast<Value>(elements[position + i * step]);
                     });
  });
}

} // namespace

ElementOrder::ElementOrder(const plan::Buffer &buffer)
    : dims(buffer.dims().begin(), buffer.dims().end()),
      strides(buffer.strides().begin(), buffer.strides().end()) {
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    // The stride of a dimension of extent 1 is irrelevant.
    if (dims[axis] != 1 && strides[axis] != elements)
      isRowMajor = false;
    elements *= dims[axis];
  }
}

std::int64_t ElementOrder::position(std::int64_t index) const {
  std::int64_t result = 0;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    result += index % dims[axis] * strides[axis];
    index /= dims[axis];
  }
  return result;
}

void store(const plan::Buffer &buffer, const float *values, std::byte *target) {
  storeRange(buffer, 0, plan::elementCount(buffer), values, target);
}
void store(const plan::Buffer &buffer, const double *values,
           std::byte *target) {
  storeRange(buffer, 0, plan::elementCount(buffer), values, target);
}
void storeRows(const plan::Buffer &buffer, std::int64_t first,
               std::int64_t rows, const float *values, std::byte *target) {
  storeRowsAs(buffer, first, rows, values, target);
}
void storeRows(const plan::Buffer &buffer, std::int64_t first,
               std::int64_t rows, const double *values, std::byte *target) {
  storeRowsAs(buffer, first, rows, values, target);
}

void load(const plan::Buffer &buffer, const std::byte *source, float *values) {
  loadAll(buffer, source, values);
}
void load(const plan::Buffer &buffer, const std::byte *source, double *values) {
  loadAll(buffer, source, values);
}

std::string shapeText(const std::vector<std::int64_t> &dims) {
  if (dims.empty())
    return "a scalar";
  std::string text;
  for (std::int64_t dim : dims)
    text += (text.empty() ? "" : " x ") + std::to_string(dim);
  return text;
}

} // namespace brew::caffe
