//===- GifEncoder.cpp - Encoder of animated GIFs --------------------------===//

#include "extras/reinforcement/GifEncoder.h"

#include "support/Error.h"

#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace brew::reinforcement {
namespace {

/// A rectangle of pixels; right and bottom are exclusive.
struct Area {
  int left, top, right, bottom;
};

/// Returns the bounding box of the pixels that differ from the previous
/// picture.
Area changedArea(const formats::Image &picture, const formats::Image &last) {
  if (last.pixels.empty())
    return {0, 0, picture.width, picture.height};
  Area area = {picture.width, picture.height, 0, 0};
  const std::uint8_t *current = picture.pixels.data(),
                     *previous = last.pixels.data();
  for (int y = 0; y < picture.height; ++y)
    for (int x = 0; x < picture.width; ++x, current += 3, previous += 3) {
      if (std::equal(current, current + 3, previous))
        continue;
      area.left = std::min(area.left, x);
      area.top = std::min(area.top, y);
      area.right = std::max(area.right, x + 1);
      area.bottom = std::max(area.bottom, y + 1);
    }
  // GIF cannot encode an empty image: repeat the first pixel.
  return area.right ? area : Area{0, 0, 1, 1};
}

/// The number of shades of red, green and blue. reduceColours() uses the first
/// entry of kShades that yields at most 256 colours. All preserve black and
/// white.
struct Shades {
  int red, green, blue;
};
constexpr Shades kShades[] = {
    {256, 256, 256}, {64, 64, 64}, {32, 32, 32}, {16, 16, 16}, {8, 8, 4}};

std::uint32_t roundToShade(std::uint8_t value, int shades) {
  const int steps = shades - 1;
  return static_cast<std::uint32_t>(
      ((value * steps + 127) / 255 * 255 + steps / 2) / steps);
}

/// The palette of an area and the palette index of each pixel.
struct IndexedPicture {
  std::vector<std::uint32_t> colours; ///< 0xRRGGBB
  std::vector<GifByteType> pixels;
};

IndexedPicture reduceColours(const formats::Image &picture, const Area &area,
                             const Shades *shades = kShades) {
  IndexedPicture result;
  std::map<std::uint32_t, GifByteType> indices;
  for (int y = area.top; y < area.bottom; ++y)
    for (int x = area.left; x < area.right; ++x) {
      const std::uint8_t *pixel =
          picture.pixels.data() +
          3 * (static_cast<std::size_t>(y) * picture.width + x);
      const std::uint32_t colour = roundToShade(pixel[2], shades->red) << 16 |
                                   roundToShade(pixel[1], shades->green) << 8 |
                                   roundToShade(pixel[0], shades->blue);
      auto found = indices.find(colour);
      if (found == indices.end()) {
        if (result.colours.size() == 256)
          return reduceColours(picture, area, shades + 1);
        found = indices
                    .emplace(colour,
                             static_cast<GifByteType>(result.colours.size()))
                    .first;
        result.colours.push_back(colour);
      }
      result.pixels.push_back(found->second);
    }
  return result;
}

} // namespace

struct GifEncoder::Library {
  std::string bytes;
  GifFileType *file = nullptr;

  ~Library() {
    if (file)
      EGifCloseFile(file, nullptr);
  }
  [[noreturn]] void fail(int error) const {
    const char *reason = GifErrorString(error);
    throw unavailable(std::string("giflib cannot encode the pictures: ") +
                      (reason ? reason : "unknown failure"));
  }
  void check(int status) const {
    if (status != GIF_OK)
      fail(file->Error);
  }
  static int append(GifFileType *gif, const GifByteType *data, int size) {
    try {
      static_cast<Library *>(gif->UserData)
          ->bytes.append(reinterpret_cast<const char *>(data),
                         static_cast<std::size_t>(size));
      return size;
    } catch (...) { // out of memory: giflib reports the short write
      return 0;
    }
  }
  struct Palette {
    explicit Palette(const std::vector<std::uint32_t> &colours) {
      int size = 2; // a power of two
      while (size < static_cast<int>(colours.size()))
        size *= 2;
      map = GifMakeMapObject(size, nullptr);
      for (std::size_t i = 0; map && i < colours.size(); ++i)
        map->Colors[i] = {static_cast<GifByteType>(colours[i] >> 16),
                          static_cast<GifByteType>(colours[i] >> 8 & 255),
                          static_cast<GifByteType>(colours[i] & 255)};
    }
    ~Palette() { GifFreeMapObject(map); }
    ColorMapObject *map;
  };
};

GifEncoder::GifEncoder(int width, int height)
    : library(std::make_unique<Library>()) {
  int error = 0;
  library->file = EGifOpen(library.get(), Library::append, &error);
  if (!library->file)
    library->fail(error);
  EGifSetGifVersion(library->file, true); // 89a, which has animations
  library->check(
      EGifPutScreenDesc(library->file, width, height, 8, 0, nullptr));
  // A block of type 1 with the number of repetitions; 0 is forever.
  constexpr unsigned char kRepetitions[] = {1, 0, 0};
  library->check(
      EGifPutExtensionLeader(library->file, APPLICATION_EXT_FUNC_CODE));
  library->check(EGifPutExtensionBlock(library->file, 11, "NETSCAPE2.0"));
  library->check(
      EGifPutExtensionBlock(library->file, sizeof kRepetitions, kRepetitions));
  library->check(EGifPutExtensionTrailer(library->file));
}

GifEncoder::~GifEncoder() = default;

void GifEncoder::add(const formats::Image &picture, int hundredths) {
  const Area area = changedArea(picture, last);
  IndexedPicture indexed = reduceColours(picture, area);
  const Library::Palette palette(indexed.colours);
  if (!palette.map)
    throw std::bad_alloc();
  GraphicsControlBlock control{};
  control.DisposalMode = DISPOSE_DO_NOT; // the next picture is drawn over it
  control.DelayTime = hundredths;
  control.TransparentColor = NO_TRANSPARENT_COLOR;
  GifByteType block[4];
  const auto size = static_cast<int>(EGifGCBToExtension(&control, block));
  library->check(
      EGifPutExtension(library->file, GRAPHICS_EXT_FUNC_CODE, size, block));
  const int width = area.right - area.left, height = area.bottom - area.top;
  library->check(EGifPutImageDesc(library->file, area.left, area.top, width,
                                  height, false, palette.map));
  for (int y = 0; y < height; ++y)
    library->check(EGifPutLine(
        library->file,
        indexed.pixels.data() + static_cast<std::size_t>(y) * width, width));
  last = picture;
}

std::string GifEncoder::finish() {
  int error = 0;
  if (EGifCloseFile(std::exchange(library->file, nullptr), &error) != GIF_OK)
    library->fail(error);
  return std::move(library->bytes);
}

} // namespace brew::reinforcement
