//===- ImageEncode.cpp - Encoding of JPEG and PNG -------------------------===//
//
// libjpeg and libpng report errors by longjmp, which skips destructors.
// Therefore, functions that call setjmp have no locals with destructors.
//
//===----------------------------------------------------------------------===//
#include "formats/image/ImageEncode.h"

#include "support/Error.h"

#include <algorithm>
#include <cctype>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

namespace brew::formats {
namespace {

struct JpegWriteError {
  jpeg_error_mgr base; // must be first: libjpeg returns a pointer to it
  std::jmp_buf escape;
};

[[noreturn]] void failJpegWrite(j_common_ptr info) {
  std::longjmp(reinterpret_cast<JpegWriteError *>(info->err)->escape, 1);
}

void ignoreJpegMessage(j_common_ptr, int) {}

/// An encoded image in memory that libjpeg allocated.
struct JpegBytes {
  unsigned char *data = nullptr;
  unsigned long size = 0;
  ~JpegBytes() { std::free(data); }
};

bool encodeJpeg(const Image &image, int quality, JpegBytes &bytes) {
  jpeg_compress_struct info = {};
  JpegWriteError error;
  info.err = jpeg_std_error(&error.base);
  error.base.error_exit = failJpegWrite;
  error.base.emit_message = ignoreJpegMessage;
  if (setjmp(error.escape)) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &bytes.data, &bytes.size);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = image.channels;
  info.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_EXT_BGR;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  const size_t rowBytes = size_t(image.width) * image.channels;
  while (info.next_scanline < info.image_height) {
    auto *row = const_cast<JSAMPLE *>(image.pixels.data() +
                                      rowBytes * info.next_scanline);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

void appendPngBytes(png_structp png, png_bytep bytes, png_size_t size) {
  static_cast<std::string *>(png_get_io_ptr(png))
      ->append(reinterpret_cast<const char *>(bytes), size);
}
void flushPng(png_structp) {}
[[noreturn]] void failPngWrite(png_structp png, png_const_charp) {
  png_longjmp(png, 1);
}
void ignorePngWriteWarning(png_structp, png_const_charp) {}

bool encodePng(const Image &image, std::string &bytes) {
  png_infop info = nullptr;
  png_structp png = png_create_write_struct(
      PNG_LIBPNG_VER_STRING, nullptr, failPngWrite, ignorePngWriteWarning);
  if (png)
    info = png_create_info_struct(png);
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return false;
  }
  png_set_write_fn(png, &bytes, appendPngBytes, flushPng);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
  png_set_compression_level(png, Z_BEST_SPEED);
  png_set_compression_strategy(png, Z_RLE);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), 8,
               image.channels == 1   ? PNG_COLOR_TYPE_GRAY
               : image.channels == 3 ? PNG_COLOR_TYPE_RGB
                                     : PNG_COLOR_TYPE_RGBA,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_set_bgr(png);
  const size_t rowBytes = size_t(image.width) * image.channels;
  for (int y = 0; y < image.height; ++y)
    png_write_row(png, image.pixels.data() + rowBytes * y);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return true;
}

} // namespace

std::optional<ImageFormat> imageFormatOf(const std::string &extension) {
  std::string name = extension;
  if (!name.empty() && name[0] == '.')
    name.erase(0, 1);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  if (name == "png")
    return ImageFormat::Png;
  if (name == "jpg" || name == "jpeg" || name == "jpe")
    return ImageFormat::Jpeg;
  return std::nullopt;
}

std::string encodeImage(const Image &image, ImageFormat format, int quality) {
  const bool isJpeg = format == ImageFormat::Jpeg;
  if (image.channels != 1 && image.channels != 3 &&
      (isJpeg || image.channels != 4))
    throw badInput("an image of " + std::to_string(image.channels) +
                   " channels cannot be encoded");
  if (isJpeg) {
    JpegBytes bytes;
    if (!encodeJpeg(image, quality, bytes))
      throw unavailable("libjpeg cannot encode the image");
    return {reinterpret_cast<const char *>(bytes.data), bytes.size};
  }
  std::string bytes;
  if (!encodePng(image, bytes))
    throw unavailable("libpng cannot encode the image");
  return bytes;
}

} // namespace brew::formats
