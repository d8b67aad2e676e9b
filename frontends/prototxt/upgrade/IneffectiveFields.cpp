//===- IneffectiveFields.cpp - Forks' fields without effect ---------------===//

#include "frontends/prototxt/upgrade/IneffectiveFields.h"

#include "frontends/prototxt/upgrade/ForkNames.h"

#include <algorithm>

namespace brew::prototxt {
namespace {

struct MemberNames {
  const char *owner; ///< message or enum type; empty: any type
  const char *names; ///< separated by spaces
};

constexpr MemberNames ineffectiveFields[] = {
    {"", "engine"},
    // C3D
    {"ConvolutionParameter", "filter_group"},
    // caffe_ocr and iResNet
    {"DenseBlockParameter", "BC_ultra_space_efficient gpuIdx workspace_MB"},
    // ConvLSTM
    {"LSTMConvolutionParameter", "force_nd_im2col"},
    // CRF-RNN
    {"MultiStageMeanfieldParameter", "force_cpu threshold"},
    // Intel Caffe
    {"ConvolutionParameter", "conv_algorithm"},
    // NVIDIA Caffe
    {"ConvolutionParameter", "conv_algos_override "
                             "cudnn_convolution_algo_seeker "
                             "cudnn_math_override"},
    {"DataParameter", "cache parser_threads precache threads"},
    {"ImageDataParameter", "cache precache threads"},
    {"LayerParameter", "backward_math backward_type cudnn_math_override debug "
                       "forward_math forward_type"},
    {"NetParameter",
     "default_backward_math default_backward_type default_conv_algos_override "
     "default_cudnn_math_override default_forward_math default_forward_type "
     "eltwise_mem_sharing global_grad_scale global_grad_scale_adaptive "
     "reduce_buckets"},
    {"SolverParameter", "solver_data_type"},
    {"TransformationParameter", "forward_packing use_gpu_transform"},
    // FlowNet 2
    {"DataParameter", "disk_reader_threads"},
    // MyCaffe
    {"AccuracyParameter", "enable_simple_accuracy"},
    {"CausalSelfAttentionParameter",
     "enable_cuda_scaled_dot_product_attention"},
    {"DataParameter", "display_timing"},
    {"LayerNormParameter", "enable_cuda_impl"},
    {"MultiheadAttentionParameter", "enable_cuda_scaled_dot_product_attention"},
    {"TransformerBlockParameter",
     "enable_cuda_scaled_dot_product_attention enable_ln_cuda_impl"},
};

constexpr MemberNames ineffectiveValues[] = {
    {"Engine", "INTEL MKL2017 MKLDNN"}, // Intel Caffe
};

template <size_t count>
bool contains(const MemberNames (&table)[count], const std::string &owner,
              const std::string &name) {
  return std::any_of(table, table + count, [&](const MemberNames &members) {
    return (!*members.owner || owner == members.owner) &&
           hasWord(members.names, name);
  });
}

/// Returns whether a field chooses a type of intermediate results.
bool choosesType(const std::string &field) {
  constexpr const char kFields[] =
      "backward_math backward_type default_backward_math default_backward_type "
      "default_forward_math default_forward_type forward_math forward_type "
      "solver_data_type";
  return hasWord(kFields, field);
}

} // namespace

bool isIneffectiveField(const std::string &message, const std::string &field) {
  return contains(ineffectiveFields, message, field);
}

bool isIneffectiveValue(const std::string &enumType, const std::string &value) {
  return contains(ineffectiveValues, enumType, value);
}

void IneffectiveFields::add(const SourceLocation &where,
                            const std::string &field,
                            const std::string &value) {
  if (choosesType(field) && value != "FLOAT") {
    if (!otherType)
      otherType = Use{where, field + ": " + value};
    return;
  }
  const bool isKnown =
      std::any_of(uses.begin(), uses.end(),
                  [&](const Use &use) { return use.text == field; });
  if (!isKnown)
    uses.push_back({where, field});
}

void IneffectiveFields::report(Diagnostics &diagnostics) const {
  if (!uses.empty()) {
    std::string names;
    for (const Use &use : uses)
      names += (names.empty() ? "'" : ", '") + use.text + "'";
    diagnostics.warning(uses.front().where,
                        names + (uses.size() > 1 ? " have" : " has") +
                            " no effect: Brew chooses how to compute and read "
                            "the same values");
  }
  if (otherType)
    diagnostics.warning(otherType->where,
                        "'" + otherType->text +
                            "' has no effect: Brew computes in 32 bits, or "
                            "with the 16-bit types of brewc --precision");
}

} // namespace brew::prototxt
