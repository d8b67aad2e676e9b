//===- SolverStateFile.cpp - .solverstate files ---------------------------===//
#include "formats/SolverStateFile.h"

#include "formats/ProtoFile.h"
#include "formats/SnapshotChecksum.h"
#include "formats/hdf5/Hdf5.h"
#include "formats/hdf5/Hdf5Snapshots.h"
#include "support/Error.h"
#include "support/FileChecksum.h"

#include <google/protobuf/stubs/logging.h>

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
  google::protobuf::LogSilencer silence; // of messages about invalid UTF-8
  verifyChecksumLine(path, "solverstate");
  SolverSnapshot snapshot =
      isHdf5File(path) ? readHdf5SolverState(path) : readBinary(path);
  if (snapshot.state.iter() < 0 || snapshot.state.current_step() < 0)
    throw badInput(path + ": damaged solverstate: negative iteration or step");
  verifyAndRemoveChecksum(snapshot, path);
  return snapshot;
}

void writeSolverState(const std::string &path, SolverSnapshot snapshot,
                      SnapshotFormat format) {
  caffe::SolverState &state = snapshot.state;
  caffe::SolverState head;
  if (hasBrewFields(state))
    head = contentChecksumState(snapshot);
  if (format == SnapshotFormat::Hdf5) {
    state.MergeFrom(head);
    return writeHdf5SolverState(path, snapshot);
  }
  state.clear_history();
  for (const Blob &blob : snapshot.history)
    fillBlobProto(blob, *state.add_history());
  // At the beginning, so that a truncated file contains it, too.
  writeProtoFile(path, state, head.SerializeAsString());
}

void removeNamedValues(caffe::SolverState &state, const std::string &name) {
  auto &all = *state.mutable_brew_persistent();
  for (int i = all.size(); i-- > 0;)
    if (all.Get(i).name() == name)
      all.DeleteSubrange(i, 1);
}

void setNamedValues(caffe::SolverState &state, const std::string &name,
                    const std::vector<double> &values) {
  removeNamedValues(state, name);
  caffe::PersistentState &added = *state.add_brew_persistent();
  added.set_name(name);
  Blob blob;
  blob.dims = {static_cast<int64_t>(values.size())};
  blob.doubles = values;
  fillBlobProto(blob, *added.mutable_values());
}

std::vector<double> namedValues(const caffe::SolverState &state,
                                const std::string &name,
                                const std::string &path) {
  for (const caffe::PersistentState &saved : state.brew_persistent())
    if (saved.name() == name) {
      caffe::BlobProto proto = saved.values();
      return takeBlob(proto, path + ": state '" + name + "'").toDoubles();
    }
  return {};
}

} // namespace brew::formats
