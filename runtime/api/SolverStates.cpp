//===- SolverStates.cpp - C API: solver states ----------------------------===//

#include "runtime/api/RateStates.h"
#include "runtime/api/SnapshotBlobs.h"

#include "caffe/weights/WeightBinding.h"
#include "formats/SnapshotChecksum.h"
#include "formats/SolverStateFile.h"
#include "runtime/train/snapshots/SnapshotFolder.h"

using namespace brew;
using namespace brew::api;

struct brew_solver_state {
  Message message;
  std::string path;    ///< of the file that was read
  std::string weights; ///< the result of the last find_weights
  formats::SolverSnapshot snapshot;
  bool isCreated = false;
  // The history of a state that was created.
  std::vector<caffe::HistoryTensor> tensors;
  std::vector<SnapshotBlob> blobs;

  void requireCreated() const {
    if (!isCreated)
      throw usage("the solver state of a file cannot be changed or written");
  }
};

namespace {

template <typename Body>
brew_status with(brew_solver_state *state, Body &&body) {
  if (!state)
    return BREW_USAGE;
  return guarded(state->message, std::forward<Body>(body));
}

} // namespace

brew_status brew_solver_state_read(const char *path,
                                   brew_solver_state **state) {
  return api::open(state, [&](brew_solver_state &handle) {
    handle.path = text(path, "the path");
    handle.snapshot = formats::readSolverState(handle.path);
    for (formats::Blob &blob : handle.snapshot.history)
      convertToFloats(blob);
  });
}

brew_status brew_solver_state_create(int iteration, const char *weights,
                                     const brew_rate_state *rate,
                                     brew_solver_state **state) {
  return api::open(state, [&](brew_solver_state &handle) {
    const brew_rate_state from = copyFromCaller(rate);
    if (iteration < 0 || from.step < 0)
      throw usage("the iteration or the step is negative");
    caffe::SolverState &to = handle.snapshot.state;
    to.set_iter(iteration);
    if (*text(weights, "the weight file"))
      to.set_learned_net(weights);
    rateStateOf(from).save(to);
    handle.isCreated = true;
  });
}

const char *brew_solver_state_message(const brew_solver_state *state) {
  return state ? state->message.text() : Message::outOfMemory();
}

void brew_solver_state_destroy(brew_solver_state *state) { delete state; }

int brew_solver_state_iteration(const brew_solver_state *state) {
  return state ? state->snapshot.state.iter() : 0;
}

brew_status brew_solver_state_rate(brew_solver_state *state,
                                   brew_rate_state *rate) {
  return with(state, [&] {
    caffe::LearningRateState from;
    from.restore(state->snapshot.state);
    copyToCaller(rate, toCaller(from));
  });
}

brew_status brew_solver_state_find_weights(brew_solver_state *state,
                                           const char **path) {
  return with(state, [&] {
    if (!path)
      throw usage("the pointer to the path is NULL");
    if (state->isCreated)
      throw usage("the solver state was not read from a file");
    *path = nullptr;
    const caffe::SolverState &message = state->snapshot.state;
    if (!message.has_learned_net() || message.learned_net().empty())
      return;
    state->weights = runtime::weightsOfState(message, state->path, {});
    formats::verifyWeightChecksum(message, state->path, state->weights);
    *path = state->weights.c_str();
  });
}

size_t brew_solver_state_tensors(const brew_solver_state *state) {
  if (!state)
    return 0;
  return state->isCreated ? state->blobs.size()
                          : state->snapshot.history.size();
}

brew_status brew_solver_state_history(brew_solver_state *state, size_t index,
                                      brew_snapshot_blob *blob) {
  return with(state, [&] {
    if (index >= brew_solver_state_tensors(state))
      throw usage("the solver state has no tensor " + std::to_string(index));
    if (state->isCreated)
      return describe(state->blobs[index], blob);
    formats::Blob &own = state->snapshot.history[index];
    describe({own.dims, own.floats.data()}, blob);
  });
}

brew_status brew_solver_state_add_history(brew_solver_state *state,
                                          const char *parameter,
                                          const brew_snapshot_blob *tensor) {
  return with(state, [&] {
    state->requireCreated();
    SnapshotBlob blob = blobOfCaller(tensor);
    state->tensors.push_back({text(parameter, "the parameter"), blob.dims});
    state->blobs.push_back(std::move(blob));
  });
}

brew_status brew_solver_state_copy_history(const brew_solver_state *from,
                                           brew_solver_state *to) {
  return with(to, [&] {
    if (!from || from->isCreated)
      throw usage("the solver state to copy is not that of a file");
    to->requireCreated();
    caffe::checkHistory(from->snapshot.history, to->tensors, from->path);
    for (size_t i = 0; i < to->blobs.size(); ++i)
      copyValues(from->snapshot.history[i], to->blobs[i].values);
  });
}

brew_status brew_solver_state_write(brew_solver_state *state, const char *path,
                                    brew_snapshot_format format) {
  return with(state, [&] {
    state->requireCreated();
    formats::SolverSnapshot snapshot{state->snapshot.state, {}};
    for (const SnapshotBlob &blob : state->blobs)
      snapshot.history.push_back(blob.copyOf(blob.values));
    formats::writeSolverState(text(path, "the path"), std::move(snapshot),
                              formatOf(format));
  });
}
