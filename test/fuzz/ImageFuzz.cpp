//===- ImageFuzz.cpp - Fuzz entry: files of images ------------------------===//
#include "Fuzz.h"
#include "formats/image/Exif.h"
#include "formats/image/ImageDecode.h"
#include "formats/image/ImageResize.h"

using namespace brew;
using namespace brew::formats;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  Image image, resized;
  for (const ImageColor color :
       {ImageColor::Native, ImageColor::Color, ImageColor::Gray})
    fuzz::attempt([&] {
      decodeImage(data, size, color, "input", image);
      resizeImage(image, 7, 5, resized);
    });
  applyOrientation(jpegOrientation(data, size), resized);
  return 0;
}
