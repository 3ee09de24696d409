// A planned module with its code as a variant of an artifact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/PlanToArtifact.h"

#include "compiler/artifact/Image.h"
#include "dialects/Cnn/ConstantData.h"
#include "dialects/Plan/Plan.h"
#include "passes/Graph.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace convoy;

static artifact::ElementType elementTypeOf(Type type) {
  using artifact::ElementType;
  if (type.isF32())
    return ElementType::f32;
  if (type.isF16())
    return ElementType::f16;
  if (type.isBF16())
    return ElementType::bf16;
  if (type.isF64())
    return ElementType::f64;
  if (type.isInteger(1))
    return ElementType::boolean;
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0) {
  case 8:
    return isUnsigned ? ElementType::u8 : ElementType::i8;
  case 16:
    return isUnsigned ? ElementType::u16 : ElementType::i16;
  case 32:
    return isUnsigned ? ElementType::u32 : ElementType::i32;
  case 64:
    return isUnsigned ? ElementType::u64 : ElementType::i64;
  default:
    return ElementType::undefined;
  }
}

namespace {

/// Translates one program; buffers become places that arguments of launches point to.
class VariantBuilder {
public:
  VariantBuilder(ModuleOp module, const Target &target, artifact::Artifact &artifact)
      : module(module), pool(artifact.constants) {
    variant.target = target.name().str();
  }

  LogicalResult addCode(const GeneratedCode &code);
  LogicalResult addProgram(plan::ProgramOp program);
  artifact::Variant take() { return std::move(variant); }

private:
  LogicalResult addValue(Operation *op, StringRef name, Type type, artifact::Space space,
                         std::vector<artifact::Value> &values);
  LogicalResult addAlloc(plan::AllocOp alloc);
  void addLaunch(plan::LaunchOp launch);
  void touch(Value buffer, unsigned launch);

  ModuleOp module;
  artifact::ConstantPool &pool;
  artifact::Variant variant;
  llvm::DenseMap<Value, artifact::Arg> places;
  llvm::StringMap<unsigned> kernelIndex;
  /// The entry of variant.buffers of each alloc.
  llvm::DenseMap<Value, unsigned> bufferIndex;
};

} // namespace

LogicalResult VariantBuilder::addCode(const GeneratedCode &code) {
  llvm::Expected<artifact::Image> image =
      artifact::flattenImage(StringRef(code.object.data(), code.object.size()));
  if (!image)
    return module.emitError() << "code: " << llvm::toString(image.takeError());
  variant.code = std::move(image->bytes);
  variant.cpuFeatures = code.features;
  for (auto kernel : module.getOps<plan::KernelOp>()) {
    auto symbol = image->symbols.find(kernel.getSymName());
    if (symbol == image->symbols.end() || !kernel.getTiles())
      return kernel.emitOpError() << "has no code";
    kernelIndex[kernel.getSymName()] = variant.kernels.size();
    variant.kernels.push_back({kernel.getSymName().str(), kernel.getStrategy().str(),
                               symbol->second.offset, symbol->second.bytes});
    variant.scratchBytes =
        std::max<uint64_t>(variant.scratchBytes, kernel.getScratchBytes().value_or(0));
  }
  return success();
}

LogicalResult VariantBuilder::addValue(Operation *op, StringRef name, Type type,
                                       artifact::Space space,
                                       std::vector<artifact::Value> &values) {
  auto tensor = cast<RankedTensorType>(type);
  artifact::Value value;
  value.name = name.str();
  value.type = elementTypeOf(tensor.getElementType());
  if (value.type == artifact::ElementType::undefined)
    return op->emitOpError() << "'" << name << "' has elements of " << tensor.getElementType()
                             << ", which an artifact cannot carry";
  for (int64_t extent : tensor.getShape())
    value.dims.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  artifact::Arg place;
  place.space = space;
  place.index = values.size();
  place.bytes = cnn::getBytes(tensor);
  places[op->getResult(0)] = place;
  values.push_back(std::move(value));
  return success();
}

LogicalResult VariantBuilder::addAlloc(plan::AllocOp alloc) {
  if (!alloc.getOffset())
    return alloc.emitOpError() << "has no offset; convoy-plan-memory has not run";
  artifact::Arg place;
  place.space = artifact::Space::arena;
  place.offset = *alloc.getOffset();
  place.bytes = alloc.getBytes();
  places[alloc] = place;
  bufferIndex[alloc] = variant.buffers.size();
  artifact::Buffer buffer;
  buffer.name = getNodeNames(alloc.getLoc());
  buffer.offset = place.offset;
  buffer.bytes = place.bytes;
  buffer.firstLaunch = UINT32_MAX; // until a launch uses it
  variant.buffers.push_back(std::move(buffer));
  return success();
}

void VariantBuilder::touch(Value buffer, unsigned launch) {
  while (auto view = buffer.getDefiningOp<plan::ViewOp>())
    buffer = view.getSource();
  auto index = bufferIndex.find(buffer);
  if (index == bufferIndex.end())
    return;
  artifact::Buffer &entry = variant.buffers[index->second];
  entry.firstLaunch = std::min<uint32_t>(entry.firstLaunch, launch);
  entry.lastLaunch = launch;
}

void VariantBuilder::addLaunch(plan::LaunchOp launch) {
  auto kernel = cast<plan::KernelOp>(module.lookupSymbol(launch.getKernelAttr()));
  artifact::Launch entry;
  entry.name = getNodeNames(launch.getLoc());
  entry.op = kernel.getBody().front().front().getName().stripDialect().str();
  entry.kernel = kernelIndex.lookup(launch.getKernel());
  entry.tiles = *kernel.getTiles();
  entry.batched = kernel.getBatched();
  entry.flops = launch.getFlops();
  entry.bytes = launch.getBytes();
  unsigned index = variant.launches.size();
  auto addArgs = [&](ValueRange buffers, bool writes) {
    for (Value buffer : buffers) {
      artifact::Arg arg = places.lookup(buffer);
      arg.writes = writes;
      entry.args.push_back(arg);
      touch(buffer, index);
    }
  };
  addArgs(launch.getReads(), /*writes=*/false);
  addArgs(launch.getWrites(), /*writes=*/true);
  variant.launches.push_back(std::move(entry));
}

LogicalResult VariantBuilder::addProgram(plan::ProgramOp program) {
  variant.arenaBytes = program.getArenaBytes().value_or(0);
  variant.arenaLowerBoundBytes = program.getLowerBoundBytes().value_or(0);
  for (Operation &op : program.getBody().front()) {
    LogicalResult added =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](plan::InputOp input) {
              return addValue(&op, input.getName(), input.getType(), artifact::Space::input,
                              variant.inputs);
            })
            .Case([&](plan::OutputOp output) {
              if (failed(addValue(&op, output.getName(), output.getType(),
                                  artifact::Space::output, variant.outputs)))
                return failure();
              artifact::Value &value = variant.outputs.back();
              value.countedDim = output.getCountedDim().value_or(-1);
              value.count = output.getCount().value_or(0);
              value.internal = output.getInternal();
              return success();
            })
            .Case([&](plan::ConstantOp constant) {
              cnn::ConstantData data(constant.getValue());
              artifact::Arg place;
              place.space = artifact::Space::constant;
              place.offset = pool.add(data.bytes());
              place.bytes = data.bytes().size();
              places[constant] = place;
              return success();
            })
            .Case([&](plan::AllocOp alloc) { return addAlloc(alloc); })
            .Case([&](plan::ViewOp view) {
              artifact::Arg place = places.lookup(view.getSource());
              place.sliceOffset += view.getOffset();
              place.bytes = view.getBytes();
              places[view] = place;
              return success();
            })
            .Case([&](plan::LaunchOp launch) {
              addLaunch(launch);
              return success();
            })
            .Default([&](Operation *) { return op.emitOpError() << "is no part of a program"; });
    if (failed(added))
      return failure();
  }
  llvm::erase_if(variant.buffers,
                 [](const artifact::Buffer &buffer) { return buffer.firstLaunch == UINT32_MAX; });
  return success();
}

LogicalResult convoy::addVariant(ModuleOp module, const Target &target, const GeneratedCode &code,
                                 artifact::Artifact &artifact) {
  VariantBuilder builder(module, target, artifact);
  if (failed(builder.addCode(code)))
    return failure();
  for (auto program : module.getOps<plan::ProgramOp>())
    if (failed(builder.addProgram(program)))
      return failure();
  artifact.variants.push_back(builder.take());
  return success();
}
