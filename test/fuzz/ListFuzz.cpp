//===- ListFuzz.cpp - Fuzz entry: lists of images, clips and others -------===//
#include "Fuzz.h"
#include "formats/BoostList.h"
#include "formats/WindowFile.h"
#include "formats/image/ClipList.h"
#include "formats/image/ImageList.h"

using namespace brew;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  const std::string file = fuzz::fileOf(data, size);
  fuzz::attempt([&] { formats::readImageList(file); });
  fuzz::attempt([&] { formats::readClipList(file, /*classCount=*/0); });
  fuzz::attempt([&] { formats::readClipList(file, /*classCount=*/4); });
  fuzz::attempt([&] { formats::readWindowFile(file); });
  fuzz::attempt([&] { formats::readBoostList(file); });
  return 0;
}
