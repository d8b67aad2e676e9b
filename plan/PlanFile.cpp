//===- PlanFile.cpp - Opening a plan --------------------------------------===//
//
// Checks the header and the checksum, and parses the manifest, which
// PlanValidator.cpp validates.
//
//===----------------------------------------------------------------------===//
#include "plan/PlanFile.h"

#include "plan/Contract.h"
#include "plan/PlanValidator.h"
#include "support/Error.h"
#include "support/RegularFile.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <google/protobuf/stubs/logging.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace brew::plan {

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "plan files are little-endian and are read in place"
#endif

namespace {

/// Closes a file descriptor at the end of a scope.
struct FileDescriptor {
  int value;
  ~FileDescriptor() {
    if (value >= 0)
      close(value);
  }
};

} // namespace

struct PlanFile::Impl {
  std::string path;
  std::string owned;          // the bytes of fromBytes()
  void *mapping = MAP_FAILED; // the bytes of open()
  const std::byte *bytes = nullptr;
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;
  Manifest manifest;

  ~Impl() {
    if (mapping != MAP_FAILED)
      munmap(mapping, size);
  }

  [[noreturn]] void failDamaged(const std::string &problem) const {
    throw badInput(path + ": damaged plan: " + problem);
  }
  std::string recompileAdvice(const Header &header) const;
  void load();
};

namespace {

/// Returns a word of a shell command, quoted if necessary. Replaces control
/// characters by '?' in a quoted word.
std::string quoteForShell(const std::string &word) {
  const bool needsNoQuotes =
      !word.empty() &&
      std::all_of(word.begin(), word.end(), [](char character) {
        return std::isalnum(static_cast<unsigned char>(character)) ||
               std::strchr("_./+-=,", character);
      });
  if (needsNoQuotes)
    return word;
  std::string text = "'";
  for (char character : word)
    if (character == '\'')
      text += "'\\''";
    else // control characters must not reach a terminal
      text += static_cast<unsigned char>(character) < 0x20 || character == 0x7f
                  ? '?'
                  : character;
  return text + "'";
}

} // namespace

/// Returns "to recompile it: " and the command that recompiles a plan of
/// another format. Replaces arguments that cannot be read from the plan by
/// placeholders.
std::string PlanFile::Impl::recompileAdvice(const Header &header) const {
  Manifest foreignManifest;
  const bool manifestIsInFile =
      header.manifestOffset >= sizeof(Header) &&
      header.manifestOffset <= size &&
      header.manifestSize <= size - header.manifestOffset &&
      header.manifestSize <= 0x7fffffffu;
  google::protobuf::LogSilencer silencer;
  if (!manifestIsInFile ||
      !foreignManifest.ParsePartialFromArray(
          bytes + header.manifestOffset, static_cast<int>(header.manifestSize)))
    foreignManifest.Clear();
  std::string input = foreignManifest.input_prototxt();
  const std::string netPrefix = "net file: ";
  if (input.empty() && !foreignManifest.has_solver())
    for (const Program &program : foreignManifest.programs())
      if (program.source().compare(0, netPrefix.size(), netPrefix) == 0)
        input = program.source().substr(netPrefix.size());
  if (input.empty())
    input = foreignManifest.has_solver() ? "SOLVER.prototxt" : "NET.prototxt";
  const bool isCuda = foreignManifest.target().kind() == Target::CUDA;
  return "to recompile it: brewc " + quoteForShell(input) +
         (isCuda ? " --target cuda" : "") + " -o " + quoteForShell(path);
}

void PlanFile::Impl::load() {
  bool hasMagic =
      size >= sizeof kMagic && std::memcmp(bytes, kMagic, sizeof kMagic) == 0;
  if (!hasMagic) {
    // A prefix of the magic is a truncated plan.
    if (size > 0 && size < sizeof kMagic &&
        std::memcmp(bytes, kMagic, size) == 0)
      failDamaged("it ends after " + std::to_string(size) + " bytes");
    throw badInput(path + ": not a plan (brewc writes plans; a prototxt must "
                          "be compiled first)");
  }
  if (size < sizeof(Header))
    failDamaged("it ends after " + std::to_string(size) + " bytes");

  Header header;
  std::memcpy(&header, bytes, sizeof header);
  // The version comes before everything else: a newer format may define the
  // rest of the header differently.
  if (header.formatVersion == 0)
    failDamaged("its format version is 0");
  if (header.formatVersion != kFormatVersion)
    throw badInput(
        path + ": this plan has format version " +
        std::to_string(header.formatVersion) + " and was written by " +
        (header.formatVersion > kFormatVersion ? "a newer" : "an older") +
        " brewc; this program reads format version " +
        std::to_string(kFormatVersion) + "; " + recompileAdvice(header));
  if (header.fileSize != size)
    failDamaged("its header says " + std::to_string(header.fileSize) +
                " bytes, the file has " + std::to_string(size));
  for (std::uint8_t byte : header.reserved)
    if (byte != 0)
      failDamaged("reserved bytes of the header are not zero");
  if (header.manifestOffset < sizeof(Header) || header.manifestOffset > size ||
      header.manifestSize > size - header.manifestOffset)
    failDamaged("the manifest lies outside the file");
  // Protocol Buffers takes the size as an int.
  if (header.manifestSize > 0x7fffffffu)
    failDamaged("the manifest is larger than 2 GiB");

  uLong actualChecksum =
      crc32_z(crc32_z(0, nullptr, 0),
              reinterpret_cast<const Bytef *>(bytes) + sizeof(Header),
              size - sizeof(Header));
  if (static_cast<std::uint32_t>(actualChecksum) != header.checksum)
    failDamaged("its checksum does not match its content");
  checksum = header.checksum;
  {
    // Protocol Buffers would print the error as well.
    google::protobuf::LogSilencer silencer;
    if (!manifest.ParseFromArray(bytes + header.manifestOffset,
                                 static_cast<int>(header.manifestSize)))
      failDamaged("the manifest cannot be read");
  }
  validateManifest(manifest,
                   {header.manifestOffset + header.manifestSize, size}, path);
}

std::uint32_t PlanFile::checksum() const { return impl->checksum; }

PlanFile::PlanFile() : impl(std::make_unique<Impl>()) {}
PlanFile::~PlanFile() = default;

std::shared_ptr<const PlanFile> PlanFile::open(const std::string &path) {
  std::shared_ptr<PlanFile> file(new PlanFile());
  Impl &impl = *file->impl;
  impl.path = path;
  auto cannotOpen = [&](int error) {
    return unavailable("cannot open plan '" + path +
                       "': " + std::strerror(error));
  };
  refuseSpecialFile(path);
  FileDescriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status;
  if (descriptor.value < 0 || fstat(descriptor.value, &status) != 0)
    throw cannotOpen(errno);
  if (S_ISDIR(status.st_mode))
    throw cannotOpen(EISDIR);
  if (!S_ISREG(status.st_mode))
    throw badInput(path + ": not a plan (it is not a regular file)");
  impl.size = static_cast<std::uint64_t>(status.st_size);
  if (impl.size > 0) {
    impl.mapping =
        mmap(nullptr, impl.size, PROT_READ, MAP_PRIVATE, descriptor.value, 0);
    if (impl.mapping == MAP_FAILED)
      throw cannotOpen(errno);
    impl.bytes = static_cast<const std::byte *>(impl.mapping);
  }
  impl.load();
  return file;
}

std::shared_ptr<const PlanFile> PlanFile::fromBytes(std::string bytes,
                                                    const std::string &name) {
  std::shared_ptr<PlanFile> file(new PlanFile());
  Impl &impl = *file->impl;
  impl.path = name;
  impl.owned = std::move(bytes);
  impl.bytes = reinterpret_cast<const std::byte *>(impl.owned.data());
  impl.size = impl.owned.size();
  impl.load();
  return file;
}

std::shared_ptr<const PlanFile>
PlanFile::borrow(const void *bytes, std::size_t size, const std::string &name) {
  if (reinterpret_cast<std::uintptr_t>(bytes) % 64 != 0)
    throw Error(ExitStatus::Usage, name + ": a borrowed plan must begin at a "
                                          "multiple of 64 bytes");
  std::shared_ptr<PlanFile> file(new PlanFile());
  Impl &impl = *file->impl;
  impl.path = name;
  impl.bytes = static_cast<const std::byte *>(bytes);
  impl.size = size;
  impl.load();
  return file;
}

const Manifest &PlanFile::manifest() const { return impl->manifest; }

const std::byte *PlanFile::segment(std::uint32_t index) const {
  return impl->bytes +
         impl->manifest.segments(static_cast<int>(index)).offset();
}

const std::string &PlanFile::path() const { return impl->path; }

std::int64_t elementCount(const Buffer &buffer) {
  std::int64_t count = 1;
  for (std::int64_t dim : buffer.dims())
    count *= dim;
  return count;
}

bool embedsWeights(const Manifest &manifest) {
  for (const Arena &arena : manifest.arenas())
    if (arena.kind() == PARAMETERS && arena.has_initial_segment_index())
      return true;
  return false;
}

bool isForInference(const Manifest &manifest) {
  for (const Program &program : manifest.programs()) {
    if (program.name() == programs::kUpdate ||
        !program.unreported_losses().empty())
      return false;
    for (const Output &output : program.outputs())
      if (output.loss_weight() != 0)
        return false;
  }
  return true;
}

std::size_t elementSize(DataType type) {
  switch (type) {
  case F32:
  case I32:
    return 4;
  case F64:
    return 8;
  case U8:
    return 1;
  case BF16:
  case F16:
    return 2;
  }
  throw Error(ExitStatus::Bug, "unknown element type");
}

} // namespace brew::plan
