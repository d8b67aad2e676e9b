//===- Pnm.cpp - Decoding of PBM, PGM and PPM images ----------------------===//
#include "formats/image/Pnm.h"

#include "formats/image/Channels.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::formats {
namespace {

class PnmDecoder {
public:
  PnmDecoder(const std::uint8_t *bytes, std::size_t size,
             const std::string &where)
      : bytes(bytes), size(size), where(where) {}

  bool decode(Image &image) {
    const int code = bytes[1] - '0'; // 1 to 6
    const bool isPlain = code <= 3, isBitmap = code % 3 == 1;
    at = 2;
    const std::uint32_t width = nextNumber(), height = nextNumber();
    maximum = isBitmap ? 1 : nextNumber();
    if (maximum == 0 || maximum > 65535)
      fail("its maximum " + std::to_string(maximum) +
           " is not between 1 and 65535");
    const int channels = code % 3 == 0 ? 3 : 1;
    const std::uint64_t rowSamples =
        std::uint64_t(width) * static_cast<std::uint64_t>(channels);
    requireBytes(isPlain    ? rowSamples
                 : isBitmap ? (rowSamples + 7) / 8
                            : rowSamples * (maximum > 255 ? 2 : 1),
                 height);
    resetPixels(image, channels, height, width, where);
    for (std::uint32_t y = 0; y < height; ++y) {
      std::uint8_t *row = &image.pixels[y * rowSamples];
      for (std::uint64_t i = 0; i < rowSamples; ++i)
        row[i] = isBitmap && isPlain ? nextBit()
                 : isBitmap          ? packedBit(y, i, rowSamples)
                 : isPlain           ? plainSample()
                                     : binarySample();
    }
    if (image.channels == 3) // from R,G,B
      for (std::size_t i = 0; i < image.pixels.size(); i += 3)
        std::swap(image.pixels[i], image.pixels[i + 2]);
    return maximum > 255;
  }

private:
  [[noreturn]] void fail(const std::string &problem) const {
    throw badInput(where + ": cannot decode the image: " + problem);
  }
  static bool isSpace(std::uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }
  static bool isDigit(std::uint8_t c) { return c >= '0' && c <= '9'; }

  void skipSpace() {
    while (at < size && (isSpace(bytes[at]) || bytes[at] == '#')) {
      if (bytes[at] == '#')
        while (at < size && bytes[at] != '\n' && bytes[at] != '\r')
          ++at;
      else
        ++at;
    }
  }
  /// Returns the next number and skips the one byte after it.
  std::uint32_t nextNumber() {
    constexpr std::uint32_t kMaximum = 1u << 30;
    skipSpace();
    if (at == size)
      fail("premature end of file");
    if (!isDigit(bytes[at]))
      fail("damaged: a number is expected at offset " + std::to_string(at));
    std::uint32_t value = 0;
    for (; at < size && isDigit(bytes[at]); ++at) {
      value = value * 10 + static_cast<std::uint32_t>(bytes[at] - '0');
      if (value > kMaximum)
        fail("the image is too large");
    }
    at += at < size;
    return value;
  }
  /// Throws unless the file has `rowBytes` bytes for each row. A sample of a
  /// plain image has at least one byte.
  void requireBytes(std::uint64_t rowBytes, std::uint64_t rows) const {
    if (rows > 0 && rowBytes > (size - at) / rows)
      fail("premature end of file");
  }

  // Set bits are black.
  /// Reads a digit: digits of a bitmap need no space between them.
  std::uint8_t nextBit() {
    skipSpace();
    if (at == size)
      fail("premature end of file");
    if (!isDigit(bytes[at]))
      fail("damaged: a bit is expected at offset " + std::to_string(at));
    return bytes[at++] == '0' ? 255 : 0;
  }
  std::uint8_t packedBit(std::uint64_t y, std::uint64_t x,
                         std::uint64_t width) const {
    const std::uint8_t byte = bytes[at + y * ((width + 7) / 8) + x / 8];
    return byte >> (7 - x % 8) & 1 ? 0 : 255;
  }
  std::uint8_t plainSample() {
    const std::uint32_t value = std::min(nextNumber(), maximum);
    return static_cast<std::uint8_t>(maximum > 255 ? value >> 8
                                                   : value * 255 / maximum);
  }
  std::uint8_t binarySample() {
    const std::uint8_t upper = bytes[at];
    at += maximum > 255 ? 2 : 1;
    return upper;
  }

  const std::uint8_t *bytes;
  std::size_t size, at = 0;
  const std::string &where;
  std::uint32_t maximum = 0;
};

} // namespace

void decodePnm(const void *bytes, std::size_t size, const std::string &where,
               Image &image, bool &has16Bits) {
  has16Bits = PnmDecoder(static_cast<const std::uint8_t *>(bytes), size, where)
                  .decode(image);
}

} // namespace brew::formats
