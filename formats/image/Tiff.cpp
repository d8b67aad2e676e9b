//===- Tiff.cpp - Decoding of TIFF images ---------------------------------===//
#include "formats/image/Tiff.h"

#include "formats/image/Channels.h"
#include "formats/image/OptionalLibrary.h"
#include "support/Error.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace brew::formats {
namespace {

struct Tiff;        ///< libtiff's TIFF
struct OpenOptions; ///< libtiff's TIFFOpenOptions

/// A file in memory, and the first error of libtiff.
struct MemoryFile {
  const std::uint8_t *bytes;
  std::uint64_t size, position = 0;
  std::string problem;
};

using Size = std::intptr_t; ///< libtiff's tmsize_t

Size readFile(void *handle, void *buffer, Size count) {
  auto &file = *static_cast<MemoryFile *>(handle);
  if (count < 0 || file.position > file.size)
    return 0;
  const std::uint64_t bytesRead = std::min<std::uint64_t>(
      static_cast<std::uint64_t>(count), file.size - file.position);
  std::memcpy(buffer, file.bytes + file.position, bytesRead);
  file.position += bytesRead;
  return static_cast<Size>(bytesRead);
}
Size refuseWrite(void *, void *, Size) { return 0; }
std::uint64_t seekFile(void *handle, std::uint64_t offset, int origin) {
  auto &file = *static_cast<MemoryFile *>(handle);
  file.position = offset + (origin == SEEK_CUR   ? file.position
                            : origin == SEEK_END ? file.size
                                                 : 0);
  return file.position;
}
int closeFile(void *) { return 0; }
std::uint64_t sizeOfFile(void *handle) {
  return static_cast<MemoryFile *>(handle)->size;
}

int keepError(Tiff *, void *handle, const char *, const char *format,
              va_list arguments) {
  auto &file = *static_cast<MemoryFile *>(handle);
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  if (file.problem.empty())
    file.problem = text;
  return 1; // do not print it
}
int ignoreWarning(Tiff *, void *, const char *, const char *, va_list) {
  return 1;
}

/// The functions of libtiff.so.6, version 4.5 and later.
class TiffLibrary : public OptionalLibrary {
public:
  TiffLibrary() : OptionalLibrary("libtiff.so.6") {
    find("TIFFOpenOptionsAlloc", allocateOptions);
    find("TIFFOpenOptionsFree", freeOptions);
    find("TIFFOpenOptionsSetMaxSingleMemAlloc", setMaxAllocation);
    find("TIFFOpenOptionsSetErrorHandlerExtR", setErrorHandler);
    find("TIFFOpenOptionsSetWarningHandlerExtR", setWarningHandler);
    find("TIFFClientOpenExt", open);
    find("TIFFClose", close);
    find("TIFFGetField", getField);
    find("TIFFGetFieldDefaulted", getFieldDefaulted);
    find("TIFFReadRGBAImageOriented", readImage);
  }

  using Handler = int(Tiff *, void *, const char *, const char *, va_list);
  OpenOptions *(*allocateOptions)() = nullptr;
  void (*freeOptions)(OpenOptions *) = nullptr;
  void (*setMaxAllocation)(OpenOptions *, Size) = nullptr;
  void (*setErrorHandler)(OpenOptions *, Handler *, void *) = nullptr;
  void (*setWarningHandler)(OpenOptions *, Handler *, void *) = nullptr;
  Tiff *(*open)(const char *name, const char *mode, void *handle,
                decltype(&readFile), decltype(&refuseWrite),
                decltype(&seekFile), decltype(&closeFile),
                decltype(&sizeOfFile),
                int (*map)(void *, void **, std::uint64_t *),
                void (*unmap)(void *, void *, std::uint64_t),
                OpenOptions *) = nullptr;
  void (*close)(Tiff *) = nullptr;
  int (*getField)(Tiff *, std::uint32_t tag, ...) = nullptr;
  int (*getFieldDefaulted)(Tiff *, std::uint32_t tag, ...) = nullptr;
  int (*readImage)(Tiff *, std::uint32_t width, std::uint32_t height,
                   std::uint32_t *raster, int orientation, int stop) = nullptr;
};

/// Tags of TIFF.
enum Tag : std::uint32_t {
  kWidth = 256,
  kHeight = 257,
  kBitsPerSample = 258,
  kPhotometric = 262,
  kOrientation = 274,
  kSamplesPerPixel = 277,
};

/// An open TIFF file.
class TiffReader {
public:
  TiffReader(const TiffLibrary &library, MemoryFile &file,
             const std::string &where)
      : library(library), file(file), where(where) {
    OpenOptions *options = library.allocateOptions();
    if (!options)
      fail();
    library.setMaxAllocation(options, static_cast<Size>(kMaxImageBytes));
    library.setErrorHandler(options, keepError, &file);
    library.setWarningHandler(options, ignoreWarning, nullptr);
    // Mode m: no mapping of the file.
    tiff = library.open("image", "rm", &file, readFile, refuseWrite, seekFile,
                        closeFile, sizeOfFile, nullptr, nullptr, options);
    library.freeOptions(options);
    if (!tiff)
      fail();
  }
  ~TiffReader() { library.close(tiff); }
  TiffReader(const TiffReader &) = delete;
  TiffReader &operator=(const TiffReader &) = delete;

  std::uint32_t size(Tag tag) const {
    std::uint32_t value = 0;
    if (!library.getField(tiff, tag, &value) || value == 0)
      fail();
    return value;
  }
  int number(Tag tag) const {
    std::uint16_t value = 0;
    if (!library.getFieldDefaulted(tiff, tag, &value))
      fail();
    return value;
  }
  /// Reads pixels of R, G, B, A in the order of the file's rows.
  void read(std::uint32_t width, std::uint32_t height, int orientation,
            std::uint32_t *raster) const {
    constexpr int kStopAtErrors = 1;
    if (!library.readImage(tiff, width, height, raster, orientation,
                           kStopAtErrors))
      fail();
  }

private:
  [[noreturn]] void fail() const {
    throw badInput(where + ": cannot decode the image: " +
                   (file.problem.empty() ? "damaged" : file.problem));
  }

  const TiffLibrary &library;
  MemoryFile &file;
  const std::string &where;
  Tiff *tiff = nullptr;
};

} // namespace

void decodeTiff(const void *bytes, std::size_t size, const std::string &where,
                Image &image, bool &has16Bits, int &orientation) {
  static const TiffLibrary library;
  if (!library.reason.empty())
    throw unavailable(where + ": TIFF images need libtiff: " + library.reason +
                      " (Debian's package libtiff6)");
  MemoryFile file{static_cast<const std::uint8_t *>(bytes), size, 0, ""};
  const TiffReader reader(library, file, where);
  const std::uint32_t width = reader.size(kWidth),
                      height = reader.size(kHeight);
  const int samples = reader.number(kSamplesPerPixel);
  has16Bits = reader.number(kBitsPerSample) > 8;
  orientation = reader.number(kOrientation);
  const std::uint64_t count = std::uint64_t(width) * height;
  if (count * 4 > kMaxImageBytes)
    throw badInput(where + ": cannot decode the image: it is too large");
  // A few bytes must not make the decoder fill many pixels.
  constexpr std::uint64_t kMaxBlankPixels = std::uint64_t(1) << 26;
  if (count > kMaxBlankPixels && count / 4096 > size)
    throw badInput(
        where + ": cannot decode the image: damaged: " + std::to_string(size) +
        " bytes for " + std::to_string(height) + "x" + std::to_string(width) +
        " pixels");
  std::vector<std::uint32_t> raster(count);
  reader.read(width, height, orientation, raster.data());
  constexpr int kMinIsBlack = 1; // 0: white, 3: palette
  const bool isGray =
      samples == 1 && reader.number(kPhotometric) <= kMinIsBlack;
  const int channels = isGray ? 1 : samples == 4 ? 4 : 3;
  resetPixels(image, channels, height, width, where);
  std::uint8_t *pixel = image.pixels.data();
  for (const std::uint32_t value : raster) {
    const auto red = static_cast<std::uint8_t>(value),
               green = static_cast<std::uint8_t>(value >> 8),
               blue = static_cast<std::uint8_t>(value >> 16);
    if (channels == 1) {
      *pixel++ = blue; // all three are equal
      continue;
    }
    *pixel++ = blue;
    *pixel++ = green;
    *pixel++ = red;
    if (channels == 4)
      *pixel++ = static_cast<std::uint8_t>(value >> 24);
  }
}

} // namespace brew::formats
