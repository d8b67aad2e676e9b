//===- MultiBox.cpp - SSD's loss and evaluation ---------------------------===//

#include "frontends/prototxt/layers/LossChecks.h"

namespace brew::prototxt {

namespace {

using MultiBox = caffe::MultiBoxLossParameter;

void checkMining(LayerChecker &c, const MultiBox &settings) {
  const bool hasMining = settings.mining_type() != MultiBox::NONE;
  if (settings.has_do_neg_mining() && settings.do_neg_mining() != hasMining)
    c.error(settings, "do_neg_mining",
            std::string("do_neg_mining is ") +
                (settings.do_neg_mining() ? "true" : "false") +
                ", but mining_type is " +
                MultiBox::MiningType_Name(settings.mining_type()));
  if (hasMining && !settings.share_location())
    c.error(settings, "share_location",
            "share_location: false has no mining; write mining_type: NONE");
  if (settings.mining_type() == MultiBox::HARD_EXAMPLE &&
      settings.sample_size() < 1)
    c.error(settings, "sample_size", "sample_size must be at least 1");
  if (!(settings.neg_pos_ratio() >= 0))
    c.error(settings, "neg_pos_ratio", "neg_pos_ratio must not be negative");
  const caffe::NonMaximumSuppressionParameter &suppression =
      settings.nms_param();
  if (!settings.has_nms_param() || !(suppression.nms_threshold() > 0))
    return;
  if (!suppression.has_top_k() || suppression.top_k() == 0)
    c.error(settings, "nms_param",
            "top_k of nms_param must be given and not 0: SSD mines nothing "
            "else; -1 means no limit");
  if (suppression.has_eta())
    c.warn(suppression, "eta", "eta has no effect in MultiBoxLoss, as in SSD");
}

void checkMultiBoxLoss(LayerChecker &c) {
  const MultiBox &settings = c.layer.multibox_loss_param();
  c.count(settings, "num_classes");
  if (settings.conf_loss_type() == MultiBox::SOFTMAX &&
      settings.num_classes() > 0 &&
      settings.background_label_id() >= settings.num_classes())
    c.error(settings, "background_label_id",
            "background_label_id must be below num_classes with SOFTMAX");
  if (settings.map_object_to_agnostic() && settings.num_classes() != 2)
    c.error(settings, "map_object_to_agnostic",
            "map_object_to_agnostic needs num_classes 2: the background and "
            "objects");
  checkMining(c, settings);
  for (int i = 2; i < c.layer.propagate_down_size(); ++i)
    if (c.layer.propagate_down(i))
      c.error(c.layer, "propagate_down",
              std::string("no gradient can reach the ") +
                  (i == 2 ? "priors" : "true boxes"),
              i);
  refuseClassWeights(c);
  if (!(c.layer.loss_param().pre_fixed_normalizer() > 0))
    c.error(c.layer.loss_param(), "pre_fixed_normalizer",
            "pre_fixed_normalizer must be positive");
  if (c.layer.loss_param().has_ignore_label())
    c.warn(c.layer.loss_param(), "ignore_label",
           "ignore_label has no effect in MultiBoxLoss, as in SSD");
}

void checkDetectionEvaluate(LayerChecker &c) {
  const caffe::DetectionEvaluateParameter &settings =
      c.layer.detection_evaluate_param();
  c.count(settings, "num_classes");
  if (!(settings.overlap_threshold() > 0))
    c.error(settings, "overlap_threshold",
            "overlap_threshold must be positive");
  if (!settings.has_resize_param())
    return;
  if (settings.name_size_file().empty())
    c.warn(settings, "resize_param",
           "resize_param has no effect without name_size_file");
  c.resize(settings.resize_param());
}

} // namespace

LayerRows multiBoxLayers() {
  return {
      LayerKind{"DetectionEvaluate", 2, 2, 1, 1, "detection_evaluate_param"}
          .checkedBy(checkDetectionEvaluate),
      lossKind("MultiBoxLoss", 4, 4, 1, "multibox_loss_param loss_param")
          .checkedBy(checkMultiBoxLoss),
  };
}

} // namespace brew::prototxt
