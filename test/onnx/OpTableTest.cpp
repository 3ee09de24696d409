// The op table is true: for each row, opset and type that it lists, a small model with that op is
// imported, and up to a plan compiled; with any other type it is refused, and the error names those
// that are expected. docs/supported-ops.md is written from the table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/Compiler.h"
#include "compiler/onnx/OpTable.h"
#include "compiler/onnx/OpTypes.h"
#include "targets/Target.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <map>

#include <onnx/onnx_pb.h>

using namespace convoy;
using namespace convoy::onnx;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace {

// How a node of an op is written: for each input its shape, `2x3`, or `-` for one that is left out,
// or `2={1,5}` for one that is known; then attributes. Ops that are not here take inputs of 2x3 only.
struct Form {
  llvm::StringLiteral op;
  llvm::StringLiteral inputs;
  llvm::StringLiteral attributes = "";
  unsigned outputs = 1;
  /// The first opset that it is for.
  int64_t from = 1;
};

constexpr Form kForms[] = {
    {"AffineGrid", "1x2x3 4={1,2,3,4}"},
    {"ArgMax", "2x3", "axis=1"},
    {"ArgMin", "2x3", "axis=1"},
    {"AveragePool", "1x2x4x4", "kernel_shape=[2,2]"},
    {"BatchNormalization", "1x3x2x2 3 3 3 3", "is_test=1"},
    {"BatchNormalization", "1x3x2x2 3 3 3 3", "", 1, 7},
    {"BitShift", "2x3 2x3", "direction=LEFT"},
    {"Cast", "2x3", "to=1"},
    {"CenterCropPad", "2x3 2={4,2}"},
    {"Clip", "2x3"},
    {"Clip", "2x3 scalar scalar", "", 1, 11},
    {"Compress", "2x3 2", "axis=0"},
    {"Concat", "2x3 2x3", "axis=0"},
    {"ConstantOfShape", "2={2,3}"},
    {"Conv", "1x3x4x4 2x3x3x3 2"},
    {"ConvInteger", "1x3x4x4 2x3x3x3 scalar scalar"},
    {"ConvTranspose", "1x3x4x4 3x2x3x3 2"},
    {"Crop", "1x3x4x4", "border=[1,1,1,1]"},
    {"CumSum", "2x3 scalar={1}"},
    {"DeformConv", "1x3x4x4 2x3x3x3 1x18x2x2 2 1x9x2x2"},
    {"DepthToSpace", "1x4x2x2", "blocksize=2"},
    {"DequantizeLinear", "2x3 scalar scalar"},
    {"Dropout", "2x3", "is_test=1"},
    {"Dropout", "2x3", "", 1, 7},
    {"Dropout", "2x3 scalar={0.5} scalar={0}", "", 1, 12},
    {"Einsum", "2x3 3x4", "equation=ij,jk->ik"},
    {"Expand", "2x1 2={2,3}"},
    {"FusedConv", "1x3x4x4 2x3x3x3 2 1x2x2x2", "activation=Relu"},
    {"FusedMatMul", "2x3 3x4"},
    {"GRU", "2x1x3 1x12x3 1x12x4 1x24 1={2} 1x1x4", "hidden_size=4"},
    {"Gather", "2x3 2"},
    {"GatherElements", "2x3 2x3"},
    {"GatherND", "2x3 2x1"},
    {"Gemm", "2x3 3x4 4"},
    {"GivenTensorFill", "2", "values=[1.5,2.5]"},
    {"GlobalAveragePool", "1x2x4x4"},
    {"GlobalLpPool", "1x2x4x4"},
    {"GlobalMaxPool", "1x2x4x4"},
    {"GridSample", "1x2x4x4 1x3x3x2", "mode=nearest"},
    {"GroupNormalization", "1x4x2x2 2 2", "num_groups=2"},
    {"GroupNormalization", "1x4x2x2 4 4", "num_groups=2", 1, 21},
    {"Hardmax", "2x3"},
    {"ImageScaler", "1x3x2x2", "bias=[0.5,1.0,1.5]"},
    {"InstanceNormalization", "1x3x2x2 3 3"},
    {"LRN", "1x3x2x2", "size=3"},
    {"LSTM", "2x1x3 1x16x3 1x16x4 1x32 1={2} 1x1x4 1x1x4 1x12", "hidden_size=4"},
    {"LayerNormalization", "2x3 3 3"},
    {"LpNormalization", "2x3"},
    {"LpPool", "1x2x4x4", "kernel_shape=[2,2]"},
    {"MatMul", "2x3 3x4"},
    {"MatMulInteger", "2x3 3x4 scalar scalar"},
    {"MaxPool", "1x2x4x4", "kernel_shape=[2,2]"},
    {"MaxUnpool", "1x1x2x2 1x1x2x2 4={1,1,4,4}", "kernel_shape=[2,2] strides=[2,2]"},
    {"MeanVarianceNormalization", "1x3x2x2"},
    {"Mod", "2x3 2x3", "fmod=1"},
    {"NonMaxSuppression", "1x3x4 1x2x3 scalar={2} scalar={0.5} scalar={0.1}"},
    {"OneHot", "2x3 scalar={4} 2"},
    {"Pad", "2x3", "pads=[0,1,0,1]"},
    {"Pad", "2x3 4={0,1,0,1} scalar", "", 1, 11},
    {"Pad", "2x3 4={0,1,0,1} scalar 2={0,1}", "", 1, 18},
    {"ParametricSoftplus", "2x3", "alpha=0.5 beta=0.5"},
    {"QLinearAdd", "2x3 scalar scalar 2x3 scalar scalar scalar scalar"},
    {"QLinearConcat", "scalar scalar 2x3 scalar scalar 2x3 scalar scalar", "axis=0"},
    {"QLinearConv", "1x3x4x4 scalar scalar 2x3x3x3 scalar scalar scalar scalar 2"},
    {"QLinearGlobalAveragePool", "1x2x4x4 scalar scalar scalar scalar"},
    {"QLinearLeakyRelu", "2x3 scalar scalar scalar scalar", "alpha=0.5"},
    {"QLinearMatMul", "2x3 scalar scalar 3x4 scalar scalar scalar scalar"},
    {"QLinearMul", "2x3 scalar scalar 2x3 scalar scalar scalar scalar"},
    {"QLinearSigmoid", "2x3 scalar scalar scalar scalar"},
    {"QuantizeLinear", "2x3 scalar scalar"},
    {"RMSNormalization", "2x3 3"},
    {"RNN", "2x1x3 1x4x3 1x4x4 1x8 1={2} 1x1x4", "hidden_size=4"},
    {"Range", "scalar={0} scalar={5} scalar={2}"},
    {"ReduceL1", "2x3 1={1}", "", 1, 18},
    {"ReduceL2", "2x3 1={1}", "", 1, 18},
    {"ReduceLogSum", "2x3 1={1}", "", 1, 18},
    {"ReduceLogSumExp", "2x3 1={1}", "", 1, 18},
    {"ReduceMax", "2x3 1={1}", "", 1, 18},
    {"ReduceMean", "2x3 1={1}", "", 1, 18},
    {"ReduceMin", "2x3 1={1}", "", 1, 18},
    {"ReduceProd", "2x3 1={1}", "", 1, 18},
    {"ReduceSum", "2x3 1={1}", "", 1, 13},
    {"ReduceSumSquare", "2x3 1={1}", "", 1, 18},
    {"Reshape", "2x3 2={3,2}"},
    {"Resize", "1x1x2x2 4={1.0,1.0,2.0,2.0}"},
    {"Resize", "1x1x2x2 - - 4={1,1,4,4}", "", 1, 11},
    {"RoiAlign", "1x2x4x4 3x4 3"},
    {"Affine", "2x3", "alpha=0.5 beta=0.5"},
    {"ScaledTanh", "2x3", "alpha=0.5 beta=0.5"},
    {"Scatter", "2x3 2x3 2x3"},
    {"ScatterElements", "2x3 2x3 2x3"},
    {"ScatterND", "2x3 2x1 2x3"},
    {"Slice", "2x3", "starts=[0] ends=[1]"},
    {"Slice", "2x3 1={0} 1={2} 1={1} 1={1}", "", 1, 10},
    {"SpaceToDepth", "1x1x4x4", "blocksize=2"},
    {"Split", "4x2", "split=[2,2]", 2},
    {"Split", "4x2 2={2,2}", "", 2, 13},
    {"Squeeze", "2x1", "axes=[1]"},
    {"Squeeze", "2x1 1={1}", "", 1, 13},
    {"Tile", "2x3 2={2,1}"},
    {"TopK", "2x3", "k=2", 2},
    {"TopK", "2x3 1={2}", "", 2, 10},
    {"Trilu", "2x3 scalar={1}"},
    {"Unsqueeze", "2x3", "axes=[0]"},
    {"Unsqueeze", "2x3 1={0}", "", 1, 13},
    {"ConstantFill", "2x3"},
    {"DynamicSlice", "2x3 1={0} 1={2} 1={1}"},
    {"FC", "2x3 4x3 4"},
    {"Upsample", "1x1x2x2", "height_scale=2.0 width_scale=2.0"},
    {"Upsample", "1x1x2x2", "scales=[1.0,1.0,2.0,2.0]", 1, 7},
    {"Upsample", "1x1x2x2 4={1.0,1.0,2.0,2.0}", "", 1, 9},
};

// ONNX's numbers of the types of elementTypeNames().
constexpr int32_t kDataTypes[] = {TensorProto::FLOAT16, TensorProto::BFLOAT16, TensorProto::FLOAT,
                                  TensorProto::DOUBLE,  TensorProto::INT8,     TensorProto::INT16,
                                  TensorProto::INT32,   TensorProto::INT64,    TensorProto::UINT8,
                                  TensorProto::UINT16,  TensorProto::UINT32,   TensorProto::UINT64,
                                  TensorProto::BOOL};

// How inputs of no form are.
Form formOf(const OpEntry &entry, int64_t opset) {
  const Form *found = nullptr;
  for (const Form &form : kForms)
    if (form.op == entry.name && form.from <= opset)
      found = &form;
  if (found)
    return *found;
  static constexpr llvm::StringLiteral plain[] = {"", "2x3", "2x3 2x3", "2x3 2x3 2x3"};
  return {entry.name, plain[std::min(entry.minInputs, 3u)]};
}

void setElements(TensorProto &tensor, llvm::StringRef list) {
  llvm::SmallVector<llvm::StringRef> numbers;
  list.split(numbers, ',');
  std::string &raw = *tensor.mutable_raw_data();
  for (llvm::StringRef text : numbers) {
    double number = std::stod(text.str());
    auto append = [&](auto value) { raw.append(reinterpret_cast<char *>(&value), sizeof value); };
    switch (tensor.data_type()) {
    case TensorProto::FLOAT:
      append(static_cast<float>(number));
      break;
    case TensorProto::DOUBLE:
      append(number);
      break;
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16: {
      bool lost;
      llvm::APFloat value(number);
      value.convert(tensor.data_type() == TensorProto::FLOAT16 ? llvm::APFloat::IEEEhalf()
                                                               : llvm::APFloat::BFloat(),
                    llvm::APFloat::rmNearestTiesToEven, &lost);
      append(static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue()));
      break;
    }
    case TensorProto::INT8:
    case TensorProto::UINT8:
    case TensorProto::BOOL:
      append(static_cast<int8_t>(number));
      break;
    case TensorProto::INT16:
    case TensorProto::UINT16:
      append(static_cast<int16_t>(number));
      break;
    case TensorProto::INT32:
    case TensorProto::UINT32:
      append(static_cast<int32_t>(number));
      break;
    default:
      append(static_cast<int64_t>(number));
    }
  }
}

void addAttribute(NodeProto &node, llvm::StringRef text) {
  auto [name, value] = text.split('=');
  ::onnx::AttributeProto *attr = node.add_attribute();
  attr->set_name(name.str());
  int64_t integer;
  double number;
  if (value.consume_front("[")) {
    llvm::SmallVector<llvm::StringRef> parts;
    value.drop_back().split(parts, ',');
    bool isFloat = value.contains('.');
    attr->set_type(isFloat ? ::onnx::AttributeProto::FLOATS : ::onnx::AttributeProto::INTS);
    for (llvm::StringRef part : parts)
      isFloat ? attr->add_floats(std::stof(part.str())) : attr->add_ints(std::stoll(part.str()));
  } else if (!value.getAsInteger(10, integer)) {
    attr->set_type(::onnx::AttributeProto::INT);
    attr->set_i(integer);
  } else if (!value.getAsDouble(number)) {
    attr->set_type(::onnx::AttributeProto::FLOAT);
    attr->set_f(number);
  } else {
    attr->set_type(::onnx::AttributeProto::STRING);
    attr->set_s(value.str());
  }
}

::onnx::ValueInfoProto *describe(::onnx::ValueInfoProto *value, const std::string &name) {
  value->set_name(name);
  return value;
}

class OpTableTest : public testing::Test {
protected:
  OpTableTest() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
        errors += diagnostic.str() + "\n";
      return mlir::success();
    });
  }

  /// A model with one node of a row. `types` are those of the inputs, as numbers of kDataTypes.
  ModelProto makeModel(const OpEntry &entry, bool isMicrosoft, int64_t opset,
                       llvm::ArrayRef<unsigned> types) {
    Form form = formOf(entry, opset);
    ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(isMicrosoft ? 17 : opset);
    NodeProto *node = model.mutable_graph()->add_node();
    node->set_op_type(entry.name.str());
    if (isMicrosoft) {
      auto *import = model.add_opset_import();
      import->set_domain(kMicrosoftDomain.str());
      import->set_version(1);
      node->set_domain(kMicrosoftDomain.str());
    }
    llvm::SmallVector<llvm::StringRef> inputs, attributes;
    form.inputs.split(inputs, ' ', -1, false);
    form.attributes.split(attributes, ' ', -1, false);
    for (auto [i, text] : llvm::enumerate(inputs)) {
      if (text == "-") {
        node->add_input("");
        continue;
      }
      std::string name = "x" + std::to_string(i);
      node->add_input(name);
      auto [shapeText, list] = text.split('=');
      llvm::SmallVector<int64_t> shape;
      llvm::SmallVector<llvm::StringRef> extents;
      if (shapeText != "scalar")
        shapeText.split(extents, 'x');
      for (llvm::StringRef extent : extents)
        shape.push_back(std::stoll(extent.str()));
      if (!list.empty()) {
        TensorProto *tensor = model.mutable_graph()->add_initializer();
        tensor->set_name(name);
        tensor->set_data_type(kDataTypes[types[i]]);
        for (int64_t extent : shape)
          tensor->add_dims(extent);
        setElements(*tensor, list.drop_front().drop_back());
        continue;
      }
      auto *type = describe(model.mutable_graph()->add_input(), name)
                       ->mutable_type()
                       ->mutable_tensor_type();
      type->set_elem_type(kDataTypes[types[i]]);
      type->mutable_shape();
      for (int64_t extent : shape)
        type->mutable_shape()->add_dim()->set_dim_value(extent);
    }
    for (llvm::StringRef text : attributes)
      addAttribute(*node, text);
    for (unsigned i = 0; i < form.outputs; ++i) {
      node->add_output("y" + std::to_string(i));
      describe(model.mutable_graph()->add_output(), "y" + std::to_string(i));
    }
    if (entry.name == "Constant") {
      auto *value = node->add_attribute();
      value->set_name("value");
      value->set_type(::onnx::AttributeProto::TENSOR);
      value->mutable_t()->set_data_type(TensorProto::FLOAT);
      value->mutable_t()->add_dims(1);
      value->mutable_t()->add_float_data(1);
    }
    if (entry.name == "If") {
      // A condition of one element between two tensors from around it.
      auto *type = describe(model.mutable_graph()->add_input(), "a")
                       ->mutable_type()
                       ->mutable_tensor_type();
      type->set_elem_type(TensorProto::FLOAT);
      type->mutable_shape()->add_dim()->set_dim_value(2);
      auto *dims = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
      dims->mutable_shape()->clear_dim();
      for (const char *name : {"then_branch", "else_branch"}) {
        auto *branch = node->add_attribute();
        branch->set_name(name);
        branch->set_type(::onnx::AttributeProto::GRAPH);
        NodeProto *inner = branch->mutable_g()->add_node();
        inner->set_op_type("Identity");
        inner->add_input("a");
        inner->add_output("b");
        describe(branch->mutable_g()->add_output(), "b");
      }
    }
    return model;
  }

  /// Whether a model is imported; errors are in `errors`.
  bool import(const ModelProto &model, mlir::OwningOpRef<mlir::ModuleOp> *module = nullptr) {
    errors.clear();
    auto imported = importModelFromMemory(model.SerializeAsString(), "model.onnx", ".", {}, &context);
    if (mlir::failed(imported))
      return false;
    if (module)
      *module = std::move(*imported);
    return true;
  }

  /// The types that a row's inputs have unless a test asks for others.
  std::vector<unsigned> usualTypes(const OpTypes &types, unsigned count) {
    std::vector<unsigned> result;
    for (unsigned i = 0; i < count; ++i) {
      std::optional<InputTypes> input = types.of(i);
      if (!input)
        result.push_back(2);
      else if (input->sameAs)
        result.push_back(result[*input->sameAs]);
      else
        result.push_back(input->set >> 2 & 1 ? 2 : llvm::countr_zero(input->set));
    }
    return result;
  }

  /// Gives input `index`, and those of the same type, a type.
  void setType(std::vector<unsigned> &list, const OpTypes &types, unsigned index, unsigned type) {
    list[index] = type;
    for (unsigned i = 0; i < list.size(); ++i)
      if (types.of(i) && types.of(i)->sameAs == index)
        list[i] = type;
  }

  template <typename Action> void forEachRow(Action &&action) {
    for (const OpEntry &entry : opTable())
      action(entry, false);
    for (const OpEntry &entry : microsoftOpTable())
      action(entry, true);
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string errors;
};

unsigned numInputs(const OpEntry &entry, int64_t opset) {
  llvm::SmallVector<llvm::StringRef> inputs;
  formOf(entry, opset).inputs.split(inputs, ' ', -1, false);
  return inputs.size();
}

bool isGiven(const OpEntry &entry, int64_t opset, unsigned input) {
  llvm::SmallVector<llvm::StringRef> inputs;
  formOf(entry, opset).inputs.split(inputs, ' ', -1, false);
  return inputs[input] != "-";
}

} // namespace

TEST_F(OpTableTest, RowsAreWellFormed) {
  std::map<std::pair<bool, std::string>, int64_t> last;
  forEachRow([&](const OpEntry &entry, bool isMicrosoft) {
    SCOPED_TRACE(entry.name.str());
    std::optional<OpTypes> types = OpTypes::parse(entry.types);
    ASSERT_TRUE(types) << entry.types.str();
    unsigned most = entry.maxInputs;
    if (most != ~0u) {
      EXPECT_EQ(types->words().size(), most);
      EXPECT_EQ(types->repeated(), 0u);
    } else {
      EXPECT_GT(types->repeated(), 0u);
    }
    EXPECT_LE(entry.from, entry.to);
    auto [row, isNew] = last.try_emplace({isMicrosoft, entry.name.str()}, entry.to);
    if (!isNew) {
      EXPECT_LT(row->second, entry.from) << "rows of one op in order";
      row->second = entry.to;
    }
  });
}

TEST_F(OpTableTest, ListedTypesAreImported) {
  unsigned models = 0;
  forEachRow([&](const OpEntry &entry, bool isMicrosoft) {
    OpTypes types = *OpTypes::parse(entry.types);
    for (int64_t opset = entry.from; opset <= entry.to; ++opset) {
      unsigned count = numInputs(entry, opset);
      for (unsigned i = 0; i < std::max(count, 1u); ++i) {
        std::optional<InputTypes> input = types.of(i);
        if (input && input->sameAs)
          continue;
        for (unsigned type = 0; type < std::size(kDataTypes); ++type) {
          if (input && !(input->set >> type & 1))
            continue;
          std::vector<unsigned> list = usualTypes(types, count);
          if (input && count > 0)
            setType(list, types, i, type);
          ++models;
          EXPECT_TRUE(import(makeModel(entry, isMicrosoft, opset, list)))
              << entry.name.str() << " of opset " << opset << ", input " << i << " of "
              << elementTypeNames()[type].str() << ": " << errors;
          if (!input)
            break;
        }
      }
    }
  });
  // One for each type of most ops would be fewer.
  EXPECT_GT(models, 10000u);
}

TEST_F(OpTableTest, ListedTypesAreCompiled) {
  std::unique_ptr<Target> target = createTarget("x86-reference");
  forEachRow([&](const OpEntry &entry, bool isMicrosoft) {
    OpTypes types = *OpTypes::parse(entry.types);
    unsigned count = numInputs(entry, entry.to);
    for (unsigned i = 0; i < count; ++i) {
      std::optional<InputTypes> input = types.of(i);
      if (!input || input->sameAs)
        continue;
      for (unsigned type = 0; type < std::size(kDataTypes); ++type) {
        if (!(input->set >> type & 1))
          continue;
        std::vector<unsigned> list = usualTypes(types, count);
        setType(list, types, i, type);
        mlir::OwningOpRef<mlir::ModuleOp> module;
        if (!import(makeModel(entry, isMicrosoft, entry.to, list), &module))
          continue; // the test above says so
        (*module)->setAttr(cnn::kTargetAttrName, target->facts(&context));
        mlir::PassManager manager(&context);
        for (Stage stage : allStages())
          buildStage(manager, stage, target->kernelTable(), {});
        EXPECT_TRUE(mlir::succeeded(manager.run(*module)))
            << entry.name.str() << ", input " << i << " of " << elementTypeNames()[type].str()
            << ": " << errors;
      }
    }
  });
}

TEST_F(OpTableTest, OtherTypesAreRefusedWithTheExpectedOnes) {
  forEachRow([&](const OpEntry &entry, bool isMicrosoft) {
    OpTypes types = *OpTypes::parse(entry.types);
    unsigned count = numInputs(entry, entry.to);
    for (unsigned i = 0; i < count; ++i) {
      std::optional<InputTypes> input = types.of(i);
      if (!input || !isGiven(entry, entry.to, i))
        continue;
      for (unsigned type = 0; type < std::size(kDataTypes); ++type) {
        std::vector<unsigned> list = usualTypes(types, count);
        bool isListed = input->set >> type & 1;
        std::string expected = "expected " + showTypes(input->set);
        if (input->sameAs) {
          if (list[*input->sameAs] == type || !isGiven(entry, entry.to, *input->sameAs))
            continue;
          if (isListed)
            expected = "expected " + elementTypeNames()[list[*input->sameAs]].str() +
                       " as in input " + std::to_string(*input->sameAs);
        } else if (isListed) {
          continue;
        }
        list[i] = type;
        if (!input->sameAs)
          setType(list, types, i, type);
        EXPECT_FALSE(import(makeModel(entry, isMicrosoft, entry.to, list)))
            << entry.name.str() << ", input " << i << " of " << elementTypeNames()[type].str();
        EXPECT_NE(errors.find(expected), std::string::npos)
            << entry.name.str() << ", input " << i << " of " << elementTypeNames()[type].str()
            << ": " << errors;
        EXPECT_NE(errors.find(entry.name.str()), std::string::npos) << errors;
      }
    }
  });
}

TEST_F(OpTableTest, OtherOpsetsAreRefused) {
  llvm::StringSet<> seen;
  for (const OpEntry &entry : opTable()) {
    if (!seen.insert(entry.name).second)
      continue;
    for (int64_t opset = kOldestOpset; opset <= kNewestOpset; ++opset) {
      const OpEntry *row = findOp("", entry.name, opset);
      if (row)
        continue;
      OpTypes types = *OpTypes::parse(entry.types);
      ModelProto model =
          makeModel(entry, false, opset, usualTypes(types, numInputs(entry, opset)));
      EXPECT_FALSE(import(model)) << entry.name.str() << " of opset " << opset;
      EXPECT_NE(errors.find("unsupported: " + entry.name.str() + " of ai.onnx opset " +
                            std::to_string(opset)),
                std::string::npos)
          << errors;
    }
  }
}

TEST_F(OpTableTest, PageHasEveryRow) {
  std::string page = describeOps();
  forEachRow([&](const OpEntry &entry, bool) {
    std::string row = "\n| " + entry.name.str() + " | " + std::to_string(entry.from) +
                      (entry.to == entry.from ? "" : " to " + std::to_string(entry.to)) + " | ";
    EXPECT_NE(page.find(row), std::string::npos) << row;
    EXPECT_NE(page.find("| " + entry.limits.str() + " |\n"), std::string::npos);
  });
}
