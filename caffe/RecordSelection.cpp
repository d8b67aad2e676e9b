//===- RecordSelection.cpp - Order and grouping of records ----------------===//
#include "caffe/RecordSelection.h"

#include "caffe/DataLayerKinds.h"
#include "formats/caffe.pb.h"

#include <algorithm>

namespace brew::caffe {

template <typename Settings>
static RecordSelection selectionIn(const Settings &of) {
  RecordSelection result;
  result.shuffle = of.shuffle();
  result.boostFile = of.boost_file();
  result.boostDefault = of.boost_default();
  result.random = of.enable_random_selection() || !result.boostFile.empty();
  result.balanceLabels = of.balance() == caffe::DataParameter::LABEL;
  result.imagesPerItem = std::max(of.images_per_blob(), 1u);
  result.allLabels = of.output_all_labels();
  result.balanceMatches = of.images_per_blob() > 1 && of.balance_matches() &&
                          !of.enable_pair_selection();
  result.neighbours = of.enable_pair_selection();
  return result;
}

RecordSelection recordSelectionOf(const caffe::LayerParameter &layer) {
  const DataLayerKind *kind = findDataLayerKind(layer.type());
  if (kind && kind->source == DataLayerSource::Images)
    return selectionIn(layer.image_data_param());
  if (kind && (kind->source == DataLayerSource::Database ||
               kind->source == DataLayerSource::Annotated))
    return selectionIn(layer.data_param());
  return {};
}

} // namespace brew::caffe
