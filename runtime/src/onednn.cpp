// Launches that oneDNN computes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "onednn.h"

using namespace convoy::rt;
using namespace convoy::rt::dnnl;
namespace schema = convoy::schema;

namespace {

/// Descriptions and the like, which are needed while a primitive is made.
struct Parts {
  const Library &library;
  MemoryDesc src = nullptr, wei = nullptr, bias = nullptr, dst = nullptr;
  PostOps postOps = nullptr;
  Attr attr = nullptr;
  PrimitiveDesc primitive = nullptr;

  explicit Parts(const Library &library) : library(library) {}
  Parts(const Parts &) = delete;
  Parts &operator=(const Parts &) = delete;
  ~Parts() {
    for (MemoryDesc desc : {src, wei, bias, dst})
      library.releaseDesc(desc);
    if (postOps)
      library.post_ops_destroy(postOps);
    if (attr)
      library.primitive_attr_destroy(attr);
    if (primitive)
      library.primitive_desc_destroy(primitive);
  }

  bool describe(const schema::OneDnnConv &conv) {
    bool wide = conv.block() == 16;
    int64_t groups = conv.groups(), oc = conv.oc(), ic = conv.ic();
    Dims srcDims = {1, ic, conv.ih(), conv.iw()}, dstDims = {1, oc, conv.oh(), conv.ow()};
    Dims biasDims = {oc};
    Dims plainDims = {oc, ic, conv.kh(), conv.kw()};
    Dims groupDims = {groups, oc / groups, ic / groups, conv.kh(), conv.kw()};
    Tag activation = wide ? Tag::aBcd16b : Tag::aBcd8b;
    src = library.createDesc(4, srcDims, conv.planar_src() ? Tag::abcd : activation);
    dst = library.createDesc(4, dstDims, activation);
    bias = library.createDesc(1, biasDims, Tag::a);
    if (conv.planar_src())
      wei = library.createDesc(4, plainDims, wide ? Tag::Acdb16a : Tag::Acdb8a);
    else if (groups == 1)
      wei = library.createDesc(4, plainDims, wide ? Tag::ABcd16b16a : Tag::ABcd8b8a);
    else
      wei = library.createDesc(5, groupDims, wide ? Tag::aBCde16c16b : Tag::aBCde8c8b);
    return src && wei && bias && dst;
  }

  Status makeAttributes(const schema::OneDnnConv &conv) {
    Status status = library.primitive_attr_create(&attr);
    if (!status)
      status = library.primitive_attr_set_scratchpad_mode(attr, kUserScratchpad);
    if (!status)
      status = library.post_ops_create(&postOps);
    if (!status && conv.residual())
      status = library.post_ops_append_binary(postOps, kBinaryAdd, dst);
    if (!status && conv.relu())
      status = library.appendRelu(postOps);
    return status ? status : library.primitive_attr_set_post_ops(attr, postOps);
  }
};

} // namespace

OneDnnLaunch::~OneDnnLaunch() {
  if (!library)
    return;
  for (size_t i = 0; i < count; ++i)
    library->memory_destroy(operands[i].memory);
  if (scratchMemory)
    library->memory_destroy(scratchMemory);
  if (primitive)
    library->primitive_destroy(primitive);
  if (stream)
    library->stream_destroy(stream);
}

bool OneDnnLaunch::addOperand(int dnnlArgument, uint32_t argument, MemoryDesc desc,
                              bool isOfImage) {
  Operand &operand = operands[count];
  operand.argument = argument;
  operand.imageBytes = isOfImage ? library->memory_desc_get_size(desc) : 0;
  if (library->memory_create(&operand.memory, desc, library->engine, nullptr) != 0)
    return false;
  execArgs[count++] = {dnnlArgument, operand.memory};
  return true;
}

Status OneDnnLaunch::createPrimitive(const schema::OneDnnConv &conv, uint32_t arguments) {
  constexpr Status outOfMemory = 1; // dnnl_out_of_memory
  batched = conv.batched();
  OneThread oneThread(*library);
  Parts parts(*library);
  if (!parts.describe(conv))
    return outOfMemory;
  if (Status status = parts.makeAttributes(conv))
    return status;
  Dims strides = {conv.stride_h(), conv.stride_w()};
  Dims dilates = {int64_t(conv.dilation_h()) - 1, int64_t(conv.dilation_w()) - 1};
  Dims padsLow = {conv.pad_top(), conv.pad_left()}, padsHigh = {conv.pad_bottom(), conv.pad_right()};
  ConvDesc desc{parts.src, parts.wei, conv.bias() ? parts.bias : nullptr,
                parts.dst, strides,   dilates,
                padsLow,   padsHigh,  parts.attr};
  if (Status status = library->createConv(&parts.primitive, desc))
    return status;
  if (Status status = library->primitive_create(&primitive, parts.primitive))
    return status;
  if (Status status = library->stream_create(&stream, library->engine, kInOrder))
    return status;
  bool complete = addOperand(kArgSrc, 0, parts.src, true) &&
                  addOperand(kArgWeights, 1, parts.wei, false) &&
                  addOperand(kArgDst, arguments - 1, parts.dst, true);
  if (complete && conv.bias())
    complete = addOperand(kArgBias, conv.bias(), parts.bias, false);
  if (complete && conv.residual())
    complete = addOperand(library->postOpArg(0), conv.residual(), parts.dst, true);
  if (!complete)
    return outOfMemory;
  MemoryDesc scratchDesc = library->primitive_desc_query_md(parts.primitive, kQueryScratchpad, 0);
  scratch = scratchDesc ? library->memory_desc_get_size(scratchDesc) : 0;
  if (!scratch)
    return 0;
  execArgs[count].arg = kArgScratchpad;
  Status status =
      library->memory_create(&scratchMemory, scratchDesc, library->engine, nullptr);
  execArgs[count].memory = scratchMemory;
  return status;
}

convoy_status OneDnnLaunch::create(const schema::OneDnnConv &conv, uint32_t arguments,
                                   const char *name) {
  Text missing;
  library = Library::get(missing);
  if (!library)
    return fail(CONVOY_UNSUPPORTED_MACHINE, "%s", missing.str());
  if (Status status = createPrimitive(conv, arguments))
    return fail(status == 1 ? CONVOY_OUT_OF_MEMORY : CONVOY_UNSUPPORTED_MACHINE,
                "launch %s: oneDNN cannot compute the convolution (its status is %d)", name, status);
  return CONVOY_OK;
}

bool OneDnnLaunch::takeFailure() {
  bool result = failed;
  failed = false;
  return result;
}

void OneDnnLaunch::run(const convoy_call *call, int64_t, int64_t) {
  auto &self = *static_cast<OneDnnLaunch *>(call->args[0]);
  const Library &library = *self.library;
  OneThread oneThread(library);
  Status status = 0;
  if (self.scratchMemory)
    status |= library.memory_set_data_handle(self.scratchMemory, call->scratch);
  for (int64_t image = 0, images = self.batched ? call->batch : 1; image < images; ++image) {
    for (size_t i = 0; i < self.count; ++i) {
      const Operand &operand = self.operands[i];
      if (image && !operand.imageBytes)
        continue;
      char *data = static_cast<char *>(call->args[1 + operand.argument]);
      status |= library.memory_set_data_handle(
          operand.memory, data + operand.imageBytes * static_cast<size_t>(image));
    }
    int arguments = static_cast<int>(self.count) + (self.scratchMemory ? 1 : 0);
    status |=
        library.primitive_execute(self.primitive, self.stream, arguments, self.execArgs);
  }
  status |= library.stream_wait(self.stream);
  if (status)
    self.failed = true;
}

const char *convoy::rt::checkOneDnnConv(const schema::OneDnnConv &conv,
                                        const schema::Launch &launch) {
  uint32_t arguments = sizeOf(launch.args());
  uint32_t needed = 3 + (conv.bias() ? 1 : 0) + (conv.residual() ? 1 : 0);
  // Source and weights are the first, the result the last.
  auto isExtra = [&](uint32_t index) { return index == 0 || (index >= 2 && index + 1 < arguments); };
  if (arguments != needed || !isExtra(conv.bias()) || !isExtra(conv.residual()) ||
      (conv.bias() && conv.bias() == conv.residual()))
    return "its arguments";
  constexpr uint32_t most = 1 << 20; // and no product of three such numbers overflows
  for (uint32_t extent : {conv.groups(), conv.ic(), conv.oc(), conv.ih(), conv.iw(), conv.oh(),
                          conv.ow(), conv.kh(), conv.kw(), conv.stride_h(), conv.stride_w(),
                          conv.dilation_h(), conv.dilation_w()})
    if (extent == 0 || extent > most)
      return "an extent";
  for (uint32_t pad : {conv.pad_top(), conv.pad_left(), conv.pad_bottom(), conv.pad_right()})
    if (pad > most)
      return "a padding";
  uint32_t block = conv.block();
  uint32_t ic = conv.ic() / conv.groups(), oc = conv.oc() / conv.groups();
  if ((block != 8 && block != 16) || conv.ic() % conv.groups() || conv.oc() % conv.groups() ||
      oc % block || (conv.planar_src() ? conv.groups() != 1 : ic % block != 0))
    return "its channels";
  auto bytes = [](uint64_t a, uint64_t b, uint64_t c) { return a * b * c * sizeof(float); };
  auto is = [&](uint32_t argument, uint64_t wanted) {
    return !argument || launch.args()->Get(argument)->bytes() == wanted;
  };
  uint64_t dst = bytes(conv.oc(), conv.oh(), conv.ow()), wei;
  if (__builtin_mul_overflow(bytes(conv.oc(), conv.kh(), conv.kw()), uint64_t(ic), &wei) ||
      launch.args()->Get(0)->bytes() != bytes(conv.ic(), conv.ih(), conv.iw()) || !is(1, wei) ||
      !is(conv.bias(), bytes(conv.oc(), 1, 1)) || !is(conv.residual(), dst) ||
      !is(arguments - 1, dst))
    return "the size of an argument";
  return nullptr;
}
