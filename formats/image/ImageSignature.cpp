//===- ImageSignature.cpp - Names of image formats ------------------------===//
#include "formats/image/ImageSignature.h"

#include <algorithm>
#include <string_view>

namespace brew::formats {
namespace {

using namespace std::string_view_literals;

/// Bytes at an offset of a file that identify its format.
struct Signature {
  const char *format;
  std::size_t offset;
  std::string_view bytes;
};

constexpr Signature kSignatures[] = {
    {"JPEG", 0, "\xff\xd8\xff"sv},
    {"PNG", 0, "\x89PNG\r\n\x1a\n"sv},
    {"GIF", 0, "GIF8"sv},
    {"TIFF", 0, "II*\0"sv},
    {"TIFF", 0, "MM\0*"sv},
    {"WebP", 8, "WEBP"sv},
    {"JPEG 2000", 0, "\0\0\0\x0cjP  \r\n\x87\n"sv},
    {"JPEG 2000", 0, "\xff\x4f\xff\x51"sv},
    {"OpenEXR", 0, "\x76\x2f\x31\x01"sv},
    {"Radiance HDR", 0, "#?RADIANCE\n"sv},
    {"Sun raster", 0, "\x59\xa6\x6a\x95"sv},
    {"PSD", 0, "8BPS"sv},
    {"AVIF", 4, "ftypavif"sv},
    {"HEIC", 4, "ftypheic"sv},
    {"HEIC", 4, "ftypheix"sv},
    {"HEIC", 4, "ftypmif1"sv},
};

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Returns whether the text begins with two numbers, after white space and
/// comments: the width and the height in a header of PBM, PGM or PPM.
bool beginsWithSize(std::string_view text) {
  for (int i = 0; i < 2; ++i) {
    const std::size_t sizeBefore = text.size();
    while (!text.empty() && (isSpace(text[0]) || text[0] == '#'))
      text.remove_prefix(text[0] == '#' ? std::min(text.find('\n'), text.size())
                                        : 1);
    const std::size_t digits =
        std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0 || text.size() == sizeBefore)
      return false;
    text.remove_prefix(digits);
  }
  return true;
}

} // namespace

const char *imageFormatName(const void *head, std::size_t size) {
  const std::string_view bytes(static_cast<const char *>(head), size);
  for (const Signature &signature : kSignatures)
    if (size >= signature.offset &&
        bytes.substr(signature.offset, signature.bytes.size()) ==
            signature.bytes &&
        // Text may have these letters; a container begins with RIFF or a size.
        (signature.offset == 0 || bytes.substr(0, 4) == "RIFF" ||
         bytes[0] == '\0'))
      return signature.format;
  // The signature "BM" is short. The four bytes from 14 on are the size of a
  // header, at least 12 and in practice below 256.
  if (size >= 18 && bytes.substr(0, 2) == "BM" && bytes[14] >= 12 &&
      bytes.substr(15, 3) == "\0\0\0"sv)
    return "BMP";
  if (size >= 3 && bytes[0] == 'P' && isSpace(bytes[2])) {
    constexpr const char *kNames[] = {"PBM", "PGM", "PPM"};
    if (bytes[1] >= '1' && bytes[1] <= '6' && beginsWithSize(bytes.substr(2)))
      return kNames[(bytes[1] - '1') % 3];
    if (bytes.substr(0, 9) == "P7\nWIDTH ")
      return "PAM";
    if ((bytes[1] == 'F' || bytes[1] == 'f') && beginsWithSize(bytes.substr(2)))
      return "PFM";
  }
  return nullptr;
}

} // namespace brew::formats
