// Interval arithmetic on the integer tensors of a module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Bounds.h"

#include "dialects/Cnn/Cnn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

using MaybeBounds = std::optional<Bounds>;

static MaybeBounds add(Bounds a, Bounds b) {
  Bounds result;
  if (llvm::AddOverflow(a.least, b.least, result.least) ||
      llvm::AddOverflow(a.most, b.most, result.most))
    return std::nullopt;
  return result;
}

static MaybeBounds sub(Bounds a, Bounds b) {
  Bounds result;
  if (llvm::SubOverflow(a.least, b.most, result.least) ||
      llvm::SubOverflow(a.most, b.least, result.most))
    return std::nullopt;
  return result;
}

static Bounds join(Bounds a, Bounds b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

static MaybeBounds mul(Bounds a, Bounds b) {
  MaybeBounds result;
  for (int64_t x : {a.least, a.most})
    for (int64_t y : {b.least, b.most}) {
      int64_t product;
      if (llvm::MulOverflow(x, y, product))
        return std::nullopt;
      result = result ? join(*result, {product, product}) : Bounds{product, product};
    }
  return result;
}

// All that a type has, for types of which that is little.
static MaybeBounds boundsOfType(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() > 16)
    return std::nullopt;
  int64_t values = int64_t(1) << integer.getWidth();
  if (integer.getWidth() == 1 || integer.isUnsigned())
    return Bounds{0, values - 1};
  return Bounds{-values / 2, values / 2 - 1};
}

namespace {

class Analysis {
public:
  MaybeBounds of(Value tensor) {
    auto known = results.find(tensor);
    if (known != results.end())
      return known->second;
    // A module is as deep as a model has nodes.
    constexpr unsigned kMostOps = 256;
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!isa<IntegerType>(type.getElementType()) || results.size() >= kMostOps)
      return std::nullopt;
    results[tensor] = std::nullopt;
    MaybeBounds found = tensor.getDefiningOp() ? ofOp(tensor.getDefiningOp()) : std::nullopt;
    if (!found)
      found = boundsOfType(type.getElementType());
    results[tensor] = found;
    return found;
  }

private:
  MaybeBounds ofAll(ValueRange tensors) {
    MaybeBounds result;
    for (Value tensor : tensors) {
      MaybeBounds next = of(tensor);
      if (!next)
        return std::nullopt;
      result = result ? join(*result, *next) : *next;
    }
    return result;
  }

  MaybeBounds ofOp(Operation *op) {
    auto extent = [](Value tensor, int64_t axis) {
      return cast<RankedTensorType>(tensor.getType()).getDimSize(axis);
    };
    return llvm::TypeSwitch<Operation *, MaybeBounds>(op)
        .Case([&](cnn::ConstantOp constant) { return ofConstant(constant); })
        .Case<cnn::ReshapeOp, cnn::TransposeOp, cnn::BroadcastOp, cnn::SliceOp, cnn::ConcatOp>(
            [&](Operation *moves) { return ofAll(moves->getOperands()); })
        .Case<cnn::GatherOp, cnn::GatherElementsOp>(
            [&](Operation *gathers) { return of(gathers->getOperand(0)); })
        .Case<cnn::ArgExtremeOp, cnn::TopKOp>([&](auto finds) -> MaybeBounds {
          int64_t positions = extent(finds.getSrc(), finds.getAxis());
          return ShapedType::isDynamic(positions) ? MaybeBounds() : Bounds{0, positions - 1};
        })
        .Case([&](cnn::TruePositionsOp finds) -> MaybeBounds {
          return Bounds{0, std::max<int64_t>(extent(finds.getSrc(), 0) - 1, 0)};
        })
        .Case([&](cnn::ReduceOp reduce) { return ofReduce(reduce); })
        .Case([&](cnn::MapOp map) -> MaybeBounds {
          SmallVector<MaybeBounds> elements;
          for (Value operand : map->getOperands())
            elements.push_back(isa<IntegerType>(getElementTypeOrSelf(operand)) ? of(operand)
                                                                               : std::nullopt);
          return ofRegion(map->getRegion(0), elements);
        })
        .Default(MaybeBounds());
  }

  MaybeBounds ofConstant(cnn::ConstantOp constant) {
    constexpr int64_t kMostElements = 1 << 16;
    auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    if (!elements || elements.getNumElements() == 0 || elements.getNumElements() > kMostElements)
      return std::nullopt;
    bool isSigned = !elements.getElementType().isUnsignedInteger() &&
                    !elements.getElementType().isInteger(1);
    MaybeBounds result;
    for (const APInt &element : elements) {
      if (!isSigned && element.getActiveBits() > 63)
        return std::nullopt;
      int64_t value = isSigned ? element.getSExtValue() : int64_t(element.getZExtValue());
      result = result ? join(*result, {value, value}) : Bounds{value, value};
    }
    return result;
  }

  MaybeBounds ofReduce(cnn::ReduceOp reduce) {
    MaybeBounds element = of(reduce.getSrc());
    auto type = cast<RankedTensorType>(reduce.getSrc().getType());
    if (!element || !type.hasStaticShape())
      return std::nullopt;
    int64_t count = 1;
    for (int64_t axis : reduce.getAxes())
      count *= type.getDimSize(axis);
    MaybeBounds reduced;
    switch (reduce.getKind()) {
    case cnn::ReduceKind::Sum:
      reduced = mul(*element, {count, count});
      break;
    case cnn::ReduceKind::Max:
    case cnn::ReduceKind::Min:
      // Of nothing it is the least or greatest number.
      reduced = count > 0 ? element : MaybeBounds();
      break;
    default:
      return std::nullopt;
    }
    if (!reduced)
      return std::nullopt;
    SmallVector<MaybeBounds> arguments(reduce->getRegion(0).getNumArguments());
    if (arguments.empty())
      return reduced;
    arguments[0] = reduced;
    return ofRegion(reduce->getRegion(0), arguments);
  }

  MaybeBounds ofRegion(Region &region, ArrayRef<MaybeBounds> arguments) {
    llvm::DenseMap<Value, Bounds> scalars;
    auto at = [&](Value value) -> MaybeBounds {
      auto found = scalars.find(value);
      return found == scalars.end() ? MaybeBounds() : MaybeBounds(found->second);
    };
    for (auto [argument, bounds] : llvm::zip(region.getArguments(), arguments))
      if (bounds)
        scalars.insert({argument, *bounds});
    for (Operation &op : region.front().without_terminator()) {
      auto two = [&](MaybeBounds (*function)(Bounds, Bounds)) -> MaybeBounds {
        MaybeBounds a = at(op.getOperand(0)), b = at(op.getOperand(1));
        return a && b ? function(*a, *b) : MaybeBounds();
      };
      MaybeBounds result =
          llvm::TypeSwitch<Operation *, MaybeBounds>(&op)
              .Case([&](arith::ConstantOp constant) -> MaybeBounds {
                auto value = dyn_cast<IntegerAttr>(constant.getValue());
                if (!value)
                  return std::nullopt;
                int64_t number = value.getType().isInteger(1) ? int64_t(value.getValue().getZExtValue())
                                                              : value.getValue().getSExtValue();
                return Bounds{number, number};
              })
              .Case([&](arith::AddIOp) { return two(add); })
              .Case([&](arith::SubIOp) { return two(sub); })
              .Case([&](arith::MulIOp) { return two(mul); })
              .Case([&](arith::MaxSIOp) {
                return two([](Bounds a, Bounds b) -> MaybeBounds {
                  return Bounds{std::max(a.least, b.least), std::max(a.most, b.most)};
                });
              })
              .Case([&](arith::MinSIOp) {
                return two([](Bounds a, Bounds b) -> MaybeBounds {
                  return Bounds{std::min(a.least, b.least), std::min(a.most, b.most)};
                });
              })
              .Case([&](arith::SelectOp select) -> MaybeBounds {
                MaybeBounds a = at(select.getTrueValue()), b = at(select.getFalseValue());
                return a && b ? MaybeBounds(join(*a, *b)) : MaybeBounds();
              })
              .Case<arith::ExtSIOp, arith::ExtUIOp>(
                  [&](Operation *extend) { return at(extend->getOperand(0)); })
              .Case<arith::CmpIOp, arith::CmpFOp>(
                  [&](Operation *) -> MaybeBounds { return Bounds{0, 1}; })
              .Default(MaybeBounds());
      if (!result)
        continue;
      // Arithmetic of the type must not wrap where that of the interval does not.
      auto type = dyn_cast<IntegerType>(op.getResult(0).getType());
      if (type && type.getWidth() < 64 && type.getWidth() > 1 &&
          (!llvm::isIntN(type.getWidth(), result->least) ||
           !llvm::isIntN(type.getWidth(), result->most)))
        continue;
      scalars.insert({op.getResult(0), *result});
    }
    return at(region.front().getTerminator()->getOperand(0));
  }

  llvm::DenseMap<Value, MaybeBounds> results;
};

} // namespace

std::optional<Bounds> convoy::onnx::boundsOf(Value tensor) { return Analysis().of(tensor); }
