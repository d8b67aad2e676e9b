//===- FileChecksum.h - CRC-32 of bytes and of files ------------*- C++ -*-===//
//
// A file may end in a line of text with the checksum of all bytes before it.
// Readers of formats that store their length, such as HDF5, ignore the line.
// Its distance from the end of the file is fixed, so damage to other bytes
// cannot hide it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace brew {

/// Computes the CRC-32 of zlib and gzip incrementally.
class Crc32 {
public:
  void add(const void *bytes, size_t size);
  uint32_t value() const { return crc; }

private:
  uint32_t crc = 0;
};

struct FileChecksum {
  uint64_t size = 0;
  uint32_t crc = 0;
};

/// Returns the size and the checksum of a file. Throws Error (3) if it cannot
/// be read.
FileChecksum checksumOfFile(const std::string &path);

/// Returns the checksum line to append to a file that contains `bytes`.
std::string checksumLine(std::string_view bytes);

/// Verifies the checksum line of a file, if it has one. Throws Error (1) with
/// `kind` ("solverstate") in its text if the checksum does not match, and Error
/// (3) if the file cannot be read. No-op if it cannot be opened.
void verifyChecksumLine(const std::string &path, const std::string &kind);

} // namespace brew
