// The passes in the order of the pipeline: summary, contract and an example of each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_PASSES
#define CONVOY_PASSES

include "mlir/Pass/PassBase.td"

class Convoy_Pass<string arg> : Pass<"convoy-" # arg, "::mlir::ModuleOp"> {
  let dependentDialects = ["::convoy::cnn::CnnDialect"];
}

def Simplify : Convoy_Pass<"simplify"> {
  let summary = "Fold what is known, canonicalize, and remove what nobody needs";
  let description = [{
    An op whose operands are all constants becomes a constant, computed by the dialect's evaluator
    (dialects/Cnn/Evaluate). A result larger than `max-bytes` and than the operands together stays
    an op, unless it is one element repeated. Ops that do nothing are forwarded, dead ones removed,
    equal ones merged. The data of constants without a user are released.

    A transpose of a transpose becomes one, and a transpose that moves nothing but extents of 1 a
    `reshape`; transposes move behind what does not care, to meet others; slices of slices become
    one; a convolution of a space-to-depth (the focus of YOLO networks) becomes one with a larger
    kernel and stride; padding joins the `conv` or `pool` that reads it, where that computes the same; a
    broadcast that the reading `map` does itself goes away; a `reduce` over space keeps its
    dimensions and a `reshape` follows it; a `concat` that begins as an earlier one takes that as
    its first input.

    Before: any graph. After: no op with constant operands is left but for those that would grow.

    ```mlir
    %c = cnn.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32> -> tensor<1x2xf32>
    %t = cnn.transpose %c {perm = array<i64: 1, 0>} : (tensor<1x2xf32>) -> tensor<2x1xf32>
    %p = cnn.pad <constant> %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>}
    %y = cnn.conv %p, %w {pads = array<i64: 0, 0, 0, 0>, ...}
    ==>
    %t = cnn.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32> -> tensor<2x1xf32>
    %y = cnn.conv %x, %w {pads = array<i64: 1, 1, 1, 1>, ...}
    ```
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "16 << 20", "The largest result that may grow">];
  let statistics = [
    Statistic<"numFolded", "folded", "Ops that became constants">,
    Statistic<"numForwarded", "forwarded", "Ops that did nothing">,
    Statistic<"numDead", "dead", "Ops that nobody used">];
}

def FoldBatchNorm : Convoy_Pass<"fold-batch-norm"> {
  let summary = "Fold batch normalization and other affine functions of a channel into weights";
  let description = [{
    A `batch_norm`, or a `map` that is `x * s + t` with constants that differ by channel at most,
    is absorbed by the `conv`, `conv_transpose` or `matmul` before it if that has constant weights,
    no other user and an epilogue that is affine itself. The arithmetic is in f64; what would round
    to a denormal becomes zero. A `batch_norm` that cannot be absorbed becomes a `map`.

    Before: any graph. After: there is no `batch_norm`.

    ```mlir
    %c = cnn.conv %x, %w {...} { yield %acc }
    %y = cnn.batch_norm %c, %scale, %bias, %mean, %variance {epsilon = 1.0e-5 : f64}
    ==>
    %y = cnn.conv %x, %w_times_s extras(%t) {...} { yield %acc + %t }
    ```
  }];
}

def AssignPrecision : Convoy_Pass<"assign-precision"> {
  let summary = "Choose the types that ops compute in";
  let description = [{
    Types of tensors stay as the model has them: the result of each ONNX op on f16 or bf16 is
    rounded to that type. Inside, an op computes in f32: what adds up, interpolates or picks elements
    does so from operands cast to f32, and a scalar region computes in f32 and rounds what it yields,
    so a convolution with its bias rounds once.

    Must come before `fuse-epilogues`: while each op has its own region, what a region yields is what
    ONNX says is rounded. Fusion then takes the casts into the ops that make their operands.

    Before: any types. After: no op accumulates in f16 or bf16, and no scalar region has
    arithmetic on them.

    ```mlir
    %y = cnn.reduce <sum> %x {...} : (tensor<1x8x4x4xf16>) -> tensor<1x8x1x1xf16> {
    ^bb0(%acc: f16):
      cnn.yield %acc : f16
    }
    ==>
    %0 = cnn.map(%x) ... // arith.extf
    %y = cnn.reduce <sum> %0 {...} : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x1xf16> {
    ^bb0(%acc: f32):
      %1 = arith.truncf %acc : f32 to f16
      cnn.yield %1 : f16
    }
    ```
  }];
}

def FuseEpilogues : Convoy_Pass<"fuse-epilogues"> {
  let summary = "Compute elementwise functions in the op that makes their input";
  let description = [{
    A `map` joins the op with a scalar region (`conv`, `conv_transpose`, `pool`, `matmul`, `reduce`
    or another `map`) that makes one of its inputs, if the map is its only user and has the same
    shape. The map's other inputs become further operands of the region: that is how a residual is
    added. Inputs that are one constant element become constants of the region.

    Of several producers the last one takes the map, so what it needs exists by then.

    Before: there is no `batch_norm`. After: no map is left that could join a producer.

    ```mlir
    %c = cnn.conv %x, %w {...} { yield %acc }
    %y = cnn.map(%c, %r) { yield max(%0 + %1, 0) }
    ==>
    %y = cnn.conv %x, %w extras(%r) {...} { yield max(%acc + %1, 0) }
    ```
  }];
}

def AssignLayout : Convoy_Pass<"assign-layout"> {
  let summary = "Choose the layout of every activation by cost";
  let description = [{
    Convolutions, pools, maps, spatial reductions, resizes, concats, pads, slices and lrn of rank 4
    may compute in `nchw<L>c`, where L is the target's lanes; all else is row-major, as are inputs
    and outputs. The kernel table says what an op costs in either layout and what a relayout costs;
    of all assignments the cheapest is taken (a minimum cut), so a region is blocked only if it
    saves more than its borders cost. A value is relayouted once for all users that want it. A
    convolution may read a row-major input and write blocks, where a kernel does that for less.

    Before: all layouts are row-major. After: the operands of the scalar region of an op with a
    blocked result have its rank and layout, or are one element; other activations of an op share
    its layout, but for the input of a convolution.

    ```mlir
    %y = cnn.conv %x, %w {...} : (tensor<1x64x8x8xf32>, ...) -> tensor<1x64x8x8xf32>
    ==>
    %0 = cnn.relayout %x : ... -> tensor<1x64x8x8xf32, #cnn.layout<"nchw16c">>
    %1 = cnn.conv %0, %w {...} : ... -> tensor<1x64x8x8xf32, #cnn.layout<"nchw16c">>
    %y = cnn.relayout %1 : ... -> tensor<1x64x8x8xf32>
    ```
  }];
  let constructor = "::convoy::createAssignLayout(::convoy::KernelTableLookup())";
}

def CancelRelayouts : Convoy_Pass<"cancel-relayouts"> {
  let summary = "Remove relayouts that undo or repeat each other or change constants";
  let description = [{
    A relayout of a relayout is one relayout, or none; equal relayouts of a value become one;
    constants get their layout at compile time; a `map` between relayouts there and back computes
    in the layout outside of them.

    Before and after: layouts are assigned.

    ```mlir
    %0 = cnn.relayout %x : (tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32, #cnn.layout<"nchw16c">>
    %1 = cnn.relayout %0 : ... -> tensor<1x32x8x8xf32>
    use(%1)
    ==>
    use(%x)
    ```
  }];
}

def SelectKernels : Convoy_Pass<"select-kernels"> {
  let summary = "Choose the strategy of every op that needs a kernel";
  let description = [{
    Asks the target's kernel table for the cheapest strategy and sets the op's `strategy`. A
    `reshape`, or a `relayout` that moves nothing, needs no kernel, as both sides share a buffer, unless an output would share its
    buffer with an input, a constant or another use of the value: that output gets a copy. A `concat` or
    `slice` along the outermost extent needs none either: parts are written where they belong. An
    input that cannot be a part, as it is one of another result or no result of a kernel, is copied.

    Before: layouts are assigned. After: every op but `constant` and what shares a buffer has a
    strategy; each output is made by an op of its own.

    ```mlir
    %y = cnn.conv %x, %w {...}
    ==>
    %y = cnn.conv %x, %w {strategy = "conv-direct", ...}
    ```
  }];
  let constructor = "::convoy::createSelectKernels(::convoy::KernelTableLookup())";
}

def PackWeights : Convoy_Pass<"pack-weights"> {
  let summary = "Pack constants to the layouts that the chosen kernels read";
  let description = [{
    Each constant operand for which the op's strategy names a packed layout is replaced by a
    constant in that layout; padding of blocks is zero. Ops that want the same share it.

    Before: ops have strategies. After: operands have the layouts that their kernels read.

    ```mlir
    %w = cnn.constant dense<...> : tensor<32x16x3x3xf32> -> tensor<32x16x3x3xf32>
    ==>
    %w = cnn.constant dense<...> : tensor<2x1x3x3x16x16xf32>
        -> tensor<32x16x3x3xf32, #cnn.layout<"oihw16i16o">>
    ```
  }];
  let constructor = "::convoy::createPackWeights(::convoy::KernelTableLookup())";
  let options = [
    Option<"release", "release", "bool", "false",
           "Free the memory of constants that this module no longer uses; wrong if another module "
           "of the context uses them">];
}

def OutlineToPlan : Convoy_Pass<"outline-to-plan"> {
  let summary = "Turn the graph into kernels, buffers and launches";
  let description = [{
    Each op with a strategy becomes the body of a `plan.kernel`; equal bodies share one. The values
    of the graph become buffers: inputs, outputs, constants, and allocations for the rest.

    Before: the module has one function, whose ops have strategies. After: the module has one
    `plan.program`, of the function's name, and the kernels that it launches.

    ```mlir
    func.func @main(%x: T {cnn.name = "x"}) -> (U {cnn.name = "y"}) {
      %y = cnn.pool <max> %x {strategy = "pool", ...}
      return %y
    }
    ==>
    plan.program @main {
      %0 = plan.input "x" : T
      %1 = plan.output "y" : U
      plan.launch @pool_0 reads(%0) writes(%1) {flops = 64 : i64, bytes = 320 : i64}
    }
    plan.kernel @pool_0 strategy "pool" {
    ^bb0(%a: T):
      %b = cnn.pool <max> %a {...}
      plan.yield %b : U
    }
    ```
  }];
  let dependentDialects = ["::convoy::cnn::CnnDialect", "::convoy::plan::PlanDialect"];
}

def FormWaves : Convoy_Pass<"form-waves"> {
  let summary = "Let independent launches run side by side";
  let description = [{
    A launch joins the wave of the launch before it if it has nothing to do with any launch of that
    wave: so threads take tiles of a branch while others still compute the last ones of its sibling,
    and wait for each other once a wave. The order of launches stays, so nothing changes on one
    thread.

    Waves make buffers live longer. Those that would make the lower bound of the arena larger are
    halved until none does. What waiting costs is little beside a long launch: of two launches that
    take longer than `max-us` each, none joins the other. The time is that of `flops` at 100 a
    nanosecond or of `bytes` at 16, whichever is longer.

    Before: a plan without offsets. After: launches that join have `joins`.

    ```mlir
    plan.launch @conv_0 reads(%x, %v) writes(%0) {bytes = 4352 : i64, flops = 2048 : i64}
    plan.launch @conv_0 reads(%x, %w) writes(%1) {bytes = 4352 : i64, flops = 2048 : i64}
    ==>
    plan.launch @conv_0 reads(%x, %v) writes(%0) {bytes = 4352 : i64, flops = 2048 : i64}
    plan.launch @conv_0 reads(%x, %w) writes(%1) {bytes = 4352 : i64, flops = 2048 : i64, joins}
    ```
  }];
  let dependentDialects = ["::convoy::plan::PlanDialect"];
  let options = [
    Option<"maxUs", "max-us", "int64_t", "1000", "The longest of two launches that share a wave">];
  let statistics = [Statistic<"numJoined", "joined", "Launches that joined a wave">];
}

def PlanMemory : Convoy_Pass<"plan-memory"> {
  let summary = "Give every allocation its place in the arena";
  let description = [{
    Lifetimes come from the order of waves. Several greedy orders (by size, by lifetime, by both,
    by start) are tried, each placing a buffer into the lowest gap between the buffers that are
    alive with it; the smallest arena wins. None is optimal in general: the lower bound, the
    largest sum of buffers alive at once, is printed beside the result.

    A launch of a `map` may write over an input that has the result's type and dies there, if no
    other launch of its wave reads that: each
    element is read before it is written. So no strategy for `map` may read an element once it
    wrote there, as tails that overlap would.

    Before: a plan without offsets. After: every allocation has an offset, and the program its
    `arena_bytes` and `lower_bound_bytes`.

    ```mlir
    %0 = plan.alloc {bytes = 256 : i64}
    ==>
    %0 = plan.alloc {bytes = 256 : i64, offset = 64 : i64}
    ```
  }];
  let dependentDialects = ["::convoy::plan::PlanDialect"];
  let options = [
    Option<"inPlace", "in-place", "bool", "true", "Let maps write over an input that dies">];
}

def VerifyPlan : Convoy_Pass<"verify-plan"> {
  let summary = "Check a memory plan by replaying its launches";
  let description = [{
    Shares no code with the planner. Replays the launches over a model of the arena that remembers
    which buffer wrote each byte last. An error is: a read of bytes that were never written or that
    another buffer has overwritten; a launch that writes over what it reads, unless it is one `map`
    and both have the same type and place; a write to an input or a constant, a read of an output;
    a launch that reads what another of its wave writes, or writes where that reads or writes;
    an offset that is missing, misaligned or outside the arena; a view outside its buffer; a
    buffer that is smaller than the tensor in it; an output that is not written.

    Before and after: a plan with offsets.
  }];
  let dependentDialects = ["::convoy::plan::PlanDialect"];
}

def VerifyStage : Convoy_Pass<"verify-stage"> {
  let summary = "Check what must hold between stages";
  let description = [{
    `import`: one function of one block, of cnn ops without layouts and strategies. `fold`: the
    same, without `batch_norm`. `layout`: row-major inputs and outputs; the operands of a scalar
    region match the result in rank and layout, or are row-major with it, or are one element.
    `select`: the same, and every op that needs a kernel has a strategy and every output is
    written by one kernel. `plan`: one `plan.program` and no function; each kernel is one op.

    Before and after: what `stage` says.
  }];
  let dependentDialects = ["::convoy::cnn::CnnDialect", "::convoy::plan::PlanDialect"];
  let options = [Option<"stage", "stage", "std::string", [{"import"}],
                        "import, fold, layout, select or plan">];
}

#endif
