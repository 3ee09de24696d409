// Builds the function of one kernel: arguments, tiles, loops, memory access, scalar regions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace convoy;

// Offsets of convoy_call's fields, see runtime/include/convoy/kernel_abi.h.
static constexpr int64_t kArgsOffset = 0, kBatchOffset = 8, kScratchOffset = 16;

// The type that an element has in memory: a bool is a byte.
static Type memoryType(Type elementType) {
  Type scalar = cnn::getScalarType(elementType);
  return scalar.isInteger(1) ? IntegerType::get(scalar.getContext(), 8) : scalar;
}

static bool isBool(Type elementType) { return elementType.isInteger(1); }

KernelBuilder::KernelBuilder(ModuleOp code, plan::KernelOp kernel, cnn::TargetAttr target)
    : builder(code.getContext()), loc(kernel.getLoc()), kernel(kernel), target(target) {
  builder.setInsertionPointToEnd(code.getBody());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64Type = builder.getI64Type();
  function = func::FuncOp::create(builder, loc, kernel.getSymName(),
                                  builder.getFunctionType({pointer, i64Type, i64Type}, {}));
  Block *entry = function.addEntryBlock();
  call = entry->getArgument(0);
  begin = entry->getArgument(1);
  end = entry->getArgument(2);
  builder.setInsertionPointToStart(entry);

  // The addresses are read once, in front of all loops; those never used are removed later.
  auto field = [&](Type type, Value object, int64_t offset) -> Value {
    Value address = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), object,
                                        LLVM::GEPArg(static_cast<int32_t>(offset)));
    return LLVM::LoadOp::create(builder, loc, type, address);
  };
  Value args = field(pointer, call, kArgsOffset);
  unsigned numArgs =
      numReads() + cast<plan::YieldOp>(kernel.getBody().front().getTerminator()).getValues().size();
  for (unsigned i = 0; i < numArgs; ++i)
    bases.push_back(field(pointer, args, i * 8));
  batchSize = field(i64Type, call, kBatchOffset);
  scratchBase = field(pointer, call, kScratchOffset);
}

void KernelBuilder::finish() {
  builder.setInsertionPointToEnd(&function.getBody().back());
  func::ReturnOp::create(builder, loc);
}

unsigned KernelBuilder::numReads() const {
  plan::KernelOp op = kernel;
  return op.getBody().getNumArguments();
}

RankedTensorType KernelBuilder::argType(unsigned arg) const {
  plan::KernelOp op = kernel;
  Block &body = op.getBody().front();
  Value value = arg < body.getNumArguments()
                    ? Value(body.getArgument(arg))
                    : body.getTerminator()->getOperand(arg - body.getNumArguments());
  return cast<RankedTensorType>(value.getType());
}

unsigned KernelBuilder::argOf(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber();
  plan::KernelOp op = kernel;
  OperandRange yielded = op.getBody().front().getTerminator()->getOperands();
  return numReads() + std::distance(yielded.begin(), llvm::find(yielded, value));
}

Value KernelBuilder::base(unsigned arg) { return bases[arg]; }

Value KernelBuilder::imageBase(unsigned arg, Value image) {
  RankedTensorType type = argType(arg);
  if (!cnn::hasFreeBatch(type))
    return base(arg);
  Value bytes = mul(image, cnn::getBytes(type));
  return advance(builder.getI8Type(), base(arg), bytes);
}

Value KernelBuilder::batch() { return batchSize; }

Value KernelBuilder::scratch(int64_t bytes) {
  int64_t known = kernel.getScratchBytes().value_or(0);
  kernel.setScratchBytes(std::max(known, bytes));
  return scratchBase;
}

Value KernelBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}

Value KernelBuilder::constant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr;
  if (isa<FloatType>(element))
    attr = builder.getFloatAttr(element, value);
  else
    attr = builder.getIntegerAttr(element, static_cast<int64_t>(value));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

Value KernelBuilder::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b, arith::IntegerOverflowFlags::nsw);
}
Value KernelBuilder::sub(Value a, Value b) {
  return builder.createOrFold<arith::SubIOp>(loc, a, b, arith::IntegerOverflowFlags::nsw);
}
Value KernelBuilder::mul(Value a, Value b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, b, arith::IntegerOverflowFlags::nsw);
}
Value KernelBuilder::div(Value a, int64_t b) {
  return b == 1 ? a : builder.createOrFold<arith::DivUIOp>(loc, a, i64(b));
}
Value KernelBuilder::rem(Value a, int64_t b) {
  return b == 1 ? i64(0) : builder.createOrFold<arith::RemUIOp>(loc, a, i64(b));
}
Value KernelBuilder::min(Value a, Value b) {
  return builder.createOrFold<arith::MinSIOp>(loc, a, b);
}
Value KernelBuilder::max(Value a, Value b) {
  return builder.createOrFold<arith::MaxSIOp>(loc, a, b);
}

KernelBuilder::Values KernelBuilder::delinearize(Value linear, ArrayRef<int64_t> shape) {
  Values index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    // What is left for the first dimension is already below its extent.
    index[i] = i == 0 ? linear : rem(linear, shape[i]);
    linear = div(linear, shape[i]);
  }
  return index;
}

void KernelBuilder::forTiles(int64_t tiles, function_ref<void(Value, Value)> body,
                             ImageOrder order) {
  bool batched = false;
  for (unsigned arg = numReads(); arg < bases.size(); ++arg)
    batched |= cnn::hasFreeBatch(argType(arg));
  kernel.setTiles(tiles);
  kernel.setBatched(batched);
  loop(begin, end, 1, [&](Value index) {
    if (!batched)
      body(i64(0), index);
    else if (order == ImageOrder::Outermost)
      body(div(index, tiles), rem(index, tiles));
    else
      body(arith::RemUIOp::create(builder, loc, index, batchSize),
           arith::DivUIOp::create(builder, loc, index, batchSize));
  });
}

void KernelBuilder::forTilesOfAllImages(int64_t tiles, function_ref<void(Value)> body) {
  kernel.setTiles(tiles);
  kernel.setBatched(false);
  loop(begin, end, 1, body);
}

KernelBuilder::Values KernelBuilder::loop(Value begin, Value end, int64_t step, ValueRange carried,
                                          function_ref<Values(Value, ValueRange)> body) {
  auto forOp = scf::ForOp::create(builder, loc, begin, end, i64(step), carried,
                                  [&](OpBuilder &nested, Location, Value index, ValueRange values) {
                                    OpBuilder::InsertionGuard guard(builder);
                                    builder.setInsertionPoint(nested.getInsertionBlock(),
                                                              nested.getInsertionPoint());
                                    Values next = body(index, values);
                                    scf::YieldOp::create(builder, loc, next);
                                  });
  return Values(forOp.getResults());
}

void KernelBuilder::loop(Value begin, Value end, int64_t step, function_ref<void(Value)> body) {
  loop(begin, end, step, ValueRange(), [&](Value index, ValueRange) {
    body(index);
    return Values();
  });
}

KernelBuilder::Values KernelBuilder::ifThenElse(Value condition, TypeRange results,
                                                function_ref<Values()> thenBody,
                                                function_ref<Values()> elseBody) {
  auto ifOp = scf::IfOp::create(builder, loc, results, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [region, body] :
       {std::pair(&ifOp.getThenRegion(), thenBody), std::pair(&ifOp.getElseRegion(), elseBody)}) {
    Block &block = region->front();
    // Without results the blocks come with their terminator.
    if (results.empty()) {
      builder.setInsertionPoint(block.getTerminator());
      if (body)
        body();
    } else {
      builder.setInsertionPointToEnd(&block);
      scf::YieldOp::create(builder, loc, body());
    }
  }
  return Values(ifOp.getResults());
}

Value KernelBuilder::table(ArrayRef<char> bytes) {
  Type byte = builder.getI8Type();
  auto type = LLVM::LLVMArrayType::get(byte, bytes.size());
  std::string name = (kernel.getSymName() + "_table" + Twine(numTables++)).str();
  auto value = DenseElementsAttr::getFromRawBuffer(
      RankedTensorType::get(static_cast<int64_t>(bytes.size()), byte), bytes);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           value, /*alignment=*/64);
  }
  return LLVM::AddressOfOp::create(builder, loc, call.getType(), name);
}

void KernelBuilder::prefetch(Value pointer) {
  constexpr unsigned read = 0, intoSecondCache = 2, data = 1;
  LLVM::Prefetch::create(builder, loc, pointer, read, intoSecondCache, data);
}

Value KernelBuilder::advance(Type elementType, Value pointer, Value offset) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), memoryType(elementType), pointer,
                             ValueRange{offset}, LLVM::GEPNoWrapFlags::inbounds);
}

Value KernelBuilder::load(Type elementType, Value pointer, Value offset) {
  Value address = advance(elementType, pointer, offset);
  Type type = memoryType(elementType);
  Value value = LLVM::LoadOp::create(builder, loc, type, address);
  if (!isBool(elementType))
    return value;
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, constant(type, 0));
}

void KernelBuilder::store(Type elementType, Value value, Value pointer, Value offset) {
  Value address = advance(elementType, pointer, offset);
  if (isBool(elementType))
    value = arith::ExtUIOp::create(builder, loc, builder.getI8Type(), value);
  LLVM::StoreOp::create(builder, loc, value, address);
}

static unsigned alignmentOf(Type elementType, int64_t count, bool aligned) {
  int64_t bytes = cnn::getElementBytes(elementType);
  return aligned ? llvm::PowerOf2Ceil(bytes * count) : bytes;
}

Value KernelBuilder::loadVector(Type elementType, int64_t count, Value pointer, Value offset,
                                bool aligned, Value mask) {
  Value address = advance(elementType, pointer, offset);
  auto type = VectorType::get(count, memoryType(elementType));
  unsigned alignment = alignmentOf(elementType, count, aligned);
  Value value;
  if (mask)
    value = LLVM::MaskedLoadOp::create(builder, loc, type, address, mask, constant(type, 0),
                                       builder.getI32IntegerAttr(alignment));
  else
    value = LLVM::LoadOp::create(builder, loc, type, address, alignment);
  if (!isBool(elementType))
    return value;
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, constant(type, 0));
}

void KernelBuilder::storeVector(Type elementType, Value value, Value pointer, Value offset,
                                bool aligned, Value mask) {
  Value address = advance(elementType, pointer, offset);
  auto type = cast<VectorType>(value.getType());
  if (isBool(elementType))
    value = arith::ExtUIOp::create(builder, loc,
                                   VectorType::get(type.getShape(), builder.getI8Type()), value);
  unsigned alignment = alignmentOf(elementType, type.getNumElements(), aligned);
  if (mask)
    LLVM::MaskedStoreOp::create(builder, loc, value, address, mask, alignment);
  else
    LLVM::StoreOp::create(builder, loc, value, address, alignment);
}

Value KernelBuilder::firstLanes(Value count, int64_t lanes) {
  Type i32 = builder.getI32Type();
  auto type = VectorType::get(lanes, i32);
  // Clamped before it is narrowed, so that any count is right.
  Value narrow = builder.createOrFold<arith::TruncIOp>(loc, i32, min(count, i64(lanes)));
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
  Value iota =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, iota, splat(narrow, lanes));
}

Value KernelBuilder::splat(Value scalar, int64_t count) {
  return builder.createOrFold<vector::BroadcastOp>(loc, VectorType::get(count, scalar.getType()),
                                                   scalar);
}

Value KernelBuilder::offsetOf(RankedTensorType type, ValueRange logicalIndex) {
  type = cnn::perImage(type);
  cnn::Layout layout = cnn::getLayout(type);
  ArrayRef<int64_t> extents = type.getShape();
  SmallVector<int64_t> shape = layout.physicalShape(extents);
  Values rest;
  for (auto [extent, index] : llvm::zip_equal(extents, logicalIndex.take_back(extents.size())))
    rest.push_back(extent == 1 ? i64(0) : index);
  // As cnn::Layout::offset.
  Values physical(shape.size());
  ArrayRef<std::pair<unsigned, int64_t>> inner = layout.inner();
  for (size_t i = inner.size(); i-- > 0;) {
    auto [dim, size] = inner[i];
    physical[layout.rank() + i] = rem(rest[dim], size);
    rest[dim] = div(rest[dim], size);
  }
  for (auto [i, dim] : llvm::enumerate(layout.outer()))
    physical[i] = rest[dim];
  Value linear = i64(0);
  for (auto [extent, position] : llvm::zip_equal(shape, physical))
    linear = add(mul(linear, extent), position);
  return linear;
}

// Integer division by zero, and of the least value by -1, would trap. ONNX leaves the result open;
// here dividing by zero gives the dividend and remainder 0, and the least value wraps.
static Value safeDivisor(KernelBuilder &kb, Operation *op, Value dividend, Value divisor) {
  OpBuilder &b = kb.builder;
  Type type = divisor.getType();
  auto equals = [&](Value value, Value other) -> Value {
    return b.createOrFold<arith::CmpIOp>(kb.loc, arith::CmpIPredicate::eq, value, other);
  };
  Value unsafe = equals(divisor, kb.constant(type, 0));
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op)) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr least =
        b.getIntegerAttr(element, APInt::getSignedMinValue(element.getIntOrFloatBitWidth()));
    if (auto vector = dyn_cast<VectorType>(type))
      least = DenseElementsAttr::get(vector, Attribute(least));
    Value overflows = b.createOrFold<arith::AndIOp>(
        kb.loc, equals(dividend, arith::ConstantOp::create(b, kb.loc, least)),
        equals(divisor, kb.constant(type, -1)));
    unsafe = b.createOrFold<arith::OrIOp>(kb.loc, unsafe, overflows);
  }
  return b.createOrFold<arith::SelectOp>(kb.loc, unsafe, kb.constant(type, 1), divisor);
}

Value KernelBuilder::apply(Region &region, ValueRange arguments) {
  int64_t count = 0; // of lanes; 0 for scalars
  for (Value argument : arguments)
    if (auto vector = dyn_cast<VectorType>(argument.getType()))
      count = vector.getNumElements();
  auto widen = [&](Value value) {
    return count && !isa<VectorType>(value.getType()) ? splat(value, count) : value;
  };

  IRMapping mapping;
  Block &block = region.front();
  for (auto [parameter, argument] : llvm::zip_equal(block.getArguments(), arguments))
    mapping.map(parameter, widen(argument));
  for (Operation &op : block.without_terminator()) {
    OperationState state(loc, op.getName());
    for (Value operand : op.getOperands())
      state.operands.push_back(widen(mapping.lookupOrDefault(operand)));
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
            arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
      state.operands[1] = safeDivisor(*this, &op, state.operands[0], state.operands[1]);
    bool isConstant = isa<arith::ConstantOp>(op);
    for (Type type : op.getResultTypes())
      state.types.push_back(count && !isConstant ? VectorType::get(count, type) : type);
    state.attributes = llvm::to_vector(op.getAttrs());
    state.propertiesAttr = op.getPropertiesAsAttribute();
    Operation *copy = builder.create(state);
    for (auto [from, to] : llvm::zip_equal(op.getResults(), copy->getResults()))
      mapping.map(from, widen(to));
  }
  return widen(mapping.lookupOrDefault(block.getTerminator()->getOperand(0)));
}
