//===- WebP.cpp - Decoding of WebP images ---------------------------------===//
#include "formats/image/WebP.h"

#include "formats/image/Channels.h"
#include "formats/image/OptionalLibrary.h"
#include "support/Error.h"

namespace brew::formats {
namespace {

/// libwebp's WebPBitstreamFeatures.
struct Features {
  int width, height, hasAlpha, hasAnimation, format;
  std::uint32_t reserved[5];
};

/// The functions of libwebp.so.7.
class Library : public OptionalLibrary {
public:
  Library() : OptionalLibrary("libwebp.so.7") {
    find("WebPGetFeaturesInternal", getFeatures);
    find("WebPDecodeBGRInto", decodeBgr);
    find("WebPDecodeBGRAInto", decodeBgra);
  }

  using Decode = std::uint8_t *(const std::uint8_t *bytes, std::size_t size,
                                std::uint8_t *pixels, std::size_t pixelBytes,
                                int rowBytes);
  int (*getFeatures)(const std::uint8_t *bytes, std::size_t size,
                     Features *features, int version) = nullptr;
  Decode *decodeBgr = nullptr;
  Decode *decodeBgra = nullptr;
};

} // namespace

void decodeWebP(const void *bytes, std::size_t size, const std::string &where,
                Image &image) {
  static const Library library;
  if (!library.reason.empty())
    throw unavailable(where + ": WebP images need libwebp: " + library.reason +
                      " (Debian's package libwebp7)");
  constexpr int kAbiVersion = 0x200; // only the upper byte matters
  const auto *file = static_cast<const std::uint8_t *>(bytes);
  Features features = {};
  if (library.getFeatures(file, size, &features, kAbiVersion) != 0)
    throw badInput(where + ": cannot decode the image: damaged or truncated");
  if (features.hasAnimation)
    throw badInput(where + ": cannot decode the image: it is an animation");
  resetPixels(image, features.hasAlpha ? 4 : 3,
              static_cast<std::uint64_t>(features.height),
              static_cast<std::uint64_t>(features.width), where);
  Library::Decode *decode =
      features.hasAlpha ? library.decodeBgra : library.decodeBgr;
  if (!decode(file, size, image.pixels.data(), image.pixels.size(),
              image.width * image.channels))
    throw badInput(where + ": cannot decode the image: damaged or truncated");
}

} // namespace brew::formats
