// Tests of the tools' command lines and of their JSON.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Error.h"
#include "tools/support/Json.h"
#include "tools/support/Options.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace convoy::tools;

namespace {

struct Parsed {
  std::vector<std::string> words, values;
  bool flag = false;
};

Parsed parse(std::vector<const char *> arguments) {
  Parsed parsed;
  Options options("test", "");
  options.value("value", "V", "", [&](const std::string &v) { parsed.values.push_back(v); });
  options.flag("flag", "", parsed.flag);
  options.positional([&](const std::string &word) { parsed.words.push_back(word); });
  arguments.insert(arguments.begin(), "test");
  options.parse(int(arguments.size()), const_cast<char **>(arguments.data()));
  return parsed;
}

using Strings = std::vector<std::string>;

TEST(Options, TakesAllSpellings) {
  Parsed parsed = parse({"a", "--value", "1", "--value=2", "-value", "3", "--value=", "-", "--flag"});
  EXPECT_EQ(parsed.words, (Strings{"a", "-"}));
  EXPECT_EQ(parsed.values, (Strings{"1", "2", "3", ""}));
  EXPECT_TRUE(parsed.flag);
  EXPECT_EQ(parse({"--", "--flag"}).words, Strings{"--flag"});
  EXPECT_EQ(parse({"--value", "x=y=z"}).values, Strings{"x=y=z"});
}

TEST(Options, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(parse({"--other"}), UsageError);
  EXPECT_THROW(parse({"--flag=1"}), UsageError);
  EXPECT_THROW(parse({"--value"}), UsageError);
  EXPECT_THROW(parse({"--val", "1"}), UsageError);
}

TEST(Options, Numbers) {
  EXPECT_EQ(Options::integer("n", "12", 1, 12), 12);
  for (const char *text : {"", "0", "13", "1x", "1.5", "99999999999999999999"})
    EXPECT_THROW(Options::integer("n", text, 1, 12), UsageError) << text;
  EXPECT_EQ(Options::number("x", "1e-4"), 1e-4);
  for (const char *text : {"", "x", "1e-4x", "nan", "inf"})
    EXPECT_THROW(Options::number("x", text), UsageError) << text;
}

TEST(Json, Nests) {
  Json json;
  json.open('{').member("a", 1).key("b").open('[').value("x\"\n").value(NAN).close();
  json.key("c").open('[').close().key("d").open('{').close().close();
  EXPECT_EQ(json.text(), "{\n  \"a\": 1,\n  \"b\": [\n    \"x\\\"\\u000a\",\n    null\n  ],\n"
                         "  \"c\": [],\n  \"d\": {}\n}\n");
}

} // namespace
