//===- CheckFailure.cpp - Errors of checks that kernels perform -----------===//
#include "runtime/executor/CheckFailure.h"

#include "caffe/weights/Float16.h"
#include "support/Error.h"

#include <cstdio>
#include <cstring>

namespace brew::runtime {

static double readElement(plan::DataType type, const std::byte *bytes,
                          std::int64_t index) {
  auto read = [&](auto value) {
    std::memcpy(&value, bytes + index * static_cast<std::int64_t>(sizeof value),
                sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
  case plan::F32:
    return read(float());
  case plan::F64:
    return read(double());
  case plan::I32:
    return read(std::int32_t());
  case plan::U8:
    return read(std::uint8_t());
  case plan::BF16:
    return read(caffe::BFloat16());
  case plan::F16:
    return read(caffe::Float16());
  }
  return 0;
}

void throwCheckFailure(const plan::Check &check, std::int32_t status,
                       const plan::Buffer &values, const std::byte *bytes) {
  std::int64_t position = std::int64_t(status) - 1;
  if (position < 0 || position >= plan::elementCount(values))
    throw Error(ExitStatus::Bug, "the kernel of layer '" + check.layer() +
                                     "' reports the impossible status " +
                                     std::to_string(status));
  // The position is in row-major order; the memory may have another order.
  std::int64_t remaining = position, index = 0;
  for (int d = values.dims_size() - 1; d >= 0; --d) {
    index += remaining % values.dims(d) * values.strides(d);
    remaining /= values.dims(d);
  }
  char value[32];
  std::snprintf(value, sizeof value, "%.9g",
                readElement(values.type(), bytes, index));
  std::string location = check.source_location().empty()
                             ? ""
                             : " (" + check.source_location() + ")";
  throw badInput("layer '" + check.layer() + "'" + location + ": label " +
                 value + " at position " + std::to_string(position) +
                 " of blob '" + check.blob() + "' is outside [0, " +
                 std::to_string(check.limit()) + ")");
}

} // namespace brew::runtime
