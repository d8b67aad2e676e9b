//===- SolverStateFile.cpp - .solverstate files ---------------------------===//
#include "formats/SolverStateFile.h"

#include "formats/Error.h"
#include "formats/ProtoFile.h"

namespace brew::formats {

SolverSnapshot readSolverState(const std::string &path) {
  SolverSnapshot snapshot;
  readProtoFile(path, snapshot.state, "solverstate");
  caffe::SolverState &state = snapshot.state;
  if (!state.has_iter())
    throw badInput(path + ": damaged or truncated solverstate: no iteration");
  if (state.iter() < 0 || state.current_step() < 0)
    throw badInput(path + ": damaged solverstate: negative iteration or step");
  snapshot.history.reserve(static_cast<size_t>(state.history_size()));
  for (int i = 0; i < state.history_size(); ++i)
    snapshot.history.push_back(takeBlob(
        *state.mutable_history(i), path + ": history " + std::to_string(i)));
  state.clear_history();
  return snapshot;
}

void writeSolverState(const std::string &path, const SolverSnapshot &snapshot) {
  caffe::SolverState state = snapshot.state;
  state.clear_history();
  for (const Blob &blob : snapshot.history)
    fillBlobProto(blob, *state.add_history());
  writeProtoFile(path, state);
}

} // namespace brew::formats
