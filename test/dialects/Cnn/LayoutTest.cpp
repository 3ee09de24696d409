// The meaning of layout tags: where each element lies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Layout.h"

#include "gtest/gtest.h"

#include "mlir/IR/BuiltinTypes.h"

#include <set>

using namespace convoy::cnn;
using Shape = llvm::SmallVector<int64_t>;

static Layout parsed(llvm::StringRef tag) {
  std::optional<Layout> layout = Layout::parse(tag);
  EXPECT_TRUE(layout) << tag.str();
  return layout ? *layout : Layout::rowMajor(0);
}

// Calls `visit` with each index of a shape, in row-major order.
template <typename Visit> static void forEachIndex(llvm::ArrayRef<int64_t> shape, Visit visit) {
  Shape index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

TEST(Layout, RowMajorTagsOfEveryFamily) {
  for (llvm::StringRef tag :
       {"n", "nc", "ncw", "nchw", "ncdhw", "oi", "oiw", "oihw", "oidhw", "kn"}) {
    EXPECT_TRUE(parsed(tag).isRowMajor()) << tag.str();
    EXPECT_EQ(parsed(tag).rank(), tag.size()) << tag.str();
  }
  for (llvm::StringRef tag : {"nhwc", "ihwo", "nk", "nchw16c", "oihw4i"})
    EXPECT_FALSE(parsed(tag).isRowMajor()) << tag.str();
  EXPECT_TRUE(Layout::rowMajor(0).isRowMajor());
  EXPECT_TRUE(Layout::rowMajor(7).isRowMajor());
}

TEST(Layout, DimensionsAreNumberedInLogicalOrder) {
  EXPECT_EQ(Shape({0, 2, 3, 1}),
            Shape(llvm::map_range(parsed("nhwc").outer(), [](unsigned d) { return int64_t(d); })));
  // w is dimension 2 where there are neither d nor h.
  EXPECT_EQ(parsed("nwc").outer()[1], 2u);
  // n is the second dimension of a matrix, the first of an activation.
  EXPECT_EQ(parsed("nk").outer()[0], 1u);
  EXPECT_EQ(parsed("nc").outer()[0], 0u);
  Layout weights = parsed("oihw4i16o2i");
  ASSERT_EQ(weights.inner().size(), 3u);
  EXPECT_EQ(weights.inner()[0], std::make_pair(1u, int64_t(4)));
  EXPECT_EQ(weights.inner()[1], std::make_pair(0u, int64_t(16)));
  EXPECT_EQ(weights.inner()[2], std::make_pair(1u, int64_t(2)));
}

TEST(Layout, BlocksOfADimensionMultiply) {
  Layout weights = parsed("oihw4i16o2i");
  EXPECT_EQ(weights.blockOf(0), 16);
  EXPECT_EQ(weights.blockOf(1), 8);
  EXPECT_EQ(weights.blockOf(2), 1);
}

TEST(Layout, MalformedTagsAreRefused) {
  for (llvm::StringRef tag : {"",
                              "16",
                              "nchw16",
                              "nchw0c",
                              "nchw1c",
                              "nchw4097c",
                              "nchw-2c",
                              "nchw128c64c",
                              "nchw99999999999999999999c",
                              "nnchw",
                              "nchw ",
                              " nchw",
                              "NCHW",
                              "nchx",
                              "n16chw",
                              "oihw16c",
                              "nchw16o",
                              "nhw16c",
                              "nchw16cc",
                              "nchw16c8",
                              "ok",
                              "nchw16\xc3\xa4"})
    EXPECT_FALSE(Layout::parse(tag)) << "'" << tag.str() << "'";
  EXPECT_TRUE(Layout::parse("nchw4096c"));
  EXPECT_TRUE(Layout::parse("nchw64c64c"));
}

TEST(Layout, PhysicalShapesRoundUp) {
  EXPECT_EQ(parsed("nchw16c").physicalShape({2, 17, 5, 7}), Shape({2, 2, 5, 7, 16}));
  EXPECT_EQ(parsed("nchw16c").physicalShape({2, 16, 5, 7}), Shape({2, 1, 5, 7, 16}));
  EXPECT_EQ(parsed("nhwc").physicalShape({2, 3, 5, 7}), Shape({2, 5, 7, 3}));
  EXPECT_EQ(parsed("oihw4i16o2i").physicalShape({20, 9, 3, 3}), Shape({2, 2, 3, 3, 4, 16, 2}));
  EXPECT_EQ(Layout::rowMajor(3).physicalShape({2, 3, 5}), Shape({2, 3, 5}));
  EXPECT_EQ(Layout::rowMajor(0).physicalShape({}), Shape());
  int64_t free = mlir::ShapedType::kDynamic;
  EXPECT_EQ(parsed("nchw16c").physicalShape({free, 3, 5, 7}), Shape({free, 1, 5, 7, 16}));
  EXPECT_EQ(parsed("nchw16c").numPhysicalElements({2, 17, 5, 7}), 2 * 2 * 5 * 7 * 16);
  EXPECT_EQ(parsed("nchw16c").numPhysicalElements({2, 0, 5, 7}), 0);
  EXPECT_EQ(Layout::rowMajor(0).numPhysicalElements({}), 1);
}

// Against offsets written out by hand.
TEST(Layout, Offsets) {
  Shape shape = {2, 20, 3, 5};
  Layout blocked = parsed("nchw16c"), last = parsed("nhwc");
  forEachIndex(shape, [&](llvm::ArrayRef<int64_t> at) {
    int64_t n = at[0], c = at[1], h = at[2], w = at[3];
    EXPECT_EQ(Layout::rowMajor(4).offset(at, shape), ((n * 20 + c) * 3 + h) * 5 + w);
    EXPECT_EQ(last.offset(at, shape), ((n * 3 + h) * 5 + w) * 20 + c);
    EXPECT_EQ(blocked.offset(at, shape), (((n * 2 + c / 16) * 3 + h) * 5 + w) * 16 + c % 16);
  });
  // Two blocks of one dimension: 8 input channels are 4 groups of 2.
  Layout weights = parsed("oihw4i16o2i");
  Shape filter = {20, 9, 1, 2};
  forEachIndex(filter, [&](llvm::ArrayRef<int64_t> at) {
    int64_t o = at[0], i = at[1], w = at[3];
    int64_t outer = ((o / 16) * 2 + i / 8) * 2 + w;
    EXPECT_EQ(weights.offset(at, filter), ((outer * 4 + i % 8 / 2) * 16 + o % 16) * 2 + i % 2);
  });
}

// Weights transformed for tiles of Winograd's convolution have the extents of the source tile.
TEST(Layout, TransformedWeights) {
  EXPECT_EQ(parsed("hwoi16i16o.f4").physicalShape({32, 20, 3, 3}), Shape({6, 6, 2, 2, 16, 16}));
  EXPECT_EQ(parsed("hwoi16i16o.f2s2").physicalShape({32, 20, 3, 3}), Shape({5, 5, 2, 2, 16, 16}));
  EXPECT_EQ(parsed("hwoi16i16o.f2s2").winograd()->stride, 2);
  for (llvm::StringRef tag : {"oihw.f", "oihw.fs2", "oihw.f1s2", "oihw.f2s3", "oihw.f2s2s2"})
    EXPECT_FALSE(Layout::parse(tag)) << tag.str();
}

// No two elements share a place and none lies outside.
TEST(Layout, OffsetsAreDistinctAndInside) {
  for (llvm::StringRef tag :
       {"nchw", "nhwc", "nchw4c", "nchw3c", "nchw4c2n", "wnch2h3w", "oihw2i3o2i"}) {
    Layout layout = parsed(tag);
    Shape shape = {3, 7, 4, 5};
    std::set<int64_t> seen;
    forEachIndex(shape, [&](llvm::ArrayRef<int64_t> at) {
      int64_t offset = layout.offset(at, shape);
      EXPECT_GE(offset, 0) << tag.str();
      EXPECT_LT(offset, layout.numPhysicalElements(shape)) << tag.str();
      EXPECT_TRUE(seen.insert(offset).second) << tag.str() << " " << offset;
    });
    EXPECT_EQ(seen.size(), size_t(3 * 7 * 4 * 5));
  }
}
