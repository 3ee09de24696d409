// Scalar regions that are affine functions of one argument, with factors per channel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Affine.h"

#include "dialects/Cnn/ConstantData.h"
#include "passes/Graph.h"

#include <cmath>

using namespace mlir;
using namespace convoy;

ChannelAffine ChannelAffine::identity(int64_t channels) {
  return {std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0)};
}

ChannelAffine ChannelAffine::after(const ChannelAffine &inner) const {
  ChannelAffine result = *this;
  for (size_t i = 0; i < scale.size(); ++i) {
    result.scale[i] = scale[i] * inner.scale[i];
    result.shift[i] = scale[i] * inner.shift[i] + shift[i];
  }
  return result;
}

bool ChannelAffine::isFinite() const {
  auto finite = [](double value) { return std::isfinite(value); };
  return llvm::all_of(scale, finite) && llvm::all_of(shift, finite);
}

bool ChannelAffine::isIdentity() const {
  return llvm::all_of(scale, [](double value) { return value == 1.0; }) &&
         llvm::all_of(shift, [](double value) { return value == 0.0; });
}

namespace {
// A value of the region: affine in the variable, or constant in it.
struct Term {
  ChannelAffine affine;
  bool isConstant;
};
} // namespace

// One number a channel, if `value` is a constant that differs along `axis` of `result` alone.
static std::optional<std::vector<double>> getChannelConstant(Value value, RankedTensorType result,
                                                             int64_t axis) {
  auto type = tensorType(value);
  int64_t channels = result.getDimSize(axis);
  for (int64_t i = 0; i < type.getRank(); ++i) {
    int64_t dim = i + result.getRank() - type.getRank();
    if (type.getDimSize(i) != 1 && dim != axis)
      return std::nullopt;
  }
  std::optional<SmallVector<double>> values = cnn::getConstantFloats(value);
  if (!values || values->empty())
    return std::nullopt;
  if (values->size() == 1)
    return std::vector<double>(channels, values->front());
  return std::vector<double>(values->begin(), values->end());
}

static std::optional<Term> combine(Operation &op, const Term &a, const Term *b) {
  size_t channels = a.affine.scale.size();
  Term result{ChannelAffine::identity(channels), a.isConstant && (!b || b->isConstant)};
  auto forEach = [&](auto function) {
    for (size_t i = 0; i < channels; ++i)
      function(i, result.affine.scale[i], result.affine.shift[i]);
    return result;
  };
  if (isa<arith::NegFOp>(op))
    return forEach([&](size_t i, double &scale, double &shift) {
      scale = -a.affine.scale[i];
      shift = -a.affine.shift[i];
    });
  if (isa<arith::AddFOp, arith::SubFOp>(op)) {
    double sign = isa<arith::AddFOp>(op) ? 1 : -1;
    return forEach([&](size_t i, double &scale, double &shift) {
      scale = a.affine.scale[i] + sign * b->affine.scale[i];
      shift = a.affine.shift[i] + sign * b->affine.shift[i];
    });
  }
  if (isa<arith::MulFOp>(op) && (a.isConstant || b->isConstant)) {
    const Term &factor = a.isConstant ? a : *b, &other = a.isConstant ? *b : a;
    return forEach([&](size_t i, double &scale, double &shift) {
      scale = other.affine.scale[i] * factor.affine.shift[i];
      shift = other.affine.shift[i] * factor.affine.shift[i];
    });
  }
  if (isa<arith::DivFOp>(op) && b->isConstant)
    return forEach([&](size_t i, double &scale, double &shift) {
      scale = a.affine.scale[i] / b->affine.shift[i];
      shift = a.affine.shift[i] / b->affine.shift[i];
    });
  return std::nullopt;
}

std::optional<ChannelAffine> convoy::getChannelAffine(cnn::EpilogueOpInterface op,
                                                      BlockArgument variable, int64_t axis) {
  auto result = tensorType(op->getResult(0));
  if (!isa<FloatType>(result.getElementType()) || axis >= result.getRank() ||
      result.isDynamicDim(axis))
    return std::nullopt;
  int64_t channels = result.getDimSize(axis);
  Block &block = op.getScalarRegion().front();
  DenseMap<Value, Term> terms;
  unsigned first = op.getAccumulatorType() ? 1 : 0;
  for (BlockArgument argument : block.getArguments()) {
    if (argument == variable) {
      terms.insert({argument, {ChannelAffine::identity(channels), false}});
      continue;
    }
    if (argument.getArgNumber() < first)
      return std::nullopt;
    Value operand = op.getRegionOperands()[argument.getArgNumber() - first];
    std::optional<std::vector<double>> values = getChannelConstant(operand, result, axis);
    if (!values)
      return std::nullopt;
    terms.insert({argument, {{std::vector<double>(channels, 0.0), std::move(*values)}, true}});
  }
  for (Operation &inner : block.without_terminator()) {
    // A change of type is a rounding that folding would drop.
    if (inner.getNumResults() != 1 || inner.getResult(0).getType() != variable.getType())
      return std::nullopt;
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      double value = cast<FloatAttr>(constant.getValue()).getValueAsDouble();
      terms.insert(
          {constant,
           {{std::vector<double>(channels, 0.0), std::vector<double>(channels, value)}, true}});
      continue;
    }
    const Term *operands[2] = {nullptr, nullptr};
    if (inner.getNumOperands() < 1 || inner.getNumOperands() > 2)
      return std::nullopt;
    for (auto [i, operand] : llvm::enumerate(inner.getOperands())) {
      auto found = terms.find(operand);
      if (found == terms.end())
        return std::nullopt;
      operands[i] = &found->second;
    }
    std::optional<Term> term = combine(inner, *operands[0], operands[1]);
    if (!term)
      return std::nullopt;
    terms.insert({inner.getResult(0), std::move(*term)});
  }
  auto found = terms.find(cast<cnn::YieldOp>(block.back()).getValue());
  if (found == terms.end() || found->second.isConstant)
    return std::nullopt;
  return found->second.affine;
}
