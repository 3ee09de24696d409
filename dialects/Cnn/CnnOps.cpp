// Verifiers and interface methods of the cnn ops. Numbers such as conv_c1 are the constraints of
// the op's description in CnnOps.td.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Cnn/Cnn.h"

using namespace mlir;
using namespace convoy;
using namespace convoy::cnn;

#include "dialects/Cnn/CnnInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Cnn/CnnOps.cpp.inc"

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static SmallVector<RankedTensorType> typesOf(ValueRange values) {
  return llvm::map_to_vector(values, typeOf);
}

// The result has the inferred shape and element type; its layout is its own affair.
static LogicalResult expectType(Operation *op, FailureOr<RankedTensorType> inferred) {
  if (failed(inferred))
    return failure();
  RankedTensorType actual = typeOf(op->getResult(0));
  if (actual.getShape() == inferred->getShape() &&
      actual.getElementType() == inferred->getElementType())
    return success();
  return op->emitOpError() << "has result " << actual << ", expected " << *inferred;
}

// As above for an op whose epilogue may change the element type.
static LogicalResult expectShape(Operation *op, FailureOr<RankedTensorType> inferred) {
  if (failed(inferred))
    return failure();
  RankedTensorType actual = typeOf(op->getResult(0));
  if (actual.getShape() == inferred->getShape())
    return success();
  return op->emitOpError() << "has result " << actual << ", expected the shape of " << *inferred;
}

LogicalResult cnn::verifyScalarRegion(Operation *op) {
  auto epilogueOp = cast<EpilogueOpInterface>(op);
  Region &region = epilogueOp.getScalarRegion();
  if (region.empty())
    return op->emitOpError() << "needs a scalar region";
  Block &block = region.front();
  SmallVector<Type> expected;
  if (Type accumulator = epilogueOp.getAccumulatorType())
    expected.push_back(accumulator);
  for (Value operand : epilogueOp.getRegionOperands())
    expected.push_back(getScalarType(typeOf(operand)));
  if (!llvm::equal(block.getArgumentTypes(), expected))
    return op->emitOpError() << "scalar region takes (" << block.getArgumentTypes()
                             << "), expected (" << expected << ")";
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return op->emitOpError() << "scalar region must end with cnn.yield";
  Type resultType = getScalarType(typeOf(op->getResult(0)));
  if (yield.getValue().getType() != resultType)
    return op->emitOpError() << "scalar region yields " << yield.getValue().getType()
                             << ", expected " << resultType;
  SmallVector<ArrayRef<int64_t>> shapes{typeOf(op->getResult(0)).getShape()};
  for (Value operand : epilogueOp.getRegionOperands())
    shapes.push_back(typeOf(operand).getShape());
  FailureOr<SmallVector<int64_t>> shape = inferBroadcast(op->getLoc(), shapes);
  if (failed(shape))
    return failure();
  if (ArrayRef<int64_t>(*shape) != shapes.front())
    return op->emitOpError() << "an operand of the scalar region does not broadcast to "
                             << op->getResult(0).getType();
  return success();
}

// Accessors of EpilogueOpInterface: ops with an accumulator, then map.
#define CONVOY_EPILOGUE_OP(OP, SRC)                                                                \
  Region &OP::getScalarRegion() { return getEpilogue(); }                                          \
  OperandRange OP::getRegionOperands() { return getExtras(); }                                     \
  MutableOperandRange OP::getRegionOperandsMutable() { return getExtrasMutable(); }                \
  Type OP::getAccumulatorType() { return getScalarType(typeOf(SRC)); }
CONVOY_EPILOGUE_OP(ConvOp, getSrc())
CONVOY_EPILOGUE_OP(ConvTransposeOp, getSrc())
CONVOY_EPILOGUE_OP(PoolOp, getSrc())
CONVOY_EPILOGUE_OP(MatmulOp, getLhs())
CONVOY_EPILOGUE_OP(ReduceOp, getSrc())
#undef CONVOY_EPILOGUE_OP

Region &MapOp::getScalarRegion() { return getBody(); }
OperandRange MapOp::getRegionOperands() { return getInputs(); }
MutableOperandRange MapOp::getRegionOperandsMutable() { return getInputsMutable(); }
Type MapOp::getAccumulatorType() { return {}; }

void ConstantOp::build(OpBuilder &, OperationState &state, ElementsAttr value) {
  state.addAttribute(getValueAttrName(state.name), value);
  state.addTypes(value.getType());
}

LogicalResult YieldOp::verify() { // yield_c1
  if (isa<EpilogueOpInterface>((*this)->getParentOp()))
    return success();
  return emitOpError() << "stands outside of a scalar region";
}

LogicalResult ConstantOp::verify() { // constant_c1
  auto type = typeOf(getResult());
  auto valueType = cast<ShapedType>(getValue().getType());
  if (!type.hasStaticShape())
    return emitOpError() << "needs a static shape, got " << type;
  if (valueType.getShape() != ArrayRef<int64_t>(getLayout(type).physicalShape(type.getShape())) ||
      valueType.getElementType() != type.getElementType())
    return emitOpError() << "value " << valueType << " does not fill " << type;
  if (!isa<DenseElementsAttr, DenseResourceElementsAttr>(getValue())) // constant_c2
    return emitOpError() << "needs a dense value";
  return success();
}

LogicalResult ConvOp::verify() { // conv_c1 to conv_c5
  return expectShape(*this, inferType(getLoc(), typeOf(getSrc()), typeOf(getWei()), getStrides(),
                                      getPads(), getDilations(), getGroups()));
}

LogicalResult ConvTransposeOp::verify() { // conv_transpose_c1 to c5
  return expectShape(*this, inferType(getLoc(), typeOf(getSrc()), typeOf(getWei()), getStrides(),
                                      getPads(), getDilations(), getOutputPadding(), getGroups()));
}

LogicalResult PoolOp::verify() { // pool_c1 to pool_c3
  return expectShape(*this, inferType(getLoc(), typeOf(getSrc()), getKernel(), getStrides(),
                                      getPads(), getDilations(), getCeilMode()));
}

LogicalResult PoolArgmaxOp::verify() {
  FailureOr<RankedTensorType> inferred =
      PoolOp::inferType(getLoc(), typeOf(getSrc()), getKernel(), getStrides(), getPads(),
                        getDilations(), getCeilMode());
  if (succeeded(inferred))
    inferred = RankedTensorType::get(inferred->getShape(), IntegerType::get(getContext(), 64));
  return expectType(*this, inferred);
}

LogicalResult MatmulOp::verify() { // matmul_c1 to matmul_c5
  return expectShape(*this, inferType(getLoc(), typeOf(getLhs()), typeOf(getRhs()),
                                      getTransposeLhs(), getTransposeRhs()));
}

LogicalResult ReduceOp::verify() { // reduce_c1 to reduce_c3
  return expectShape(*this, inferType(getLoc(), typeOf(getSrc()), getAxes(), getKeepDims()));
}

LogicalResult MapOp::verify() { // map_c1
  return expectShape(*this, inferType(getLoc(), typesOf(getInputs()),
                                      typeOf(getDst()).getElementType()));
}

LogicalResult SoftmaxOp::verify() {
  auto src = typeOf(getSrc());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= src.getRank()) // softmax_c1
    return emitOpError() << "axis " << axis << " is outside rank " << src.getRank();
  if (src.isDynamicDim(axis)) // softmax_c3
    return emitOpError() << "axis " << axis << " is the free batch; fix it with --shape";
  return expectType(*this, src); // softmax_c2
}

LogicalResult LrnOp::verify() {
  auto src = typeOf(getSrc());
  int64_t size = getSize();
  if (src.getRank() < 2 || size < 1) // lrn_c1
    return emitOpError() << "needs rank 2 or more and a positive size, got rank " << src.getRank()
                         << " and size " << size;
  return expectType(*this, src); // lrn_c2
}

LogicalResult BatchNormOp::verify() {
  auto src = typeOf(getSrc());
  int64_t channels = src.getRank() < 2 ? 1 : src.getDimSize(1);
  for (auto [name, value] :
       {std::pair<StringRef, Value>{"scale", getScale()}, {"bias", getBias()},
        {"mean", getMean()}, {"variance", getVariance()}}) {
    auto type = typeOf(value);
    if (type.getRank() != 1 || type.getDimSize(0) != channels) // batch_norm_c1
      return emitOpError() << name << " is " << type << ", expected a vector of " << channels;
  }
  return expectType(*this, src); // batch_norm_c2
}

LogicalResult SampleOp::verify() { // sample_c1 to sample_c6
  return expectType(*this, inferType(getLoc(), typeOf(getSrc()), typeOf(getPositions()),
                                     getMode()));
}

LogicalResult RoiAlignOp::verify() { // roi_align_c1 to roi_align_c5
  return expectType(*this, inferType(getLoc(), typeOf(getSrc()), typeOf(getRois()),
                                     typeOf(getImages()), getBins(), getSamplingRatio()));
}

LogicalResult ReshapeOp::verify() {
  auto src = typeOf(getSrc()), dst = typeOf(getDst());
  if (src.getElementType() != dst.getElementType())
    return emitOpError() << "changes the element type: " << src << " to " << dst;
  if (hasFreeBatch(src) != hasFreeBatch(dst)) // reshape_c2
    return emitOpError() << "the free batch must stay in dimension 0: " << src << " to " << dst;
  if (perImage(src).getNumElements() != perImage(dst).getNumElements()) // reshape_c1
    return emitOpError() << "numbers of elements differ: " << src << " to " << dst;
  if (!getLayout(src).isRowMajor() || !getLayout(dst).isRowMajor()) // reshape_c3
    return emitOpError() << "needs row-major layouts: " << src << " to " << dst;
  return success();
}

LogicalResult TransposeOp::verify() {
  auto src = typeOf(getSrc());
  SmallVector<int64_t> sorted(getPerm());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, src.getRank()))) // transpose_c1
    return emitOpError() << "perm [" << getPerm() << "] is no permutation of rank "
                         << src.getRank();
  SmallVector<int64_t> shape;
  for (int64_t dim : getPerm())
    shape.push_back(src.getDimSize(dim));
  if (hasFreeBatch(src) && getPerm()[0] != 0) // transpose_c3
    return emitOpError() << "moves the free batch from dimension 0; fix it with --shape";
  return expectType(*this, RankedTensorType::get(shape, src.getElementType())); // transpose_c2
}

LogicalResult BroadcastOp::verify() { // broadcast_c1
  auto src = typeOf(getSrc()), dst = typeOf(getDst());
  FailureOr<SmallVector<int64_t>> shape =
      inferBroadcast(getLoc(), {dst.getShape(), src.getShape()});
  if (failed(shape))
    return failure();
  if (ArrayRef<int64_t>(*shape) != dst.getShape() || src.getElementType() != dst.getElementType())
    return emitOpError() << src << " does not broadcast to " << dst;
  return success();
}

LogicalResult SliceOp::verify() {
  auto src = typeOf(getSrc()), dst = typeOf(getDst());
  size_t rank = src.getRank();
  if (getStarts().size() != rank || getSteps().size() != rank ||
      static_cast<size_t>(dst.getRank()) != rank) // slice_c1
    return emitOpError() << "needs one start and one step for each of " << rank << " dimensions";
  if (src.getElementType() != dst.getElementType())
    return emitOpError() << "changes the element type: " << src << " to " << dst;
  for (size_t i = 0; i < rank; ++i) {
    int64_t start = getStarts()[i], step = getSteps()[i];
    int64_t extent = src.getDimSize(i), size = dst.getDimSize(i);
    if (src.isDynamicDim(i) || dst.isDynamicDim(i)) { // slice_c3
      if (start != 0 || step != 1 || !src.isDynamicDim(i) || !dst.isDynamicDim(i))
        return emitOpError() << "slices the free batch; fix it with --shape";
      continue;
    }
    int64_t last = start + (size - 1) * step;
    bool inside = size == 0 || (start >= 0 && start < extent && last >= 0 && last < extent);
    if (step == 0 || !inside) // slice_c2
      return emitOpError() << "dimension " << i << ": start " << start << ", step " << step
                           << ", size " << size << " leave the extent " << extent;
  }
  return success();
}

LogicalResult ConcatOp::verify() { // concat_c1 to concat_c3
  return expectType(*this, inferType(getLoc(), typesOf(getInputs()), getAxis()));
}

LogicalResult PadOp::verify() {
  auto src = typeOf(getSrc());
  size_t rank = src.getRank();
  if (getLow().size() != rank || getHigh().size() != rank) // pad_c1
    return emitOpError() << "needs one low and one high for each of " << rank << " dimensions";
  if (getValue()) { // pad_c3
    auto value = typeOf(getValue());
    if (!value.hasStaticShape() || value.getNumElements() != 1 ||
        value.getElementType() != src.getElementType())
      return emitOpError() << "value must be one element of " << src.getElementType() << ", got "
                           << value;
  }
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    int64_t extent = src.getDimSize(i), low = getLow()[i], high = getHigh()[i];
    if (src.isDynamicDim(i)) { // pad_c4
      if (low != 0 || high != 0)
        return emitOpError() << "pads the free batch; fix it with --shape";
      shape.push_back(extent);
      continue;
    }
    if (getMode() == PadMode::Reflect && (low >= extent || high >= extent) &&
        (low > 0 || high > 0)) // pad_c5
      return emitOpError() << "dimension " << i << ": reflect needs pads below the extent "
                           << extent << ", got " << low << " and " << high;
    shape.push_back(extent + low + high);
    if (shape.back() < 0)
      return emitOpError() << "dimension " << i << ": crops " << extent << " to " << shape.back();
  }
  return expectType(*this, RankedTensorType::get(shape, src.getElementType())); // pad_c2
}

LogicalResult ResizeOp::verify() {
  auto src = typeOf(getSrc()), dst = typeOf(getDst());
  size_t rank = src.getRank();
  if (src.getRank() != dst.getRank() || src.getElementType() != dst.getElementType())
    return emitOpError() << "changes rank or element type: " << src << " to " << dst;
  if (getScales().size() != rank || llvm::any_of(getScales(), [](double s) { return !(s > 0); }))
    return emitOpError() << "needs one positive scale for each of " << rank
                         << " dimensions"; // resize_c1
  if (!getRoi().empty() && getRoi().size() != 2 * rank) // resize_c3
    return emitOpError() << "roi needs " << 2 * rank << " values, got " << getRoi().size();
  for (size_t i = 0; i < rank; ++i)
    if (src.isDynamicDim(i) && (!dst.isDynamicDim(i) || getScales()[i] != 1.0)) // resize_c2
      return emitOpError() << "resizes the free batch; fix it with --shape";
  return success();
}

LogicalResult GatherOp::verify() { // gather_c1 to gather_c4
  return expectType(*this, inferType(getLoc(), typeOf(getSrc()), typeOf(getIndices()), getAxis()));
}

LogicalResult RelayoutOp::verify() { // relayout_c1
  return expectType(*this, typeOf(getSrc()));
}
