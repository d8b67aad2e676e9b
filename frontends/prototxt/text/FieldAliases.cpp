//===- FieldAliases.cpp - Forks' names of Caffe's fields ------------------===//

#include "frontends/prototxt/text/FieldAliases.h"

namespace brew::prototxt {

std::string currentFieldName(const std::string &message,
                             const std::string &field) {
  struct Alias {
    const char *message, *field, *current;
  };
  static constexpr Alias aliases[] = {
      // DeepLab's name, older than Caffe's dilation.
      {"ConvolutionParameter", "hole", "dilation"},
      // caffe_ocr and caffe-ctc.
      {"CtcLossParameter", "blank_index", "blank_label"},
      // The C++ ports of Faster R-CNN use different names.
      {"ProposalParameter", "anchor_base_size", "base_size"},
      {"ProposalParameter", "iou_threshold", "nms_thresh"},
      {"ProposalParameter", "max_rois", "post_nms_topn"},
      {"ProposalParameter", "ratios", "ratio"},
      {"ProposalParameter", "rpn_min_size", "min_size"},
      {"ProposalParameter", "rpn_nms_thresh", "nms_thresh"},
      {"ProposalParameter", "rpn_post_nms_topn", "post_nms_topn"},
      {"ProposalParameter", "rpn_pre_nms_topn", "pre_nms_topn"},
      {"ProposalParameter", "scales", "scale"},
  };
  for (const Alias &alias : aliases)
    if (message == alias.message && field == alias.field)
      return alias.current;
  return field;
}

std::string fieldForRepetitions(const std::string &message,
                                const std::string &field) {
  const bool isRepeated =
      message == "TransformationParameter" && field == "resize_param";
  return isRepeated ? "further_resize_param" : "";
}

} // namespace brew::prototxt
