//===- Detection.td - Layers of detection nets -------------*- tablegen -*-===//
#ifndef BREW_LAYERS_DETECTION_TD
#define BREW_LAYERS_DETECTION_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

defvar RoiAttributes = (ins I64Attr:$pooled_h, I64Attr:$pooled_w, F32Attr:$spatial_scale);
defvar RoiAlignAttributes = !con(RoiAttributes,
  (ins DefaultValuedAttr<F32Attr, "0">:$pad_ratio, I64Attr:$samples, UnitAttr:$corners));
class RoiBackward<string mnemonic> : Brew_Op<mnemonic, [Pure, LoopNests, Roundable]> {
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_RoiPoolingOp : Brew_LayerOp<"roi_pooling", [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Largest element of each cell of the regions of Fast R-CNN";
  let description = [{
    A row of `rois` is image, left, top, right, bottom, in pixels of which one is
    `spatial_scale` positions of x. `argmax` is saved for the backward pass: the position
    row * width + column of the maximum, or -1 where a cell is empty (y is 0 there).
    Before that a region is made larger on each side by `pad_ratio` times its size in
    pixels.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$rois), layerAttributes, RoiAttributes,
    (ins DefaultValuedAttr<F32Attr, "0">:$pad_ratio));
  let results = (outs AnyTensor:$y, AnyTensor:$argmax);
}

def Brew_RoiPoolingBackwardOp : RoiBackward<"roi_pooling_backward"> {
  let summary = "Gradient of region pooling by the features";
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$rois, AnyTensor:$argmax, StrAttr:$layer),
    RoiAttributes);
}

def Brew_PsRoiPoolingOp : Brew_LayerOp<"psroi_pooling",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Mean of each cell of the regions of R-FCN, from channels of its own";
  let description = [{
    Cell (i, j) of output channel d reads channel (d * group_size + i) * group_size + j.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$rois), layerAttributes,
    (ins I64Attr:$output_dim, I64Attr:$group_size, F32Attr:$spatial_scale));
  let results = (outs AnyTensor:$y);
}

def Brew_PsRoiPoolingBackwardOp : RoiBackward<"psroi_pooling_backward"> {
  let summary = "Gradient of position-sensitive region pooling by the features";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$rois, StrAttr:$layer, F32Attr:$spatial_scale);
}

def Brew_RoiAlignOp : Brew_LayerOp<"roi_align", [Pure, Gradient, LoopNests, ItemCounts, RoundableTops]> {
  let summary = "Features interpolated at points of the cells of regions";
  let description = [{
    A region is divided into `pooled_h` * `pooled_w` equal cells whose corners are not
    rounded. An element of y is the mean of `samples` * `samples` points of its cell, all
    equally far apart; with 0 there are as many as positions of x that a cell spans, at
    least 1 (Mask R-CNN). With `corners` y has one element for each corner of the cells
    instead, pixels have their centre at half positions, and a region without extent gives
    0 (Cascade R-CNN). Points too far outside the plane count as 0.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$rois), layerAttributes, RoiAlignAttributes);
  let results = (outs AnyTensor:$y);
}

def Brew_RoiAlignBackwardOp : RoiBackward<"roi_align_backward"> {
  let summary = "Gradient of interpolated regions by the features";
  let arguments = !con((ins AnyTensor:$dy, AnyTensor:$rois, StrAttr:$layer), RoiAlignAttributes);
}

def Brew_PriorBoxOp : Brew_LayerOp<"prior_box", [Pure, LoopNests, ItemCounts, RoundableOperands]> {
  let summary = "The default boxes of SSD around every position of x";
  let description = [{
    [1, 2, H * W * boxes * 4]: corners as fractions of the image, then variances. Of
    `image` only the shape counts, and only where `image_size` (height, width) is not
    given. `widths` and `heights` are in pixels, one per box of a position. A `step` of 0
    is the image's extent divided by x's.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$image), layerAttributes,
    (ins DenseF32ArrayAttr:$widths, DenseF32ArrayAttr:$heights,
      DenseF32ArrayAttr:$variances, DenseI64ArrayAttr:$image_size,
      DenseF32ArrayAttr:$step, F32Attr:$offset, UnitAttr:$clip));
  let results = (outs AnyTensor:$y);
}

def Brew_DetectionOutputOp : Brew_LayerOp<"detection_output",
    [Pure, LoopNests, ItemCounts, RoundableOperands]> {
  let summary = "The boxes that SSD finds, without those that overlap better ones";
  let description = [{
    A row of the top is image, label, score, left, top, right, bottom; `count` says
    how many there are along dimension 2 (see ItemCounts.h). An image without any has
    none; if no image has any, there is a row of -1 for each, behind its number.

    `locations` are relative to `priors` (1, 2, 4 * boxes: corners, then variances): added
    to their corners, with `corner_size` in units of their size, or with
    `center_size` to their centre, in the same units, and to the logarithm of their
    size; times the variances unless `variance_encoded`. They are the same for all
    classes with `share_location`.

    Of each class but `background`, the `top_k` best scores above
    `confidence_threshold` are candidates. One is kept unless the intersection with a
    better kept one, over their union, is above `nms_threshold`, which every kept
    one multiplies by `eta` while it is above 0.5. The `keep_top_k` best of an image
    stay. Both are -1 where there is no limit.
  }];
  let arguments = !con((ins AnyTensor:$locations, AnyTensor:$conf, AnyTensor:$priors),
    layerAttributes, (ins I64Attr:$num_classes, UnitAttr:$share_location,
      I64Attr:$background, UnitAttr:$center_size, UnitAttr:$corner_size,
      UnitAttr:$variance_encoded, F32Attr:$nms_threshold, F32Attr:$eta, I64Attr:$top_k,
      I64Attr:$keep_top_k, OptionalAttr<F32Attr>:$confidence_threshold));
  let results = (outs AnyTensor:$y, AnyTensor:$count);
}

#endif // BREW_LAYERS_DETECTION_TD
