// What the importer makes of files that ONNX's text form cannot say: tensors in all their forms,
// external data, defaults of inputs, damaged files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/onnx/Importer.h"
#include "compiler/onnx/OpTable.h"
#include "dialects/Cnn/ConstantData.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <fstream>
#include <set>
#include <unistd.h>

using namespace convoy;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace {

class ImporterTest : public testing::Test {
protected:
  ImporterTest() {
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      llvm::raw_string_ostream stream(
          diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark ? remarks : errors);
      stream << diagnostic.getLocation() << ": " << diagnostic.str() << "\n";
      return mlir::success();
    });
    llvm::sys::fs::createUniqueDirectory("convoy-importer", folder);
  }
  ~ImporterTest() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) const { return (folder + "/" + name).str(); }
  void write(llvm::StringRef name, llvm::StringRef bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), bytes.size());
  }

  static ModelProto emptyModel(int64_t irVersion = 8, int64_t opset = 17) {
    ModelProto model;
    model.set_ir_version(irVersion);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("test");
    return model;
  }
  static void describe(::onnx::ValueInfoProto *value, llvm::StringRef name, int32_t dataType,
                       llvm::ArrayRef<int64_t> shape) {
    value->set_name(name.str());
    auto *type = value->mutable_type()->mutable_tensor_type();
    type->set_elem_type(dataType);
    type->mutable_shape();
    for (int64_t extent : shape)
      type->mutable_shape()->add_dim()->set_dim_value(extent);
  }
  static NodeProto *addNode(ModelProto &model, llvm::StringRef op,
                            llvm::ArrayRef<std::string> inputs, llvm::StringRef output) {
    NodeProto *node = model.mutable_graph()->add_node();
    node->set_op_type(op.str());
    for (const std::string &input : inputs)
      node->add_input(input);
    node->add_output(output.str());
    return node;
  }
  /// A model whose only output is its only initializer.
  static ModelProto constantModel(int32_t dataType, llvm::ArrayRef<int64_t> shape) {
    ModelProto model = emptyModel();
    TensorProto *tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("c");
    tensor->set_data_type(dataType);
    for (int64_t extent : shape)
      tensor->add_dims(extent);
    describe(model.mutable_graph()->add_output(), "c", dataType, shape);
    return model;
  }
  /// x -> Relu -> y, both 2x3.
  static ModelProto reluModel() {
    ModelProto model = emptyModel();
    describe(model.mutable_graph()->add_input(), "x", TensorProto::FLOAT, {2, 3});
    describe(model.mutable_graph()->add_output(), "y", TensorProto::FLOAT, {2, 3});
    addNode(model, "Relu", {"x"}, "y");
    return model;
  }

  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  import(const ModelProto &model, const convoy::onnx::ImportOptions &options = {}) {
    errors.clear();
    return convoy::onnx::importModelFromMemory(model.SerializeAsString(), "model.onnx",
                                               folder.str(), options, &context);
  }
  static mlir::func::FuncOp mainOf(mlir::ModuleOp module) {
    return module.lookupSymbol<mlir::func::FuncOp>("main");
  }
  /// The bytes of the constant that is the first result.
  std::optional<std::string> importConstant(const ModelProto &model) {
    auto module = import(model);
    if (mlir::failed(module))
      return std::nullopt;
    mlir::Operation *ret = mainOf(**module).getBody().front().getTerminator();
    mlir::ElementsAttr value = cnn::getConstant(ret->getOperand(0));
    if (!value)
      return std::nullopt;
    cnn::ConstantData data(value);
    return std::string(data.bytes().begin(), data.bytes().end());
  }
  /// The model with its tensor in a side file.
  ModelProto externalModel(llvm::StringRef location, llvm::StringRef offset,
                           llvm::StringRef length) {
    ModelProto model = constantModel(TensorProto::FLOAT, {2});
    TensorProto *tensor = model.mutable_graph()->mutable_initializer(0);
    tensor->set_data_location(TensorProto::EXTERNAL);
    for (auto [key, value] : {std::pair("location", location), std::pair("offset", offset),
                              std::pair("length", length)}) {
      if (value.empty())
        continue;
      auto *entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value.str());
    }
    return model;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string errors, remarks;
  llvm::SmallString<128> folder;
};

template <typename T> std::string bytesOf(std::vector<T> values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}

// Fields of IR versions that the protobuf of an older ONNX does not name.
template <typename Message>
void addUnnamedField(Message &message, int number, const std::string &bytes) {
  message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(number, bytes);
}

TEST_F(ImporterTest, FunctionDefaultsAndOverloads) {
  ModelProto model = reluModel();
  model.add_opset_import()->set_domain("own");
  model.mutable_opset_import(1)->set_version(1);
  for (auto [overload, op] : {std::pair("", "LeakyRelu"), {"other", "Elu"}}) {
    auto *function = model.add_functions();
    function->set_domain("own");
    function->set_name("act");
    function->add_input("a");
    function->add_output("b");
    NodeProto *node = function->add_node();
    node->set_op_type(op);
    node->add_input("a");
    node->add_output("b");
    AttributeProto *alpha = node->add_attribute();
    alpha->set_name("alpha");
    alpha->set_ref_attr_name("slope");
    AttributeProto slope;
    slope.set_name("slope");
    slope.set_type(AttributeProto::FLOAT);
    slope.set_f(0.25f);
    addUnnamedField(*function, 11, slope.SerializeAsString()); // attribute_proto
    if (*overload)
      addUnnamedField(*function, 13, overload);
  }
  NodeProto *node = model.mutable_graph()->mutable_node(0);
  node->set_op_type("act");
  node->set_domain("own");
  for (const char *overload : {"", "other"}) {
    if (*overload)
      addUnnamedField(*node, 8, overload);
    auto module = import(model);
    ASSERT_TRUE(mlir::succeeded(module)) << errors;
    bool hasSlope = false, hasExp = false;
    (**module).walk([&](mlir::Operation *op) {
      if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op))
        if (auto number = llvm::dyn_cast<mlir::FloatAttr>(constant.getValue()))
          hasSlope |= number.getValueAsDouble() == 0.25;
      hasExp |= llvm::isa<mlir::math::ExpOp>(op);
    });
    EXPECT_TRUE(hasSlope) << overload;
    EXPECT_EQ(hasExp, *overload != 0);
  }
}

// A function that calls another twice, forty times over: the file is small, its nodes are not.
TEST_F(ImporterTest, FunctionsThatGrowWithoutLimit) {
  ModelProto model = reluModel();
  model.add_opset_import()->set_domain("own");
  model.mutable_opset_import(1)->set_version(1);
  for (int i = 0; i < 40; ++i) {
    auto *function = model.add_functions();
    function->set_domain("own");
    function->set_name("f" + std::to_string(i));
    function->add_input("a");
    function->add_output("c");
    for (auto [from, to] : {std::pair("a", "b"), {"b", "c"}}) {
      NodeProto *node = function->add_node();
      node->set_op_type(i == 0 ? "Relu" : "f" + std::to_string(i - 1));
      node->set_domain(i == 0 ? "" : "own");
      node->add_input(from);
      node->add_output(to);
    }
  }
  NodeProto *node = model.mutable_graph()->mutable_node(0);
  node->set_op_type("f39");
  node->set_domain("own");
  EXPECT_TRUE(mlir::failed(import(model)));
  EXPECT_NE(errors.find("nodes of the model's functions"), std::string::npos) << errors;
}

} // namespace

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

TEST_F(ImporterTest, RawDataOfEveryType) {
  struct Case {
    int32_t type;
    size_t bytes;
  };
  for (Case c : {Case{TensorProto::FLOAT, 4}, {TensorProto::DOUBLE, 8}, {TensorProto::FLOAT16, 2},
                 {TensorProto::BFLOAT16, 2}, {TensorProto::INT8, 1}, {TensorProto::INT16, 2},
                 {TensorProto::INT32, 4}, {TensorProto::INT64, 8}, {TensorProto::UINT8, 1},
                 {TensorProto::UINT16, 2}, {TensorProto::UINT32, 4}, {TensorProto::UINT64, 8}}) {
    // Few elements become text, many a resource.
    for (int64_t count : {3, 3000}) {
      ModelProto model = constantModel(c.type, {count});
      std::string bytes(c.bytes * count, 0);
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(i * 7 + 1);
      model.mutable_graph()->mutable_initializer(0)->set_raw_data(bytes);
      EXPECT_EQ(importConstant(model), bytes) << c.type << " " << errors;
    }
  }
  ModelProto model = constantModel(TensorProto::BOOL, {3});
  model.mutable_graph()->mutable_initializer(0)->set_raw_data(std::string("\1\0\1", 3));
  EXPECT_EQ(importConstant(model), std::string("\1\0\1", 3)) << errors;
}

TEST_F(ImporterTest, TypedFields) {
  auto check = [&](int32_t type, auto fill, const std::string &expected) {
    ModelProto model = constantModel(type, {2});
    fill(*model.mutable_graph()->mutable_initializer(0));
    EXPECT_EQ(importConstant(model), expected) << type << " " << errors;
  };
  auto ints = [](TensorProto &t) { t.add_int32_data(1); t.add_int32_data(254); };
  check(TensorProto::FLOAT, [](TensorProto &t) { t.add_float_data(1); t.add_float_data(-2); },
        bytesOf<float>({1, -2}));
  check(TensorProto::DOUBLE, [](TensorProto &t) { t.add_double_data(1); t.add_double_data(-2); },
        bytesOf<double>({1, -2}));
  check(TensorProto::INT64, [](TensorProto &t) { t.add_int64_data(1); t.add_int64_data(-2); },
        bytesOf<int64_t>({1, -2}));
  check(TensorProto::UINT64, [](TensorProto &t) { t.add_uint64_data(1); t.add_uint64_data(2); },
        bytesOf<uint64_t>({1, 2}));
  check(TensorProto::UINT32, [](TensorProto &t) { t.add_uint64_data(1); t.add_uint64_data(2); },
        bytesOf<uint32_t>({1, 2}));
  check(TensorProto::INT32, ints, bytesOf<int32_t>({1, 254}));
  check(TensorProto::INT16, ints, bytesOf<int16_t>({1, 254}));
  check(TensorProto::UINT8, ints, bytesOf<uint8_t>({1, 254}));
  check(TensorProto::FLOAT16, ints, bytesOf<uint16_t>({1, 254})); // bits
  check(TensorProto::BOOL, ints, std::string("\1\1", 2));
}

TEST_F(ImporterTest, TensorsThatContradictThemselves) {
  auto fails = [&](const ModelProto &model, llvm::StringRef reason) {
    EXPECT_FALSE(importConstant(model));
    EXPECT_NE(errors.find(reason.str()), std::string::npos) << errors;
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
  };
  ModelProto model = constantModel(TensorProto::FLOAT, {2});
  model.mutable_graph()->mutable_initializer(0)->set_raw_data("1234567");
  fails(model, "tensor 'c' needs 8 bytes");
  model = constantModel(TensorProto::FLOAT, {2});
  model.mutable_graph()->mutable_initializer(0)->add_float_data(1);
  fails(model, "needs 2 elements");
  fails(constantModel(TensorProto::FLOAT, {2, -1}), "negative extent");
  fails(constantModel(TensorProto::FLOAT, {int64_t(1) << 40, int64_t(1) << 40}), "overflows");
  fails(constantModel(TensorProto::STRING, {2}), "elements of STRING");
  fails(constantModel(17, {2}), "elements of FLOAT8E4M3FN");
  fails(constantModel(999, {2}), "elements of number 999");
}

//===----------------------------------------------------------------------===//
// External data
//===----------------------------------------------------------------------===//

TEST_F(ImporterTest, ExternalDataAtAnyOffset) {
  std::string bytes = bytesOf<float>({1.5f, -2.5f});
  write("weights.bin", "x" + bytes + "yyy");
  EXPECT_EQ(importConstant(externalModel("weights.bin", "1", "8")), bytes) << errors;
  // The rest of the file where no length is given is not what counts: the shape is.
  EXPECT_EQ(importConstant(externalModel("weights.bin", "1", "")), bytes) << errors;
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("sub")));
  write("sub/weights.bin", bytes);
  EXPECT_EQ(importConstant(externalModel("sub/weights.bin", "", "")), bytes) << errors;
}

TEST_F(ImporterTest, ExternalDataBeyondFourGiB) {
  std::string bytes = bytesOf<float>({1.5f, -2.5f});
  int64_t offset = (int64_t(5) << 30) + 4;
  {
    std::ofstream file(path("large.bin"), std::ios::binary);
    file.seekp(offset);
    file.write(bytes.data(), bytes.size());
    if (!file.flush())
      GTEST_SKIP() << "no sparse files here";
  }
  EXPECT_EQ(importConstant(externalModel("large.bin", std::to_string(offset), "8")), bytes)
      << errors;
}

TEST_F(ImporterTest, ExternalDataThatMayNotBeRead) {
  auto fails = [&](llvm::StringRef location, llvm::StringRef offset, llvm::StringRef length,
                   llvm::StringRef reason) {
    EXPECT_FALSE(importConstant(externalModel(location, offset, length)));
    EXPECT_NE(errors.find(reason.str()), std::string::npos) << errors;
  };
  write("weights.bin", "12345678");
  write("../" + llvm::sys::path::filename(folder).str() + "-outside.bin", "12345678");
  std::string outside = path("../") + llvm::sys::path::filename(folder).str() + "-outside.bin";
  ASSERT_EQ(symlink(outside.c_str(), path("link.bin").c_str()), 0);
  fails("", "", "", "outside the model's folder");
  fails("/etc/hostname", "", "", "outside the model's folder");
  fails("../weights.bin", "", "", "outside the model's folder");
  fails("sub/../../weights.bin", "", "", "outside the model's folder");
  fails("link.bin", "", "", "outside the model's folder");
  fails("none.bin", "", "", "cannot be read");
  ASSERT_FALSE(llvm::sys::fs::create_directory(path("sub")));
  fails("sub", "", "", "is no file");
  fails("weights.bin", "1", "8", "needs bytes 1 to 9 of 'weights.bin', which has 8");
  fails("weights.bin", "18446744073709551615", "8", "of 'weights.bin', which has 8");
  fails("weights.bin", "0", "7", "its external data have 7");
  fails("weights.bin", "-1", "8", "offset '-1'");
  llvm::sys::fs::remove(outside);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

TEST_F(ImporterTest, InitializersThatAreInputs) {
  for (int64_t irVersion : {3, 8}) {
    ModelProto model = reluModel();
    model.set_ir_version(irVersion);
    TensorProto *tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("x");
    tensor->set_data_type(TensorProto::FLOAT);
    tensor->add_dims(2);
    tensor->add_dims(3);
    tensor->set_raw_data(std::string(24, 0));
    remarks.clear();
    auto module = import(model);
    ASSERT_TRUE(mlir::succeeded(module)) << errors;
    EXPECT_EQ(mainOf(**module).getNumArguments(), 0u);
    // Since IR version 4 it is a default that a caller could have replaced.
    EXPECT_EQ(remarks.find("has a default value") != std::string::npos, irVersion >= 4) << remarks;
  }
}

TEST_F(ImporterTest, BoundInputsDecideShapes) {
  ModelProto model = emptyModel();
  GraphProto *graph = model.mutable_graph();
  describe(graph->add_input(), "x", TensorProto::FLOAT, {2, 6});
  describe(graph->add_input(), "shape", TensorProto::INT64, {2});
  describe(graph->add_input(), "unused", TensorProto::FLOAT, {1});
  describe(graph->add_output(), "y", TensorProto::FLOAT, {3, 4});
  addNode(model, "Identity", {"shape"}, "s");
  addNode(model, "Reshape", {"x", "s"}, "y");
  write("model.onnx", model.SerializeAsString());

  convoy::onnx::ModelInputs inputs;
  ASSERT_TRUE(
      mlir::succeeded(convoy::onnx::readInputs(path("model.onnx"), &context, inputs)));
  EXPECT_EQ(inputs.names, (std::vector<std::string>{"x", "shape", "unused"}));
  EXPECT_EQ(inputs.shapeInputs, std::vector<size_t>{1});

  EXPECT_TRUE(mlir::failed(import(model)));
  EXPECT_NE(errors.find("depends on the value of input 'shape'"), std::string::npos) << errors;

  TensorProto value;
  value.set_data_type(TensorProto::INT64);
  value.add_dims(2);
  value.add_int64_data(3);
  value.add_int64_data(-1);
  convoy::onnx::ImportOptions options;
  options.boundInputs["shape"] = value.SerializeAsString();
  auto module = import(model, options);
  ASSERT_TRUE(mlir::succeeded(module)) << errors;
  mlir::func::FuncOp main = mainOf(**module);
  ASSERT_EQ(main.getNumArguments(), 2u);
  EXPECT_EQ(main.getArgAttrOfType<mlir::StringAttr>(0, cnn::kNameAttrName).getValue(), "x");
  EXPECT_EQ(main.getArgAttrOfType<mlir::StringAttr>(1, cnn::kNameAttrName).getValue(), "unused");

  value.add_int64_data(7); // three elements for two
  options.boundInputs["shape"] = value.SerializeAsString();
  EXPECT_TRUE(mlir::failed(import(model, options)));
  options.boundInputs["shape"] = "no tensor";
  EXPECT_TRUE(mlir::failed(import(model, options)));
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

TEST_F(ImporterTest, NodeNamesMayBeEmptyOrRepeat) {
  ModelProto model = reluModel();
  model.mutable_graph()->mutable_node(0)->set_output(0, "a");
  model.mutable_graph()->mutable_node(0)->set_name("same");
  addNode(model, "Relu", {"a"}, "b")->set_name("same");
  addNode(model, "Relu", {"b"}, "y");
  auto module = import(model);
  ASSERT_TRUE(mlir::succeeded(module)) << errors;
  std::vector<std::string> names;
  mainOf(**module).walk([&](cnn::MapOp op) {
    names.push_back(mlir::cast<mlir::NameLoc>(op.getLoc()).getName().str());
  });
  EXPECT_EQ(names, (std::vector<std::string>{"same", "same", "Relu_2"}));
}

TEST_F(ImporterTest, OptionalInputsMayBeLeftOut) {
  ModelProto model = reluModel();
  NodeProto *node = model.mutable_graph()->mutable_node(0);
  node->set_op_type("Clip");
  node->add_input(""); // no minimum
  node->add_input("high");
  TensorProto *high = model.mutable_graph()->add_initializer();
  high->set_name("high");
  high->set_data_type(TensorProto::FLOAT);
  high->add_float_data(6);
  EXPECT_TRUE(mlir::succeeded(import(model))) << errors;
  node->set_input(0, "");
  EXPECT_TRUE(mlir::failed(import(model)));
  EXPECT_NE(errors.find("lacks input 0"), std::string::npos) << errors;
}

TEST_F(ImporterTest, NodesOutOfOrderAndValuesTwice) {
  ModelProto model = reluModel();
  GraphProto *graph = model.mutable_graph();
  graph->mutable_node(0)->set_input(0, "late");
  addNode(model, "Abs", {"x"}, "late");
  EXPECT_TRUE(mlir::succeeded(import(model))) << errors;
  addNode(model, "Neg", {"x"}, "late");
  EXPECT_TRUE(mlir::failed(import(model)));
  EXPECT_NE(errors.find("for a second time"), std::string::npos) << errors;
}

TEST_F(ImporterTest, LongChains) {
  // Deep enough to end a recursion's stack.
  ModelProto model = reluModel();
  constexpr int kNodes = 50000;
  model.mutable_graph()->mutable_node(0)->set_output(0, "v0");
  for (int i = 1; i < kNodes; ++i)
    addNode(model, "Identity", {"v" + std::to_string(i - 1)},
            i + 1 == kNodes ? "y" : "v" + std::to_string(i));
  EXPECT_TRUE(mlir::succeeded(import(model))) << errors;
}

TEST_F(ImporterTest, ConstantForms) {
  auto constant = [&](auto fill, int32_t type, llvm::ArrayRef<int64_t> shape) {
    ModelProto model = emptyModel();
    AttributeProto *attr = addNode(model, "Constant", {}, "c")->add_attribute();
    fill(*attr);
    describe(model.mutable_graph()->add_output(), "c", type, shape);
    return importConstant(model);
  };
  EXPECT_EQ(constant(
                [](AttributeProto &a) {
                  a.set_name("value_float");
                  a.set_type(AttributeProto::FLOAT);
                  a.set_f(1.5);
                },
                TensorProto::FLOAT, {}),
            bytesOf<float>({1.5}));
  EXPECT_EQ(constant(
                [](AttributeProto &a) {
                  a.set_name("value_floats");
                  a.set_type(AttributeProto::FLOATS);
                  a.add_floats(1.5);
                  a.add_floats(2);
                },
                TensorProto::FLOAT, {2}),
            bytesOf<float>({1.5, 2}));
  EXPECT_EQ(constant(
                [](AttributeProto &a) {
                  a.set_name("value_int");
                  a.set_type(AttributeProto::INT);
                  a.set_i(-3);
                },
                TensorProto::INT64, {}),
            bytesOf<int64_t>({-3}));
  EXPECT_EQ(constant(
                [](AttributeProto &a) {
                  a.set_name("value_ints");
                  a.set_type(AttributeProto::INTS);
                },
                TensorProto::INT64, {0}),
            "");
  EXPECT_FALSE(constant(
      [](AttributeProto &a) {
        a.set_name("sparse_value");
        a.set_type(AttributeProto::SPARSE_TENSOR);
      },
      TensorProto::FLOAT, {}));
  EXPECT_NE(errors.find("unsupported: Constant"), std::string::npos) << errors;
}

//===----------------------------------------------------------------------===//
// Damaged files
//===----------------------------------------------------------------------===//

// What the text form cannot say of inputs and initializers, and that nodes are still looked at.
TEST_F(ImporterTest, UnsupportedTypesAreListedWithTheNodes) {
  ModelProto model = emptyModel();
  auto addInput = [&](llvm::StringRef name) {
    auto *input = model.mutable_graph()->add_input();
    input->set_name(name.str());
    return input->mutable_type();
  };
  addInput("s")->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(
      TensorProto::FLOAT);
  addInput("o")
      ->mutable_optional_type()
      ->mutable_elem_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(TensorProto::INT64);
  auto *map = addInput("m")->mutable_map_type();
  map->set_key_type(TensorProto::STRING);
  map->mutable_value_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  addInput("p")->mutable_sparse_tensor_type()->set_elem_type(TensorProto::FLOAT);
  addInput("none");
  auto *sparse = model.mutable_graph()->add_sparse_initializer();
  sparse->mutable_values()->set_name("w");
  TensorProto *text = model.mutable_graph()->add_initializer();
  text->set_name("t");
  text->set_data_type(TensorProto::STRING);
  text->add_string_data("a");
  addNode(model, "Sum", {"s", "o", "m", "p", "none", "w", "t"}, "a");
  addNode(model, "Frobnicate", {"a"}, "y");
  model.mutable_graph()->add_output()->set_name("y");
  EXPECT_TRUE(mlir::failed(import(model)));
  for (llvm::StringRef expected :
       {"input 's' is seq(tensor(float)), expected a tensor",
        "input 'o' is optional(seq(tensor(int64))), expected a tensor",
        "input 'm' is map(string, tensor(float)), expected a tensor",
        "input 'p' is sparse_tensor(float), expected a tensor",
        "input 'none' is a type without a name, expected a tensor",
        "initializer 'w' is sparse, expected a dense one",
        "tensor 't' has elements of STRING, expected floats of 16 to 64 bits",
        "Frobnicate of ai.onnx opset 17: no such op is known"})
    EXPECT_NE(errors.find("unsupported: " + expected.str()), std::string::npos)
        << expected.str() << " is not in\n" << errors;
  EXPECT_EQ(llvm::StringRef(errors).count("\n"), 8u) << errors;
}

TEST_F(ImporterTest, EveryTruncationFails) {
  std::string bytes = reluModel().SerializeAsString();
  convoy::onnx::ImportOptions options;
  for (size_t size = 0; size < bytes.size(); ++size) {
    errors.clear();
    EXPECT_TRUE(mlir::failed(convoy::onnx::importModelFromMemory(
        llvm::StringRef(bytes).take_front(size), "m.onnx", "", options, &context)))
        << size;
    EXPECT_NE(errors, "") << size;
  }
}

TEST_F(ImporterTest, FlippedBitsDoNoHarm) {
  ModelProto model = reluModel();
  addNode(model, "Softmax", {"y"}, "z")->add_attribute()->set_name("axis");
  std::string bytes = model.SerializeAsString();
  convoy::onnx::ImportOptions options;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] ^= 1 << (bit % 8);
    errors.clear();
    auto module = convoy::onnx::importModelFromMemory(damaged, "m.onnx", folder.str(), options,
                                                      &context);
    // It may have become another model; what it may not become is a broken module.
    EXPECT_TRUE(mlir::failed(module) ? !errors.empty() : mlir::succeeded(mlir::verify(**module)))
        << bit;
  }
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

TEST(OpTableTest, RowsOfAnOpFollowEachOther) {
  llvm::StringMap<std::vector<const convoy::onnx::OpEntry *>> rows;
  for (const convoy::onnx::OpEntry &entry : convoy::onnx::opTable())
    rows[entry.name].push_back(&entry);
  for (auto &[name, entries] : rows) {
    EXPECT_LE(entries.front()->minInputs, entries.front()->maxInputs) << name.str();
    for (size_t i = 1; i < entries.size(); ++i)
      EXPECT_EQ(entries[i]->from, entries[i - 1]->to + 1) << name.str();
    // Two have an end: Resize took Upsample's place, ScatterElements that of Scatter.
    int64_t newest = name == "Upsample" ? 9 : name == "Scatter" ? 10 : convoy::onnx::kNewestOpset;
    EXPECT_EQ(entries.back()->to, newest)
        << name.str();
  }
}
