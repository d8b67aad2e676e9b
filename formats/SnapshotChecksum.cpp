//===- SnapshotChecksum.cpp - Integrity of snapshots ----------------------===//
#include "formats/SnapshotChecksum.h"

#include "support/Error.h"
#include "support/FileChecksum.h"

#include <sys/stat.h>

namespace brew::formats {
namespace {

constexpr char kContentChecksum[] = "/checksum";
constexpr char kWeightChecksum[] = "/weights";

/// Computes the checksum of a sequence of numbers, texts and vectors.
class ContentChecksum {
public:
  void add(std::int64_t number) { crc.add(&number, sizeof number); }
  void add(const std::string &text) {
    add(static_cast<std::int64_t>(text.size()));
    crc.add(text.data(), text.size());
  }
  template <typename Value> void add(const std::vector<Value> &values) {
    add(static_cast<std::int64_t>(values.size()));
    crc.add(values.data(), values.size() * sizeof(Value));
  }
  std::uint32_t value() const { return crc.value(); }

private:
  Crc32 crc;
};

/// Returns the size and the CRC-32 of a file, as the numbers of a named value.
std::vector<double> sizeAndCrc(const std::string &path) {
  const FileChecksum sum = checksumOfFile(path);
  return {double(sum.size), double(sum.crc)};
}

/// Returns a copy of a state without the fields of Caffe and SSD.
caffe::SolverState copyBrewFields(const caffe::SolverState &state) {
  caffe::SolverState fields = state;
  fields.clear_iter();
  fields.clear_current_step();
  fields.clear_learned_net();
  fields.clear_minimum_loss();
  fields.clear_iter_last_event();
  fields.clear_history();
  return fields;
}

/// Returns the CRC-32 of a state's content, which is the same in both formats.
std::uint32_t checksumOf(const SolverSnapshot &snapshot) {
  // HDF5 files store these three fields separately, and always contain them.
  ContentChecksum sum;
  sum.add(std::int64_t(snapshot.state.iter()));
  sum.add(std::int64_t(snapshot.state.current_step()));
  sum.add(snapshot.state.learned_net());
  if (snapshot.state.has_minimum_loss()) {
    sum.add(std::vector<float>{snapshot.state.minimum_loss()});
    sum.add(std::int64_t(snapshot.state.iter_last_event()));
  }
  sum.add(copyBrewFields(snapshot.state).SerializeAsString());
  for (const Blob &blob : snapshot.history) {
    sum.add(blob.dims);
    sum.add(blob.floats);
    sum.add(blob.doubles);
  }
  return sum.value();
}

} // namespace

bool hasBrewFields(const caffe::SolverState &state) {
  caffe::SolverState fields = copyBrewFields(state);
  fields.DiscardUnknownFields(); // other programs may have written them
  return fields.ByteSizeLong() > 0;
}

caffe::SolverState contentChecksumState(const SolverSnapshot &snapshot) {
  caffe::SolverState state;
  setNamedValues(state, kContentChecksum, {double(checksumOf(snapshot))});
  return state;
}

void verifyAndRemoveChecksum(SolverSnapshot &snapshot,
                             const std::string &path) {
  if (!hasBrewFields(snapshot.state))
    return;
  const auto recordedValues =
      namedValues(snapshot.state, kContentChecksum, path);
  if (recordedValues.empty())
    throw badInput(path + ": damaged solverstate: Brew's fields are there, but "
                          "not the checksum that Brew writes with them");
  removeNamedValues(snapshot.state, kContentChecksum);
  if (recordedValues != std::vector<double>{double(checksumOf(snapshot))})
    throw badInput(path + ": damaged solverstate: its checksum is wrong");
}

void addWeightChecksum(caffe::SolverState &state, const std::string &weights) {
  struct stat info;
  if (stat(weights.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return; // a device or a pipe cannot be read again
  setNamedValues(state, kWeightChecksum, sizeAndCrc(weights));
}

void verifyWeightChecksum(const caffe::SolverState &state,
                          const std::string &path, const std::string &weights) {
  const auto recordedValues = namedValues(state, kWeightChecksum, path);
  if (!recordedValues.empty() && recordedValues != sizeAndCrc(weights))
    throw badInput(weights + ": damaged, or not the weights that '" + path +
                   "' was written with: their checksum is wrong");
}

} // namespace brew::formats
