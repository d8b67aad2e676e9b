//===- Bmp.cpp - Decoding of BMP images -----------------------------------===//
#include "formats/image/Bmp.h"

#include "formats/image/Channels.h"
#include "support/Error.h"

#include <algorithm>
#include <array>

namespace brew::formats {
namespace {

enum Compression : std::uint32_t {
  kUncompressed = 0,
  kRunLength8 = 1,
  kRunLength4 = 2,
  kMasks = 3,
};

using Colour = std::array<std::uint8_t, 3>; ///< B, G, R

class BmpDecoder {
public:
  BmpDecoder(const std::uint8_t *bytes, std::size_t size,
             const std::string &where, Image &image)
      : bytes(bytes), size(size), where(where), image(image) {}

  void decode() {
    readHeader();
    const bool isGray =
        !palette.empty() &&
        std::all_of(palette.begin(), palette.end(), [](const Colour &colour) {
          return colour[0] == colour[1] && colour[1] == colour[2];
        });
    const bool hasAlpha = bits == 32 && compression == kMasks;
    const bool hasRuns =
        compression == kRunLength8 || compression == kRunLength4;
    if (hasRuns)
      requirePlausibleRuns();
    else
      requireRows();
    resetPixels(image, isGray ? 1 : hasAlpha ? 4 : 3, height, width, where);
    if (hasRuns)
      decodeRuns();
    else
      decodeRows();
  }

private:
  [[noreturn]] void fail(const std::string &problem) const {
    throw badInput(where + ": cannot decode the image: " + problem);
  }
  std::uint32_t number(std::size_t at, std::size_t count) const {
    if (at > size || count > size - at)
      fail("premature end of file");
    std::uint32_t value = 0;
    for (std::size_t i = count; i-- > 0;)
      value = value << 8 | bytes[at + i];
    return value;
  }

  void readHeader();
  void readMasks(std::size_t headerBytes);
  std::uint64_t rowBytes() const {
    return (std::uint64_t(width) * bits + 31) / 32 * 4;
  }
  void requireRows() const;
  void requirePlausibleRuns() const;
  void decodeRows();
  void decodeRuns();
  void setPixel(std::uint32_t x, std::uint64_t row, std::uint32_t value);

  const std::uint8_t *bytes;
  std::size_t size;
  const std::string &where;
  Image &image;

  std::uint32_t width = 0, height = 0, bits = 0;
  std::uint32_t compression = kUncompressed;
  std::size_t pixelsOffset = 0;
  bool isTopDown = false;
  std::vector<Colour> palette;
  /// Bit masks of B, G, R and A.
  std::array<std::uint32_t, 4> masks = {0xff, 0xff00, 0xff0000, 0xff000000};
};

void BmpDecoder::readHeader() {
  constexpr std::size_t kFileHeader = 14, kOs2Header = 12, kWindowsHeader = 40;
  pixelsOffset = number(10, 4);
  const std::size_t headerBytes = number(kFileHeader, 4);
  std::size_t colours = 0, colourBytes = 4;
  if (headerBytes == kOs2Header) {
    width = number(18, 2);
    height = number(20, 2);
    bits = number(24, 2);
    colourBytes = 3;
  } else if (headerBytes >= kWindowsHeader) {
    width = number(18, 4);
    height = number(22, 4);
    isTopDown = (height >> 31) != 0;
    if (isTopDown)
      height = 0u - height;
    bits = number(28, 2);
    compression = number(30, 4);
    colours = number(46, 4);
  } else {
    fail("its header has " + std::to_string(headerBytes) + " bytes");
  }
  const bool isKnown =
      compression == kUncompressed
          ? bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 ||
                bits == 32
          : (compression == kRunLength8 && bits == 8) ||
                (compression == kRunLength4 && bits == 4) ||
                (compression == kMasks && (bits == 16 || bits == 32));
  if (!isKnown || (width >> 31) != 0 || (height >> 31) != 0)
    fail("it has " + std::to_string(bits) + " bits per pixel and compression " +
         std::to_string(compression) + ", which are not supported");
  if (compression == kMasks)
    readMasks(headerBytes);
  else if (bits == 16)
    masks = {0x1f, 0x3e0, 0x7c00, 0};
  if (bits > 8)
    return;
  const std::size_t allColours = std::size_t(1) << bits;
  if (colours > allColours)
    fail("its palette has " + std::to_string(colours) + " colours");
  // Indices beyond the colours of the file are black.
  palette.assign(allColours, Colour{});
  const std::size_t stored = colours ? colours : allColours;
  for (std::size_t i = 0; i < stored; ++i) {
    const std::uint32_t colour =
        number(kFileHeader + headerBytes + i * colourBytes, 3);
    palette[i] = {static_cast<std::uint8_t>(colour),
                  static_cast<std::uint8_t>(colour >> 8),
                  static_cast<std::uint8_t>(colour >> 16)};
  }
}

void BmpDecoder::readMasks(std::size_t headerBytes) {
  constexpr std::size_t kFirstMask = 54; // R, G, B, A
  constexpr std::size_t kHeaderWithAlpha = 56;
  masks = {number(kFirstMask + 8, 4), number(kFirstMask + 4, 4),
           number(kFirstMask, 4),
           headerBytes >= kHeaderWithAlpha ? number(kFirstMask + 12, 4) : 0};
  if (bits == 32)
    return;
  const std::array<std::uint32_t, 3> found = {masks[0], masks[1], masks[2]};
  if (found != std::array<std::uint32_t, 3>{0x1f, 0x3e0, 0x7c00} &&
      found != std::array<std::uint32_t, 3>{0x1f, 0x7e0, 0xf800})
    fail("the masks of its 16 bits per pixel are not supported");
}

/// Returns the bits of a mask, moved to the lowest position.
std::uint32_t extract(std::uint32_t value, std::uint32_t mask) {
  return mask ? (value & mask) / (mask & (~mask + 1)) : 0;
}

/// Sets a pixel to a palette's index or to the bits of its channels. `row`
/// counts in the order of the file.
void BmpDecoder::setPixel(std::uint32_t x, std::uint64_t row,
                          std::uint32_t value) {
  const std::uint64_t y = isTopDown ? row : height - 1 - row;
  std::uint8_t *pixel =
      &image.pixels[(y * width + x) *
                    static_cast<std::uint64_t>(image.channels)];
  if (!palette.empty()) {
    const Colour &colour = palette[value];
    std::copy_n(colour.begin(), image.channels, pixel);
    return;
  }
  for (std::size_t c = 0; c < 3; ++c) {
    const std::uint32_t channel = extract(value, masks[c]);
    // Channels of 5 or 6 bits are moved to the upper bits.
    const int shift = bits != 16 ? 0 : masks[c] == 0x7e0 ? 2 : 3;
    pixel[c] = static_cast<std::uint8_t>(channel << shift);
  }
  if (image.channels == 4)
    pixel[3] = masks[3] ? static_cast<std::uint8_t>(extract(value, masks[3]))
                        : std::uint8_t(255);
}

/// Throws unless the file has all rows of uncompressed pixels.
void BmpDecoder::requireRows() const {
  if (height == 0 || width == 0)
    fail("it is empty");
  // The padding of the last row may be absent.
  const std::uint64_t usedBytes = (std::uint64_t(width) * bits + 7) / 8;
  if (pixelsOffset > size || usedBytes > size - pixelsOffset ||
      (size - pixelsOffset - usedBytes) / rowBytes() < height - 1)
    fail("premature end of file");
}

/// Throws if a small file declares so many pixels that no runs could cover
/// them: filling them would take long for nothing.
void BmpDecoder::requirePlausibleRuns() const {
  // Two bytes draw at most 255 pixels. Smaller images may be almost blank.
  constexpr std::uint64_t kMaxBlankPixels = std::uint64_t(1) << 26;
  const std::uint64_t pixels = std::uint64_t(width) * height;
  if (pixels > kMaxBlankPixels && pixels <= kMaxImageBytes &&
      pixels / 128 > size)
    fail("damaged: " + std::to_string(size) + " bytes of runs for " +
         std::to_string(height) + "x" + std::to_string(width) + " pixels");
}

void BmpDecoder::decodeRows() {
  for (std::uint32_t row = 0; row < height; ++row) {
    const std::uint8_t *source = bytes + pixelsOffset + row * rowBytes();
    for (std::uint32_t x = 0; x < width; ++x) {
      std::uint32_t value = 0;
      if (bits < 8) {
        const std::uint64_t position = std::uint64_t(x) * bits;
        value = source[position / 8] >> (8 - bits - position % 8) &
                ((1u << bits) - 1);
      } else {
        for (std::uint32_t i = bits / 8; i-- > 0;)
          value = value << 8 | source[std::uint64_t(x) * (bits / 8) + i];
      }
      setPixel(x, row, value);
    }
  }
}

/// Decodes run-length encoded palette indices. Pixels that the runs skip have
/// the palette's first colour.
void BmpDecoder::decodeRuns() {
  const auto channels = static_cast<std::size_t>(image.channels);
  std::copy_n(palette[0].begin(), channels, image.pixels.begin());
  // Each copy doubles the filled part.
  for (std::size_t filled = channels; filled < image.pixels.size(); filled *= 2)
    std::copy_n(image.pixels.begin(),
                std::min(filled, image.pixels.size() - filled),
                image.pixels.begin() + static_cast<std::ptrdiff_t>(filled));
  std::size_t at = pixelsOffset;
  std::uint64_t x = 0, row = 0;
  const auto put = [&](std::uint32_t index) {
    if (x >= width || row >= height)
      fail("damaged: a run extends beyond the image");
    setPixel(static_cast<std::uint32_t>(x++), row, index);
  };
  // Two pixels of 4 bits share a byte, the upper half comes first.
  const auto indexIn = [&](std::size_t byte, std::uint32_t i) {
    if (bits == 8)
      return number(byte, 1);
    return i % 2 ? number(byte, 1) & 15 : number(byte, 1) >> 4;
  };
  while (row < height) {
    const std::uint32_t count = number(at, 1), code = number(at + 1, 1);
    at += 2;
    if (count) {
      for (std::uint32_t i = 0; i < count; ++i)
        put(indexIn(at - 1, i));
    } else if (code == 0) { // the end of a row
      x = 0;
      ++row;
    } else if (code == 1) { // the end of the image
      return;
    } else if (code == 2) { // a jump
      x += number(at, 1);
      row += number(at + 1, 1);
      at += 2;
    } else { // `code` different pixels, padded to an even number of bytes
      const std::size_t perByte = 8 / bits;
      for (std::uint32_t i = 0; i < code; ++i)
        put(indexIn(at + i / perByte, i));
      const std::size_t used = (code + perByte - 1) / perByte;
      at += used + used % 2;
    }
  }
}

} // namespace

void decodeBmp(const void *bytes, std::size_t size, const std::string &where,
               Image &image) {
  BmpDecoder(static_cast<const std::uint8_t *>(bytes), size, where, image)
      .decode();
}

} // namespace brew::formats
