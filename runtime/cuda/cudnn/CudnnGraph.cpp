//===- CudnnGraph.cpp - Convolutions as cuDNN operations ------------------===//
#include "runtime/cuda/cudnn/CudnnGraph.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace brew::runtime::cuda::cudnn {

namespace {

/// The largest alignment, in bytes, that any engine uses.
constexpr std::int64_t kMaxAlignment = 16;

/// Builds the descriptors of tensors and operations. Tensors are referred to by
/// their index.
class OperationsBuilder {
public:
  OperationsBuilder(const Api &api, const BrewVendorConvolution &call)
      : api(api), call(call),
        computeType(call.y.type == BREW_VENDOR_F64 ? Double : Float) {}

  std::size_t addTensor(const BrewVendorTensor &tensor, std::int64_t id) {
    return addDescriptor(
        dataType(tensor.type), {tensor.dims, tensor.dims + tensor.rank},
        {tensor.strides, tensor.strides + tensor.rank}, id, tensor.alignment);
  }
  /// Adds a virtual tensor of y's shape and the compute type.
  std::size_t addVirtualTensor(std::int64_t id) {
    return addDescriptor(computeType, {call.y.dims, call.y.dims + call.y.rank},
                         {call.y.strides, call.y.strides + call.y.rank}, id, 0);
  }
  /// Adds the bias, broadcast over all dimensions but the channels.
  std::size_t addBiasTensor() {
    const std::int64_t channels = call.b.dims[0];
    const auto rank = static_cast<std::size_t>(call.y.rank);
    std::vector<std::int64_t> dims(rank, 1), strides(rank, channels);
    dims[1] = channels;
    strides[1] = call.b.strides[0];
    return addDescriptor(dataType(call.b.type), dims, strides, IdB,
                         call.b.alignment);
  }

  void addConvolution(std::size_t x, std::size_t w, std::size_t y,
                      bool accumulate) {
    Descriptor parameters(api, ConvolutionDescriptor);
    const std::int64_t spatial = call.x.rank - 2;
    auto list = [&](const std::int64_t *values) {
      return std::vector<std::int64_t>(values, values + spatial);
    };
    parameters.set(ConvolutionCompType, TypeDataType, int(computeType))
        .set(ConvolutionMode, TypeConvolutionMode, CrossCorrelation)
        .set(ConvolutionSpatialDims, TypeInt64, spatial)
        .set(ConvolutionDilations, TypeInt64, list(call.dilation))
        .set(ConvolutionFilterStrides, TypeInt64, list(call.stride))
        .set(ConvolutionPrePaddings, TypeInt64, list(call.pad))
        .set(ConvolutionPostPaddings, TypeInt64, list(call.pad_end))
        .finalize();
    struct Attributes {
      DescriptorType operation;
      Attribute alpha, beta, convolution, x, w, y;
    };
    const Attributes attributes =
        call.direction == BREW_VENDOR_FORWARD
            ? Attributes{ConvolutionForwardDescriptor,
                         ForwardAlpha,
                         ForwardBeta,
                         ForwardConvolution,
                         ForwardX,
                         ForwardW,
                         ForwardY}
        : call.direction == BREW_VENDOR_BACKWARD_DATA
            ? Attributes{ConvolutionBackwardDataDescriptor,
                         BackwardDataAlpha,
                         BackwardDataBeta,
                         BackwardDataConvolution,
                         BackwardDataDx,
                         BackwardDataW,
                         BackwardDataDy}
            : Attributes{ConvolutionBackwardFilterDescriptor,
                         BackwardFilterAlpha,
                         BackwardFilterBeta,
                         BackwardFilterConvolution,
                         BackwardFilterX,
                         BackwardFilterDw,
                         BackwardFilterDy};
    Descriptor operation(api, attributes.operation);
    operation.set(attributes.convolution, parameters)
        .set(attributes.x, result.tensors[x])
        .set(attributes.w, result.tensors[w])
        .set(attributes.y, result.tensors[y]);
    const double one = 1, beta = accumulate ? 1 : 0;
    if (computeType == Double)
      operation.set(attributes.alpha, TypeDouble, one)
          .set(attributes.beta, TypeDouble, beta);
    else
      operation.set(attributes.alpha, TypeFloat, float(one))
          .set(attributes.beta, TypeFloat, float(beta));
    addOperation(std::move(parameters), std::move(operation));
  }

  void addBiasOperation(std::size_t from, std::size_t bias, std::size_t to) {
    Descriptor mode(api, PointwiseDescriptor);
    mode.set(PointwiseMode, TypePointwiseMode, PointwiseAdd)
        .set(PointwiseMathPrecision, TypeDataType, int(computeType))
        .finalize();
    Descriptor operation(api, PointwiseOperationDescriptor);
    operation.set(PointwiseOpDescriptor, mode)
        .set(PointwiseX, result.tensors[from])
        .set(PointwiseB, result.tensors[bias])
        .set(PointwiseY, result.tensors[to]);
    addOperation(std::move(mode), std::move(operation));
  }

  void addRelu(std::size_t from, std::size_t to) {
    Descriptor mode(api, PointwiseDescriptor);
    mode.set(PointwiseMode, TypePointwiseMode, PointwiseReluForward)
        .set(PointwiseMathPrecision, TypeDataType, int(computeType));
    if (call.negative_slope != 0)
      mode.set(PointwiseReluLowerClipSlope, TypeDouble,
               double(call.negative_slope));
    mode.finalize();
    Descriptor operation(api, PointwiseOperationDescriptor);
    operation.set(PointwiseOpDescriptor, mode)
        .set(PointwiseX, result.tensors[from])
        .set(PointwiseY, result.tensors[to]);
    addOperation(std::move(mode), std::move(operation));
  }

  Operations take() { return std::move(result); }

private:
  /// Adds a tensor and returns its index. An alignment of 0 makes it virtual:
  /// it has no memory.
  std::size_t addDescriptor(DataType type, std::vector<std::int64_t> dims,
                            std::vector<std::int64_t> strides, std::int64_t id,
                            std::int64_t alignment) {
    const bool isVirtual = alignment == 0;
    Descriptor descriptor(api, TensorDescriptor);
    descriptor.set(TensorDataType, TypeDataType, int(type))
        .set(TensorByteAlignment, TypeInt64,
             isVirtual ? kMaxAlignment : std::min(alignment, kMaxAlignment))
        .set(TensorUniqueId, TypeInt64, id)
        .set(TensorDimensions, TypeInt64, dims)
        .set(TensorStrides, TypeInt64, strides)
        .set(TensorIsVirtual, TypeBoolean, isVirtual)
        .finalize();
    if (!isVirtual)
      result.ids.push_back(id);
    result.tensors.push_back(std::move(descriptor));
    return result.tensors.size() - 1;
  }
  void addOperation(Descriptor parameter, Descriptor operation) {
    operation.finalize();
    result.parameters.push_back(std::move(parameter));
    result.operations.push_back(std::move(operation));
  }

  const Api &api;
  const BrewVendorConvolution &call;
  DataType computeType;
  Operations result;
};

} // namespace

DataType dataType(int32_t type) {
  switch (type) {
  case BREW_VENDOR_F32:
    return Float;
  case BREW_VENDOR_F64:
    return Double;
  case BREW_VENDOR_BF16:
    return BFloat16;
  case BREW_VENDOR_F16:
    return Half;
  }
  throw Failure("cuDNN cannot compute with the type of a tensor");
}

Operations convolutionOnly(const Api &api, const BrewVendorConvolution &call) {
  OperationsBuilder builder(api, call);
  const std::size_t x = builder.addTensor(call.x, IdX),
                    w = builder.addTensor(call.w, IdW),
                    y = builder.addTensor(call.y, IdY);
  builder.addConvolution(x, w, y, call.accumulate);
  return builder.take();
}

Operations convolutionFused(const Api &api, const BrewVendorConvolution &call) {
  OperationsBuilder builder(api, call);
  const std::size_t x = builder.addTensor(call.x, IdX),
                    w = builder.addTensor(call.w, IdW);
  std::size_t value = builder.addVirtualTensor(IdVirtual);
  builder.addConvolution(x, w, value, false);
  const std::size_t y = builder.addTensor(call.y, IdY);
  if (call.has_bias) {
    const std::size_t bias = builder.addBiasTensor();
    const std::size_t sum =
        call.relu ? builder.addVirtualTensor(IdVirtual + 1) : y;
    builder.addBiasOperation(value, bias, sum);
    value = sum;
  }
  if (call.relu)
    builder.addRelu(value, y);
  return builder.take();
}

std::string operationsKey(const BrewVendorConvolution &call, bool fused) {
  std::string key = fused ? "fused" : "bare";
  auto add = [&](auto value) { key += " " + std::to_string(value); };
  auto addTensor = [&](const BrewVendorTensor &tensor) {
    key += ";";
    add(tensor.type);
    add(std::min(tensor.alignment, kMaxAlignment));
    for (int d = 0; d < tensor.rank; ++d) {
      add(tensor.dims[d]);
      add(tensor.strides[d]);
    }
  };
  add(call.direction);
  for (const BrewVendorTensor *tensor : {&call.x, &call.w, &call.y})
    addTensor(*tensor);
  for (int d = 0; d < call.x.rank - 2; ++d)
    for (const std::int64_t value :
         {call.pad[d], call.pad_end[d], call.stride[d], call.dilation[d]})
      add(value);
  add(call.groups);
  if (!fused) {
    add(call.accumulate);
    return key;
  }
  if (call.has_bias)
    addTensor(call.b);
  if (call.relu) {
    // The bits distinguish all values, unlike std::to_string.
    std::uint32_t bits;
    std::memcpy(&bits, &call.negative_slope, sizeof bits);
    key += "; relu";
    add(bits);
  }
  return key;
}

} // namespace brew::runtime::cuda::cudnn
