// Layout changes of constants against the definition of layouts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Relayout.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace mlir;
using namespace convoy;

template <typename T> static std::vector<char> makeBytes(int64_t count) {
  std::vector<char> bytes(count * sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    T value = static_cast<T>(i + 1);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

// Every element is where Layout::offset has it, all else is zero, and the way back gives the same.
template <typename T> static void checkRelayout(ArrayRef<int64_t> shape, StringRef tag) {
  SCOPED_TRACE(tag.str());
  cnn::Layout rowMajor = cnn::Layout::rowMajor(shape.size());
  cnn::Layout layout = *cnn::Layout::parse(tag);
  std::vector<char> src = makeBytes<T>(llvm::product_of(shape));
  std::vector<char> dst = relayoutBytes(src, shape, rowMajor, layout, sizeof(T));
  ASSERT_EQ(dst.size(), layout.numPhysicalElements(shape) * sizeof(T));
  std::vector<char> expected(dst.size(), 0);
  SmallVector<int64_t> index(shape.size(), 0);
  for (size_t linear = 0; linear * sizeof(T) < src.size(); ++linear) {
    std::memcpy(expected.data() + layout.offset(index, shape) * sizeof(T),
                src.data() + linear * sizeof(T), sizeof(T));
    for (size_t i = shape.size(); i-- > 0 && ++index[i] == shape[i];)
      index[i] = 0;
  }
  EXPECT_EQ(dst, expected);
  EXPECT_EQ(relayoutBytes(dst, shape, layout, rowMajor, sizeof(T)), src);
}

TEST(Relayout, Activations) {
  for (StringRef tag : {"nchw", "nhwc", "nchw4c", "nchw16c", "nhcw", "wnch"})
    checkRelayout<float>({2, 20, 3, 5}, tag);
  checkRelayout<float>({2, 7, 5}, "ncw8c");
}

TEST(Relayout, Weights) {
  for (StringRef tag : {"oihw16i16o", "oihw16o", "ihwo", "oihw4i16o4i", "hwoi8o", "oihw2i4o2i"})
    checkRelayout<float>({20, 18, 3, 2}, tag);
  checkRelayout<float>({17, 33}, "kn16n");
  checkRelayout<float>({17, 33}, "nk16n2k");
}

TEST(Relayout, ElementSizes) {
  checkRelayout<uint8_t>({3, 5, 2, 2}, "oihw4o");
  checkRelayout<uint16_t>({3, 5, 2, 2}, "oihw4o");
  checkRelayout<double>({3, 5, 2, 2}, "oihw4o");
}

// Between two layouts that are not row-major.
TEST(Relayout, BlocksToBlocks) {
  SmallVector<int64_t> shape{1, 10, 2, 3};
  cnn::Layout rowMajor = cnn::Layout::rowMajor(4);
  cnn::Layout four = *cnn::Layout::parse("nchw4c"), eight = *cnn::Layout::parse("nchw8c");
  std::vector<char> src = makeBytes<float>(llvm::product_of(shape));
  std::vector<char> blocks = relayoutBytes(src, shape, rowMajor, four, 4);
  EXPECT_EQ(relayoutBytes(blocks, shape, four, eight, 4),
            relayoutBytes(src, shape, rowMajor, eight, 4));
}

TEST(Relayout, SameOrderNeedsNoKernel) {
  MLIRContext context;
  context.loadDialect<cnn::CnnDialect>();
  auto type = [&](ArrayRef<int64_t> shape, StringRef tag) {
    return cnn::withLayout(RankedTensorType::get(shape, Float32Type::get(&context)), tag);
  };
  auto same = [&](ArrayRef<int64_t> shape, StringRef a, StringRef b) {
    return haveSameOrder(type(shape, a), type(shape, b));
  };
  constexpr int64_t kFree = ShapedType::kDynamic;
  EXPECT_TRUE(same({1, 32, 1, 1}, "", "nchw16c"));
  EXPECT_TRUE(same({kFree, 32, 1, 1}, "nchw16c", ""));
  EXPECT_TRUE(same({1, 16, 4, 4}, "nhwc", "nchw16c"));
  EXPECT_TRUE(same({4, 1, 3, 3}, "", "nhwc"));
  EXPECT_FALSE(same({1, 20, 1, 1}, "", "nchw16c")) << "padding";
  EXPECT_FALSE(same({1, 32, 2, 1}, "", "nchw16c"));
  EXPECT_FALSE(same({1, 32, 4, 4}, "nhwc", "nchw16c"));
  EXPECT_FALSE(same({kFree, 1, 1, 2}, "wnch", "")) << "images would not be in one piece";
}
