//===- ForkLayerTypes.cpp - Layer and filler types of Caffe's forks -------===//
//
// Layer and filler types that Caffe 1.0 does not have, with the forks best
// known for them. A name that forks use for different layers has all these
// forks. Brew supports some of them; the table is used for the others.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/upgrade/ForkFields.h"

#include "frontends/prototxt/upgrade/ForkNames.h"
#include "support/JoinNames.h"

namespace brew::prototxt {

namespace {

/// A fork's types, separated by spaces.
struct Types {
  const char *fork;
  const char *names;
};

// clang-format off
constexpr Types layerTypes[] = {
    {c3D,
     "Convolution3D Deconvolution3D Pooling3D VideoData"},
    {caffectc,
     "CTCGreedyDecoder CTCLoss"},
    {caffeface,
     "CenterLoss"},
    {caffelstm,
     "Lstm"},
    {caffeocr,
     "DenseBlock"},
    {caffesphereface,
     "MarginInnerProduct"},
    {caffewindows,
     "Arccos BatchContrastiveLoss ChannelScale "
     "ConfidencePenaltyLoss CorrelationLoss Cosine FCNAccuracy "
     "Flip FocalLoss GeneralContrastiveLoss GeneralTripletLoss "
     "GlobalLSEMargin Gram Hotspot InnerDistance Insanity "
     "LabelSpecificAdd LargeMarginInnerProduct Local "
     "MovingNormalize MultiLabelImageData NCALoss Noise Pairwise "
     "PredictBox Resize Slope SoftContrastiveLoss SoftTruncation "
     "SubRegion Transformer TripletLoss Truncation"},
    {convolutionalPoseMachines,
     "CPMData ImResize Nms"},
    {crfrnn,
     "MultiStageMeanfield"},
    {crnncaffe,
     "CTCLoss ContinuationIndicator CtcLoss LabelsequenceAccuracy "
     "ReverseTime Transpose WarpCTC"},
    {deeplab,
     "DenseCRF ImageSegData MatRead MatWrite SegAccuracy"},
    {deepskeleton,
     "Quantize Rescale"},
    {fasterRcnn,
     "ROIPooling SmoothL1Loss"},
    {flownet2,
     "Accum BlackAugmentation ChannelNorm Correlation "
     "Correlation1D CustomData DataAugmentation DisparityData "
     "Downsample FLOWriter FloatReader FloatWriter "
     "FlowAugmentation FlowWarp GenerateAugmentationParameters "
     "ImgReader ImgWriter L1Loss LpqLoss Mean NegReLU PFMWriter "
     "Resample"},
    {intelCaffe,
     "BoxData EvalDetection MKLBatchNorm MnActivation MnParamGrad "
     "RemoteData SpatialDropout"},
    {intelTrainingToolbox,
     "AnchorEmbeddingExtractor DetectionOutputExtended GRN "
     "LabelSpecificAdd PriorBoxClustered ScaleFilter"},
    {iresnet,
     "DenseBlock"},
    {mobilenetDepthwisePorts,
     "ConvolutionDepthwise DepthwiseConvolution"},
    {mobilenetyolo,
     "AssistedExcitation GaussianYolov3 LaneData ReLU6 RegionLoss "
     "Reorg SegmentationEvaluate YoloDetectionOutput YoloSeg "
     "Yolov3 Yolov3DetectionOutput"},
    {mycaffe,
     "AccuracyDecode AccuracyEncoding ChannelEmbedding "
     "DataSequence DataTemporal Debug Decode GRN GateAddNorm Gather "
     "Knn LSTMAttention LSTMSimple Lstm LstmAttention LstmSimple "
     "MultiheadAttentionInterp Normalization2 PreTokenizedData "
     "QuantileAccuracy QuantileLoss RMSNorm ReshapeTemporal "
     "SoftmaxCrossEntropy2Loss TokenizedDataPairs UnPooling VarSelNet"},
    {nvidiaCaffe,
     "DetectNetTransformation TRT"},
    {pspnet,
     "AdaptiveBiasChannel BiasChannel DomainTransform "
     "DomainTransformForwardOnly Interp SpatialProduct UniqueLabel"},
    {rfcn,
     "BoxAnnotatorOHEM PSROIPooling Proposal SmoothL1LossOHEM "
     "SoftmaxWithLossOHEM"},
    {segnet,
     "BN DenseImageData Upsample"},
    {senet,
     "Axpy"},
    {shufflenetPorts,
     "ShuffleChannel"},
    {ssd,
     "AnnotatedData DetectionEvaluate DetectionOutput MultiBoxLoss "
     "Normalize Permute PriorBox"},
    {synopsys,
     "Add Atan Attention BEGANLoss BatchToSpaceND BroadcastTo Ceil "
     "Corr1d CountNonzero CropAndResize DepthToSpace Div "
     "EmbeddingLookup EmbeddingLookupSparse ExpandDimsND "
     "FarthestPointSample Floor FloorDiv FloorMod GANLoss GRU "
     "Gather GatherND GatherV2 Gemm GroupPoint HardSigmoid "
     "HardSwish HardTanH ICNetSubgraph LSTMV2 LayerNorm LogSoftmax "
     "LpNormalization LuongAttention MaskRCNNDetection "
     "MaskRCNNProposal MatMul Maximum Minimum MirrorPad Mish Mul "
     "NMS NMSGather NonMaxSuppression NotEqual OneHot Pad "
     "PeepholeLSTM Piece Pow PyramidROIAlign QueryBallPoint RNNv2 "
     "ROIAlign Range ReduceAll ReduceAny ReduceL1 ReduceL2 "
     "ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ResizeBilinear ResizeNearestNeighbor Reverse "
     "ReverseSequence Round SSDDecoder SSDSort ScaledTanH "
     "ScatterND SeLU SeLUDropout Shape SimpleRNN Sin Softplus "
     "Softsign SpaceToBatchND SpaceToDepth SparseToDense "
     "SpatialBatchingPooling Squeeze SqueezeConvolution "
     "SqueezeDeconvolution SqueezeInnerProduct Stack StridedSlice "
     "Sub Tensor2Box ThreeInterpolate ThreeNN ThresholdedReLU "
     "TileND TopkGather Unstack UpsampleDarknet Where4 "
     "Where4Gathernd Where4GatherndCrop XLU YoloV2Loss YoloV3Loss"},
};

constexpr Types fillers[] = {
    {caffewindows, "gaussian_unitball identity"},
    {flownet2, "diagonal"},
    {intelCaffe, "gabor"},
    {nvidiaCaffe,
     "bilinearstatic gaussianstatic msrastatic positive_unitballstatic "
     "uniformstatic xavierstatic"},
};
// clang-format on

template <size_t count>
std::string findForks(const Types (&table)[count], const std::string &type) {
  std::vector<std::string> forks;
  for (const Types &types : table)
    if (hasWord(types.names, type))
      forks.emplace_back(types.fork);
  return joinNames(forks, "and");
}

} // namespace

std::string forksWithLayerType(const std::string &type) {
  return findForks(layerTypes, type);
}

std::string forksWithFiller(const std::string &type) {
  return findForks(fillers, type);
}

} // namespace brew::prototxt
