// The command line of a tool.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Options.h"

#include "convoy/convoy.h"
#include "tools/support/Error.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace convoy::tools {

// The name as it is written on a command line.
static std::string withDashes(const std::string &name) {
  return (name.size() == 1 ? "-" : "--") + name;
}

Options::Options(std::string synopsis, std::string description, std::string epilog)
    : synopsis(std::move(synopsis)), description(std::move(description)),
      epilog(std::move(epilog)) {}

void Options::section(std::string title) { options.push_back({"", "", std::move(title), {}}); }

void Options::value(std::string name, std::string valueName, std::string help, Handler handler) {
  options.push_back({std::move(name), std::move(valueName), std::move(help), std::move(handler)});
}

void Options::flag(std::string name, std::string help, bool &target) {
  options.push_back(
      {std::move(name), "", std::move(help), [&target](const std::string &) { target = true; }});
}

void Options::printHelp() const {
  constexpr size_t column = 24;
  printf("usage: %s\n\n%s\n", synopsis.c_str(), description.c_str());
  auto print = [&](const std::string &left, const std::string &help) {
    std::string line = "  " + left;
    size_t begin = 0;
    if (line.size() + 1 > column) {
      puts(line.c_str());
      line.clear();
    }
    while (begin <= help.size()) {
      size_t end = std::min(help.find('\n', begin), help.size());
      line.resize(column, ' ');
      printf("%s%s\n", line.c_str(), help.substr(begin, end - begin).c_str());
      line.clear();
      begin = end + 1;
    }
  };
  for (const Option &option : options) {
    if (option.name.empty())
      printf("\n%s:\n", option.help.c_str());
    else
      print(withDashes(option.name) +
                (option.valueName.empty() ? "" : " " + option.valueName),
            option.help);
  }
  print("--help", "print this and exit");
  print("--version", "print the version and exit");
  if (!epilog.empty())
    printf("\n%s\n", epilog.c_str());
}

// Text that a full disk or a closed pipe swallowed is an error here, too.
[[noreturn]] static void exitFlushed() {
  if (fflush(stdout) != 0 || ferror(stdout))
    throw Error("cannot write to standard output");
  exit(0);
}

void Options::parse(int argc, char **argv) const {
  bool onlyWords = false;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--" && !onlyWords) {
      onlyWords = true;
      continue;
    }
    if (onlyWords || word.size() < 2 || word[0] != '-') {
      if (!onWord)
        throw UsageError("unexpected argument '" + word + "'");
      onWord(word);
      continue;
    }
    if (word == "--help" || word == "-h") {
      printHelp();
      exitFlushed();
    }
    if (word == "--version") {
      printf("Convoy %d.%d.%d\n", CONVOY_VERSION_MAJOR, CONVOY_VERSION_MINOR, CONVOY_VERSION_PATCH);
      exitFlushed();
    }
    // LLVM's tools take one dash as well as two.
    std::string name = word.substr(word[1] == '-' ? 2 : 1), text;
    size_t equals = name.find('=');
    bool hasText = equals != std::string::npos;
    if (hasText) {
      text = name.substr(equals + 1);
      name.resize(equals);
    }
    const Option *found = nullptr;
    for (const Option &option : options)
      if (!option.name.empty() && option.name == name)
        found = &option;
    if (!found)
      throw UsageError("unknown option '" + word + "'");
    if (found->valueName.empty()) {
      if (hasText)
        throw UsageError(withDashes(name) + " takes no value");
    } else if (!hasText) {
      if (i + 1 == argc)
        throw UsageError(withDashes(name) + " needs a value: " + found->valueName);
      text = argv[++i];
    }
    found->handler(text);
  }
}

int64_t Options::integer(const std::string &option, const std::string &text, int64_t least,
                         int64_t most) {
  char *end = nullptr;
  errno = 0;
  long long result = strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || result < least || result > most)
    throw UsageError(format("--%s wants a whole number from %lld to %lld, not '%s'", option.c_str(),
                            (long long)least, (long long)most, text.c_str()));
  return result;
}

double Options::number(const std::string &option, const std::string &text) {
  char *end = nullptr;
  double result = strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(result))
    throw UsageError("--" + option + " wants a number, not '" + text + "'");
  return result;
}

} // namespace convoy::tools
