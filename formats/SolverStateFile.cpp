//===- SolverStateFile.cpp - .solverstate files ---------------------------===//
#include "formats/SolverStateFile.h"

#include "formats/Error.h"
#include "formats/Hdf5.h"
#include "formats/Hdf5Snapshots.h"
#include "formats/ProtoFile.h"

namespace brew::formats {

static SolverSnapshot readBinary(const std::string &path) {
  SolverSnapshot snapshot;
  readProtoFile(path, snapshot.state, "solverstate");
  caffe::SolverState &state = snapshot.state;
  if (!state.has_iter())
    throw badInput(path + ": damaged or truncated solverstate: no iteration");
  snapshot.history.reserve(static_cast<size_t>(state.history_size()));
  for (int i = 0; i < state.history_size(); ++i)
    snapshot.history.push_back(takeBlob(
        *state.mutable_history(i), path + ": history " + std::to_string(i)));
  state.clear_history();
  return snapshot;
}

SolverSnapshot readSolverState(const std::string &path) {
  SolverSnapshot snapshot =
      isHdf5File(path) ? readHdf5SolverState(path) : readBinary(path);
  if (snapshot.state.iter() < 0 || snapshot.state.current_step() < 0)
    throw badInput(path + ": damaged solverstate: negative iteration or step");
  return snapshot;
}

void writeSolverState(const std::string &path, const SolverSnapshot &snapshot,
                      SnapshotFormat format) {
  if (format == SnapshotFormat::Hdf5)
    return writeHdf5SolverState(path, snapshot);
  caffe::SolverState state = snapshot.state;
  state.clear_history();
  for (const Blob &blob : snapshot.history)
    fillBlobProto(blob, *state.add_history());
  writeProtoFile(path, state);
}

} // namespace brew::formats
