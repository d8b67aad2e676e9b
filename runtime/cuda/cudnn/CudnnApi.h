//===- CudnnApi.h - cuDNN 9, opened at first use ----------------*- C++ -*-===//
//
// Declares the functions and constants of cuDNN that Brew uses. They are looked
// up with dlopen; see DriverApi.h. A unit test compares the constants with
// cuDNN's header if it is installed.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime::cuda::cudnn {

/// An error that cuDNN reports, with its message. The adapter converts it to a
/// status; it never propagates to callers of the vendor table.
class Failure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

enum Status : int { Success = 0 };

enum DataType : int { Float = 0, Double = 1, Half = 2, BFloat16 = 9 };

/// Constants of the legacy API.
inline constexpr int PropagateNan = 1;
inline constexpr int ActivationRelu = 1;
enum OpTensor : int { OpTensorMin = 2, OpTensorMax = 3 };

enum AttributeType : int {
  TypeHandle = 0,
  TypeDataType = 1,
  TypeBoolean = 2,
  TypeInt64 = 3,
  TypeFloat = 4,
  TypeDouble = 5,
  TypeVoidPtr = 6,
  TypeConvolutionMode = 7,
  TypeHeurMode = 8,
  TypeKnobType = 9,
  TypeNumericalNote = 11,
  TypePointwiseMode = 14,
  TypeBackendDescriptor = 15,
  TypeChar = 24
};

enum DescriptorType : int {
  PointwiseDescriptor = 0,
  ConvolutionDescriptor = 1,
  EngineDescriptor = 2,
  EngineConfigDescriptor = 3,
  EngineHeuristicsDescriptor = 4,
  ExecutionPlanDescriptor = 5,
  KnobChoiceDescriptor = 7,
  ConvolutionForwardDescriptor = 10,
  ConvolutionBackwardFilterDescriptor = 11,
  ConvolutionBackwardDataDescriptor = 12,
  PointwiseOperationDescriptor = 13,
  OperationGraphDescriptor = 15,
  VariantPackDescriptor = 16,
  TensorDescriptor = 17,
  DevicePropertiesDescriptor = 38
};

enum Attribute : int {
  PointwiseMode = 0,
  PointwiseMathPrecision = 1,
  PointwiseReluLowerClipSlope = 5,
  ConvolutionCompType = 100,
  ConvolutionMode = 101,
  ConvolutionDilations = 102,
  ConvolutionFilterStrides = 103,
  ConvolutionPostPaddings = 104,
  ConvolutionPrePaddings = 105,
  ConvolutionSpatialDims = 106,
  HeuristicsMode = 200,
  HeuristicsOperationGraph = 201,
  HeuristicsResults = 202,
  HeuristicsDeviceProperties = 204,
  EngineConfigEngine = 300,
  EngineConfigKnobChoices = 302,
  PlanHandle = 400,
  PlanEngineConfig = 401,
  PlanWorkspaceSize = 402,
  PlanDeviceProperties = 407,
  KnobChoiceType = 600,
  KnobChoiceValue = 601,
  // Alpha, beta, convolution, then the tensors in the header's order.
  ForwardAlpha = 700,
  ForwardBeta = 701,
  ForwardConvolution = 702,
  ForwardW = 703,
  ForwardX = 704,
  ForwardY = 705,
  BackwardDataAlpha = 706,
  BackwardDataBeta = 707,
  BackwardDataConvolution = 708,
  BackwardDataW = 709,
  BackwardDataDx = 710,
  BackwardDataDy = 711,
  BackwardFilterAlpha = 712,
  BackwardFilterBeta = 713,
  BackwardFilterConvolution = 714,
  BackwardFilterDw = 715,
  BackwardFilterX = 716,
  BackwardFilterDy = 717,
  PointwiseOpDescriptor = 750,
  PointwiseX = 751,
  PointwiseB = 752,
  PointwiseY = 753,
  GraphHandle = 800,
  GraphOperations = 801,
  TensorByteAlignment = 900,
  TensorDataType = 901,
  TensorDimensions = 902,
  TensorStrides = 903,
  TensorUniqueId = 906,
  TensorIsVirtual = 907,
  VariantPackUniqueIds = 1000,
  VariantPackDataPointers = 1001,
  VariantPackWorkspace = 1003,
  EngineGlobalIndex = 1301,
  EngineNumericalNote = 1303,
  DevicePropertiesJson = 2702
};

inline constexpr int CrossCorrelation = 1;
inline constexpr int PointwiseAdd = 0;
inline constexpr int PointwiseReluForward = 100;
enum HeurMode : int { HeurModeB = 1, HeurModeFallback = 2, HeurModeA = 3 };
enum NumericalNote : int {
  NoteTensorCore = 0,
  NoteDownConvertInputs = 1,
  NoteReducedPrecisionReduction = 2,
  NoteFft = 3,
  NoteNondeterministic = 4,
  NoteWinogradTile6x6 = 7,
  NoteWinogradTile13x13 = 8,
  NoteCount = 10
};

using Handle = void *;
using BackendDescriptor = void *;
using LegacyTensor = void *;
using LegacyActivation = void *;
using LegacyOpTensor = void *;

#define BREW_CUDNN_FUNCTIONS(FUNCTION)                                         \
  FUNCTION(cudnnGetVersion, std::size_t, ())                                   \
  FUNCTION(cudnnGetErrorString, const char *, (int))                           \
  FUNCTION(cudnnGetLastErrorString, void, (char *, std::size_t))               \
  FUNCTION(cudnnCreate, int, (Handle *))                                       \
  FUNCTION(cudnnDestroy, int, (Handle))                                        \
  FUNCTION(cudnnSetStream, int, (Handle, void *))                              \
  FUNCTION(cudnnBackendCreateDescriptor, int, (int, BackendDescriptor *))      \
  FUNCTION(cudnnBackendDestroyDescriptor, int, (BackendDescriptor))            \
  FUNCTION(cudnnBackendFinalize, int, (BackendDescriptor))                     \
  FUNCTION(cudnnBackendSetAttribute, int,                                      \
           (BackendDescriptor, int, int, std::int64_t, const void *))          \
  FUNCTION(                                                                    \
      cudnnBackendGetAttribute, int,                                           \
      (BackendDescriptor, int, int, std::int64_t, std::int64_t *, void *))     \
  FUNCTION(cudnnBackendExecute, int,                                           \
           (Handle, BackendDescriptor, BackendDescriptor))                     \
  FUNCTION(cudnnCreateTensorDescriptor, int, (LegacyTensor *))                 \
  FUNCTION(cudnnDestroyTensorDescriptor, int, (LegacyTensor))                  \
  FUNCTION(cudnnSetTensorNdDescriptor, int,                                    \
           (LegacyTensor, int, int, const int *, const int *))                 \
  FUNCTION(cudnnAddTensor, int,                                                \
           (Handle, const void *, LegacyTensor, const void *, const void *,    \
            LegacyTensor, void *))                                             \
  FUNCTION(cudnnCreateActivationDescriptor, int, (LegacyActivation *))         \
  FUNCTION(cudnnSetActivationDescriptor, int,                                  \
           (LegacyActivation, int, int, double))                               \
  FUNCTION(cudnnDestroyActivationDescriptor, int, (LegacyActivation))          \
  FUNCTION(cudnnActivationForward, int,                                        \
           (Handle, LegacyActivation, const void *, LegacyTensor,              \
            const void *, const void *, LegacyTensor, void *))                 \
  FUNCTION(cudnnCreateOpTensorDescriptor, int, (LegacyOpTensor *))             \
  FUNCTION(cudnnSetOpTensorDescriptor, int, (LegacyOpTensor, int, int, int))   \
  FUNCTION(cudnnDestroyOpTensorDescriptor, int, (LegacyOpTensor))              \
  FUNCTION(cudnnOpTensor, int,                                                 \
           (Handle, LegacyOpTensor, const void *, LegacyTensor, const void *,  \
            const void *, LegacyTensor, const void *, const void *,            \
            LegacyTensor, void *))                                             \
  FUNCTION(cudnnConvolutionBackwardBias, int,                                  \
           (Handle, const void *, LegacyTensor, const void *, const void *,    \
            LegacyTensor, void *))

struct Api {
#define BREW_DECLARE(NAME, RESULT, ARGUMENTS) RESULT(*NAME) ARGUMENTS = nullptr;
  BREW_CUDNN_FUNCTIONS(BREW_DECLARE)
#undef BREW_DECLARE

  /// Opens the library, which stays open until the process ends. Throws Failure
  /// with the needed and the found version if it is missing or too old.
  static const Api &open();
  /// Throws Failure, "ACTION: MESSAGE OF CUDNN", unless `status` is Success.
  void check(int status, const char *action) const;
  /// Returns "cuDNN 9.19.0".
  std::string name() const;
};

/// An owning handle of a descriptor of cuDNN's backend API.
class Descriptor {
public:
  Descriptor() = default;
  Descriptor(const Api &api, DescriptorType type);
  Descriptor(Descriptor &&other) noexcept
      : api(other.api), descriptor(std::exchange(other.descriptor, nullptr)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(api, other.api);
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~Descriptor() {
    if (descriptor)
      api->cudnnBackendDestroyDescriptor(descriptor);
  }

  BackendDescriptor get() const { return descriptor; }

  template <typename Value>
  Descriptor &set(Attribute attribute, AttributeType type,
                  const std::vector<Value> &values) {
    return set(attribute, type, static_cast<std::int64_t>(values.size()),
               values.data());
  }
  template <typename Value>
  Descriptor &set(Attribute attribute, AttributeType type, Value value) {
    return set(attribute, type, 1, &value);
  }
  Descriptor &set(Attribute attribute, const Descriptor &value) {
    return set(attribute, TypeBackendDescriptor, value.get());
  }
  /// Finalizes the descriptor; attributes cannot be set afterwards.
  Descriptor &finalize();

  /// Returns the number of values of an attribute.
  std::int64_t count(Attribute attribute, AttributeType type) const;
  /// Returns the first `maxCount` values of an attribute, or all if fewer.
  template <typename Value>
  std::vector<Value> get(Attribute attribute, AttributeType type,
                         std::int64_t maxCount) const {
    std::vector<Value> values(static_cast<std::size_t>(maxCount));
    std::int64_t found = 0;
    read(attribute, type, maxCount, &found, values.data());
    values.resize(static_cast<std::size_t>(std::min(found, maxCount)));
    return values;
  }
  /// Reads descriptors into `targets`, which must have been created. Returns
  /// the number of descriptors read.
  std::int64_t get(Attribute attribute, std::vector<Descriptor> &targets) const;

private:
  Descriptor &set(Attribute attribute, AttributeType type, std::int64_t count,
                  const void *values);
  void read(Attribute attribute, AttributeType type, std::int64_t maxCount,
            std::int64_t *found, void *values) const;

  const Api *api = nullptr;
  BackendDescriptor descriptor = nullptr;
};

} // namespace brew::runtime::cuda::cudnn
