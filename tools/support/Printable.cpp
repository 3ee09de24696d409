// Text of a model, as a terminal may show it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Printable.h"

#include "tools/support/Error.h"

namespace convoy::tools {

// Bytes of the character that begins at `at`; 0 if that is no UTF-8.
static size_t lengthOfCharacter(const std::string &text, size_t at) {
  auto byte = [&](size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  unsigned first = byte(0);
  size_t length = first < 0x80                    ? 1
                  : first >= 0xc2 && first < 0xe0 ? 2
                  : first >= 0xe0 && first < 0xf0 ? 3
                  : first >= 0xf0 && first < 0xf5 ? 4
                                                  : 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  // Longer forms of characters that have a shorter one, and halves of UTF-16.
  bool isOverlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  bool isNone = (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return isOverlong || isNone ? 0 : length;
}

std::string printable(const std::string &text) {
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    auto first = static_cast<unsigned char>(text[at]);
    size_t length = lengthOfCharacter(text, at);
    bool isControl =
        first < 0x20 || first == 0x7f ||
        (first == 0xc2 && length == 2 && static_cast<unsigned char>(text[at + 1]) < 0xa0);
    if (length > 0 && !isControl) {
      shown.append(text, at, length);
      at += length;
      continue;
    }
    size_t end = at + (length > 0 ? length : 1);
    for (; at < end; ++at)
      shown += text[at] == '\n' ? "\\n" : format("\\x%02x", static_cast<unsigned char>(text[at]));
  }
  return shown;
}

std::string printableLines(const std::string &text) {
  std::string shown;
  for (size_t at = 0;;) {
    size_t end = text.find('\n', at);
    shown += printable(text.substr(at, end - at));
    if (end == std::string::npos)
      return shown;
    shown += '\n';
    at = end + 1;
  }
}

} // namespace convoy::tools
