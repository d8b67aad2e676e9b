//===- WindowFile.cpp - Regions of images, for WindowData -----------------===//
#include "formats/WindowFile.h"

#include "formats/ExpectedFile.h"
#include "formats/image/ImageFile.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <cctype>
#include <charconv>
#include <string_view>

namespace brew::formats {
namespace {

/// Reads the words of a text and counts its lines. `expected` names the
/// expected word in errors.
class WordReader {
public:
  WordReader(const std::string &path, std::string bytes)
      : path(path), text(std::move(bytes)) {}

  bool atEnd() {
    skipSpace();
    return position == text.size();
  }
  size_t line() const { return lineNumber; }

  std::string_view nextWord(const char *expected) {
    if (atEnd())
      fail(std::string("ends where ") + expected + " is expected");
    const size_t begin = position;
    while (position < text.size() && !isSpace(text[position]))
      ++position;
    return std::string_view(text).substr(begin, position - begin);
  }

  int nextInteger(const char *expected) {
    std::string_view word = nextWord(expected);
    const std::string_view originalWord = word;
    if (word.size() > 1 && word[0] == '+')
      word.remove_prefix(1);
    int value = 0;
    const char *end = word.data() + word.size();
    auto [stop, status] = std::from_chars(word.data(), end, value);
    if (status != std::errc() || stop != end)
      fail("'" + std::string(originalWord) + "' is not an integer; " +
           expected + " is expected");
    return value;
  }

  float nextReal(const char *expected) {
    const std::string_view word = nextWord(expected);
    const std::optional<float> value = parseFloat(word);
    if (!value)
      fail("'" + std::string(word) + "' is not a number; " + expected +
           " is expected");
    return *value;
  }

  [[noreturn]] void fail(const std::string &text) const {
    throw badInput(path + ":" + std::to_string(lineNumber) + ": " + text);
  }

private:
  static bool isSpace(char c) {
    return std::isspace(static_cast<unsigned char>(c));
  }
  void skipSpace() {
    for (; position < text.size() && isSpace(text[position]); ++position)
      lineNumber += text[position] == '\n';
  }

  const std::string &path;
  std::string text;
  size_t position = 0, lineNumber = 1;
};

/// Maximum magnitude of a coordinate: larger than any image, and so small that
/// sums of coordinates cannot overflow.
constexpr int kMaxCoordinate = 1 << 24;

Window readWindow(WordReader &words) {
  Window window;
  window.label = words.nextInteger("a window's label");
  window.line = words.line();
  window.overlap = words.nextReal("a window's overlap");
  window.x1 = words.nextInteger("a window's x1");
  window.y1 = words.nextInteger("a window's y1");
  window.x2 = words.nextInteger("a window's x2");
  window.y2 = words.nextInteger("a window's y2");
  if (window.x2 < window.x1 || window.y2 < window.y1)
    words.fail("the window " + window.text() +
               " ends before it begins; the order is x1 y1 x2 y2");
  for (int bound : {window.x1, window.y1, window.x2, window.y2})
    if (bound < -kMaxCoordinate || bound > kMaxCoordinate)
      words.fail("the window " + window.text() + " lies beyond any image");
  return window;
}

} // namespace

std::string Window::text() const {
  return "from (" + std::to_string(x1) + ", " + std::to_string(y1) + ") to (" +
         std::to_string(x2) + ", " + std::to_string(y2) + ")";
}

std::vector<WindowImage> readWindowFile(const std::string &path) {
  refuseOtherKind(path, textFileOf("a window file", "images and windows"));
  WordReader words(path, readFileBytes(path, "window file"));
  std::vector<WindowImage> images;
  while (!words.atEnd()) {
    if (const std::string_view mark = words.nextWord("'#'"); mark != "#")
      words.fail("'" + std::string(mark) +
                 "' is found where '#' and an image's number are expected; is "
                 "the number of windows before it right?");
    const int index = words.nextInteger("an image's number");
    if (index != static_cast<int>(images.size()))
      words.fail("the image has number " + std::to_string(index) +
                 "; images are numbered from 0 in their order, so " +
                 std::to_string(images.size()) + " is expected");
    WindowImage image;
    image.name = std::string(words.nextWord("an image's file"));
    image.line = words.line();
    image.channels = words.nextInteger("an image's channels");
    image.height = words.nextInteger("an image's height");
    image.width = words.nextInteger("an image's width");
    if (image.channels < 1 || image.height < 1 || image.width < 1)
      words.fail("an image of " + std::to_string(image.channels) + "x" +
                 std::to_string(image.height) + "x" +
                 std::to_string(image.width));
    const int count = words.nextInteger("the number of windows");
    if (count < 0)
      words.fail("the number of windows is " + std::to_string(count));
    for (int i = 0; i < count; ++i)
      image.windows.push_back(readWindow(words));
    images.push_back(std::move(image));
  }
  if (images.empty())
    throw badInput(path + ": the window file is empty");
  return images;
}

} // namespace brew::formats
