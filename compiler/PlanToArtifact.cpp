// Planned modules with their code as variants of an artifact.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/PlanToArtifact.h"

#include "compiler/artifact/Image.h"
#include "dialects/Cnn/ConstantData.h"
#include "dialects/Plan/Plan.h"
#include "passes/Graph.h"

#include "mlir/IR/DialectResourceBlobManager.h"
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
  VariantBuilder(artifact::Artifact &artifact, artifact::Variant &variant,
                 const llvm::StringMap<plan::KernelOp> &kernels,
                 std::vector<plan::KernelOp> &launched)
      : pool(artifact.constants), variant(variant), kernels(kernels), launched(launched) {}

  LogicalResult addProgram(plan::ProgramOp program);

private:
  LogicalResult addValue(Operation *op, StringRef name, Type type, ArrayAttr dimNames,
                         artifact::Space space, std::vector<artifact::Value> &values);
  LogicalResult addAlloc(plan::AllocOp alloc);
  void addLaunch(plan::LaunchOp launch);
  void touch(Value buffer, unsigned launch);
  /// Moves the bytes of a constant to the pool: large ones are never in memory twice.
  uint64_t takeConstant(ElementsAttr value);

  artifact::ConstantPool &pool;
  artifact::Variant &variant;
  /// By the names that they have in the program's module.
  const llvm::StringMap<plan::KernelOp> &kernels;
  /// The kernel of each launch.
  std::vector<plan::KernelOp> &launched;
  llvm::DenseMap<Value, artifact::Arg> places;
  /// The entry of variant.buffers of each alloc.
  llvm::DenseMap<Value, unsigned> bufferIndex;
};

} // namespace

LogicalResult VariantBuilder::addValue(Operation *op, StringRef name, Type type,
                                       ArrayAttr dimNames, artifact::Space space,
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
  if (dimNames && static_cast<int64_t>(dimNames.size()) != tensor.getRank())
    return op->emitOpError() << "has " << dimNames.size() << " names for the dimensions of "
                             << tensor;
  if (dimNames)
    for (StringRef dimName : dimNames.getAsValueRange<StringAttr>())
      value.dimNames.push_back(dimName.str());
  artifact::Arg place;
  place.space = space;
  place.index = values.size();
  place.bytes = cnn::getBytes(tensor);
  places[op->getResult(0)] = place;
  values.push_back(std::move(value));
  return success();
}

uint64_t VariantBuilder::takeConstant(ElementsAttr value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob) {
    cnn::ConstantData data(value);
    return pool.add(std::vector<char>(data.bytes().begin(), data.bytes().end()));
  }
  // Memory that the blob does not own lives as long as the context.
  std::shared_ptr<AsmResourceBlob> owner;
  ArrayRef<char> bytes = blob->getData();
  if (blob->getDeleter())
    owner = std::make_shared<AsmResourceBlob>(std::move(*blob));
  uint64_t offset = pool.add({bytes.data(), bytes.size()}, std::move(owner));
  // Another constant may be a view of the same bytes, with other extents.
  std::string_view kept = *pool.at(offset);
  resource.getRawHandle().getResource()->setBlob(
      UnmanagedAsmResourceBlob::allocateInferAlign(ArrayRef<char>(kept.data(), kept.size())));
  return offset;
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
  plan::KernelOp kernel = kernels.lookup(launch.getKernel());
  artifact::Launch entry;
  entry.name = getNodeNames(launch.getLoc());
  entry.op = kernel.getBody().front().front().getName().stripDialect().str();
  entry.flops = launch.getFlops();
  entry.bytes = launch.getBytes();
  entry.joins = launch.getJoins();
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
  launched.push_back(kernel);
}

LogicalResult VariantBuilder::addProgram(plan::ProgramOp program) {
  variant.arenaBytes = program.getArenaBytes().value_or(0);
  variant.arenaLowerBoundBytes = program.getLowerBoundBytes().value_or(0);
  for (Operation &op : program.getBody().front()) {
    LogicalResult added =
        llvm::TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](plan::InputOp input) {
              return addValue(&op, input.getName(), input.getType(), input.getDimNamesAttr(),
                              artifact::Space::input, variant.inputs);
            })
            .Case([&](plan::OutputOp output) {
              if (failed(addValue(&op, output.getName(), output.getType(), output.getDimNamesAttr(),
                                  artifact::Space::output, variant.outputs)))
                return failure();
              artifact::Value &value = variant.outputs.back();
              value.countedDim = output.getCountedDim().value_or(-1);
              value.count = output.getCount().value_or(0);
              value.internal = output.getInternal();
              return success();
            })
            .Case([&](plan::ConstantOp constant) {
              artifact::Arg place;
              place.space = artifact::Space::constant;
              place.offset = takeConstant(constant.getValue());
              place.bytes = pool.at(place.offset)->size();
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

// The other profiles of a target must be what the runtime expects of them: the same but for extents.
static LogicalResult checkProfile(Location loc, const artifact::Variant &variant,
                                  const artifact::Variant &first) {
  using Values = std::vector<artifact::Value>;
  auto check = [&](const Values &own, const Values &others, StringRef kind) -> LogicalResult {
    if (own.size() != others.size())
      return emitError(loc) << "has " << own.size() << " " << kind << "s, profile '"
                            << first.profile << "' has " << others.size();
    for (auto [value, other] : llvm::zip_equal(own, others))
      if (value.name != other.name || value.type != other.type ||
          value.dims.size() != other.dims.size())
        return emitError(loc) << kind << " '" << value.name << "' of rank " << value.dims.size()
                              << " is '" << other.name << "' of rank " << other.dims.size()
                              << " in profile '" << first.profile
                              << "'; profiles may differ in extents only";
    return success();
  };
  return success(succeeded(check(variant.inputs, first.inputs, "input")) &&
                 succeeded(check(variant.outputs, first.outputs, "output")));
}

TargetVariants::TargetVariants(const Target &target, Location loc, artifact::Artifact &artifact)
    : target(target), artifact(artifact), library(ModuleOp::create(loc)) {
  (*library)->setAttr(cnn::kTargetAttrName, target.facts(loc.getContext()));
}

LogicalResult TargetVariants::add(ModuleOp module, StringRef profile) {
  OpBuilder builder = OpBuilder::atBlockEnd(library->getBody());
  llvm::StringMap<plan::KernelOp> ofModule;
  for (auto kernel : module.getOps<plan::KernelOp>()) {
    auto [entry, isNew] = kernels.try_emplace(plan::getIdentity(kernel));
    if (isNew) {
      entry->second = cast<plan::KernelOp>(builder.clone(*kernel));
      Operation &op = kernel.getBody().front().front();
      entry->second.setSymName(
          (op.getName().stripDialect() + "_" + std::to_string(kernels.size() - 1)).str());
    }
    ofModule[kernel.getSymName()] = entry->second;
  }
  Variant variant;
  variant.contents.target = target.name().str();
  variant.contents.profile = profile.str();
  VariantBuilder program(artifact, variant.contents, ofModule, variant.launched);
  for (auto op : module.getOps<plan::ProgramOp>())
    if (failed(program.addProgram(op)))
      return failure();
  if (!variants.empty() &&
      failed(checkProfile(module.getLoc(), variant.contents, variants[0].contents)))
    return failure();
  variants.push_back(std::move(variant));
  return success();
}

FailureOr<GeneratedCode> TargetVariants::finish(CodeDumps &dumps) {
  FailureOr<GeneratedCode> code = target.generate(*library, dumps);
  if (failed(code))
    return failure();
  llvm::Expected<artifact::Image> image =
      artifact::flattenImage(StringRef(code->object.data(), code->object.size()));
  if (!image)
    return library->emitError() << "code: " << llvm::toString(image.takeError());
  for (auto kernel : library->getOps<plan::KernelOp>())
    if (!image->symbols.count(kernel.getSymName()) || !kernel.getTiles())
      return kernel.emitOpError() << "has no code";
  for (Variant &variant : variants) {
    artifact::Variant &contents = variant.contents;
    contents.code = image->bytes;
    contents.cpuFeatures = code->features;
    llvm::DenseMap<plan::KernelOp, unsigned> indices;
    for (auto [launch, kernel] : llvm::zip_equal(contents.launches, variant.launched)) {
      auto [index, isNew] = indices.try_emplace(kernel, contents.kernels.size());
      if (isNew) {
        const artifact::Image::Symbol &symbol = image->symbols.find(kernel.getSymName())->second;
        contents.kernels.push_back({kernel.getSymName().str(), kernel.getStrategy().str(),
                                    symbol.offset, symbol.bytes});
      }
      launch.kernel = index->second;
      launch.tiles = *kernel.getTiles();
      launch.batched = kernel.getBatched();
      contents.scratchBytes =
          std::max<uint64_t>(contents.scratchBytes, kernel.getScratchBytes().value_or(0));
    }
    artifact.variants.push_back(std::move(contents));
  }
  return code;
}
