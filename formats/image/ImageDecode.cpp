//===- ImageDecode.cpp - Decoding of images -------------------------------===//
//
// libjpeg and libpng report errors by longjmp. Therefore, all objects with
// destructors are in the callers' frames, and functions that call setjmp have
// no locals with destructors.
//
//===----------------------------------------------------------------------===//
#include "formats/image/ImageDecode.h"

#include "formats/image/Bmp.h"
#include "formats/image/Channels.h"
#include "formats/image/Exif.h"
#include "formats/image/ImageSignature.h"
#include "formats/image/Pnm.h"
#include "formats/image/Tiff.h"
#include "formats/image/WebP.h"
#include "support/Error.h"

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string_view>

#include <jpeglib.h>
// libjpeg's error codes have a separate header.
#include <jerror.h>
#include <png.h>

namespace brew::formats {
namespace {

/// A message carried over a longjmp.
struct Failure {
  char text[256];

  void set(const char *message) {
    std::snprintf(text, sizeof text, "%s", message);
  }
};

/// Allocates the pixels of an image. Returns false if the image would be empty
/// or larger than kMaxImageBytes.
bool allocatePixels(Image &image, int channels, uint32_t height,
                    uint32_t width) {
  if (uint64_t(height) * width * channels > kMaxImageBytes || height == 0 ||
      width == 0)
    return false;
  image.channels = channels;
  image.height = static_cast<int>(height);
  image.width = static_cast<int>(width);
  image.pixels.resize(size_t(height) * width * channels);
  return true;
}

//===--- JPEG -----------------------------------------------------------===//

struct JpegError {
  jpeg_error_mgr base; // must be first: libjpeg returns a pointer to it
  std::jmp_buf escape;
  Failure *failure;
};

[[noreturn]] void failJpeg(j_common_ptr info) {
  auto *error = reinterpret_cast<JpegError *>(info->err);
  char text[JMSG_LENGTH_MAX];
  error->base.format_message(info, text);
  error->failure->set(text);
  std::longjmp(error->escape, 1);
}

void handleJpegMessage(j_common_ptr info, int level) {
  // Photos often have harmless defects; truncation is not harmless.
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF)
    failJpeg(info);
}

/// Converts Adobe's inverted CMYK to B,G,R in place: four bytes become three.
void cmykRowToBgr(uint8_t *row, int width) {
  const uint8_t *source = row;
  for (int x = 0; x < width; ++x, source += 4, row += 3) {
    int c = source[0], m = source[1], y = source[2], k = source[3];
    row[0] = static_cast<uint8_t>(k - ((255 - y) * k >> 8));
    row[1] = static_cast<uint8_t>(k - ((255 - m) * k >> 8));
    row[2] = static_cast<uint8_t>(k - ((255 - c) * k >> 8));
  }
}

/// Returns the size of all coefficients, which libjpeg stores if the image has
/// several scans, otherwise 0.
uint64_t coefficientBytes(jpeg_decompress_struct &info) {
  uint64_t blocks = 0;
  for (int i = 0; i < info.num_components; ++i)
    blocks += uint64_t(info.comp_info[i].width_in_blocks) *
              info.comp_info[i].height_in_blocks;
  return jpeg_has_multiple_scans(&info) ? blocks * sizeof(JBLOCK) : 0;
}

/// Decodes a JPEG file. `row` is scratch memory. Returns false and sets
/// `failure` on errors.
bool decodeJpeg(const void *bytes, size_t size, ImageColor color, Image &image,
                std::vector<uint8_t> &row, Failure &failure) {
  jpeg_decompress_struct info = {}; // destroyable even if creating it fails
  JpegError error;
  info.err = jpeg_std_error(&error.base);
  error.base.error_exit = failJpeg;
  error.base.emit_message = handleJpegMessage;
  error.failure = &failure;
  if (setjmp(error.escape)) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, static_cast<const unsigned char *>(bytes), size);
  jpeg_read_header(&info, TRUE);
  if (uint64_t(info.image_width) * info.image_height * info.num_components >
          kMaxImageBytes ||
      coefficientBytes(info) > kMaxImageBytes) {
    failure.set("the image is too large");
    jpeg_destroy_decompress(&info);
    return false;
  }
  bool isCmyk = info.num_components == 4;
  bool isGray = color == ImageColor::Gray ||
                (color == ImageColor::Native && info.num_components == 1);
  // libjpeg uses the luma plane as gray, as OpenCV configures it.
  info.out_color_space = isCmyk   ? JCS_CMYK
                         : isGray ? JCS_GRAYSCALE
                                  : JCS_EXT_BGR;
  jpeg_start_decompress(&info);
  int channels = isGray ? 1 : 3;
  if (!allocatePixels(image, channels, info.output_height, info.output_width)) {
    failure.set("the image is too large");
    jpeg_destroy_decompress(&info);
    return false;
  }
  if (isCmyk)
    row.resize(size_t(info.output_width) * 4);
  size_t rowBytes = size_t(info.output_width) * channels;
  while (info.output_scanline < info.output_height) {
    uint8_t *target = image.pixels.data() + rowBytes * info.output_scanline;
    JSAMPROW scanline = isCmyk ? row.data() : target;
    jpeg_read_scanlines(&info, &scanline, 1);
    if (!isCmyk)
      continue;
    cmykRowToBgr(row.data(), image.width);
    if (!isGray)
      std::memcpy(target, row.data(), rowBytes);
    for (int x = 0; isGray && x < image.width; ++x)
      target[x] = grayOf(row[3 * x], row[3 * x + 1], row[3 * x + 2]);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

//===--- PNG ------------------------------------------------------------===//

struct PngSource {
  const uint8_t *next;
  size_t remaining;
};

void readPngBytes(png_structp png, png_bytep buffer, png_size_t size) {
  auto *source = static_cast<PngSource *>(png_get_io_ptr(png));
  if (size > source->remaining)
    png_error(png, "premature end of file");
  std::memcpy(buffer, source->next, size);
  source->next += size;
  source->remaining -= size;
}

[[noreturn]] void failPng(png_structp png, png_const_charp message) {
  static_cast<Failure *>(png_get_error_ptr(png))->set(message);
  png_longjmp(png, 1);
}

void ignorePngWarning(png_structp, png_const_charp) {}

/// Returns the orientation in an eXIf chunk, which may follow the pixels.
int pngOrientation(png_structp png, png_infop info) {
#ifdef PNG_eXIf_SUPPORTED
  png_uint_32 size = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(png, info, &size, &exif))
    return exifOrientation(exif, size);
#endif
  return 1;
}

/// Decodes a PNG file. `rows` is scratch memory. Returns false and sets
/// `failure` on errors.
bool decodePng(const void *bytes, size_t size, ImageColor color, Image &image,
               std::vector<uint8_t *> &rows, int &orientation,
               Failure &failure) {
  PngSource source{static_cast<const uint8_t *>(bytes), size};
  png_infop info = nullptr;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure,
                                           failPng, ignorePngWarning);
  if (png)
    info = png_create_info_struct(png);
  if (!info) {
    failure.set("out of memory");
    png_destroy_read_struct(&png, nullptr, nullptr);
    return false;
  }
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_read_struct(&png, &info, nullptr);
    return false;
  }
  png_set_read_fn(png, &source, readPngBytes);
  png_read_info(png, info);
  int type = png_get_color_type(png, info);
  if (png_get_bit_depth(png, info) == 16) {
    if (color == ImageColor::Native) // Caffe accepts bytes only
      png_error(png, "16 bits per sample are not supported");
    png_set_strip_16(png);
  }

  bool hasTransparency = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  bool isColored = (type & PNG_COLOR_MASK_COLOR) != 0;
  // A transparent colour adds a fourth channel, but a transparent gray does
  // not.
  bool hasAlpha =
      (type & PNG_COLOR_MASK_ALPHA) != 0 || (isColored && hasTransparency);
  bool keepsAlpha = hasAlpha && color == ImageColor::Native;
  bool isGray = color == ImageColor::Gray ||
                (color == ImageColor::Native && !isColored && !hasAlpha);

  if (type == PNG_COLOR_TYPE_PALETTE)
    png_set_palette_to_rgb(png);
  else if (!isColored)
    png_set_expand_gray_1_2_4_to_8(png);
  if (keepsAlpha && hasTransparency)
    png_set_tRNS_to_alpha(png);
  if (!keepsAlpha)
    png_set_strip_alpha(png);
  if (isGray && isColored)
    png_set_rgb_to_gray(png, 1, 0.299, 0.587);
  if (!isGray && !isColored)
    png_set_gray_to_rgb(png);
  if (!isGray)
    png_set_bgr(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);

  int channels = isGray ? 1 : keepsAlpha ? 4 : 3;
  uint32_t height = png_get_image_height(png, info);
  if (!allocatePixels(image, channels, height, png_get_image_width(png, info)))
    png_error(png, "the image is too large");
  size_t rowBytes = size_t(image.width) * channels;
  if (png_get_rowbytes(png, info) != rowBytes)
    png_error(png, "unexpected row size");
  rows.resize(height);
  for (uint32_t y = 0; y < height; ++y)
    rows[y] = image.pixels.data() + rowBytes * y;
  png_read_image(png, rows.data());
  png_read_end(png, info);
  orientation = pngOrientation(png, info);
  png_destroy_read_struct(&png, &info, nullptr);
  return true;
}

/// Decodes a file that is neither JPEG nor PNG.
void decodeOtherFormat(const void *bytes, size_t size, ImageColor color,
                       const std::string &where, Image &image) {
  const char *found = imageFormatName(bytes, size);
  const std::string_view format = found ? found : "";
  if (format == "BMP") {
    decodeBmp(bytes, size, where, image);
  } else if (format == "PBM" || format == "PGM" || format == "PPM") {
    bool has16Bits = false;
    decodePnm(bytes, size, where, image, has16Bits);
    if (has16Bits && color == ImageColor::Native) // as in decodePng()
      throw badInput(where + ": cannot decode the image: 16 bits per sample "
                             "are not supported");
  } else if (format == "TIFF") {
    bool has16Bits = false;
    int orientation = 1;
    decodeTiff(bytes, size, where, image, has16Bits, orientation);
    if (has16Bits && color == ImageColor::Native) // as in decodePng()
      throw badInput(where + ": cannot decode the image: 16 bits per sample "
                             "are not supported");
    if (color != ImageColor::Native)
      applyOrientation(orientation, image);
  } else if (format == "WebP") {
    decodeWebP(bytes, size, where, image);
  } else if (found) {
    throw badInput(where + ": " + found +
                   " images are not read; convert it to PNG or JPEG");
  } else {
    throw badInput(where + ": the encoded image is not JPEG, PNG, BMP, PBM, "
                           "PGM, PPM, TIFF or WebP");
  }
  convertChannels(image, color);
}

} // namespace

void decodeImage(const void *bytes, size_t size, ImageColor color,
                 const std::string &where, Image &image) {
  const auto *head = static_cast<const uint8_t *>(bytes);
  Failure failure;
  failure.set("damaged");
  bool isDecoded;
  if (size >= 3 && head[0] == 0xff && head[1] == 0xd8 && head[2] == 0xff) {
    std::vector<uint8_t> row;
    isDecoded = decodeJpeg(bytes, size, color, image, row, failure);
    // OpenCV does not rotate images that are read as stored.
    if (isDecoded && color != ImageColor::Native)
      applyOrientation(jpegOrientation(bytes, size), image);
  } else if (size >= 8 && png_sig_cmp(head, 0, 8) == 0) {
    std::vector<uint8_t *> rows;
    int orientation = 1;
    isDecoded =
        decodePng(bytes, size, color, image, rows, orientation, failure);
    if (isDecoded && color != ImageColor::Native)
      applyOrientation(orientation, image);
  } else {
    decodeOtherFormat(bytes, size, color, where, image);
    return;
  }
  if (!isDecoded)
    throw badInput(where + ": cannot decode the image: " + failure.text);
}

} // namespace brew::formats
