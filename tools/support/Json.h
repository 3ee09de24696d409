// Writes JSON text, with commas and quotes where they belong.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_SUPPORT_JSON_H
#define CONVOY_TOOLS_SUPPORT_JSON_H

#include <cstdint>
#include <string>

namespace convoy::tools {

/// json.open('{'); json.key("runs").value(3); json.close(); json.text() == "{\"runs\": 3}\n"
class Json {
public:
  Json &open(char bracket);
  Json &close();
  Json &key(const std::string &name);
  Json &value(const std::string &text);
  Json &value(const char *text) { return value(std::string(text ? text : "")); }
  Json &value(double number);
  Json &value(int64_t number) { return raw(std::to_string(number)); }
  Json &value(uint64_t number) { return raw(std::to_string(number)); }
  Json &value(int number) { return raw(std::to_string(number)); }
  Json &value(uint32_t number) { return raw(std::to_string(number)); }
  Json &value(bool yes) { return raw(yes ? "true" : "false"); }
  template <typename T> Json &member(const std::string &name, T thing) {
    return key(name).value(thing);
  }

  std::string text() const { return out + "\n"; }

private:
  void separate();
  Json &raw(const std::string &text);
  static std::string quoted(const std::string &text);

  std::string out, brackets;
  bool first = true, afterKey = false;
};

} // namespace convoy::tools

#endif // CONVOY_TOOLS_SUPPORT_JSON_H
