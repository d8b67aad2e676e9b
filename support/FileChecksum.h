//===- FileChecksum.h - CRC-32 of bytes and of files ------------*- C++ -*-===//
//
// A file may end in a line of text with the checksum of all bytes before it.
// Readers of formats that store their own length, as HDF5 does, ignore it. The
// line is found by its distance from the end of the file, whatever the other
// bytes say, so no damage to them can hide it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace brew {

/// The CRC-32 of zlib and gzip, of bytes that come piece by piece.
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

/// Throws Error (3) if the file cannot be read.
FileChecksum checksumOfFile(const std::string &path);

/// The line to append to a file of these bytes.
std::string checksumLine(std::string_view bytes);

/// Throws Error: (1) if the file ends in a checksum line that does not match
/// the bytes before it; `kind` ("solverstate") is in the text. (3) if it cannot
/// be read. No-op if it has no such line, or cannot be opened.
void verifyChecksumLine(const std::string &path, const std::string &kind);

} // namespace brew
