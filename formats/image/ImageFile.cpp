//===- ImageFile.cpp - Image files ----------------------------------------===//
#include "formats/image/ImageFile.h"

#include "formats/image/ImageResize.h"
#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/RegularFile.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace brew::formats {

std::string readFileBytes(const std::string &path, const std::string &where) {
  const std::string errorPrefix = where.empty() ? "" : where + ": ";
  auto fail = [&](int error) {
    throw unavailable(errorPrefix + "cannot read '" + path +
                      "': " + errnoText(error));
  };
  struct File {
    int fd;
    ~File() {
      if (fd >= 0)
        ::close(fd);
    }
  } const file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0)
    fail(errno);
  struct stat status;
  if (::fstat(file.fd, &status) != 0)
    fail(errno);
  if (S_ISDIR(status.st_mode))
    fail(EISDIR);
  std::string bytes;
  // One byte more than the size, so that the same read() detects the end.
  bytes.resize(static_cast<size_t>(std::max<off_t>(status.st_size, 0)) + 1);
  size_t bytesRead = 0;
  while (true) {
    const ssize_t count =
        ::read(file.fd, bytes.data() + bytesRead, bytes.size() - bytesRead);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      fail(errno);
    if (count == 0)
      break;
    bytesRead += static_cast<size_t>(count);
    if (bytesRead == bytes.size())
      bytes.resize(bytes.size() * 2);
  }
  bytes.resize(bytesRead);
  return bytes;
}

void decodeAndResize(const void *bytes, size_t size, ImageColor color,
                     int height, int width, const std::string &where,
                     Image &image) {
  if (!height && !width) {
    decodeImage(bytes, size, color, where, image);
    return;
  }
  Image decodedImage;
  decodeImage(bytes, size, color, where, decodedImage);
  const auto rows =
                 static_cast<uint64_t>(height ? height : decodedImage.height),
             columns =
                 static_cast<uint64_t>(width ? width : decodedImage.width);
  if (rows * columns * static_cast<uint64_t>(decodedImage.channels) >
      kMaxImageBytes)
    throw badInput(where + ": resized to " + std::to_string(rows) + "x" +
                   std::to_string(columns) + " the image is too large");
  resizeImage(decodedImage, height, width, image);
}

void readImageFile(const std::string &path, ImageColor color, int height,
                   int width, const std::string &where, Image &image) {
  refuseSpecialFile(path);
  const std::string bytes = readFileBytes(path, where);
  decodeAndResize(bytes.data(), bytes.size(), color, height, width,
                  where.empty() ? path : where + ": " + path, image);
}

} // namespace brew::formats
