//===- InputFile.cpp - Plain or gzipped input -----------------------------===//
#include "formats/InputFile.h"

#include "support/AtomicFile.h"
#include "support/Error.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace brew::formats {

InputFile::InputFile(const std::string &path) : filePath(path) {
  errno = 0;
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    throw badInput(path + ": is a folder, not a file");
  file = gzopen(path.c_str(), "rb");
  if (!file && errno == ENOENT)
    throw unavailable(path + ": file not found");
  if (!file)
    throw unavailable(path +
                      ": cannot read: " + errnoText(errno ? errno : ENOMEM));
  gzbuffer(file, 1 << 18);
}

InputFile::~InputFile() { gzclose(file); }

size_t InputFile::read(void *buffer, size_t size) {
  char *destination = static_cast<char *>(buffer);
  size_t bytesRead = 0;
  while (bytesRead < size) {
    unsigned chunk =
        static_cast<unsigned>(std::min<size_t>(size - bytesRead, 1 << 30));
    int n = gzread(file, destination + bytesRead, chunk);
    int status = Z_OK;
    const char *text = n <= 0 ? gzerror(file, &status) : "";
    if (status == Z_ERRNO)
      throw unavailable(filePath + ": cannot read: " + errnoText(errno));
    // At the end of a truncated compressed file, n is 0 and the status is an
    // error.
    if (n < 0 || (status != Z_OK && status != Z_STREAM_END))
      throw badInput(filePath + ": damaged or truncated gzip data (" + text +
                     ")");
    if (n == 0)
      break;
    bytesRead += static_cast<size_t>(n);
  }
  return bytesRead;
}

void InputFile::readExactly(void *buffer, size_t size,
                            const std::string &subject) {
  size_t n = read(buffer, size);
  if (n < size)
    throw badInput(filePath + ": truncated: " + subject + " needs " +
                   std::to_string(size - n) + " more bytes");
}

bool InputFile::atEnd() {
  char byte;
  if (read(&byte, 1) == 0)
    return true;
  gzungetc(static_cast<unsigned char>(byte), file);
  return false;
}

} // namespace brew::formats
