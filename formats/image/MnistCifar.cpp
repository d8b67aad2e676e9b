//===- MnistCifar.cpp - Published files of MNIST and CIFAR-10 -------------===//
#include "formats/image/MnistCifar.h"

#include "formats/ExpectedFile.h"
#include "support/Error.h"

#include <cstdio>

namespace brew::formats {
namespace {

// Magic numbers of IDX files of bytes with three dimensions and with one.
constexpr uint32_t imageMagic = 0x803;
constexpr uint32_t labelMagic = 0x801;

uint32_t readBigEndian(InputFile &file, const std::string &subject) {
  uint8_t bytes[4];
  file.readExactly(bytes, 4, subject);
  return uint32_t(bytes[0]) << 24 | uint32_t(bytes[1]) << 16 |
         uint32_t(bytes[2]) << 8 | bytes[3];
}

void checkMagic(InputFile &file, uint32_t expected, const char *kind) {
  uint32_t magic = readBigEndian(file, "the header");
  if (magic == expected)
    return;
  refuseOtherKind(file.path(), idxFile());
  char text[96];
  std::snprintf(text, sizeof text,
                ": not an IDX file of %s: magic number 0x%08x, not 0x%08x",
                kind, magic, expected);
  throw badInput(file.path() + text);
}

} // namespace

MnistReader::MnistReader(const std::string &imagesPath,
                         const std::string &labelsPath, int classes)
    : images(imagesPath), labels(labelsPath), classes(classes) {
  checkMagic(images, imageMagic, "images");
  checkMagic(labels, labelMagic, "labels");
  total = readBigEndian(images, "the header");
  uint32_t labelCount = readBigEndian(labels, "the header");
  uint32_t height = readBigEndian(images, "the header");
  uint32_t width = readBigEndian(images, "the header");
  if (total != labelCount)
    throw badInput(imagesPath + " has " + std::to_string(total) +
                   " images, but " + labelsPath + " has " +
                   std::to_string(labelCount) + " labels");
  if (total == 0)
    throw badInput(imagesPath + ": contains no images");
  // The limit is far beyond real data sets and bounds the memory for an image
  // of a damaged file.
  if (height == 0 || width == 0 || height > 16384 || width > 16384)
    throw badInput(imagesPath + ": damaged: images of " +
                   std::to_string(height) + "x" + std::to_string(width));
  imageRows = static_cast<int>(height);
  imageColumns = static_cast<int>(width);
}

bool MnistReader::next(std::vector<uint8_t> &pixels, int &label) {
  if (readCount == total) {
    for (InputFile *file : {&images, &labels})
      if (!file->atEnd())
        throw badInput(file->path() + ": damaged: has more than the " +
                       std::to_string(total) + " entries it says");
    return false;
  }
  std::string name = std::to_string(readCount);
  pixels.resize(size_t(imageRows) * imageColumns);
  images.readExactly(pixels.data(), pixels.size(),
                     "image " + name + " of " + std::to_string(total));
  uint8_t byte;
  labels.readExactly(&byte, 1,
                     "label " + name + " of " + std::to_string(total));
  if (byte >= classes)
    throw badInput(labels.path() + ": label " + name + " is " +
                   std::to_string(byte) + ", outside [0, " +
                   std::to_string(classes) + ")");
  label = byte;
  ++readCount;
  return true;
}

bool CifarReader::next(std::array<uint8_t, imageBytes> &pixels, int &label) {
  std::string name = "record " + std::to_string(readCount);
  if (file.atEnd()) {
    if (readCount == 0)
      throw badInput(file.path() + ": empty file");
    return false;
  }
  uint8_t byte;
  file.readExactly(&byte, 1, name);
  if (byte > 9)
    throw badInput(
        file.path() + ": label of " + name + " is " + std::to_string(byte) +
        ", outside [0, 10)" +
        (readCount == 0 ? " (is this a CIFAR-10 binary batch?)" : ""));
  file.readExactly(pixels.data(), pixels.size(), name);
  label = byte;
  ++readCount;
  return true;
}

} // namespace brew::formats
