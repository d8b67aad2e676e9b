//===- DatumFuzz.cpp - Fuzz entry: records of databases -------------------===//
#include "Fuzz.h"
#include "formats/AnnotatedDatum.h"
#include "formats/Datum.h"

using namespace brew;
using namespace brew::formats;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  const std::string_view bytes = fuzz::textOf(data, size);
  ImageRecord record;
  AnnotatedRecord annotated;
  for (const ImageColor color :
       {ImageColor::Native, ImageColor::Color, ImageColor::Gray}) {
    fuzz::attempt([&] { decodeDatum(bytes, color, "input", record); });
    fuzz::attempt(
        [&] { decodeAnnotatedDatum(bytes, color, "input", annotated); });
  }
  fuzz::attempt([&] { countObjects(bytes, "input"); });
  isAnnotatedDatum(bytes);
  labelOfDatum(bytes);
  return 0;
}
