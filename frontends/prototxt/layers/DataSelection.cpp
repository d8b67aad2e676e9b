//===- DataSelection.cpp - Checks of record selections --------------------===//

#include "frontends/prototxt/layers/DataLayers.h"

#include <cmath>

namespace brew::prototxt {

namespace {

template <typename Settings>
void checkWeights(LayerChecker &c, const Settings &settings) {
  if (settings.has_boost_file() && settings.boost_file().empty())
    c.error(settings, "boost_file", "boost_file names no file");
  if (!(settings.boost_default() >= 0) || std::isinf(settings.boost_default()))
    c.error(settings, "boost_default",
            "boost_default must be finite and not negative");
  if (settings.has_boost_default() && !settings.has_boost_file())
    c.warn(settings, "boost_default",
           "boost_default has no effect without boost_file");
  if (settings.has_boost_file() && settings.has_enable_random_selection() &&
      !settings.enable_random_selection())
    c.error(settings, "enable_random_selection",
            "records of a boost_file are drawn at random");
}

template <typename Settings>
void checkPairs(LayerChecker &c, const Settings &settings) {
  if (settings.images_per_blob() < 1 || settings.images_per_blob() > 2)
    c.error(settings, "images_per_blob", "images_per_blob must be 1 or 2");
  const bool selectsPairs = settings.enable_pair_selection();
  if (settings.images_per_blob() == 2) {
    if (selectsPairs && settings.has_balance_matches() &&
        settings.balance_matches())
      c.error(settings, "balance_matches",
              "give either balance_matches or enable_pair_selection, not both");
    if (settings.output_all_labels() && c.layer.top_size() < 2)
      c.warn(settings, "output_all_labels",
             "output_all_labels has no effect: the layer gives no labels");
    return;
  }
  if (settings.has_balance_matches())
    c.warn(settings, "balance_matches",
           "balance_matches has no effect without images_per_blob: 2");
  if (settings.has_output_all_labels())
    c.warn(settings, "output_all_labels",
           "output_all_labels has no effect without images_per_blob: 2");
  if (selectsPairs && settings.batch_size() % 2)
    c.error(settings, "batch_size",
            "batch_size must be even with enable_pair_selection");
}

template <typename Settings>
void checkSelectionFields(LayerChecker &c, const Settings &settings) {
  if (settings.shuffle() && settings.has_boost_file())
    c.error(settings, "boost_file",
            "give either shuffle or boost_file, not both: a pass has each "
            "record once");
  else if (settings.shuffle() && settings.enable_random_selection())
    c.error(settings, "enable_random_selection",
            "give either shuffle or enable_random_selection, not both");
  checkWeights(c, settings);
  checkPairs(c, settings);
}

} // namespace

void checkSelection(LayerChecker &c, const caffe::DataParameter &settings) {
  checkSelectionFields(c, settings);
}
void checkSelection(LayerChecker &c,
                    const caffe::ImageDataParameter &settings) {
  checkSelectionFields(c, settings);
}

} // namespace brew::prototxt
