//===- PrintableTextTest.cpp - Text without control characters ------------===//
#include "support/PrintableText.h"

#include <gtest/gtest.h>

using brew::printableText;

TEST(PrintableText, EscapesControlCharacters) {
  EXPECT_EQ(printableText("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(printableText("\x1b[31mred\r\a"), "\\x1b[31mred\\x0d\\x07");
  EXPECT_EQ(printableText(std::string("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(printableText("caf\xc3\xa9 \xc2\x9b\xc2\xb5 \xe9\xc2"),
            "caf\xc3\xa9 \\x9b\xc2\xb5 \xe9\xc2");
  EXPECT_EQ(printableText(""), "");
}
