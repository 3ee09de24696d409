// The command line of a tool: a table of options that parses itself and prints its own help.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_SUPPORT_OPTIONS_H
#define CONVOY_TOOLS_SUPPORT_OPTIONS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace convoy::tools {

/// `--name value`, `--name=value` and, without a value, `--name`. Words without dashes go to the
/// positional handler; `--` ends the options. `--help` and `--version` print and exit.
class Options {
public:
  using Handler = std::function<void(const std::string &value)>;

  /// `synopsis` follows "usage: "; `description` stands above the options, `epilog` below.
  Options(std::string synopsis, std::string description, std::string epilog = "");

  void section(std::string title);
  /// An option with a value. `help` may have several lines.
  void value(std::string name, std::string valueName, std::string help, Handler handler);
  void flag(std::string name, std::string help, bool &target);
  void positional(Handler handler) { onWord = std::move(handler); }

  void parse(int argc, char **argv) const;

  /// A whole number within bounds; throws UsageError naming the option otherwise.
  static int64_t integer(const std::string &option, const std::string &text, int64_t least,
                         int64_t most);
  static double number(const std::string &option, const std::string &text);

private:
  struct Option {
    std::string name, valueName, help;
    Handler handler;
  };

  void printHelp() const;

  std::string synopsis, description, epilog;
  std::vector<Option> options;
  Handler onWord;
};

} // namespace convoy::tools

#endif // CONVOY_TOOLS_SUPPORT_OPTIONS_H
