//===- RecordSelection.cpp - Order and grouping of records ----------------===//
#include "caffe/RecordSelection.h"

#include "caffe/DataLayerKinds.h"
#include "caffe/ImagePairs.h"
#include "formats/caffe.pb.h"

#include <algorithm>

namespace brew::caffe {

template <typename Settings>
static RecordSelection selectionFrom(const Settings &settings) {
  RecordSelection result;
  result.shuffle = settings.shuffle();
  result.boostFile = settings.boost_file();
  result.boostDefault = settings.boost_default();
  result.random =
      settings.enable_random_selection() || !result.boostFile.empty();
  result.balanceLabels = settings.balance() == caffe::DataParameter::LABEL;
  result.imagesPerItem = std::max(settings.images_per_blob(), 1u);
  result.allLabels = settings.output_all_labels();
  result.balanceMatches = settings.images_per_blob() > 1 &&
                          settings.balance_matches() &&
                          !settings.enable_pair_selection();
  result.neighbours = settings.enable_pair_selection();
  return result;
}

RecordSelection recordSelectionOf(const caffe::LayerParameter &layer) {
  const DataLayerKind *kind = findDataLayerKind(layer.type());
  if (kind && kind->source == DataLayerSource::Images)
    return selectionFrom(layer.image_data_param());
  if (kind && (kind->source == DataLayerSource::Database ||
               kind->source == DataLayerSource::Annotated))
    return selectionFrom(layer.data_param());
  RecordSelection result;
  if (kind && kind->source == DataLayerSource::LabeledPixels)
    result.shuffle = imagePairSettings(layer).shuffle;
  if (kind && kind->source == DataLayerSource::Videos)
    result.shuffle = layer.video_data_param().shuffle();
  return result;
}

} // namespace brew::caffe
