//===- TfRecordFile.h - TFRecord files --------------------------*- C++ -*-===//
//
// The format of TensorFlow's record files, little-endian. Each record has: the
// number of its bytes (u64), the masked checksum of that number (u32), the
// bytes, the masked checksum of the bytes. The checksum is CRC-32C (Castagnoli
// polynomial, RFC 3720), masked as in LevelDB and TensorFlow: rotated right by
// 15 bits, plus 0xa282ead8.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace brew::runtime {

std::uint32_t crc32c(std::string_view bytes);
std::uint32_t maskedCrc32c(std::string_view bytes);

/// Returns a record with its header and footer.
std::string frameRecord(std::string_view record);

/// A new file of records. Each record is written at once by one system call.
class TfRecordFile {
public:
  /// Throws Error (3) if the file exists or cannot be created.
  explicit TfRecordFile(const std::string &path);
  ~TfRecordFile();
  TfRecordFile(const TfRecordFile &) = delete;
  TfRecordFile &operator=(const TfRecordFile &) = delete;

  /// Throws Error (3) if the record cannot be written.
  void write(std::string_view record);

private:
  std::string path;
  int fd;
};

} // namespace brew::runtime
