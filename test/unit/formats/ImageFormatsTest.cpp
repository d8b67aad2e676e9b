//===- ImageFormatsTest.cpp - BMP, PBM, PGM, PPM and other formats --------===//
#include "formats/image/ImageEncode.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageSignature.h"
#include "test/common/TestFiles.h"

#include <dlfcn.h>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

using Bytes = std::vector<uint8_t>;

Image decode(const std::string &file, ImageColor color = ImageColor::Native) {
  Image image;
  decodeImage(file.data(), file.size(), color, "x", image);
  return image;
}

std::string little(uint32_t value, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < std::min(bytes, sizeof value); ++i)
    text[i] = static_cast<char>(value >> 8 * i);
  return text;
}

struct BmpSettings {
  int width = 2, height = 2, bits = 24;
  uint32_t compression = 0;
  std::string masks = ""; ///< between the header and the palette
  std::string palette = "";
  uint32_t colours = 0;
};

/// Returns a BMP file with a header of 40 bytes.
std::string bmp(const BmpSettings &settings, const std::string &pixels) {
  const std::string header =
      little(40, 4) + little(static_cast<uint32_t>(settings.width), 4) +
      little(static_cast<uint32_t>(settings.height), 4) + little(1, 2) +
      little(static_cast<uint32_t>(settings.bits), 2) +
      little(settings.compression, 4) + little(0, 12) +
      little(settings.colours, 4) + little(0, 4);
  const std::string body = header + settings.masks + settings.palette;
  return "BM" + little(0, 8) + little(14 + uint32_t(body.size()), 4) + body +
         pixels;
}

const std::string kTwoColours("\x0a\x14\x1e\0\xc8\xc9\xca\0", 8);

void expectTruncationIsRefused(const std::string &file) {
  for (size_t length = 0; length < file.size(); ++length)
    EXPECT_THROW(decode(file.substr(0, length)), Error) << length;
}

} // namespace

TEST(Bmp, RowsBeginAtTheBottom) {
  // Rows are padded to a multiple of four bytes.
  const std::string pixels("\1\2\3\4\5\6\0\0\7\x8\x9\xa\xb\xc\0\0", 16);
  const Image image = decode(bmp({}, pixels));
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.pixels, (Bytes{7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6}));
  BmpSettings topDown;
  topDown.height = -2;
  EXPECT_EQ(decode(bmp(topDown, pixels)).pixels,
            (Bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  expectTruncationIsRefused(bmp({}, pixels.substr(0, 14)));
}

TEST(Bmp, GrayHasOpenCvsWeights) {
  BmpSettings one;
  one.width = one.height = 1;
  const std::string file = bmp(one, std::string("\x0a\xc8\x64\0", 4));
  // 0.114 * 10 + 0.587 * 200 + 0.299 * 100
  EXPECT_EQ(decode(file, ImageColor::Gray).pixels, Bytes{148});
  EXPECT_EQ(decode(file, ImageColor::Color).pixels, (Bytes{10, 200, 100}));
}

TEST(Bmp, PalettesOfOneFourAndEightBits) {
  BmpSettings settings;
  settings.height = 1;
  settings.palette = kTwoColours;
  settings.colours = 2;
  const Bytes expected = {200, 201, 202, 10, 20, 30};
  settings.bits = 1;
  EXPECT_EQ(decode(bmp(settings, std::string("\x80\0\0\0", 4))).pixels,
            expected);
  settings.bits = 4;
  EXPECT_EQ(decode(bmp(settings, std::string("\x10\0\0\0", 4))).pixels,
            expected);
  settings.bits = 8;
  const std::string file = bmp(settings, std::string("\1\0\0\0", 4));
  EXPECT_EQ(decode(file).pixels, expected);
  // Indices without a colour are black.
  EXPECT_EQ(decode(bmp(settings, std::string("\1\x2\0\0", 4))).pixels,
            (Bytes{200, 201, 202, 0, 0, 0}));
  expectTruncationIsRefused(file.substr(0, file.size() - 2));
}

TEST(Bmp, GrayPalettesAreReadAsGray) {
  BmpSettings settings;
  settings.height = 1;
  settings.bits = 8;
  settings.palette = std::string("\7\7\7\0\x9\x9\x9\0", 8);
  settings.colours = 2;
  const std::string file = bmp(settings, std::string("\0\1\0\0", 4));
  EXPECT_EQ(decode(file).channels, 1);
  EXPECT_EQ(decode(file).pixels, (Bytes{7, 9}));
  EXPECT_EQ(decode(file, ImageColor::Color).pixels, (Bytes{7, 7, 7, 9, 9, 9}));
}

TEST(Bmp, SixteenBitsMoveToTheUpperBits) {
  BmpSettings settings;
  settings.height = 1;
  settings.bits = 16;
  // Red 31, green 1, blue 2 and its complement in 5 bits each.
  const uint32_t first = 31 << 10 | 1 << 5 | 2, second = first ^ 0x7fff;
  EXPECT_EQ(decode(bmp(settings, little(first, 2) + little(second, 2))).pixels,
            (Bytes{2 * 8, 1 * 8, 31 * 8, 29 * 8, 30 * 8, 0}));
  settings.compression = 3;
  settings.masks = little(0xf800, 4) + little(0x7e0, 4) + little(0x1f, 4);
  const uint32_t mixed = 3 << 11 | 33 << 5 | 2;
  EXPECT_EQ(decode(bmp(settings, little(mixed, 2) + little(0, 2))).pixels,
            (Bytes{2 * 8, 33 * 4, 3 * 8, 0, 0, 0}));
  settings.masks = little(0xf000, 4) + little(0xf0, 4) + little(0xf, 4);
  EXPECT_THROW(decode(bmp(settings, little(0, 4))), Error);
}

TEST(Bmp, ThirtyTwoBits) {
  BmpSettings settings;
  settings.height = settings.width = 1;
  settings.bits = 32;
  EXPECT_EQ(decode(bmp(settings, "\1\2\3\4")).pixels, (Bytes{1, 2, 3}));
  settings.compression = 3; // R is the lowest byte
  settings.masks = little(0xff, 4) + little(0xff00, 4) + little(0xff0000, 4);
  const std::string file = bmp(settings, "\1\2\3\4");
  EXPECT_EQ(decode(file).pixels, (Bytes{3, 2, 1, 255}));
  EXPECT_EQ(decode(file, ImageColor::Color).pixels, (Bytes{3, 2, 1}));
}

TEST(Bmp, RunLengthEncoding) {
  BmpSettings settings;
  settings.width = 4;
  settings.bits = 8;
  settings.compression = 1;
  settings.palette = kTwoColours.substr(0, 4) + std::string("\5\6\7\0", 4) +
                     std::string("\1\1\1\0", 4);
  settings.colours = 3;
  // The lower row: three of colour 1, then the end of the row. The upper row:
  // a jump by one, then colours 2, 1, 2 in the absolute mode with padding.
  const std::string runs("\3\1\0\0\0\2\1\0\0\3\2\1\2\0\0\1", 16);
  const Image image = decode(bmp(settings, runs), ImageColor::Color);
  const Bytes expected = {10, 20, 30, 1, 1, 1, 5, 6, 7, 1,  1,  1,
                          5,  6,  7,  5, 6, 7, 5, 6, 7, 10, 20, 30};
  EXPECT_EQ(image.pixels, expected);
  expectTruncationIsRefused(bmp(settings, runs));
  EXPECT_THROW(decode(bmp(settings, "\5\1")), Error); // longer than a row

  settings.bits = 4;
  settings.compression = 2;
  const std::string halves("\3\x12\0\0\0\4\x12\x21\0\1", 10);
  EXPECT_EQ(decode(bmp(settings, halves), ImageColor::Color).pixels,
            (Bytes{5, 6, 7, 1, 1, 1, 1, 1, 1, 5,  6,  7,
                   5, 6, 7, 1, 1, 1, 5, 6, 7, 10, 20, 30}));
}

TEST(Bmp, HeadersAreCheckedBeforeAllocation) {
  BmpSettings huge;
  huge.width = huge.height = 1 << 20;
  expectError(ExitStatus::BadInput, "premature end of file",
              [&] { decode(bmp(huge, "")); });
  huge.bits = 8;
  huge.compression = 1;
  huge.palette = std::string(1024, '\0');
  expectError(ExitStatus::BadInput, "too large",
              [&] { decode(bmp(huge, "")); });
  // Few bytes of runs do not make the decoder fill many pixels.
  huge.width = 1 << 18;
  huge.height = 520;
  expectError(ExitStatus::BadInput,
              "damaged: 1080 bytes of runs for 520x262144",
              [&] { decode(bmp(huge, "\1\1\0\1")); });
  BmpSettings odd;
  odd.bits = 7;
  expectError(ExitStatus::BadInput, "7 bits per pixel",
              [&] { decode(bmp(odd, "")); });
}

TEST(Pnm, BinaryImages) {
  const std::string ppm = "P6\n# a comment\n2 1 255\n\1\2\3\4\5\6";
  EXPECT_EQ(decode(ppm).pixels, (Bytes{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(decode(ppm, ImageColor::Gray).pixels, (Bytes{2, 5}));
  expectTruncationIsRefused(ppm);
  // As in OpenCV, the maximum does not scale the values of binary files.
  EXPECT_EQ(decode("P5 2 1 15\n\1\xf").pixels, (Bytes{1, 15}));
  EXPECT_EQ(decode("P5 2 1 15\n\1\xf", ImageColor::Color).pixels,
            (Bytes{1, 1, 1, 15, 15, 15}));
  // Set bits are black. Each row begins with a new byte.
  EXPECT_EQ(decode("P4 9 2\n\x80\x80\xff\x80").pixels,
            (Bytes{0, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0,
                   0, 0}));
}

TEST(Pnm, PlainImages) {
  EXPECT_EQ(decode("P2\n3 1\n# maximum\n15\n0 15\n5").pixels,
            (Bytes{0, 255, 85}));
  EXPECT_EQ(decode("P2 2 1 15 99 1").pixels, (Bytes{255, 17})); // clamped
  EXPECT_EQ(decode("P3 1 1 255 1 2 3").pixels, (Bytes{3, 2, 1}));
  EXPECT_EQ(decode("P1 4 1\n01 1 0").pixels, (Bytes{255, 0, 0, 255}));
  EXPECT_THROW(decode("P2 2 1 15 9"), Error);
  EXPECT_THROW(decode("P2 2 1 15 9 x"), Error);
  EXPECT_THROW(decode("P2 2 1 0 9 1"), Error);
  EXPECT_THROW(decode("P2 0 1 9 9 1"), Error);
  expectError(ExitStatus::BadInput, "premature end of file",
              [] { decode("P2 100000 100000 255 1"); });
}

TEST(Pnm, SixteenBitsKeepTheUpperEight) {
  const std::string pgm("P5 2 1 65535\n\x12\x34\xab\xcd");
  EXPECT_EQ(decode(pgm, ImageColor::Gray).pixels, (Bytes{0x12, 0xab}));
  EXPECT_EQ(decode("P2 1 1 1000 999", ImageColor::Gray).pixels,
            Bytes{999 >> 8});
  expectError(ExitStatus::BadInput, "16 bits per sample", [&] { decode(pgm); });
}

TEST(WebP, LosslessImagesKeepEveryPixel) {
  using Encode = size_t(const uint8_t *pixels, int width, int height,
                        int rowBytes, uint8_t **file);
  void *library = dlopen("libwebp.so.7", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    GTEST_SKIP() << "no libwebp.so.7";
  auto *release =
      reinterpret_cast<void (*)(void *)>(dlsym(library, "WebPFree"));
  ASSERT_NE(release, nullptr);
  for (int channels : {3, 4}) {
    auto *encode = reinterpret_cast<Encode *>(
        dlsym(library, channels == 3 ? "WebPEncodeLosslessBGR"
                                     : "WebPEncodeLosslessBGRA"));
    ASSERT_NE(encode, nullptr);
    Bytes pixels;
    for (int i = 0; i < 5 * 4 * channels; ++i)
      pixels.push_back(static_cast<uint8_t>(i * 37 | 1));
    uint8_t *bytes = nullptr;
    const size_t size = encode(pixels.data(), 5, 4, 5 * channels, &bytes);
    ASSERT_GT(size, 0u);
    const std::string file(reinterpret_cast<char *>(bytes), size);
    release(bytes);
    const Image image = decode(file);
    EXPECT_EQ(image.channels, channels);
    EXPECT_EQ(image.height, 4);
    EXPECT_EQ(image.width, 5);
    EXPECT_EQ(image.pixels, pixels);
    EXPECT_EQ(decode(file, ImageColor::Color).channels, 3);
    EXPECT_EQ(decode(file, ImageColor::Gray).channels, 1);
    expectTruncationIsRefused(file);
  }
}

/// Returns an uncompressed TIFF file.
static std::string tiff(int height, int width, int samples, int bits,
                        const std::string &pixels, int orientation = 1,
                        int photometric = 2) {
  constexpr int kShort = 3, kLong = 4;
  std::string entries;
  int count = 0;
  const auto add = [&](int tag, int type, size_t number, size_t value) {
    entries += little(static_cast<uint32_t>(tag), 2) +
               little(static_cast<uint32_t>(type), 2) +
               little(static_cast<uint32_t>(number), 4) +
               little(static_cast<uint32_t>(value), 4);
    ++count;
  };
  // The header, the number of entries, 10 entries, the end of the list.
  constexpr size_t kBitsAt = 8 + 2 + 10 * 12 + 4;
  const size_t pixelsAt = kBitsAt + 8;
  add(256, kLong, 1, size_t(width));
  add(257, kLong, 1, size_t(height));
  add(258, kShort, size_t(samples), samples > 2 ? kBitsAt : size_t(bits));
  add(259, kShort, 1, 1); // not compressed
  add(262, kShort, 1, size_t(photometric));
  add(273, kLong, 1, pixelsAt);
  add(274, kShort, 1, size_t(orientation));
  add(277, kShort, 1, size_t(samples));
  add(278, kLong, 1, size_t(height));
  add(279, kLong, 1, pixels.size());
  std::string bitsText;
  for (int i = 0; i < 4; ++i)
    bitsText += little(static_cast<uint32_t>(bits), 2);
  return std::string("II*\0", 4) + little(8, 4) +
         little(static_cast<uint32_t>(count), 2) + entries + little(0, 4) +
         bitsText + pixels;
}

TEST(Tiff, ImagesAreConvertedToBytesAndTurnedUpright) {
  if (!dlopen("libtiff.so.6", RTLD_NOW | RTLD_LOCAL))
    GTEST_SKIP() << "no libtiff.so.6";
  const std::string colour = tiff(1, 2, 3, 8, "\1\2\3\4\5\6");
  EXPECT_EQ(decode(colour).pixels, (Bytes{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(decode(colour, ImageColor::Gray).pixels, (Bytes{2, 5}));
  const std::string gray = tiff(1, 2, 1, 8, "\7\x8", 1, 1);
  EXPECT_EQ(decode(gray).pixels, (Bytes{7, 8}));
  EXPECT_EQ(decode(gray, ImageColor::Color).pixels, (Bytes{7, 7, 7, 8, 8, 8}));
  const std::string deep =
      tiff(1, 2, 1, 16, std::string("\0\x80\xff\xff", 4), 1, 1);
  EXPECT_EQ(decode(deep, ImageColor::Gray).pixels, (Bytes{128, 255}));
  expectError(ExitStatus::BadInput, "16 bits per sample",
              [&] { decode(deep); });
  // Row 0 is at the right, column 0 at the top.
  const std::string turned = tiff(2, 3, 1, 8, "\1\2\3\4\5\6", 6, 1);
  const Image upright = decode(turned, ImageColor::Gray);
  EXPECT_EQ(upright.height, 3);
  EXPECT_EQ(upright.pixels, (Bytes{4, 1, 5, 2, 6, 3}));
  EXPECT_EQ(decode(turned).pixels, (Bytes{1, 2, 3, 4, 5, 6}));
  expectTruncationIsRefused(colour);
  expectError(ExitStatus::BadInput, "bytes for 16000x16000 pixels",
              [] { decode(tiff(16000, 16000, 1, 8, "\1", 1, 1)); });
  expectError(ExitStatus::BadInput, "too large",
              [] { decode(tiff(1 << 20, 1 << 20, 1, 8, "\1", 1, 1)); });
}

TEST(ImageFormats, AreReadFromFilesAndResized) {
  TempFolder folder;
  writeBytes(folder / "a.pgm", "P5 2 2 255\n\x64\x64\x64\x64");
  Image image;
  readImageFile(folder / "a.pgm", ImageColor::Color, 3, 4, "", image);
  EXPECT_EQ(image.height, 3);
  EXPECT_EQ(image.pixels, Bytes(3 * 4 * 3, 100));
}

TEST(ImageFormats, OtherFormatsAreNamed) {
  const std::pair<const char *, std::string> files[] = {
      {"GIF", "GIF89a"},
      {"JPEG 2000", std::string("\0\0\0\x0cjP  \r\n\x87\n", 12)}};
  for (const auto &[format, bytes] : files) {
    EXPECT_STREQ(imageFormatName(bytes.data(), bytes.size()), format);
    expectError(ExitStatus::BadInput, std::string(format) + " images are not",
                [&, file = bytes] { decode(file); });
  }
  EXPECT_EQ(imageFormatName("BM is a text", 12), nullptr);
  EXPECT_EQ(imageFormatName("P1 0\nP2 1\n", 10), nullptr);
}
