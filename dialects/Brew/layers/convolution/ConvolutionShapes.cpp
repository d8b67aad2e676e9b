//===- ConvolutionShapes.cpp - Extents of convolutions --------------------===//
#include "dialects/Brew/layers/convolution/ConvolutionShapes.h"

using namespace mlir;
using namespace brew::dialects;

FailureOr<int64_t> brew::dialects::channelAxis(Operation *layer, int64_t axis,
                                               int64_t rank) {
  if (axis < -rank || axis >= rank)
    return layerError(layer) << "axis " << axis << " is outside the bottom's "
                             << rank << " dimensions";
  return axis < 0 ? axis + rank : axis;
}

LogicalResult brew::dialects::checkGroups(Operation *layer, int64_t channels,
                                          int64_t outputs, int64_t group) {
  if (channels % group)
    return layerError(layer)
           << "bottom has " << channels << " channels, which group " << group
           << " does not divide";
  if (outputs % group)
    return layerError(layer) << "num_output " << outputs
                             << " is not a multiple of group " << group;
  return success();
}

/// Rounds towards zero like Caffe: a window may be larger than the padded input
/// by less than its stride.
FailureOr<SmallVector<int64_t>>
brew::dialects::convolvedExtents(Operation *layer, const WindowAxes &axes,
                                 ArrayRef<int64_t> padEnd) {
  SmallVector<int64_t> extents;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t padded = axis.in + axis.pad + padEnd[i];
    int64_t out = (padded - axis.dilatedKernel()) / axis.stride + 1;
    if (out <= 0) {
      StringRef side = sideName(axes.size(), i);
      return layerError(layer)
             << "kernel " << side << axis.dilatedKernel()
             << (axis.dilation > 1 ? " (dilated)" : "")
             << " is larger than the padded input " << side << padded;
    }
    extents.push_back(out);
  }
  return extents;
}

FailureOr<SmallVector<int64_t>>
brew::dialects::deconvolvedExtents(Operation *layer, const WindowAxes &axes,
                                   ArrayRef<int64_t> padEnd) {
  SmallVector<int64_t> extents;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t uncropped = (axis.in - 1) * axis.stride + axis.dilatedKernel();
    if (uncropped <= axis.pad + padEnd[i])
      return layerError(layer) << "pad " << axis.pad << " and " << padEnd[i]
                               << " leave nothing of the output "
                               << sideName(axes.size(), i) << uncropped;
    extents.push_back(uncropped - axis.pad - padEnd[i]);
  }
  return extents;
}
