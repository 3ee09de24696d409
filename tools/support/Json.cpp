// Writes JSON text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Json.h"

#include "tools/support/Error.h"

#include <cmath>

namespace convoy::tools {

void Json::separate() {
  if (afterKey) {
    afterKey = false;
    return;
  }
  if (brackets.empty())
    return;
  if (!first)
    out += ',';
  out += '\n' + std::string(brackets.size() * 2, ' ');
  first = false;
}

Json &Json::raw(const std::string &text) {
  separate();
  out += text;
  return *this;
}

Json &Json::open(char bracket) {
  separate();
  out += bracket;
  brackets += bracket == '{' ? '}' : ']';
  first = true;
  return *this;
}

Json &Json::close() {
  char bracket = brackets.back();
  brackets.pop_back();
  if (!first)
    out += '\n' + std::string(brackets.size() * 2, ' ');
  out += bracket;
  first = false;
  return *this;
}

Json &Json::key(const std::string &name) {
  separate();
  out += quoted(name) + ": ";
  afterKey = true;
  return *this;
}

Json &Json::value(const std::string &text) { return raw(quoted(text)); }

Json &Json::value(double number) {
  // JSON has no infinities and no NaN.
  return raw(std::isfinite(number) ? format("%.9g", number) : "null");
}

std::string Json::quoted(const std::string &text) {
  std::string result = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', char(c)};
    else if (c < 32)
      result += format("\\u%04x", c);
    else
      result += char(c);
  }
  return result + '"';
}

} // namespace convoy::tools
