// The plan dialect: buffers and launches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_DIALECTS_PLAN_OPS
#define CONVOY_DIALECTS_PLAN_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::convoy::plan";
  let summary = "A program as a list of launches over buffers";
  let description = [{
    A module holds one `plan.program` and the `plan.kernel`s that it launches. The ops of a program
    are in the order of execution. It mirrors the artifact: what is here is what the runtime reads.

    All sizes and offsets are bytes for batch 1. With a free batch of N every buffer of the arena
    is N times as large and lies at N times its offset, so a plan for one image is one for N.
  }];
  let useDefaultTypePrinterParser = 1;
}

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "Memory that launches read and write";
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_ProgramOp : Plan_Op<"program",
    [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Buffers and launches of one network";
  let description = [{
    `arena_bytes` and `lower_bound_bytes` are set by `convoy-plan-memory`: the size of the arena and
    the largest sum of buffers alive at once, which no plan can go below.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<I64Attr>:$arena_bytes,
    OptionalAttr<I64Attr>:$lower_bound_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Plan_InputOp : Plan_Op<"input", [HasParent<"ProgramOp">]> {
  let summary = "The caller's buffer of an input";
  let description = [{
    `dim_names`, where there are any, has for each dimension its symbolic ONNX name or an empty one.
  }];
  let arguments = (ins StrAttr:$name, TypeAttr:$type, OptionalAttr<StrArrayAttr>:$dim_names);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "$name `:` $type attr-dict";
}

def Plan_OutputOp : Plan_Op<"output", [HasParent<"ProgramOp">]> {
  let summary = "The caller's buffer of an output";
  let description = [{
    Launches write it; it is not read. Dimension `counted_dim`, if there is one, has after a run as
    many elements as output number `count` of the program says, which is one i64. An `internal`
    output is only there to be such a count: it follows all others and has no name.
    `dim_names` is as for inputs.
  }];
  let arguments = (ins StrAttr:$name, TypeAttr:$type, OptionalAttr<I64Attr>:$counted_dim,
    OptionalAttr<I64Attr>:$count, UnitAttr:$internal, OptionalAttr<StrArrayAttr>:$dim_names);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "$name `:` $type attr-dict";
}

def Plan_ConstantOp : Plan_Op<"constant", [HasParent<"ProgramOp">]> {
  let summary = "Bytes of the artifact, read only";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "$value attr-dict";
}

def Plan_AllocOp : Plan_Op<"alloc", [HasParent<"ProgramOp">]> {
  let summary = "A buffer of the arena";
  let description = [{
    It is alive from the first wave that uses it, or a view of it, to the last. `offset`, a
    multiple of 64, is set by `convoy-plan-memory`.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$bytes,
    OptionalAttr<I64Attr>:$offset);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "attr-dict";
}

def Plan_ViewOp : Plan_Op<"view", [HasParent<"ProgramOp">]> {
  let summary = "A part of a buffer of the arena";
  let arguments = (ins Plan_BufferType:$source, ConfinedAttr<I64Attr, [IntNonNegative]>:$offset,
    ConfinedAttr<I64Attr, [IntNonNegative]>:$bytes);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "$source attr-dict";
}

def Plan_LaunchOp : Plan_Op<"launch",
    [HasParent<"ProgramOp">, AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs all tiles of a kernel";
  let description = [{
    The kernel's arguments are `reads`, then `writes`. `flops` (one multiply and one add are two)
    and `bytes` (each tensor once) are for profiles, for one image.

    A launch that `joins` is of the same *wave* as the launch before it: neither needs what the other
    writes, and neither writes where the other reads or writes. Waves run one after another, the
    tiles of a wave on all threads together.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_BufferType>:$reads,
    Variadic<Plan_BufferType>:$writes, I64Attr:$flops, I64Attr:$bytes, UnitAttr:$joins);
  let assemblyFormat = "$kernel `reads` `(` $reads `)` `writes` `(` $writes `)` attr-dict";
}

def Plan_KernelOp : Plan_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "What a launch computes, as cnn ops";
  let description = [{
    The block's arguments are the tensors that a launch reads, the yielded values those that it
    writes; layouts say how they lie in the buffers. `strategy` names the row of the target's
    kernel table that turns the body into code.

    Code generation sets `tiles` (the number of independent pieces, of one image if `batched`) and
    `scratch_bytes` (private memory that a thread needs).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$strategy, OptionalAttr<I64Attr>:$tiles,
    UnitAttr:$batched, OptionalAttr<I64Attr>:$scratch_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `strategy` $strategy attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Plan_YieldOp : Plan_Op<"yield", [Terminator, HasParent<"KernelOp">]> {
  let summary = "Ends a kernel with the tensors that it writes";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
