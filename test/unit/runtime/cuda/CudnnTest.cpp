//===- CudnnTest.cpp - Tests of the cuDNN adapter without a GPU -----------===//
#include "runtime/cuda/cudnn/CudnnAdapter.h"
#include "runtime/cuda/cudnn/CudnnApi.h"
#include "runtime/cuda/cudnn/CudnnEpilogue.h"
#include "runtime/cuda/cudnn/CudnnGraph.h"

#include <gtest/gtest.h>

#ifdef BREW_HAVE_CUDNN_HEADER
#include <cudnn_graph.h>
#include <cudnn_ops.h>
#endif

#include <optional>

using namespace brew::runtime::cuda;
using namespace brew::runtime::cuda::cudnn;

namespace {

#ifdef BREW_HAVE_CUDNN_HEADER
TEST(Cudnn, ConstantsEqualTheHeaders) {
  EXPECT_EQ(int(Float), CUDNN_DATA_FLOAT);
  EXPECT_EQ(int(Double), CUDNN_DATA_DOUBLE);
  EXPECT_EQ(int(Half), CUDNN_DATA_HALF);
  EXPECT_EQ(int(BFloat16), CUDNN_DATA_BFLOAT16);
  EXPECT_EQ(int(TypeHandle), CUDNN_TYPE_HANDLE);
  EXPECT_EQ(int(TypeKnobType), CUDNN_TYPE_KNOB_TYPE);
  EXPECT_EQ(int(TypeNumericalNote), CUDNN_TYPE_NUMERICAL_NOTE);
  EXPECT_EQ(int(TypePointwiseMode), CUDNN_TYPE_POINTWISE_MODE);
  EXPECT_EQ(int(TypeBackendDescriptor), CUDNN_TYPE_BACKEND_DESCRIPTOR);
  EXPECT_EQ(int(PointwiseDescriptor), CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  EXPECT_EQ(int(EngineHeuristicsDescriptor),
            CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  EXPECT_EQ(int(ConvolutionBackwardFilterDescriptor),
            CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
  EXPECT_EQ(int(PointwiseOperationDescriptor),
            CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  EXPECT_EQ(int(OperationGraphDescriptor),
            CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  EXPECT_EQ(int(TensorDescriptor), CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  EXPECT_EQ(int(PointwiseReluLowerClipSlope),
            CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE);
  EXPECT_EQ(int(ConvolutionPrePaddings), CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  EXPECT_EQ(int(HeuristicsResults), CUDNN_ATTR_ENGINEHEUR_RESULTS);
  EXPECT_EQ(int(EngineConfigKnobChoices), CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
  EXPECT_EQ(int(PlanWorkspaceSize), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  EXPECT_EQ(int(KnobChoiceValue), CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
  EXPECT_EQ(int(ForwardY), CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
  EXPECT_EQ(int(BackwardDataDy), CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
  EXPECT_EQ(int(BackwardDataDx), CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
  EXPECT_EQ(int(BackwardFilterDw),
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
  EXPECT_EQ(int(BackwardFilterX),
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
  EXPECT_EQ(int(PointwiseB), CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  EXPECT_EQ(int(GraphOperations), CUDNN_ATTR_OPERATIONGRAPH_OPS);
  EXPECT_EQ(int(TensorIsVirtual), CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  EXPECT_EQ(int(VariantPackWorkspace), CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  EXPECT_EQ(int(VariantPackDataPointers),
            CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  EXPECT_EQ(int(EngineGlobalIndex), CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  EXPECT_EQ(int(EngineNumericalNote), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  EXPECT_EQ(CrossCorrelation, CUDNN_CROSS_CORRELATION);
  EXPECT_EQ(PointwiseReluForward, CUDNN_POINTWISE_RELU_FWD);
  EXPECT_EQ(int(HeurModeA), CUDNN_HEUR_MODE_A);
  EXPECT_EQ(int(HeurModeB), CUDNN_HEUR_MODE_B);
  EXPECT_EQ(int(NoteNondeterministic), CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  EXPECT_EQ(int(NoteWinogradTile13x13),
            CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13);
  EXPECT_EQ(int(NoteCount), CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  EXPECT_EQ(int(NoteDownConvertInputs),
            CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  EXPECT_EQ(int(NoteReducedPrecisionReduction),
            CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
  EXPECT_EQ(PropagateNan, CUDNN_PROPAGATE_NAN);
  EXPECT_EQ(ActivationRelu, CUDNN_ACTIVATION_RELU);
  EXPECT_EQ(int(OpTensorMin), CUDNN_OP_TENSOR_MIN);
  EXPECT_EQ(int(OpTensorMax), CUDNN_OP_TENSOR_MAX);
#if CUDNN_VERSION >= 90800
  EXPECT_EQ(int(TypeChar), CUDNN_TYPE_CHAR);
  EXPECT_EQ(int(DevicePropertiesDescriptor),
            CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  EXPECT_EQ(int(DevicePropertiesJson),
            CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
  EXPECT_EQ(int(HeuristicsDeviceProperties), CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
  EXPECT_EQ(int(PlanDeviceProperties), CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
#endif
}
#endif

/// Returns the functions of cuDNN, or null if it cannot be opened.
const Api *library() {
  static const Api *api = []() -> const Api * {
    try {
      return &Api::open();
    } catch (const Failure &) {
      return nullptr;
    }
  }();
  return api;
}

BrewVendorTensor tensor(int32_t type, std::vector<std::int64_t> dims) {
  BrewVendorTensor result = {};
  result.type = type;
  result.rank = static_cast<int32_t>(dims.size());
  result.alignment = 16;
  std::int64_t next = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    result.dims[d] = dims[d];
    result.strides[d] = next;
    next *= dims[d];
  }
  return result;
}

BrewVendorConvolution convolution(BrewVendorDirection direction,
                                  int32_t type = BREW_VENDOR_F32) {
  BrewVendorConvolution call = {};
  call.direction = direction;
  call.math = BREW_VENDOR_STRICT;
  call.has_bias = direction != BREW_VENDOR_BACKWARD_DATA;
  call.x = tensor(type, {8, 4, 10, 12});
  call.w = tensor(type, {6, 2, 3, 3}); // two groups
  call.b = tensor(type, {6});
  call.y = tensor(type, {8, 6, 5, 6});
  for (int i = 0; i < call.x.rank - 2; ++i) {
    call.pad[i] = call.pad_end[i] = 1;
    call.stride[i] = 2;
    call.dilation[i] = 1;
  }
  call.groups = 2;
  return call;
}

/// Returns a convolution over three dimensions.
BrewVendorConvolution convolution3d(BrewVendorDirection direction,
                                    int32_t type) {
  BrewVendorConvolution call = convolution(direction, type);
  call.x = tensor(type, {8, 4, 7, 10, 12});
  call.w = tensor(type, {6, 2, 3, 3, 3});
  call.y = tensor(type, {8, 6, 4, 5, 6});
  call.pad[2] = call.pad_end[2] = call.dilation[2] = 1;
  call.stride[2] = 2;
  return call;
}

// cuDNN checks descriptors when they are finalized, without a device.
TEST(Cudnn, OperationsAreWellFormed) {
  if (!library())
    GTEST_SKIP() << "no cuDNN 9 here";
  for (int32_t type :
       {BREW_VENDOR_F32, BREW_VENDOR_F64, BREW_VENDOR_BF16, BREW_VENDOR_F16})
    for (auto direction : {BREW_VENDOR_FORWARD, BREW_VENDOR_BACKWARD_DATA,
                           BREW_VENDOR_BACKWARD_WEIGHTS})
      for (int accumulate : {0, 1}) {
        BrewVendorConvolution call = convolution(direction, type);
        call.accumulate = accumulate;
        const Operations bare = convolutionOnly(*library(), call);
        EXPECT_EQ(bare.operations.size(), 1u);
        EXPECT_EQ(bare.ids, (std::vector<std::int64_t>{IdX, IdW, IdY}));
        call = convolution3d(direction, type);
        call.accumulate = accumulate;
        EXPECT_EQ(convolutionOnly(*library(), call).operations.size(), 1u);
        // More padding after the last column adds a column to y.
        call = convolution(direction, type);
        call.pad_end[1] = 2;
        call.y = tensor(type, {8, 6, 5, 7});
        EXPECT_NO_THROW(convolutionOnly(*library(), call));
        call.pad_end[1] = 0;
        EXPECT_THROW(convolutionOnly(*library(), call), Failure);
        call = convolution3d(direction, type);
        call.relu = 1;
        if (direction == BREW_VENDOR_FORWARD && !accumulate) {
          EXPECT_EQ(convolutionFused(*library(), call).operations.size(), 3u);
        }
      }
}

TEST(Cudnn, FusedOperationsAreWellFormed) {
  if (!library())
    GTEST_SKIP() << "no cuDNN 9 here";
  for (int bias : {0, 1})
    for (int relu : {0, 1})
      for (float slope : {0.0f, 0.25f}) {
        BrewVendorConvolution call = convolution(BREW_VENDOR_FORWARD);
        call.has_bias = bias;
        call.relu = relu;
        call.negative_slope = slope;
        EXPECT_NO_THROW(Epilogue(*library(), call));
        if (!bias && !relu)
          continue;
        const Operations fused = convolutionFused(*library(), call);
        EXPECT_EQ(fused.operations.size(), std::size_t(1 + bias + relu));
        EXPECT_EQ(fused.ids.size(), std::size_t(3 + bias));
      }
}

TEST(Cudnn, ReportsWrongShapes) {
  if (!library())
    GTEST_SKIP() << "no cuDNN 9 here";
  BrewVendorConvolution call = convolution(BREW_VENDOR_FORWARD);
  call.y.dims[2] = 7;
  try {
    convolutionOnly(*library(), call);
    FAIL() << "nothing was thrown";
  } catch (const Failure &failure) {
    EXPECT_NE(std::string(failure.what()).find("CUDNN_STATUS_BAD_PARAM"),
              std::string::npos)
        << failure.what();
  }
}

TEST(Cudnn, OpeningWithoutADeviceReportsTheReason) {
  const BrewVendorTable &table = cudnnVendorTable();
  EXPECT_EQ(table.version, unsigned(BREW_VENDOR_TABLE_VERSION));
  BrewVendorContext *context = nullptr;
  char message[BREW_VENDOR_MESSAGE_SIZE] = "";
  if (table.open(&context, message) == 0) {
    EXPECT_EQ(std::string(table.name(context)).find("cuDNN 9."), 0u);
    table.close(context);
    GTEST_SKIP() << "this machine has a GPU";
  }
  const std::string text = message;
  EXPECT_EQ(text.find(library() ? "starting cuDNN: "
                                : "this plan needs cuDNN 9.0.0 or later"),
            0u)
      << text;
}

} // namespace
