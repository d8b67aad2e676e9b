//===- ForkFields.cpp - Fields and types of Caffe's forks -----------------===//
//
// Fields and enum values that forks have and neither Caffe 1.0 nor Brew has,
// with the forks best known for them. Contains only data and lookups.
// Fields without effect are in IneffectiveFields.cpp.
// Blocks of layer types that Brew lacks are not listed, because the error about
// such a type replaces the errors about its blocks.
//
//===----------------------------------------------------------------------===//

#include "frontends/prototxt/upgrade/ForkFields.h"

#include "frontends/prototxt/upgrade/ForkNames.h"
#include "support/JoinNames.h"

namespace brew::prototxt {

namespace {

/// A fork's fields of a message type, or values of an enum type, separated by
/// spaces.
struct Members {
  const char *fork;
  const char *owner;
  const char *names;
};

// clang-format off
constexpr Members fields[] = {
    {caffewindows, "AccuracyParameter",
     "min_is_better"},
    {mobilenetyolo, "AnnotatedDataParameter",
     "difficult_label_warmup seg_resize_height seg_resize_width seg_scales "
     "single_class"},
    {synopsys, "ArgMaxParameter",
     "min_first"},
    {synopsys, "BNParameter",
     "icnet"},
    {caffewindows, "BatchNormParameter",
     "disable_mean disable_variance"},
    {intelCaffe, "BatchNormParameter",
     "bias_term filler relu stats_batch_size use_weight_bias"},
    {pspnet, "BatchNormParameter",
     "update_global_stats"},
    {synopsys, "BatchNormParameter",
     "add_eps_before_sqrt icnet"},
    {synopsys, "BiasParameter",
     "bias_scale bias_zero_point input_scale input_zero_point "
     "output_scale output_zero_point quantize_method saturate"},
    {mycaffe, "CausalSelfAttentionParameter",
     "rope_shared_index weight_adapter_k weight_adapter_out "
     "weight_adapter_q weight_adapter_v"},
    {intelCaffe, "ConcatParameter",
     "per_fla_fuse"},
    {synopsys, "ConcatParameter",
     "input_scale input_zero_point output_scale output_zero_point "
     "quantize_method saturate"},
    {caffewindows, "ConvolutionParameter",
     "shape_offset"},
    {deeplab, "ConvolutionParameter",
     "hole_h hole_w"},
    {intelCaffe, "ConvolutionParameter",
     "coeff fusion_type negative_slope relu"},
    {synopsys, "ConvolutionParameter",
     "dis_mode gen_mode input_scale input_zero_point output_scale "
     "output_zero_point per_channel_scale_output "
     "per_channel_scale_weight quantize_method saturate "
     "submanifold_sparse weight_fixed weight_scale "
     "weight_zero_point"},
    {flownet2, "DataParameter",
     "block_size encoding huge_video_dataset limit_samples "
     "permute_every_iter preselection_file preselection_label "
     "rand_permute rand_permute_order rand_permute_seed range_end "
     "range_start slice_point subtract verbose"},
    {intelCaffe, "DataParameter",
     "side"},
    {mycaffe, "DataParameter",
     "data_debug_param data_noise_param enable_debug_output "
     "enable_noise_for_nonmatch forced_primary_label label_type "
     "output_image_information primary_data synchronize_target "
     "synchronize_with"},
    {synopsys, "DataParameter",
     "random"},
    {synopsys, "DetectionOutputParameter",
     "arm_conf_no_concat arm_loc_no_concat "
     "max_classes_per_detection nbottom no_permute "
     "objectness_score ratio0 ratio1 ratio2 ratio3 ratio4 ratio5 "
     "ratio_permute scale_xywh tflite_detection "
     "tflite_use_regular_nms"},
    {caffewindows, "DropoutParameter",
     "sqrt_scale"},
    {nvidiaCaffe, "DropoutParameter",
     "random_seed"},
    {nvidiaCaffe, "ELUParameter",
     "lambda"},
    {synopsys, "EltwiseParameter",
     "axis input_scale input_zero_point output_scale "
     "output_zero_point quantize_method saturate"},
    {caffewindows, "FillerParameter",
     "alpha"},
    {flownet2, "FillerParameter",
     "diag_val"},
    {intelCaffe, "FillerParameter",
     "scale"},
    {caffewindows, "ImageDataParameter",
     "balance_by balance_class face_mirror face_point_num "
     "face_transform label_cut_end label_cut_start "
     "max_aspect_ratio max_random_scale max_random_shift "
     "max_rotate_angle max_shear_ratio min_random_scale"},
    {expcaffe, "ImageDataParameter",
     "bias channels"},
    {mycaffe, "GRNParameter",
     "activation axis batch_first bias_filler context_dim "
     "dropout_ratio enable_noise hidden_dim input_dim output_dim "
     "sigma_init weight_filler"},
    {intelCaffe, "ImageDataParameter",
     "min_height min_width"},
    {nvidiaCaffe, "ImageDataParameter",
     "dataset_share_per_node short_side"},
    {caffewindows, "InnerProductParameter",
     "normalize"},
    {intelCaffe, "InnerProductParameter",
     "negative_slope relu"},
    {mycaffe, "InnerProductParameter",
     "enable_noise sigma_init"},
    {synopsys, "InnerProductParameter",
     "dis_mode gen_mode input_scale input_zero_point output_scale "
     "output_zero_point quantize_method saturate weight_fixed "
     "weight_scale weight_zero_point"},
    {synopsys, "InputParameter",
     "output_scale output_zero_point"},
    {synopsys, "InterpParameter",
     "full_zoom_factor"},
    {synopsys, "LRNParameter",
     "input_scale output_scale"},
    {caffewindows, "LayerParameter",
     "noise_param smoothl1_param"},
    {flownet2, "LayerParameter",
     "augmentation reshape_every_iter"},
    {intelCaffe, "LayerParameter",
     "mn_activation_param "
     "mn_grad_compress_param multinode remote_data_param "
     "spatial_dropout_param split_param"},
    {mycaffe, "LayerParameter",
     "data_temporal_param freeze_learning lstm_attention_param"},
    {nvidiaCaffe, "LayerParameter",
     "detectnet_augmentation_param detectnet_groundtruth_param "
     "trt_param"},
    {micronet, "LayerParameter",
     "quantize_param"},
    {ristretto, "LayerParameter",
     "quantization_param"},
    {nvidiaCaffe, "LossParameter",
     "label_smoothing"},
    {synopsys, "MVNParameter",
     "add_eps_before_sqrt"},
    {caffewindows, "MemoryDataParameter",
     "transpose"},
    {mycaffe, "MultiheadAttentionParameter",
     "rope_shared_index weight_adapter_k weight_adapter_out "
     "weight_adapter_q weight_adapter_v"},
    {intelCaffe, "NetParameter",
     "bn_stats_batch_size compile_net_state multinode"},
    {nvidiaCaffe, "NetParameter",
     "quantize"},
    {caffewindows, "NormalizeParameter",
     "bp_norm fix_gradient normalize_type"},
    {synopsys, "NormalizeParameter",
     "add_eps_before_sqrt"},
    {caffewindows, "ParameterParameter",
     "blob_filler"},
    {caffewindows, "PoolingParameter",
     "blobs_a_min blobs_lr"},
    {intelCaffe, "PoolingParameter",
     "avg_include_pad axis kernel_size_3d pad_3d stride_3d"},
    {nvidiaCaffe, "PoolingParameter",
     "torch_pooling"},
    {synopsys, "PoolingParameter",
     "input_scale input_zero_point output_scale "
     "output_shift_instead_division output_zero_point pad_b pad_l "
     "pad_r pad_t pad_type quantize_method saturate"},
    {synopsys, "PowerParameter",
     "quantize_method saturate"},
    {synopsys, "PriorBoxParameter",
     "box_height box_width faceboxes keras tf yx_order"},
    {synopsys, "ProposalParameter",
     "anchor_ratio anchor_scale"},
    {intelCaffe, "ROIPoolingParameter",
     "pooled_size"},
    {intelCaffe, "ReLUParameter",
     "fuse"},
    {synopsys, "ReLUParameter",
     "input_scale input_zero_point maximum minimum output_scale "
     "output_zero_point relu6 saturate"},
    {mycaffe, "RecurrentParameter",
     "dropout_ratio dropout_seed num_layers"},
    {synopsys, "RecurrentParameter",
     "activation_alpha activation_beta activations continue_recur "
     "default_initial direction linear_before_reset tf_rnn"},
    {intelCaffe, "ReshapeParameter",
     "pixelshuffler"},
    {synopsys, "ResizeBilinearParameter",
     "input_scale input_zero_point output_depth output_scale "
     "output_zero_point quantize_method saturate scale_depth"},
    {caffewindows, "ResizeParameter",
     "is_pyramid_test out_height_scale out_width_scale"},
    {synopsys, "ResizeParameter",
     "jitter"},
    {caffewindows, "ScaleParameter",
     "max_value min_value"},
    {synopsys, "ScaleParameter",
     "dis_mode gen_mode"},
    {pspnet, "SegAccuracyParameter",
     "output_label"},
    {synopsys, "SigmoidParameter",
     "input_scale input_zero_point output_scale output_zero_point "
     "saturate"},
    {synopsys, "SmoothL1LossParameter",
     "abssum"},
    {caffewindows, "SoftmaxParameter",
     "class_weight cutting_point hard_mining_label hard_ratio "
     "label_smooth_factor normalize_type"},
    {synopsys, "SoftmaxParameter",
     "input_scale input_zero_point output_scale output_zero_point "
     "saturate"},
    {caffewindows, "SolverParameter",
     "clamp_weights_lower clamp_weights_upper clip_weights"},
    {developmentVersionsBeforeCaffe10, "SolverParameter",
     "momentum_end momentum_start snapshot_before_train"},
    {expcaffe, "SolverParameter",
     "result_blob_name result_file_name snapshot_txt"},
    {intelCaffe, "SolverParameter",
     "disabled_update multinode_param"},
    {nvidiaCaffe, "SolverParameter",
     "larc_turbo max_momentum max_weight_decay momentum_policy "
     "momentum_power store_blobs_in_old_format "
     "test_and_snapshot_last_epochs weight_decay_policy "
     "weight_decay_power"},
    {synopsys, "SolverParameter",
     "gan_solver"},
    {caffewindows, "TransformationParameter",
     "aspect_max aspect_min center_crop erase_ratio"},
    {convolutionalPoseMachines, "TransformationParameter",
     "center_perterb_max crop_size_x crop_size_y do_clahe "
     "max_rotate_degree np_in_lmdb num_parts scale_max scale_min "
     "scale_prob stride target_dist transform_body_joint visualize"},
    {intelCaffe, "TransformationParameter",
     "bgr2rgb flow pad random_aspect_ratio_param "
     "random_resize_param"},
    {mobilenetyolo, "TransformationParameter",
     "apply_probability contrast_brightness_adjustment cvt_bgr2rgb "
     "debug_params enable_classf_aug max_brightness_shift "
     "max_color_shift max_contrast max_rotation_angle "
     "max_scaling_factor max_smooth min_contrast "
     "min_scaling_factor min_side min_side_max min_side_min "
     "smooth_filtering"},
    {mycaffe, "TransformationParameter",
     "distortion_param label_mapping mask_param "
     "use_image_mean use_imagedb_mean"},
    {nvidiaCaffe, "TransformationParameter",
     "allow_upscale display horizontal_stretch_lower "
     "horizontal_stretch_upper img_rand_resize_lower "
     "img_rand_resize_upper interpolation_algo_down "
     "interpolation_algo_up num_labels rand_resize_ratio_lower "
     "rand_resize_ratio_upper random_seed var_sz_img_enabled "
     "vertical_stretch_lower vertical_stretch_upper"},
    {synopsys, "TransformationParameter",
     "caffe_yolo"},
    {mycaffe, "TransformerBlockParameter",
     "multiple_of normalization_type weight_adapter_k "
     "weight_adapter_out weight_adapter_q weight_adapter_v"},
    {caffewindows, "V1LayerParameter",
     "bn_param eltwise_affine_param insanity_param local_param "
     "noise_param prelu_param roi_pooling_param sub_region_param"},
    {mobilenetyolo, "V1LayerParameter",
     "relu6_param"},
    {synopsys, "V1LayerParameter",
     "yolo_v2_loss_param yolo_v3_loss_param"},
    {ssd, "VideoDataParameter",
     "device_id skip_frames video_file video_type"},
};

constexpr Members enumValues[] = {
    {mycaffe, "DB",
     "IMAGEDB"},
    {caffewindows, "EltwiseOp",
     "SORT"},
    {synopsys, "EltwiseOp",
     "DIV MIN"},
    {c3D, "LayerType",
     "VIDEO_SEGMENTATION_DATA VIDEO_WITH_VOXEL_TRUTH_DATA "
     "VOXEL_SOFTMAX VOXEL_SOFTMAX_LOSS"},
    {mycaffe, "InputType",
     "CUSTOM"},
    {caffewindows, "LayerType",
     "BATCH_NORM ELTWISE_AFFINE INSANITY LOCAL NORMALIZE "
     "ROIPOOLING"},
    {fasterRcnn, "LayerType",
     "ROI_POOLING"},
    {mobilenetyolo, "LayerType",
     "RELU6"},
    {segnet, "LayerType",
     "BN DENSE_IMAGE_DATA UPSAMPLE"},
    {caffewindows, "PoolMethod",
     "DEF DEF_ALL DEF_ALL2 DEF_ALL3 DEF_ALL4 LOWRES"},
    {synopsys, "PoolMethod",
     "AVE_EXC_PAD AVE_TF"},
    {nvidiaCaffe, "SolverType",
     "SAG"},
    {mycaffe, "VocabularyType",
     "CUSTOM LLAMA2 SENTENCEPIECE WORD"},
};
// clang-format on

template <size_t count>
std::string findForks(const Members (&table)[count], const std::string &owner,
                      const std::string &name) {
  std::vector<std::string> forks;
  for (const Members &members : table)
    if (owner == members.owner && hasWord(members.names, name))
      forks.emplace_back(members.fork);
  return joinNames(forks, "and");
}

} // namespace

std::string forksWithField(const std::string &message,
                           const std::string &field) {
  return findForks(fields, message, field);
}

std::string forksWithValue(const std::string &enumType,
                           const std::string &value) {
  return findForks(enumValues, enumType, value);
}

std::string forkHint(const std::string &forks) {
  return forks.empty() ? ""
                       : "; it belongs to " + forks + ", not to BVLC Caffe 1.0";
}

} // namespace brew::prototxt
