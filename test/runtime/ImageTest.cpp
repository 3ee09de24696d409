// Flattening linked code, and what it refuses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/Image.h"
#include "test/runtime/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace convoy;
using namespace convoy::test;
using testing::HasSubstr;

namespace {

llvm::StringRef textOf(const std::vector<char> &bytes) { return {bytes.data(), bytes.size()}; }

std::string messageFor(const std::vector<char> &elf) {
  llvm::Expected<artifact::Image> image = artifact::flattenImage(textOf(elf));
  if (image) {
    ADD_FAILURE() << "it was accepted";
    return "";
  }
  return llvm::toString(image.takeError());
}

TEST(Image, HasTheSymbolsOfTheObject) {
  std::vector<char> elf = readFile(CONVOY_TEST_KERNELS);
  llvm::Expected<artifact::Image> image = artifact::flattenImage(textOf(elf));
  ASSERT_TRUE(static_cast<bool>(image)) << llvm::toString(image.takeError());
  // The tests read the same file by other code.
  EXPECT_EQ(image->bytes, testCode().bytes);
  ASSERT_EQ(image->symbols.size(), testCode().kernels.size());
  for (const artifact::Kernel &kernel : testCode().kernels) {
    ASSERT_EQ(image->symbols.count(kernel.name), 1u) << kernel.name;
    EXPECT_EQ(image->symbols[kernel.name].offset, kernel.offset);
    EXPECT_EQ(image->symbols[kernel.name].bytes, kernel.bytes);
  }
}

TEST(Image, RefusesCodeThatNeedsALoader) {
  EXPECT_THAT(messageFor(readFile(CONVOY_TEST_WRITABLE_DATA)), HasSubstr(".data is writable"));
  EXPECT_THAT(messageFor(readFile(CONVOY_TEST_ZERO_DATA)), HasSubstr(".bss is writable"));
  EXPECT_THAT(messageFor(readFile(CONVOY_TEST_RELOCATION)), HasSubstr("dynamic relocations"));
  EXPECT_THAT(messageFor(readFile(CONVOY_TEST_UNDEFINED)), HasSubstr("cannot flatten"));
}

TEST(Image, RefusesOtherFiles) {
  EXPECT_NE(messageFor({}), "");
  EXPECT_NE(messageFor(readFile(CONVOY_TEST_OBJECT)), "");
  std::vector<char> elf = readFile(CONVOY_TEST_KERNELS);
  for (size_t size = 0; size < elf.size(); size += 41) {
    std::vector<char> part(elf.begin(), elf.begin() + static_cast<long>(size));
    llvm::Expected<artifact::Image> image = artifact::flattenImage(textOf(part));
    EXPECT_FALSE(static_cast<bool>(image)) << size;
    if (!image)
      llvm::consumeError(image.takeError());
  }
}

} // namespace
