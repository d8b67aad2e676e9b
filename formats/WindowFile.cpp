//===- WindowFile.cpp - Regions of images, for WindowData -----------------===//
#include "formats/WindowFile.h"

#include "formats/image/ImageFile.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <cctype>
#include <charconv>
#include <string_view>

namespace brew::formats {
namespace {

/// The words of a text, with their line numbers.
class Words {
public:
  Words(const std::string &path, std::string bytes)
      : path(path), text(std::move(bytes)) {}

  bool atEnd() {
    skipSpace();
    return at == text.size();
  }
  size_t line() const { return number; }

  std::string_view next(const char *what) {
    if (atEnd())
      fail(std::string("ends where ") + what + " is expected");
    const size_t begin = at;
    while (at < text.size() && !isSpace(text[at]))
      ++at;
    return std::string_view(text).substr(begin, at - begin);
  }

  int integer(const char *what) {
    std::string_view word = next(what);
    const std::string_view whole = word;
    if (word.size() > 1 && word[0] == '+')
      word.remove_prefix(1);
    int value = 0;
    const char *end = word.data() + word.size();
    auto [stop, status] = std::from_chars(word.data(), end, value);
    if (status != std::errc() || stop != end)
      fail("'" + std::string(whole) + "' is no integer; " + what +
           " is expected");
    return value;
  }

  float real(const char *what) {
    const std::string_view word = next(what);
    const std::optional<float> value = parseFloat(word);
    if (!value)
      fail("'" + std::string(word) + "' is no number; " + what +
           " is expected");
    return *value;
  }

  [[noreturn]] void fail(const std::string &text) const {
    throw badInput(path + ":" + std::to_string(number) + ": " + text);
  }

private:
  static bool isSpace(char c) {
    return std::isspace(static_cast<unsigned char>(c));
  }
  void skipSpace() {
    for (; at < text.size() && isSpace(text[at]); ++at)
      number += text[at] == '\n';
  }

  const std::string &path;
  std::string text;
  size_t at = 0, number = 1;
};

/// Maximum coordinate: beyond any image; sums of coordinates cannot overflow.
constexpr int kFarthest = 1 << 24;

Window readWindow(Words &words) {
  Window window;
  window.label = words.integer("a window's label");
  window.line = words.line();
  window.overlap = words.real("a window's overlap");
  window.x1 = words.integer("a window's x1");
  window.y1 = words.integer("a window's y1");
  window.x2 = words.integer("a window's x2");
  window.y2 = words.integer("a window's y2");
  if (window.x2 < window.x1 || window.y2 < window.y1)
    words.fail("the window " + window.text() +
               " ends before it begins; the order is x1 y1 x2 y2");
  for (int bound : {window.x1, window.y1, window.x2, window.y2})
    if (bound < -kFarthest || bound > kFarthest)
      words.fail("the window " + window.text() + " lies beyond any image");
  return window;
}

} // namespace

std::string Window::text() const {
  return "from (" + std::to_string(x1) + ", " + std::to_string(y1) + ") to (" +
         std::to_string(x2) + ", " + std::to_string(y2) + ")";
}

std::vector<WindowImage> readWindowFile(const std::string &path) {
  Words words(path, readFileBytes(path, "window file"));
  std::vector<WindowImage> images;
  while (!words.atEnd()) {
    if (const std::string_view mark = words.next("'#'"); mark != "#")
      words.fail("'" + std::string(mark) +
                 "' stands where '#' and an image's number are expected; is "
                 "the number of windows before it right?");
    const int index = words.integer("an image's number");
    if (index != static_cast<int>(images.size()))
      words.fail("the image has number " + std::to_string(index) +
                 "; images are numbered from 0 in their order, so " +
                 std::to_string(images.size()) + " is expected");
    WindowImage image;
    image.name = std::string(words.next("an image's file"));
    image.line = words.line();
    image.channels = words.integer("an image's channels");
    image.height = words.integer("an image's height");
    image.width = words.integer("an image's width");
    if (image.channels < 1 || image.height < 1 || image.width < 1)
      words.fail("an image of " + std::to_string(image.channels) + "x" +
                 std::to_string(image.height) + "x" +
                 std::to_string(image.width));
    const int count = words.integer("the number of windows");
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
