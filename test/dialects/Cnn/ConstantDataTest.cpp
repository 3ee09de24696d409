// The bytes of constants: every attribute that holds them, every element type.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/ConstantData.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace convoy::cnn;

namespace {

class ConstantDataTest : public ::testing::Test {
protected:
  ConstantDataTest() { context.loadDialect<CnnDialect>(); }

  RankedTensorType type(llvm::ArrayRef<int64_t> shape, Type elementType) {
    return RankedTensorType::get(shape, elementType);
  }
  Type f32() { return Float32Type::get(&context); }
  Type integer(unsigned width, bool isUnsigned = false) {
    return IntegerType::get(&context, width,
                            isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  }
  // A constant op in a block of its own.
  Value define(ElementsAttr value) {
    OpBuilder builder(&context);
    if (!module)
      module = ModuleOp::create(UnknownLoc::get(&context));
    builder.setInsertionPointToEnd(module->getBody());
    return ConstantOp::create(builder, UnknownLoc::get(&context), value);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

template <typename T> std::vector<char> bytesOf(const std::vector<T> &values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<char> toVector(llvm::ArrayRef<char> bytes) { return {bytes.begin(), bytes.end()}; }

} // namespace

TEST_F(ConstantDataTest, FewBytesAreDenseManyAResource) {
  std::vector<float> few(16), many(1000);
  std::iota(few.begin(), few.end(), -3.5f);
  std::iota(many.begin(), many.end(), 0.25f);
  ElementsAttr dense = makeConstant(type({4, 4}, f32()), bytesOf(few));
  ElementsAttr resource = makeConstant(type({10, 100}, f32()), bytesOf(many));
  EXPECT_TRUE(isa<DenseElementsAttr>(dense));
  EXPECT_TRUE(isa<DenseResourceElementsAttr>(resource));
  EXPECT_EQ(toVector(ConstantData(dense).bytes()), bytesOf(few));
  EXPECT_EQ(toVector(ConstantData(resource).bytes()), bytesOf(many));
}

TEST_F(ConstantDataTest, AViewIsNotCopied) {
  std::vector<char> many = bytesOf(std::vector<float>(1000, 1.5f));
  ConstantData data(makeConstantView(type({1000}, f32()), many));
  EXPECT_EQ(data.bytes().data(), many.data());
  EXPECT_EQ(data.bytes().size(), many.size());
}

TEST_F(ConstantDataTest, ASplatIsRepeated) {
  auto splat = DenseElementsAttr::get(type({3}, f32()), 2.5f);
  EXPECT_EQ(toVector(ConstantData(splat).bytes()), bytesOf(std::vector<float>(3, 2.5f)));
  auto empty = DenseElementsAttr::get(type({0}, f32()), llvm::ArrayRef<float>());
  EXPECT_TRUE(ConstantData(empty).bytes().empty());
}

// MLIR packs eight of them into a byte.
TEST_F(ConstantDataTest, ABoolIsAByte) {
  std::vector<char> bytes(11);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = i % 3 == 1;
  EXPECT_EQ(toVector(ConstantData(makeConstant(type({11}, integer(1)), bytes)).bytes()), bytes);
  auto splat = DenseElementsAttr::get(type({4}, integer(1)), true);
  EXPECT_EQ(toVector(ConstantData(splat).bytes()), std::vector<char>(4, 1));
  std::vector<char> many(2000, 1);
  EXPECT_EQ(toVector(ConstantData(makeConstant(type({2000}, integer(1)), many)).bytes()), many);
}

TEST_F(ConstantDataTest, IntegersReadWithTheirSign) {
  auto ints = [&](Type elementType, std::vector<char> bytes) {
    int64_t count = bytes.size() / getElementBytes(elementType);
    return getConstantInts(define(makeConstant(type({count}, elementType), std::move(bytes))));
  };
  using Ints = llvm::SmallVector<int64_t>;
  EXPECT_EQ(ints(integer(8), bytesOf<int8_t>({-128, 127})), Ints({-128, 127}));
  EXPECT_EQ(ints(integer(8, true), bytesOf<uint8_t>({0, 255})), Ints({0, 255}));
  EXPECT_EQ(ints(integer(16), bytesOf<int16_t>({-32768, 1})), Ints({-32768, 1}));
  EXPECT_EQ(ints(integer(32, true), bytesOf<uint32_t>({4294967295u})), Ints({4294967295}));
  EXPECT_EQ(ints(integer(64), bytesOf<int64_t>({INT64_MIN, INT64_MAX})),
            Ints({INT64_MIN, INT64_MAX}));
  EXPECT_EQ(ints(integer(1), {0, 1}), Ints({0, 1}));
}

TEST_F(ConstantDataTest, OnlyConstantsOfTheKindAreRead) {
  Value number = define(makeConstant(type({1}, f32()), bytesOf<float>({1.5f})));
  Value integer32 = define(makeConstant(type({1}, integer(32)), bytesOf<int32_t>({7})));
  EXPECT_FALSE(getConstantInts(number));
  EXPECT_FALSE(getConstantFloats(integer32));
  EXPECT_EQ(getConstantFloats(number)->front(), 1.5);
  EXPECT_FALSE(getConstant(Value()));
  EXPECT_FALSE(getConstantInts(Value()));
  Block block;
  EXPECT_FALSE(getConstant(block.addArgument(type({1}, f32()), UnknownLoc::get(&context))));
}

TEST_F(ConstantDataTest, FloatsRoundToNearestEven) {
  char bytes[8];
  auto roundTrip = [&](Type elementType, double value) {
    writeFloat(bytes, elementType, value);
    return readFloat(bytes, elementType);
  };
  Type f16 = Float16Type::get(&context), bf16 = BFloat16Type::get(&context);
  Type f64 = Float64Type::get(&context);
  EXPECT_EQ(roundTrip(f64, 0.1), 0.1);
  EXPECT_EQ(roundTrip(f32(), 0.1), double(0.1f));
  // Halfway between 2048 and 2050, between 2050 and 2052.
  EXPECT_EQ(roundTrip(f16, 2049), 2048);
  EXPECT_EQ(roundTrip(f16, 2051), 2052);
  EXPECT_EQ(roundTrip(f16, 65520), std::numeric_limits<double>::infinity());
  EXPECT_EQ(roundTrip(f16, std::ldexp(1.0, -24)), std::ldexp(1.0, -24)); // the least subnormal
  EXPECT_EQ(roundTrip(bf16, 257), 256);
  EXPECT_EQ(roundTrip(bf16, 259), 260);
  for (Type elementType : {f16, bf16, f32(), f64}) {
    EXPECT_TRUE(std::isnan(roundTrip(elementType, std::nan(""))));
    EXPECT_EQ(roundTrip(elementType, -std::numeric_limits<double>::infinity()),
              -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::signbit(roundTrip(elementType, -0.0)));
  }
}

TEST_F(ConstantDataTest, IntegersAreWrittenInTheirWidth) {
  char bytes[9] = {};
  bytes[4] = 77;
  writeInt(bytes, integer(32), -2);
  EXPECT_EQ(readInt(bytes, integer(32)), -2);
  EXPECT_EQ(bytes[4], 77);
  writeInt(bytes, integer(1), 6);
  EXPECT_EQ(bytes[0], 1);
  writeInt(bytes, integer(8, true), 200);
  EXPECT_EQ(readInt(bytes, integer(8, true)), 200);
  EXPECT_EQ(readInt(bytes, integer(8)), -56);
}
