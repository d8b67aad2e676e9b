//===- SolverStateFile.cpp - .solverstate files ---------------------------===//
#include "formats/SolverStateFile.h"

#include "formats/ExpectedFile.h"
#include "formats/ProtoFile.h"
#include "formats/SnapshotChecksum.h"
#include "formats/hdf5/Hdf5.h"
#include "formats/hdf5/Hdf5Snapshots.h"
#include "support/Error.h"
#include "support/FileChecksum.h"
#include "support/RegularFile.h"

#include <google/protobuf/stubs/logging.h>

namespace brew::formats {

static SolverSnapshot readBinary(const std::string &path) {
  SolverSnapshot snapshot;
  readProtoFile(path, snapshot.state, "solverstate", solverStateFile());
  caffe::SolverState &state = snapshot.state;
  // The first field of a mean image is also an integer.
  const bool hasOtherFields =
      !state.GetReflection()->GetUnknownFields(state).empty();
  if (!state.has_iter() || hasOtherFields)
    refuseOtherKind(path, solverStateFile());
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
  refuseSpecialFile(path);
  google::protobuf::LogSilencer
      silencer; // suppresses messages about invalid UTF-8
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
  caffe::SolverState checksumState;
  if (hasBrewFields(state))
    checksumState = contentChecksumState(snapshot);
  if (format == SnapshotFormat::Hdf5) {
    state.MergeFrom(checksumState);
    return writeHdf5SolverState(path, snapshot);
  }
  state.clear_history();
  for (const Blob &blob : snapshot.history)
    fillBlobProto(blob, *state.add_history());
  // The checksum comes first, so that a truncated file contains it, too.
  writeProtoFile(path, state, checksumState.SerializeAsString());
}

void removeNamedValues(caffe::SolverState &state, const std::string &name) {
  auto &entries = *state.mutable_brew_persistent();
  for (int i = entries.size(); i-- > 0;)
    if (entries.Get(i).name() == name)
      entries.DeleteSubrange(i, 1);
}

void setNamedValues(caffe::SolverState &state, const std::string &name,
                    const std::vector<double> &values) {
  removeNamedValues(state, name);
  caffe::PersistentState &entry = *state.add_brew_persistent();
  entry.set_name(name);
  Blob blob;
  blob.dims = {static_cast<int64_t>(values.size())};
  blob.doubles = values;
  fillBlobProto(blob, *entry.mutable_values());
}

std::vector<double> namedValues(const caffe::SolverState &state,
                                const std::string &name,
                                const std::string &path) {
  for (const caffe::PersistentState &stored : state.brew_persistent())
    if (stored.name() == name) {
      caffe::BlobProto proto = stored.values();
      return takeBlob(proto, path + ": state '" + name + "'").toDoubles();
    }
  return {};
}

} // namespace brew::formats
