//===- ProtoFile.cpp - Binary protobuf files ------------------------------===//
#include "formats/ProtoFile.h"

#include "formats/ExpectedFile.h"
#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/RegularFile.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>

#include <cerrno>
#include <climits>
#include <exception>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace brew::formats {
namespace pb = google::protobuf;

namespace {

/// Size of the blocks in which files are read: large, so that an array of
/// weights needs few of them.
constexpr int kReadBlockBytes = 1 << 22;

/// A file descriptor. The destructor closes it.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
};

/// A protobuf stream that writes to an AtomicFile. Exceptions must not pass
/// through protobuf, so the first one is stored for the caller.
class AtomicOutput : public pb::io::CopyingOutputStream {
public:
  explicit AtomicOutput(AtomicFile &file) : file(file) {}
  bool Write(const void *bytes, int size) override {
    try {
      file.write(bytes, static_cast<size_t>(size));
      return true;
    } catch (...) {
      error = std::current_exception();
      return false;
    }
  }
  std::exception_ptr error;

private:
  AtomicFile &file;
};

} // namespace

void readProtoFile(const std::string &path, pb::Message &message,
                   const std::string &kind, const ExpectedFile &expected) {
  refuseSpecialFile(path);
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0 && errno == ENOENT)
    throw unavailable(path + ": " + kind + " not found");
  if (file.fd < 0)
    throw unavailable(path + ": cannot read " + kind + ": " + errnoText(errno));
  struct stat info;
  if (fstat(file.fd, &info) == 0) {
    if (S_ISDIR(info.st_mode))
      refuseOtherKind(path, expected);
    if (S_ISREG(info.st_mode) && info.st_size >= INT_MAX)
      throw badInput(path + ": " + kind +
                     " of 2 GB or more, which Protocol Buffers cannot hold");
    if (S_ISREG(info.st_mode) && info.st_size == 0)
      throw badInput(path + ": damaged or truncated " + kind + ": empty file");
  }

  // Without the silencer, protobuf prints each name that is not UTF-8 to
  // stderr.
  pb::LogSilencer silence;
  pb::io::FileInputStream raw(file.fd, kReadBlockBytes);
  bool isParsed, isConsumed;
  int64_t position;
  {
    pb::io::CodedInputStream coded(&raw);
    coded.SetTotalBytesLimit(INT_MAX);
    // The variant that checks required fields would print to stderr. Callers
    // check the fields instead.
    isParsed = message.MergePartialFromCodedStream(&coded);
    isConsumed = coded.ConsumedEntireMessage();
    position = coded.CurrentPosition();
  }
  if (raw.GetErrno() != 0)
    throw unavailable(path + ": cannot read " + kind + ": " +
                      errnoText(raw.GetErrno()));
  if (!isParsed || !isConsumed) {
    refuseOtherKind(path, expected);
    throw badInput(path + ": damaged or truncated " + kind +
                   ": the bytes make no sense near offset " +
                   std::to_string(position));
  }
}

void writeProtoFile(const std::string &path, const pb::Message &message,
                    const std::string &prefix) {
  if (message.ByteSizeLong() + prefix.size() >= INT_MAX)
    throw badInput("cannot write '" + path +
                   "': 2 GB or more, which Protocol Buffers cannot hold");
  AtomicFile file(path);
  file.write(prefix);
  AtomicOutput output(file);
  {
    pb::io::CopyingOutputStreamAdaptor stream(&output, 1 << 18);
    if (!message.SerializePartialToZeroCopyStream(&stream) || !stream.Flush()) {
      if (output.error)
        std::rethrow_exception(output.error);
      throw Error(ExitStatus::Bug, "cannot serialise '" + path + "'");
    }
  }
  file.commit();
}

} // namespace brew::formats
