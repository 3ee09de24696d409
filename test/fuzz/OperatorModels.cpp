// One small model for each row of the op table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/fuzz/OperatorModels.h"

#include "compiler/onnx/Importer.h"
#include "compiler/onnx/ModelFile.h"
#include "compiler/onnx/OpTable.h"

using namespace convoy;
using namespace convoy::fuzz;
using convoy::onnx::OpEntry;
using ::onnx::ModelProto;

// What the bodies below read.
static constexpr llvm::StringLiteral kInputs =
    "float[2,4,6,6] x, float[4,4,3,3] w, float[4] p, float[6,6] m, float[6] v, float one, "
    "bool[2,4,6,6] b, bool[6] vb, bool c, int64[2] i, int64[2,4,6,6] ix, uint8[2,4,6,6] u, "
    "uint8[4,4,3,3] uw, uint8[6,6] um, uint8 z, int32[4] bias, float[3,2,6] seq, float[1,15,6] gw, "
    "float[1,15,5] gr, float[1,20,6] lw, float[1,20,5] lr, float[1,5,6] rw, float[1,5,5] rr, "
    "float[2,3,3,2] grid, float[2,18,4,4] offsets, float[3,4] rois, int64[3] places, "
    "float[1,6,4] boxes, float[1,2,6] scores, float[2,2,3] theta";

// Bodies for the ops that need more than an input or two of one type. Of several for one op, the
// first that imports in a row's opset counts.
static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kBodies[] = {
    {"AffineGrid", "s = Constant <value = int64[4] {2, 4, 3, 3}> () y = AffineGrid(theta, s)"},
    {"AveragePool",
     "y = AveragePool <kernel_shape = [2, 3], strides = [2, 1], pads = [0, 1, 1, 0]> (x)"},
    {"BatchNormalization", "y = BatchNormalization(x, p, p, p, p)"},
    {"BatchNormalization", "y = BatchNormalization <is_test = 1> (x, p, p, p, p)"},
    {"BitShift", "y = BitShift <direction = \"LEFT\"> (u, u)"},
    {"Cast", "y = Cast <to = 7> (x)"},
    {"CenterCropPad",
     "s = Constant <value = int64[2] {4, 8}> () y = CenterCropPad <axes = [2, 3]> (x, s)"},
    {"Compress", "y = Compress <axis = 3> (x, vb)"},
    {"Concat", "y = Concat <axis = 1> (x, x)"},
    {"Constant", "y = Constant <value = float[2,2] {1, 2, 3, 4}> ()"},
    {"ConstantOfShape",
     "s = Constant <value = int64[2] {4, 8}> () y = ConstantOfShape <value = float[1] {2}> (s)"},
    {"Conv", "y = Conv <pads = [1, 0, 1, 2], strides = [1, 2], dilations = [2, 1]> (x, w, p)"},
    {"ConvInteger", "y = ConvInteger <pads = [1, 1, 1, 1]> (u, uw, z, z)"},
    {"ConvTranspose", "y = ConvTranspose <strides = [2, 2], output_padding = [1, 0]> (x, w, p)"},
    {"Crop", "y = Crop <border = [1, 0, 2, 1]> (x)"},
    {"CumSum", "a = Constant <value = int64 {1}> () y = CumSum <reverse = 1> (x, a)"},
    {"DeformConv", "y = DeformConv <kernel_shape = [3, 3]> (x, w, offsets, p)"},
    {"DepthToSpace", "y = DepthToSpace <blocksize = 2> (x)"},
    {"DequantizeLinear", "y = DequantizeLinear(u, one, z)"},
    {"Dropout", "y, k = Dropout(x)"},
    {"Dropout", "y, k = Dropout <is_test = 1> (x)"},
    {"DynamicQuantizeLinear", "y, s, k = DynamicQuantizeLinear(x)"},
    {"DynamicSlice",
     "s = Constant <value = int64[2] {1, 0}> () e = Constant <value = int64[2] {5, 4}> () "
     "a = Constant <value = int64[2] {2, 3}> () y = DynamicSlice(x, s, e, a)"},
    {"Einsum", "y = Einsum <equation = \"bchw,bcwk->bhk\"> (x, x)"},
    {"Expand", "s = Constant <value = int64[5] {3, 2, 4, 6, 6}> () y = Expand(x, s)"},
    {"EyeLike", "y = EyeLike <k = 1> (m)"},
    {"ConstantFill", "y = ConstantFill <shape = [2, 3], value = 1.5> ()"},
    {"FC", "y = FC <axis = 1, axis_w = 1> (m, m, v)"},
    {"GivenTensorFill", "y = GivenTensorFill <shape = [2, 2], values = [1.0, 2.0, 3.0, 4.0]> ()"},
    {"Affine", "y = Affine <alpha = 2.0, beta = 0.5> (x)"},
    {"ParametricSoftplus", "y = ParametricSoftplus <alpha = 2.0, beta = 0.5> (x)"},
    {"Scale", "y = Scale <scale = 2.0> (x)"},
    {"ScaledTanh", "y = ScaledTanh <alpha = 2.0, beta = 0.5> (x)"},
    {"ThresholdedRelu", "y = ThresholdedRelu <alpha = 0.5> (x)"},
    {"MeanVarianceNormalization",
     "y = MeanVarianceNormalization <across_channels = 0, normalize_variance = 1> (x)"},
    {"FusedConv", "y = com.microsoft.FusedConv <activation = \"LeakyRelu\", activation_params = "
                  "[0.1]> (x, w, p)"},
    {"FusedMatMul", "y = com.microsoft.FusedMatMul <transA = 1, alpha = 0.5> (x, x)"},
    {"GRU", "y, h = GRU <hidden_size = 5> (seq, gw, gr)"},
    {"Gather", "y = Gather <axis = 2> (x, i)"},
    {"GatherElements", "y = GatherElements <axis = 1> (x, ix)"},
    {"GatherND", "y = GatherND(x, i)"},
    {"Gemm", "y = Gemm <transB = 1, alpha = 0.5> (m, m, v)"},
    {"Gemm", "y = Gemm <broadcast = 1> (m, m, v)"},
    {"GridSample", "y = GridSample <mode = \"bilinear\"> (x, grid)"},
    {"GridSample", "y = GridSample(x, grid)"},
    {"GroupNormalization", "y = GroupNormalization <num_groups = 2> (x, p, p)"},
    {"If", "y = If (c) <then_branch = t () => (float[2,4,6,6] r) { r = Relu(x) }, "
           "else_branch = e () => (float[2,4,6,6] r) { r = Tanh(x) }>"},
    {"If", "y = If (c) <then_branch = t () => (float[2,4,6,6] r) { r = Identity(x) }, "
           "else_branch = e () => (float[2,4,6,6] r) { r = Softplus(x) }>"},
    {"ImageScaler", "y = ImageScaler <scale = 2.0, bias = [1.0, 2.0, 3.0, 4.0]> (x)"},
    {"InstanceNormalization", "y = InstanceNormalization(x, p, p)"},
    {"LRN", "y = LRN <size = 3> (x)"},
    {"LayerNormalization", "y, k, d = LayerNormalization(x, v, v)"},
    {"LSTM", "y, h, d = LSTM <hidden_size = 5> (seq, lw, lr)"},
    {"LpPool", "y = LpPool <kernel_shape = [2, 2]> (x)"},
    {"MaxPool", "y, k = MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (x)"},
    {"MaxPool", "y = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (x)"},
    {"MaxUnpool", "y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, ix)"},
    {"NonMaxSuppression",
     "k = Constant <value = int64 {3}> () y = NonMaxSuppression(boxes, scores, k, one, one)"},
    {"OneHot", "d = Constant <value = int64 {5}> () f = Constant <value = float[2] {0, 1}> () y = "
               "OneHot(i, d, f)"},
    {"PRelu", "y = PRelu(x, p)"},
    {"Pad", "s = Constant <value = int64[8] {0, 0, 1, 2, 0, 0, -1, 3}> () y = Pad(x, s, one)"},
    {"Pad", "y = Pad <pads = [0, 0, 1, 2, 0, 0, -1, 3]> (x)"},
    {"QLinearAdd", "y = com.microsoft.QLinearAdd(u, one, z, u, one, z, one, z)"},
    {"QLinearMul", "y = com.microsoft.QLinearMul(u, one, z, u, one, z, one, z)"},
    {"QLinearConcat", "y = com.microsoft.QLinearConcat <axis = 1> (one, z, u, one, z, u, one, z)"},
    {"QLinearConv", "y = QLinearConv(u, one, z, uw, one, z, one, z, bias)"},
    {"QLinearGlobalAveragePool", "y = com.microsoft.QLinearGlobalAveragePool(u, one, z, one, z)"},
    {"QLinearLeakyRelu", "y = com.microsoft.QLinearLeakyRelu <alpha = 0.1> (u, one, z, one, z)"},
    {"QLinearMatMul", "y = QLinearMatMul(um, one, z, um, one, z, one, z)"},
    {"QLinearSigmoid", "y = com.microsoft.QLinearSigmoid(u, one, z, one, z)"},
    {"QuantizeLinear", "y = QuantizeLinear(x, one, z)"},
    {"RMSNormalization", "y = RMSNormalization(x, v)"},
    {"RNN", "y, h = RNN <hidden_size = 5, direction = \"reverse\"> (seq, rw, rr)"},
    {"Range",
     "s = Constant <value = int64 {3}> () e = Constant <value = int64 {20}> () y = Range(s, e, s)"},
    {"Reshape", "s = Constant <value = int64[3] {0, -1, 9}> () y = Reshape(x, s)"},
    {"Resize",
     "s = Constant <value = float[4] {1, 1, 1.5, 2}> () y = Resize <mode = \"linear\"> (x, , s)"},
    {"Resize", "s = Constant <value = float[4] {1, 1, 1.5, 2}> () y = Resize(x, s)"},
    {"RoiAlign", "y = RoiAlign <output_height = 2, output_width = 3> (x, rois, places)"},
    {"Scatter", "y = Scatter <axis = 1> (x, ix, x)"},
    {"ScatterElements", "y = ScatterElements <axis = 1> (x, ix, x)"},
    {"ScatterND",
     "t = Constant <value = int64[1,2] {1, 3}> () r = Constant <value = int64[1] {0}> () "
     "d = Gather(x, r) q = Constant <value = int64[3] {1, 6, 6}> () f = Constant <value = int64[3] "
     "{1, 6, 6}> () "
     "g = ConstantOfShape(f) y = ScatterND(x, t, g)"},
    {"Slice",
     "s = Constant <value = int64[2] {1, -1}> () e = Constant <value = int64[2] {5, -7}> () "
     "a = Constant <value = int64[2] {2, 3}> () t = Constant <value = int64[2] {2, -1}> () y = "
     "Slice(x, s, e, a, t)"},
    {"Slice", "y = Slice <starts = [1, 0], ends = [5, -1], axes = [2, 3]> (x)"},
    {"SpaceToDepth", "y = SpaceToDepth <blocksize = 2> (x)"},
    {"Split", "s = Constant <value = int64[2] {1, 3}> () y, r = Split <axis = 1> (x, s)"},
    {"Split", "y, r = Split <axis = 1, split = [1, 3]> (x)"},
    {"Squeeze", "y = Squeeze(seq)"},
    {"Tile", "s = Constant <value = int64[4] {1, 2, 1, 3}> () y = Tile(x, s)"},
    {"TopK", "k = Constant <value = int64[1] {3}> () y, j = TopK <axis = 3> (x, k)"},
    {"TopK", "y, j = TopK <axis = 3, k = 2> (x)"},
    {"Transpose", "y = Transpose <perm = [0, 2, 3, 1]> (x)"},
    {"Unique", "y, j, k, l = Unique(v)"},
    {"Unsqueeze", "a = Constant <value = int64[2] {0, -1}> () y = Unsqueeze(x, a)"},
    {"Unsqueeze", "y = Unsqueeze <axes = [0, 2]> (x)"},
    {"Upsample", "s = Constant <value = float[4] {1, 1, 2, 3}> () y = Upsample(x, s)"},
    {"Upsample", "y = Upsample <height_scale = 2.0, width_scale = 3.0> (x)"},
    {"Upsample", "y = Upsample <scales = [1.0, 1.0, 2.0, 3.0]> (x)"},
    {"Where", "y = Where(b, x, one)"},
};

// Ops of one or two inputs take one of these.
static constexpr llvm::StringLiteral kArguments[] = {"x", "x, x", "b", "b, b", "u", "u, u", "i, i"};

static bool imports(const ModelProto &model) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
  return mlir::succeeded(convoy::onnx::importModelFromMemory(model.SerializeAsString(),
                                                             "model.onnx", ".", {}, &context));
}

// A model of a body, if it can be read and imported.
static std::optional<ModelProto> modelOf(llvm::StringRef body, int64_t opset) {
  std::string text = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                     ", \"com.microsoft\" : 1]>\nop (" + kInputs.str() + ") => (float y) { " +
                     body.str() + " }";
  ModelProto model;
  if (std::string error = convoy::onnx::parseTextModel(text, model); !error.empty())
    return std::nullopt;
  // Of any type.
  model.mutable_graph()->mutable_output(0)->clear_type();
  if (!imports(model))
    return std::nullopt;
  return model;
}

static std::optional<ModelProto> modelOf(const OpEntry &row, llvm::StringRef domain) {
  bool isMicrosoft = !domain.empty();
  int64_t opset = isMicrosoft ? convoy::onnx::kNewestOpset : row.to;
  for (const auto &[op, body] : kBodies)
    if (op == row.name && body.contains("com.microsoft") == isMicrosoft)
      if (std::optional<ModelProto> model = modelOf(body, opset))
        return model;
  for (llvm::StringRef arguments : kArguments) {
    std::string call = "y = " + (isMicrosoft ? domain.str() + "." : "") + row.name.str() + "(" +
                       arguments.str() + ")";
    if (std::optional<ModelProto> model = modelOf(call, opset))
      return model;
  }
  return std::nullopt;
}

std::vector<ModelProto> convoy::fuzz::operatorModels(std::vector<std::string> &without) {
  std::vector<ModelProto> models;
  auto add = [&](llvm::ArrayRef<OpEntry> table, llvm::StringRef domain) {
    for (const OpEntry &row : table) {
      if (std::optional<ModelProto> model = modelOf(row, domain)) {
        model->mutable_graph()->set_name(row.name.str());
        models.push_back(std::move(*model));
      } else {
        without.push_back(row.name.str() + " of opset " + std::to_string(row.to));
      }
    }
  };
  add(convoy::onnx::opTable(), "");
  add(convoy::onnx::microsoftOpTable(), convoy::onnx::kMicrosoftDomain);
  return models;
}
