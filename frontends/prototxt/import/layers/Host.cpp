//===- Host.cpp - Layers that host functions compute ----------------------===//
//
// The application registers the functions; the runtime has some of its own, for
// HDF5Output and detection nets.
//
//===----------------------------------------------------------------------===//

#include "dialects/Brew/layers/detection/Detection.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/indexing/Items.h"
#include "frontends/prototxt/import/LayerBuilder.h"

using namespace brew::dialects;
using llvm::APFloat;

namespace brew::prototxt {

namespace {

/// Sets the explicit shapes of the tops that have one.
void setExplicitShapes(HostLayerOp op, const LayerBuilder &l) {
  llvm::SmallVector<mlir::Attribute> shapes;
  bool hasExplicit = false;
  for (auto top : op.getTops().getAsRange<mlir::StringAttr>()) {
    const DataShape *shape = l.shapes.explicitShape(top.str());
    hasExplicit |= shape != nullptr;
    shapes.push_back(shape ? mlir::Attribute(l.b.getDenseI64ArrayAttr(*shape))
                           : l.b.getUnitAttr());
  }
  if (hasExplicit)
    op.setShapesAttr(l.b.getArrayAttr(shapes));
}

/// Sets the type, the settings, param_str, the phase and the explicit shapes.
/// For types that the runtime itself computes, `paramStr` is the folder of the
/// prototxt, in which files are looked up.
void setHostSettings(HostLayerOp op, const LayerBuilder &l,
                     const std::string &type, const std::string &paramStr) {
  op.setKind(type);
  op.setSettings(layerText(l.layer));
  op.setParamStr(paramStr);
  op.setTestPhase(l.phase != caffe::TRAIN);
  setExplicitShapes(op, l);
}

void buildHost(LayerBuilder &l) {
  const caffe::PythonParameter &settings = l.layer.python_param();
  // The type under which the layer's functions are registered.
  const std::string type = l.layer.type() == "Python"
                               ? settings.module() + "." + settings.layer()
                               : l.layer.type();
  setHostSettings(l.layerOp<HostLayerOp>(), l, type, settings.param_str());
}

/// Builds a layer that the runtime computes under the name of its type.
void buildRuntimeLayer(LayerBuilder &l) {
  setHostSettings(l.layerOp<HostLayerOp>(), l, l.layer.type(), l.folder);
}

/// Builds a loss that the runtime computes. By default its first
/// `differentiated` bottoms get a gradient; the others never do.
template <int differentiated>
void addRuntimeLoss(LayerBuilder &l, const std::string &type) {
  auto op = l.layerOp<HostLayerOp>();
  setHostSettings(op, l, type, l.folder);
  llvm::SmallVector<bool> propagateDown(l.bottoms.size(), false);
  for (int i = 0; i < differentiated; ++i)
    propagateDown[i] = l.graph.forceBackward ||
                       i >= l.layer.propagate_down_size() ||
                       l.layer.propagate_down(i);
  op.setPropagateDown(propagateDown);
}

void buildCtcLoss(LayerBuilder &l) { addRuntimeLoss<1>(l, "CtcLoss"); }

void buildIndicatedCtcLoss(LayerBuilder &l) { addRuntimeLoss<1>(l, "CTCLoss"); }

void buildMultiBoxLoss(LayerBuilder &l) {
  addRuntimeLoss<2>(l, "MultiBoxLoss");
}

/// Ignores the optional fourth bottom, the images, which SSD reads for drawing
/// only.
void buildDetectionOutput(LayerBuilder &l) {
  const caffe::DetectionOutputParameter &settings =
      l.layer.detection_output_param();
  const caffe::NonMaximumSuppressionParameter &suppression =
      settings.nms_param();
  auto op = DetectionOutputOp::create(l.b, l.loc, l.types(1, 1),
                                      l.bottoms.take_front(3));
  l.setTops(op, 0, 1);
  op.setPropagateDownAttr(l.propagateDown());
  op.setNumClasses(settings.num_classes());
  op.setShareLocation(settings.share_location());
  op.setBackground(settings.background_label_id());
  op.setCenterSize(settings.code_type() ==
                   caffe::PriorBoxParameter::CENTER_SIZE);
  op.setCornerSize(settings.code_type() ==
                   caffe::PriorBoxParameter::CORNER_SIZE);
  op.setVarianceEncoded(settings.variance_encoded_in_target());
  op.setNmsThreshold(APFloat(suppression.nms_threshold()));
  op.setEta(APFloat(suppression.eta()));
  op.setTopK(suppression.has_top_k() ? suppression.top_k() : -1);
  op.setKeepTopK(settings.keep_top_k());
  if (l.layer.type() == "DetectionOutputExtended") {
    op.setWithCells(true);
    op.setBackground(0);
  }
  if (settings.has_confidence_threshold())
    op.setConfidenceThreshold(APFloat(settings.confidence_threshold()));
  if (!writesResultFiles(settings.save_output_param()))
    return;
  auto files = HostLayerOp::create(l.b, l.loc, mlir::TypeRange(),
                                   {op.getY(), l.bottoms[0]});
  l.setTops(files, 0, 0);
  setHostSettings(files, l, "DetectionOutput", l.folder);
}

/// Builds a layer whose tops, and the number of their items along dimension
/// `axis`, are computed by the runtime.
void buildCountedTops(LayerBuilder &l, int64_t axis) {
  auto tops =
      HostLayerOp::create(l.b, l.loc, l.types(l.topCount() + 1), l.bottoms);
  l.setTops(tops, 0, 0);
  setHostSettings(tops, l, l.layer.type(), l.folder);
  // with_item_count has no gradient, so it needs no propagate_down.
  auto op = WithItemCountOp::create(l.b, l.loc, l.types(l.topCount(), 1),
                                    tops->getResults());
  op.setAxis(axis);
  l.setTops(op, 0, l.topCount());
}

/// The runtime computes the regions and their number.
void buildProposal(LayerBuilder &l) { buildCountedTops(l, 0); }
/// The runtime computes the rows, which are along dimension 2, and their
/// number.
void buildDetectionRows(LayerBuilder &l) { buildCountedTops(l, 2); }

} // namespace

BuildFunctions hostFunctions() {
  return {{"", buildHost}, // declaredHostKind()
          {"CTCGreedyDecoder", buildRuntimeLayer},
          {"CTCLoss", buildIndicatedCtcLoss},
          {"CenternetDetectionOutput", buildDetectionRows},
          {"CtcLoss", buildCtcLoss},
          {"DetectionEvaluate", buildRuntimeLayer},
          {"DetectionOutput", buildDetectionOutput},
          {"DetectionOutputExtended", buildDetectionOutput},
          {"EvalDetection", buildRuntimeLayer},
          {"HDF5Output", buildHost},
          {"LabelsequenceAccuracy", buildRuntimeLayer},
          {"MultiBoxLoss", buildMultiBoxLoss},
          {"Proposal", buildProposal},
          {"Python", buildHost},
          {"RegionLoss", buildRuntimeLayer},
          {"SegAccuracy", buildRuntimeLayer},
          {"WarpCTCLoss", buildCtcLoss},
          {"YoloDetectionOutput", buildDetectionRows},
          {"Yolov3", buildRuntimeLayer},
          {"Yolov3DetectionOutput", buildDetectionRows}};
}

} // namespace brew::prototxt
