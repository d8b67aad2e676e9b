//===- DataFuzz.cpp - Fuzz entry: what data layers read -------------------===//
//
// `data_fuzzer` gives its input to the readers of lists, window files, datums
// and images. Each must read it or refuse it with an Error.
//
//===----------------------------------------------------------------------===//
#include "formats/Datum.h"
#include "formats/Error.h"
#include "formats/Exif.h"
#include "formats/ImageList.h"
#include "formats/ImageResize.h"
#include "formats/WindowFile.h"

#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace brew;
using namespace brew::formats;

/// A file in memory that holds the input, by its name.
static std::string fileOf(const std::uint8_t *data, std::size_t size) {
  static const int fd = memfd_create("input", 0);
  if (fd < 0 || ftruncate(fd, 0) != 0 ||
      pwrite(fd, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  return "/proc/self/fd/" + std::to_string(fd);
}

template <typename Read> static void attempt(Read &&read) {
  try {
    read();
  } catch (const Error &error) {
    if (error.status() != ExitStatus::BadInput)
      std::abort(); // the file is there
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  const std::string file = fileOf(data, size);
  attempt([&] { readImageList(file); });
  attempt([&] { readWindowFile(file); });
  ImageRecord record;
  attempt([&] {
    decodeDatum({reinterpret_cast<const char *>(data), size},
                ImageColor::Color, "input", record);
  });
  Image image, resized;
  attempt([&] {
    decodeImage(data, size, ImageColor::Native, "input", image);
    resizeImage(image, 7, 5, resized);
  });
  attempt([&] { decodeImage(data, size, ImageColor::Gray, "input", image); });
  applyOrientation(jpegOrientation(data, size), resized);
  return 0;
}
