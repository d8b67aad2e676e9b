//===- DatumTest.cpp - Tests of records and decoded images ----------------===//
#include "formats/Datum.h"
#include "formats/Database.h"
#include "formats/caffe.pb.h"
#include "formats/image/ImageEncode.h"
#include "test/common/TestFiles.h"

#include <cstdio> // required before jpeglib.h
#include <jpeglib.h>
#include <png.h>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

void appendPng(png_structp png, png_bytep bytes, png_size_t size) {
  static_cast<std::string *>(png_get_io_ptr(png))
      ->append(reinterpret_cast<char *>(bytes), size);
}

/// Returns a PNG file with the given rows of packed pixels. The palette of a
/// palette image has four entries, the first of which is transparent.
std::string encodePng(int width, int height, int bits, int type,
                      const std::string &rows, bool interlaced = false) {
  std::string out;
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &out, appendPng, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width),
               static_cast<png_uint_32>(height), bits, type,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_color palette[4] = {{9, 8, 7}, {10, 20, 30}, {40, 50, 60}, {70, 80, 90}};
  png_byte transparent[1] = {0};
  if (type == PNG_COLOR_TYPE_PALETTE) {
    png_set_PLTE(png, info, palette, 4);
    png_set_tRNS(png, info, transparent, 1, nullptr);
  }
  png_write_info(png, info);
  std::vector<png_bytep> pointers;
  size_t stride = rows.size() / static_cast<size_t>(height);
  for (int y = 0; y < height; ++y)
    pointers.push_back(reinterpret_cast<png_bytep>(
        const_cast<char *>(rows.data() + stride * static_cast<size_t>(y))));
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return out;
}

/// Returns a JPEG file of one colour.
std::string encodeJpeg(int width, int height, std::vector<uint8_t> color) {
  jpeg_compress_struct info;
  jpeg_error_mgr error;
  info.err = jpeg_std_error(&error);
  jpeg_create_compress(&info);
  unsigned char *bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = static_cast<int>(color.size());
  info.in_color_space = color.size() == 3   ? JCS_RGB
                        : color.size() == 4 ? JCS_CMYK
                                            : JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> row;
  for (int x = 0; x < width; ++x)
    row.insert(row.end(), color.begin(), color.end());
  JSAMPROW pointer = row.data();
  while (info.next_scanline < info.image_height)
    jpeg_write_scanlines(&info, &pointer, 1);
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string out(reinterpret_cast<char *>(bytes), size);
  free(bytes);
  return out;
}

Image decode(const std::string &bytes, ImageColor color = ImageColor::Native) {
  Image image;
  decodeImage(bytes.data(), bytes.size(), color, "test", image);
  return image;
}

using Pixels = std::vector<uint8_t>;

TEST(Datum, LabelIsReadWithoutTheImage) {
  EXPECT_EQ(labelOfDatum(encodeDatum(1, 1, 2, "ab", 7)), 7);
  EXPECT_EQ(labelOfDatum(encodeDatum(1, 1, 2, "ab", -3)), -3);
  brew::caffe::Datum datum;
  EXPECT_EQ(labelOfDatum(datum.SerializeAsString()),
            0); // the field's default
  datum.set_data(std::string(100000, 'x'));
  datum.set_encoded(true);
  for (float value : {1.F, 2.F})
    datum.add_float_data(value);
  datum.set_label(2000000000);
  const std::string bytes = datum.SerializeAsString();
  EXPECT_EQ(labelOfDatum(bytes), 2000000000);
  EXPECT_EQ(labelOfDatum(bytes.substr(0, 5000)), std::nullopt);
  EXPECT_EQ(labelOfDatum("no datum"), std::nullopt);
  EXPECT_EQ(labelOfDatum(std::string("\0\0", 2)), std::nullopt);
}

TEST(Datum, ShapeIsReadWithoutTheValues) {
  using Shape = std::array<int, 3>;
  EXPECT_EQ(shapeOfDatum(encodeDatum(2, 3, 4, "too short", 7),
                         ImageColor::Native, "r"),
            (Shape{2, 3, 4}));
  Image image;
  image.channels = 3;
  image.height = 5;
  image.width = 9;
  image.pixels.resize(3 * 5 * 9);
  for (ImageFormat format : {ImageFormat::Jpeg, ImageFormat::Png}) {
    caffe::Datum datum;
    datum.set_encoded(true);
    datum.set_data(encodeImage(image, format));
    for (ImageColor color :
         {ImageColor::Native, ImageColor::Color, ImageColor::Gray})
      EXPECT_EQ(shapeOfDatum(datum.SerializeAsString(), color, "r"),
                (Shape{color == ImageColor::Gray ? 1 : 3, 5, 9}));
  }
  expectError(ExitStatus::BadInput, "r: damaged record: shape 0x3x4", [] {
    shapeOfDatum(encodeDatum(0, 3, 4, "", 7), ImageColor::Native, "r");
  });
  EXPECT_THROW(shapeOfDatum("no datum", ImageColor::Native, "r"), Error);
}

TEST(ImageDecode, PngColorsAreReturnedAsBgr) {
  std::string rows = "\x01\x02\x03\x04\x05\x06";
  for (bool interlaced : {false, true}) {
    std::string png = encodePng(1, 2, 8, PNG_COLOR_TYPE_RGB, rows, interlaced);
    Image image = decode(png);
    EXPECT_EQ(image.channels, 3);
    EXPECT_EQ(image.height, 2);
    EXPECT_EQ(image.width, 1);
    EXPECT_EQ(image.pixels, (Pixels{3, 2, 1, 6, 5, 4}));
    EXPECT_EQ(decode(png, ImageColor::Color).pixels, image.pixels);
  }
}

TEST(ImageDecode, PngGrayConvertsFromAndToColor) {
  std::string png = encodePng(2, 1, 8, PNG_COLOR_TYPE_GRAY, "\x0a\xff");
  EXPECT_EQ(decode(png).pixels, (Pixels{10, 255}));
  EXPECT_EQ(decode(png, ImageColor::Color).pixels,
            (Pixels{10, 10, 10, 255, 255, 255}));
  // One bit per pixel: 1, 0, 1 from left to right.
  std::string bits = encodePng(3, 1, 1, PNG_COLOR_TYPE_GRAY, "\xa0");
  EXPECT_EQ(decode(bits).pixels, (Pixels{255, 0, 255}));
  // 0.299 R + 0.587 G + 0.114 B = 28.41; the library's rounding may add or
  // subtract 1.
  std::string color = encodePng(1, 1, 8, PNG_COLOR_TYPE_RGB, "\x0a\x14\x78");
  EXPECT_NEAR(decode(color, ImageColor::Gray).pixels.at(0), 28.4, 1.1);
}

TEST(ImageDecode, PngTransparencyIsAFourthChannel) {
  std::string png = encodePng(1, 1, 8, PNG_COLOR_TYPE_RGBA, "\x01\x02\x03\x80");
  EXPECT_EQ(decode(png).pixels, (Pixels{3, 2, 1, 128}));
  EXPECT_EQ(decode(png, ImageColor::Color).pixels, (Pixels{3, 2, 1}));
  EXPECT_EQ(decode(png, ImageColor::Gray).pixels.size(), 1u);
  // Two bits per pixel: palette entries 0 (transparent) and 2.
  std::string palette = encodePng(2, 1, 2, PNG_COLOR_TYPE_PALETTE, "\x20");
  EXPECT_EQ(decode(palette).pixels, (Pixels{7, 8, 9, 0, 60, 50, 40, 255}));
  EXPECT_EQ(decode(palette, ImageColor::Color).pixels,
            (Pixels{7, 8, 9, 60, 50, 40}));
}

TEST(ImageDecode, SixteenBitsAreReducedOnlyOnConversion) {
  std::string png = encodePng(1, 1, 16, PNG_COLOR_TYPE_GRAY, "\x01\x02");
  expectError(ExitStatus::BadInput, "16 bits per sample", [&] { decode(png); });
  Image image; // like OpenCV's imread: the upper bytes
  decodeImage(png.data(), png.size(), ImageColor::Color, "png", image);
  EXPECT_EQ(image.pixels, (std::vector<uint8_t>{1, 1, 1}));
  decodeImage(png.data(), png.size(), ImageColor::Gray, "png", image);
  EXPECT_EQ(image.pixels, std::vector<uint8_t>{1});
}

TEST(ImageDecode, JpegColorsAreClose) {
  std::string jpeg = encodeJpeg(17, 9, {200, 100, 50});
  Image image = decode(jpeg);
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.height, 9);
  EXPECT_EQ(image.width, 17);
  // Quantisation at quality 95 changes a flat colour by one or two.
  EXPECT_NEAR(image.pixels[0], 50, 3);
  EXPECT_NEAR(image.pixels[1], 100, 3);
  EXPECT_NEAR(image.pixels[2], 200, 3);
  Image gray = decode(jpeg, ImageColor::Gray);
  EXPECT_EQ(gray.channels, 1);
  EXPECT_NEAR(gray.pixels[0], 0.299 * 200 + 0.587 * 100 + 0.114 * 50, 3);

  std::string grayJpeg = encodeJpeg(4, 4, {77});
  EXPECT_EQ(decode(grayJpeg).channels, 1);
  EXPECT_EQ(decode(grayJpeg, ImageColor::Color).channels, 3);
  EXPECT_NEAR(decode(grayJpeg, ImageColor::Color).pixels[2], 77, 2);
}

TEST(ImageDecode, CmykJpegBecomesBgr) {
  // The inks are inverted: 255 means no ink. The last value, 255, is no black.
  std::string jpeg = encodeJpeg(8, 8, {200, 100, 50, 255});
  Image image = decode(jpeg);
  EXPECT_EQ(image.channels, 3);
  EXPECT_NEAR(image.pixels[0], 50, 4);
  EXPECT_NEAR(image.pixels[1], 100, 4);
  EXPECT_NEAR(image.pixels[2], 200, 4);
  EXPECT_EQ(decode(jpeg, ImageColor::Gray).channels, 1);
}

TEST(ImageDecode, TruncatedImagesAreRefusedAndDamagedOnesDoNotCrash) {
  std::string png =
      encodePng(8, 8, 8, PNG_COLOR_TYPE_GRAY, std::string(64, 'x'), true);
  std::string jpeg = encodeJpeg(40, 40, {200, 100, 50});
  for (const std::string &intact : {png, jpeg}) {
    for (size_t length = 0; length < intact.size(); ++length) {
      const bool isRefused =
          refusedAsBadInput([&] { decode(intact.substr(0, length)); });
      // Only JPEG's end marker, of 2 bytes, may be missing.
      EXPECT_TRUE(isRefused || length + 2 >= intact.size()) << length;
    }
    for (size_t bit = 0; bit < intact.size() * 8; ++bit) {
      std::string damaged = intact;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      for (ImageColor color : {ImageColor::Native, ImageColor::Gray})
        refusedAsBadInput([&] { decode(damaged, color); });
    }
  }
  expectError(ExitStatus::BadInput, "GIF images are not read",
              [] { decode("GIF89a"); });
}

TEST(Datum, RawBytesAreUnsigned) {
  ImageRecord record;
  decodeDatum(encodeDatum(2, 1, 3, "abcdef", 4), ImageColor::Native, "db",
              record);
  EXPECT_EQ(record.channels, 2);
  EXPECT_EQ(record.width, 3);
  EXPECT_EQ(record.label, 4);
  EXPECT_EQ(record.size(), 6u);
  EXPECT_EQ(record.value(5), 'f');
  decodeDatum(encodeDatum(1, 1, 1, "\xff", 0), ImageColor::Gray, "db", record);
  EXPECT_EQ(record.value(0), 255); // bytes are unsigned
}

TEST(Datum, FloatsAreKept) {
  caffe::Datum datum;
  datum.set_channels(1);
  datum.set_height(1);
  datum.set_width(2);
  datum.add_float_data(-0.5f);
  datum.add_float_data(2);
  ImageRecord record;
  decodeDatum(datum.SerializeAsString(), ImageColor::Native, "db", record);
  EXPECT_TRUE(record.bytes.empty());
  EXPECT_EQ(record.floats, (std::vector<float>{-0.5f, 2}));
}

TEST(Datum, EncodedImageBecomesPlanes) {
  caffe::Datum datum;
  datum.set_data(
      encodePng(2, 1, 8, PNG_COLOR_TYPE_RGB, "\x01\x02\x03\x04\x05\x06"));
  datum.set_encoded(true);
  datum.set_label(3);
  ImageRecord record;
  decodeDatum(datum.SerializeAsString(), ImageColor::Native, "db", record);
  EXPECT_EQ(record.channels, 3);
  EXPECT_EQ(record.height, 1);
  EXPECT_EQ(record.width, 2);
  EXPECT_EQ(record.bytes, (Pixels{3, 6, 2, 5, 1, 4}));
  EXPECT_EQ(record.label, 3);
}

TEST(Datum, InvalidRecordsAreRefused) {
  ImageRecord record;
  auto decodeBytes = [&](const std::string &bytes) {
    decodeDatum(bytes, ImageColor::Native, "db: record '7'", record);
  };
  expectError(ExitStatus::BadInput, "db: record '7': damaged record",
              [&] { decodeBytes("\xff\xff"); });
  expectError(ExitStatus::BadInput, "shape 1x2x2 but 3 values",
              [&] { decodeBytes(encodeDatum(1, 2, 2, "abc", 0)); });
  expectError(ExitStatus::BadInput, "shape 0x2x2",
              [&] { decodeBytes(encodeDatum(0, 2, 2, "abc", 0)); });
  // The product of the dimensions wraps around to 0, the number of values.
  expectError(ExitStatus::BadInput, "values", [&] {
    decodeBytes(encodeDatum(1 << 30, 1 << 30, 1 << 30, "", 0));
  });
  caffe::Datum datum;
  datum.set_encoded(true);
  expectError(ExitStatus::BadInput, "without data",
              [&] { decodeBytes(datum.SerializeAsString()); });
  datum.set_data("junk");
  expectError(ExitStatus::BadInput, "is not JPEG, PNG, BMP",
              [&] { decodeBytes(datum.SerializeAsString()); });
}

TEST(Datum, DecodesRecordedPhotos) {
  std::string path = sharedPath("data/caffe_dbs/photos_encoded_lmdb");
  SKIP_WITHOUT(path);
  auto database = DbReader::open(path, DbBackend::Lmdb);
  auto cursor = database->newCursor();
  ImageRecord record;
  decodeDatum(cursor->value(), ImageColor::Native, "photo", record);
  EXPECT_EQ(record.channels, 3);
  EXPECT_EQ(record.height, 360);
  EXPECT_EQ(record.width, 480);
  EXPECT_EQ(record.label, 3);
}

} // namespace
