// The values that the evaluator computes with: their memory, and constants to and from it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Evaluate/Tensor.h"

#include "dialects/Cnn/ConstantData.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace convoy::cnn;

static constexpr size_t kAlignment = 64;
// Up to here a constant is readable text in a dump, see makeConstant.
static constexpr size_t kInlineBytes = 1024;

static RankedTensorType rowMajor(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

Tensor Tensor::allocate(RankedTensorType type) {
  Tensor tensor;
  tensor.tensorType = rowMajor(type);
  int64_t bytes = getElementBytes(type.getElementType());
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes) || bytes > int64_t(1) << 46)
      return tensor;
  auto *memory =
      static_cast<char *>(std::aligned_alloc(kAlignment, llvm::alignTo(bytes + 1, kAlignment)));
  tensor.owner = std::shared_ptr<char>(memory, std::free);
  tensor.content = {memory, memory ? size_t(bytes) : 0};
  return tensor;
}

Tensor Tensor::view(RankedTensorType type, ArrayRef<char> bytes) {
  Tensor tensor;
  tensor.tensorType = rowMajor(type);
  tensor.content = bytes;
  return tensor;
}

Tensor Tensor::withShape(ArrayRef<int64_t> shape) const {
  Tensor tensor = *this;
  tensor.tensorType = RankedTensorType::get(shape, elementType());
  return tensor;
}

// Calls `move(logical, physical)` with the positions of each element.
template <typename Move>
static void forEachElement(RankedTensorType type, Move &&move) {
  Layout layout = getLayout(type);
  ArrayRef<int64_t> shape = type.getShape();
  size_t rank = shape.size();
  if (rank == 0)
    return move(0, 0);
  // Every coordinate adds to the position whatever the others are.
  SmallVector<int64_t> index(rank, 0);
  SmallVector<std::vector<int64_t>> positions(rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    for (index[dim] = 0; index[dim] < shape[dim]; ++index[dim])
      positions[dim].push_back(layout.offset(index, shape));
    index[dim] = 0;
  }
  for (int64_t logical = 0, count = type.getNumElements(); logical < count;) {
    int64_t base = 0;
    for (size_t dim = 0; dim + 1 < rank; ++dim)
      base += positions[dim][index[dim]];
    for (int64_t position : positions.back())
      move(logical++, base + position);
    for (size_t dim = rank - 1; dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
}

Tensor Tensor::fromConstant(RankedTensorType type, ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  bool isPlain = !dense || (!dense.isSplat() && !type.getElementType().isInteger(1));
  bool isRowMajor = getLayout(type).isRowMajor();
  if (isPlain && isRowMajor) {
    if (dense)
      return view(type, dense.getRawData());
    return view(type, ConstantData(value).bytes());
  }
  return unpack(type, ConstantData(value).bytes());
}

Tensor Tensor::unpack(RankedTensorType type, ArrayRef<char> memory) {
  Tensor tensor = allocate(type);
  if (tensor.bytes().empty())
    return tensor;
  if (getLayout(type).isRowMajor()) {
    std::memcpy(tensor.mutableData(), memory.data(), tensor.bytes().size());
    return tensor;
  }
  int64_t size = tensor.elementBytes();
  forEachElement(type, [&](int64_t logical, int64_t physical) {
    std::memcpy(tensor.mutableData() + logical * size, memory.data() + physical * size, size);
  });
  return tensor;
}

void Tensor::pack(RankedTensorType type, MutableArrayRef<char> memory) const {
  if (getLayout(type).isRowMajor()) {
    if (!content.empty())
      std::memcpy(memory.data(), data(), content.size());
    return;
  }
  int64_t size = elementBytes();
  forEachElement(type, [&](int64_t logical, int64_t physical) {
    std::memcpy(memory.data() + physical * size, data() + logical * size, size);
  });
}

ElementsAttr Tensor::toConstant(RankedTensorType type) const {
  Layout layout = getLayout(type);
  Tensor packed = *this;
  if (!layout.isRowMajor()) {
    packed = allocate(RankedTensorType::get(layout.physicalShape(type.getShape()),
                                            type.getElementType()));
    std::memset(packed.mutableData(), 0, packed.content.size());
    pack(type, {packed.mutableData(), packed.content.size()});
  }
  if (packed.content.size() <= kInlineBytes)
    return makeConstant(packed.type(), std::vector<char>(packed.content.begin(),
                                                         packed.content.end()));
  if (!packed.owner)
    return DenseResourceElementsAttr::get(
        packed.type(), "const",
        HeapAsmResourceBlob::allocateAndCopyWithAlign(packed.content, kAlignment));
  AsmResourceBlob blob(packed.content, kAlignment,
                       [owner = packed.owner](void *, size_t, size_t) mutable { owner.reset(); },
                       /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(packed.type(), "const", std::move(blob));
}
