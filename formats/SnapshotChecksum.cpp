//===- SnapshotChecksum.cpp - Whether a snapshot is what was written ------===//
#include "formats/SnapshotChecksum.h"

#include "formats/AtomicFile.h"
#include "formats/Error.h"

#include <zlib.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace brew::formats {
namespace {

constexpr char kOwnChecksum[] = "/checksum";
constexpr char kWeightChecksum[] = "/weights";

class Crc {
public:
  void add(const void *bytes, size_t size) {
    if (size != 0) // of no bytes the library begins anew
      value = crc32_z(value, static_cast<const Bytef *>(bytes), size);
  }
  void add(std::int64_t number) { add(&number, sizeof number); }
  void add(const std::string &text) {
    add(static_cast<std::int64_t>(text.size()));
    add(text.data(), text.size());
  }
  template <typename Value> void add(const std::vector<Value> &values) {
    add(static_cast<std::int64_t>(values.size()));
    add(values.data(), values.size() * sizeof(Value));
  }
  std::uint32_t result() const { return static_cast<std::uint32_t>(value); }

private:
  uLong value = crc32(0, nullptr, 0);
};

/// Size and CRC-32.
std::vector<double> fileChecksum(const std::string &path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    throw machineLacks("cannot read '" + path + "': " + errnoText(errno));
  std::vector<char> buffer(1 << 18);
  Crc crc;
  double size = 0;
  for (;;) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      const int error = errno;
      ::close(fd);
      throw machineLacks("cannot read '" + path + "': " + errnoText(error));
    }
    if (n == 0)
      break;
    crc.add(buffer.data(), static_cast<size_t>(n));
    size += static_cast<double>(n);
  }
  ::close(fd);
  return {size, double(crc.result())};
}

/// CRC-32 of all that a state holds, whichever format it is written in.
std::uint32_t checksumOf(const SolverSnapshot &snapshot) {
  // HDF5 files hold these apart from the rest, and always.
  Crc crc;
  crc.add(std::int64_t(snapshot.state.iter()));
  crc.add(std::int64_t(snapshot.state.current_step()));
  crc.add(snapshot.state.learned_net());
  caffe::SolverState rest = snapshot.state;
  rest.clear_iter();
  rest.clear_current_step();
  rest.clear_learned_net();
  rest.clear_history();
  crc.add(rest.SerializeAsString());
  for (const Blob &blob : snapshot.history) {
    crc.add(blob.dims);
    crc.add(blob.floats);
    crc.add(blob.doubles);
  }
  return crc.result();
}

} // namespace

caffe::SolverState checksumState(const SolverSnapshot &snapshot) {
  caffe::SolverState state;
  setNamedValues(state, kOwnChecksum, {double(checksumOf(snapshot))});
  return state;
}

void takeChecksum(SolverSnapshot &snapshot, const std::string &path) {
  const auto recorded = namedValues(snapshot.state, kOwnChecksum, path);
  removeNamedValues(snapshot.state, kOwnChecksum);
  if (!recorded.empty() &&
      recorded != std::vector<double>{double(checksumOf(snapshot))})
    throw badInput(path + ": damaged solverstate: its checksum is wrong");
}

void addWeightChecksum(caffe::SolverState &state, const std::string &weights) {
  struct stat info;
  if (stat(weights.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return; // what is written to a device or a pipe is not there to be read
  setNamedValues(state, kWeightChecksum, fileChecksum(weights));
}

void verifyWeightChecksum(const caffe::SolverState &state,
                          const std::string &path, const std::string &weights) {
  const auto recorded = namedValues(state, kWeightChecksum, path);
  if (!recorded.empty() && recorded != fileChecksum(weights))
    throw badInput(weights + ": damaged, or not the weights that '" + path +
                   "' was written with: their checksum is wrong");
}

} // namespace brew::formats
