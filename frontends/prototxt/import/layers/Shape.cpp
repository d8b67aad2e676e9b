//===- Shape.cpp - Layers that change shapes or move elements -------------===//

#include "dialects/Brew/layers/shape/Shape.h"
#include "dialects/Brew/layers/pooling/Pooling.h"
#include "dialects/Brew/layers/shape/Resample.h"
#include "frontends/prototxt/import/LayerBuilder.h"

using namespace brew::dialects;

namespace brew::prototxt {

namespace {

template <typename List>
llvm::SmallVector<int64_t> integersOf(const List &list) {
  return {list.begin(), list.end()};
}

void buildConcat(LayerBuilder &l) {
  const caffe::ConcatParameter &settings = l.layer.concat_param();
  l.layerOp<ConcatOp>().setAxis(settings.has_concat_dim()
                                    ? int64_t{settings.concat_dim()}
                                    : int64_t{settings.axis()});
}

void buildSlice(LayerBuilder &l) {
  const caffe::SliceParameter &settings = l.layer.slice_param();
  auto op = l.layerOp<SliceOp>();
  op.setAxis(settings.has_slice_dim() ? int64_t{settings.slice_dim()}
                                      : int64_t{settings.axis()});
  op.setPoints(integersOf(settings.slice_point()));
}

void buildCrop(LayerBuilder &l) {
  const caffe::CropParameter &settings = l.layer.crop_param();
  auto op = l.layerOp<CropOp>();
  op.setAxis(settings.axis());
  op.setOffsets(integersOf(settings.offset()));
}

void buildReshape(LayerBuilder &l) {
  const caffe::ReshapeParameter &settings = l.layer.reshape_param();
  auto op = l.layerOp<ReshapeOp>();
  op.setDims(integersOf(settings.shape().dim()));
  op.setAxis(settings.axis());
  op.setNumAxes(settings.num_axes());
}

void buildFlatten(LayerBuilder &l) {
  const caffe::FlattenParameter &settings = l.layer.flatten_param();
  auto op = l.layerOp<FlattenOp>();
  op.setAxis(settings.axis());
  op.setEndAxis(settings.end_axis());
}

void buildSqueeze(LayerBuilder &l) {
  l.layerOp<SqueezeOp>().setAxes(integersOf(l.layer.squeeze_param().axis()));
}

void buildPermute(LayerBuilder &l) {
  l.layerOp<PermuteOp>().setOrder(integersOf(l.layer.permute_param().order()));
}

void buildTranspose(LayerBuilder &l) {
  l.layerOp<PermuteOp>().setOrder(integersOf(l.layer.transpose_param().dim()));
}

void buildReverse(LayerBuilder &l) {
  llvm::SmallVector<int64_t> axes = integersOf(l.layer.reverse_param().axis());
  if (axes.empty())
    axes = {0};
  l.layerOp<ReverseOp>().setAxes(axes);
}

/// Reverses the rows, the columns or both.
void buildFlip(LayerBuilder &l) {
  const caffe::FlipParameter &settings = l.layer.flip_param();
  llvm::SmallVector<int64_t> axes;
  if (settings.flip_height())
    axes.push_back(2);
  if (settings.flip_width())
    axes.push_back(3);
  if (axes.empty())
    l.layerOp<SplitOp>();
  else
    l.layerOp<ReverseOp>().setAxes(axes);
}

void buildPad(LayerBuilder &l) {
  const caffe::PadParameter &settings = l.layer.pad_param();
  auto op = l.layerOp<PadOp>();
  op.setPaddings(integersOf(settings.paddings()));
  op.setValue(llvm::APFloat(settings.constant_values()));
}

void buildTile(LayerBuilder &l) {
  const caffe::TileParameter &settings = l.layer.tile_param();
  auto op = l.layerOp<TileOp>();
  op.setAxis(settings.axis());
  op.setTiles(settings.tiles());
}

void buildParameter(LayerBuilder &l) {
  l.layerOp<ParameterOp>().setDims(
      integersOf(l.layer.parameter_param().shape().dim()));
}

void buildShuffleChannel(LayerBuilder &l) {
  l.layerOp<ShuffleChannelOp>().setGroup(
      l.layer.shuffle_channel_param().group());
}

void buildReorg(LayerBuilder &l) {
  const caffe::ReorgParameter &settings = l.layer.reorg_param();
  auto op = l.layerOp<ReorgOp>();
  op.setStride(settings.stride());
  op.setReverse(settings.reverse());
}

/// Builds an Upsample whose second bottom is the mask of a max pooling.
void buildUnpooling(LayerBuilder &l) {
  const caffe::UpsampleParameter &settings = l.layer.upsample_param();
  auto op = l.layerOp<MaxUnpoolingOp>(l.integerType);
  op.setSize({});
  if (settings.has_upsample_h())
    op.setSize({settings.upsample_h(), settings.upsample_w()});
  op.setScale({unpoolingScale(settings, 0), unpoolingScale(settings, 1)});
  op.setPadOut({settings.pad_out_h(), settings.pad_out_w()});
  // Positions in the mask are checked like labels: the plane is their limit.
  l.checkLabels(op.getStatus());
}

void buildUpsample(LayerBuilder &l) {
  const caffe::UpsampleParameter &settings = l.layer.upsample_param();
  if (l.bottoms.size() == 2)
    return buildUnpooling(l);
  const int64_t sharedScale = settings.has_scale() ? settings.scale() : 1;
  l.layerOp<UpsampleOp>().setScale(
      {settings.has_scale_h() ? int64_t{settings.scale_h()} : sharedScale,
       settings.has_scale_w() ? int64_t{settings.scale_w()} : sharedScale});
}

void buildUpsampleDarknet(LayerBuilder &l) {
  const int64_t stride = l.layer.upsample_darknet_param().stride();
  l.layerOp<UpsampleOp>().setScale({stride, stride});
}

void buildInterp(LayerBuilder &l) {
  const caffe::InterpParameter &settings = l.layer.interp_param();
  auto op = l.layerOp<InterpOp>();
  op.setSize({});
  if (!settings.has_zoom_factor() && !settings.has_shrink_factor() &&
      l.bottoms.size() == 1)
    op.setSize({settings.height(), settings.width()});
  op.setZoom(settings.zoom_factor());
  op.setShrink(settings.shrink_factor());
  op.setPadBeg(settings.pad_beg());
  op.setPadEnd(settings.pad_end());
}

void buildCropCenter(LayerBuilder &l) {
  l.layerOp<CropCenterOp>().setSizes(
      integersOf(l.layer.crop_center_param().crop_size()));
}

/// Sets which positions each position of the result reads.
void setPositions(ResizeOp op, bool alignCorners, float before, float after) {
  op.setAlignCorners(alignCorners);
  op.setBefore(llvm::APFloat(before));
  op.setAfter(llvm::APFloat(after));
}

/// Creates a resizing to the size of Synopsys Caffe's layers.
template <typename Settings>
ResizeOp addResize(LayerBuilder &l, const Settings &settings) {
  auto op = l.layerOp<ResizeOp>();
  op.setSize({settings.output_height(), settings.output_width()});
  op.setScale({settings.scale_height(), settings.scale_width()});
  op.setAxis(settings.data_format() == "NCHW" ? 2 : 1);
  return op;
}

void buildResizeBilinear(LayerBuilder &l) {
  const caffe::ResizeBilinearParameter &settings =
      l.layer.resize_bilinear_param();
  auto op = addResize(l, settings);
  const bool readsCenters =
      settings.half_pixel_centers() || settings.pytorch_half_pixel();
  setPositions(op, settings.align_corners(), readsCenters ? 0.5F : 0,
               readsCenters ? -0.5F : 0);
  op.setSingleReadsFirst(settings.pytorch_half_pixel());
}

/// The nearest position is the center rounded up, except that half_pixel_onnx
/// rounds it down.
void buildResizeNearestNeighbor(LayerBuilder &l) {
  const caffe::ResizeNearestNeighborParameter &settings =
      l.layer.resize_nearest_neighbor_param();
  auto op = addResize(l, settings);
  const bool readsCenters =
      settings.half_pixel_centers() || settings.half_pixel_onnx();
  setPositions(op, settings.align_corners(), readsCenters ? 0.5F : 0,
               settings.align_corners()     ? 0.5F
               : settings.half_pixel_onnx() ? -0.5F
                                            : 0);
  op.setNearest(true);
}

/// As in the forks, elements beyond the last row and column are 0.
void buildResize(LayerBuilder &l) {
  const caffe::ResizeImageParameter &settings = l.layer.resize_param();
  auto op = l.layerOp<ResizeOp>();
  const bool isScaled = settings.is_pyramid_test();
  op.setSize(
      {isScaled ? 0 : settings.height(), isScaled ? 0 : settings.width()});
  op.setScale({settings.out_height_scale(), settings.out_width_scale()});
  op.setAxis(2);
  setPositions(op, false, 0, 0);
  op.setZeroOutside(true);
}

} // namespace

BuildFunctions shapeFunctions() {
  return {{"Axpy", buildPlain<AxpyOp>},
          {"Concat", buildConcat},
          {"Crop", buildCrop},
          {"CropCenter", buildCropCenter},
          {"Flatten", buildFlatten},
          {"Flip", buildFlip},
          {"Interp", buildInterp},
          {"Pad", buildPad},
          {"Parameter", buildParameter},
          {"Permute", buildPermute},
          {"Reorg", buildReorg},
          {"Reshape", buildReshape},
          {"Resize", buildResize},
          {"ResizeBilinear", buildResizeBilinear},
          {"ResizeNearestNeighbor", buildResizeNearestNeighbor},
          {"Reverse", buildReverse},
          {"ShuffleChannel", buildShuffleChannel},
          {"Silence", buildPlain<SilenceOp>},
          {"Slice", buildSlice},
          {"Split", buildPlain<SplitOp>},
          {"Squeeze", buildSqueeze},
          {"Tile", buildTile},
          {"Transpose", buildTranspose},
          {"Upsample", buildUpsample},
          {"UpsampleDarknet", buildUpsampleDarknet}};
}

} // namespace brew::prototxt
