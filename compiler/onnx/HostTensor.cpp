// Arithmetic on tensors that the importer knows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/HostTensor.h"

#include "dialects/Cnn/ConstantData.h"

#include "llvm/Support/CheckedArithmetic.h"

#include <cmath>

using namespace mlir;
using namespace convoy;
using namespace convoy::onnx;

std::optional<HostTensor> HostTensor::fromConstant(ElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getShapedType());
  if (type.getNumElements() > kMaxElements)
    return std::nullopt;
  Type elementType = type.getElementType();
  HostTensor result{RankedTensorType::get(type.getShape(), elementType), {}, {}};
  cnn::ConstantData data(value);
  int64_t bytes = cnn::getElementBytes(elementType);
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    const char *element = data.bytes().data() + i * bytes;
    if (result.isFloat())
      result.floats.push_back({0, cnn::readFloat(element, elementType)});
    else
      result.ints.push_back({0, cnn::readInt(element, elementType)});
  }
  return result;
}

HostTensor HostTensor::ofInts(MLIRContext *context, ArrayRef<LinearInt> elements) {
  return {RankedTensorType::get(elements.size(), IntegerType::get(context, 64)),
          {elements.begin(), elements.end()},
          {}};
}

bool HostTensor::isConstant() const {
  return llvm::all_of(ints, [](const LinearInt &e) { return e.batch == 0; }) &&
         llvm::all_of(floats, [](const LinearFloat &e) { return e.batch == 0; });
}

ElementsAttr HostTensor::toConstant() const {
  Type elementType = type.getElementType();
  int64_t bytes = cnn::getElementBytes(elementType);
  std::vector<char> data(size() * bytes);
  for (int64_t i = 0; i < size(); ++i) {
    if (isFloat())
      cnn::writeFloat(data.data() + i * bytes, elementType, floats[i].constant);
    else
      cnn::writeInt(data.data() + i * bytes, elementType, ints[i].constant);
  }
  return cnn::makeConstant(type, std::move(data));
}

HostTensor HostTensor::pick(ArrayRef<int64_t> shape, ArrayRef<int64_t> source) const {
  HostTensor result{RankedTensorType::get(shape, type.getElementType()), {}, {}};
  for (int64_t i : source) {
    if (isFloat())
      result.floats.push_back(floats[i]);
    else
      result.ints.push_back(ints[i]);
  }
  return result;
}

HostTensor HostTensor::reshaped(ArrayRef<int64_t> shape) const {
  return {RankedTensorType::get(shape, type.getElementType()), ints, floats};
}

std::optional<int64_t> convoy::onnx::countElements(ArrayRef<int64_t> shape) {
  constexpr int64_t kMost = int64_t(1) << 48;
  int64_t count = 1;
  // An extent of 0 does not excuse the others: products of some of them are taken too.
  for (int64_t extent : shape) {
    if (ShapedType::isDynamic(extent) || extent == 0)
      continue;
    std::optional<int64_t> product = llvm::checkedMul(count, extent);
    if (!product || *product > kMost)
      return std::nullopt;
    count = *product;
  }
  return llvm::is_contained(shape, 0) ? 0 : count;
}

std::vector<int64_t> convoy::onnx::broadcastIndices(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  // Strides of `from`, aligned to the right, 0 where it is broadcast.
  SmallVector<int64_t> strides(to.size(), 0);
  int64_t stride = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t extent = from[from.size() - 1 - i];
    strides[to.size() - 1 - i] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  std::vector<int64_t> indices(ShapedType::getNumElements(to));
  SmallVector<int64_t> position(to.size(), 0);
  int64_t index = 0;
  for (int64_t &result : indices) {
    result = index;
    for (size_t i = to.size(); i-- > 0;) {
      index += strides[i];
      if (++position[i] < to[i])
        break;
      index -= strides[i] * to[i];
      position[i] = 0;
    }
  }
  return indices;
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

// What an op makes of two integers that do not depend on the batch.
static std::optional<int64_t> foldInts(StringRef op, int64_t a, int64_t b) {
  // Wraps as the compiled code does.
  uint64_t ua = a, ub = b;
  if (op == "Add")
    return static_cast<int64_t>(ua + ub);
  if (op == "Sub")
    return static_cast<int64_t>(ua - ub);
  if (op == "Mul")
    return static_cast<int64_t>(ua * ub);
  if ((op == "Div" || op == "Mod") && (b == 0 || b == -1))
    return std::nullopt;
  if (op == "Div")
    return a / b;
  if (op == "Mod")
    return a - llvm::divideFloorSigned(a, b) * b;
  if (op == "Max")
    return std::max(a, b);
  if (op == "Min")
    return std::min(a, b);
  if (op == "And")
    return a & b;
  if (op == "Or")
    return a | b;
  if (op == "Xor")
    return a ^ b;
  return std::nullopt;
}

static std::optional<double> foldFloats(StringRef op, double a, double b) {
  if (op == "Add")
    return a + b;
  if (op == "Sub")
    return a - b;
  if (op == "Mul")
    return a * b;
  if (op == "Div")
    return a / b;
  if (std::isnan(a) || std::isnan(b))
    return std::nullopt;
  if (op == "Max")
    return std::max(a, b);
  if (op == "Min")
    return std::min(a, b);
  return std::nullopt;
}

template <typename T> static std::optional<bool> compare(StringRef op, T a, T b) {
  if (op == "Equal")
    return a == b;
  if (op == "Less")
    return a < b;
  if (op == "Greater")
    return a > b;
  if (op == "LessOrEqual")
    return a <= b;
  if (op == "GreaterOrEqual")
    return a >= b;
  return std::nullopt;
}

// Arithmetic on coefficients. What overflows is no extent, and is left to the run.
static std::optional<int64_t> add(int64_t a, int64_t b) { return llvm::checkedAdd(a, b); }
static std::optional<int64_t> subtract(int64_t a, int64_t b) { return llvm::checkedSub(a, b); }
static std::optional<int64_t> multiply(int64_t a, int64_t b) { return llvm::checkedMul(a, b); }
static std::optional<double> add(double a, double b) { return a + b; }
static std::optional<double> subtract(double a, double b) { return a - b; }
static std::optional<double> multiply(double a, double b) { return a * b; }

template <typename T>
static std::optional<Linear<T>> linear(std::optional<T> batch, std::optional<T> constant) {
  return batch && constant ? std::optional(Linear<T>{*batch, *constant}) : std::nullopt;
}

// Ops of two numbers of which at least one depends on the batch.
template <typename T>
static std::optional<Linear<T>> foldLinear(StringRef op, Linear<T> a, Linear<T> b) {
  if (op == "Add")
    return linear<T>(add(a.batch, b.batch), add(a.constant, b.constant));
  if (op == "Sub")
    return linear<T>(subtract(a.batch, b.batch), subtract(a.constant, b.constant));
  if (op == "Mul" && b.batch == 0)
    return linear<T>(multiply(a.batch, b.constant), multiply(a.constant, b.constant));
  if (op == "Mul" && a.batch == 0)
    return linear<T>(multiply(a.constant, b.batch), multiply(a.constant, b.constant));
  if (op == "Div" && b.batch == 0 && b.constant == -1)
    return linear<T>(subtract(T(0), a.batch), subtract(T(0), a.constant));
  if (op == "Div" && b.batch == 0 && b.constant != 0) {
    Linear<T> quotient{a.batch / b.constant, a.constant / b.constant};
    // An integer division must leave no rest whatever the batch is.
    if (quotient.batch * b.constant == a.batch && quotient.constant * b.constant == a.constant)
      return quotient;
  }
  return std::nullopt;
}

static std::optional<LinearInt> fold(StringRef op, LinearInt a, LinearInt b) {
  if (a.batch != 0 || b.batch != 0)
    return foldLinear(op, a, b);
  std::optional<int64_t> value = foldInts(op, a.constant, b.constant);
  return value ? std::optional(LinearInt{0, *value}) : std::nullopt;
}

static std::optional<LinearFloat> fold(StringRef op, LinearFloat a, LinearFloat b) {
  if (a.batch != 0 || b.batch != 0)
    return foldLinear(op, a, b);
  std::optional<double> value = foldFloats(op, a.constant, b.constant);
  return value ? std::optional(LinearFloat{0, *value}) : std::nullopt;
}

static std::optional<LinearInt> foldUnary(StringRef op, LinearInt a, Type) {
  if (op == "Neg" && a.batch != 0)
    return foldLinear("Sub", LinearInt{0, 0}, a);
  if (a.batch != 0)
    return std::nullopt;
  // The least number wraps, as in the compiled code.
  if (op == "Neg" || (op == "Abs" && a.constant < 0))
    return LinearInt{0, static_cast<int64_t>(-static_cast<uint64_t>(a.constant))};
  if (op == "Abs")
    return a;
  if (op == "Not")
    return LinearInt{0, a.constant == 0};
  return std::nullopt;
}

static bool isWhole(double value) { return value == std::floor(value); }

static std::optional<LinearFloat> foldUnary(StringRef op, LinearFloat a, Type) {
  if (op == "Neg")
    return LinearFloat{-a.batch, -a.constant};
  bool rounds = op == "Floor" || op == "Ceil" || op == "Round";
  if (rounds && isWhole(a.batch)) {
    double rounded = op == "Floor"  ? std::floor(a.constant)
                     : op == "Ceil" ? std::ceil(a.constant)
                                    : std::nearbyint(a.constant);
    // A half rounds to even: with the batch it could go the other way.
    if (op != "Round" || a.batch == 0 || !isWhole(a.constant * 2) || isWhole(a.constant))
      return LinearFloat{a.batch, rounded};
  }
  if (a.batch != 0)
    return std::nullopt;
  if (op == "Abs")
    return LinearFloat{0, std::abs(a.constant)};
  if (op == "Sqrt")
    return LinearFloat{0, std::sqrt(a.constant)};
  if (op == "Reciprocal")
    return LinearFloat{0, 1 / a.constant};
  return std::nullopt;
}

// One result of f32 or f64 arithmetic that was done in double: for + - * / and sqrt rounding
// twice gives what rounding once gives.
static LinearFloat rounded(LinearFloat value, Type elementType) {
  if (elementType.isF32())
    return {static_cast<float>(value.batch), static_cast<float>(value.constant)};
  return value;
}
static LinearInt rounded(LinearInt value, Type elementType) {
  if (elementType.getIntOrFloatBitWidth() == 32)
    return {value.batch, static_cast<int32_t>(value.constant)};
  return value;
}

static std::vector<LinearInt> &elementsOf(HostTensor &tensor, LinearInt) { return tensor.ints; }
static std::vector<LinearFloat> &elementsOf(HostTensor &tensor, LinearFloat) {
  return tensor.floats;
}

template <typename E>
static std::optional<HostTensor> foldTyped(StringRef op, SmallVector<HostTensor> inputs) {
  HostTensor result = inputs.front();
  Type elementType = result.type.getElementType();
  auto unary = [&](E element) {
    return op == "Add" || op == "Max" || op == "Min" ? std::optional(element)
                                                     : foldUnary(op, element, elementType);
  };
  // Without an element to compute, whether the op is known at all.
  const E one{0, 1};
  if (elementsOf(result, E()).empty() && !(inputs.size() == 1 ? unary(one) : fold(op, one, one)))
    return std::nullopt;
  if (inputs.size() == 1) {
    for (E &element : elementsOf(result, E())) {
      std::optional<E> value = unary(element);
      if (!value)
        return std::nullopt;
      element = rounded(*value, elementType);
    }
    return result;
  }
  for (HostTensor &input : llvm::drop_begin(inputs))
    for (size_t i = 0, e = elementsOf(result, E()).size(); i < e; ++i) {
      E &element = elementsOf(result, E())[i];
      std::optional<E> value = fold(op, element, elementsOf(input, E())[i]);
      if (!value)
        return std::nullopt;
      element = rounded(*value, elementType);
    }
  return result;
}

// Comparisons: bool from any numbers.
static std::optional<HostTensor> foldCompare(StringRef op, const HostTensor &a,
                                             const HostTensor &b) {
  HostTensor result{
      RankedTensorType::get(a.type.getShape(), IntegerType::get(a.type.getContext(), 1)), {}, {}};
  for (int64_t i = 0; i < a.size(); ++i) {
    std::optional<bool> value;
    if (a.isFloat() && a.floats[i].batch == b.floats[i].batch)
      value = compare(op, a.floats[i].constant, b.floats[i].constant);
    else if (!a.isFloat() && a.ints[i].batch == b.ints[i].batch)
      value = compare(op, a.ints[i].constant, b.ints[i].constant);
    else if (op == "Equal" && !a.isFloat()) {
      // A batch is at least 1; it equals no number that it cannot reach. Models compare extents
      // with -1 and 0 to find those that were left open.
      LinearInt x = a.ints[i], y = b.ints[i];
      int64_t batch = x.batch - y.batch, rest = y.constant - x.constant;
      if (rest % batch != 0 || rest / batch < 1)
        value = false;
    }
    if (!value)
      return std::nullopt;
    result.ints.push_back({0, *value});
  }
  return result;
}

std::optional<HostTensor> convoy::onnx::foldElementwise(StringRef op, ArrayRef<HostTensor> inputs) {
  if (inputs.empty())
    return std::nullopt;
  // Where's condition is bool; all else is of one type.
  const HostTensor &typed = op == "Where" ? inputs.back() : inputs.front();
  Type elementType = typed.type.getElementType();
  bool isBool = elementType.isInteger(1);
  bool isKnown = elementType.isF32() || elementType.isF64() || isBool ||
                 (elementType.isSignlessInteger() && elementType.getIntOrFloatBitWidth() >= 32);
  if (!isKnown)
    return std::nullopt;
  SmallVector<ArrayRef<int64_t>> shapes;
  for (const HostTensor &input : inputs) {
    if (&input != &inputs.front() && input.type.getElementType() != elementType)
      return std::nullopt;
    shapes.push_back(input.type.getShape());
  }
  // Shapes that do not broadcast are the business of the op's own check.
  ScopedDiagnosticHandler silent(elementType.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<SmallVector<int64_t>> shape =
      cnn::inferBroadcast(UnknownLoc::get(elementType.getContext()), shapes);
  if (failed(shape) || countElements(*shape).value_or(INT64_MAX) > HostTensor::kMaxElements)
    return std::nullopt;
  SmallVector<HostTensor> broadcast;
  for (const HostTensor &input : inputs)
    broadcast.push_back(input.pick(*shape, broadcastIndices(input.type.getShape(), *shape)));

  if (op == "Where") {
    HostTensor result = broadcast[1];
    for (int64_t i = 0; i < result.size(); ++i) {
      if (broadcast[0].ints[i].constant != 0)
        continue;
      if (result.isFloat())
        result.floats[i] = broadcast[2].floats[i];
      else
        result.ints[i] = broadcast[2].ints[i];
    }
    return result;
  }
  if (broadcast.size() == 2 && compare(op, 0, 0))
    return foldCompare(op, broadcast[0], broadcast[1]);
  if (op == "Sum")
    op = "Add";
  if (op == "Not" && !isBool)
    return std::nullopt;
  return broadcast.front().isFloat() ? foldTyped<LinearFloat>(op, std::move(broadcast))
                                     : foldTyped<LinearInt>(op, std::move(broadcast));
}

std::optional<HostTensor> convoy::onnx::foldCast(const HostTensor &input, Type elementType) {
  HostTensor result{RankedTensorType::get(input.type.getShape(), elementType), {}, {}};
  bool toFloat = isa<FloatType>(elementType);
  for (int64_t i = 0; i < input.size(); ++i) {
    LinearFloat number =
        input.isFloat() ? input.floats[i]
                        : LinearFloat{static_cast<double>(input.ints[i].batch),
                                      static_cast<double>(input.ints[i].constant)};
    bool isFree = number.batch != 0;
    if (toFloat) {
      // Through the bytes of the type, which rounds. An integer of more than 53 bits would be
      // rounded twice.
      if (!input.isFloat() && std::abs(number.constant) > double(int64_t(1) << 53))
        return std::nullopt;
      char bytes[8];
      cnn::writeFloat(bytes, elementType, number.constant);
      result.floats.push_back({number.batch, cnn::readFloat(bytes, elementType)});
      continue;
    }
    if (elementType.isInteger(1)) {
      if (isFree)
        return std::nullopt;
      result.ints.push_back({0, number.constant != 0});
      continue;
    }
    LinearInt value;
    if (input.isFloat()) {
      // Truncation towards zero.
      if (!(std::abs(number.constant) < 9e15) || !isWhole(number.batch) ||
          (isFree && !isWhole(number.constant)))
        return std::nullopt;
      value = {static_cast<int64_t>(number.batch), static_cast<int64_t>(number.constant)};
    } else {
      value = input.ints[i];
    }
    // Out of the type's range the compiled Cast decides.
    char bytes[8];
    cnn::writeInt(bytes, elementType, value.constant);
    if (cnn::readInt(bytes, elementType) != value.constant)
      return std::nullopt;
    result.ints.push_back(value);
  }
  return result;
}
