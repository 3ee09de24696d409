// What the nodes of a model were seen to compute.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/verify/ValueStore.h"

#include "dialects/Cnn/ConstantData.h"
#include "dialects/Cnn/Evaluate/Evaluate.h"
#include "dialects/Cnn/Winograd.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <array>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace convoy;
using namespace convoy::verify;
using cnn::Tensor;

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

KnownTensor::KnownTensor(Tensor value) : tensor(std::move(value)) {
  std::string type = textOf(tensor.type());
  hash = llvm::xxh3_64bits(type) * 31 +
         llvm::xxh3_64bits({reinterpret_cast<const uint8_t *>(tensor.data()), tensor.bytes().size()});
}

static void collectNodes(Location loc, SmallVector<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    names.push_back(name.getName());
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectNodes(part, names);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectNodes(call.getCallee(), names);
  }
}

SmallVector<StringRef> verify::nodesOf(Location loc) {
  SmallVector<StringRef> names;
  collectNodes(loc, names);
  return names;
}

int64_t verify::unitsOf(Operation *op) {
  bool rounds = false;
  op->walk([&](Operation *inner) { rounds |= isa<arith::FPToSIOp, arith::FPToUIOp>(inner); });
  return rounds ? 1 : 0;
}

static Type withoutLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? RankedTensorType::get(tensor.getShape(), tensor.getElementType()) : type;
}

// The text of an op alone: what it computes, whatever the layouts, the strategy and the place.
static std::string textOf(Operation *op) {
  Block block;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand))
      mapping.map(operand, block.addArgument(withoutLayout(operand.getType()), op->getLoc()));
  Operation *clone = op->clone(mapping);
  block.push_back(clone);
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    clone->setOperand(i, block.addArgument(withoutLayout(operand.getType()), op->getLoc()));
  for (OpResult result : clone->getResults())
    result.setType(withoutLayout(result.getType()));
  clone->removeAttr("strategy");
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.useLocalScope().printGenericOpForm();
  clone->print(stream, flags);
  return text;
}

FailureOr<Judgement> ValueStore::judge(Operation *op, Location loc, ArrayRef<KnownTensor> operands,
                                       std::optional<int64_t> batch) {
  ++asked;
  std::string key = textOf(op) + "\n" + std::to_string(batch.value_or(-1));
  for (const KnownTensor &operand : operands)
    key += "\n" + std::to_string(operand.hash);
  Judgement judgement;
  if (auto known = results.find(key); known != results.end()) {
    judgement.value = known->second;
    return judgement;
  }
  ++computed;
  SmallVector<Tensor> tensors =
      llvm::map_to_vector(operands, [](const KnownTensor &operand) { return operand.tensor; });
  FailureOr<SmallVector<Tensor>> evaluated = cnn::evaluate(op, tensors, batch);
  if (failed(evaluated))
    return failure();
  judgement.value = KnownTensor((*evaluated)[0]);
  judgement.isNew = true;
  SmallVector<StringRef> nodes = nodesOf(loc);
  // The last node first: it is the one whose value this should be.
  for (StringRef node : llvm::reverse(nodes)) {
    auto values = byNode.find(node);
    if (values == byNode.end())
      continue;
    for (const KnownTensor &value : values->second) {
      if (value.tensor.type() != judgement.value.tensor.type())
        continue;
      std::optional<Deviation> deviation =
          compare(judgement.value.tensor, value.tensor, tolerance, unitsOf(op));
      if (!deviation) {
        judgement.value = value;
        judgement.deviation.reset();
        judgement.isNew = false;
        results[key] = value;
        return judgement;
      }
      bool isLast = node == nodes.back();
      if (isLast && (!judgement.deviation || deviation->error < judgement.deviation->error))
        judgement.deviation = deviation;
      judgement.isNew &= !isLast;
    }
  }
  results[key] = judgement.value;
  return judgement;
}

void ValueStore::accept(Location loc, const KnownTensor &value) {
  for (StringRef node : nodesOf(loc)) {
    auto &values = byNode[node];
    if (llvm::none_of(values, [&](const KnownTensor &v) { return v.hash == value.hash; }))
      values.push_back(value);
  }
}

// The kernels that were transformed for Winograd's convolution: with D = G g G^T and A the inverse
// of three independent rows of G, g = A d A^T where d is D at these rows and columns.
static Tensor undoWinograd(RankedTensorType type, cnn::WinogradTile tile,
                           const Tensor &transformed) {
  int64_t kernel = type.getDimSize(3);
  cnn::Winograd winograd(tile.outputs, kernel, tile.stride);
  int64_t size = winograd.size;
  // The point at infinity and those next to zero are never dependent; nor, with stride 2, an odd
  // element, which is last, and two even ones.
  SmallVector<int64_t> rows;
  for (int64_t i = 0; i + 1 < kernel; ++i)
    rows.push_back(i);
  rows.push_back(size - 1);
  // Gauss and Jordan.
  std::vector<std::vector<double>> left(kernel), inverse(kernel);
  for (int64_t i = 0; i < kernel; ++i) {
    left[i] = winograd.ofKernel[rows[i]];
    inverse[i].assign(kernel, 0);
    inverse[i][i] = 1;
  }
  for (int64_t column = 0; column < kernel; ++column) {
    int64_t pivot = column;
    for (int64_t i = column; i < kernel; ++i)
      if (std::fabs(left[i][column]) > std::fabs(left[pivot][column]))
        pivot = i;
    std::swap(left[column], left[pivot]);
    std::swap(inverse[column], inverse[pivot]);
    double factor = left[column][column];
    for (int64_t k = 0; k < kernel; ++k) {
      left[column][k] /= factor;
      inverse[column][k] /= factor;
    }
    for (int64_t i = 0; i < kernel; ++i) {
      double times = left[i][column];
      if (i == column || times == 0)
        continue;
      for (int64_t k = 0; k < kernel; ++k) {
        left[i][k] -= times * left[column][k];
        inverse[i][k] -= times * inverse[column][k];
      }
    }
  }
  Tensor result = Tensor::allocate(type);
  auto *dst = reinterpret_cast<float *>(result.mutableData());
  const float *src = transformed.as<float>().data();
  for (int64_t n = 0, count = type.getDimSize(0) * type.getDimSize(1); n < count; ++n)
    for (int64_t i = 0; i < kernel; ++i)
      for (int64_t j = 0; j < kernel; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < kernel; ++k)
          for (int64_t l = 0; l < kernel; ++l)
            sum += inverse[i][k] * src[(n * size + rows[k]) * size + rows[l]] * inverse[j][l];
        dst[(n * kernel + i) * kernel + j] = static_cast<float>(sum);
      }
  return result;
}

FailureOr<KnownTensor> ValueStore::constant(Operation *op, RankedTensorType type,
                                            ElementsAttr value) {
  if (auto known = constants.find(value); known != constants.end())
    // One attribute may stand for several types of one size.
    if (known->second.tensor.type() == withoutLayout(type))
      return known->second;
  cnn::Layout layout = cnn::getLayout(type);
  KnownTensor result;
  if (std::optional<cnn::WinogradTile> tile = layout.winograd()) {
    if (!type.getElementType().isF32() || type.getRank() != 4)
      return op->emitError() << "holds transformed weights of " << type;
    int64_t size = tile->stride * (tile->outputs - 1) + type.getDimSize(3);
    // The tag without its end is the layout of the transformed weights.
    StringRef tag = cnn::getLayoutTag(type).split('.').first;
    auto inMemory = cnn::withLayout(
        RankedTensorType::get({type.getDimSize(0), type.getDimSize(1), size, size},
                              type.getElementType()),
        tag);
    cnn::ConstantData data(value);
    KnownTensor undone(undoWinograd(cast<RankedTensorType>(withoutLayout(type)), *tile,
                                    Tensor::unpack(inMemory, data.bytes())));
    // What was rounded in between is one of the model's own weights, if it is right.
    result = undone;
    for (const auto &[hash, known] : constantsByHash)
      if (known.tensor.type() == undone.tensor.type() &&
          !compare(undone.tensor, known.tensor, std::min(tolerance, 1e-5)))
        result = known;
  } else {
    // A copy: passes release the data of constants that they replace.
    Tensor tensor = Tensor::fromConstant(type, value);
    Tensor copy = Tensor::allocate(tensor.type());
    if (copy.numElements() > 0 && !copy.data())
      return op->emitError() << "no memory for a copy of " << type;
    if (copy.numElements() > 0)
      std::memcpy(copy.mutableData(), tensor.data(), tensor.bytes().size());
    result = KnownTensor(copy);
  }
  // The same elements in another layout share the first copy.
  result = constantsByHash.try_emplace(result.hash, result).first->second;
  constants[value] = result;
  return result;
}
