//===- ForkFields.cpp - What only forks of Caffe have ---------------------===//
//
// Fields, enum values and layer types that published prototxts use and BVLC
// Caffe 1.0 does not have, with the fork best known for them. Data only, plus
// the look-ups; extend it freely.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/ForkFields.h"

namespace brew::prototxt {

namespace {

constexpr char c3D[] = "C3D (facebook/C3D)";
constexpr char crfrnn[] = "CRF-RNN (torrvision)";
constexpr char convolutionalPoseMachines[] =
    "Convolutional Pose Machines (shihenw/caffe)";
constexpr char deeplab[] = "DeepLab";
constexpr char fasterRcnn[] = "Faster R-CNN (rbgirshick/caffe-fast-rcnn)";
constexpr char flownet2[] = "FlowNet 2 (lmb-freiburg)";
constexpr char intelCaffe[] = "Intel Caffe";
constexpr char mobilenetDepthwisePorts[] = "MobileNet depthwise ports";
constexpr char mobilenetyolo[] = "MobileNet-YOLO (eric612)";
constexpr char mycaffe[] = "MyCaffe";
constexpr char nvidiaCaffe[] = "NVIDIA Caffe";
constexpr char pspnet[] = "PSPNet (hszhao)";
constexpr char rfcn[] = "R-FCN (daijifeng001/caffe-rfcn)";
constexpr char ristretto[] = "Ristretto (pmgysel/caffe)";
constexpr char senet[] = "SENet (hujie-frank)";
constexpr char ssd[] = "SSD (weiliu89/caffe)";
constexpr char segnet[] = "SegNet (alexgkendall/caffe-segnet)";
constexpr char shufflenetPorts[] = "ShuffleNet ports";
constexpr char caffeface[] = "caffe-face (ydwen)";
constexpr char caffesphereface[] = "caffe-sphereface (wy1iu)";
constexpr char caffewindows[] = "caffe-windows (happynear)";
constexpr char crnncaffe[] = "crnn.caffe (yalecyu)";
constexpr char developmentVersionsBeforeCaffe10[] =
    "development versions before Caffe 1.0";
constexpr char expcaffe[] = "exp_caffe (pl8787)";

/// A field of a message type, or a value of an enum type.
struct Member {
  const char *owner;
  const char *name;
  const char *fork;
};

// clang-format off
constexpr Member fields[] = {
    {"BatchNormParameter", "bias_filler", nvidiaCaffe},
    {"BatchNormParameter", "engine", intelCaffe},
    {"BatchNormParameter", "filler", intelCaffe},
    {"BatchNormParameter", "scale_bias", nvidiaCaffe},
    {"BatchNormParameter", "scale_filler", nvidiaCaffe},
    {"ConcatParameter", "engine", intelCaffe},
    {"ConcatParameter", "per_fla_fuse", intelCaffe},
    {"ConvolutionParameter", "conv_algorithm", intelCaffe},
    {"ConvolutionParameter", "cudnn_convolution_algo_seeker", nvidiaCaffe},
    {"ConvolutionParameter", "cudnn_math_override", nvidiaCaffe},
    {"DataParameter", "cache", nvidiaCaffe},
    {"DataParameter", "parser_threads", nvidiaCaffe},
    {"DataParameter", "shuffle", nvidiaCaffe},
    {"DataParameter", "threads", nvidiaCaffe},
    {"DropoutParameter", "scale_train", fasterRcnn},
    {"ELUParameter", "lambda", nvidiaCaffe},
    {"FillerParameter", "alpha", caffewindows},
    {"ImageDataParameter", "bias", expcaffe},
    {"ImageDataParameter", "cache", nvidiaCaffe},
    {"ImageDataParameter", "channels", expcaffe},
    {"ImageDataParameter", "face_point_num", caffewindows},
    {"ImageDataParameter", "face_transform", caffewindows},
    {"ImageDataParameter", "max_aspect_ratio", caffewindows},
    {"ImageDataParameter", "max_random_scale", caffewindows},
    {"ImageDataParameter", "max_random_shift", caffewindows},
    {"ImageDataParameter", "max_rotate_angle", caffewindows},
    {"ImageDataParameter", "max_shear_ratio", caffewindows},
    {"ImageDataParameter", "min_height", intelCaffe},
    {"ImageDataParameter", "min_random_scale", caffewindows},
    {"ImageDataParameter", "min_width", intelCaffe},
    {"ImageDataParameter", "precache", nvidiaCaffe},
    {"ImageDataParameter", "threads", nvidiaCaffe},
    {"InnerProductParameter", "enable_noise", mycaffe},
    {"InnerProductParameter", "normalize", caffewindows},
    {"InnerProductParameter", "sigma_init", mycaffe},
    {"LayerParameter", "annotated_data_param", ssd},
    {"LayerParameter", "augmentation", flownet2},
    {"LayerParameter", "backward_math", nvidiaCaffe},
    {"LayerParameter", "backward_type", nvidiaCaffe},
    {"LayerParameter", "bn_param", segnet},
    {"LayerParameter", "box_annotator_ohem_param", rfcn},
    {"LayerParameter", "center_loss_param", caffeface},
    {"LayerParameter", "continuation_indicator_param", crnncaffe},
    {"LayerParameter", "convolution3d_param", c3D},
    {"LayerParameter", "correlation_param", flownet2},
    {"LayerParameter", "cpmdata_param", convolutionalPoseMachines},
    {"LayerParameter", "ctc_loss_param", crnncaffe},
    {"LayerParameter", "custom_data_param", flownet2},
    {"LayerParameter", "data_augmentation_param", flownet2},
    {"LayerParameter", "data_temporal_param", mycaffe},
    {"LayerParameter", "dense_image_data_param", segnet},
    {"LayerParameter", "densecrf_param", deeplab},
    {"LayerParameter", "detection_evaluate_param", ssd},
    {"LayerParameter", "detection_output_param", ssd},
    {"LayerParameter", "detectnet_augmentation_param", nvidiaCaffe},
    {"LayerParameter", "detectnet_groundtruth_param", nvidiaCaffe},
    {"LayerParameter", "engine", intelCaffe},
    {"LayerParameter", "eval_detection_param", intelCaffe},
    {"LayerParameter", "flip_param", caffewindows},
    {"LayerParameter", "flow_augmentation_param", flownet2},
    {"LayerParameter", "flow_warp_param", flownet2},
    {"LayerParameter", "forward_math", nvidiaCaffe},
    {"LayerParameter", "forward_type", nvidiaCaffe},
    {"LayerParameter", "freeze_learning", mycaffe},
    {"LayerParameter", "generate_augmentation_parameters_param", flownet2},
    {"LayerParameter", "hotspot_param", caffewindows},
    {"LayerParameter", "inner_distance_param", caffewindows},
    {"LayerParameter", "insanity_param", caffewindows},
    {"LayerParameter", "interp_param", pspnet},
    {"LayerParameter", "l1loss_param", flownet2},
    {"LayerParameter", "labelsequence_accuracy_param", crnncaffe},
    {"LayerParameter", "lpq_loss_param", flownet2},
    {"LayerParameter", "lstm_attention_param", mycaffe},
    {"LayerParameter", "lstm_simple_param", mycaffe},
    {"LayerParameter", "margin_inner_product_param", caffesphereface},
    {"LayerParameter", "mat_read_param", deeplab},
    {"LayerParameter", "mat_write_param", deeplab},
    {"LayerParameter", "mean_param", flownet2},
    {"LayerParameter", "multi_stage_meanfield_param", crfrnn},
    {"LayerParameter", "multibox_loss_param", ssd},
    {"LayerParameter", "multinode", intelCaffe},
    {"LayerParameter", "norm_param", ssd},
    {"LayerParameter", "normalize_param", caffewindows},
    {"LayerParameter", "permute_param", ssd},
    {"LayerParameter", "pooling3d_param", c3D},
    {"LayerParameter", "prior_box_param", ssd},
    {"LayerParameter", "proposal_param", rfcn},
    {"LayerParameter", "psroi_pooling_param", rfcn},
    {"LayerParameter", "quantization_param", ristretto},
    {"LayerParameter", "reader_param", flownet2},
    {"LayerParameter", "region_loss_param", mobilenetyolo},
    {"LayerParameter", "remote_data_param", intelCaffe},
    {"LayerParameter", "reorg_param", mobilenetyolo},
    {"LayerParameter", "resample_param", flownet2},
    {"LayerParameter", "roi_pooling_param", fasterRcnn},
    {"LayerParameter", "seg_accuracy_param", deeplab},
    {"LayerParameter", "segmentation_evaluate_param", mobilenetyolo},
    {"LayerParameter", "shuffle_channel_param", shufflenetPorts},
    {"LayerParameter", "smooth_l1_loss_param", fasterRcnn},
    {"LayerParameter", "sub_region_param", caffewindows},
    {"LayerParameter", "tokenized_data_param", mycaffe},
    {"LayerParameter", "trt_param", nvidiaCaffe},
    {"LayerParameter", "upsample_param", segnet},
    {"LayerParameter", "video_data_param", ssd},
    {"LayerParameter", "yolo_detection_output_param", mobilenetyolo},
    {"LayerParameter", "yolo_seg_param", mobilenetyolo},
    {"LayerParameter", "yolov3_detection_output_param", mobilenetyolo},
    {"LayerParameter", "yolov3_param", mobilenetyolo},
    {"LossParameter", "class_weighting", segnet},
    {"LossParameter", "label_smoothing", nvidiaCaffe},
    {"LossParameter", "weight_by_label_freqs", segnet},
    {"MemoryDataParameter", "label_channels", mycaffe},
    {"MemoryDataParameter", "label_height", mycaffe},
    {"MemoryDataParameter", "label_type", mycaffe},
    {"MemoryDataParameter", "label_width", mycaffe},
    {"NetParameter", "bn_stats_batch_size", intelCaffe},
    {"NetParameter", "compile_net_state", intelCaffe},
    {"NetParameter", "default_backward_math", nvidiaCaffe},
    {"NetParameter", "default_backward_type", nvidiaCaffe},
    {"NetParameter", "default_forward_math", nvidiaCaffe},
    {"NetParameter", "default_forward_type", nvidiaCaffe},
    {"NetParameter", "eltwise_mem_sharing", nvidiaCaffe},
    {"NetParameter", "engine", intelCaffe},
    {"NetParameter", "global_grad_scale", nvidiaCaffe},
    {"NetParameter", "global_grad_scale_adaptive", nvidiaCaffe},
    {"NetParameter", "multinode", intelCaffe},
    {"NetParameter", "quantize", nvidiaCaffe},
    {"RecurrentParameter", "dropout_ratio", mycaffe},
    {"RecurrentParameter", "dropout_seed", mycaffe},
    {"RecurrentParameter", "engine", mycaffe},
    {"RecurrentParameter", "num_layers", mycaffe},
    {"SoftmaxParameter", "normalize_type", caffewindows},
    {"SolverParameter", "ap_version", ssd},
    {"SolverParameter", "eval_type", ssd},
    {"SolverParameter", "larc", nvidiaCaffe},
    {"SolverParameter", "larc_eta", nvidiaCaffe},
    {"SolverParameter", "larc_policy", nvidiaCaffe},
    {"SolverParameter", "larc_turbo", nvidiaCaffe},
    {"SolverParameter", "local_gw_ratio", intelCaffe},
    {"SolverParameter", "local_lr_auto", intelCaffe},
    {"SolverParameter", "max_momentum", nvidiaCaffe},
    {"SolverParameter", "min_lr", nvidiaCaffe},
    {"SolverParameter", "momentum_end", developmentVersionsBeforeCaffe10},
    {"SolverParameter", "momentum_policy", nvidiaCaffe},
    {"SolverParameter", "momentum_power", nvidiaCaffe},
    {"SolverParameter", "momentum_start", developmentVersionsBeforeCaffe10},
    {"SolverParameter", "multinode_param", intelCaffe},
    {"SolverParameter", "plateau_winsize", ssd},
    {"SolverParameter", "rampup_interval", nvidiaCaffe},
    {"SolverParameter", "rampup_lr", nvidiaCaffe},
    {"SolverParameter", "result_blob_name", expcaffe},
    {"SolverParameter", "result_file_name", expcaffe},
    {"SolverParameter", "show_per_class_result", ssd},
    {"SolverParameter", "snapshot_before_train", developmentVersionsBeforeCaffe10},
    {"SolverParameter", "snapshot_txt", expcaffe},
    {"SolverParameter", "solver_data_type", nvidiaCaffe},
    {"SolverParameter", "stageiter", mobilenetyolo},
    {"SolverParameter", "stagelr", mobilenetyolo},
    {"SolverParameter", "test_and_snapshot_last_epochs", nvidiaCaffe},
    {"SolverParameter", "test_offset", intelCaffe},
    {"SolverParameter", "warmup_iter", intelCaffe},
    {"SolverParameter", "warmup_start_lr", intelCaffe},
    {"TransformationParameter", "allow_upscale", nvidiaCaffe},
    {"TransformationParameter", "center_perterb_max", convolutionalPoseMachines},
    {"TransformationParameter", "color_order", mycaffe},
    {"TransformationParameter", "crop_h", ssd},
    {"TransformationParameter", "crop_size_x", convolutionalPoseMachines},
    {"TransformationParameter", "crop_size_y", convolutionalPoseMachines},
    {"TransformationParameter", "crop_w", ssd},
    {"TransformationParameter", "distort_param", ssd},
    {"TransformationParameter", "distortion_param", mycaffe},
    {"TransformationParameter", "do_clahe", convolutionalPoseMachines},
    {"TransformationParameter", "emit_constraint", ssd},
    {"TransformationParameter", "expand_param", ssd},
    {"TransformationParameter", "flow", intelCaffe},
    {"TransformationParameter", "horizontal_stretch_lower", nvidiaCaffe},
    {"TransformationParameter", "horizontal_stretch_upper", nvidiaCaffe},
    {"TransformationParameter", "img_rand_resize_lower", nvidiaCaffe},
    {"TransformationParameter", "img_rand_resize_upper", nvidiaCaffe},
    {"TransformationParameter", "interpolation_algo_down", nvidiaCaffe},
    {"TransformationParameter", "interpolation_algo_up", nvidiaCaffe},
    {"TransformationParameter", "label_mapping", mycaffe},
    {"TransformationParameter", "mask_param", mycaffe},
    {"TransformationParameter", "max_rotate_degree", convolutionalPoseMachines},
    {"TransformationParameter", "noise_param", ssd},
    {"TransformationParameter", "np_in_lmdb", convolutionalPoseMachines},
    {"TransformationParameter", "num_parts", convolutionalPoseMachines},
    {"TransformationParameter", "random_aspect_ratio_param", intelCaffe},
    {"TransformationParameter", "random_resize_param", intelCaffe},
    {"TransformationParameter", "resize_param", ssd},
    {"TransformationParameter", "scale_max", convolutionalPoseMachines},
    {"TransformationParameter", "scale_min", convolutionalPoseMachines},
    {"TransformationParameter", "scale_prob", convolutionalPoseMachines},
    {"TransformationParameter", "stride", convolutionalPoseMachines},
    {"TransformationParameter", "target_dist", convolutionalPoseMachines},
    {"TransformationParameter", "transform_body_joint", convolutionalPoseMachines},
    {"TransformationParameter", "use_gpu_transform", nvidiaCaffe},
    {"TransformationParameter", "use_image_mean", mycaffe},
    {"TransformationParameter", "use_imagedb_mean", mycaffe},
    {"TransformationParameter", "var_sz_img_enabled", nvidiaCaffe},
    {"TransformationParameter", "vertical_stretch_lower", nvidiaCaffe},
    {"TransformationParameter", "vertical_stretch_upper", nvidiaCaffe},
    {"TransformationParameter", "visualize", convolutionalPoseMachines},
};

constexpr Member enumValues[] = {
    {"DB", "IMAGEDB", mycaffe},
    {"Engine", "INTEL", intelCaffe},
    {"Engine", "MKL2017", intelCaffe},
    {"Engine", "MKLDNN", intelCaffe},
    {"LayerType", "BN", segnet},
    {"LayerType", "CONVOLUTION3D", c3D},
    {"LayerType", "DENSE_IMAGE_DATA", segnet},
    {"LayerType", "POOLING3D", c3D},
    {"LayerType", "ROI_POOLING", fasterRcnn},
    {"LayerType", "UPSAMPLE", segnet},
    {"LayerType", "VIDEO_DATA", c3D},
    {"NormalizationMode", "PRE_FIXED", rfcn},
};

struct LayerType {
  const char *name;
  const char *fork;
};

constexpr LayerType layerTypes[] = {
    {"AnnotatedData", ssd},
    {"Axpy", senet},
    {"BN", segnet},
    {"BoxAnnotatorOHEM", rfcn},
    {"CPMData", convolutionalPoseMachines},
    {"CTCLoss", crnncaffe},
    {"CenterLoss", caffeface},
    {"ChannelNorm", flownet2},
    {"ContinuationIndicator", crnncaffe},
    {"Convolution3D", c3D},
    {"ConvolutionDepthwise", mobilenetDepthwisePorts},
    {"Correlation", flownet2},
    {"CtcLoss", crnncaffe},
    {"CustomData", flownet2},
    {"DataAugmentation", flownet2},
    {"DataTemporal", mycaffe},
    {"DenseCRF", deeplab},
    {"DenseImageData", segnet},
    {"DepthwiseConvolution", mobilenetDepthwisePorts},
    {"DetectNetTransformation", nvidiaCaffe},
    {"DetectionEvaluate", ssd},
    {"DetectionOutput", ssd},
    {"EvalDetection", intelCaffe},
    {"FLOWriter", flownet2},
    {"Flip", caffewindows},
    {"FloatReader", flownet2},
    {"FloatWriter", flownet2},
    {"FlowAugmentation", flownet2},
    {"FlowWarp", flownet2},
    {"GenerateAugmentationParameters", flownet2},
    {"ImResize", convolutionalPoseMachines},
    {"ImageSegData", deeplab},
    {"ImgReader", flownet2},
    {"InnerDistance", caffewindows},
    {"Insanity", caffewindows},
    {"Interp", pspnet},
    {"L1Loss", flownet2},
    {"LSTMAttention", mycaffe},
    {"LSTMSimple", mycaffe},
    {"LabelsequenceAccuracy", crnncaffe},
    {"LpqLoss", flownet2},
    {"MarginInnerProduct", caffesphereface},
    {"MatRead", deeplab},
    {"MatWrite", deeplab},
    {"MnActivation", intelCaffe},
    {"MnParamGrad", intelCaffe},
    {"MultiBoxLoss", ssd},
    {"MultiStageMeanfield", crfrnn},
    {"Nms", convolutionalPoseMachines},
    {"Normalize", ssd},
    {"PSROIPooling", rfcn},
    {"Permute", ssd},
    {"Pooling3D", c3D},
    {"PriorBox", ssd},
    {"Proposal", rfcn},
    {"ROIPooling", fasterRcnn},
    {"RegionLoss", mobilenetyolo},
    {"Reorg", mobilenetyolo},
    {"Resample", flownet2},
    {"ReverseTime", crnncaffe},
    {"SegAccuracy", deeplab},
    {"SegmentationEvaluate", mobilenetyolo},
    {"ShuffleChannel", shufflenetPorts},
    {"SmoothL1Loss", ssd},
    {"SmoothL1LossOHEM", rfcn},
    {"SoftmaxWithLossOHEM", rfcn},
    {"SubRegion", caffewindows},
    {"TokenizedData", mycaffe},
    {"Transpose", crnncaffe},
    {"Upsample", segnet},
    {"VideoData", ssd},
    {"WarpCTC", crnncaffe},
    {"YoloDetectionOutput", mobilenetyolo},
    {"YoloSeg", mobilenetyolo},
    {"Yolov3", mobilenetyolo},
    {"Yolov3DetectionOutput", mobilenetyolo},
};
// clang-format on

template <size_t count>
const char *find(const Member (&table)[count], const std::string &owner,
                 const std::string &name) {
  for (const Member &member : table)
    if (owner == member.owner && name == member.name)
      return member.fork;
  return nullptr;
}

} // namespace

const char *forkOwningField(const std::string &message,
                            const std::string &field) {
  return find(fields, message, field);
}

const char *forkOwningValue(const std::string &enumType,
                            const std::string &value) {
  return find(enumValues, enumType, value);
}

const char *forkOwningLayerType(const std::string &type) {
  for (const LayerType &each : layerTypes)
    if (type == each.name)
      return each.fork;
  return nullptr;
}

} // namespace brew::prototxt
