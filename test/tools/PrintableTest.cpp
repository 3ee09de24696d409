// What tools make of the names in a file before they show them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Printable.h"

#include "gtest/gtest.h"

using convoy::tools::printable;

namespace {

TEST(Printable, TextOfAnyLanguageStays) {
  for (const char *text : {"", "conv1/weights:0", "Stra\xc3\x9f"
                                                  "e",
                           "\xe7\x8c\xab", "\xf0\x9f\x90\x88", "\xc2\xa0", "a\\b"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatATerminalObeysDoesNot) {
  EXPECT_EQ(printable("a\nb"), "a\\nb");
  EXPECT_EQ(printable("\x1b[31mred\r\t\x7f"), "\\x1b[31mred\\x0d\\x09\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  // The second form of escape and bracket.
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
}

TEST(Printable, LinesOfAMessageStay) {
  EXPECT_EQ(convoy::tools::printableLines(""), "");
  EXPECT_EQ(convoy::tools::printableLines("a\x1b\nb\n"), "a\\x1b\nb\n");
}

TEST(Printable, WhatIsNoUtf8DoesNot) {
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xe7\x8c"), "\\xe7\\x8c");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");         // longer than it need be
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b"); // so is this
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80"); // half of UTF-16
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

} // namespace
