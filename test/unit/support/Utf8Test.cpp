//===- Utf8Test.cpp -------------------------------------------------------===//
#include "support/Utf8.h"
#include "support/InvalidUtf8.h"

#include <gtest/gtest.h>

#include <random>

using namespace brew;

namespace {

TEST(Utf8, FindsFirstInvalidByte) {
  for (const char *text :
       {"", "plain", "caf\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9f\x98\x80",
        "\xed\x9f\xbf\xee\x80\x80", "\xf4\x8f\xbf\xbf", "\xef\xbf\xbd"})
    EXPECT_FALSE(brew::findInvalidUtf8(text)) << text;
  const std::pair<const char *, std::size_t> invalid[] = {
      {"caf\xe9", 3},
      {"\xc3\xa9\xe9t\xe9", 2},
      {"a\xc3", 1},
      {"a\xc3z", 1},
      {"\x80", 0},
      {"\xc0\x80", 0},
      {"\xc1\xbf", 0},
      {"\xe0\x9f\xbf", 0},
      {"\xed\xa0\x80", 0},
      {"a\xe4\xb8", 1},
      {"\xf0\x8f\xbf\xbf", 0},
      {"\xf4\x90\x80\x80", 0},
      {"\xf5\x80\x80\x80", 0},
      {"ab\xff", 2},
  };
  for (const auto &[text, position] : invalid)
    EXPECT_EQ(brew::findInvalidUtf8(text), position) << text;
}

TEST(Utf8, AgreesWithReplaceInvalidUtf8) {
  // Bytes at the limits of the ranges that UTF-8 distinguishes.
  const unsigned char bytes[] = {'a',  0x7f, 0x80, 0x8f, 0x90, 0x9f,
                                 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0,
                                 0xe1, 0xed, 0xef, 0xf0, 0xf4, 0xf5};
  std::mt19937 random(1);
  int valid = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t i = 1 + random() % 4; i > 0; --i)
      text += static_cast<char>(bytes[random() % std::size(bytes)]);
    const auto found = brew::findInvalidUtf8(text);
    EXPECT_EQ(!found, brew::replaceInvalidUtf8(text) == text) << text;
    if (found) {
      EXPECT_FALSE(brew::findInvalidUtf8(text.substr(0, *found))) << text;
    }
    valid += !found;
  }
  EXPECT_GT(valid, 200);
}

} // namespace
