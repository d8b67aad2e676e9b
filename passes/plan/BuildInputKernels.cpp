//===- BuildInputKernels.cpp - Kernels that convert pixels ----------------===//
#include "caffe/DataLayerKinds.h"
#include "caffe/RecordSelection.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Plan/PlanDialect.h"
#include "formats/caffe.pb.h"
#include "passes/Passes.h"
#include "passes/fused/OutlineKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <array>
#include <optional>

namespace brew::passes {
#define GEN_PASS_DEF_BUILDINPUTKERNELS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
namespace caffe = brew::caffe;

namespace {

/// Indices of dimensions, in Caffe's order.
enum : int64_t { N, C, H, W };

/// Columns of the kernel's argument `crop_and_mirror`, which has a row per
/// image: whether the image is mirrored, and the first row and column of its
/// crop.
enum : int64_t { IsMirrored, CropRow, CropColumn, CropAndMirrorColumns };

/// Returns the type of the dense tensor in a data layer's buffer, including
/// padding channels; nullopt if the buffer is not dense.
std::optional<RankedTensorType>
tensorOfBuffer(brew::dialects::plan::BufferOp op) {
  auto buffer = cast<MemRefType>(op.getType());
  SmallVector<int64_t> strides, shape(buffer.getShape());
  int64_t offset;
  if (failed(buffer.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  if (op.getPadded()) {
    shape[C] = *op.getPadded();
    buffer =
        MemRefType::get(shape, buffer.getElementType(), buffer.getLayout());
  }
  SmallVector<int64_t> order = iota(buffer.getRank());
  llvm::stable_sort(
      order, [&](int64_t x, int64_t y) { return strides[x] > strides[y]; });
  auto type = withMemoryOrder(
      RankedTensorType::get(shape, buffer.getElementType()), order);
  if (memrefTypeOf(type) != buffer)
    return std::nullopt;
  return type;
}

/// Returns the dimensions of the mean that the kernel reads, empty for a single
/// number. Returns nullopt if the mean is unknown at compile time or does not
/// match the images; the runtime reports the latter.
std::optional<SmallVector<int64_t>>
meanDims(brew::dialects::plan::DataInputOp dataInput, ArrayRef<int64_t> image) {
  const caffe::TransformationParameter &transform =
      dataInput.getConfig().getLayer().transform_param();
  if (!transform.has_mean_file()) {
    if (transform.mean_value_size() <= 1)
      return SmallVector<int64_t>();
    if (transform.mean_value_size() != image[C])
      return std::nullopt;
    return SmallVector<int64_t>{image[C], 1, 1};
  }
  auto dims = dataInput.getMeanFileDims();
  if (!dims || transform.mean_value_size())
    return std::nullopt;
  if (dims->size() != 3 || (*dims)[0] != image[C] || (*dims)[1] < image[H] ||
      (*dims)[2] < image[W])
    return std::nullopt;
  return SmallVector<int64_t>(*dims);
}

/// Full records are copied to the device if they are at most this many times as
/// large as their crops. Copying a crop row by row costs the CPU about as much
/// as copying the full record. Beyond this factor, the unused bytes cost more
/// (CPU time, transfer, memory of host and device) than cropping on the device
/// saves.
constexpr int64_t kMaxRecordRatio = 2;

/// Returns the numbers of rows and columns of the images that are copied to the
/// device: of the full records, if these are known and not too large (see
/// kMaxRecordRatio), otherwise of the top.
std::array<int64_t, 2> imageDims(brew::dialects::plan::DataInputOp dataInput,
                                 ArrayRef<int64_t> top,
                                 ArrayRef<int64_t> mean) {
  const caffe::TransformationParameter &transform =
      dataInput.getConfig().getLayer().transform_param();
  const std::array<int64_t, 2> cropped = {top[H], top[W]};
  if (!transform.crop_size())
    return cropped;
  std::array<int64_t, 2> record = cropped;
  if (transform.has_mean_file())
    record = {mean[1], mean[2]};
  else if (auto dims = dataInput.getRecordDims(); dims && dims->size() == 3)
    record = {(*dims)[1], (*dims)[2]};
  const bool copiesRecords = record[0] >= top[H] && record[1] >= top[W] &&
                             double(record[0]) * double(record[1]) <=
                                 double(kMaxRecordRatio * top[H] * top[W]);
  return copiesRecords ? record : cropped;
}

/// Builds the kernel of one data layer.
class PixelKernelBuilder {
public:
  /// `channels`: channels of `top` without padding. `image`: numbers of rows
  /// and columns of the images that the kernel reads.
  PixelKernelBuilder(OpBuilder &b, Location loc, RankedTensorType top,
                     int64_t channels, std::array<int64_t, 2> image,
                     ArrayRef<int64_t> mean,
                     const caffe::TransformationParameter &transform)
      : b(b), loc(loc), top(top), channels(channels), image(image), mean(mean),
        transform(transform) {}

  brew::dialects::plan::KernelOp build(StringRef name, StringRef layer,
                                       StringRef blob) {
    auto kernel = brew::dialects::plan::KernelOp::create(
        b, loc, name, b.getDenseI64ArrayAttr({-1}), b.getStrArrayAttr({layer}),
        nullptr);
    SmallVector<StringRef> names = {"pixels", "crop_and_mirror"};
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&kernel.getBody());
    pixels = body->addArgument(
        RankedTensorType::get({top.getDimSize(N), channels, image[0], image[1]},
                              b.getI8Type()),
        loc);
    cropAndMirror = body->addArgument(
        RankedTensorType::get({top.getDimSize(N), CropAndMirrorColumns},
                              b.getI32Type()),
        loc);
    if (!mean.empty()) {
      means =
          body->addArgument(RankedTensorType::get(mean, b.getF32Type()), loc);
      names.push_back("mean");
    }
    names.push_back(blob);
    kernel.setArgumentNamesAttr(b.getStrArrayAttr(names));
    YieldOp::create(b, loc, ValueRange{buildConversion(layer)});
    return kernel;
  }

private:
  Value buildConversion(StringRef layer) {
    // Adjacent threads write adjacent elements.
    SmallVector<int64_t> order = memoryOrder(top), extents, loops(4);
    for (auto [loop, dim] : llvm::enumerate(order)) {
      extents.push_back(top.getDimSize(dim));
      loops[dim] = loop;
    }
    NestBuilder nest(b, loc, extents);
    nest.output(top, loops);
    Value result =
        nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          return {buildElement(body, loops)};
        })[0];
    Operation *generic = result.getDefiningOp();
    Origin{b.getStringAttr(layer)}.mark(generic);
    NestGrid{/*subKernel=*/0, /*gridLoops=*/4}.mark(generic);
    return result;
  }

  Value buildElement(NestBuilder::Body &body, ArrayRef<int64_t> loops) {
    ScalarBuilder &s = body.s;
    Value n = body.loop(loops[N]), c = body.loop(loops[C]),
          h = body.loop(loops[H]), w = body.loop(loops[W]);
    const bool isPadded = channels != top.getDimSize(C);
    Value isImageChannel;
    if (isPadded) {
      isImageChannel = s.less(c, s.index(channels));
      c = s.clamp(c, channels);
    }
    auto cropAndMirrorOf = [&](int64_t field) {
      return body.read(cropAndMirror, {n, s.index(field)});
    };
    Value mirrored = arith::CmpIOp::create(
        s.b, loc, arith::CmpIPredicate::ne, cropAndMirrorOf(IsMirrored),
        arith::ConstantOp::create(s.b, loc, s.b.getI32IntegerAttr(0)));
    Value sourceColumn =
        s.select(mirrored, s.subi(s.index(top.getDimSize(W) - 1), w), w);
    auto addCropOffset = [&](int64_t field, Value index) -> Value {
      return s.addi(index,
                    arith::IndexCastOp::create(s.b, loc, s.b.getIndexType(),
                                               cropAndMirrorOf(field)));
    };
    const bool crops =
        image[0] != top.getDimSize(H) || image[1] != top.getDimSize(W);
    const bool meanIsImage = transform.has_mean_file();
    Value recordRow, recordColumn;
    if (crops || meanIsImage) {
      recordRow = addCropOffset(CropRow, h);
      recordColumn = addCropOffset(CropColumn, sourceColumn);
    }
    Type elementType = top.getElementType();
    // 16-bit blobs are rounded once, from single precision.
    Type computeType =
        elementType.isF64() ? elementType : Type(s.b.getF32Type());
    Value pixel = arith::UIToFPOp::create(
        s.b, loc, computeType,
        crops ? body.read(pixels, {n, c, recordRow, recordColumn})
              : body.read(pixels, {n, c, h, sourceColumn}));
    // The order of Caffe's data_transformer: (pixel - mean) * scale.
    Value value = s.mul(
        s.sub(pixel,
              meanIsImage
                  ? meanAt(body, computeType, {c, recordRow, recordColumn})
                  : meanAt(body, computeType, {c, s.index(0), s.index(0)})),
        s.constant(computeType, transform.scale()));
    if (isPadded)
      value = s.select(isImageChannel, value, s.constant(computeType, 0));
    if (computeType != elementType)
      value = arith::TruncFOp::create(s.b, loc, elementType, value);
    return value;
  }

  Value meanAt(NestBuilder::Body &body, Type computeType,
               ArrayRef<Value> position) {
    ScalarBuilder &s = body.s;
    if (!means)
      return s.constant(computeType, transform.mean_value_size()
                                         ? transform.mean_value(0)
                                         : 0);
    Value value = body.read(means, position);
    if (computeType.isF64())
      value = arith::ExtFOp::create(s.b, loc, computeType, value);
    return value;
  }

  OpBuilder &b;
  Location loc;
  RankedTensorType top;
  int64_t channels;
  std::array<int64_t, 2> image;
  ArrayRef<int64_t> mean;
  const caffe::TransformationParameter &transform;
  Value pixels, cropAndMirror, means;
};

struct BuildInputKernels
    : brew::passes::impl::BuildInputKernelsBase<BuildInputKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<brew::dialects::plan::DataInputOp> dataInputs;
    module.walk([&](brew::dialects::plan::DataInputOp dataInput) {
      const auto *kind = brew::caffe::findDataLayerKind(dataInput.getKind());
      // The CPU converts items with several images.
      if (kind && kind->hasImages() &&
          brew::caffe::recordSelectionOf(dataInput.getConfig().getLayer())
                  .imagesPerItem == 1)
        dataInputs.push_back(dataInput);
    });
    for (brew::dialects::plan::DataInputOp dataInput : dataInputs)
      build(dataInput, symbols);
  }

private:
  void build(brew::dialects::plan::DataInputOp dataInput,
             SymbolTable &symbols) {
    const caffe::LayerParameter &layer = dataInput.getConfig().getLayer();
    auto data = dataInput.getBuffers()[0]
                    .getDefiningOp<brew::dialects::plan::BufferOp>();
    auto buffer = cast<MemRefType>(data.getType());
    if (buffer.getRank() != 4 || !isa<FloatType>(buffer.getElementType()))
      return;
    std::optional<RankedTensorType> top = tensorOfBuffer(data);
    auto mean = meanDims(dataInput, buffer.getShape());
    if (!top || !mean)
      return;
    OpBuilder b(dataInput->getParentOfType<brew::dialects::plan::ProgramOp>());
    const std::string name =
        brew::passes::toIdentifier((dataInput.getLayer() + "_pixels").str());
    brew::dialects::plan::KernelOp kernel =
        PixelKernelBuilder(b, dataInput.getLoc(), *top, buffer.getDimSize(C),
                           imageDims(dataInput, buffer.getShape(), *mean),
                           *mean, layer.transform_param())
            .build(name, dataInput.getLayer(), data.getName());
    // Makes the name unique if several programs contain the layer.
    kernel->remove();
    dataInput.setPixelKernel(
        symbols.insert(kernel, Block::iterator(dataInput->getParentOp()))
            .getValue());
    if (!mean->empty())
      dataInput.setMeanDims(*mean);
  }
};
} // namespace
