//===- Detection.td - Layers of detection nets -------------*- tablegen -*-===//
#ifndef BREW_LAYERS_DETECTION_TD
#define BREW_LAYERS_DETECTION_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

defvar RoiAttributes = (ins I64Attr:$pooled_h, I64Attr:$pooled_w, F32Attr:$spatial_scale);
defvar RoiAlignAttributes = !con(RoiAttributes,
  (ins DefaultValuedAttr<F32Attr, "0">:$pad_ratio, I64Attr:$samples, UnitAttr:$corners, UnitAttr:$unit_steps));
class RoiBackward<string mnemonic, Trait rounding = Roundable>
    : Brew_Op<mnemonic, [Pure, LoopNests, rounding]> {
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_RoiPoolingOp : Brew_LayerOp<"roi_pooling",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Maximum of each cell of regions (Fast R-CNN)";
  let description = [{
    Shapes: x [N, C, H, W], rois [R, 5], y [R, C, pooled_h, pooled_w]. A row of `rois` is image,
    left, top, right, bottom, in pixels; `spatial_scale` is the number of positions of x per pixel.
    Each region first grows on each side by `pad_ratio` times its size in pixels.

    `argmax` is saved for the backward pass: the position row * width + column of the maximum,
    or -1 if the cell is empty (then y is 0).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$rois), layerAttributes, RoiAttributes,
    (ins DefaultValuedAttr<F32Attr, "0">:$pad_ratio));
  let results = (outs AnyTensor:$y, AnyTensor:$argmax);
}

def Brew_RoiPoolingBackwardOp : RoiBackward<"roi_pooling_backward"> {
  let summary = "Gradient of region pooling with respect to the features";
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$rois, AnyTensor:$argmax, StrAttr:$layer),
    RoiAttributes);
}

def Brew_PsRoiPoolingOp : Brew_LayerOp<"psroi_pooling",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Mean of each cell of regions, each cell with its own channels (R-FCN)";
  let description = [{
    Cell (i, j) of output channel d reads channel (d * group_size + i) * group_size + j.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$rois), layerAttributes,
    (ins I64Attr:$output_dim, I64Attr:$group_size, F32Attr:$spatial_scale));
  let results = (outs AnyTensor:$y);
}

def Brew_PsRoiPoolingBackwardOp : RoiBackward<"psroi_pooling_backward"> {
  let summary = "Gradient of position-sensitive region pooling with respect to the features";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$rois, StrAttr:$layer, F32Attr:$spatial_scale);
}

defvar DeformableAttributes = (ins I64Attr:$output_dim, I64Attr:$group_size,
  F32Attr:$spatial_scale, I64Attr:$samples, F32Attr:$offset_scale);

def Brew_DeformablePsRoiPoolingOp : Brew_LayerOp<"deformable_psroi_pooling",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Position-sensitive region pooling with moved cells (Deformable R-FCN)";
  let description = [{
    Cell (i, j) of output channel d reads channel (d * group_size + i) * group_size + j. It is
    the mean of the features, interpolated at `samples` x `samples` points, of those points that
    are at most half a position outside of the plane.

    `offsets` [R, 2 * classes, parts, parts] move the cells by `offset_scale` times the region's
    width (channel 2 * class) and height (2 * class + 1). Each class has output_dim / classes
    output channels. Cell (i, j) has the offset of part (i * parts / group_size, j * parts /
    group_size).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$rois, Optional<AnyTensor>:$offsets),
    layerAttributes, DeformableAttributes, (ins DefaultValuedAttr<I64Attr, "0">:$parts));
  let results = (outs AnyTensor:$y);
}

def Brew_DeformablePsRoiPoolingBackwardOp
    : RoiBackward<"deformable_psroi_pooling_backward", RoundableTops> {
  let summary = "Gradient of deformable region pooling with respect to the features";
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$rois, Optional<AnyTensor>:$offsets,
    StrAttr:$layer), DeformableAttributes);
}

def Brew_DeformablePsRoiPoolingBackwardOffsetsOp
    : RoiBackward<"deformable_psroi_pooling_backward_offsets", RoundableTops> {
  let summary = "Gradient of deformable region pooling with respect to the offsets";
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$x, AnyTensor:$rois, AnyTensor:$offsets,
    StrAttr:$layer), DeformableAttributes);
}

def Brew_RoiAlignOp : Brew_LayerOp<"roi_align",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Features interpolated at points of the cells of regions";
  let description = [{
    A region is divided into `pooled_h` x `pooled_w` equal cells, whose corners are not rounded.
    An element of y is the mean of the features at `samples` x `samples` equally spaced points of
    its cell. With 0 samples, a cell has as many points as it spans positions of x, at least 1
    (Mask R-CNN).

    With `corners`, y has one element for each corner of the cells instead, pixel centres are at
    half positions, and a region without extent yields 0 (Cascade R-CNN). Points too far outside
    of the plane count as 0.

    With `unit_steps`, a region includes its last pixel, and an element of y is the mean at the
    points of its cell that are whole positions from the cell's start. Cells are cut off at the
    plane's edges; y is 0 if nothing is left (ROIAlignment).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$rois), layerAttributes, RoiAlignAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_RoiAlignBackwardOp : RoiBackward<"roi_align_backward"> {
  let summary = "Gradient of interpolated regions with respect to the features";
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$rois, StrAttr:$layer), RoiAlignAttributes);
}

def Brew_PriorBoxOp : Brew_LayerOp<"prior_box", [Pure, LoopNests, ItemCounts, RoundableOperands]> {
  let summary = "SSD's default boxes around every position of x";
  let description = [{
    y is [1, 2, H * W * boxes * 4]: the corners as fractions of the image, then the variances.
    `widths` and `heights` are in pixels, one per box of a position. So are `x_shifts` and
    `y_shifts`, the position of a box's centre relative to that of its position (default: 0). A
    `step` of 0 is the image's extent divided by that of x. `image_size` (height, width) defaults
    to the shape of `image`, whose elements are not read.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$image), layerAttributes,
    (ins DenseF32ArrayAttr:$widths, DenseF32ArrayAttr:$heights,
      OptionalAttr<DenseF32ArrayAttr>:$x_shifts, OptionalAttr<DenseF32ArrayAttr>:$y_shifts,
      DenseF32ArrayAttr:$variances, DenseI64ArrayAttr:$image_size,
      DenseF32ArrayAttr:$step, F32Attr:$offset, UnitAttr:$clip));
  let results = (outs AnyTensor:$y);
}

def Brew_DetectionOutputOp : Brew_LayerOp<"detection_output",
    [Pure, LoopNests, ItemCounts, RoundableOperands]> {
  let summary = "SSD's detections after non-maximum suppression";
  let description = [{
    A row of y is image, label, score, left, top, right, bottom. `count` is the number of valid
    rows along dimension 2 (see ItemCounts.h). An image without detections has no row. If no
    image has any, there is one row per image: the image's number, followed by -1.

    `priors` [1, 2, 4 * boxes] are corners, then variances. `locations` are relative to them,
    multiplied by the variances unless `variance_encoded`:

    - by default, offsets to the corners;
    - with `corner_size`, offsets to the corners in units of the prior's size;
    - with `center_size`, offsets to the centre in units of the prior's size, and logarithms
      of the ratio of sizes.

    With `share_location`, all classes share the locations.

    For each class except `background`, the `top_k` best scores above `confidence_threshold` are
    candidates. A candidate is kept unless its intersection over union with a better kept one
    exceeds `nms_threshold`, which every kept candidate multiplies by `eta` while it is above
    0.5. The `keep_top_k` best of an image remain. A limit of -1 means no limit.

    With `with_cells`, `locations` have shape [N, H, W, 4 * anchors], and a row of y continues
    with the anchor, the column and the row of the prior.
  }];
  let arguments = !con((ins AnyTensor:$locations, AnyTensor:$conf, AnyTensor:$priors),
    layerAttributes, (ins I64Attr:$num_classes, UnitAttr:$share_location,
      I64Attr:$background, UnitAttr:$center_size, UnitAttr:$corner_size,
      UnitAttr:$variance_encoded, F32Attr:$nms_threshold, F32Attr:$eta, I64Attr:$top_k,
      I64Attr:$keep_top_k, OptionalAttr<F32Attr>:$confidence_threshold, UnitAttr:$with_cells));
  let results = (outs AnyTensor:$y, AnyTensor:$count);
}

def Brew_HardRegionsOp : Brew_LayerOp<"hard_regions", [Pure, LoopNests]> {
  let summary = "Keeps labels and weights of the regions with the largest losses (R-FCN)";
  let description = [{
    Shapes: rois [N, 5, H, W], losses and labels [N, 1, H, W], weights [N, C, H, W], where
    dimensions of extent 1 at the end may be missing. The first number of a region is its image.
    The `count` regions and positions of each image with the largest losses keep their label and
    weights, the first of equal ones. Other labels become `ignore_label`, other weights 0.
  }];
  let arguments = !con((ins AnyTensor:$rois, AnyTensor:$losses, AnyTensor:$labels,
      AnyTensor:$weights), layerAttributes, (ins I64Attr:$count, I64Attr:$ignore_label));
  let results = (outs AnyTensor:$kept_labels, AnyTensor:$kept_weights);
}

#endif // BREW_LAYERS_DETECTION_TD
