//===- Hdf5Snapshots.cpp - Weights and solver states in HDF5 --------------===//
#include "formats/hdf5/Hdf5Snapshots.h"

#include "formats/ExpectedFile.h"
#include "formats/SnapshotChecksum.h"
#include "formats/hdf5/Hdf5.h"
#include "support/Error.h"

#include <algorithm>
#include <map>

namespace brew::formats {
namespace {

const std::string kData = "/data/";
const std::string kDiff = "/diff/";
const std::string kHistory = "/history/";

/// Parses the name of a dataset as a number without leading zeros. Returns -1
/// if it is another name or has more than six digits.
int parseIndex(const std::string &text) {
  constexpr size_t maxDigits = 6;
  const bool isNumber = !text.empty() && text.size() <= maxDigits &&
                        std::all_of(text.begin(), text.end(), [](char c) {
                          return c >= '0' && c <= '9';
                        });
  return isNumber && (text.size() == 1 || text[0] != '0') ? std::stoi(text)
                                                          : -1;
}

} // namespace

Weights readHdf5Weights(const std::string &path) {
  constexpr int maxBlobs = 64; // per layer: ten times what a layer needs
  Hdf5Reader file(path);
  if (!file.hasGroup("/data")) {
    refuseOtherKind(path, weightFile());
    throw badInput(path + ": no weights: the HDF5 file has no group 'data'");
  }
  // Layer names may contain slashes, which become nested groups.
  std::map<std::string, std::map<int, std::string>> layers;
  for (const std::string &dataset : file.datasets("/data")) {
    const size_t slash = dataset.rfind('/');
    const int index = parseIndex(dataset.substr(slash + 1));
    if (slash < kData.size() || index < 0 || index >= maxBlobs)
      throw badInput(path + ": dataset '" + dataset +
                     "' is not the blob of a layer");
    layers[dataset.substr(kData.size(), slash - kData.size())][index] = dataset;
  }
  if (layers.empty())
    throw badInput(path + ": damaged or truncated caffemodel: no layers");

  Weights weights;
  weights.hdf5 = true;
  for (const auto &[name, datasets] : layers) {
    WeightLayer layer;
    layer.name = name;
    layer.blobs.resize(static_cast<size_t>(datasets.rbegin()->first) + 1);
    for (size_t i = 0; i < layer.blobs.size(); ++i) {
      auto dataset = datasets.find(static_cast<int>(i));
      if (dataset == datasets.end()) {
        layer.shared.insert(i);
        layer.blobs[i].dims = {0};
      } else {
        layer.blobs[i] = file.readInFilePrecision(dataset->second);
      }
    }
    weights.layers.push_back(std::move(layer));
  }
  return weights;
}

void writeHdf5Weights(const std::string &path, const Weights &weights) {
  Hdf5Writer file(path);
  file.makeGroup("/data");
  for (const WeightLayer &layer : weights.layers) {
    file.makeGroup(kData + layer.name);
    for (size_t i = 0; i < layer.blobs.size(); ++i)
      if (!layer.shared.count(i))
        file.write(kData + layer.name + "/" + std::to_string(i),
                   layer.blobs[i]);
    if (layer.diffs.empty())
      continue;
    file.makeGroup(kDiff + layer.name);
    for (size_t i = 0; i < layer.diffs.size(); ++i)
      file.write(kDiff + layer.name + "/" + std::to_string(i), layer.diffs[i]);
  }
  file.commit();
}

SolverSnapshot readHdf5SolverState(const std::string &path) {
  Hdf5Reader file(path);
  SolverSnapshot snapshot;
  caffe::SolverState &state = snapshot.state;
  if (file.has("brew_state") &&
      !(state.ParseFromString(file.readBytes("brew_state")) &&
        hasBrewFields(state)))
    throw badInput(path + ": damaged solverstate: brew_state cannot be read");
  if (!file.has("iter")) {
    refuseOtherKind(path, solverStateFile());
    throw badInput(path + ": damaged or truncated solverstate: no iteration");
  }
  state.set_iter(file.readInt("iter"));
  state.set_current_step(file.readInt("current_step"));
  if (file.has("learned_net"))
    state.set_learned_net(file.readString("learned_net"));
  if (file.has("minimum_loss") && file.has("iter_last_event")) {
    const std::vector<float> minimum = file.readFloats("minimum_loss");
    if (minimum.size() != 1)
      throw badInput(path + ": damaged solverstate: minimum_loss is not one "
                            "number");
    state.set_minimum_loss(minimum[0]);
    state.set_iter_last_event(file.readInt("iter_last_event"));
  }

  std::map<int, std::string> tensors;
  for (const std::string &dataset : file.datasets("/history")) {
    const int index = parseIndex(dataset.substr(kHistory.size()));
    if (index < 0)
      throw badInput(path + ": dataset '" + dataset +
                     "' is not a tensor of a solver's history");
    tensors[index] = dataset;
  }
  for (const auto &[index, dataset] : tensors) {
    if (index != static_cast<int>(snapshot.history.size()))
      throw badInput(path + ": damaged solverstate: history " +
                     std::to_string(snapshot.history.size()) + " is missing");
    snapshot.history.push_back(file.readInFilePrecision(dataset));
  }
  return snapshot;
}

void writeHdf5SolverState(const std::string &path,
                          const SolverSnapshot &snapshot) {
  Hdf5Writer file(path);
  file.writeInt("iter", snapshot.state.iter());
  file.writeString("learned_net", snapshot.state.learned_net());
  file.writeInt("current_step", snapshot.state.current_step());
  if (snapshot.state.has_minimum_loss()) {
    const float minimum = snapshot.state.minimum_loss();
    file.write("minimum_loss", {1}, &minimum);
    file.writeInt("iter_last_event", snapshot.state.iter_last_event());
  }
  file.makeGroup("/history");
  for (size_t i = 0; i < snapshot.history.size(); ++i)
    file.write(kHistory + std::to_string(i), snapshot.history[i]);
  caffe::SolverState brewState = snapshot.state;
  for (auto clear :
       {&caffe::SolverState::clear_iter, &caffe::SolverState::clear_learned_net,
        &caffe::SolverState::clear_current_step,
        &caffe::SolverState::clear_minimum_loss,
        &caffe::SolverState::clear_iter_last_event,
        &caffe::SolverState::clear_history})
    (brewState.*clear)();
  const std::string bytes = brewState.SerializeAsString();
  if (!bytes.empty())
    file.writeBytes("brew_state", bytes);
  file.commitWithChecksum();
}

} // namespace brew::formats
