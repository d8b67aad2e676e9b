//===- TfRecordFile.cpp - TFRecord files ----------------------------------===//

#include "runtime/train/watch/TfRecordFile.h"

#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/WriteAll.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace brew::runtime {
namespace {

/// Returns the CRC table of the reflected Castagnoli polynomial.
constexpr std::array<std::uint32_t, 256> makeCrcTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit)
      remainder = remainder & 1 ? remainder >> 1 ^ 0x82f63b78u : remainder >> 1;
    table[byte] = remainder;
  }
  return table;
}

template <typename Number> std::string littleEndian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

} // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> table = makeCrcTable();
  std::uint32_t remainder = ~0u;
  for (char byte : bytes)
    remainder = remainder >> 8 ^
                table[(remainder ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~remainder;
}

std::uint32_t maskedCrc32c(std::string_view bytes) {
  const std::uint32_t sum = crc32c(bytes);
  return (sum >> 15 | sum << 17) + 0xa282ead8u;
}

std::string frameRecord(std::string_view record) {
  const std::string length =
      littleEndian(static_cast<std::uint64_t>(record.size()));
  return length + littleEndian(maskedCrc32c(length)) + std::string(record) +
         littleEndian(maskedCrc32c(record));
}

TfRecordFile::TfRecordFile(const std::string &name)
    : path(name),
      fd(::open(name.c_str(),
                O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666)) {
  if (fd < 0)
    throw unavailable("cannot write '" + path + "': " + errnoText(errno));
}

TfRecordFile::~TfRecordFile() { ::close(fd); }

void TfRecordFile::write(std::string_view record) {
  if (const int error = brew::writeAll(fd, frameRecord(record)))
    throw unavailable("cannot write '" + path + "': " + errnoText(error));
}

} // namespace brew::runtime
