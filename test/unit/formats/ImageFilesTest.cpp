//===- ImageFilesTest.cpp - Tests of image files, lists and window files --===//
#include "formats/WindowFile.h"
#include "formats/image/Exif.h"
#include "formats/image/ImageEncode.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageList.h"
#include "formats/image/ImageResize.h"
#include "test/common/TestFiles.h"

#include <climits>
#include <random>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

/// Returns an image in which each value is the previous one plus 37, modulo
/// 256.
Image countingImage(int height, int width, int channels) {
  Image image;
  image.channels = channels;
  image.height = height;
  image.width = width;
  for (int i = 0; i < height * width * channels; ++i)
    image.pixels.push_back(static_cast<uint8_t>(i * 37));
  return image;
}

TEST(ImageResize, EqualsOpenCv) {
  // Recorded from cv2.resize(image, (width, height)). OpenCV 4 and 5 have the
  // same results.
  const struct {
    int height, width;
    std::vector<uint8_t> pixels;
  } cases[] = {
      {3, 3, {44,  81,  118, 186, 10,  47,  158, 167, 61,
              102, 139, 133, 31,  68,  105, 130, 82,  119,
              159, 125, 147, 88,  125, 162, 102, 139, 105}},
      {2, 7, {22,  59,  96,  85,  122, 159, 128, 128, 165, 116, 25,
              62,  103, 104, 141, 146, 128, 110, 210, 119, 28,  108,
              145, 182, 171, 135, 99,  177, 123, 68,  74,  111, 148,
              153, 190, 135, 122, 159, 123, 40,  77,  114}},
      {2, 2, {105, 142, 179, 126, 131, 136, 191, 132, 73, 148, 185, 126}},
      {7, 4, {14,  51,  88,  152, 94,  131, 131, 72,  109, 174, 211, 24,
              29,  66,  103, 134, 109, 146, 112, 88,  125, 189, 147, 39,
              54,  91,  128, 103, 133, 170, 82,  112, 149, 214, 43,  64,
              78,  115, 136, 121, 158, 115, 100, 137, 174, 127, 52,  89,
              103, 138, 145, 145, 171, 60,  124, 161, 187, 39,  76,  111,
              127, 144, 169, 170, 104, 84,  149, 186, 120, 64,  101, 117,
              143, 148, 185, 186, 62,  100, 164, 201, 78,  79,  116, 121}},
  };
  for (const auto &expected : cases) {
    Image result;
    resizeImage(countingImage(4, 5, 3), expected.height, expected.width,
                result);
    EXPECT_EQ(result.channels, 3);
    EXPECT_EQ(result.pixels, expected.pixels)
        << expected.height << "x" << expected.width;
  }
}

TEST(ImageResize, KeepsEqualSizesAndConstants) {
  const Image image = countingImage(6, 7, 1);
  Image result;
  resizeImage(image, 6, 7, result);
  EXPECT_EQ(result.pixels, image.pixels);
  Image flat = image;
  flat.pixels.assign(flat.pixels.size(), 201);
  for (int size : {1, 5, 13}) {
    resizeImage(flat, size, size + 3, result);
    for (uint8_t pixel : result.pixels)
      EXPECT_EQ(pixel, 201);
  }
  EXPECT_EQ(cropImage(image, 2, 3, 1, 2).pixels,
            (std::vector<uint8_t>{image.pixels[17], image.pixels[18]}));
}

TEST(ImageEncode, PngKeepsEveryPixel) {
  for (int channels : {1, 3, 4}) {
    const Image image = countingImage(5, 9, channels);
    const std::string bytes = encodeImage(image, ImageFormat::Png);
    Image decoded;
    decodeImage(bytes.data(), bytes.size(), ImageColor::Native, "png", decoded);
    EXPECT_EQ(decoded.channels, channels);
    EXPECT_EQ(decoded.height, 5);
    EXPECT_EQ(decoded.pixels, image.pixels);
  }
}

TEST(ImageEncode, JpegIsClose) {
  for (int channels : {1, 3}) {
    Image image = countingImage(16, 16, channels);
    for (size_t i = 0; i < image.pixels.size(); ++i) // smooth
      image.pixels[i] = static_cast<uint8_t>(i / 16);
    const std::string bytes = encodeImage(image, ImageFormat::Jpeg);
    Image decoded;
    decodeImage(bytes.data(), bytes.size(), ImageColor::Native, "jpeg",
                decoded);
    ASSERT_EQ(decoded.pixels.size(), image.pixels.size());
    for (size_t i = 0; i < image.pixels.size(); ++i)
      EXPECT_NEAR(decoded.pixels[i], image.pixels[i],
                  8); // the error of the JPEG's quality
  }
  EXPECT_THROW(encodeImage(countingImage(2, 2, 4), ImageFormat::Jpeg), Error);
  EXPECT_EQ(imageFormatOf(".JPEG"), ImageFormat::Jpeg);
  EXPECT_EQ(imageFormatOf("png"), ImageFormat::Png);
  EXPECT_FALSE(imageFormatOf("bmp"));
}

TEST(ImageFile, ErrorsNameTheLineOfTheList) {
  TempFolder folder;
  Image image;
  expectError(ExitStatus::Unavailable, "list.txt:3: cannot read", [&] {
    readImageFile(folder / "absent.png", ImageColor::Color, 0, 0, "list.txt:3",
                  image);
  });
  const std::string bytes =
      encodeImage(countingImage(8, 8, 3), ImageFormat::Png);
  writeBytes(folder / "half.png", bytes.substr(0, bytes.size() / 2));
  expectError(ExitStatus::BadInput, "list.txt:4: " + (folder / "half.png"),
              [&] {
                readImageFile(folder / "half.png", ImageColor::Color, 0, 0,
                              "list.txt:4", image);
              });
  writeBytes(folder / "whole.png", bytes);
  readImageFile(folder / "whole.png", ImageColor::Gray, 4, 5, "", image);
  EXPECT_EQ(image.channels, 1);
  EXPECT_EQ(image.pixels.size(), 20u);
}

/// Returns the JPEG file with an EXIF block that contains the orientation.
std::string withOrientation(const std::string &jpeg, char orientation,
                            bool bigEndian) {
  std::string tiff = bigEndian ? std::string("MM\0\x2a\0\0\0\x08\0\x01", 10)
                               : std::string("II\x2a\0\x08\0\0\0\x01\0", 10);
  tiff += bigEndian ? std::string("\x01\x12\0\x03\0\0\0\x01\0", 9)
                    : std::string("\x12\x01\x03\0\x01\0\0\0", 8);
  tiff += orientation;
  tiff += std::string(7, '\0');
  const std::string block = std::string("Exif\0\0", 6) + tiff;
  const std::string length = {'\0', static_cast<char>(block.size() + 2)};
  return jpeg.substr(0, 2) + "\xff\xe1" + length + block + jpeg.substr(2);
}

TEST(ImageFile, JpegOrientationIsAppliedUnlessReadAsStored) {
  Image image; // 8 x 16, its left half dark and its right half bright
  image.channels = 3;
  image.height = 8;
  image.width = 16;
  for (int i = 0; i < 8 * 16; ++i)
    image.pixels.insert(image.pixels.end(), 3, i % 16 < 8 ? 10 : 240);
  const std::string jpeg = encodeImage(image, ImageFormat::Jpeg);
  // The position of the dark half in the decoded image, by orientation.
  const char *const dark[] = {"",    "left", "right",  "right", "left",
                              "top", "top",  "bottom", "bottom"};
  for (char orientation = 1; orientation <= 8; ++orientation)
    for (bool bigEndian : {false, true}) {
      const std::string file = withOrientation(jpeg, orientation, bigEndian);
      Image read;
      decodeImage(file.data(), file.size(), ImageColor::Color, "x", read);
      EXPECT_EQ(read.width, orientation < 5 ? 16 : 8) << int(orientation);
      auto isDark = [&](int y, int x) {
        return read.pixels[(size_t(y) * read.width + x) * 3] < 128;
      };
      const int bottom = read.height - 1, right = read.width - 1;
      const std::string found = isDark(0, 0) && isDark(bottom, 0)  ? "left"
                                : isDark(0, 0) && isDark(0, right) ? "top"
                                : isDark(0, right)                 ? "right"
                                                                   : "bottom";
      EXPECT_EQ(found, dark[static_cast<size_t>(orientation)])
          << int(orientation);
      decodeImage(file.data(), file.size(), ImageColor::Native, "x", read);
      EXPECT_EQ(read.width, 16);
      // No byte is read after the end of a truncated file.
      for (size_t end = 0; end < 60; ++end)
        EXPECT_GE(jpegOrientation(file.data(), end), 1);
    }
  EXPECT_EQ(jpegOrientation(withOrientation(jpeg, 9, true).data(), 60), 1);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

struct Lists : testing::Test {
  std::vector<ImageListEntry> list(const std::string &text) {
    writeBytes(folder / "list", text);
    return readImageList(folder / "list");
  }
  std::vector<WindowImage> windows(const std::string &text) {
    writeBytes(folder / "windows", text);
    return readWindowFile(folder / "windows");
  }
  void expectWindowError(const std::string &text, const std::string &message) {
    expectError(ExitStatus::BadInput, message, [&] { windows(text); });
  }
  TempFolder folder;
};

TEST_F(Lists, ImagesAreReadAsCaffeReadsThem) {
  const auto entries =
      list("a.png 3\ntwo words.jpg -4\r\nb.png 12abc\nc.png x\n"
           "alone\n17\n\nlast.png 99999999999");
  ASSERT_EQ(entries.size(), 8u);
  EXPECT_EQ(entries[0].name, "a.png");
  EXPECT_EQ(entries[0].label, 3);
  EXPECT_EQ(entries[1].name, "two words.jpg");
  EXPECT_EQ(entries[1].label, -4);
  EXPECT_EQ(entries[1].line, 2u);
  EXPECT_EQ(entries[2].label, 12);
  EXPECT_EQ(entries[3].label, 0);
  EXPECT_EQ(entries[4].name, "alone");
  EXPECT_EQ(entries[5].name,
            "17"); // without a space, the word is both name and label
  EXPECT_EQ(entries[5].label, 17);
  EXPECT_EQ(entries[6].name, "");
  EXPECT_EQ(entries[7].label, INT_MAX);
  EXPECT_EQ(lineLocation("f", entries[7]), "f:8");
}

TEST_F(Lists, EmptyMissingAndBinaryListsAreRejected) {
  expectError(ExitStatus::BadInput, "the list of images is empty",
              [&] { list(""); });
  expectError(ExitStatus::Unavailable, "list of images: cannot read",
              [&] { readImageList(folder / "absent"); });
  expectError(ExitStatus::BadInput, "is a folder, not a list of images",
              [&] { readImageList(folder.path()); });
  expectError(ExitStatus::BadInput, "list:2: contains a zero byte",
              [&] { list(std::string("a 1\nb\0 2\n", 9)); });
}

const char *const kWindows = "# 0\na.png\n3\n40 50\n2\n1 0.75 1 2 30 39\n"
                             "0 1e-1 0 0 9 9\n# 1\nb.jpg\n3 20 10\n0\n";

TEST_F(Lists, WindowsHaveTheirLineNumbers) {
  const auto images = windows(kWindows);
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].name, "a.png");
  EXPECT_EQ(images[0].height, 40);
  EXPECT_EQ(images[0].width, 50);
  ASSERT_EQ(images[0].windows.size(), 2u);
  EXPECT_EQ(images[0].windows[0].label, 1);
  EXPECT_FLOAT_EQ(images[0].windows[1].overlap, 0.1f);
  EXPECT_EQ(images[0].windows[0].y2, 39);
  EXPECT_EQ(images[0].windows[1].line, 7u);
  EXPECT_EQ(images[1].line, 9u);
}

TEST_F(Lists, ErrorsInWindowFilesNameTheLine) {
  expectWindowError("", "the window file is empty");
  expectWindowError("0 a.png", "windows:1: '0' is found where '#'");
  expectWindowError("# 1\na.png", "windows:1: the image has number 1");
  expectWindowError("# 0\na.png\n3 40 50\n1\n1 0.5 0 0 9",
                    "windows:5: ends where a window's y2 is expected");
  expectWindowError(
      "# 0\na.png\n3 40 50\nmany\n",
      "windows:4: 'many' is not an integer; the number of windows");
  expectWindowError("# 0\na.png\n3 40 50\n1\n1 high 0 0 9 9",
                    "windows:5: 'high' is not a number");
  expectWindowError("# 0\na.png\n3 40 50\n1\n1 0.5 9 0 3 9",
                    "windows:5: the window from (9, 0) to (3, 9) ends before");
  expectWindowError("# 0\na.png\n3 40 50\n1\n1 0.5 0 0 99999999 9",
                    "lies beyond any image");
  expectWindowError("# 0\na.png\n3 40 50\n-1\n", "number of windows is -1");
  expectWindowError("# 0\na.png\n3 0 50\n1\n", "an image of 3x0x50");
  // One window more than the file declares.
  expectWindowError("# 0\na.png\n3 40 50\n1\n1 0.5 0 0 9 9\n1 0.5 0 0 9 9\n",
                    "windows:6: '1' is found where '#'");
}

/// Each damaged list must be read, or rejected with a BadInput error.
TEST_F(Lists, DamagedListsAreReadOrRejected) {
  std::mt19937 random(7);
  const std::string intact[] = {"a.png 3\ntwo words.jpg -4\nb.png 12abc\n",
                                kWindows};
  const std::string alphabet = "# \n\t\r-+.e019azA\x80\xff";
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = intact[round % 2];
    for (unsigned i = 0; i < 1 + random() % 4; ++i) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text[at] = alphabet[random() % alphabet.size()];
        break;
      case 1:
        text.insert(at, 1, alphabet[random() % alphabet.size()]);
        break;
      case 2:
        text.erase(at, 1 + random() % 9);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
      if (text.empty())
        text = " ";
    }
    try {
      if (round % 2)
        windows(text);
      else
        list(text);
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), ExitStatus::BadInput) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 500); // many kinds of damage are detected
}

/// The required memory follows from a JPEG's header. It must be checked before
/// any memory is allocated.
TEST(ImageFile, JpegHeadersAreCheckedBeforeAllocation) {
  const std::string colour(
      "\xff\xd8\xff\xc2\x00\x11\x08\xfd\xe8\xfd\xe8\x03\x01\x11\x00\x02"
      "\x11\x00\x03\x11\x00\xff\xda\x00\x0c\x03\x01\x00\x02\x00\x03\x00"
      "\x00\x3f\x00",
      35), // 12 GB of pixels
      gray("\xff\xd8\xff\xc2\x00\x0b\x08\x73\x09\x87\x00\x01\x01\x11\x00\xff"
           "\xda\x00\x08\x01\x01\x00\x00\x3f\x00",
           25); // 1 GB of pixels, and coefficients of 2 GB
  for (const std::string &bytes : {colour, gray}) {
    Image image;
    try {
      decodeImage(bytes.data(), bytes.size(), ImageColor::Native, "big.jpg",
                  image);
      FAIL() << "a large image was decoded";
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find("the image is too large"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(ImageFile, ResizedImagesHaveASizeLimit) {
  Image image;
  image.channels = 3;
  image.height = image.width = 1;
  image.pixels.assign(3, 7);
  const std::string png = encodeImage(image, ImageFormat::Png);
  EXPECT_THROW(decodeAndResize(png.data(), png.size(), ImageColor::Color, 65536,
                               65536, "one.png", image),
               Error);
}

} // namespace
