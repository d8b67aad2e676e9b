//===- TfRecordFile.h - TFRecord files ----------------------------*- C++ -*-===//
//
// The framing of TensorFlow's record files, little-endian: of each record the
// number of its bytes (u64), that number's masked checksum (u32), the bytes,
// their masked checksum. A checksum is CRC-32C (Castagnoli's polynomial, as
// iSCSI's, RFC 3720), masked as LevelDB and TensorFlow do, so that checksums of
// checksums are no trap: rotated right by 15 bits, plus 0xa282ead8.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace brew::runtime {

std::uint32_t crc32c(std::string_view bytes);
std::uint32_t maskedCrc32c(std::string_view bytes);

/// A record with its frame.
std::string frameRecord(std::string_view record);

/// A new file of records. Each goes to the file at once and whole.
class TfRecordFile {
public:
  /// Throws Error (3) if the file is there or cannot be made.
  explicit TfRecordFile(const std::string &path);
  ~TfRecordFile();
  TfRecordFile(const TfRecordFile &) = delete;
  TfRecordFile &operator=(const TfRecordFile &) = delete;

  /// Throws Error (3) if it cannot be written.
  void write(std::string_view record);

private:
  std::string path;
  int fd;
};

} // namespace brew::runtime
